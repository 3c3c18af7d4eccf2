"""Compare Waterline with the Murphi model of the same protocol, setting by setting.

    python -m lab.bench.peers.compare [--all | SETTING ...] [--add]
    python -m lab.bench.peers.compare "kip320-without-fencing epochs=3 restarts=1 moves=2"

Needs `rumur` and a C compiler. At each setting: distinct states of every level, transitions, and
the depth at which each of nine claims is violated must be equal. Exits 1 if anything differs, after
all settings. By default three settings, both old versions of each: as documented, 3 replicas,
unclean election. --all: every entry of gates/counts.toml, which takes about an hour. --add: put
what agrees and is not there yet into that file.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

from lab.bench.peers.message_peer import CLAIMS, PeerError, examine
from lab.documents.gates import Entry
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.model.message.environment import Environment

COUNTS = Path(__file__).parents[3] / "gates" / "counts.toml"
NOT_OPTIONS = ("name", "protocol", "invariant", "counts", "verdicts", "never")
"""Keys of an entry that are not bounds or circumstances."""
THREE: list[dict[str, Any]] = [{}, {"replicas": 3, "records": 1}, {"unclean-leader-election": True}]


def problem(version: str, options: dict[str, Any]) -> Problem:
    """A version in the environment documented but for these options."""
    return problem_for(version, Environment.from_options({**Environment().options(), **options}))


def ours(version: str, options: dict[str, Any]) -> dict[str, Any]:
    """What Waterline finds."""
    asked = problem(version, options)
    with closing(MemoryEngine(asked)) as engine:
        result = search(asked, engine)
    depths = {found.name: found.depth for found in result.invariants}
    return {
        "distinct": result.distinct,
        "fired": result.generated - 1,
        "depth": result.depth,
        "violated": {name: depths[name] for name in CLAIMS if depths[name] is not None},
        "levels": [level.states for level in result.levels],
        "never": tuple(claim.name for claim in result.reachable if claim.depth is None),
    }


def differences(mine: dict[str, Any], peer: dict[str, Any]) -> list[str]:
    """Say what is not equal; of the levels, the first one that is not."""
    found = [f"{key} {mine[key]}, peer {peer[key]}" for key in mine if mine[key] != peer[key]]
    if mine["levels"] != peer["levels"]:
        pairs = enumerate(zip(mine["levels"], peer["levels"], strict=False))
        first = next((f"{at}: {a}, peer {b}" for at, (a, b) in pairs if a != b), "the last")
        found[-1] = f"first level that differs {first}"
    return found


def value(word: str) -> str | int | bool:
    """Read an option's value as the gate spells it."""
    return {"true": True, "false": False}.get(word, int(word) if word.isdecimal() else word)


def setting(words: str) -> tuple[str, dict[str, Any]]:
    """Read a setting from the command line."""
    version, *options = words.split()
    pairs = (option.partition("=") for option in options)
    return version, {k: v if k == "acks" else value(v) for k, _, v in pairs}


def recorded() -> list[tuple[str, dict[str, Any]]]:
    """The settings of the golden counts."""
    entries = tomllib.loads(COUNTS.read_text(encoding="utf-8"))["expect"]
    return [
        (entry["protocol"], {k: v for k, v in entry.items() if k not in NOT_OPTIONS})
        for entry in entries
    ]


def add(
    version: str, options: dict[str, Any], found: dict[str, Any], never: tuple[str, ...]
) -> None:
    """Put what was found into the gate, unless its setting is there."""
    if (version, options) in recorded():
        return
    described = " ".join(f"{k}={v}" for k, v in options.items())
    applying = problem(version, options).checked
    verdicts = {name: "holds" if name in applying else "not applicable" for name in CLAIMS}
    entry = Entry(
        f"{version} {described or 'documented'}",
        {"protocol": version, **options, "invariant": CLAIMS},
        verdicts | dict.fromkeys(found["violated"], "violated"),
        ("distinct", "generated", "depth"),
        never,
        {
            "distinct": found["distinct"],
            "generated": found["fired"] + 1,
            "depth": found["depth"],
            **found["violated"],
        },
    )
    with COUNTS.open("a", encoding="utf-8") as gate:
        gate.write(entry.text())


def compare(version: str, options: dict[str, Any], adding: bool) -> bool:
    """Compare one setting, print a line or two, and say whether it agrees."""
    what = " ".join([version, *(f"{k}={v}" for k, v in options.items())])
    try:
        peer = examine(version, options)
    except PeerError as error:
        print(f"{what}: {error}", flush=True)
        return False
    mine = ours(version, options)
    never = mine.pop("never")
    wrong = differences(mine, peer)
    print(
        f"{what}: {mine['distinct']:,} states in {len(mine['levels'])} levels, "
        f"{mine['fired']:,} transitions, {mine['violated']}: {'DIFFER' if wrong else 'agree'}",
        *wrong,
        sep="\n    ",
        flush=True,
    )
    if adding and not wrong:
        add(version, options, mine, never)
    return not wrong


def main() -> int:
    """Compare, a line each."""
    parser = argparse.ArgumentParser(description="Compare with the Murphi model.")
    parser.add_argument("--all", action="store_true", help="every entry of the golden counts")
    parser.add_argument("--add", action="store_true", help="put what agrees into them")
    parser.add_argument("settings", nargs="*", metavar="SETTING", help="as 'kip320 epochs=3'")
    asked = parser.parse_args()
    if asked.settings:
        rows = [setting(words) for words in asked.settings]
    elif asked.all:
        rows = recorded()
    else:
        rows = [(version, options) for options in THREE for version in ("hw", "epoch")]
    agreed = [compare(version, options, asked.add) for version, options in rows]
    print(f"{sum(agreed)} of {len(agreed)} agree")
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
