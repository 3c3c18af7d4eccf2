"""Counterexamples to induction: a step out of the lemmas, as the interpreter runs it.

The state before need not be reachable: it only fulfils all lemmas.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import z3

from waterline.checker.proof.obligations import Induction, Obligation
from waterline.checker.proof.terms import Array, as_expression, is_known
from waterline.model.core.state import NotAlive, OutOfRange, State
from waterline.model.core.transition_system import Action


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A step from a state of the invariant to one without it, or into an error of a rule.

    `broken` are the lemmas that are false after it; `error` is the text of a rule's error.
    """

    action: Action
    arguments: tuple[int, ...]
    before: State
    after: State | None
    broken: tuple[str, ...]
    error: str = ""

    def is_one(self, induction: Induction) -> bool:
        """True if the interpreter agrees: all lemmas hold before it, and it is enabled."""
        return (
            self.begins_in(induction)
            and (bool(self.broken) or bool(self.error))
            and (
                bool(self.error)
                or induction.model.is_enabled(self.before, self.action, self.arguments)
            )
        )

    def begins_in(self, induction: Induction) -> bool:
        """True if all lemmas hold in the state before."""
        settings = induction.model.settings
        return all(each.holds(self.before, settings) for each in induction.theorem.lemmas)


def counterexample_of(induction: Induction, obligation: Obligation, answer: Any) -> Counterexample:
    """The counterexample that the solver's answer to an obligation is, run by the interpreter."""
    assert obligation.action is not None
    model = induction.model
    before = state_of(induction, obligation.before, answer)
    arguments = tuple(_number(answer, argument) for argument in obligation.arguments)
    action = obligation.action
    try:
        if not model.is_enabled(before, action, arguments):
            return Counterexample(action, arguments, before, None, ())
        after = model.apply(before, action, arguments)
    except (OutOfRange, ArithmeticError, ValueError) as error:
        return Counterexample(action, arguments, before, None, (), str(error))
    theorem, settings = induction.theorem, model.settings
    broken = [each.name for each in theorem.lemmas if not each.holds(after, settings)]
    broken += [each.name for each in theorem.steps if not each.keeps(before, after, settings)]
    return Counterexample(action, arguments, before, after, tuple(broken))


def state_of(induction: Induction, arrays: dict[str, Array], answer: Any) -> State:
    """The state that an answer of the solver describes."""
    layout = induction.model.layout
    draft = State(layout).draft()
    cells = [
        (name, index, sum(_number(answer, bit) << i for i, bit in enumerate(bits)))
        for name, index, bits in _cells(induction, arrays)
    ]
    # A row that is not alive has no value; the rows that decide that come first.
    for name, index, number in sorted(cells, key=lambda c: layout.places[c[0]].alive is not None):
        with suppress(NotAlive):
            if index == ():
                setattr(draft, name, number)
            else:
                getattr(draft, name)[index] = number
    return draft.freeze()


def unknowns_of(induction: Induction, obligation: Obligation) -> list[Any]:
    """The terms that a counterexample is made of: those of the state, then the arguments."""
    cells = _cells(induction, obligation.before)
    terms = [*(term for _, _, bits in cells for term in bits), *obligation.arguments]
    return [as_expression(term) for term in terms if not is_known(term)]


def _cells(
    induction: Induction, arrays: dict[str, Array]
) -> Iterator[tuple[str, tuple[int, ...], list[Any]]]:
    """Each cell of a state: its field, its index, and its one term, or a term for each member."""
    layout = induction.model.layout
    for declared in layout.fields:
        shape = induction.space.shapes[declared.name]
        for index in layout.elements[declared.name]:
            if isinstance(index, int):
                continue
            value = arrays[declared.name](*index)
            members = range(layout.sizes[shape.of]) if shape.of else ()
            yield declared.name, index, [value.has(i) for i in members] if shape.of else [value]


def _number(answer: Any, term: Any) -> int:
    if is_known(term):
        return int(term)
    value = answer.eval(as_expression(term), model_completion=True)
    return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())


def describe(induction: Induction, found: Counterexample) -> str:
    """Describe a counterexample: the state before, the step, and what changes."""
    narration = induction.model.narration
    after = found.after or found.before
    lines = ["  before:"]
    lines += _table(induction, found.before)
    lines.append(
        "  step:   " + narration.sentence(found.action.name, found.arguments, found.before, after)
    )
    if found.after is not None:
        lines += ["  after:", *_table(induction, found.after)]
    return "\n".join(lines)


def _table(induction: Induction, state: State) -> list[str]:
    narration = induction.model.narration
    rows = narration.rows(state)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = [
        "    " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    more = [f"{label}: {value}" for label, value in narration.summary(state)]
    history = induction.theorem.describe_history(state)
    summary = "; ".join([*more, *filter(None, [history])])
    return [*lines, *([f"    {summary}"] if summary else [])]
