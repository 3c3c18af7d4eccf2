"""Usage errors: one line, exit code 2.

    Refused                   what was asked for cannot be done
        Missing               this machine lacks what the engine needs: NoJava, NoSpark
        BadCertificate, BadGate, BadConfig, BadLocation, BadRun, CannotConfirm, Damaged, InUse,
        TooLargeForGraph, TooLongForPage, TooLongToDraw

Each is defined where it is raised. A command that has caught one needs none of those modules to
know what it is.
"""

from __future__ import annotations


class Refused(Exception):
    """Something cannot be used or done as it was asked for; the message names it and the remedy."""

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each thing that is wrong, where several were found at once."""
        return (str(self),)


class Missing(Refused):
    """Something is not on this machine, or cannot be reached from it, that the engine needs."""
