"""How often `explain-logs` recognises a loss in the logs of runs of which the truth is known.

    python -m lab.bench.incidents RUNS.jsonl [--seconds 60]

RUNS.jsonl has a run a line: {"release": "3.9.1:zookeeper", "truth": "C21", "folder": "..."}; the
truth is an entry of the catalogue, that of a control "control". The folders are those that
`waterline confirm --keep` and `lab.experiments.pauses --keep` write. Prints the table of
docs/incidents.md, and a line of JSON for each run on standard error. "Surely" is: every behaviour
that fits, within the bounds, loses the record, and it is no other entry. "Something else" is
another entry alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from waterline.checker.kafka.logs.answer import Answer, answer_of
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.reading import read_logs
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.model.message.releases import release_named

CONTROL = "control"


def explained(release: str, folder: Path, seconds: float) -> Answer:
    """The answer for the logs of one run."""
    logs = read_logs([folder])
    followed, hw_in_response = release_named(release)
    given = Circumstances(version=followed.version, hw_in_response=hw_in_response)
    return answer_of(logs, logs.only_partition(), given, seconds_max=seconds)


def causes_in(found: Answer) -> list[str]:
    """The entries of the catalogue that an answer names, the nearest first."""
    return [cause.scenario.number for cause in found.causes]


def main() -> None:
    """Explain every run, and print the table."""
    parser = argparse.ArgumentParser(description="Losses recognised in logs.")
    parser.add_argument("runs", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each run")
    asked = parser.parse_args()
    rows: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for line in asked.runs.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        if run["truth"] != CONTROL:
            find_scenario(run["truth"])
        found = explained(run["release"], Path(run["folder"]), asked.seconds)
        rows[run["release"], run["truth"]].append(found)
        result = {
            "fits": found.fits,
            "causes": causes_in(found),
            "surely": found.always_loses,
            "at_risk": len(found.evidence.at_risk),
            "missed": len(found.evidence.missed),
            "complete": sorted(found.best.complete) if found.best else [],
            "states": sum(each.states for each in found.tried),
            "seconds": round(found.seconds, 1),
        }
        print(json.dumps(run | result), file=sys.stderr, flush=True)
    print(
        "| release | truth | runs | fits | recognised | surely | something else | states "
        "| seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for (release, truth), found_in in sorted(rows.items()):
        seconds = [each.seconds for each in found_in]
        states = [sum(search.states for search in each.tried) for each in found_in]
        print(
            f"| {release} | {truth} | {len(found_in)} | {sum(a.fits for a in found_in)} | "
            f"{sum(truth in causes_in(a) for a in found_in)} | "
            f"{sum(truth in causes_in(a) and a.is_certain for a in found_in)} | "
            f"{sum(bool(causes_in(a)) and truth not in causes_in(a) for a in found_in)} | "
            f"{min(states):,} to {max(states):,} | {min(seconds):.0f} to {max(seconds):.0f} |"
        )


if __name__ == "__main__":
    main()
