"""Abstract interpretation of rules over data sorts: from arguments' to that of a result.

Each function is interpreted once for each kind of its arguments, with a fixed point over loops and
recursion. Conditions decided by the settings are decided here too, so that a rule that is switched
off is not interpreted.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.resolution import Lookups
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.problem.errors import Refused
from waterline.checker.sorts.expressions import Environment, Expressions
from waterline.checker.sorts.operations import is_number, require_number, require_storable
from waterline.checker.sorts.values import (
    PLAIN,
    UNKNOWN,
    UNREACHED,
    Items,
    Plain,
    Rows,
    Sorted,
    StateOf,
    Value,
    describe,
    join,
)
from waterline.model.core.sorts import DataSort, Trusted
from waterline.model.core.transition_system import Model


class IllSorted(Refused):
    """A rule or claim uses a value of a data sort as something else; says where, and the remedy."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One place: the line of a file, the function there, the rule that reached it, and why.

    `function` is "" for generated code, which is made of a part of the file.
    """

    file: str
    line: int
    function: str
    root: str
    text: str
    what: str
    instead: str

    def __str__(self) -> str:
        within = f"{self.function}, of " if self.function else ""
        place = f"{self.file}:{self.line}: {within}{self.root}"
        return f"{place}: `{self.text}` {self.what}; {self.instead}"


def remedy(values: Sequence[Value]) -> str:
    """Return what to write instead, by the first sort among these values."""
    for value in values:
        if isinstance(value, Sorted):
            return _remedy(value.held.sort)
    return "use one or the other in a variable"


def _remedy(sort: DataSort) -> str:
    relations = "==, !=, <, <=, min and max" if sort.ordered else "== and !="
    none = f", and with {sort.none_word}" if sort.none_word else ""
    fresh = f"{sort.fresh}, " if sort.fresh else ""
    return (
        f"without bounds {sort.name}s have no fixed numbers: compare them with each other by "
        f"{relations}{none}, copy them, {fresh}or leave out --unbounded"
    )


@dataclass(slots=True)
class _Loop:
    """The variables where `continue` and `break` of a loop lead."""

    again: list[Environment] = field(default_factory=list)
    after: list[Environment] = field(default_factory=list)


@dataclass(slots=True)
class Interpretation:
    """All functions of one model, each as often as it is called with other sorts."""

    model: Model
    lookups: Lookups = field(default_factory=Lookups)
    violations: dict[tuple[str, int, str], Violation] = field(default_factory=dict)
    root: str = ""
    """The caller of the function under interpretation, in words."""
    results: dict[tuple[Source, tuple[Value, ...]], Value] = field(default_factory=dict)
    trusted: dict[Any, Trusted] = field(init=False)
    _under_way: dict[tuple[Source, tuple[Value, ...]], bool] = field(default_factory=dict)
    """Calls that have not returned yet, and whether they were called again meanwhile."""

    def __post_init__(self) -> None:
        self.trusted = {each.function: each for each in self.model.trusted}

    def call(self, source: Source, arguments: tuple[Value, ...]) -> Value:
        """Return the result of a function for arguments of these sorts."""
        key = (source, arguments)
        if key in self._under_way:
            self._under_way[key] = True
            return self.results.get(key, UNREACHED)
        if key in self.results:
            return self.results[key]
        before: Value = UNREACHED
        while True:
            self._under_way[key] = False
            found = _Body(self, source).run(arguments)
            self.results[key] = found
            again = self._under_way.pop(key) and found != before
            if not again:
                return found
            before = found

    def call_function(self, function: Any, arguments: tuple[Value, ...]) -> Value:
        """Return the result of a Python function for arguments of these sorts."""
        return self.call(source_of(function), arguments)

    def refuse_result(self, function: Any, result: Value) -> None:
        """Note that what is to be a truth or a number is of a sort."""
        source = source_of(function)
        returns = [n for n in lower_function(source).statements() if isinstance(n, ir.Return)]
        self.refuse(source, returns[-1], f"returns {describe(result)}", (result,))

    def refuse(self, source: Source, node: ir.Node, what: str, values: Sequence[Value]) -> None:
        """Note what is wrong with an expression."""
        place = source.place.rpartition(":")[0]
        key = (place, node.line, node.text)
        function, text = source.tree.name, node.text.splitlines()[0]
        if source.own_file:
            # Some functions are made of a part of a line: then that line is shown.
            begins = linecache.getline(source.file, source.line).strip()
            function = function if begins.startswith(f"def {function}(") else ""
            written = linecache.getline(source.file, node.line).strip()
            text = text if text in written else written
        self.violations.setdefault(
            key, Violation(place, node.line, function, self.root, text, what, remedy(values))
        )


class _Body:
    """One function for arguments of these sorts."""

    def __init__(self, whole: Interpretation, source: Source) -> None:
        self.source = source
        self.expressions = Expressions(whole, source)
        self.returned: Value = UNREACHED
        self.loops: list[_Loop] = []

    def run(self, arguments: tuple[Value, ...]) -> Value:
        """Return the function's result for these arguments."""
        function = lower_function(self.source)
        start = dict(zip(function.parameters, arguments, strict=True))
        if self._block(function.body, start) is not None:
            self.returned = join(self.returned, Items(()))
        return self.returned

    def _block(self, statements: ir.Block, variables: Environment | None) -> Environment | None:
        """The variables after these statements; None where nothing gets beyond them."""
        for statement in statements:
            if variables is None:
                return None
            variables = self._statement(statement, variables)
        return variables

    def _statement(self, node: ir.Statement, variables: Environment) -> Environment | None:
        value = self.expressions.value
        match node:
            case ir.Return():
                found = Items(()) if node.value is None else value(node.value, variables)
                self.returned = join(self.returned, found)
                return None
            case ir.Assign():
                found = value(node.value, variables)
                for target in node.targets:
                    variables = self._assign(node, target, found, variables)
            case ir.Update():
                before, by = value(node.target, variables), value(node.value, variables)
                found = self.expressions.operate(node, node.operator, before, by)
                return self._assign(node, node.target, found, variables)
            case ir.Evaluate():
                value(node.call, variables)
            case ir.If():
                return self._if(node, variables)
            case ir.While() | ir.For():
                return self._loop(node, variables)
            case ir.Break():
                self.loops[-1].after.append(variables)
                return None
            case ir.Continue():
                self.loops[-1].again.append(variables)
                return None
            case ir.Refused():
                return None  # the compiler refuses it, or never comes here
        return variables

    def _assign(
        self, node: ir.Statement, target: ir.Expression, found: Value, variables: Environment
    ) -> Environment:
        match target:
            case ir.Name(name=name):
                return {**variables, name: found}
            case ir.Tuple(items=targets):
                items = found.items if isinstance(found, Items) else [found] * len(targets)
                for each, item in zip(targets, items, strict=False):
                    variables = self._assign(node, each, item, variables)
            case ir.Attribute(owner=owner, name=name):
                if isinstance(self.expressions.value(owner, variables), StateOf):
                    self._store(node, name, found)
            case ir.Element(owner=owner):
                rows = self.expressions.value(owner, variables)
                if isinstance(rows, Rows):
                    self.expressions.indices(target, rows, variables)
                    self._store(node, rows.field.name, found)
        return variables

    def _store(self, node: ir.Statement, name: str, found: Value) -> None:
        if (declared := self.expressions.fields.get(name)) is not None:
            require_storable(declared, found, self.expressions.refusing(node))

    def _if(self, node: ir.If, variables: Environment) -> Environment | None:
        truth = self.expressions.truth(node.test, variables)
        then = self._block(node.then, variables) if truth is not False else None
        otherwise = self._block(node.otherwise, variables) if truth is not True else None
        return _meet([then, otherwise])

    def _loop(self, node: ir.While | ir.For, variables: Environment) -> Environment | None:
        """The variables after a loop: until a round changes the sort of none of them."""
        counter = self._counter(node, variables)
        head = variables
        while True:
            loop = _Loop()
            truth, inside = None, head
            if isinstance(node, ir.While):
                truth = self.expressions.truth(node.test, head)
            elif counter is None:
                truth = False
            else:
                inside = {**head, node.counter.name: counter}
            self.loops.append(loop)
            end = self._block(node.body, inside) if truth is not False else None
            self.loops.pop()
            following = _meet([head, end, *loop.again])
            assert following is not None
            if following == head:
                return _meet([head if truth is not True else None, *loop.after])
            head = following

    def _counter(self, node: ir.While | ir.For, variables: Environment) -> Value | None:
        """Return the counter of a `for`, None if it is known to have no turn."""
        if isinstance(node, ir.While):
            return None
        bounds = [self.expressions.value(bound, variables) for bound in node.bounds]
        for bound, expression in zip(bounds, node.bounds, strict=True):
            require_number(bound, "bounds a loop by", self.expressions.refusing(expression))
        if not all(map(is_number, bounds)):
            return UNKNOWN
        known = [b.constant for b in bounds if isinstance(b, Plain) and b.constant is not None]
        if len(known) == len(bounds) <= 2 and not range(*known):
            return None
        return PLAIN


def _meet(ways: Sequence[Environment | None]) -> Environment | None:
    """The variables where ways meet; one that is missing on some has the value of the others."""
    there = [way for way in ways if way is not None]
    if not there:
        return None
    first, *others = there
    for other in others:
        met = dict(first)
        for name, value in other.items():
            met[name] = join(met.get(name, UNREACHED), value)
        first = met
    return first
