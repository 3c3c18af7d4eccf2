"""A whole check: search, liveness, counterexamples replayed, bounds judged."""
