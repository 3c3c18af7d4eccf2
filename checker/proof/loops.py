"""Loops whose rounds are taken at once, on states made of terms.

A loop with known bounds is unrolled (`execution`). Any other must have one of these forms, and is
refused by its place else.

* Search: the body writes nothing, and may return. The loop returns the value of the first round
  that does: "there is a round" if all return the same, else the value of a round that is defined to
  be the first.
* Each for itself: the body returns nothing, and writes only elements that no other round reads or
  writes: at the counter plus a constant. Then all rounds happen at once.
* Fold: the body assigns `x = min(x, ...)`, or `max`, and uses x nowhere else. Then x is defined to
  be the extreme of its first value and of those that rounds reach. Or it adds truths, `x += ...`:
  then the rounds that add one are counted (`counts`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import z3

from waterline.checker.compiler import ir
from waterline.checker.compiler.resolution import Known
from waterline.checker.compiler.source import source_of
from waterline.checker.proof.counts import Counts
from waterline.checker.proof.expressions import Cells, FieldRef, Frame, Loop
from waterline.checker.proof.space import Space
from waterline.checker.proof.terms import (
    Array,
    Count,
    Mask,
    Term,
    as_expression,
    as_number,
    as_truth,
    choice,
    compare,
    conjunction,
    disjunction,
    equal,
    is_truth,
    merge,
    negation,
    same,
    total,
)

Way = tuple[Term, dict[str, Any], Cells]
"""The condition for a way to be taken, its variables and its states."""


@dataclass(frozen=True, slots=True)
class Form:
    """A closed form of the variables that the loop of a function carries from round to round.

    `values` takes the arguments of the function and a number of rounds, and returns them in the
    order of `names`.
    """

    names: tuple[str, ...]
    values: Callable[..., tuple[Any, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """A variable of a loop that ends with the least value, the greatest, or a number of rounds.

    `reached` are the values that a round has, each with its condition and its function.
    """

    name: str
    reached: list[tuple[Term, Any, Term]] = field(default_factory=list)


class Loops(Counts):
    """Loops of rules.

    `forms` are closed forms by their function: that one is right counts as a fault where it is not,
    and `assumes_forms` says that one was used.
    """

    def __init__(self, space: Space, forms: Mapping[Any, Form] | None = None) -> None:
        super().__init__(space)
        self.forms = forms or {}
        self.assumes_forms = False
        self._firsts: dict[Any, tuple[Term, Term, Any]] = {}

    def run_block(self, block: ir.Block, f: Frame) -> None:
        """Run statements."""
        raise NotImplementedError

    def join(self, ways: list[Way], f: Frame) -> None:
        """Go on where ways meet; of these at most one is taken."""
        ways = [way for way in ways if way[0] is not False]
        if not ways:
            f.alive = False
            return
        (alive, env, cells), *others = reversed(ways)
        for when, other_env, other_cells in others:
            env = {k: merge(when, other_env[k], env[k]) for k in other_env if k in env}
            cells = merge_cells(when, other_cells, cells)
            alive = disjunction(when, alive)
        f.alive, f.env = alive, env
        self.restore(cells)

    def snapshot(self) -> Cells:
        """The fields of each state, to be restored."""
        return [dict(cell) for cell in self.cells]

    def restore(self, cells: Cells) -> None:
        """Let states have these fields again."""
        self.cells[: len(cells)] = [dict(cell) for cell in cells]

    def take_at_once(self, node: ir.For, bounds: tuple[Term, Term, int], f: Frame) -> None:
        """A loop whose rounds are taken at once: see the module."""
        variable = self.quantifiers.variable("o")
        first, end, step = bounds
        going = (
            conjunction(compare("<=", first, variable), compare("<", variable, end))
            if step == 1
            else conjunction(compare("<=", variable, first), compare("<", end, variable))
        )
        env, cells, alive = dict(f.env), self.snapshot(), f.alive
        body = Frame(f.source, {**env, node.counter.name: variable}, going)
        body.stops.append([])
        body.goes_on.append([])
        folds = [Fold(name) for name in sorted(_assigned_in(node.body) & {*env})]
        if f.source.function not in self.forms:
            body.env |= {fold.name: fold for fold in folds}
        loop, faults_before = Loop(variable), len(self.faults)
        self._loops.append(loop)
        self._binders.append(variable)
        self._context.append(alive)
        rounds = total(variable, -first) if step == 1 else total(first, -as_number(variable))
        form = self._begin_form(node, rounds, body, f)
        self._forget_values(self._binders)
        self.run_block(node.body, body)
        ends = [*body.goes_on.pop(), (body.alive, body.env, self.snapshot())]
        self._require_form(node, loop, body, ends, form, f)
        reached = {each.name: self._value_after(node, each, variable, f) for each in folds}
        self._check_form(node, form, rounds, ends, f)
        written: dict[tuple[int, str], Array] = {}
        if loop.writes:
            self.join(ends, body)
            written = self._written_at_once(node, loop, going, cells, f)
        self._context.pop()
        self._binders.pop()
        self._loops.pop()
        for i, (when, what) in enumerate(self.faults[faults_before:], faults_before):
            self.faults[i] = (self.some(variable, when), what)
        self.restore(cells)
        f.env = env
        f.env.pop(node.counter.name, None)
        f.env |= reached
        if form:
            taken = total(end, -first) if step == 1 else total(first, -as_number(end))
            self._context.append(alive)
            f.env |= self._form_at(form, choice(compare("<", taken, 0), 0, taken), f)
            self._context.pop()
        for (cell, name), array in written.items():
            self.cells[cell][name] = array
        if body.returns:
            self._return_first(node, variable, bounds, body.returns, f)

    def _begin_form(self, node: ir.For, rounds: Term, body: Frame, f: Frame) -> Form | None:
        """Let a round begin with what the closed form of its function says is carried to it."""
        form = self.forms.get(f.source.function)
        if form is None:
            return None
        self.assumes_forms = True
        for name, value in self._form_at(form, 0, f).items():
            self._require_value(node, name, f.env.get(name), value, f)
        for name, value in self._form_at(form, rounds, body).items():
            body.env[name] = value
        return form

    def _form_at(self, form: Form, rounds: Term, f: Frame) -> dict[str, Any]:
        """The carried variables by name, after so many rounds."""
        arguments = [f.env[name] for name in f.source.parameters]
        self._context.append(f.alive)
        found = self.call_source(source_of(form.values), [*arguments, rounds])
        self._context.pop()
        return dict(zip(form.names, found, strict=True))

    def _check_form(
        self, node: ir.For, form: Form | None, rounds: Term, ends: list[Way], f: Frame
    ) -> None:
        """Note the fault of a round that carries another value on than the closed form has."""
        if form is None:
            return
        for alive, env, _ in ends:
            way = Frame(f.source, env, alive)
            for name, value in self._form_at(form, total(rounds, 1), way).items():
                self._require_value(node, name, env[name], value, way)

    def _require_value(self, node: ir.For, name: str, value: Any, form: Any, f: Frame) -> None:
        differs = negation(equal(self.number(node, value, f), self.number(node, form, f)))
        self.fault(differs, f, node, f"{name} is not what its closed form says")

    def _forget_values(self, binders: list[Any]) -> None:
        """Let the fields in `havoc` have any value, another in each round of the loops around."""
        for cell in self.cells:
            for name in self.space.havoc:
                any_name = str(self.quantifiers.variable(name))
                cell[name] = self.space.any_field(name, any_name, tuple(binders))

    def _require_form(
        self, node: ir.For, loop: Loop, body: Frame, ends: list[Way], form: Form | None, f: Frame
    ) -> None:
        """Refuse a loop if a round depends on another, or writes and returns."""
        names = () if form is None else form.names
        for _, env, _ in ends:
            for name, before in f.env.items():
                after = env.get(name, before)
                if name in names or name == node.counter.name or isinstance(after, Fold):
                    continue
                if not (after is before or same(after, before)):
                    raise self.refusal(f, node, f"carries {name} from one round to the next")
        if names and loop.writes:
            raise self.refusal(f, node, "has a closed form, and writes as well")
        folds = any(isinstance(each, Fold) and each.reached for each in body.env.values())
        if body.stops[0] or ((loop.writes or folds) and body.returns):
            raise self.refusal(f, node, "stops early, and writes or computes as well")

    def _written_at_once(
        self, node: ir.For, loop: Loop, going: Term, cells: Cells, f: Frame
    ) -> dict[tuple[int, str], Array]:
        """The fields after all rounds of a loop."""
        found: dict[tuple[int, str], Array] = {}
        for cell, name, index in loop.writes:
            if (cell, name) in found:
                continue
            if name in self.space.havoc:
                any_name = str(self.quantifiers.variable(name))
                found[cell, name] = self.space.any_field(name, any_name, tuple(self._binders[:-1]))
                continue
            place, offset = self._slice(node, loop, (cell, name, index), f)
            after, old = self.cells[cell][name], cells[cell][name]
            found[cell, name] = self._after_all(loop.variable, going, place, offset, after, old)
        return found

    def _slice(
        self, node: ir.For, loop: Loop, write: tuple[int, str, tuple[Term, ...]], f: Frame
    ) -> tuple[int, Term]:
        """The place of the counter among the indices of a field, and what is added to it there.

        It is the same wherever the loop reads or writes the field: rounds keep to slices of theirs.
        """
        cell, name, index = write
        places = [k for k, i in enumerate(index) if self.quantifiers.mentions(i, loop.variable)]
        if len(places) != 1:
            raise self.refusal(f, node, f"writes the same {name} again and again")
        (place,) = places
        for other_cell, other_name, other in [*loop.writes, *loop.reads]:
            if (other_cell, other_name) == (cell, name) and not same(index[place], other[place]):
                raise self.refusal(f, node, f"reads or writes {name} of another round")
        offset = as_number(z3.simplify(index[place] - loop.variable, som=True))
        if self.quantifiers.mentions(offset, loop.variable):
            raise self.refusal(f, node, f"writes {name} at no plain index")
        return place, offset

    def _after_all(
        self, variable: Any, going: Term, place: int, offset: Term, after: Array, old: Array
    ) -> Array:
        """A field after all rounds, from what it is after one."""
        substitute = self.quantifiers.substitute

        def get(*at: Term) -> Any:
            turn = total(at[place], -offset)
            value = after(*at[:place], total(variable, offset), *at[place + 1 :])
            here = substitute(going, variable, turn)
            return merge(here, substitute(value, variable, turn), old(*at))

        return Array(get, old.is_mask)

    def _return_first(
        self,
        node: ir.For,
        variable: Any,
        bounds: tuple[Term, Term, int],
        returns: list[tuple[Term, Any, Cells]],
        f: Frame,
    ) -> None:
        """Return the value of the first round that returns."""
        there = disjunction(*(when for when, _, _ in returns))
        values = [value for _, value, _ in returns]
        if all(v is values[0] or same(v, values[0]) for v in values) and not (
            self.quantifiers.mentions(values[0], variable)
        ):
            some, value = self.some(variable, there), values[0]
        else:
            value = values[-1]
            for when, each, _ in reversed(returns[:-1]):
                value = merge(when, each, value)
            first, some = self._first(variable, bounds, there)
            value = self.quantifiers.substitute(value, variable, first)
        f.returns.append((conjunction(f.alive, some), value, self.snapshot()))
        f.alive = conjunction(f.alive, negation(some))

    def reach(self, node: ir.Assign | ir.Update, fold: Fold, f: Frame) -> None:
        """Note a value that a round reaches, or that it adds one, for the variable of a loop."""
        match node:
            case (
                ir.Update(operator="+", value=more)
                | ir.Assign(
                    value=ir.Operation(operator="+", left=ir.Name(name=fold.name), right=more)
                )
            ):
                truth = self.value(more, f)
                if is_truth(truth) or same(truth, 1) or self._is_flag(more, f):
                    fold.reached.append((conjunction(f.alive, as_truth(truth)), sum, 1))
                    return
            case ir.Assign(value=ir.Call(arguments=(ir.Name(name=fold.name), other)) as call):
                called = self.value(call.function, f)
                if isinstance(called, Known) and called.thing in (min, max):
                    reached = self.number(node, self.value(other, f), f)
                    fold.reached.append((f.alive, called.thing, reached))
                    return
        raise self.refusal(f, node, f"carries {fold.name} from one round to the next")

    def _is_flag(self, node: ir.Expression, f: Frame) -> bool:
        """True for an element of a field that is 0 or 1."""
        rows = self.value(node.owner, f) if isinstance(node, ir.Element) else None
        shape = self.space.shapes[rows.name] if isinstance(rows, FieldRef) else None
        return shape is not None and not shape.of and (shape.lo, shape.hi) == (0, 1)

    def _value_after(self, node: ir.For, fold: Fold, variable: Any, f: Frame) -> Any:
        """The value of a variable after all rounds."""
        before = f.env[fold.name]
        functions = {function for _, function, _ in fold.reached}
        if not functions:
            return before
        if len(functions) > 1:
            raise self.refusal(f, node, f"makes {fold.name} less and greater, or counts as well")
        if functions == {sum}:
            return self._number_of_rounds(node, fold, variable, f)
        return self._extreme_of(fold, self.number(node, before, f), variable, min in functions)

    def _number_of_rounds(self, node: ir.For, fold: Fold, variable: Any, f: Frame) -> Any:
        counted = [
            Count(Mask(partial(self.quantifiers.substitute, when, variable)))
            for when, _, _ in fold.reached
        ]
        found = self.number(node, f.env[fold.name], f)
        if same(found, 0) and len(counted) == 1:
            return counted[0]
        for each in counted:
            found = total(found, self.number_of(each.of))
        return found

    def _extreme_of(self, fold: Fold, before: Term, variable: Any, is_least: bool) -> Any:
        """A number defined as the extreme of the first value and of those that rounds reach."""
        operator = "<=" if is_least else ">="
        terms = [before, *(t for when, _, value in fold.reached for t in (when, value))]
        binders = self._binders[:-1]
        inner = [b for b in binders if any(self.quantifiers.mentions(t, b) for t in terms)]
        found, name = self.any_number("extreme", inner)
        rule = [compare(operator, found, before)]
        equals = [equal(found, before)]
        for when, _, value in fold.reached:
            within = disjunction(negation(when), compare(operator, found, value))
            rule.append(self.every(variable, within))
            equals.append(self.some(variable, conjunction(when, equal(found, value))))
        self.define(name, conjunction(*rule, disjunction(*equals)), inner)
        return found

    def _first(
        self, variable: Any, bounds: tuple[Term, Term, int], there: Term
    ) -> tuple[Term, Term]:
        """A number defined as the first round where `there` is true, the end if none is.

        With it, whether there is such a round. In every state there is exactly one such number.
        """
        first, end = map(as_expression, bounds[:2])
        plain = z3.Int("round")
        canonical = as_expression(self.quantifiers.substitute(there, variable, plain))
        key = (canonical.get_id(), first.get_id(), end.get_id(), bounds[2])
        if key in self._firsts:
            return self._firsts[key][:2]
        inner = [b for b in self._binders if self.quantifiers.mentions((canonical, first, end), b)]
        k, name = self.any_number("first", inner)
        if bounds[2] == 1:
            last = z3.If(first <= end, end, first)
            before, within, some = (
                conjunction(first <= variable, variable < k),
                conjunction(first <= k, k <= last),
                k < end,
            )
        else:
            last = z3.If(end <= first, end, first)
            before, within, some = (
                conjunction(k < variable, variable <= first),
                conjunction(k <= first, last <= k),
                end < k,
            )
        rule = conjunction(
            within,
            disjunction(negation(some), self.quantifiers.substitute(there, variable, k)),
            negation(self.some(variable, conjunction(before, there))),
        )
        self.define(name, rule, inner)
        self._firsts[key] = (k, some, (canonical, first, end))  # kept terms keep their numbers
        return k, some


def merge_cells(when: Term, one: Cells, other: Cells) -> Cells:
    """The fields of states where two ways meet."""
    return [
        {name: merge(when, a[name], b[name]) for name in a}
        for a, b in zip(one, other, strict=False)
    ]


def _assigned_in(block: ir.Block) -> set[str]:
    """The variables that statements assign to, apart from those of loops within."""
    found: set[str] = set()
    for statement in block:
        match statement:
            case ir.Assign(targets=targets):
                found |= {target.name for target in targets if isinstance(target, ir.Name)}
            case ir.Update(target=ir.Name(name=name)):
                found.add(name)
            case ir.If(then=then, otherwise=otherwise):
                found |= _assigned_in(then) | _assigned_in(otherwise)
    return found
