"""How often `explain-logs` recognises C21 in the logs of runs of which the truth is known.

    python -m bench.incidents RUNS.jsonl [--seconds 60]

RUNS.jsonl has a run a line: {"release": "3.9.1:zookeeper", "truth": "C21", "folder": "..."}; the
truth of a control is "control". The folders are those that `waterline confirm --keep` and
`bench.pauses --keep` write. Prints the table of docs/incidents.md, and a line of JSON for each run
on standard error. "Surely" is: every behaviour that fits, within the bounds, loses the record.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from checker.kafka.logs.answer import Answer, answered
from checker.kafka.logs.fitting import Circumstances
from checker.kafka.logs.reading import read_logs
from model.message.releases import release_named

TRUTHS = ("C21", "control")


def explained(release: str, folder: Path, seconds: float) -> Answer:
    """The answer for the logs of one run."""
    logs = read_logs([folder])
    followed, hw_in_response = release_named(release)
    given = Circumstances(version=followed.version, hw_in_response=hw_in_response)
    return answered(logs, logs.only_partition(), given, seconds_max=seconds)


def main() -> None:
    """Explain every run, and print the table."""
    parser = argparse.ArgumentParser(description="C21 recognised in logs.")
    parser.add_argument("runs", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each run")
    asked = parser.parse_args()
    rows: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for line in asked.runs.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        if run["truth"] not in TRUTHS:
            sys.exit(f"truth is {run['truth']!r}; it must be one of {', '.join(TRUTHS)}")
        found = explained(run["release"], Path(run["folder"]), asked.seconds)
        rows[run["release"], run["truth"]].append(found)
        result = {
            "fits": found.fits,
            "C21": found.c21,
            "surely": found.best.always_loses,
            "at_risk": len(found.at_risk),
            "missed": len(found.missed),
            "complete": sorted(found.best.complete),
            "states": sum(each.states for each in found.tried),
            "seconds": round(found.seconds, 1),
        }
        print(json.dumps(run | result), file=sys.stderr, flush=True)
    print(
        "| release | truth | runs | fits | C21 | of these surely | states a run | seconds a run |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for (release, truth), found_in in sorted(rows.items()):
        seconds = [each.seconds for each in found_in]
        states = [sum(search.states for search in each.tried) for each in found_in]
        print(
            f"| {release} | {truth} | {len(found_in)} | {sum(a.fits for a in found_in)} | "
            f"{sum(a.c21 for a in found_in)} | "
            f"{sum(a.c21 and a.best.always_loses for a in found_in)} | "
            f"{min(states):,} to {max(states):,} | {min(seconds):.0f} to {max(seconds):.0f} |"
        )


if __name__ == "__main__":
    main()
