"""JSON of a run, as `check --format json` prints it.

`docs/formats.md` describes it. Nothing else goes to standard output then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waterline.counterexamples import to_json, trace_step

if TYPE_CHECKING:
    from waterline.checker.checking.bound_sensitivity import Lowered
    from waterline.checker.checking.run import Run


FORMAT = "waterline-result/1"


def summary(
    run: Run,
    explanations: Mapping[str, Any] | None = None,
    lowered: Sequence[Lowered] = (),
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the result as plain values; `explanations` by claim, if requested.

    `lowered` belongs to the profile of a run that has one.
    """
    result = run.result
    model = result.problem.model
    traces = {f.invariant: json.loads(to_json(f.replayed.trace)) for f in run.findings}
    breaking = {f.invariant: f.breaking for f in run.findings if f.breaking is not None}
    behaviours = {claim.name for claim in result.problem.behaviours}
    sentences = {f.invariant: f.explanation for f in run.findings}
    return {
        "format": FORMAT,
        "model": model.name,
        "protocol": model.version,
        "symmetry": result.problem.symmetry.value,
        "complete": result.complete,
        "stopped_by": result.stopped_by,
        "invariants": {
            found.name: {
                "verdict": found.verdict.value,
                "depth": found.depth,
                "contract": result.contract_of(found.name) if found.depth is not None else None,
                "explanation": sentences.get(found.name),
                "breaking_states": breaking[found.name].states if found.name in breaking else None,
                "unjudged_states": found.unjudged if found.name in behaviours else None,
                "why": found.why or None,
                "faults": breaking[found.name].faults if found.name in breaking else None,
                "trace": traces.get(found.name),
                **_others(run, found.name),
            }
            for found in result.invariants
        },
        "reachable": {found.name: found.depth for found in result.reachable},
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
        "levels": [level.states for level in result.levels],
        "level_seconds": [round(level.seconds, 3) for level in result.levels],
        "explored_on": [level.on for level in result.levels],
        "actions": result.fired,
        "cut": result.cut,
        "always_cut": result.always_cut,
        "bounds": dict(model.options),
        "deadlock_depth": result.deadlock[0] if result.deadlock else None,
        "engine": result.engine,
        "seconds": round(result.seconds, 3),
        "prepare_seconds": round(run.prepare_seconds, 3),
        "peak_rss_bytes": result.peak_rss,
        **_error(run),
        **({"warnings": list(warnings)} if warnings else {}),
        **({"explanations": dict(explanations)} if explanations else {}),
        **_profile(run, lowered),
    }


def _others(run: Run, claim: str) -> dict[str, Any]:
    """Return the further counterexamples, if requested."""
    if claim not in run.others:
        return {}
    others = run.others[claim]
    return {
        "others": [json.loads(to_json(each.replayed.trace)) for each in others.findings],
        "kinds": others.kinds,
        "all_kinds": others.is_all,
    }


def _error(run: Run) -> dict[str, Any]:
    """Return the error of a rule that ended the run, if there is one."""
    if run.error is None:
        return {}
    failure, finding = run.error.failure, run.error.finding
    model = run.result.problem.model
    step = trace_step(model, *failure.call) if failure.call is not None else None
    return {
        "error": {
            "message": str(run.error.raised),
            "action": step.action if step else None,
            "arguments": dict(step.arguments) if step else None,
            "claim": failure.claim or None,
            "depth": run.error.depth,
            "state": run.error.raised.describe_state,
            "trace": json.loads(to_json(finding.replayed.trace)),
        }
    }


def _profile(run: Run, lowered: Sequence[Lowered]) -> dict[str, Any]:
    if run.profile is None:
        return {}
    from waterline.checker.cli.profile_report import profile_document  # noqa: PLC0415 - rarely

    return {"profile": profile_document(run.profile, lowered)}


def to_text(
    run: Run,
    explanations: Mapping[str, Any] | None = None,
    lowered: Sequence[Lowered] = (),
    warnings: Sequence[str] = (),
) -> str:
    """The object, indented."""
    return json.dumps(summary(run, explanations, lowered, warnings), indent=2)
