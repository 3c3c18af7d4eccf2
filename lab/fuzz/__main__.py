"""All attacks, one after the other, each for its share of the time: `make nightly`.

    python -m lab.fuzz --minutes 60 --seed 20261128

The seed is the date where none is given. An attack begins at a million times that, so that two
nights have no round in common. Exit code 1 if any attack goes wrong, or does not end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from datetime import UTC, datetime

SHARES = {
    "lab.fuzz.oracle": 8,
    "lab.fuzz.raising": 8,
    "lab.fuzz.faults": 8,
    "lab.fuzz.faults.on_spark": 4,
    "lab.fuzz.stale_keys": 6,
    "lab.fuzz.stale_disk": 6,
    "lab.fuzz.forgeries": 4,
    "lab.fuzz.certificates": 5,
    "lab.fuzz.order_abstraction": 5,
    "lab.fuzz.whole_spaces": 5,
    "lab.fuzz.sorts": 3,
    "lab.fuzz.recovery_on_spark": 4,
}
"""Parts of the time that each attack has. A preparation and a last round may take longer."""
BEYOND_SECONDS = 900
"""An attack that goes on for so long after its time has met something without end."""


def main(argv: list[str] | None = None) -> int:
    """Run all, and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.fuzz",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    today = int(f"{datetime.now(UTC):%Y%m%d}")
    parser.add_argument("--seed", type=int, default=today, metavar="N", help="default: the date")
    parser.add_argument("--minutes", type=float, default=60, metavar="M", help="for all together")
    asked = parser.parse_args(argv)
    print(f"python -m lab.fuzz --seed {asked.seed} --minutes {asked.minutes:g}", flush=True)
    table, failed = [], False
    for name, share in SHARES.items():
        began = time.monotonic()
        outcome = outcome_of(
            name, asked.seed * 1_000_000, asked.minutes * share / sum(SHARES.values())
        )
        failed |= outcome != "ok"
        table.append(f"{name:24}{time.monotonic() - began:7.0f} s  {outcome}")
    print("\n" + "\n".join(table))
    return 1 if failed else 0


def outcome_of(name: str, seed: int, minutes: float) -> str:
    """Run one attack, which prints what it sees; says how it ended."""
    print(f"\n== {name}, {minutes:.1f} minutes", flush=True)
    command = [sys.executable, "-m", name, "--seed", str(seed), "--minutes", f"{minutes:.3f}"]
    patience = 60 * minutes + BEYOND_SECONDS
    try:
        code = subprocess.run(command, timeout=patience, check=False).returncode
    except subprocess.TimeoutExpired:
        return "NO END"
    return "ok" if code == 0 else f"WRONG, exit code {code}"


if __name__ == "__main__":
    sys.exit(main())
