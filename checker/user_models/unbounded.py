"""A user's protocol without bounds of its epochs and values, and its bounded models for traces.

The model is that of the same protocol within bounds that have room for its normal form
(`model.own.normal_form`). That it depends on these bounds in no other way is seen by declaring it
with `AnyNumber` in their place; that its rules do not, by the sort check.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from waterline.checker.user_models.loading import OwnFile
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.renaming import Sort
from waterline.model.core.state import State
from waterline.model.core.transition_system import Call, Model
from waterline.model.own.building import Built
from waterline.model.own.data_sorts import argument_of, renamed_sorts, sort_in
from waterline.model.own.declared import Protocol
from waterline.model.own.fields import (
    AnyField,
    Container,
    Epochs,
    Opaque,
    PlainField,
    SequenceField,
)
from waterline.model.own.layout import field_of
from waterline.model.own.names import AnyNumber
from waterline.model.own.normal_form import Renamed
from waterline.model.own.state_class import Bound, call_within

UNBOUNDED = "unbounded"
"""The option that says so."""


def room_for(own: OwnFile, version: str, bounds: Mapping[str, Bound]) -> dict[str, Bound]:
    """Return the bounds, with those of epochs and values at the room of the normal form.

    Raises `BadEnvironment` if such a bound is missing, or limits something else too.
    """
    unbounded = bounds_without_number(own, version, bounds)
    _require_handed_on(own, version, bounds, unbounded)
    declared = own.declare(version, bounds)
    for field in declared.fields:
        if not _keeps_places(field) and (sort := sort_in(field)) is not None:
            kind = type(field).__name__.lower()
            raise BadEnvironment(
                f"{own.file}: --unbounded: {kind} {field.name} has {sort.plural}, which are "
                "numbered anew after each step; keep one in a field, or some in a Log or a Queue"
            )
    for struct in declared.structs:
        for name, part in struct.parts:
            if (sort := sort_in(part)) is not None:
                raise BadEnvironment(
                    f"{own.file}: --unbounded: part {name} of {struct.name} is {_an(sort.name)}, "
                    "and a struct is one number; keep it in a field, a Log or a Queue of its own"
                )
    layout = {field.name: field_of(field) for field in declared.fields}
    takes = [_taken_fields(declared, action) for action in declared.actions]
    if declared.initial is not None:
        for each in _taken_fields(declared, declared.initial):
            if (sort := sort_in(each)) is not None:
                raise BadEnvironment(
                    f"{own.file}: --unbounded: initial states are made with {_an(sort.name)}; "
                    "leave them at 0 or None, and let an action bring it"
                )
    found = renamed_sorts(declared.fields, layout, takes)
    return {**bounds, **{each.sort.plural: each.most for each in found}}


def _keeps_places(field: AnyField) -> bool:
    """True if a value stays where it is when values are numbered anew."""
    if isinstance(field, SequenceField):
        return not field.is_sorted
    return not isinstance(field, Container)


def bounds_without_number(
    own: OwnFile, version: str, bounds: Mapping[str, Bound]
) -> tuple[str, ...]:
    """The bounds that are the highest epoch, or the number of values, of a sort."""
    sorts = _sorts(own.declare(version, bounds))
    if not sorts:
        raise BadEnvironment(
            f"{own.file}: --unbounded is for Epochs and Opaque, and {version} has neither; leave "
            "it out, or declare what rules only compare as one of them (docs/unbounded.md)"
        )
    for sort in sorts:
        if type(bounds.get(sort.plural)) is not int:
            kind = type(sort).__name__
            raise BadEnvironment(
                f"{own.file}: --unbounded: {version} has no bound {sort.plural}, so that a "
                f"counterexample could have more of them; write "
                f"{sort.plural} = {kind}({sort.name!r}, 3) in the class of fields"
            )
    return tuple(sort.plural for sort in sorts)


def _sorts(declared: Protocol) -> list[Epochs | Opaque]:
    values = [sort for sort in declared.sorts if isinstance(sort, Opaque)]
    return [*declared.epochs, *values]


def _require_handed_on(
    own: OwnFile, version: str, bounds: Mapping[str, Bound], unbounded: Sequence[str]
) -> None:
    """Refuse a protocol that does anything else with these bounds than hand them to their sorts."""
    given = {name: AnyNumber(name) for name in unbounded}

    try:
        made: Protocol = call_within(
            own.protocols[version],
            {**bounds, **given},  # type: ignore[dict-item]  # it is no number
        )
    except Exception as problem:
        frames = traceback.extract_tb(problem.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == own.file] or [1]
        what = str(problem).partition(";")[0]
        raise BadEnvironment(
            f"{own.file}:{lines[-1]}: --unbounded: {what}; give what stands here a bound of its own"
        ) from None
    for sort in _sorts(made):
        if sort.name not in given[sort.plural].sorts:
            kind = type(sort).__name__
            raise BadEnvironment(
                f"{own.file}: --unbounded: {sort.plural} is a bound, and no more that of "
                f"{kind}({sort.name!r}, ...); write {sort.plural} = {kind}({sort.name!r}, 3) in "
                "the class of fields"
            )


def _taken_fields(declared: Protocol, action: Any) -> list[PlainField]:
    return [argument_of(name, over) for name, over in declared.takes(action).items()]


def _an(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


# --- counterexamples -----------------------------------------------------------------------------


def remove_bounds(built: Built, within: Callable[[Mapping[str, int]], Model], file: str) -> Built:
    """Return the model without bounds; `within` makes the model within bounds of these sorts.

    Raises `BadEnvironment` for an initial state that is not in normal form.
    """
    model = built.model
    for state in model.initial:
        if _normal(model, state) != state:
            raise BadEnvironment(
                f"{file}: --unbounded: an initial state has epochs or values already, "
                f"as {_held_already(built, state)}; leave them at 0 or None, and let an action "
                "bring them"
            )
    concrete = Concrete(model, built.renamed, within)
    distinguishes: dict[Sort, str] = {}
    if any(isinstance(each.sort, Opaque) for each in built.renamed):
        distinguishes = {
            sort.sort: "--unbounded numbers values in the order of the fields, which tells names "
            "apart; leave --symmetry out"
            for sort in built.declared.sorts
        }
    refused = ""
    if built.behaviours:
        refused = (
            "claims about whole behaviours are not judged with --unbounded; judge this one within "
            "bounds, and name the others with --invariant"
        )
    model = replace(
        model,
        concretise=concrete,
        distinguishes_names=distinguishes,
        behaviours_refused=refused,
    )
    return replace(built, model=model)


def _held_already(built: Built, state: State) -> str:
    """The first element that has an epoch or a value: `view[node1] 2`."""
    none = {f.name: f.lo for each in built.renamed for f in each.fields}
    described = built.model.narration.whole(state).split(", ")
    least = built.model.narration.whole(State(state.layout)).split(", ")
    changed = [e for e, was in zip(described, least, strict=False) if e != was]
    return next((e for e in changed if re.split(r"[\[ ]", e)[0] in none), described[0])


@dataclass(frozen=True, slots=True)
class Concrete:
    """The bounded models that can take the steps of an unbounded one as they are."""

    model: Model
    sorts: tuple[Renamed, ...]
    within: Callable[[Mapping[str, int]], Model]

    def __call__(self, initial: int, calls: Sequence[Call]) -> tuple[Model, tuple[Call, ...]]:
        """The one with as many epochs and values as these steps have, and the steps.

        An epoch is a fraction first, between two that the state has; at the end all are numbered.
        """
        written, state = replace(self.model, normalise=None), self.model.initial[initial]
        meant = {each.sort.name: _Meant(each, state) for each in self.sorts}
        taken = []
        for name, arguments in calls:
            action = self.model.action(name)
            whole: list[Any] = []
            for parameter, value in zip(action.parameters, arguments, strict=True):
                held = None if parameter.held is None else meant[parameter.held.sort.name]
                whole.append(value if held is None else held.of_argument(value))
            taken.append((action, whole))
            if len(taken) < len(calls):  # The last one may raise.
                outcome = written.apply(state, action, arguments)
                state = _normal(self.model, outcome)
                for each in meant.values():
                    each.rename(outcome, state)
        numbers = {name: each.numbers() for name, each in meant.items()}
        found = tuple(
            (
                action.name,
                tuple(
                    value if p.held is None else numbers[p.held.sort.name][value]
                    for p, value in zip(action.parameters, whole, strict=True)
                ),
            )
            for action, whole in taken
        )
        return self.within({each.renamed.sort.plural: each.most for each in meant.values()}), found


def _normal(model: Model, state: State) -> State:
    draft = state.draft()
    assert model.normalise is not None
    model.normalise(draft, model.settings)
    return draft.freeze()


class _Meant:
    """Epochs or values of a normal form, as numbers of a behaviour without renaming."""

    def __init__(self, renamed: Renamed, state: State) -> None:
        self.renamed = renamed
        self.is_ordered = isinstance(renamed.sort, Epochs)
        self.known = {value: Fraction(value) for value in self._values(state)}
        self.used = set(self.known.values())

    def of_argument(self, value: int) -> Fraction:
        """Return the meaning of an argument; a new one differs from all that the state has."""
        if value not in self.known:
            self.known[value] = self._between(value) if self.is_ordered else self._unused_number()
            self.used.add(self.known[value])
        return self.known[value]

    def rename(self, outcome: State, after: State) -> None:
        """Follow the normal form of what a step has written."""
        pairs = zip(self._cells(outcome), self._cells(after), strict=True)
        self.known = {new: self.known[old] for old, new in pairs if self._is_one(old)}

    def _between(self, value: int) -> Fraction:
        lower = max((m for v, m in self.known.items() if v < value), default=Fraction(0))
        above = [m for v, m in self.known.items() if v > value]
        return (lower + min(above)) / 2 if above else lower + 1

    def _unused_number(self) -> Fraction:
        there = {*self.known.values()}
        return next(Fraction(n) for n in range(len(there) + 1) if Fraction(n) not in there)

    def numbers(self) -> dict[Fraction, int]:
        """The number of each in the bounded model."""
        if not self.is_ordered:
            return {each: int(each) for each in self.used}
        return {each: number for number, each in enumerate(sorted(self.used), start=1)}

    @property
    def most(self) -> int:
        """The bound of the sort."""
        numbers = self.numbers().values()
        return max(numbers, default=0) + (0 if self.is_ordered and numbers else 1)

    def _values(self, state: State) -> set[int]:
        return {value for value in self._cells(state) if self._is_one(value)}

    def _is_one(self, value: int) -> bool:
        return value >= (1 if self.is_ordered else 0)

    def _cells(self, state: State) -> list[int]:
        return [
            state._read(state.layout.places[field.name], index)
            for field in self.renamed.fields
            for index in state.layout.elements[field.name]
            if isinstance(index, tuple)
        ]
