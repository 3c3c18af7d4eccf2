"""The last section of docs/scenarios.md: what each entry's trace takes, and what repairs it.

    python -m docs.make.explanations [NAME]...

explains the recorded trace of every entry, or makes anew the lines of those named. Some minutes on
one core; each line is written once it is known. What a budget ended is told as not decided.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

from waterline.checker.analysis.explain.chain import Chain, chain_of
from waterline.checker.analysis.explain.rendering import describe_numbers
from waterline.checker.analysis.explain.repairs import Repairs, repairs_of
from waterline.checker.kafka.families import family_of
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE, find_scenario
from waterline.checker.kafka.scenarios.document import EXPLAINED, explained_part, run_part
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.problem.wording import describe_version
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import read_trace

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "scenarios.md"
TRACES = ROOT / "examples" / "traces" / "scenarios"
STATES_MAX = 8_000_000
SECONDS_MAX = 200.0
"""For all changes of an entry together."""
_HEAD = """
## What each takes, and what repairs it

Written by `python -m docs.make.explanations`, from the recorded trace of each entry under the
first version that violates it. *Takes*: the steps from outside without any one of which no course
breaks the claim. *Too late*: steps of the protocol that would have prevented it, with the steps of
the trace after which they could still come. *Repairs*: the single changes with which the claim
holds in every reachable state at the same bounds, with how many these are; *not decided* are those
whose space is larger than was looked at. [counterexamples.md](counterexamples.md) defines them.

| entry | version | takes | too late | repairs |
|---|---|---|---|---|
"""


def explained() -> list[Scenario]:
    """The entries that have a trace to explain: those that some version violates."""
    return [scenario for scenario in CATALOGUE if scenario.falls]


def row(scenario: Scenario) -> str:
    """The line of one entry."""
    trace = read_trace(TRACES / f"{scenario.name}.json")
    problem = family_of(trace.model).problem_of(trace.version, trace.environment, [trace.invariant])
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    replayed = confirm_trace(trace, problem.model, claim).replayed
    prepare(problem)
    chain = chain_of(problem, replayed)
    [repairs] = repairs_of(problem, threads=1, states_max=STATES_MAX, seconds_max=SECONDS_MAX)
    described = (
        f"[{scenario.number}](#{scenario.number.lower()}-{scenario.name})",
        describe_version(trace.version),
        _causes(chain),
        _chances(chain),
        _repairs(repairs),
    )
    return f"| {' | '.join(described)} |\n"


def _causes(chain: Chain) -> str:
    described = (
        f"{cause.moment.number} `{cause.moment}`" + (" (not decided)" if cause.undecided else "")
        for cause in chain.causes
    )
    return ", ".join(described)


def _chances(chain: Chain) -> str:
    described = [
        f"`{chance.call}` after {describe_numbers(tuple(range(chance.first, chance.last + 1)))}"
        for chance in chain.chances
    ]
    if chain.unlooked:
        described.append(f"not all tried after {describe_numbers(chain.unlooked)}")
    return ", ".join(described) or "none"


def _repairs(repairs: Repairs) -> str:
    described = ", ".join(
        f"`{one.candidate.description}` ({one.states:,}"
        + (f"; of {one.unjudged:,} nothing is said)" if one.unjudged else ")")
        for one in repairs.found
    )
    if not repairs.undecided:
        return described or "none"
    named = ", ".join(f"`{change.description}`" for change in repairs.undecided)
    return f"{described or 'none'}; not decided: {named}"


def lines_of(document: str) -> dict[str, str]:
    """The lines that a document has, by the number of the entry."""
    return {
        found[1]: found[0] for found in re.finditer(r"^\| \[(\w+)\].*\n", document, re.MULTILINE)
    }


def main() -> None:
    """Write the section."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names
    whole = DOCUMENT.read_text(encoding="utf-8")
    lines = lines_of(explained_part(whole)) if names else {}
    for scenario in [find_scenario(name) for name in names] or explained():
        started = time.monotonic()
        lines[scenario.number] = row(scenario)
        print(f"{scenario.number} {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        table = (lines[entry.number] for entry in explained() if entry.number in lines)
        text = run_part(whole) + EXPLAINED + _HEAD + "".join(table)
        DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
