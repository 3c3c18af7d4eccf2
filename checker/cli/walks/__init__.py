"""`waterline run` and `simulate`: walks by hand and at random."""
