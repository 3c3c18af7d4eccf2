"""Ties of a model to the code that it describes: which symbols, and whether they were reviewed."""
