"""Paths through the graph of all states that cover it: tests of an implementation."""
