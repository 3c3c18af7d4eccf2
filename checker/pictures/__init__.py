"""A counterexample as pictures, as a page, and as files of other tools."""
