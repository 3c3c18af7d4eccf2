"""`waterline matrix`."""
