"""Execution of a rule on states made of terms, with every way through it merged.

The functions and look-ups are those that a search compiles. A loop with known bounds is unrolled;
any other must have one of two forms, and is refused by its place else.

* Search: the body writes nothing, and may return. The loop returns the value of the first round
  that does: "there is a round" if all return the same, else the value of a round that is defined to
  be the first.
* Each for itself: the body returns nothing, and writes only elements that no other round reads or
  writes: at the counter plus a constant. Then all rounds happen at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.resolution import Known
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.proof.expressions import Cells, FieldRef, Frame, Loop, StateRef
from waterline.checker.proof.quantifiers import Instantiation
from waterline.checker.proof.space import Space
from waterline.checker.proof.terms import (
    Array,
    Term,
    as_expression,
    as_number,
    choice,
    compare,
    conjunction,
    disjunction,
    equal,
    is_known,
    merge,
    negation,
    same,
    total,
)
from waterline.checker.proof.writes import Writes

_Way = tuple[Term, dict[str, Any], Cells]
"""The condition for a way to be taken, its variables and its states."""


@dataclass(frozen=True, slots=True)
class Form:
    """A closed form of the variables that the loop of a function carries from round to round.

    `values` takes the arguments of the function and a number of rounds, and returns them in the
    order of `names`.
    """

    names: tuple[str, ...]
    values: Callable[..., tuple[Any, ...]]


class Execution(Writes):
    """Runs rules on states made of terms.

    `forms` are closed forms by their function: that one is right counts as a fault where it is not,
    and `assumes_forms` says that one was used.
    """

    def __init__(self, space: Space, forms: Mapping[Any, Form] | None = None) -> None:
        super().__init__(space)
        self.forms = forms or {}
        self.assumes_forms = False
        self.guard_has_no_error: Term = True
        self._binders: list[Any] = []
        self._firsts: dict[Any, tuple[Term, Term, Any]] = {}
        self._instantiations: dict[tuple[int, bool], Instantiation] = {}

    def instantiation(self, generations: int, *, values: bool) -> Instantiation:
        """The instantiation of this execution's terms: see `Instantiation`."""
        key = generations, values
        if key not in self._instantiations:
            self._instantiations[key] = Instantiation(
                self.quantifiers,
                self.space.dimensions,
                generations,
                self.space.values if values else {},
            )
        return self._instantiations[key]

    def no_error(self) -> Term:
        """True if no fault so far is met."""
        return negation(disjunction(*(when for when, _ in self.faults)))

    def forget(self, definitions: int, states: int) -> None:
        """Forget faults, and all definitions and states but so many."""
        self.faults.clear()
        self.cuts.clear()
        del self.definitions[definitions:]
        del self.cells[states:]
        self._firsts.clear()

    def state(self, arrays: dict[str, Array]) -> StateRef:
        """A state, or a draft of it, with these fields."""
        self.cells.append(dict(arrays))
        return StateRef(len(self.cells) - 1)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The value that a rule returns; it may write to drafts among its arguments."""
        return self.call_source(source_of(function), list(arguments))

    def holds(self, function: Callable[..., Any], *arguments: Any) -> Term:
        """The value of a rule that is a condition."""
        return self.truth(self.run(function, *arguments))

    def call_source(self, source: Source, arguments: list[Any]) -> Any:
        """See `Expressions`."""
        frame = Frame(source, dict(zip(source.parameters, arguments, strict=True)))
        function = lower_function(source)
        self._block(function.body, frame)
        ends = list(frame.returns)
        if frame.alive is not False:
            ends.append((frame.alive, None, self._snapshot()))
        (_, value, cells), *others = reversed(ends)
        for when, each, written in others:
            if (each is None) != (value is None):
                raise self.refusal(frame, function, "returns a value on some ways only")
            value = None if value is None else merge(when, each, value)
            cells = _merge_cells(when, written, cells)
        self._restore(cells)
        return value

    def _snapshot(self) -> Cells:
        return [dict(cell) for cell in self.cells]

    def _restore(self, cells: Cells) -> None:
        self.cells[: len(cells)] = [dict(cell) for cell in cells]

    # --- statements ------------------------------------------------------------------------------

    def _block(self, block: ir.Block, f: Frame) -> None:
        for statement in block:
            if f.alive is False:
                return
            self._statement(statement, f)

    def _statement(self, node: ir.Statement, f: Frame) -> None:
        match node:
            case ir.Pass():
                pass
            case ir.Return(value=value):
                got = None if value is None else self.value(value, f)
                f.returns.append((f.alive, got, self._snapshot()))
                f.alive = False
            case ir.Assign(targets=targets, value=value):
                got = self.value(value, f)
                for target in targets:
                    self._assign(target, got, f)
            case ir.Update(target=target, operator=operator, value=value):
                before = self.value(target, f)
                after = self.operation(node, operator, before, self.value(value, f), f)
                self._assign(target, after, f)
            case ir.Evaluate(call=call):
                self.value(call, f)
            case ir.If(test=test, then=then, otherwise=otherwise):
                self._if(self.truth(self.value(test, f)), then, otherwise, f)
            case ir.For():
                self._for(node, f)
            case ir.Break():
                f.stops[-1].append((f.alive, dict(f.env), self._snapshot()))
                f.alive = False
            case ir.Continue():
                f.goes_on[-1].append((f.alive, dict(f.env), self._snapshot()))
                f.alive = False
            case _:
                raise self.refusal(f, node, "has no translation")

    def _if(self, test: Term, then: ir.Block, otherwise: ir.Block, f: Frame) -> None:
        if is_known(test):
            self._block(then if test else otherwise, f)
            return
        if self.splits(f):
            is_so = self.decide(test, (True, False))
            self._block(then if is_so else otherwise, f)
            return
        env, cells, alive = dict(f.env), self._snapshot(), f.alive
        ways: list[_Way] = []
        ends_in_both = True
        for block, when in ((then, test), (otherwise, negation(test))):
            f.env, f.alive = dict(env), conjunction(alive, when)
            self._restore(cells)
            begun = f.alive
            self._block(block, f)
            ends_in_both = ends_in_both and f.alive is begun
            ways.append((f.alive, f.env, self._snapshot()))
        (one, one_env, one_cells), (other, other_env, other_cells) = ways
        if one is False or other is False:
            f.alive, f.env, cells = ways[1] if one is False else ways[0]
        else:
            f.alive = alive if ends_in_both else disjunction(one, other)
            f.env = {k: merge(test, one_env[k], other_env[k]) for k in one_env if k in other_env}
            cells = _merge_cells(test, one_cells, other_cells)
        self._restore(cells)

    def _join(self, ways: list[_Way], f: Frame) -> None:
        """Go on where ways meet; of these at most one is taken."""
        ways = [way for way in ways if way[0] is not False]
        if not ways:
            f.alive = False
            return
        (alive, env, cells), *others = reversed(ways)
        for when, other_env, other_cells in others:
            env = {k: merge(when, other_env[k], env[k]) for k in other_env if k in env}
            cells = _merge_cells(when, other_cells, cells)
            alive = disjunction(when, alive)
        f.alive, f.env = alive, env
        self._restore(cells)

    def _assign(self, target: ir.Expression, value: Any, f: Frame) -> None:
        match target:
            case ir.Name(name=name):
                f.env[name] = value
            case ir.Tuple(items=items):
                for item, each in zip(items, value, strict=True):
                    self._assign(item, each, f)
            case ir.Attribute(owner=owner, name=name):
                self.write(target, self.value(owner, f), name, (), value, f)
            case ir.Element(owner=owner):
                rows = self.value(owner, f)
                if not isinstance(rows, FieldRef):
                    raise self.refusal(f, target, "is assigned to, and is no element of a field")
                self.write(target, rows.state, rows.name, self.indices(target, f), value, f)
            case _:
                raise self.refusal(f, target, "is assigned to")

    # --- loops -----------------------------------------------------------------------------------

    def _for(self, node: ir.For, f: Frame) -> None:
        called = self.value(node.function, f)
        if not (isinstance(called, Known) and called.thing is range):
            raise self.refusal(f, node, "is no loop over a range")
        bounds = [self.number(node, self.value(b, f), f) for b in node.bounds]
        first, end = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) > 2 else 1
        if step not in (1, -1):
            raise self.refusal(f, node, "goes in other steps than 1 or -1")
        if is_known(first) and is_known(end):
            self._unroll(node, range(first, end, step), f)
        else:
            self._at_once(node, (first, end, step), f)

    def _unroll(self, node: ir.For, rounds: range, f: Frame) -> None:
        f.stops.append([])
        for i in rounds:
            f.env[node.counter.name] = i
            f.goes_on.append([])
            self._block(node.body, f)
            if ways := f.goes_on.pop():
                self._join([*ways, (f.alive, f.env, self._snapshot())], f)
            if f.alive is False:
                break
        if stops := f.stops.pop():
            self._join([*stops, (f.alive, f.env, self._snapshot())], f)

    def _at_once(self, node: ir.For, bounds: tuple[Term, Term, int], f: Frame) -> None:
        """A loop whose rounds are taken at once: see the module."""
        variable = self.quantifiers.variable("o")
        first, end, step = bounds
        going = (
            conjunction(compare("<=", first, variable), compare("<", variable, end))
            if step == 1
            else conjunction(compare("<=", variable, first), compare("<", end, variable))
        )
        env, cells, alive = dict(f.env), self._snapshot(), f.alive
        body = Frame(f.source, {**env, node.counter.name: variable}, going)
        body.stops.append([])
        body.goes_on.append([])
        loop, faults_before = Loop(variable), len(self.faults)
        self._loops.append(loop)
        self._binders.append(variable)
        self._context.append(alive)
        rounds = total(variable, -first) if step == 1 else total(first, -as_number(variable))
        form = self._begin_form(node, rounds, body, f)
        self._forget_values(self._binders)
        self._block(node.body, body)
        ends = [*body.goes_on.pop(), (body.alive, body.env, self._snapshot())]
        self._require_form(node, loop, body, ends, form, f)
        self._check_form(node, form, rounds, ends, f)
        written: dict[tuple[int, str], Array] = {}
        if loop.writes:
            self._join(ends, body)
            written = self._written_at_once(node, loop, going, cells, f)
        self._context.pop()
        self._binders.pop()
        self._loops.pop()
        for around in self._loops:
            around.within.append(variable)
        for i, (when, what) in enumerate(self.faults[faults_before:], faults_before):
            self.faults[i] = (self.some(variable, when), what)
        self._restore(cells)
        f.env = env
        f.env.pop(node.counter.name, None)
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
        self, node: ir.For, form: Form | None, rounds: Term, ends: list[_Way], f: Frame
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
        self, node: ir.For, loop: Loop, body: Frame, ends: list[_Way], form: Form | None, f: Frame
    ) -> None:
        """Refuse a loop if a round depends on another, or writes and returns."""
        names = () if form is None else form.names
        for _, env, _ in ends:
            for name, before in f.env.items():
                after = env.get(name, before)
                if name in names or name == node.counter.name:
                    continue
                if not (after is before or same(after, before)):
                    raise self.refusal(f, node, f"carries {name} from one round to the next")
        if names and loop.writes:
            raise self.refusal(f, node, "has a closed form, and writes as well")
        if body.stops[0] or (loop.writes and body.returns):
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
            for other_cell, other_name, other in [*loop.writes, *loop.reads]:
                alike = (other_cell, other_name) == (cell, name)
                if alike and not all(map(same, index, other)):
                    raise self.refusal(f, node, f"reads or writes {name} of another round")
            found[cell, name] = self._after_all(node, loop, going, cells, (cell, name, index), f)
        return found

    def _after_all(
        self,
        node: ir.For,
        loop: Loop,
        going: Term,
        cells: Cells,
        write: tuple[int, str, tuple[Term, ...]],
        f: Frame,
    ) -> Array:
        cell, name, index = write
        mentions, substitute = self.quantifiers.mentions, self.quantifiers.substitute
        places = [k for k, i in enumerate(index) if mentions(i, loop.variable)]
        if len(places) != 1:
            raise self.refusal(f, node, f"writes the same {name} again and again")
        if any(mentions(i, within) for i in index for within in loop.within):
            raise self.refusal(f, node, f"writes {name} at the counter of a loop within")
        (place,) = places
        offset = as_number(z3.simplify(index[place] - loop.variable, som=True))
        if mentions(offset, loop.variable):
            raise self.refusal(f, node, f"writes {name} at no plain index")
        value, old = self.cells[cell][name](*index), cells[cell][name]

        def get(*at: Term) -> Any:
            turn = total(at[place], -offset)
            pairs = enumerate(zip(at, index, strict=True))
            others = (equal(a, b) for k, (a, b) in pairs if k != place)
            here = conjunction(substitute(going, loop.variable, turn), *others)
            return merge(here, substitute(value, loop.variable, turn), old(*at))

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
        f.returns.append((conjunction(f.alive, some), value, self._snapshot()))
        f.alive = conjunction(f.alive, negation(some))

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
        name = str(self.quantifiers.variable("first"))
        sorts = [z3.IntSort()] * (len(inner) + 1)
        k: Any = z3.Function(name, *sorts)(*inner) if inner else z3.Int(name)
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
        for binder in inner:
            rule = self.every(binder, rule)
        self.definitions.append(rule)
        self._firsts[key] = (k, some, (canonical, first, end))  # kept terms keep their numbers
        return k, some


def _merge_cells(when: Term, one: Cells, other: Cells) -> Cells:
    return [
        {name: merge(when, a[name], b[name]) for name in a}
        for a, b in zip(one, other, strict=False)
    ]
