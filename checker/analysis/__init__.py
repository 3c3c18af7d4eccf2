"""Analyses of a trace or a model: explain, compare, simulate, export."""
