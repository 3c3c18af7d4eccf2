"""Dead variables: fields that are written before they are read again.

A row of a field may be dead while another field of the row has some value, as what a broker has on
disk is while it runs and can go down no more; and while budgets are used up, for what needs them
never happens again. A field that is dead may have any value without a difference: it is put to its
lowest one.

That is found out as which variables of a program are live. What no claim and no normal form reads
is taken for dead at first, in each of these circumstances; it is not where a step reads it before
it has written it, or leads, without having written it, to where it is not dead; until nothing
changes. A step that does no more than write it there may read it: nobody can tell that it was
taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from checker.reduction.abstract_state import TooIntricate, World
from checker.reduction.effects import Call, Steps
from checker.reduction.elements import Seen
from checker.reduction.plan import Cell, Dead

IsSeen = Callable[[str, Cell, int], bool]
"""Whether a field may be read in the row of an element while that has a value."""
_When = tuple[str, str, tuple[str, ...]]
"""A field, what decides, and the counts of budgets that are used up."""
_Use = tuple[bool, frozenset[int]]
"""Whether a step reads a field first, and while which values of what decides it leaves it."""


def dead_fields(
    steps: Steps,
    candidates: Iterable[str],
    is_seen: IsSeen,
    always: Iterable[str] = (),
    at_times: Iterable[str] = (),
) -> tuple[Dead, ...]:
    """Which of the candidates are dead, and when; `is_seen` of a claim or by the normal form.

    Fields that are forgotten as well, `always` or `at_times`, are at their lowest values then.
    """
    found = _while_dead(steps, steps.relations.distinguishes_names, candidates, is_seen)
    while True:
        # Looked at again where they are forgotten: a value that a field never has may let a step
        # happen that never does, and that reads what is forgotten.
        names = {name for (name, _, _), values in found.items() if values}
        there = steps.where_lowest(always, {*at_times, *names})
        again = _while_dead(there, {deciding for _, deciding, _ in found}, names, is_seen)
        both = {what: values & again.get(what, frozenset()) for what, values in found.items()}
        if both == found:
            break
        found = both
    dead = [
        Dead(name, deciding, tuple(sorted(values)), spent)
        for (name, deciding, spent), values in found.items()
        if values - (found[name, deciding, ()] if spent else frozenset())
    ]
    return tuple(each for each in dead if not _is_said(each, dead, steps))


def _while_dead(
    steps: Steps, deciding: Iterable[str], candidates: Iterable[str], is_seen: IsSeen
) -> dict[_When, frozenset[int]]:
    """While which values of what decides each of the candidates is dead, by circumstances."""
    found: dict[_When, frozenset[int]] = {}
    places = steps.model.layout.places
    for decides in sorted(deciding):
        fields = tuple(
            name
            for name in sorted(candidates)
            if name != decides and places[name].shape[:1] == places[decides].shape
        )
        uses = _Uses(steps, decides, fields, is_seen)
        for name in fields:
            for spent, gone in circumstances(steps):
                found[name, decides, spent] = uses.dead(name, gone)
    return found


def circumstances(steps: Steps) -> list[tuple[tuple[str, ...], frozenset[str]]]:
    """Which counts of budgets may be at their limits, and the actions that are gone then: none at
    first, each alone, all.
    """
    budgets = {a.name: a.budget.used for a, _ in steps.calls if a.budget is not None}
    every = tuple(dict.fromkeys(budgets.values()))
    return [
        (spent, frozenset(action for action, used in budgets.items() if used in spent))
        for spent in dict.fromkeys([(), *((used,) for used in every), every])
    ]


def _is_said(one: Dead, found: list[Dead], steps: Steps) -> bool:
    """Whether another one says as much in all reachable states; of two alike the second does."""
    for at, other in enumerate(found):
        if other is one or (other.field, other.spent) != (one.field, one.spent):
            continue
        beside = dict(steps.relations.of(one.deciding)).get(other.deciding, {})
        states = frozenset[int]().union(*(beside.get(v, frozenset()) for v in one.values))
        if states <= set(other.values):
            back = dict(steps.relations.of(other.deciding)).get(one.deciding, {})
            ours = frozenset[int]().union(*(back.get(v, frozenset()) for v in other.values))
            if not ours <= set(one.values) or at > found.index(one):
                return True
    return False


@dataclass(slots=True)
class _Uses:
    """What each step does with the rows of some fields, by the value that `deciding` has there."""

    steps: Steps
    deciding: str
    fields: tuple[str, ...]
    is_seen: IsSeen
    _found: dict[tuple[int, int], list[tuple[str, dict[str, _Use]]]] = field(default_factory=dict)

    def dead(self, name: str, gone: frozenset[str]) -> frozenset[int]:
        """While which values of what decides a field is dead, if these actions happen no more."""
        values = {
            value
            for value in self.steps.ranges[self.deciding]
            if not any(self.is_seen(name, (self.deciding, row, 0), value) for row in self._rows)
        }
        while True:
            live = {
                value
                for value in values
                for reads, leads_to in self._of(name, value, gone)
                if reads or not leads_to <= values
            }
            if not live:
                return frozenset(values)
            values -= live

    @property
    def _rows(self) -> range:
        return range(self.steps.model.layout.places[self.deciding].shape[0])

    def _of(self, name: str, value: int, gone: frozenset[str]) -> Iterator[_Use]:
        for row in self._rows:
            for action, uses in self._in_row(row, value):
                if action not in gone and name in uses:
                    yield uses[name]

    def _in_row(self, row: int, value: int) -> list[tuple[str, dict[str, _Use]]]:
        """What each action does with the fields in this row."""
        if (row, value) not in self._found:
            self._found[row, value] = [
                (call[0].name, uses)
                for call in [*self.steps.calls, *self.steps.never]
                if (uses := self._by(call, row, value))
            ]
        return self._found[row, value]

    def _by(self, call: Call, row: int, value: int) -> dict[str, _Use]:
        whole = self.steps.in_any_state(call)
        elements = {name: self._elements(name, row) for name in self.fields}
        decides = (self.deciding, row, 0)
        if whole is not None and decides not in whole.writes:
            elements = {
                name: cells
                for name, cells in elements.items()
                if not cells.isdisjoint(whole.reads) or not cells.isdisjoint(whole.writes)
            }
        if not elements:
            return {}
        watched = frozenset[Cell]().union(*elements.values())
        seen = Seen()
        looker = self.steps.looker(
            parting=self.steps.relations.distinguishes_names,
            watched=watched,
            overwritten=watched,
            seen=seen,
        )
        try:
            ways = self.steps.ways(looker, call, World({decides: frozenset((value,))}))
        except TooIntricate:
            return dict.fromkeys(elements, (True, frozenset()))
        ends = [(w.after, looker.elements.values_of(w.after, decides)) for w in ways]
        shows = call[0].budget is not None
        return {
            name: (
                (shows or not seen.writes <= cells or name in seen.raised_by)
                and any(after.read & cells for after, _ in ends),
                frozenset[int]().union(*(v for after, v in ends if not cells <= after.written)),
            )
            for name, cells in elements.items()
        }

    def _elements(self, name: str, row: int) -> frozenset[Cell]:
        shape = self.steps.model.layout.places[name].shape
        return frozenset((name, row, at) for at in range(shape[1] if len(shape) == 2 else 1))
