"""Planning of a reduction: which fields, actions and steps to leave out."""

from __future__ import annotations

import functools

from checker.problem.problem import Problem
from checker.reduction.abstract_state import SETTINGS, STATE, Fields, TooIntricate, World
from checker.reduction.calls_that_write import require_calls_that_write_alone
from checker.reduction.cone import Cone, cone_of
from checker.reduction.dead import IsSeen, circumstances, dead_fields
from checker.reduction.deferred import postponed_fields
from checker.reduction.effects import Steps, named_at_lowest, normal_form_of
from checker.reduction.elements import Seen
from checker.reduction.independence import Quiet, quiet_steps
from checker.reduction.plan import (
    AtOnce,
    CannotReduce,
    Cell,
    Dead,
    Decisions,
    Postponed,
)


def decided(problem: Problem) -> Decisions:
    """How the problem's model is made smaller. Raises `CannotReduce`."""
    try:
        require_calls_that_write_alone(problem.model)
        steps = Steps.of(problem.model, problem.symmetry.sorts)
        # What is not kept has its lowest value. A name, it would be exchanged with others there.
        names = named_at_lowest(problem.model.layout, problem.symmetry.sorts)
        asked = read_by_claims(problem, steps) | names
        _require_stuttering(problem, steps)
        cone = cone_of(steps, asked)
        seen = asked | normal_form_of(steps).fields_read
        postponed = postponed_fields(steps, seen, cone.matter)
        quiet = _quiet(steps, asked, cone, postponed)
        dead = _dead(steps, asked, cone, postponed, quiet)
    except TooIntricate as problem_:
        raise CannotReduce(f"--reduce cannot follow a rule ({problem_}); leave it out") from None
    return Decisions(
        fields=cone.left_out,
        actions=cone.actions,
        never=cone.never,
        postponed=tuple(postponed),
        at_once=tuple(
            AtOnce(each.call[0].name, each.call[1], each.compared, tuple(sorted(each.changes)))
            for each in quiet
        ),
        dead=dead,
    )


def _dead(
    steps: Steps, asked: Fields, cone: Cone, postponed: list[Postponed], quiet: list[Quiet]
) -> tuple[Dead, ...]:
    """What is not kept now and then, of what matters and no quiet step touches.

    A quiet step would else differ from another in a value that is forgotten. What decides
    whether something is dead must be kept itself.
    """
    seen = asked | normal_form_of(steps).fields_read
    touched = {name for each in quiet for name, _, _ in each.touched | each.changes}
    counts = {action.budget.used for action, _ in steps.calls if action.budget is not None}
    never = seen | touched | counts
    single = {name for name, values in steps.ranges.items() if len(values) == 1}
    found: list[Dead] = []
    for spent, gone in circumstances(steps):
        if spent:
            out = cone.matter - cone_of(steps, asked, gone, cone).matter - never - single
            known = {each.field for each in found if set(each.spent) <= set(spent)}
            found += [Dead(name, "", (), spent) for name in sorted(out - known)]
    forgotten = {*cone.left_out, *(each.field for each in found)}
    candidates = [
        f.name
        for f in steps.model.layout.fields
        if f.alive is None and f.name in cone.matter - never - single - forgotten
    ]
    at_times = [each.field for each in found]
    found += dead_fields(
        steps, candidates, lambda name, *at: name in never, cone.left_out, at_times
    )
    forgotten |= {dead.field for dead in found} | {held.field for held in postponed}
    return tuple(dead for dead in found if dead.deciding not in forgotten)


def seen_while(problem: Problem, steps: Steps) -> IsSeen:
    """Whether claims or the normal form read a field of a row while another of it has a value.

    Finer than `read_by_claims`, and slower: for looking at what is forgotten by hand.
    """
    in_two = _read_in_two_states(problem, steps)

    @functools.cache
    def read(element: Cell, value: int) -> frozenset[tuple[str, int]]:
        seen = Seen()
        there = World({element: frozenset((value,))})
        if problem.model.normalise is not None:
            # The element stays what it is: the normal form is looked at in the middle of a step.
            steps.bare_looker(seen).ways(problem.model.normalise, there, (STATE, SETTINGS))
        looker = steps.looker(seen=seen)
        begun = looker.elements.narrowed(there, there.cells.items())
        if begun is not None:
            for claim in problem.applicable:
                looker.ways(claim.holds, begun, (STATE, SETTINGS))
        return frozenset((name, row) for name, row, _ in seen.reads)

    def is_seen(name: str, element: Cell, value: int) -> bool:
        return name in in_two or (name, element[1]) in read(element, value)

    return is_seen


def _quiet(steps: Steps, asked: Fields, cone: Cone, postponed: list[Postponed]) -> list[Quiet]:
    """The quiet steps, in the model that the other reductions leave."""
    gone = {*cone.actions, *(name for each in postponed for name in each.writers)}
    held = {each.field for each in postponed}
    read = {
        name
        for (action, _), seen in steps.seen.items()
        if any(action in each.writers for each in postponed)
        for name in seen.fields_read
    }
    calls = [call for call in steps.calls if call[0].name not in gone]
    choosing = {name for each in postponed for name in each.others}
    return quiet_steps(steps, asked | held | read, calls, choosing)


def read_by_claims(problem: Problem, steps: Steps) -> Fields:
    """The fields that the claims which are checked read, and what must happen."""
    seen = Seen()
    looker = steps.looker(seen=seen)
    for claim in problem.applicable:
        looker.ways(claim.holds, World(), (STATE, SETTINGS))
    return seen.fields_read | _read_in_two_states(problem, steps)


def _read_in_two_states(problem: Problem, steps: Steps) -> Fields:
    """The fields that claims about steps read, before or after the step."""
    seen = Seen()
    in_two, settings = steps.bare_looker(seen), problem.model.settings
    for prop in problem.applicable_properties:
        in_two.ways(prop.keeps, World(), (STATE, STATE, SETTINGS))
    for reachable in problem.reachable:
        if reachable.applies(settings):
            in_two.ways(reachable.happens, World(), (STATE, STATE, SETTINGS))
    return seen.fields_read


def _require_stuttering(problem: Problem, steps: Steps) -> None:
    """No claim about steps minds one that changes nothing that it reads: such are left out."""
    everything = frozenset(f.name for f in problem.model.layout.fields)
    both = (STATE, STATE, SETTINGS)
    for prop in problem.applicable_properties:
        ways = steps.looker(parting=everything).ways(prop.keeps, World(), both)
        if any(value.may_be(False) for _, value in ways):
            raise CannotReduce(
                f"{prop.name} may break in a step that changes nothing it reads; "
                "leave out --reduce, or do not ask for it"
            )
    for reachable in problem.reachable:
        ways = steps.looker(parting=everything).ways(reachable.happens, World(), both)
        if any(value.may_be(True) for _, value in ways):
            raise CannotReduce(
                f"{reachable.name} may happen in a step that changes nothing it reads; "
                "leave out --reduce"
            )
