"""Abstract interpretation of the rules over value sets; from it cone of influence, dead variables
and a partial-order reduction.

What makes them exact is read off the syntax trees of the rules
(`checker.reduction.abstract_interpreter`).
"""
