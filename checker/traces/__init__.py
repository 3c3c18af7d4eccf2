"""Counterexamples: violating states, the way back to the start, and the shortest traces."""
