"""Lowering of sets, queues and logs: to numbers with a bit for each member, to rows of places.

A rule comes here with its words numbered. What it does with a set becomes an operation on a number
(`model.own.operations`), what it does with a queue or a log a call of a function that is written
for that field (`model.own.sequences`), and an element of a field with more than two indices gets
the index that the layout has. Nothing else is changed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from model.own.fields import MEMBERS_MAX, AnyField, Log, Queue, Sequenced, Set
from model.own.kinds import SET, Kind, Refuse, element_of, is_made_set, truths
from model.own.operations import trees
from model.own.sequences import Functions, copied, equal

ADDS = {Queue: "send", Log: "append"}
"""What adds a value to a sequence."""
METHODS = {
    Queue: ("send", "receive", "clear"),
    Log: ("append", "truncate", "clear"),
    Set: ("add", "discard", "clear"),
}
_Node = TypeVar("_Node", bound=ast.AST)
_WRITES = {"send", "receive", "append", "truncate", "clear"}


def changed_by(node: ast.AST, fields: Mapping[str, AnyField]) -> AnyField | None:
    """The set or sequence that a call changes: `s.wire[a, b].receive()`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            held = element_of(owner, fields)
            if isinstance(held, Set | Sequenced) and method in METHODS[type(held)]:
                return held
    return None


@dataclass(frozen=True, slots=True)
class NamedSequence:
    """A queue or a log as a rule names it, `s.wire[a, b]`, or its beginning alone, `[:end]`."""

    field: Sequenced
    state: ast.expr
    indices: tuple[ast.expr, ...]
    end: ast.expr | None = None


