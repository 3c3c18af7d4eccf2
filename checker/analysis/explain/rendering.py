"""Causes, chances and repairs, for a terminal of any width or a pipe, and as plain values for JSON:
format waterline-explanation/1.
"""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.analysis.explain.chain import Cause, Chain, Chance
from waterline.checker.analysis.explain.repairs import Repairs, Tried
from waterline.checker.problem.wording import quantity
from waterline.counterexamples import Moment, Replayed
from waterline.counterexamples.style import GOOD, QUIET, TITLE, two_columns

UNKNOWN = "yellow"


def render_chain(chain: Chain) -> RenderableType:
    """The causes with what happens without each, then the chances that were missed."""
    replayed = chain.replayed
    steps = quantity(len(replayed.moments), "step")
    causes = two_columns(numbers=True)
    for cause in chain.causes:
        sentence = cause.moment.sentence(replayed.narration)
        causes.add_row(f"{cause.moment.number}.", Text(sentence))
        style = UNKNOWN if cause.undecided else QUIET
        causes.add_row("", Text(describe_without(cause, replayed.trace.invariant), style))
    whence = f"must come from outside ({_kinds(chain)})" if chain.knows_outside else "are needed"
    needed = f"{len(chain.causes)} of the {steps} {whence}"
    parts: list[RenderableType] = [Text(needed, TITLE), causes]
    if chain.spared:
        described = ", ".join(f"step {moment.number}" for moment in chain.spared)
        parts.append(Text(f"Not needed: {described}.", QUIET))
    if not chain.knows_outside:
        return Group(*parts)
    parts += [Text(), Text("What would have prevented it, had it come in time", TITLE)]
    chances = two_columns(numbers=True)
    for chance in chain.chances:
        sentence = chance.moment.sentence(replayed.narration)
        chances.add_row("-", Text.assemble(f"{describe_span(chance)}: ", sentence))
    parts.append(chances if chain.chances else Text("No single step of the protocol."))
    if chain.unlooked:
        described = describe_numbers(chain.unlooked)
        parts.append(Text(f"After step {described} not every other step was tried.", UNKNOWN))
    return Group(*parts)


def _kinds(chain: Chain) -> str:
    """`Produce, Crash`: which actions they are."""
    return ", ".join(dict.fromkeys(cause.moment.action for cause in chain.causes)) or "none"


def render_repairs(repairs: Repairs) -> RenderableType:
    """The changes that repair the claim, and how many were tried, not decided, or no change."""
    tried = len(repairs.tried)
    if not (tried or repairs.unexplored or repairs.nonsense):
        return Text("There is no single change to try: it has no rule, fault or setting.", TITLE)
    parts: list[RenderableType] = [
        Text(f"Single changes that prevent it: {len(repairs.found)} of {tried} tried", TITLE)
    ]
    table = two_columns(gap=2)
    for one in repairs.found:
        table.add_row(
            Text(one.candidate.description),
            Text.assemble(("HOLDS", GOOD), f" {describe_repair(one)}"),
        )
    parts.append(table if repairs.found else Text("None of them."))
    if repairs.undecided:
        named = ", ".join(change.description for change in repairs.undecided)
        parts.append(Text(f"Not decided: {named}.", UNKNOWN))
    if repairs.nonsense:
        named = ", ".join(change.description for change in repairs.nonsense)
        parts.append(Text(f"Skipped, because they need other rules: {named}.", QUIET))
    return Group(*parts)


def describe_span(chance: Chance) -> str:
    """`after step 7`, `after step 1 and up to step 6`, `at the start`."""
    begun = f"after step {chance.first}" if chance.first else "at the start"
    return begun if chance.first == chance.last else f"{begun} and up to step {chance.last}"


def describe_without(cause: Cause, claim: str) -> str:
    """Return a sentence on the outcome without the step."""
    states = quantity(cause.without.states, "state")
    if cause.undecided:
        return f"Not known whether it happens without this step: {states} were explored."
    dropped = ""
    if cause.impossible:
        several = "s" if len(cause.impossible) > 1 else ""
        dropped = f"step{several} {describe_numbers(cause.impossible)} cannot follow, and "
    return f"Without it {dropped}{claim} holds in all {states} that the other steps reach."


def describe_repair(tried: Tried) -> str:
    """`in 31,339 states`, how many are not judged, and what never happens with the change."""
    but = f", {quantity(tried.unjudged, 'state')} of them not judged" if tried.unjudged else ""
    never = f", but these never happen then: {', '.join(tried.never)}" if tried.never else ""
    return f"in {quantity(tried.states, 'state')}{but}{never}"


def describe_numbers(numbers: tuple[int, ...]) -> str:
    """`2, 7 to 9 and 11`"""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1].append(number)
        else:
            spans.append([number])
    described = []
    for span in spans:
        if len(span) > 2:
            described.append(f"{span[0]} to {span[-1]}")
        else:
            described += map(str, span)
    return (
        described[0] if len(described) == 1 else f"{', '.join(described[:-1])} and {described[-1]}"
    )


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
