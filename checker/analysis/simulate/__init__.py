"""Simulation: random walks for state spaces that are too large to explore.

A walk begins in an initial state and takes one of the steps that are enabled, again and again. It
is made by the seed and its number alone, so that the same walks come of any number of threads and
of any engine. Nothing that walks do not see is excluded: they find violations, and never say that a
claim holds.
"""