@dataclass(slots=True)
class Lowering(ast.NodeTransformer):
    """Rewrites one function.

    `kind` says what an expression of it is. `room` gives the number of the limit that a full
    sequence stands for, where the function tries a step out; else None. `made` has the functions
    that the rewritten one calls, by name.
    """

    kind: Callable[[ast.expr], Kind]
    refuse: Refuse
    room: Callable[[Sequenced], int] | None = None
    made: dict[str, ast.FunctionDef] = field(default_factory=dict)
    _asked: set[int] = field(default_factory=set)
    _variables: int = 0

    def lowered(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The function without sets and sequences."""
        self._asked = {id(truth) for truth in truths(tree)}
        made = self.visit(tree)
        assert isinstance(made, ast.FunctionDef)
        known = trees()
        for function in (made, *tuple(self.made.values())):
            for node in ast.walk(ast.fix_missing_locations(function)):
                match node:
                    case ast.Call(func=ast.Name(id=name) as called) if name in known:
                        called.id = f"{name[:-2]}_line_{node.lineno}__"
                        operation = copy.deepcopy(known[name])
                        operation.name = called.id
                        self._keep(operation, node)
        return made

    # --- statements ------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """`s.wire[a, b].send(x)`, `s.votes[a].add(b)`"""
        match node.value:
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=given, keywords=[]):
                if (sequence := self._sequence(owner)) is not None:
                    return self._changed(node, sequence, method, given)
                if isinstance(kind := self.kind(owner), Set) and _is_element(owner):
                    return self._changed_set(node, kind, owner, method, given)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`s.log[a][i] = x`, `s.log[a] = s.log[b][:n]`"""
        if len(node.targets) == 1:
            (target,) = node.targets
            if (sequence := self._sequence(target)) is not None:
                return self._assigned(node, sequence, node.value)
            if isinstance(target, ast.Subscript):
                sequence = self._sequence(target.value)
                if sequence is not None and not isinstance(target.slice, ast.Slice):
                    value = self.visit(node.value)
                    given = [*self._reads(sequence), self.visit(target.slice), value]
                    call = self._call("put", sequence.field, node, given)
                    return _at(ast.Expr(call), node)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`s.votes[a] -= {b}`"""
        if isinstance(node.target, ast.Subscript) and self._sequence(node.target.value) is not None:
            shown = ast.unparse(node.target)
            raise self.refuse(node, f"{shown} is changed in its place", f"write {shown} = ...")
        if isinstance(self.kind(node.target), Set) or self._is_set(node.value):
            if not isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
                raise self._no_operation(node, node.target)
            self._require_set(node.value)
            self._require_set(node.target)
            node.target, value = self.visit(node.target), self.visit(node.value)
            if isinstance(node.op, ast.Sub):
                node.op, value = ast.BitAnd(), ast.UnaryOp(ast.Invert(), value)
            node.value = value
            return node
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        """`for n in s.votes[a]:`, `for m in s.wire[a, b]:`"""
        if (sequence := self._sequence(node.iter)) is not None:
            self._require_unchanged(node, sequence)
            number = self._variable(node)
            counted = self._range(node, self._length(sequence, node))
            first = ast.Assign([node.target], self._element(sequence, number))
            body = [_at(first, node), *map(self._visited, node.body)]
            return _at(ast.For(number, counted, _flat(body), self._all(node.orelse), None), node)
        if self._is_set(node.iter):
            members = self._variable(node)
            most = self._members_max(node.iter)
            before = _at(ast.Assign([members], self.visit(node.iter)), node)
            inside = _operation("has_member", _load(members), _load(node.target))
            member = _at(ast.If(inside, self._all(node.body), []), node)
            counted = self._range(node, ast.Constant(most))
            orelse = self._all(node.orelse)
            return [before, _at(ast.For(node.target, counted, [member], orelse, None), node)]
        return self.generic_visit(node)

    def _changed(
        self, node: ast.Expr, sequence: NamedSequence, method: str, given: Sequence[ast.expr]
    ) -> ast.AST | list[ast.stmt]:
        kind, takes = sequence.field, 0 if method in ("receive", "clear") else 1
        self._require_method(node, kind, method)
        if len(given) != takes or sequence.end is not None:
            what = f"`{ast.unparse(node)}` is given {len(given)} arguments"
            raise self.refuse(node, what, f"write {method}({'...' if takes else ''})")
        values = [self.visit(each) for each in given]
        reads = self._reads(sequence)
        if method == ADDS[type(kind)]:
            added = _at(ast.Expr(self._call("add", kind, node, [*reads, *values])), node)
            if self.room is None:
                return added
            is_full = ast.Compare(
                self._length(sequence, node), [ast.GtE()], [ast.Constant(kind.room)]
            )
            ends = ast.Return(ast.Constant(self.room(kind)))
            return [_at(ast.If(is_full, [_at(ends, node)], []), node), added]
        if method == "clear":
            return _at(
                ast.Expr(self._call("truncate", kind, node, [*reads, ast.Constant(0)])), node
            )
        return _at(ast.Expr(self._call(method, kind, node, [*reads, *values])), node)

    def _changed_set(
        self, node: ast.Expr, kind: Set, owner: ast.expr, method: str, given: Sequence[ast.expr]
    ) -> ast.stmt:
        self._require_method(node, kind, method)
        if any(isinstance(each, ast.Call) for each in ast.walk(owner)):
            what = f"`{ast.unparse(owner)}` calls a function"
            raise self.refuse(node, what, "keep what it returns in a variable, and index with that")
        target = self.visit(copy.deepcopy(owner))
        target.ctx = ast.Store()
        if method == "clear" and not given:
            return _at(ast.Assign([target], ast.Constant(0)), node)
        if method == "clear" or len(given) != 1:
            what = f"`{ast.unparse(node)}` is given {len(given)} arguments"
            raise self.refuse(node, what, f"write {method}({'' if method == 'clear' else '...'})")
        operation = "with_member" if method == "add" else "without_member"
        value = _operation(operation, self.visit(owner), self.visit(given[0]))
        return _at(ast.Assign([target], value), node)

    def _assigned(self, node: ast.Assign, target: NamedSequence, value: ast.expr) -> ast.stmt:
        """A sequence becomes the same as another one, or as the beginning of it."""
        source = self._sequence(value)
        if source is None or target.end is not None or not _alike(target.field, source.field):
            raise self.refuse(
                node,
                f"{target.field.name} is not given a sequence of the same values",
                f"write one, as s.{target.field.name}[...], or its beginning, [:n]",
            )
        name = f"__copy_{target.field.name}_{source.field.name}_line_{node.lineno}__"
        made = copied(target.field, source.field, name)
        given = [*self._reads(target), *self._reads(source), self._end(source)]
        called = self._called(made, node, given, target.field, source.field)
        return _at(ast.Expr(called), node)

    # --- expressions -----------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`len(...)`, `set()`, `s.wire[a, b].receive()`"""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[counted], keywords=[]):
                if (sequence := self._sequence(counted)) is not None:
                    if sequence.end is not None:
                        raise self.refuse(node, "the length of a beginning", "write min(...)")
                    return self._length(sequence, node)
                if self._is_set(counted):
                    number = ast.Attribute(self.visit(counted), "bit_count", ast.Load())
                    return _at(ast.Call(number, [], []), node)
            case ast.Call(func=ast.Name(id="set"), args=[], keywords=[]):
                return _at(ast.Constant(0), node)
            case ast.Call(
                func=ast.Name(id="set"),
                args=[ast.Attribute(value=ast.Name()) | ast.Call(func=ast.Name(id="range"))],
                keywords=[],
            ):
                return self._whole(node)
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=given, keywords=[]):
                if (sequence := self._sequence(owner)) is not None:
                    self._require_method(node, sequence.field, method)
                    if method != "receive" or given:
                        what = f"`{ast.unparse(node)}` has no value"
                        raise self.refuse(node, what, "write it on a line of its own")
                    return self._call("receive", sequence.field, node, self._reads(sequence))
                if isinstance(kind := self.kind(owner), Set):
                    self._require_method(node, kind, method)
                    what = f"`{ast.unparse(node)}` has no value"
                    raise self.refuse(node, what, "write it on a line of its own")
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`n in s.votes[a]`, `s.votes[a] <= s.up`, `s.log[a][:n] == s.log[b][:n]`"""
        operands = [node.left, *node.comparators]
        sequences = [self._sequence(operand) for operand in operands]
        if len(operands) > 2:
            if any(sequences) or any(map(self._is_set, operands)):
                raise self.refuse(
                    node, "a chain of comparisons of sets or sequences", "write them with `and`"
                )
            return self.generic_visit(node)
        left, right = operands
        (op,) = node.ops
        if isinstance(op, ast.In | ast.NotIn):
            return self._membership(node, left, right, sequences[1])
        if sequences[0] is not None and sequences[1] is not None:
            same = self._equal(node, sequences[0], sequences[1])
            return same if isinstance(op, ast.Eq) else _at(ast.UnaryOp(ast.Not(), same), node)
        if any(sequences):
            what = f"`{ast.unparse(node)}` compares a sequence with something else"
            raise self.refuse(node, what, "compare its len(...), or one of its values, as [0]")
        if self._is_set(left) or self._is_set(right):
            self._require_set(left)
            self._require_set(right)
            found = _ORDERS.get(type(op))
            if found is not None:
                operation, is_swapped = found
                pair = [self.visit(left), self.visit(right)]
                return _at(_operation(operation, *(pair[::-1] if is_swapped else pair)), node)
            if not isinstance(op, ast.Eq | ast.NotEq):
                raise self._no_operation(node, left)
            node.left, node.comparators = self.visit(left), [self.visit(right)]
            return node
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`s.votes[a] | {b}`"""
        if self._is_set(node.left) or self._is_set(node.right):
            if not isinstance(node.op, ast.BitOr | ast.BitAnd | ast.BitXor | ast.Sub):
                raise self._no_operation(node, node.left)
            self._require_set(node.left)
            self._require_set(node.right)
            if isinstance(node.op, ast.Sub):
                others = ast.UnaryOp(ast.Invert(), self.visit(node.right))
                return _at(ast.BinOp(self.visit(node.left), ast.BitAnd(), others), node)
        return self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> ast.AST:
        """`{a, b}`"""
        made: ast.expr = ast.Constant(0)
        for member in node.elts:
            made = _operation("with_member", made, self.visit(member))
        return _at(made, node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """`{n for n in s.nodes if s.up[n]}`"""
        match node:
            case ast.SetComp(
                elt=ast.Name(id=member), generators=[ast.comprehension(target=ast.Name(id=same))]
            ) if member == same:
                bit = ast.BinOp(ast.Constant(1), ast.LShift(), node.elt)
                each = ast.GeneratorExp(bit, node.generators)
                total = ast.Call(ast.Name("sum", ast.Load()), [_at(each, node)], [])
                return self.visit(_at(total, node))
        what = "a set is made of something else than what its loop counts"
        raise self.refuse(node, what, "write {n for n in s.nodes if ...}")

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """`any(s.up[n] for n in s.votes[a])`"""
        turns = []
        replaced: dict[str, ast.expr] = {}
        for turn in node.generators:
            if (sequence := self._sequence(turn.iter)) is not None:
                if not isinstance(turn.target, ast.Name):
                    raise self.refuse(turn.target, "a value is taken apart", "name it")
                number = self._variable(node)
                counted = self._range(node, self._length(sequence, node))
                replaced[turn.target.id] = self._element(sequence, number)
                turn = ast.comprehension(number, counted, turn.ifs, 0)  # noqa: PLW2901
            elif self._is_set(turn.iter):
                counted = self._range(node, ast.Constant(self._members_max(turn.iter)))
                inside = _operation("has_member", self.visit(turn.iter), _load(turn.target))
                conditions = [_at(inside, node), *map(self.visit, turn.ifs)]
                turns.append(ast.comprehension(turn.target, counted, conditions, 0))
                continue
            else:
                turn.iter = self.visit(turn.iter)
            turn.ifs = [self.visit(each) for each in turn.ifs]
            turns.append(turn)
        element = self.visit(node.elt)
        made = _at(ast.GeneratorExp(element, turns), node)
        return _Replaced(replaced).visit(made) if replaced else made

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """`sum([s.up[n] for n in s.votes[a]])`"""
        return self.visit_GeneratorExp(_at(ast.GeneratorExp(node.elt, node.generators), node))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`s.wire[a, b][0]`, `s.table[a, b, c]`"""
        if (sequence := self._sequence(node)) is not None:
            return self._bare(node, sequence)
        if (sequence := self._sequence(node.value)) is not None:
            number = self.visit(node.slice)
            return self._call("at", sequence.field, node, [*self._reads(sequence), number])
        kind = self.kind(node.value)
        node = self.generic_visit(node)  # type: ignore[assignment]
        if isinstance(kind, AnyField) and not isinstance(kind, Sequenced):
            node.slice = _folded(kind, node.slice)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`s.wire`, where that is one queue"""
        if (sequence := self._sequence(node)) is not None:
            return self._bare(node, sequence)
        return self.generic_visit(node)

    def _bare(self, node: ast.expr, sequence: NamedSequence) -> ast.expr:
        if id(node) in self._asked and sequence.end is None:
            some = ast.Compare(self._length(sequence, node), [ast.Gt()], [ast.Constant(0)])
            return _at(some, node)
        shown = ast.unparse(node)
        raise self.refuse(
            node,
            f"{shown} is a sequence, and stands where a value is wanted",
            f"write len({shown}), {shown}[0], or read it where it is needed",
        )

    def _membership(
        self, node: ast.Compare, left: ast.expr, right: ast.expr, sequence: NamedSequence | None
    ) -> ast.AST:
        if sequence is not None:
            if sequence.end is not None:
                what = f"`{ast.unparse(node)}` looks into the beginning of a sequence"
                raise self.refuse(node, what, "write any(...) over range(...)")
            given = [*self._reads(sequence), self.visit(left)]
            found: ast.expr = self._call("contains", sequence.field, node, given)
        elif self._is_set(right) and not isinstance(right, ast.Set):
            found = _operation("has_member", self.visit(right), self.visit(left))
        else:
            # One of some values that stand there is no set that is kept.
            node.left = self.visit(left)
            if isinstance(right, ast.Set | ast.Tuple | ast.List):
                right.elts = [self.visit(each) for each in right.elts]
            else:
                node.comparators = [self.visit(right)]
            return node
        is_in = isinstance(node.ops[0], ast.In)
        return _at(found if is_in else ast.UnaryOp(ast.Not(), found), node)

    def _equal(self, node: ast.Compare, left: NamedSequence, right: NamedSequence) -> ast.expr:
        if not isinstance(node.ops[0], ast.Eq | ast.NotEq) or not _alike(left.field, right.field):
            what = f"`{ast.unparse(node)}` compares sequences of other values"
            raise self.refuse(node, what, "compare one by one")
        name = f"__same_{left.field.name}_{right.field.name}_line_{node.lineno}__"
        made = equal(left.field, right.field, name)
        given = [*self._reads(left), self._end(left), *self._reads(right), self._end(right)]
        return self._called(made, node, given, left.field, right.field)

    def _whole(self, node: ast.Call) -> ast.AST:
        """The set of all names of a sort, or of the numbers from 0."""
        counted = node.args[0]
        if isinstance(counted, ast.Call):
            if len(counted.args) != 1:
                what = f"`{ast.unparse(node)}` does not begin with 0"
                raise self.refuse(node, what, "write {n for n in range(...)}")
            counted = counted.args[0]
        above = ast.BinOp(ast.Constant(1), ast.LShift(), self.visit(counted))
        return _at(ast.BinOp(above, ast.Sub(), ast.Constant(1)), node)

    # --- what an expression is -------------------------------------------------------------------

    def _is_set(self, node: ast.expr) -> bool:
        kind = self.kind(node)
        return isinstance(kind, Set) or kind == SET or is_made_set(node)

    def _require_set(self, node: ast.expr) -> None:
        """Refuse what is no set for sure, beside one."""
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
                if lower is not None or step is not None or end is None:
                    shown = ast.unparse(node)
                    raise self.refuse(node, f"{shown} is no beginning of a sequence", "write [:n]")
                return NamedSequence(found.field, found.state, found.indices, end)
            case ast.Attribute(value=ast.Name() as state):
                kind = self.kind(node)
                if isinstance(kind, Sequenced) and not kind.indices:
                    return NamedSequence(kind, state, ())
            case ast.Subscript(value=ast.Attribute(value=ast.Name() as state) as owner):
                kind = self.kind(owner)
                if isinstance(kind, Sequenced) and kind.indices:
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
            return ast.Constant(sequence.field.room)
        return self.visit(sequence.end)

    def _element(self, sequence: NamedSequence, number: ast.Name) -> ast.expr:
        """The value at a place that there is."""
        return self._call(
            "at", sequence.field, sequence.state, [*self._reads(sequence), _load(number)]
        )

    def _length(self, sequence: NamedSequence, node: ast.AST) -> ast.expr:
        return self._call("length", sequence.field, node, self._reads(sequence))

    # --- what is written -------------------------------------------------------------------------

    def _call(
        self, operation: str, of: Sequenced, node: ast.AST, given: list[ast.expr]
    ) -> ast.expr:
        name = f"__{operation}_{of.name}_line_{getattr(node, 'lineno', 1)}__"
        return self._called(Functions(of).function(operation, name), node, given, of)

    def _called(
        self, function: ast.FunctionDef, node: ast.AST, given: list[ast.expr], *of: Sequenced
    ) -> ast.expr:
        """A call of a function whose lines are those of the place that needs it."""
        _Folded({each.name: each for each in of}).visit(function)
        self._keep(function, node)
        return _at(ast.Call(ast.Name(function.name, ast.Load()), given, []), node)

    def _keep(self, function: ast.FunctionDef, node: ast.AST) -> None:
        """A function that the rule calls: its lines are those of the place that needs it."""
        for each in ast.walk(function):
            if isinstance(each, ast.stmt | ast.expr | ast.arg):
                ast.copy_location(each, node)
        function.returns = None
        for argument in function.args.args:
            argument.annotation = None
        if ast.get_docstring(function) is not None:
            del function.body[0]
        self.made.setdefault(function.name, function)

    def _variable(self, node: ast.AST) -> ast.Name:
        self._variables += 1
        return _at(ast.Name(f"place_{self._variables}", ast.Store()), node)

    def _range(self, node: ast.AST, count: ast.expr) -> ast.expr:
        return _at(ast.Call(ast.Name("range", ast.Load()), [count], []), node)

    def _visited(self, statement: ast.stmt) -> ast.stmt | list[ast.stmt]:
        return self.visit(statement)

    def _all(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return _flat([self._visited(each) for each in statements])

    # --- refusals --------------------------------------------------------------------------------

    def _require_method(self, node: ast.AST, of: Sequenced | Set, method: str) -> None:
        known = METHODS[type(of)]
        if method not in known:
            what = f"{of.name} is a {type(of).__name__}, which has no {method}"
            raise self.refuse(node, what, f"it has {', '.join(known)}")

    def _require_unchanged(self, node: ast.For, sequence: NamedSequence) -> None:
        for each in ast.walk(ast.Module(node.body, [])):
            match each:
                case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _WRITES:
                    found = self._sequence(owner)
                    if found is not None and found.field is sequence.field:
                        name = sequence.field.name
                        what = f"{name} changes while a loop goes through it"
                        raise self.refuse(each, what, "change it after the loop")

    def _no_operation(self, node: ast.AST, of: ast.expr) -> Exception:
        what = f"`{ast.unparse(of)}` is a set, which has no such operation"
        return self.refuse(node, what, "use |, &, -, ^, ==, <=, <, in or len(...)")


_ORDERS: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.LtE: ("is_subset", False),
    ast.Lt: ("is_proper_subset", False),
    ast.GtE: ("is_subset", True),
    ast.Gt: ("is_proper_subset", True),
}


@dataclass(slots=True)
class _Folded(ast.NodeTransformer):
    """Gives the places of sequences the index that the layout has."""

    fields: dict[str, Sequenced]

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        assert isinstance(node.value, ast.Attribute)
        node.slice = _folded(self.fields[node.value.attr], node.slice)
        return node


@dataclass(slots=True)
class _Replaced(ast.NodeTransformer):
    """Writes an expression for a variable."""

    by: dict[str, ast.expr]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.by and isinstance(node.ctx, ast.Load):
            return copy.deepcopy(self.by[node.id])
        return node


def _alike(left: Sequenced, right: Sequenced) -> bool:
    """Whether two sequences hold the same values."""
    one, other = left.element, right.element
    return type(one) is type(other) and (
        one.range == other.range and getattr(one, "values", ()) == getattr(other, "values", ())
    )


def _is_element(node: ast.expr) -> bool:
    """Whether an expression is written to as it stands: an element of a field, or a whole one."""
    return isinstance(node, ast.Attribute | ast.Subscript)


def _folded(of: AnyField, index: ast.expr) -> ast.expr:
    """The index as the layout has it, which knows no more than two."""
    if len(of.extents) <= 2 or not isinstance(index, ast.Tuple):
        return index
    parts = index.elts
    first = parts[0]
    for part, extent in zip(parts[1:-1], of.extents[1:-1], strict=False):
        first = _operation("folded", first, part, ast.Constant(extent))
    return _at(ast.Tuple([first, parts[-1]], ast.Load()), index)


def _operation(name: str, *given: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(f"__{name}__", ast.Load()), list(given), [])


def _load(name: ast.expr) -> ast.expr:
    loaded = copy.deepcopy(name)
    for each in ast.walk(loaded):
        if hasattr(each, "ctx"):
            each.ctx = ast.Load()
    return loaded


def _flat(statements: Sequence[ast.stmt | list[ast.stmt]]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for each in statements:
        found += each if isinstance(each, list) else [each]
    return found


def _at(node: _Node, like: ast.AST) -> _Node:
    """The node, and all in it that has no line yet, on the line of this."""
    for each in ast.walk(node):
        if isinstance(each, ast.stmt | ast.expr) and not hasattr(each, "lineno"):
            ast.copy_location(each, like)
    return node
