"""Compare Waterline with the Murphi model of the same protocol, setting by setting.

    python -m bench.peers.compare [--all | --new | SETTING ...] [--add]
    python -m bench.peers.compare "kip320-without-fencing epochs=3 restarts=1 moves=2"

Needs `rumur` and a C compiler. At each setting: distinct states of every level, transitions, and
the depth at which each of nine claims is violated must be equal. Exits 1 if anything differs, after
all settings. By default three settings, both old versions of each: as documented, 3 replicas,
unclean election. --all: every row of tests/golden/manifest.json, which takes about an hour. --new:
those rows of it that have all nine claims. --add: put what agrees and is not there yet into that
file.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.peers.message_peer import CLAIMS, PeerError, examine
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.model.message.environment import Environment

MANIFEST = Path(__file__).parents[2] / "tests" / "golden" / "manifest.json"
THREE: list[dict[str, Any]] = [{}, {"replicas": 3, "records": 1}, {"unclean-leader-election": True}]


def ours(version: str, options: dict[str, Any]) -> dict[str, Any]:
    """What Waterline finds."""
    environment = Environment.from_options({**Environment().options(), **options})
    problem = problem_for(version, environment)
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)
    depths = {found.name: found.depth for found in result.invariants}
    return {
        "distinct": result.distinct,
        "fired": result.generated - 1,
        "depth": result.depth,
        "violated": {name: depths[name] for name in CLAIMS if depths[name] is not None},
        "levels": [level.states for level in result.levels],
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
    """Read an option's value as the manifest spells it."""
    return {"true": True, "false": False}.get(word, int(word) if word.isdecimal() else word)


def setting(words: str) -> tuple[str, dict[str, Any]]:
    """Read a setting from the command line."""
    version, *options = words.split()
    pairs = (option.partition("=") for option in options)
    return version, {k: v if k == "acks" else value(v) for k, _, v in pairs}


def add(row: dict[str, Any]) -> None:
    """Put a row into the manifest, unless its setting is there."""
    manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))
    key = (row["protocol"], row["options"])
    if key in [(r["protocol"], r["options"]) for r in manifest["rows"]]:
        return
    rows = ",\n".join("    " + json.dumps(r) for r in [*manifest["rows"], row])
    about = json.dumps(manifest["about"])
    text = f'{{\n  "about": {about},\n  "rows": [\n{rows}\n  ]\n}}\n'
    MANIFEST.write_text(text, encoding="utf-8")


def compare(version: str, options: dict[str, Any], adding: bool) -> bool:
    """Compare one setting, print a line or two, and say whether it agrees."""
    what = " ".join([version, *(f"{k}={v}" for k, v in options.items())])
    try:
        peer = examine(version, options)
    except PeerError as error:
        print(f"{what}: {error}", flush=True)
        return False
    mine = ours(version, options)
    wrong = differences(mine, peer)
    print(
        f"{what}: {mine['distinct']:,} states in {len(mine['levels'])} levels, "
        f"{mine['fired']:,} transitions, {mine['violated']}: {'DIFFER' if wrong else 'agree'}",
        *wrong,
        sep="\n    ",
        flush=True,
    )
    if adding and not wrong:
        del mine["levels"]
        add({"protocol": version, "options": options, **mine, "claims": len(CLAIMS)})
    return not wrong


def main() -> int:
    """Compare, a line each."""
    parser = argparse.ArgumentParser(description="Compare with the Murphi model.")
    parser.add_argument("--all", action="store_true", help="every row of the manifest")
    parser.add_argument("--new", action="store_true", help="its rows with nine claims")
    parser.add_argument("--add", action="store_true", help="put what agrees into the manifest")
    parser.add_argument("settings", nargs="*", metavar="SETTING", help="as 'kip320 epochs=3'")
    asked = parser.parse_args()
    if asked.settings:
        rows = [setting(words) for words in asked.settings]
    elif asked.all or asked.new:
        manifest = json.loads(MANIFEST.read_text(encoding="utf-8"))["rows"]
        kept = [r for r in manifest if asked.all or r.get("claims") == len(CLAIMS)]
        rows = [(r["protocol"], r["options"]) for r in kept]
    else:
        rows = [(version, options) for options in THREE for version in ("hw", "epoch")]
    agreed = [compare(version, options, asked.add) for version, options in rows]
    print(f"{sum(agreed)} of {len(agreed)} agree")
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
