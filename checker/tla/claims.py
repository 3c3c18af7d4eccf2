"""Claims of a model as invariants and properties of the module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from waterline.checker.compiler.source import source_of
from waterline.checker.tla.actions import value_now
from waterline.checker.tla.calls import Caller
from waterline.checker.tla.environment import Role, Settings, StateOf, Value
from waterline.checker.tla.kinds import TRUTHS, as_kind
from waterline.checker.tla.naming import comment
from waterline.checker.tla.text import text_of
from waterline.checker.tla.tidying import tidy
from waterline.checker.tla.tree import Formula, Tree
from waterline.model.core.claim import Behaviour, Pattern, Recoverable, Temporal


class Kind(Enum):
    """Keyword for a claim in a configuration of TLC."""

    INVARIANT = "INVARIANT"
    PROPERTY = "PROPERTY"


@dataclass(frozen=True, slots=True)
class Exported:
    """A claim of the model, and its definition in the module.

    One that `happens` is expected to be violated: it is the opposite of what must happen. `lines`
    define it, and are empty for one that is a rule already.
    """

    claim: str
    name: str
    kind: Kind
    happens: bool = False
    lines: tuple[str, ...] = ()


def of_states(caller: Caller, name: str, function: Any) -> Exported:
    """A claim about every state."""
    operator = caller.operator(source_of(function), [StateOf(Role.NOW), Settings()], name)
    return Exported(name, operator.atom.name, Kind.INVARIANT)


def of_steps(caller: Caller, name: str, sentence: str, function: Any) -> Exported:
    """A claim about every step."""
    given: list[Value] = [StateOf(Role.NOW), StateOf(Role.NEXT), Settings()]
    operator = caller.operator(source_of(function), given, name)
    atom = caller.program.naming.top(f"{name}_in_every_step")
    line = f"{atom.name} == [][{operator.atom.name}]_vars"
    return Exported(name, atom.name, Kind.PROPERTY, lines=(*comment(sentence), line))


def of_happening(
    caller: Caller, name: str, sentence: str, function: Any, *, of_step: bool
) -> Exported:
    """Export an expectation as the claim that it never happens."""
    given: list[Value] = [StateOf(Role.NOW)]
    if of_step:
        given.append(StateOf(Role.NEXT))
    operator = caller.operator(source_of(function), [*given, Settings()], name)
    atom = caller.program.naming.top(f"never_{name}")
    head = comment(f"Is to be violated. {sentence}")
    if of_step:
        line = f"{atom.name} == [][~{operator.atom.name}]_vars"
        return Exported(name, atom.name, Kind.PROPERTY, True, (*head, line))
    line = f"{atom.name} == ~{operator.atom.name}"
    return Exported(name, atom.name, Kind.INVARIANT, True, (*head, line))


def of_behaviours(caller: Caller, behaviours: Sequence[Behaviour]) -> list[Exported]:
    """Claims about what follows."""
    return [_of_behaviour(caller, each) for each in behaviours if isinstance(each, Temporal)]


def without_form(behaviours: Sequence[Behaviour]) -> list[str]:
    """Return remarks on the claims without a formula."""
    lines = []
    for each in behaviours:
        if isinstance(each, Recoverable):
            lines += comment(
                f"{each.name} has no formula in TLA+, which says what happens and not what can. "
                f"{each.sentence}"
            )
    return lines


def _of_behaviour(caller: Caller, claim: Temporal) -> Exported:
    program = caller.program
    then = _predicate(caller, claim.then)
    match claim.pattern:
        case Pattern.EVENTUALLY:
            formula: Tree = Formula("<>", (then,))
        case Pattern.ALWAYS_EVENTUALLY:
            formula = Formula("[]<>", (then,))
        case _:
            formula = Formula("~>", (_predicate(caller, claim.when), then))
    atom = program.naming.top(claim.name.replace(".", "_"))
    _, named = program.naming.resolve(formula)
    lines = (*comment(claim.sentence), *text_of(atom.name, (), named))
    return Exported(claim.name, atom.name, Kind.PROPERTY, lines=lines)


def _predicate(caller: Caller, function: Any) -> Tree:
    """Return a claim's predicate on a state: mostly the call of a rule, with names."""
    found = value_now(caller, source_of(function), [], caller.program.pristine())
    tree: Tree = tidy(as_kind(found, TRUTHS))
    return tree
