"""Errors about log files, each one line with its remedy."""

from __future__ import annotations

from waterline.checker.problem.errors import Refused


class BadLogs(Refused):
    """The logs cannot be read as those of one partition; the message names file and remedy."""
