"""Proofs of claims for bounds of any size: induction over the rules, by an SMT solver."""
