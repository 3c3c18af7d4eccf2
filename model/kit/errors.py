"""What a family of models refuses."""

from __future__ import annotations


class BadEnvironment(ValueError):
    """An option has a value that means nothing; the message names it and says what is allowed."""
