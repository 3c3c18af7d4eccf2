"""Run a model of musil's and print a line of JSON; before it each counterexample.

python -m lab.bench.peers.small.run_musil two_phase_commit 6
"""

from __future__ import annotations

import importlib
import json
import sys

STATES_MAX = 10_000_000


def main() -> None:
    """Check it."""
    # Whoever has not got it reads why elsewhere.
    from musil import check  # noqa: PLC0415

    name, size = sys.argv[1], int(sys.argv[2])
    module = importlib.import_module(f"lab.bench.peers.small.{name}_musil")
    model = module.model(size)
    found = [check(model, max_states=STATES_MAX)]
    distinct = found[0].states_explored
    if found[0].ok and hasattr(module, "in_the_end"):
        found += module.in_the_end(model)
    broken = [each for each in found if not each.ok]
    print(*broken, sep="\n")
    print(json.dumps({"distinct": distinct, "found": len(broken)}))


if __name__ == "__main__":
    main()
