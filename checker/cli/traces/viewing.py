"""Start of the viewer where a terminal is interactive."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from waterline.checker.cli.shared.screen import screen
from waterline.checker.kafka.narrative.story import story_of
from waterline.checker.traces.finding import Finding

if TYPE_CHECKING:
    from waterline.checker.problem.where import Condition
    from waterline.counterexamples.formats.itf_states import ItfTrace
    from waterline.model.core.claim import Claim


def is_interactive() -> bool:
    """Whether keys can be read and a whole screen can be drawn."""
    if sys.stdin is None or sys.stderr is None:  # the parent process closed it
        return False
    return sys.stdin.isatty() and sys.stderr.isatty() and _draws()


def _draws() -> bool:
    console = screen()
    return console.file.isatty() and not console.is_dumb_terminal


def view(finding: Finding, claim: Claim, asked: Condition | None = None) -> int:
    """Step through a counterexample, and mark the states where the condition `asked` is true.

    Returns the exit code.
    """
    # Only who looks at a screen needs what draws it.
    from waterline.checker.report.viewer.app import Viewer  # noqa: PLC0415

    return Viewer(story_of(finding), claim, asked).run() or 0


def view_itf(trace: ItfTrace) -> int:
    """Step through the states of another tool's trace. Returns the exit code."""
    from waterline.checker.report.viewer.itf_app import ItfViewer  # noqa: PLC0415

    return ItfViewer(trace).run() or 0
