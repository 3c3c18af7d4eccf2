"""Run a model of minicheck's and print a line of JSON; before it each counterexample.

python -m lab.bench.peers.small.run_minicheck two_phase_commit 6
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

STATES_MAX = 10_000_000


def main() -> None:
    """Check it."""
    # Whoever has not got it reads why elsewhere.
    from minicheck import check_liveness, check_safety  # noqa: PLC0415

    name, size = sys.argv[1], int(sys.argv[2])
    model = importlib.import_module(f"lab.bench.peers.small.{name}_minicheck").model(size)
    safety: dict[str, Any] = check_safety(model, max_states=STATES_MAX)
    found = {claim: each["counterexample"] for claim, each in safety["properties"].items()}
    if model.goal is not None:
        # Not fair liveness: from every state there is a way.
        found["goal"] = check_liveness(model).get("counterexample")
    broken = {claim: steps for claim, steps in found.items() if steps}
    for claim, steps in broken.items():
        print(f"{claim}:", *(f"  {step['label']} {step['state']}" for step in steps), sep="\n")
    print(json.dumps({"distinct": safety["reachable_states"], "found": sorted(broken)}))


if __name__ == "__main__":
    main()
