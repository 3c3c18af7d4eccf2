"""`waterline scenarios`."""
