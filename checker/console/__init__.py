"""The command line, and everything that people and programs read."""
