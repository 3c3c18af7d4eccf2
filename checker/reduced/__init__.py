"""Reductions that keep the verdict: a smaller model in which every asked claim has the same one.

What makes them exact is read off the syntax trees of the rules (`checker.reduced.looking`).
"""
