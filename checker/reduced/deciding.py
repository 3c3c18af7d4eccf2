"""Deciding how a problem's model is made smaller, by looking at its rules and claims."""

from __future__ import annotations

from checker.problems.problem import Problem
from checker.reduced.cone import Cone, cone_of
from checker.reduced.decisions import AtOnce, CannotReduce, Decisions, Postponed
from checker.reduced.elements import Seen
from checker.reduced.looking import SETTINGS, STATE, TooIntricate
from checker.reduced.postponed import postponed_fields
from checker.reduced.quiet import Quiet, of_normal_form, quiet_steps
from checker.reduced.stepping import Steps
from checker.reduced.worlds import Fields, World


def decided(problem: Problem) -> Decisions:
    """How the problem's model is made smaller. Raises `CannotReduce`."""
    try:
        steps = Steps.of(problem.model)
        asked = read_by_claims(problem, steps)
        _require_stuttering(problem, steps)
        cone = cone_of(steps, asked)
        postponed = postponed_fields(steps, asked | of_normal_form(steps), cone.matter)
        quiet = _quiet(steps, asked, cone, postponed)
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
    )


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
    return quiet_steps(steps, asked | held | read, calls)


def read_by_claims(problem: Problem, steps: Steps) -> Fields:
    """The fields that the claims which are checked read, and what must happen."""
    seen = Seen()
    looker, in_two = steps.looker(seen=seen), steps.bare_looker(seen)
    settings = problem.model.settings
    for claim in problem.applicable:
        looker.ways(claim.holds, World(), (STATE, SETTINGS))
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
