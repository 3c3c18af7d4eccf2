"""Lemmas: invariants that lead to claims by induction, for bounds of any size."""
