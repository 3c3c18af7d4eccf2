"""Parser of typed steps: `Produce(leader=0)`, `SendFetch(1)`, `sendfetch r1`, `fen`.

A beginning of an action's name will do, and arguments may be left out, where only one step that can
be taken is meant. Case does not count.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from waterline.checker.problem.errors import Refused
from waterline.checker.user_models.scripts.walk import Walk
from waterline.counterexamples import why_not
from waterline.model.core.errors import nearest as nearest_name
from waterline.model.core.transition_system import Action, Arguments, Parameter, Step, call

_CALL = re.compile(r"([A-Za-z]\w*)\s*(?:\((.*)\)|(.*))", re.ASCII)
_ARGUMENT = re.compile(r"(?:(\w+)\s*=\s*)?([A-Za-z_]*?)(\d{1,9})", re.ASCII)
NEAREST = 12
"""Most enabled steps that an error lists."""


class NotTaken(Refused):
    """The input is not a step enabled here; the message gives the reason, and the enabled steps."""


class NoSuchStep(NotTaken):
    """The input is not a step of the model in any state."""


class Ambiguous(NotTaken):
    """The input matches several steps enabled here."""


@dataclass(frozen=True, slots=True)
class _Given:
    """An argument: its name, if one was given, what stands before its number, and the number."""

    name: str
    letters: str
    value: int


def step_called(text: str, walk: Walk) -> Step:
    """The one step that can be taken and that `text` means. Raises `NotTaken`."""
    text = " ".join(text.split())
    matched = _CALL.fullmatch(text)
    if matched is None:
        raise _no_such(text, walk, f"`{text}` is no step; write one as {_example(walk)}")
    name, given = matched[1], _arguments(text, matched[2] or matched[3] or "", walk)
    meant = [
        (action, arguments)
        for action in _actions(text, name, walk)
        for arguments in walk.model.bindings(action)
        if _fits(given, action, arguments)
    ]
    if not meant:
        raise _no_such(text, walk, f"{text} has not the arguments of {_signatures(name, walk)}")
    model, state = walk.model, walk.state
    refused = {meaning: why_not(model, state, *meaning) for meaning in meant}
    possible = [meaning for meaning in meant if refused[meaning] is None]
    if len(possible) > 1:
        described = ", ".join(call(*meaning) for meaning in possible)
        raise Ambiguous(f"{text} may be {described}; say which")
    if not possible:
        why = refused[meant[0]] if len(meant) == 1 else "is not enabled"
        said = call(*meant[0]) if len(meant) == 1 else text
        raise _not_taken(said, walk, f"{said} {why}")
    action, arguments = possible[0]
    return model.take(state, action, arguments)


def nearest(text: str, walk: Walk) -> list[str]:
    """The steps that can be taken here, those first that look most like `text`."""
    calls = [str(offer.step) for offer in walk.offers()]
    likeness = {each: difflib.SequenceMatcher(None, text.lower(), each.lower()) for each in calls}
    return sorted(calls, key=lambda each: -likeness[each].ratio())


def _not_taken(text: str, walk: Walk, problem: str) -> NotTaken:
    return NotTaken(f"{problem}; enabled: {_offers(text, walk)}")


def _no_such(text: str, walk: Walk, problem: str) -> NoSuchStep:
    return NoSuchStep(f"{problem}; enabled: {_offers(text, walk)}")


def _offers(text: str, walk: Walk) -> str:
    offered = nearest(text, walk)
    described = ", ".join(offered[:NEAREST]) or "nothing"
    return described + (f", and {len(offered) - NEAREST} more" if len(offered) > NEAREST else "")


def _actions(text: str, name: str, walk: Walk) -> Sequence[Action]:
    """Return the actions of this name; if none has it, those whose name begins so."""
    model = walk.model
    there = model.enabled_actions
    for meant in (
        [action for action in there if action.name == name],
        [action for action in there if action.name.lower() == name.lower()],
        [action for action in there if action.name.lower().startswith(name.lower())],
    ):
        if meant:
            return meant
    if any(action.name.lower() == name.lower() for action in model.actions):
        raise _not_taken(text, walk, f"{name} is not part of version {model.version}")
    known = [action.name for action in there]
    near = nearest_name(name, known, alike=0.5)
    instead = f", did you mean {near}" if near else ""
    raise _no_such(text, walk, f"there is no action {name}{instead}")


def _arguments(text: str, given: str, walk: Walk) -> list[_Given]:
    found = []
    for part in filter(None, re.split(r"[,\s]+", re.sub(r"\s*=\s*", "=", given))):
        matched = _ARGUMENT.fullmatch(part)
        if matched is None:
            problem = f"`{part}` is no argument; write a number or a name, as 1 or r1"
            raise _no_such(text, walk, problem)
        found.append(_Given(matched[1] or "", matched[2], int(matched[3])))
    return found


def _fits(given: Sequence[_Given], action: Action, arguments: Arguments) -> bool:
    """True if the arguments are those that were given, by name or in their order."""
    values = dict(zip((p.name for p in action.parameters), arguments, strict=True))
    if len(given) > len(values):
        return False
    for each, parameter in zip(given, action.parameters, strict=False):
        meant = _parameter(action, each.name) if each.name else parameter
        if meant is None or values[meant.name] != each.value or not _is_called(meant, each.letters):
            return False
    return True


def _parameter(action: Action, name: str) -> Parameter | None:
    return next((p for p in action.parameters if p.name == name), None)


def _is_called(parameter: Parameter, letters: str) -> bool:
    """`r1` is a replica, `rm0` one of the rms, `e2` an epoch."""
    names = (parameter.name.lower(), parameter.over.lower())
    return any(name.startswith(letters.lower()) for name in names)


def _signatures(name: str, walk: Walk) -> str:
    def describe() -> Iterator[str]:
        sizes = walk.model.layout.sizes
        for action in _actions(name, name, walk):
            ranges = (f"{p.name} 0 to {sizes[p.over] - 1}" for p in action.parameters)
            yield f"{action.name}({', '.join(ranges)})"

    return " or ".join(describe())


def _example(walk: Walk) -> str:
    offers = walk.offers()
    return str(offers[0].step) if offers else "Action(argument=0)"
