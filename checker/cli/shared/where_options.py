"""`--where CONDITION`: an invariant of your own at the prompt, without a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def where_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option, and what it is for here."""
    return click.option(
        "--where", metavar="CONDITION", help=f"{text} docs/counterexamples.md#conditions"
    )
