"""Breadth-first search: engines, accounts, results, and what a search is named by."""
