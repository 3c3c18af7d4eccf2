"""Comparison of two versions or settings on the choices of one trace."""
