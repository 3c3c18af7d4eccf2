"""Parts of lowered rules: sequences as a rule names them, and calls of their functions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from waterline.model.own.fields import (
    MEMBERS_MAX,
    AnyField,
    Container,
    Method,
    PlacedField,
    SequenceField,
    Set,
    Value,
)
from waterline.model.own.syntax import SET, Kind, Refuse, at, is_made_set, on_line


@dataclass(frozen=True, slots=True)
class NamedSequence:
    """A queue or a log as a rule names it, `s.wire[a, b]`, or its beginning alone, `[:end]`."""

    field: PlacedField
    state: ast.expr
    indices: tuple[ast.expr, ...]
    end: ast.expr | None = None


@dataclass(slots=True)
class Calls(ast.NodeTransformer):
    """Lowering of a function's calls.

    `kind` returns the kind of an expression. `room` returns the number of the limit that a full
    sequence stands for, if the function tries a step out; else it is None. `made` has the functions
    that the rewritten one calls, by name.
    """

    kind: Callable[[ast.expr], Kind]
    refuse: Refuse
    room: Callable[[PlacedField], int] | None = None
    made: dict[str, ast.FunctionDef] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    _variables: int = 0

    # --- what an expression is -------------------------------------------------------------------

    def _is_set(self, node: ast.expr) -> bool:
        kind = self.kind(node)
        return isinstance(kind, Set) or kind == SET or is_made_set(node)

    def _require_set(self, node: ast.expr) -> None:
        """Reject an operand of a set operation that cannot be a set."""
        kind = self.kind(node)
        if kind is None or self._is_set(node):
            return
        raise self.refuse(
            node, f"`{ast.unparse(node)}` is no set, and stands beside one", "write it in braces"
        )

    def _members_max(self, node: ast.expr) -> int:
        """No member of a set is this number or above."""
        kind = self.kind(node)
        return kind.element.range[1] + 1 if isinstance(kind, Set) else MEMBERS_MAX

    def _sequence(self, node: ast.expr) -> NamedSequence | None:
        """The sequence that an expression names."""
        match node:
            case ast.Subscript(value=owner, slice=ast.Slice(lower=lower, upper=end, step=step)):
                found = self._sequence(owner)
                if found is None or found.end is not None:
                    return None
                self._require_row(node, found)
                if found.field.is_sorted:
                    raise self.no_order(node, found.field)
                if isinstance(end, ast.UnaryOp) and isinstance(end.op, ast.USub):
                    what = f"`{ast.unparse(node)}` ends before the end, which no slice does"
                    shown, less = ast.unparse(owner), ast.unparse(end.operand)
                    raise self.refuse(node, what, f"write [: len({shown}) - {less}]")
                if lower is not None or step is not None or end is None:
                    shown = ast.unparse(node)
                    raise self.refuse(node, f"{shown} is no beginning of a sequence", "write [:n]")
                return NamedSequence(found.field, found.state, found.indices, end)
            case ast.Attribute(value=ast.Name() as state):
                kind = self.kind(node)
                if isinstance(kind, PlacedField) and not kind.indices:
                    return NamedSequence(kind, state, ())
            case ast.Subscript(value=ast.Attribute(value=ast.Name() as state) as owner):
                kind = self.kind(owner)
                if isinstance(kind, PlacedField) and kind.indices:
                    index = node.slice
                    parts = index.elts if isinstance(index, ast.Tuple) else [index]
                    return NamedSequence(kind, state, tuple(parts))
        return None

    def _reads(self, sequence: NamedSequence) -> list[ast.expr]:
        """The state and the indices, as a function of the field takes them."""
        indices = (self.visit(copy.deepcopy(each)) for each in sequence.indices)
        return [copy.deepcopy(sequence.state), *indices]

    def _end(self, sequence: NamedSequence) -> ast.expr:
        if sequence.end is None:
            return ast.Constant(sequence.field.slots)
        return self.visit(sequence.end)

    def _element(self, sequence: NamedSequence, number: ast.Name) -> ast.expr:
        """The value at a place that there is."""
        return self._call(
            "at", sequence.field, sequence.state, [*self._reads(sequence), as_read(number)]
        )

    def _length(self, sequence: NamedSequence, node: ast.AST) -> ast.expr:
        return self._call("length", sequence.field, node, self._reads(sequence))

    # --- what is written -------------------------------------------------------------------------

    def _call(
        self, operation: str, of: PlacedField, node: ast.AST, given: list[ast.expr]
    ) -> ast.expr:
        functions = of.code
        name = f"__{operation}_{of.name}_line_{getattr(node, 'lineno', 1)}__"
        if operation == "length":
            name = functions.length
        else:
            self._inline_call(functions.function("length", functions.length), node, [], of)
        return self._inline_call(functions.function(operation, name), node, given, of)

    def _inline_call(
        self, function: ast.FunctionDef, node: ast.AST, given: list[ast.expr], *of: PlacedField
    ) -> ast.expr:
        """A call of a function whose lines are those of the place that needs it."""
        _Folding({each.name: each for each in of}).visit(function)
        self._keep(function, node)
        return at(ast.Call(ast.Name(function.name, ast.Load()), given, []), node)

    def _keep(self, function: ast.FunctionDef, node: ast.AST) -> None:
        """A function that the rule calls: its lines are those of the place that needs it."""
        on_line(function, node)
        function.returns = None
        for argument in function.args.args:
            argument.annotation = None
        if ast.get_docstring(function) is not None:
            del function.body[0]
        self.made.setdefault(function.name, function)

    def _variable(self, node: ast.AST) -> ast.Name:
        self._variables += 1
        return at(ast.Name(f"place_{self._variables}", ast.Store()), node)

    def _range(self, node: ast.AST, count: ast.expr) -> ast.expr:
        return at(ast.Call(ast.Name("range", ast.Load()), [count], []), node)

    # --- refusals --------------------------------------------------------------------------------

    def _require_row(self, node: ast.AST, of: NamedSequence) -> None:
        """Reject what is read of a row of values alone, of a field that is none."""
        if not of.field.is_row:
            called = type(of.field).__name__
            what = f"`{ast.unparse(node)}`: {of.field.name} is a {called}, and no row of values"
            has = f"it has {', '.join(of.field.methods)}, `in` and len(...)"
            raise self.refuse(node, what, has)

    def no_order(self, node: ast.AST, of: PlacedField) -> Exception:
        """The refusal of a place of a bag."""
        what = f"`{ast.unparse(node)}` reads a place of {of.name}, and a bag has no order"
        return self.refuse(node, what, "give the action an argument, and ask whether it is in it")

    def _require_method(self, node: ast.AST, of: Container, method: str) -> Method:
        if method in of.methods:
            return of.methods[method]
        what = f"{of.name} is a {type(of).__name__}, which has no {method}"
        instead = f"it has {', '.join(of.methods)}"
        if method in of.remedies:
            owner = next(
                each.func.value
                for each in ast.walk(node)
                if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
            )
            instead = f"write {of.remedies[method].replace('Q', ast.unparse(owner))}"
        raise self.refuse(node, what, instead)

    def _no_operation(self, node: ast.AST, of: ast.expr) -> Exception:
        what = f"`{ast.unparse(of)}` is a set, which has no such operation"
        return self.refuse(node, what, "use |, &, -, ^, ==, <=, <, in or len(...)")


@dataclass(slots=True)
class _Folding(ast.NodeTransformer):
    """Gives the places of sequences the index that the layout has."""

    fields: dict[str, PlacedField]

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        assert isinstance(node.value, ast.Attribute)
        node.slice = fold(self.fields[node.value.attr], node.slice)
        return node


def alike(left: PlacedField, right: PlacedField) -> tuple[SequenceField, SequenceField] | None:
    """Return the two if they are sequences of the same values."""
    if not isinstance(left, SequenceField) or not isinstance(right, SequenceField):
        return None
    one, other = left.element, right.element
    if isinstance(one, Value) or left.is_sorted != right.is_sorted:
        same = one == other and type(left) is type(right)
    else:
        same = type(one) is type(other) and (
            one.range == other.range and getattr(one, "values", ()) == getattr(other, "values", ())
        )
    return (left, right) if same else None


def takes_a_part(called: str) -> bool:
    """True if a function only takes a part out of a struct: see `model.own.structs`."""
    return called.startswith("__part_")


def fold(of: AnyField, index: ast.expr) -> ast.expr:
    """The index as the layout has it, which knows no more than two."""
    if len(of.extents) <= 2 or not isinstance(index, ast.Tuple):
        return index
    parts = index.elts
    first = parts[0]
    for part, extent in zip(parts[1:-1], of.extents[1:-1], strict=False):
        first = operation_of("folded", first, part, ast.Constant(extent))
    return at(ast.Tuple([first, parts[-1]], ast.Load()), index)


def operation_of(name: str, *given: ast.expr) -> ast.expr:
    """A call of an operation: see `model.own.lowering`."""
    return ast.Call(ast.Name(f"__{name}__", ast.Load()), list(given), [])


def as_read(name: ast.expr) -> ast.expr:
    """Return a written expression as one to read."""
    read = copy.deepcopy(name)
    for each in ast.walk(read):
        if hasattr(each, "ctx"):
            each.ctx = ast.Load()
    return read


def flat(statements: Sequence[ast.stmt | list[ast.stmt]]) -> list[ast.stmt]:
    """Flatten statements, where one may have become several."""
    found: list[ast.stmt] = []
    for each in statements:
        found += each if isinstance(each, list) else [each]
    return found
