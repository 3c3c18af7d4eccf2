"""Conditions on states from the command line (`--where`)."""
