"""Chains and repairs as plain values, for JSON: format waterline-explanation/1."""

from __future__ import annotations

from typing import Any

from waterline.checker.analysis.explain.chain import Chain, Chance
from waterline.checker.analysis.explain.rendering import describe_without
from waterline.checker.analysis.explain.repairs import Repairs, Tried
from waterline.counterexamples import Moment, Replayed

FORMAT = "waterline-explanation/1"


def explanation(replayed: Replayed, chain: Chain | None, repairs: Repairs | None) -> dict[str, Any]:
    """Return the explanation of a trace as plain values; None for parts not requested."""
    return {
        "format": FORMAT,
        "model": replayed.trace.model,
        "protocol": replayed.trace.version,
        "invariant": replayed.trace.invariant,
        "bounds": dict(replayed.trace.environment),
        "steps": len(replayed.moments),
        "chain": None if chain is None else _of_chain(chain),
        "repairs": None if repairs is None else _of_repairs(repairs),
    }


def _of_chain(chain: Chain) -> dict[str, Any]:
    replayed = chain.replayed
    return {
        "causes": [
            {
                **_of_step(replayed, cause.moment),
                "decided": not cause.undecided,
                "without": describe_without(cause, replayed.trace.invariant),
                "impossible": list(cause.impossible),
                "states": cause.without.states,
            }
            for cause in chain.causes
        ],
        "spared": [moment.number for moment in chain.spared],
        "chances": [_of_chance(replayed, chance) for chance in chain.chances],
        "not_all_tried_after": list(chain.unlooked),
    }


def _of_chance(replayed: Replayed, chance: Chance) -> dict[str, Any]:
    text = _of_step(replayed, chance.moment)
    del text["step"]
    return {"after": chance.first, "up_to": chance.last, **text, "states": chance.states}


def _of_step(replayed: Replayed, moment: Moment) -> dict[str, Any]:
    return {
        "step": moment.number,
        "action": moment.action,
        "arguments": dict(moment.arguments),
        "sentence": moment.sentence(replayed.narration),
    }


def _of_repairs(repairs: Repairs) -> dict[str, Any]:
    return {
        "tried": [_of_tried(tried) for tried in repairs.tried],
        "unexplored": [change.description for change in repairs.unexplored],
        "meaningless": {change.description: change.reason for change in repairs.nonsense},
    }


def _of_tried(tried: Tried) -> dict[str, Any]:
    return {
        "change": tried.candidate.description,
        "kind": tried.candidate.kind.value,
        "protocol": tried.candidate.spec.version,
        "verdict": tried.verdict.value,
        "repairs": tried.repairs,
        "depth": tried.depth,
        "distinct": tried.states,
        "complete": tried.complete,
        "unjudged_states": tried.unjudged,
        "never_happens": list(tried.never),
    }
