"""Rich renderables of a replay on tablet servers of Fluss."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.kafka.confirm.fluss.release import FlussRelease
from waterline.checker.kafka.confirm.fluss.replay import OnFluss
from waterline.checker.kafka.confirm.replay import Judgement
from waterline.counterexamples import Trace
from waterline.counterexamples.style import BAD, GOOD, TITLE, WARNING, columns

_STYLES = {Judgement.CONFIRMED: BAD, Judgement.HELD: GOOD}


def render_on_fluss(found: OnFluss, trace: Trace, release: FlussRelease) -> RenderableType:
    """The steps with what the servers showed after each, and the judgement."""
    title = Text.assemble(
        (f"{trace.invariant} under {trace.version}", "bold"),
        ", on tablet servers of ",
        (release.title, "bold"),
    )
    verdict = Text.assemble(
        (found.judgement.value, _STYLES.get(found.judgement, WARNING)),
        f" on {release.title}: {found.reason}.",
    )
    return Group(title, _steps(found), Text(), verdict)


def _steps(found: OnFluss) -> Table:
    table = columns(gap=1, header=TITLE)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("Step", overflow="fold")
    for server in range(len(found.steps[0].shown) if found.steps else 0):
        table.add_column(f"r{server}\nLEO/HW", no_wrap=True)
    for step in found.steps:
        table.add_row(f"{step.number}.", step.sentence, *step.shown)
    return table
