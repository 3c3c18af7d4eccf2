"""Recorded traces: `waterline view`, `explain`, `compare` and `convert`."""
