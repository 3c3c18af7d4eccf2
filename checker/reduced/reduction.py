"""The reduced form of a problem: the same claims about a smaller model, with the same verdicts.

What is left out, postponed and taken at once is said by `Reduction`. Depths, counts and traces are
those of the smaller model: none is the full one's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from checker.problems.problem import Problem
from checker.reduced.cone import Cone, cone_of
from checker.reduced.looking import SETTINGS, STATE, Seen, TooIntricate
from checker.reduced.made import made
from checker.reduced.postponed import (
    Postponed,
    choosing,
    extended,
    gathering,
    postponed_fields,
)
from checker.reduced.quiet import Quiet, quiet_steps
from checker.reduced.stepping import Steps
from checker.reduced.worlds import Fields, World
from model.kit.layout import Layout, Place
from model.kit.state import State, as_dict
from model.kit.transition_system import Model


class CannotReduce(ValueError):
    """A problem has claims or rules with which a reduction would not be exact."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a problem was reduced.

    `fields` vary and are not kept; `actions` change nothing that matters and are not taken;
    `never` cannot happen. `postponed` are decided when they are read, and `writers` write nothing
    else. `at_once` are taken as soon as they are possible and quiet.
    """

    fields: tuple[str, ...]
    actions: tuple[str, ...]
    never: tuple[str, ...]
    postponed: tuple[str, ...]
    writers: tuple[str, ...]
    at_once: tuple[str, ...]

    @property
    def is_nothing(self) -> bool:
        """Whether the model stays as it is."""
        return not (self.fields or self.actions or self.postponed or self.at_once)


def reduced(problem: Problem) -> Problem:
    """The reduced form of a problem, which its `reduction` describes. Raises `CannotReduce`."""
    model = problem.model
    try:
        steps = Steps.of(model)
        asked = _read_by_claims(problem, steps)
        _require_stuttering(problem, steps)
        cone = cone_of(steps, asked)
        of_normal_form = _of_normal_form(steps)
        postponed = postponed_fields(steps, asked | of_normal_form, cone.matter)
        quiet = _quiet(steps, asked, cone, postponed)
    except TooIntricate as problem_:
        raise CannotReduce(f"--reduce cannot follow a rule: {problem_}; leave it out") from None
    told = Reduction(
        fields=cone.left_out,
        actions=cone.actions,
        never=cone.never,
        postponed=tuple(each.field.name for each in postponed),
        writers=tuple(name for each in postponed for name in each.writers),
        at_once=tuple(dict.fromkeys(each.call[0].name for each in quiet)),
    )
    smaller = _model(model, cone, postponed, quiet)
    return replace(problem, model=smaller, reduction=told, reduced_from=problem)


def _quiet(
    steps: Steps, asked: Fields, cone: Cone, postponed: list[Postponed]
) -> list[Quiet]:
    """The quiet steps, in the model that the other reductions leave."""
    gone = {*cone.actions, *(name for each in postponed for name in each.writers)}
    held = {each.field.name for each in postponed}
    read = {
        name
        for (action, _), seen in steps.seen.items()
        if any(action in each.writers for each in postponed)
        for name in seen.fields_read
    }
    calls = [call for call in steps.calls if call[0].name not in gone]
    return quiet_steps(steps, asked | held | read, calls)


def _read_by_claims(problem: Problem, steps: Steps) -> Fields:
    """The fields that the claims which are checked read, and what must happen."""
    seen = Seen()
    looker = steps.looker(seen=seen)
    settings = problem.model.settings
    for claim in problem.applicable:
        looker.ways(claim.holds, World(), (STATE, SETTINGS))
    for prop in problem.applicable_properties:
        looker.ways(prop.keeps, World(), (STATE, STATE, SETTINGS))
    for reachable in problem.reachable:
        if reachable.applies(settings):
            looker.ways(reachable.happens, World(), (STATE, STATE, SETTINGS))
    return seen.fields_read


def _of_normal_form(steps: Steps) -> Fields:
    seen = Seen()
    if steps.model.normalise is not None:
        steps.looker(seen=seen).ways(steps.model.normalise, World(), (STATE, SETTINGS))
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


# --- the smaller model ---------------------------------------------------------------------------


def _model(model: Model, cone: Cone, postponed: list[Postponed], quiet: list[Quiet]) -> Model:
    layout = extended(model.layout, postponed)
    by_name = {action.name: action for action in model.actions}
    for each in postponed:
        for name in each.others:
            by_name[name] = choosing(by_name[name], each)
    gone = {*cone.actions, *(name for each in postponed for name in each.writers)}
    text, names = _settling(model, cone, postponed, quiet)
    settle = made(text, names)["settle"]
    initial = tuple(
        _settled(state, layout, postponed, settle, model.settings) for state in model.initial
    )
    return replace(
        model,
        layout=layout,
        actions=tuple(
            replace(by_name[action.name], stays_normal=False) for action in model.actions
        ),
        contents=tuple(
            name for name in model.contents if name not in gone and name not in cone.never
        ),
        initial=tuple(dict.fromkeys(initial)),
        normalise=settle,
    )


def _settled(
    state: State, layout: Layout, postponed: list[Postponed], settle: object, settings: object
) -> State:
    """An initial state as the smaller model has it."""
    draft = State(layout).draft()
    values = as_dict(state)
    deciding = {f.alive.field for f in layout.fields if f.alive is not None}
    for name in sorted(values, key=lambda name: name not in deciding):
        _put(draft, name, values[name])
    for each in postponed:
        rows = getattr(draft, each.field.name)
        for row in range(each.field.shape[0]):
            getattr(draft, each.possible)[row] = 1 << rows[row] - each.field.lo
            rows[row] = each.field.lo
    settle(draft, settings)  # type: ignore[operator]
    return draft.freeze()


def _put(draft: State, name: str, value: object) -> None:
    if not isinstance(value, list):
        setattr(draft, name, value)
        return
    for i, row in enumerate(value):
        if isinstance(row, list):
            for j, element in enumerate(row):
                if element is not None:
                    getattr(draft, name)[i, j] = element
        elif row is not None:
            getattr(draft, name)[i] = row


def _settling(
    model: Model, cone: Cone, postponed: list[Postponed], quiet: list[Quiet]
) -> tuple[str, dict[str, object]]:
    """What runs after every effect: normal form, forgetting, gathering, quiet steps."""
    names: dict[str, object] = {}
    text = "def settle(s, c):\n"
    if model.normalise is not None:
        names["normal_form"] = model.normalise
        text += "    normal_form(s, c)\n"
    for name in cone.left_out:
        text += _forgetting(model.layout.places[name])
    by_name = {action.name: action for action in model.actions}
    for each in postponed:
        more, stand_for = gathering(each, by_name)
        text += more
        names |= stand_for
    for number, step in enumerate(quiet):
        text += _taking(step, number, model.layout)
        names |= {f"may_{number}": step.call[0].guard, f"do_{number}": step.call[0].effect}
    return text + "    return\n", names


def _forgetting(place: Place) -> str:
    """A field is put to its lowest value."""
    if not place.shape:
        return f"    s.{place.name} = {place.lo}\n"
    pad, index = "    ", [f"i_{place.name}", f"j_{place.name}"][: len(place.shape)]
    text = f"{pad}for {index[0]} in range({place.shape[0]}):\n"
    pad += "    "
    if place.alive is not None:
        alive = " or ".join(
            f"s.{place.alive.field}[{index[0]}] == {value}" for value in place.alive.values
        )
        text += f"{pad}if {alive}:\n"
        pad += "    "
    if len(index) == 2:
        text += f"{pad}for {index[1]} in range({place.shape[1]}):\n"
        pad += "    "
    return text + f"{pad}s.{place.name}[{', '.join(index)}] = {place.lo}\n"


def _taking(step: Quiet, number: int, layout: Layout) -> str:
    """A quiet step is taken, and taken back where it turns out not to be quiet."""
    action, arguments = step.call
    given = "".join(f", {argument}" for argument in arguments)
    text = f"    if may_{number}(s, c{given}):\n"
    if not step.compared:
        return text + f"        do_{number}(s, c{given})\n"
    deciding = {f.alive.field for f in layout.fields if f.alive is not None}
    cells = [*step.compared, *sorted(step.changes)]
    cells.sort(key=lambda cell: cell[0] not in deciding)
    olds = {cell: f"old_{number}_{at}" for at, cell in enumerate(cells)}
    for cell, old in olds.items():
        text += f"        {old} = {_element(cell, layout)}\n"
    text += f"        do_{number}(s, c{given})\n"
    differ = " or ".join(f"{_element(cell, layout)} != {olds[cell]}" for cell in step.compared)
    text += f"        if {differ}:\n"
    for cell, old in olds.items():
        text += f"            {_element(cell, layout)} = {old}\n"
    return text


def _element(cell: tuple[str, int, int], layout: Layout) -> str:
    """`s.log[1, 0]`"""
    name, *indices = cell
    at = ", ".join(str(i) for i in indices[: len(layout.places[name].shape)])
    return f"s.{name}[{at}]" if at else f"s.{name}"
