"""Engines: in memory, in threads over files, on Spark."""
