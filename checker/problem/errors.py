"""Usage errors: one line, exit code 2.

    Refused                   a request that cannot be done
        Missing               a need of the engine that this machine lacks: NoJava, NoSpark
        BadCertificate, BadGate, BadConfig, BadLocation, BadRun, CannotConfirm, Damaged, InUse,
        NoGraph, TooLargeForGraph, TooLongForPage, TooLongToDraw

Each is defined where it is raised. A command that has caught one needs none of those modules to
know what it is.
"""

from __future__ import annotations


class Refused(Exception):
    """Something cannot be used or done as requested; the message names it and the remedy."""

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each thing that is wrong, where several were found at once."""
        return (str(self),)


class Missing(Refused):
    """Something is not on this machine, or cannot be reached from it, that the engine needs."""
