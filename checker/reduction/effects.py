"""Read and write sets of actions, as a fixed point over reachable values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from checker.reduction.abstract_interpreter import Looker
from checker.reduction.abstract_state import NOTHING, SETTINGS, STATE, Fields, TooIntricate, World
from checker.reduction.elements import Elements, Seen
from checker.reduction.memo import Remembered
from checker.reduction.plan import Cell
from checker.reduction.relations import NO_RELATIONS, Relations
from model.core.layout import Field, Layout
from model.core.renaming import Holds, Sort
from model.core.state import as_dict
from model.core.transition_system import Action, Arguments, Model

Call = tuple[Action, Arguments]


@dataclass(frozen=True, slots=True)
class Way:
    """The worlds in which one way through guard and limit, and then effect and normal form, ends.

    `asked` is the world once the step is known to be possible within the bounds.
    """

    asked: World
    after: World


@dataclass(slots=True)
class Steps:
    """The actions that may happen at all, with what they do: `seen` by action and arguments.

    `calls` are those that may happen, `never` all others. `ranges` are the values that each field
    may have in any reachable state, `relations` what two fields never are at once in a row,
    `conditions` the fields that guard and limit read.
    """

    model: Model
    ranges: dict[str, frozenset[int]]
    relations: Relations
    seen: dict[tuple[str, Arguments], Seen] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    never: list[Call] = field(default_factory=list)
    conditions: dict[tuple[str, Arguments], Fields] = field(default_factory=dict)
    _looked_at: dict[tuple[str, Arguments], int] = field(default_factory=dict)
    _rests_on: dict[tuple[str, Arguments], Fields] = field(default_factory=dict)
    _grown_at: dict[str, int] = field(default_factory=dict)
    _in_any_state: dict[tuple[str, Arguments], Seen] = field(default_factory=dict)
    _turn: int = 0
    _remembered: Remembered = field(default_factory=Remembered)

    @staticmethod
    def of(model: Model, sorts: Collection[Sort] = ()) -> Steps:
        """Look at all actions until no field may have another value, and no relation is broken.

        States may be renamed in `sorts`: then what is known is true whatever the names are. Raises
        `TooIntricate`.
        """
        initial = [as_dict(state) for state in model.initial]
        relations = Relations.between(
            model.layout, [{n: _flat(v) for n, v in state.items()} for state in initial]
        )
        first = _first_values(model.layout, initial)
        for declared in model.layout.fields:
            first[declared.name] = renamings(first[declared.name], declared, model.layout, sorts)
        named = [f.name for f in model.layout.fields if _named_by(f) in {*sorts}]
        steps = Steps(model, first, relations.without(named))
        for action in model.enabled_actions:
            if action.budget is not None:
                most = int(getattr(model.settings, action.budget.setting))
                if most <= 0:
                    continue
                used = action.budget.used
                steps.ranges[used] |= frozenset(range(most + 1))
            steps.calls += [(action, arguments) for arguments in model.bindings(action)]
        while steps._look_again():
            pass
        steps.never = [call for call in steps.calls if not steps.happens(call)]
        steps.calls = [call for call in steps.calls if steps.happens(call)]
        return steps

    def where_lowest(self, always: Iterable[str], at_times: Iterable[str] = ()) -> Steps:
        """The same, to look at rules where fields are at their lowest values, or may be.

        What other fields say of these is not true there, nor what was seen of the steps.
        """
        places = self.model.layout.places
        lowest = {name: frozenset((places[name].lo,)) for name in always}
        lower = {
            name: self.ranges[name] | {places[name].lo} for name in at_times if name not in lowest
        }
        ranges = {**self.ranges, **lower, **lowest}
        relations = self.relations.without({*lower, *lowest})
        return replace(
            self,
            ranges=ranges,
            relations=relations,
            seen={},
            conditions=dict(self.conditions),
            _in_any_state={},
        )

    def happens(self, call: Call) -> bool:
        """Whether an action may ever happen with these arguments."""
        return (call[0].name, call[1]) in self.seen

    def _look_again(self) -> bool:
        """Look at the actions that may do more than was seen; whether a field has more values."""
        has_grown = False
        for action, arguments in self.calls:
            key = action.name, arguments
            if key in self._looked_at and all(
                self._grown_at.get(name, 0) <= self._looked_at[key] for name in self._rests_on[key]
            ):
                continue
            self._turn += 1
            seen = Seen()
            looker = self.looker(parting=self.relations.distinguishes_names, seen=seen)
            ways = self.ways(looker, (action, arguments), World())
            if action.budget is not None:
                used = action.budget.used
                seen.writes.add((used, 0, 0))
                seen.made_of.setdefault(used, set()).add(used)
            self._looked_at[key] = self._turn
            self._rests_on[key] = seen.fields_read | frozenset(seen.made_of)
            if self._rests_on[key] & self.relations.fields:
                # What one of them is says something of the others.
                self._rests_on[key] |= self.relations.fields
            if ways:
                self.seen[key] = seen
            grown = {name for name, values in seen.values.items() if values - self.ranges[name]}
            for name in grown:
                self.ranges[name] |= seen.values[name]
            for way in ways:
                grown |= self.relations.dropped(way.after, self.ranges)
            for name in grown:
                self._grown_at[name] = self._turn + 1
            has_grown = has_grown or bool(grown)
        return has_grown

    def in_any_state(self, call: Call) -> Seen | None:
        """What a step may do, wherever it is taken; None where it cannot be followed."""
        key = call[0].name, call[1]
        if key in self.seen:
            return self.seen[key]
        if key not in self._in_any_state:
            seen = Seen()
            looker = self.looker(parting=self.relations.distinguishes_names, seen=seen)
            try:
                self.ways(looker, call, World())
            except TooIntricate:
                return None
            self._in_any_state[key] = seen
        return self._in_any_state[key]

    def looker(
        self,
        *,
        parting: Fields = NOTHING,
        watched: frozenset[Cell] = frozenset(),
        overwritten: frozenset[Cell] = frozenset(),
        seen: Seen | None = None,
    ) -> Looker:
        """Looks at a rule in any state within the ranges."""
        elements = Elements(
            self.model.layout,
            self.ranges,
            self.relations,
            parting | deciding(self.model.layout),
            watched,
            overwritten,
            seen if seen is not None else Seen(),
        )
        return Looker(self.model.settings, elements, self._remembered)

    def bare_looker(self, seen: Seen) -> Looker:
        """Looks at what is not read in one reachable state: in the midst of a step, or in two.

        Nothing that is read there says anything of what is read next.
        """
        elements = Elements(self.model.layout, self.ranges, NO_RELATIONS, seen=seen)
        return Looker(self.model.settings, elements, self._remembered)

    def ways(self, looker: Looker, call: Call, world: World) -> list[Way]:
        """All ways that a step may go in the states of `world`. Raises `TooIntricate`."""
        action, arguments = call
        given = (STATE, SETTINGS, *arguments)
        key = action.name, arguments
        begun = looker.elements.narrowed(world, world.cells.items())
        if begun is None:
            return []
        asked = [w for w, value in looker.ways(action.guard, begun, given) if value.may_be(True)]
        if action.limit is not None:
            asked = [
                after
                for before in asked
                for after, value in looker.ways(action.limit, before, given)
                if value.may_be(False)
            ]
        self.conditions[key] = self.conditions.get(key, NOTHING) | looker.seen.fields_read
        found = []
        for before in asked:
            for after, _ in looker.ways(action.effect, before, given):
                if self.model.normalise is None or action.stays_normal:
                    found.append(Way(before, after))
                    continue
                for normal, _ in looker.ways(self.model.normalise, after, (STATE, SETTINGS)):
                    found.append(Way(before, normal))
        return found


def renamings(
    values: frozenset[int], declared: Field, layout: Layout, sorts: Collection[Sort]
) -> frozenset[int]:
    """What these values of a field may become when names of these sorts are exchanged."""
    sort = _named_by(declared)
    if sort is None or sort not in sorts or declared.naming is None:
        return values
    names = range(layout.sizes[sort.value])
    if declared.naming.holds in (Holds.REPLICAS, Holds.RECORDS):
        sizes = {value.bit_count() for value in values}
        return frozenset(each for each in range(1 << len(names)) if each.bit_count() in sizes)
    first = 1 if declared.naming.holds is Holds.RECORD else 0
    named = frozenset(name + first for name in names)
    return values | named if values & named else values


def named_at_lowest(layout: Layout, sorts: Collection[Sort]) -> Fields:
    """The fields whose lowest value is a name of one of these sorts, and not that there is none."""
    return frozenset(
        f.name
        for f in layout.fields
        if f.naming is not None
        and f.naming.holds is Holds.REPLICA
        and f.lo >= 0
        and _named_by(f) in sorts
    )


def _named_by(declared: Field) -> Sort | None:
    """The sort of the names that a field holds."""
    if declared.naming is None or declared.naming.holds in (Holds.PLAIN, Holds.BORN):
        return None
    if declared.naming.holds in (Holds.RECORD, Holds.RECORDS):
        return Sort.RECORD
    return declared.naming.of or Sort.REPLICA


def normal_form_of(steps: Steps) -> Seen:
    """What the normal form reads and writes: it runs in the middle of a step."""
    seen = Seen()
    if steps.model.normalise is not None:
        steps.bare_looker(seen).ways(steps.model.normalise, World(), (STATE, SETTINGS))
    return seen


def deciding(layout: Layout) -> Fields:
    """Fields whose elements say what others mean, or of whom: they are distinguished when read."""
    return frozenset(
        [f.alive.field for f in layout.fields if f.alive is not None]
        + [f.name for f in layout.fields if f.naming and f.naming.holds is Holds.REPLICA]
    )


def _first_values(
    layout: Layout, initial: Sequence[Mapping[str, object]]
) -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {f.name: set() for f in layout.fields}
    for declared in layout.fields:
        # An element that is not alive reads as the lowest value once it is.
        if declared.alive is not None:
            found[declared.name].add(declared.lo)
    for values in initial:
        for name, value in values.items():
            found[name].update(_flat(value))
    return {name: frozenset(values) for name, values in found.items()}


def _flat(value: object) -> list[int]:
    if isinstance(value, list):
        return [each for item in value for each in _flat(item)]
    return [] if value is None else [int(str(value))]
