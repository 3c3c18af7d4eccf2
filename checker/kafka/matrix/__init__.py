"""Verdicts over a grid of versions, settings and faults; and about a server.properties."""
