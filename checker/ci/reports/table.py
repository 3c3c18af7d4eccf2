"""The outcomes as a table, for a screen."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from waterline.checker.ci.judging import Outcome
from waterline.counterexamples.style import BAD


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """A line an expectation."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Expectation", overflow="fold")
    table.add_column("Came out", no_wrap=True)
    table.add_column("States", justify="right", no_wrap=True)
    table.add_column("Seconds", justify="right", no_wrap=True)
    for outcome in outcomes:
        name = Text(outcome.expectation.name)
        for complaint in outcome.complaints:
            name.append(f"\n{complaint.text}", style="red")
        met = Text("as expected", "green") if outcome.is_met else Text("NO", BAD)
        answer = outcome.answer
        states = "" if answer is None else f"{answer.result.distinct:,}"
        took = "" if answer is None else f"{answer.result.seconds:.1f}"
        table.add_row(name, met, states, "kept" if answer and answer.is_kept else took)
    return table
