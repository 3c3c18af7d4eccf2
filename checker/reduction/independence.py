"""Partial-order reduction: invisible steps that commute with every other step.

A step is quiet in a state if it changes only elements that no asked claim and no normal form reads.
It may then be taken at once, instead of at every later moment as well, if every other step b that
is enabled before it

* does not read what it changes, so that b is enabled after it too and does the same, and
* either touches nothing that the quiet step reads or writes, so that both orders lead to the same
  state, or writes over all that it changes, so that b alone leads where both do.

All of that is read off the rules, for every state within the ranges of the fields: see
`checker.reduction.abstract_interpreter`. Quiet steps that could follow one another for ever are
given up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from checker.reduction.abstract_state import Fields, TooIntricate, World
from checker.reduction.effects import Call, Steps, normal_form_of
from checker.reduction.elements import Seen
from checker.reduction.plan import Cell


@dataclass(frozen=True, slots=True)
class Quiet:
    """A step that is taken at once wherever it changes nothing but the elements `changes`.

    `compared` are the other elements that it may write: where it changes one of them it is not
    quiet. `before` is what is known of a state in which it is quiet, and `after` of the one that it
    leads to. `touched` is all that it reads or writes then.
    """

    call: Call
    changes: frozenset[Cell]
    compared: tuple[Cell, ...]
    touched: frozenset[Cell]
    before: dict[Cell, frozenset[int]]
    after: dict[Cell, frozenset[int]]
    parting: Fields


def quiet_steps(
    steps: Steps, asked: Fields, calls: list[Call], choosing: Collection[str] = ()
) -> list[Quiet]:
    """The quiet steps among `calls`, in an order in which none makes an earlier one possible.

    The actions that are `choosing` are not taken at once: there is one step for each of the values
    that a postponed field may have.
    """
    unseen = (
        frozenset(f.name for f in steps.model.layout.fields)
        - asked
        - normal_form_of(steps).fields_read
    )
    found: dict[Call, Quiet] = {}
    for call in calls:
        action, arguments = call
        if action.budget is not None or action.limit is not None or action.name in choosing:
            continue
        if not steps.seen[action.name, arguments].fields_written & unseen:
            continue
        quiet = _as_quiet(steps, call, unseen)
        if quiet is not None and all(
            is_independent(steps, quiet, other) for other in calls if other != call
        ):
            found[call] = quiet
    # All of an action or none of it: else the smaller model would tell names apart.
    names = {action.name for action, _ in calls if any(c[0] is action for c in found)}
    partly = {call[0].name for call in calls if call[0].name in names and call not in found}
    return in_order([quiet for call, quiet in found.items() if call[0].name not in partly])


def _as_quiet(steps: Steps, call: Call, unseen: Fields) -> Quiet | None:
    """The step where it is quiet, if that can be; nothing is said of other steps yet."""
    action, arguments = call
    whole = steps.seen[action.name, arguments]
    parting = steps.conditions[action.name, arguments] & whole.fields_written
    try:
        looked = steps.looker(parting=parting, seen=Seen())
        ways = steps.ways(looked, call, World())
        compared = tuple(sorted(cell for cell in looked.seen.writes if cell[0] not in unseen))
        before = _common(way.asked for way in ways)
        ends = _common(way.after for way in ways)
        for cell in compared:
            # It is quiet only where this is what was there before.
            if cell in ends and len(ends[cell]) == 1:
                before[cell] = before.get(cell, steps.ranges[cell[0]]) & ends[cell]
        if not all(before.values()):
            return None
        seen = Seen()
        ways = steps.ways(steps.looker(parting=parting, seen=seen), call, World(before))
    except TooIntricate:
        return None
    changes = frozenset(cell for cell in seen.writes if cell[0] in unseen)
    if not ways or not changes:
        return None
    # What it writes as it was there before is no change, but what others write there is.
    touched = frozenset(seen.reads | seen.writes).union(compared)
    after = _common(way.after for way in ways)
    return Quiet(call, changes, compared, touched, before, after, parting)


def _common(worlds: Iterable[World]) -> dict[Cell, frozenset[int]]:
    """What is known in all worlds."""
    all_of = list(worlds)
    if not all_of:
        return {}
    cells = set(all_of[0].cells).intersection(*(world.cells for world in all_of))
    return {cell: frozenset().union(*(w.cells[cell] for w in all_of)) for cell in cells}


def is_independent(steps: Steps, quiet: Quiet, other: Call) -> bool:
    """Whether another step, wherever it is enabled beside the quiet one, leaves it or undoes it."""
    seen = steps.seen[other[0].name, other[1]]
    if not seen.writes & quiet.touched and not seen.reads & quiet.changes:
        return True
    budget = other[0].budget
    if budget is not None and (budget.used, 0, 0) in quiet.touched:
        return False
    looker = steps.looker(
        parting=quiet.parting, watched=quiet.touched, overwritten=quiet.changes, seen=Seen()
    )
    try:
        ways = steps.ways(looker, other, World(quiet.before))
    except TooIntricate:
        return False
    return all(
        not way.after.read & quiet.changes
        and (not way.after.written or quiet.changes <= way.after.written)
        for way in ways
    )


def in_order(found: list[Quiet]) -> list[Quiet]:
    """Those that cannot follow one another for ever, each before those that it makes possible."""
    rest, ordered = list(found), list[Quiet]()
    while rest:
        free = [q for q in rest if not any(_leads_to(other, q) for other in rest)]
        ordered += free
        rest = [q for q in rest if q not in free]
        if not free:
            name = rest[-1].call[0].name
            rest = [q for q in rest if q.call[0].name != name]
            ordered = [q for q in ordered if q.call[0].name != name]
    return ordered


def _leads_to(first: Quiet, then: Quiet) -> bool:
    """Whether the second may be possible because the first was taken."""
    if not first.changes & then.touched:
        return False
    return all(
        first.after[cell] & then.before[cell]
        for cell in then.before
        if cell in first.after and cell in first.changes
    )
