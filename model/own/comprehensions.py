"""Lowering of comprehensions to loops, and of loops over a sort or a constant table to ranges.

That is what they mean; and what only has loops over ranges, conditions and calls can be compiled.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.model.own.constants import Table, entries, fixed_value, is_table, map_table, table_of
from waterline.model.own.syntax import at, is_plain, stored_names, variables_of

FOLDS = ("all", "any", "sum", "max", "min")
"""Functions that may take a comprehension."""
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp)
_WAYS: Mapping[str, Callable[[Any], Any]] = {
    "items": lambda each: each.items() if isinstance(each, dict) else (),
    "keys": lambda each: each.keys() if isinstance(each, dict) else (),
    "values": lambda each: each.values() if isinstance(each, dict) else (),
}


@dataclass(slots=True)
class Members(ast.NodeTransformer):
    """Writes ranges where a loop or a comprehension goes over a sort, or over a constant table.

    The members of a sort are the numbers from 0; `plurals` are what sorts are called in a state.
    `names` are those of the file: the lengths of rows, and what else a loop goes over, are tables
    too, and are added to them.
    """

    plurals: Container[str]
    names: dict[str, Any]
    _own: set[str] = field(default_factory=set)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The variables of a function hide names of the file."""
        self._own = variables_of(node)
        _Apart(self._own, self._is_range).visit(node)
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        """`for n in s.nodes:`, `for a, b in PAIRS:`"""
        node.iter = self._range_of(node.iter)
        self.generic_visit(node)
        if (table := self._gone_through(node.iter)) is None:
            return node
        # What a loop goes over is looked at once.
        rows, before = list[ast.expr](), list[ast.stmt]()
        for index in table.indices:
            row = index
            if not isinstance(index, ast.Constant):
                row = ast.Name(self._fresh("row"), ast.Load())
                before.append(ast.Assign([ast.Name(row.id, ast.Store())], index))
            rows.append(row)
        table = Table(table.name, table.value, tuple(rows))
        place = self._fresh(f"place_in_{_slug(table.name)}")
        element = at(self._element(table, ast.Name(place, ast.Load())), node)
        if isinstance(node.target, ast.Name) and self._table(element) is not None:
            # A row is read where it is needed.
            written = Replaced({node.target.id: element})
            node.body = [self.visit(written.visit(each)) for each in node.body]
        else:
            bind = at(ast.Assign([node.target], element), node)
            node.body = [self.visit(bind), *node.body]
        node.target, node.iter = ast.Name(place, ast.Store()), self._range(table)
        return [ast.fix_missing_locations(at(each, node)) for each in (*before, node)]

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """`any(s.up[a] for a, b in PAIRS)`"""
        self.generic_visit(node)
        for number, turn in enumerate(node.generators):
            if (table := self._gone_through(turn.iter)) is None:
                continue
            place = self._fresh(f"place_in_{_slug(table.name)}")
            element = self._element(table, ast.Name(place, ast.Load()))
            written = Replaced(dict(_bound(turn.target, element)))
            turn.target, turn.iter = ast.Name(place, ast.Store()), self._range(table)
            node.elt = written.visit(node.elt)
            turn.ifs = [written.visit(each) for each in turn.ifs]
            for later in node.generators[number + 1 :]:
                written.visit(later)
        for each in (node.elt, *node.generators):
            ast.fix_missing_locations(at(each, node))
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """`sum([COST[n] for n in PATH])`"""
        made = ast.copy_location(ast.GeneratorExp(node.elt, node.generators), node)
        done = self.visit_GeneratorExp(made)
        assert isinstance(done, ast.GeneratorExp)
        node.elt, node.generators = done.elt, done.generators
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """`any(s.up[n] for n in s.nodes)`"""
        node.iter = self._range_of(node.iter)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`a, b = PAIRS[i]`"""
        self.generic_visit(node)
        match node.targets:
            case [ast.Tuple(elts=targets)] if (table := self._table(node.value)) is not None:
                parts = [self._element(table, ast.Constant(n)) for n in range(len(targets))]
                node.value = ast.fix_missing_locations(at(ast.Tuple(parts, ast.Load()), node))
                return self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`len(NEXT)`, `max(COST[n])`"""
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[of], keywords=[]):
                if (table := self._table(of)) is not None:
                    return ast.copy_location(self._length(table), node)
            case ast.Call(func=ast.Name(id=name), args=[over]) if name in FOLDS:
                if self._gone_through(over) is not None:
                    each = ast.Name("element", ast.Load())
                    turn = ast.comprehension(ast.Name("element", ast.Store()), over, [], 0)
                    node.args = [at(ast.GeneratorExp(each, [turn]), node)]
                    return self.visit(node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`n in NEIGHBOURS[node]`, `s.state[n] in COST`"""
        self.generic_visit(node)
        match node:
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[over]):
                of_parts = isinstance(left, ast.Tuple)
                table = self._gone_through(over) if of_parts else self._table(over)
                if table is None or not is_plain(left):
                    return node
                if not table.indices and not of_parts:
                    keys = [key for key, _ in entries(table.value)]
                    among = keys if isinstance(table.value, dict) else [*table.value]
                    if all(type(each) in (int, bool, str, type(None)) for each in among):
                        items = [ast.Constant(each) for each in among]
                        node.comparators = [at(ast.Tuple([*items], ast.Load()), over)]
                        return ast.fix_missing_locations(node)
                same = _same(left, ast.Name("element", ast.Load()))
                turn = ast.comprehension(ast.Name("element", ast.Store()), over, [], 0)
                asked = ast.Call(ast.Name("any", ast.Load()), [ast.GeneratorExp(same, [turn])], [])
                found = self.visit(at(asked, node))
                if isinstance(op, ast.NotIn):
                    found = ast.UnaryOp(ast.Not(), found)
                return ast.copy_location(found, node)
        return node

    # --- tables ----------------------------------------------------------------------------------

    def _table(self, node: ast.expr) -> Table | None:
        """Return the table or the container that an expression names; None for anything else."""
        owner = node
        while isinstance(owner, ast.Subscript | ast.Attribute):
            owner = owner.value
        if isinstance(owner, ast.Name) and owner.id in self._own:
            return None
        found = table_of(node, self.names)
        if found is None or not all(map(is_table, found.leaves(self.names))):
            return None
        if isinstance(owner, ast.Tuple | ast.List):
            written = self._derive("values", Table(f"line_{node.lineno}", found.value), tuple)
            return Table(written.name, written.value, found.indices)
        return found

    def _gone_through(self, over: ast.expr) -> Table | None:
        """The table whose elements a loop goes through: of a dictionary those are its keys."""
        match over:
            case ast.Call(func=ast.Attribute(value=of, attr=way), args=[], keywords=[]) if (
                way in _WAYS and (table := self._table(of)) is not None
            ):
                return self._derive(way, table, lambda each: tuple(_WAYS[way](each)))
            case ast.Call(func=ast.Name(id="enumerate"), args=[of], keywords=[]):
                if (table := self._table(of)) is not None:
                    return self._derive("places", table, lambda each: tuple(enumerate(each)))
            case ast.Tuple() | ast.List() if fixed := fixed_value(over, self.names):
                return self._derive("values", Table(f"line_{over.lineno}", fixed[0]), tuple)
        table = self._table(over)
        if table is None or not any(isinstance(e, dict) for e in table.leaves(self.names)):
            return table
        return self._derive("keys", table, tuple)

    def _derive(self, word: str, of: Table, made: Callable[[Any], Any]) -> Table:
        """A table with something else in the place of what it has behind these indices."""
        name = f"{word}_of_{_slug(of.name)}_{len(of.indices)}"
        value = map_table(of.value, len(of.indices), made)
        while name in self._own or self.names.get(name, value) != value:
            name += "_"
        self.names[name] = value
        return Table(name, value, of.indices)

    def _length(self, table: Table) -> ast.expr:
        if not table.indices:
            return ast.Constant(len(table.value))
        lengths = self._derive("length", table, len)
        return _index(lengths.name, lengths.indices)

    def _element(self, table: Table, place: ast.expr) -> ast.expr:
        leaves = table.leaves(self.names)
        if not any(map(len, leaves)):
            return ast.Constant(0)  # of a loop that has no turn
        return _index(table.name, (*table.indices, place))

    def _range(self, table: Table) -> ast.expr:
        return ast.Call(ast.Name("range", ast.Load()), [self._length(table)], [])

    def _fresh(self, name: str) -> str:
        while name in self._own or name in self.names:
            name += "_"
        self._own.add(name)
        return name

    # --- sorts -----------------------------------------------------------------------------------

    def _is_range(self, over: ast.expr) -> bool:
        match over:
            case ast.Attribute(value=ast.Name(), attr=attribute):
                return attribute in self.plurals
            case ast.Call(func=ast.Name(id="range")):
                return True
        return False

    def _range_of(self, over: ast.expr) -> ast.expr:
        if isinstance(over, ast.Attribute) and self._is_range(over):
            counted = ast.Call(ast.Name("range", ast.Load()), [over], [])
            return ast.fix_missing_locations(ast.copy_location(counted, over))
        return over


@dataclass(slots=True)
class Unfolding(ast.NodeTransformer):
    """Replaces them by calls of the functions that it leaves in `loops`, by name.

    `taken` are names that these must not have.
    """

    taken: Container[str]
    loops: dict[str, ast.FunctionDef] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """The variables of a function are those that a loop in it may be given."""
        self._known = variables_of(node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`all(s.done[rm] for rm in range(s.rms))`"""
        match node:
            case ast.Call(
                func=ast.Name(id=kind),
                args=[ast.GeneratorExp() | ast.ListComp() as comprehension],
                keywords=keywords,
            ) if kind in FOLDS:
                default = None
                if kind in ("max", "min") and [each.arg for each in keywords] == ["default"]:
                    default = self.visit(keywords[0].value)
                elif keywords:
                    return self.generic_visit(node)
                # Inner ones first: to the loop around them they are calls.
                self.generic_visit(comprehension)
                return self._unfold(kind, node, comprehension, default)
        return self.generic_visit(node)

    def _unfold(
        self,
        kind: str,
        node: ast.Call,
        comprehension: ast.GeneratorExp | ast.ListComp,
        default: ast.expr | None,
    ) -> ast.AST:
        own = stored_names(comprehension)
        read = sorted(
            {
                each.id
                for each in ast.walk(comprehension)
                if isinstance(each, ast.Name) and each.id in self._known and each.id not in own
            }
        )
        name = f"{kind}_of_line_{node.lineno}"
        while name in self.taken or name in self.loops:
            name += "_"
        # What is given in place of nothing is looked at first, as Python does.
        taken = [*read, *([_DEFAULT] if default is not None else [])]
        plain = ast.arguments([], [ast.arg(each) for each in taken], None, [], [], None, [])
        body = _loop(kind, comprehension, default is not None)
        loop = ast.FunctionDef(name, plain, body, [], None)
        self.loops[name] = ast.copy_location(loop, node)
        given: list[ast.expr] = [ast.Name(each, ast.Load()) for each in read]
        given += [] if default is None else [default]
        call = ast.Call(ast.Name(name, ast.Load()), given, [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


_DEFAULT = "default_given"


def _loop(
    kind: str, comprehension: ast.GeneratorExp | ast.ListComp, has_default: bool
) -> list[ast.stmt]:
    element = copy.deepcopy(comprehension.elt)
    before, inner, after = _parts_of(kind, has_default)
    for node in ast.walk(ast.Module([*before, *inner, *after], [])):
        if isinstance(node, ast.stmt | ast.expr):
            ast.copy_location(node, comprehension)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.Name) and value.id == "ELEMENT":
                setattr(node, name, element)
    turns = in_loops(comprehension, inner)
    return [*before, turns, *after]


def _parts_of(kind: str, has_default: bool) -> Sequence[list[ast.stmt]]:
    """Return the statements before the loop, in it and after it."""
    otherwise = _DEFAULT if has_default else "1 // found"
    sign = ">" if kind == "max" else "<"
    texts = {
        "all": ("", "if not ELEMENT:\n    return False", "return True"),
        "any": ("", "if ELEMENT:\n    return True", "return False"),
        "sum": ("sum_so_far = 0", "sum_so_far += ELEMENT", "return sum_so_far"),
    }
    better = f"if found == 0 or each_one {sign} best:\n    best = each_one"
    extreme = (
        f"'there is nothing to take the {kind} of; guard the step, or write default=...'\n"
        "best = 0\nfound = 0",
        f"each_one = ELEMENT\n{better}\nfound = 1",
        f"if found == 0:\n    return {otherwise}\nreturn best",
    )
    return [ast.parse(text).body for text in texts.get(kind, extreme)]


def in_loops(comprehension: ast.GeneratorExp | ast.ListComp, inner: Sequence[ast.stmt]) -> ast.stmt:
    """Statements in the loops and conditions of a comprehension."""
    body = list(inner)
    for turn in reversed(comprehension.generators):
        for condition in reversed(turn.ifs):
            body = [ast.If(copy.deepcopy(condition), body, [])]
        body = [ast.For(copy.deepcopy(turn.target), copy.deepcopy(turn.iter), body, [], None)]
    return at(body[0], comprehension)


@dataclass(slots=True)
class Replaced(ast.NodeTransformer):
    """Writes an expression for a variable."""

    by: Mapping[str, ast.expr]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """`n`"""
        if node.id in self.by and isinstance(node.ctx, ast.Load):
            return copy.deepcopy(self.by[node.id])
        return node


@dataclass(slots=True)
class _Apart(ast.NodeTransformer):
    """Gives variables of comprehensions names of their own where one stands for several things.

    `is_range` says of what a loop goes over that it is numbers.
    """

    own: set[str]
    is_range: Callable[[ast.expr], bool]
    _over: dict[str, str] = field(default_factory=dict)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Variables of the function itself keep their names."""
        for each in ast.walk(node):
            match each:
                case ast.For(target=target, iter=over):
                    self._over |= dict.fromkeys(stored_names(target), self._what(over))
                case ast.Assign(targets=targets):
                    for target in targets:
                        self._over |= dict.fromkeys(stored_names(target), "a value")
        return self.generic_visit(node)

    def _what(self, over: ast.expr) -> str:
        return "a range" if self.is_range(over) else ast.unparse(over)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """`any(m.term > 0 for m in s.wire)`, where `m` is a number elsewhere."""
        ast.NodeTransformer.generic_visit(self, node)
        if not isinstance(node, _COMPREHENSIONS):
            return node
        for number, turn in enumerate(node.generators):
            for name in stored_names(turn.target):
                over = self._what(turn.iter)
                if self._over.setdefault(name, over) == over:
                    continue
                other = f"{name}_"
                while other in self.own:
                    other += "_"
                self.own.add(other)
                self._over[other] = over
                for part in (node.elt, turn.target, *turn.ifs, *node.generators[number + 1 :]):
                    _rename(part, name, other)
        return node


def _rename(node: ast.AST, name: str, other: str) -> None:
    """Another name for a variable, but in comprehensions that have one of that name themselves."""
    if isinstance(node, ast.Name) and node.id == name:
        node.id = other
    if isinstance(node, _COMPREHENSIONS) and name in stored_names(node):
        _rename(node.generators[0].iter, name, other)
        return
    for each in ast.iter_child_nodes(node):
        _rename(each, name, other)


def _bound(target: ast.expr, element: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Yield each variable of a loop with the expression that it stands for."""
    match target:
        case ast.Name(id=name):
            yield name, element
        case ast.Tuple(elts=targets):
            for number, each in enumerate(targets):
                yield from _bound(each, ast.Subscript(element, ast.Constant(number), ast.Load()))


def _same(left: ast.expr, right: ast.expr) -> ast.expr:
    """Return the comparison of two expressions for equality; of a written tuple, part by part."""
    if not isinstance(left, ast.Tuple):
        return ast.Compare(left, [ast.Eq()], [right])
    parts = (ast.Subscript(right, ast.Constant(n), ast.Load()) for n in range(len(left.elts)))
    asked = [_same(*pair) for pair in zip(left.elts, parts, strict=True)]
    return ast.BoolOp(ast.And(), asked) if len(asked) > 1 else asked[0]


def _index(name: str, indices: Sequence[ast.expr]) -> ast.expr:
    made: ast.expr = ast.Name(name, ast.Load())
    for index in indices:
        made = ast.Subscript(made, copy.deepcopy(index), ast.Load())
    return made


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)
