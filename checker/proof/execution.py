"""Execution of a rule on states made of terms, with every way through it merged.

The functions and look-ups are those that a search compiles. A loop with known bounds is unrolled;
the rounds of any other are taken at once (`loops`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.resolution import Known
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.proof.expressions import FieldRef, Frame, StateRef
from waterline.checker.proof.loops import Fold, Form, Loops, Way, merge_cells
from waterline.checker.proof.quantifiers import Instantiation
from waterline.checker.proof.space import Space
from waterline.checker.proof.terms import (
    Array,
    Term,
    compare,
    conjunction,
    disjunction,
    is_known,
    merge,
    negation,
    numbers_in,
)


class Execution(Loops):
    """Runs rules on states made of terms."""

    def __init__(self, space: Space, forms: Mapping[Any, Form] | None = None) -> None:
        super().__init__(space, forms)
        self.guard_has_no_error: Term = True
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
        """Forget faults, and all definitions and states but so many.

        The subjects of definitions stay: an obligation may have another query later.
        """
        self.faults.clear()
        self.cuts.clear()
        del self.definitions[definitions:]
        del self.cells[states:]
        self._firsts.clear()
        self.forget_counts()

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
        self.run_block(function.body, frame)
        ends = list(frame.returns)
        if frame.alive is not False:
            ends.append((frame.alive, None, self.snapshot()))
        (_, value, cells), *others = reversed(ends)
        for when, each, written in others:
            if (each is None) != (value is None):
                raise self.refusal(frame, function, "returns a value on some ways only")
            value = None if value is None else merge(when, each, value)
            cells = merge_cells(when, written, cells)
        self.restore(cells)
        return value

    # --- statements ------------------------------------------------------------------------------

    def run_block(self, block: ir.Block, f: Frame) -> None:
        """See `Loops`."""
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
                f.returns.append((f.alive, got, self.snapshot()))
                f.alive = False
            case (
                ir.Assign(targets=(ir.Name(name=name),)) | ir.Update(target=ir.Name(name=name))
            ) if isinstance(f.env.get(name), Fold):
                self.reach(node, f.env[name], f)
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
                f.stops[-1].append((f.alive, dict(f.env), self.snapshot()))
                f.alive = False
            case ir.Continue():
                f.goes_on[-1].append((f.alive, dict(f.env), self.snapshot()))
                f.alive = False
            case _:
                raise self.refusal(f, node, "has no translation")

    def _if(self, test: Term, then: ir.Block, otherwise: ir.Block, f: Frame) -> None:
        if is_known(test):
            self.run_block(then if test else otherwise, f)
            return
        if self.splits(f):
            is_so = self.decide(test, (True, False))
            self.run_block(then if is_so else otherwise, f)
            return
        env, cells, alive = dict(f.env), self.snapshot(), f.alive
        ways: list[Way] = []
        ends_in_both = True
        for block, when in ((then, test), (otherwise, negation(test))):
            f.env, f.alive = dict(env), conjunction(alive, when)
            self.restore(cells)
            begun = f.alive
            self.run_block(block, f)
            ends_in_both = ends_in_both and f.alive is begun
            ways.append((f.alive, f.env, self.snapshot()))
        (one, one_env, one_cells), (other, other_env, other_cells) = ways
        if one is False or other is False:
            f.alive, f.env, cells = ways[1] if one is False else ways[0]
        else:
            f.alive = alive if ends_in_both else disjunction(one, other)
            f.env = {k: merge(test, one_env[k], other_env[k]) for k in one_env if k in other_env}
            cells = merge_cells(test, one_cells, other_cells)
        self.restore(cells)

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

    def _for(self, node: ir.For, f: Frame) -> None:
        called = self.value(node.function, f)
        if not (isinstance(called, Known) and called.thing is range):
            raise self.refusal(f, node, "is no loop over a range")
        bounds = [self.number(node, self.value(b, f), f) for b in node.bounds]
        first, end = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) > 2 else 1
        if step not in (1, -1):
            raise self.refusal(f, node, "goes in other steps than 1 or -1")
        firsts, ends = numbers_in(first), numbers_in(end)
        if not firsts or not ends:
            self.take_at_once(node, (first, end, step), f)
        elif step == 1:
            self._unroll(node, range(min(firsts), max(ends)), (first, end), f)
        else:
            self._unroll(node, range(max(firsts), min(ends), -1), (first, end), f)

    def _unroll(self, node: ir.For, rounds: range, bounds: tuple[Term, Term], f: Frame) -> None:
        """A loop round by round. With bounds of few values some rounds may be left out."""
        first, end = bounds
        f.stops.append([])
        for i in rounds:
            f.env[node.counter.name] = i
            f.goes_on.append([])
            low, high = (first, i) if rounds.step == 1 else (i, first)
            before_end = compare("<", i, end) if rounds.step == 1 else compare("<", end, i)
            takes_place = conjunction(compare("<=", low, high), before_end)
            if takes_place is not True:
                left_out = conjunction(f.alive, negation(takes_place))
                f.goes_on[-1].append((left_out, dict(f.env), self.snapshot()))
                f.alive = conjunction(f.alive, takes_place)
            self.run_block(node.body, f)
            if ways := f.goes_on.pop():
                self.join([*ways, (f.alive, f.env, self.snapshot())], f)
            if f.alive is False:
                break
        if stops := f.stops.pop():
            self.join([*stops, (f.alive, f.env, self.snapshot())], f)
        if not all(map(is_known, bounds)):
            f.env.pop(node.counter.name, None)  # it may be another of the last rounds
