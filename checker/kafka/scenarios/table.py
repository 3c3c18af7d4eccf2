"""The catalogue and its outcomes as tables, and as a document."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.problem.wording import as_option, describe_version, quantity
from waterline.checker.search.result import Verdict
from waterline.counterexamples.style import WARNING, label_grid
from waterline.model.message.environment import DOCUMENTED
from waterline.model.message.release_names import is_released
from waterline.model.message.versions import NAMED, version_of

if TYPE_CHECKING:
    from waterline.checker.kafka.scenarios.running import Outcome


def catalogue_table(scenarios: Sequence[Scenario]) -> Table:
    """Return a table with a line for each entry: number, name, title, violating versions."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("Scenario", no_wrap=True)
    table.add_column("What happens", overflow="fold")
    table.add_column("Violated under", overflow="fold")
    for scenario in scenarios:
        real = [name for name in scenario.falls if name in NAMED or is_released(version_of(name))]
        falls = ", ".join(map(describe_version, real)) or (
            "only mutants" if scenario.falls else "none"
        )
        table.add_row(scenario.number, scenario.name, scenario.title, falls)
    return table


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """A line a version of an entry: verdict, least depth, states seen."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("Version", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("Depth", justify="right", no_wrap=True)
    table.add_column("States", justify="right", no_wrap=True)
    shown = None
    for outcome in outcomes:
        if outcome.scenario is not shown:
            shown = outcome.scenario
            table.add_section()
            table.add_row(shown.number, Text(shown.name, "bold"), Text(shown.claim, "dim"))
        table.add_row("", *_cells(outcome))
    return table


def _cells(outcome: Outcome) -> list[str | Text]:
    style = "green" if outcome.verdict is Verdict.HOLDS else "red"
    verdict = Text(outcome.verdict.value, style)
    if not outcome.as_described:
        verdict = Text(f"{verdict.plain.upper()}: not as the catalogue says", WARNING)
    states = f"{outcome.states:,}" + ("" if outcome.complete else "+")
    depth = "" if outcome.depth is None else str(outcome.depth)
    return [describe_version(outcome.version), verdict, depth, states]


def describe_environment(scenario: Scenario) -> str:
    """The options of `check` that make its circumstances of the documented ones."""
    usual = DOCUMENTED.options()
    given = ((n, v) for n, v in scenario.environment.options().items() if v != usual[n])
    return " ".join(as_option(name, value) for name, value in given)


def entry(scenario: Scenario) -> RenderableType:
    """Everything about one entry, without running it."""
    grid = label_grid()
    grid.add_row("Source", scenario.source)
    grid.add_row("Claim", scenario.claim)
    grid.add_row("Environment", describe_environment(scenario))
    grid.add_row("Violated under", ", ".join(scenario.falls) or "none")
    grid.add_row("Holds under", ", ".join(scenario.stands) or "none")
    if scenario.remark:
        grid.add_row("Remark", scenario.remark)
    title = Text.assemble((f"{scenario.number} {scenario.name}", "bold"), f": {scenario.title}")
    return Group(title, Text(), Text(textwrap.fill(scenario.story, 1000)), Text(), grid)


def summary(outcomes: Sequence[Outcome], seconds: float) -> Text:
    """One line that can stand alone."""
    as_described = sum(outcome.as_described for outcome in outcomes)
    proved = [o for o in outcomes if o.verdict is Verdict.HOLDS and o.complete]
    states = sum(outcome.states for outcome in proved)
    numbers = len({outcome.scenario.number for outcome in outcomes})
    described = (
        f"{as_described} of {quantity(len(outcomes), 'verdict')} in {quantity(numbers, 'scenario')}"
    )
    return Text(
        f"{described} came out as the catalogue says; {len(proved)} hold, explored in full "
        f"({quantity(states, 'state')}). {seconds:.0f} s."
    )


_HEAD = """# What is known to go wrong

Each entry has a claim, circumstances, the versions under which the claim is violated in them
and those under which it holds. *Violated*: after so many steps at the least. *Holds*: no reachable
state within the bounds breaks it. A `+` after the number of states marks a search that stopped
at the violation. What the options mean is in docs/model.md, the versions are in
docs/protocol.md.
"""
_COLUMNS = 100


def to_markdown(outcomes: Sequence[Outcome]) -> str:
    """A section an entry: the story, the circumstances, a line a version."""
    entries = list(dict.fromkeys(outcome.scenario.number for outcome in outcomes))
    lines = [_HEAD]
    for number in entries:
        of_entry = [o for o in outcomes if o.scenario.number == number]
        lines += _section(of_entry[0].scenario, of_entry)
    return "\n".join(lines)


def _section(scenario: Scenario, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"## {scenario.number} {scenario.name}"
    yield ""
    yield f"**{scenario.title}.** {scenario.source}."
    yield ""
    yield textwrap.fill(scenario.story, _COLUMNS)
    yield ""
    yield f"Claim: `{scenario.claim}`. Circumstances: `{describe_environment(scenario)}`."
    yield ""
    if scenario.remark:
        yield textwrap.fill(f"Remark: {scenario.remark}", _COLUMNS)
        yield ""
    yield "| version | verdict | steps | states |"
    yield "|---|---|---|---|"
    for outcome in outcomes:
        depth = "" if outcome.depth is None else str(outcome.depth)
        states = f"{outcome.states:,}" + ("" if outcome.complete else "+")
        version = describe_version(outcome.version)
        yield f"| {version} | {outcome.verdict.value} | {depth} | {states} |"
    yield ""
