"""Certificates of verdicts: sets of states that show them, checked by interpreted rules."""
