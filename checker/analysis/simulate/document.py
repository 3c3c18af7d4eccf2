"""JSON of a simulation, as `simulate --format json` prints it.

`docs/running.md` describes it.
"""

from __future__ import annotations

import json
from typing import Any

from waterline.checker.analysis.simulate.hyperloglog import STANDARD_ERROR
from waterline.checker.analysis.simulate.shortening import Shortened
from waterline.checker.analysis.simulate.simulation import Simulation
from waterline.counterexamples import to_json

FORMAT = "waterline-simulation/1"


def document(done: Simulation) -> dict[str, Any]:
    """The object as plain values."""
    model, seen = done.problem.model, done.coverage
    found = {each.finding.invariant: each for each in done.found}
    return {
        "format": FORMAT,
        "model": model.name,
        "protocol": model.version,
        "bounds": dict(model.options),
        "seed": done.plan.seed,
        "choose": done.plan.choosing.value,
        "depth": done.plan.depth,
        "stopped_by": done.stopped_by,
        "invariants": {
            claim.name: {
                "verdict": done.verdict(claim),
                "walks": done.broken_in(claim.name),
                **_counterexample(found.get(claim.name)),
            }
            for claim in done.problem.judged
            if done.problem.is_asked(claim)
        },
        "reachable": {
            claim.name: bool(seen.happened[number])
            for number, claim in enumerate(done.problem.reachable)
        },
        "walks": seen.walks,
        "steps": seen.steps,
        "enabled_steps": int(seen.fired.sum()),
        "distinct_estimate": round(seen.distinct),
        "distinct_standard_error": round(STANDARD_ERROR, 4),
        "lengths": seen.lengths.tolist(),
        "actions": {
            action.name: int(seen.taken[number])
            for number, action in enumerate(model.actions)
            if action.name in model.contents
        },
        "cut": {
            name: int(seen.cut[:, number].sum())
            for number, name in enumerate(model.limits)
            if number > 0
        },
        "faults": {name: used.tolist() for name, used in seen.faults.items() if len(used) > 1},
        "engine": done.engine,
        "seconds": round(done.seconds, 3),
        "prepare_seconds": round(done.prepare_seconds, 3),
    }


def _counterexample(found: Shortened | None) -> dict[str, Any]:
    if found is None:
        return {"steps": None, "walked": None, "at_least": None, "explanation": None, "trace": None}
    return {
        "steps": found.steps,
        "walked": found.walked,
        "at_least": found.at_least,
        "explanation": found.finding.explanation,
        "trace": json.loads(to_json(found.finding.replayed.trace)),
    }
