"""The checker: the search, its engines, its store and its results. It knows no protocol."""
