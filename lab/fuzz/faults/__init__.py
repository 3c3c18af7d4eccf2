"""Runs that are disturbed in every way that we could think of, compared with one that was not.

`python -m lab.fuzz.faults` has the options. A program of faults is a list of attempts at one run,
each with its engine, its options and what happens to it, and of damage done to files between them;
at the end the run is finished in peace. It must then have found what the undisturbed run finds, to
the byte, or have refused a damaged file by its name.
"""
