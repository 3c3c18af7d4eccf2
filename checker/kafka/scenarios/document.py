"""The catalogue with its outcomes as a document."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from waterline.checker.kafka.scenarios.running import Outcome
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.kafka.scenarios.table import describe_environment
from waterline.checker.problem.wording import describe_version

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
