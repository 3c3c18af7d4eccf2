"""Compare Waterline with the Murphi model of the same protocol, bound by bound.

    python -m bench.peers.compare [--all]

Needs `rumur` and a C compiler. At each bound: distinct states of every level, transitions, and the
verdict and depth of four claims must be equal. Exits 1 at the first difference. By default three
bounds, both versions of each: as documented, 3 replicas, unclean election. --all: every row of
tests/golden/manifest.json, which takes a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from checker.engines.memory import MemoryEngine
from checker.grains import problem_for
from checker.search import search
from model.environment import Environment

HERE = Path(__file__).parent
MANIFEST = HERE.parents[1] / "tests" / "golden" / "manifest.json"
CLAIMS = {
    "committed-record-lost": "no_committed_loss",
    "acknowledged-durable": "acknowledged_durable",
    "divergence-below-hw": "no_divergence_below_hw",
    "inconsistent-read": "consistent_read",
}
THREE: list[dict[str, Any]] = [{}, {"replicas": 3, "records": 1}, {"unclean-leader-election": True}]


def ours(version: str, environment: Environment) -> dict[str, Any]:
    """What Waterline finds."""
    problem = problem_for(version, environment)
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)
    depths = {found.name: found.depth for found in result.invariants}
    return {
        "levels": [level.states for level in result.levels],
        "fired": result.generated - 1,
        "claims": {name: depths[name] for name in CLAIMS.values()},
    }


def theirs(version: str, environment: Environment) -> dict[str, Any]:
    """What Rumur finds on the Murphi text."""
    command = [sys.executable, str(HERE / "message_peer.py"), "--truncation", version]
    for option, value in (
        ("--replicas", environment.replicas),
        ("--records", environment.records),
        ("--epochs", environment.epochs),
        ("--restarts", environment.restarts),
        ("--moves", environment.moves),
        ("--acks", environment.acks),
        ("--min-isr", environment.min_insync_replicas),
        ("--unclean", "on" if environment.unclean_leader_election else "off"),
        ("--restart-detection", environment.restart_detection),
        ("--hw-in-response", environment.hw_in_response),
        ("--parked", "on" if environment.parked_fetches else "off"),
        ("--claims", "all"),
    ):
        command += [option, str(value)]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    claims = {CLAIMS[name]: found.get("depth") for name, found in report["claims"].items()}
    return {"levels": report["levels"], "fired": report["fired"], "claims": claims}


def main() -> int:
    """Compare, a line each."""
    parser = argparse.ArgumentParser(description="Compare with the Murphi model.")
    parser.add_argument("--all", action="store_true", help="every row of the manifest")
    if parser.parse_args().all:
        rows = [(r["protocol"], r["options"]) for r in json.loads(MANIFEST.read_text())["rows"]]
    else:
        rows = [(version, options) for options in THREE for version in ("hw", "epoch")]
    for version, options in rows:
        environment = Environment.from_options({**Environment().options(), **options})
        mine, peer = ours(version, environment), theirs(version, environment)
        same = mine == peer
        what = " ".join(f"{name}={value}" for name, value in options.items()) or "documented"
        print(
            f"{version} {what}: {sum(mine['levels']):,} states in {len(mine['levels'])} levels, "
            f"{mine['fired']:,} transitions, {mine['claims']}: {'agree' if same else 'DIFFER'}",
            flush=True,
        )
        if not same:
            print(f"the other found {peer}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
