"""The catalogue with its recorded outcomes, for the site.

    waterline scenarios --run --json FILE && python -m lab.documents.catalogue FILE

records the outcomes of a whole run in docs/results/catalogue.jsonl, a line an entry;
`python -m lab.documents.explanations` adds what a counterexample takes and what repairs it. The
build of the site makes the page of these.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.documents.tables import in_markdown
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.kafka.scenarios.running import Outcome
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.kafka.scenarios.table import to_markdown
from waterline.checker.problem.wording import describe_version
from waterline.checker.search.result import Verdict

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results" / "catalogue.jsonl"
PLACE = "<!-- made: catalogue -->"
_EXPLAINED = """
## What each takes, and what repairs it

From the recorded trace of each entry under the first version that violates it. *Takes*: the steps
from outside without any one of which no course breaks the claim. *Too late*: steps of the protocol
that would have prevented it, with the steps of the trace after which they could still come.
*Repairs*: the single changes with which the claim holds in every reachable state at the same
bounds, with how many these are; *not decided* are those whose space is larger than was looked at.
[counterexamples.md](../counterexamples.md) defines them.

"""
Recorded = dict[str, dict[str, Any]]


def read() -> Recorded:
    """Return what is on record, by the name of an entry."""
    lines = map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
    return {line["scenario"]: line for line in lines}


def write(recorded: Recorded) -> None:
    """Write the record, in the order of the catalogue."""
    lines = (json.dumps(recorded[s.name]) for s in CATALOGUE if s.name in recorded)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def outcomes(recorded: Recorded) -> list[Outcome]:
    """Return the recorded outcomes, an entry after the other, each under all its versions."""
    return [
        Outcome(
            scenario=scenario,
            version=version,
            verdict=Verdict(verdict),
            depth=depth,
            states=states,
            complete=complete,
            seconds=0.0,
            finding=None,
        )
        for scenario in CATALOGUE
        for version, (verdict, depth, states, complete) in recorded[scenario.name][
            "outcomes"
        ].items()
    ]


def scenarios_with_trace() -> list[Scenario]:
    """Return the entries that have a trace to explain: those that some version violates."""
    return [scenario for scenario in CATALOGUE if scenario.falls]


def page() -> str:
    """Return the part of the page that the record makes."""
    recorded = read()
    _, _, sections = to_markdown(outcomes(recorded)).partition("\n\n")
    rows = (
        (
            f"[{s.number}](#{s.number.lower()}-{s.name})",
            describe_version(s.first),
            *recorded[s.name]["explained"],
        )
        for s in scenarios_with_trace()
    )
    head = ("entry", "version", "takes", "too late", "repairs")
    return sections + _EXPLAINED + in_markdown(head, rows)


def taken_from(run: Sequence[Mapping[str, Any]], recorded: Recorded) -> Recorded:
    """Return the record with the outcomes of a run in place of the former ones."""
    taken: Recorded = {name: {**entry, "outcomes": {}} for name, entry in recorded.items()}
    for found in run:
        entry = taken.setdefault(found["scenario"], {"scenario": found["scenario"], "outcomes": {}})
        counted = found["verdict"], found["depth"], found["distinct"], found["complete"]
        entry["outcomes"][found["version"]] = list(counted)
    return taken


def main() -> None:
    """Record the outcomes of a run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path, metavar="FILE")
    run = json.loads(parser.parse_args().file.read_text(encoding="utf-8"))
    write(taken_from(run["outcomes"], read()))


if __name__ == "__main__":
    main()
