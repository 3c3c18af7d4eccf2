"""Mutants of a user's rules, and which claims notice them."""
