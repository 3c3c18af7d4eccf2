"""Causes of a violation (counterfactual causality) and the single changes that repair it."""
