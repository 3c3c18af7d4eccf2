"""Attacks on what is kept: values of models of one's own change, and no answer may be of before.

How it may be trusted. Every model is a number that rises to a limit, and the claim on it is judged
by hand from that limit: no second run of the checker says what is right. Every command runs in a
process of its own, forked from one that has imported the program and has never run a command, so
that nothing is known but what is on disk. Only behaviour is looked at: exit codes, what is printed,
and which files of machine code appear in the cache.
"""
