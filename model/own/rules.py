"""Reads rules from a user's file as functions to interpret and compile.

An action is one function: what stands before its last `when` or `within` only looks and becomes the
guard and the limit, and the whole of it without these becomes the effect. Beside that nothing is
changed but what has no number: a choice's text and None become the numbers that fields keep, and
`all`, `any` and `sum` of a comprehension become loops. Lines stay those of the file.
"""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from model.core.made import function_of
from model.core.nearest import did_you_mean_or
from model.own.comprehensions import Members, Unfolding
from model.own.fields import AnyField, BadProtocol, Choice, Number, Sequenced, Set
from model.own.kinds import SET, Kind, Kinds, Refuse, element_of
from model.own.limits import limited
from model.own.lowering import ADDS, Lowering, changed_by
from model.own.mistakes import Mistakes, is_true
from model.own.values import Numbering
from model.own.witness import witness_of

SETTINGS = "_settings"
"""The argument for a model's settings, of which a protocol of one's own has none."""
_ASKS = {"when", "within"}
_TRY, _BEYOND = "__try_", "__beyond__"
"""How the name of a function begins that tries out what another one does, and what keeps the limit
that it goes beyond.
"""
_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """An action as the checker calls it; see `model.core.transition_system.Action`."""

    guard: Callable[..., bool]
    effect: Callable[..., None]
    limit: Callable[..., int] | None
    limit_writes: bool
    description: str


@dataclass(frozen=True, slots=True)
class Predicate:
    """A function of a state, and of `arguments` that name something; `tree` is where it stands.

    `called` is what other functions of the file call it by, given the settings after the state.
    """

    name: str
    sentence: str
    arguments: tuple[str, ...]
    tree: ast.FunctionDef
    called: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The functions of one file, read for these fields within these bounds.

    `names` are those of the file, in which functions are replaced by the ones made of them.
    """

    file: str
    trees: Mapping[str, ast.FunctionDef]
    fields: Mapping[str, AnyField]
    bounds: Mapping[str, int]
    known: Sequence[str]
    names: dict[str, Any]
    _made: set[str] = field(default_factory=set)
    _given: dict[str, dict[str, Kind]] = field(default_factory=dict)
    _file_names: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(
        file: str,
        text: str,
        names: Mapping[str, Any],
        fields: Sequence[AnyField],
        bounds: Mapping[str, int],
        sizes: Sequence[str],
        plurals: Sequence[str],
    ) -> Rules:
        """Those of a file with this text, which has run and has left these names.

        `sizes` are what can be read of a state beside its fields, `plurals` the sorts among them.
        """
        parsed = Members(plurals).visit(ast.parse(text))
        trees = {n.name: n for n in parsed.body if isinstance(n, ast.FunctionDef)}
        by_name = {declared.name: declared for declared in fields}
        known = (*by_name, *sizes)
        return Rules(file, trees, by_name, bounds, known, dict(names))

    # --- what is made ----------------------------------------------------------------------------

    def arguments(self, function: Any) -> list[str]:
        """What an action takes after the state. Raises `BadProtocol`."""
        tree = self._tree(function, "an action")
        arguments = [argument.arg for argument in tree.args.args]
        if not arguments:
            raise self.refuse(
                tree, f"{tree.name} takes no state", "its first argument is the state"
            )
        return arguments[1:]

    def action(self, function: Any, over: Mapping[str, AnyField]) -> Rule:
        """An action's guard, effect and limit. Raises `BadProtocol`.

        `over` are fields that hold what its arguments are, of those that are no names.
        """
        self.arguments(function)
        tree = self._tree(function, "an action")
        self._given[tree.name] = dict(over)
        self._mistakes.require_action(tree)
        body = _without_docstring(tree)
        asks = [i for i, statement in enumerate(body) if _asked(statement) is not None]
        first = asks[-1] + 1 if asks else 0
        for statement in body:
            self._require_asks_at_the_top(tree, statement)
        for statement in body[:first]:
            self._require_looks_only(tree, statement)
        begins = list(_counted_from(tree, over))
        effect = [_silent(s) for s in body if _asked(s) is None] or [_at(ast.Pass(), tree)]
        tries = self._sends(tree)
        limit = None
        if tries or any(_asked(statement) == "within" for statement in body):
            asked = [*begins, *self._limit(tree, body[:first])]
            rest = [*_tried(body[first:]), _at(ast.Return(ast.Constant(0)), body[-1])]
            limit = self._function(tree, [*asked[:-1], *rest] if tries else asked, tries=tries)
        return Rule(
            guard=self._function(tree, [*begins, *self._guard(body[:first])]),
            effect=self._function(tree, [*begins, *effect]),
            limit=limit,
            limit_writes=tries,
            description=_first_sentence(tree),
        )

    def claim(
        self, function: Any, takes: Sequence[int], *, states: int | None = None
    ) -> tuple[str, str, int, Any]:
        """Name, sentence, how many arguments it is given, and the function with settings too.

        `takes` are how many it may have. All of them are states, unless it is said how many are:
        the settings come after these. Raises `BadProtocol`.
        """
        tree = self._tree(function, "a claim")
        given = len(tree.args.args)
        if given not in takes:
            described = " or ".join("a state" if n == 1 else "a state and the next" for n in takes)
            raise self.refuse(
                tree, f"{tree.name} takes {given} arguments", f"let it take {described}"
            )
        body = _without_docstring(tree)
        returns = [n for n in ast.walk(tree) if isinstance(n, ast.Return)]
        if not returns or any(_returns_nothing(node) for node in returns):
            raise self.refuse(tree, f"claim {tree.name} returns nothing", "return True or False")
        self._mistakes.require_claim(tree)
        self._kinds(tree).require_claim(tree)
        made = self._function(tree, body, given if states is None else states)
        return tree.name, _first_sentence(tree) or tree.name, given, made

    def witness(self, function: Any) -> tuple[tuple[tuple[str, str], ...], Any] | None:
        """The variables of a claim with a comprehension, and what finds those that make it False.

        That is given a state or two and the settings, like the claim; see `witness_of`.
        """
        tree = self._tree(function, "a claim")
        found = witness_of(_without_docstring(tree))
        if found is None:
            return None
        return found.variables, self._function(tree, found.body, len(tree.args.args))

    def happens(self, function: Any) -> tuple[str, str, Any, Any | None]:
        """Name, sentence, and what is asked of a step: a state is reached by a step that leads to
        it. Then, of a function of a state, what is asked of initial states, which none leads to.
        """
        name, described, given, made = self.claim(function, (1, 2))
        if given == 2:
            return name, described, made, None
        now = self._entered(f"{name}_now", made)
        text = f"return {now}(after, {SETTINGS})"
        step = ["before", "after", SETTINGS]
        return name, described, self._compiled(self.trees[name], step, ast.parse(text).body), made

    def predicate(self, function: Any) -> Predicate:
        """A function of a state and of names, as claims about what follows have. Raises
        `BadProtocol`.
        """
        tree = self._tree(function, "a claim")
        arguments = [argument.arg for argument in tree.args.args]
        if not arguments:
            raise self.refuse(
                tree, f"{tree.name} takes no state", "its first argument is the state"
            )
        name, described, _, made = self.claim(function, (len(arguments),), states=1)
        return Predicate(
            name, described, tuple(arguments[1:]), tree, self._entered(f"{name}_of", made)
        )

    def bound(self, predicate: Predicate, values: Mapping[str, int]) -> Any:
        """The predicate of these names, as a function of a state and the settings."""
        given = "".join(f", {values[name]}" for name in predicate.arguments)
        text = f"return {predicate.called}(state, {SETTINGS}{given})"
        return self._compiled(predicate.tree, ["state", SETTINGS], ast.parse(text).body)

    def _entered(self, name: str, made: Any) -> str:
        """Under which name, like this one, what was made can be called."""
        while name in self.names:
            name += "_"
        self.names[name] = made
        return name

    def refuse(self, node: ast.AST | None, what: str, instead: str) -> BadProtocol:
        """The error for a place in the file."""
        return BadProtocol(f"{self.file}:{getattr(node, 'lineno', 1)}: {what}; {instead}")

    # --- how -------------------------------------------------------------------------------------

    def _tree(self, function: Any, what: str, at: ast.AST | None = None) -> ast.FunctionDef:
        name = getattr(function, "__name__", repr(function))
        tree = self.trees.get(name)
        code = getattr(function, "__code__", None)
        if tree is None or code is None or code.co_filename != self.file:
            place = self.file if at is None else f"{self.file}:{getattr(at, 'lineno', 1)}"
            raise BadProtocol(
                f"{place}: {name} is {what} and no function of this file; "
                "write it there, at the top level, with def"
            )
        self._mistakes.require_rule(tree)
        plain = tree.args
        if (
            tree.decorator_list
            or plain.posonlyargs
            or plain.kwonlyargs
            or plain.vararg
            or plain.kwarg
            or plain.defaults
        ):
            raise self.refuse(
                tree, f"{name} has a decorator, a default or a *", "use plain arguments"
            )
        return tree

    def _require_asks_at_the_top(self, tree: ast.FunctionDef, statement: ast.stmt) -> None:
        asked = _asked(statement)
        calls = [
            node
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and _name_asked(node) is not None
        ]
        if len(calls) > (asked is not None):
            raise self.refuse(
                calls[-1],
                f"{tree.name} has a `{_name_asked(calls[-1])}` within another statement",
                "put it at the top level of the action, on a line of its own",
            )
        if asked is not None:
            (call,) = calls
            if len(call.args) != 1 or call.keywords:
                raise self.refuse(call, f"`{asked}` takes one condition", f"write {asked}(...)")

    def _require_looks_only(self, tree: ast.FunctionDef, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                written = node.attr
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                written = ast.unparse(node.value).rpartition(".")[2]
            elif (held := changed_by(node, self.fields)) is not None:
                written = held.name
            elif isinstance(node, ast.Return):
                raise self.refuse(
                    node, f"{tree.name} returns before its last `when`", "make it a condition"
                )
            else:
                continue
            raise self.refuse(
                node,
                f"the guard of {tree.name} writes {written}: it stands before a `when`",
                "ask first, then write",
            )

    def _guard(self, looking: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Its statements: `when(x)` ends it with False unless x."""
        body = [
            _unless(statement, ast.Constant(False)) if _asked(statement) == "when" else statement
            for statement in looking
            if _asked(statement) != "within"
        ]
        end = looking[-1] if looking else None
        return [*body, _at(ast.Return(ast.Constant(True)), end)]

    def _limit(self, tree: ast.FunctionDef, looking: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Its statements: `within(x)` ends it with the number of a bound unless x."""
        body = []
        for statement in looking:
            asked = _asked(statement)
            if asked is None:
                body.append(statement)
            elif asked == "when":
                body.append(_unless(statement, ast.Constant(0)))
            else:
                number = 1 + list(self.bounds).index(self._bound_of(tree, statement))
                body.append(_unless(statement, ast.Constant(number)))
        end = looking[-1] if looking else tree
        return [*body, _at(ast.Return(ast.Constant(0)), end)]

    def _room_of(self, field: Sequenced) -> int:
        """The number of the limit that a full sequence stands for."""
        held = [name for name, each in self.fields.items() if isinstance(each, Sequenced)]
        return 1 + len(self.bounds) + held.index(field.name)

    def _sends(self, tree: ast.FunctionDef, known: frozenset[str] = frozenset()) -> bool:
        """Whether a function, or one that it calls, adds to a queue or a log."""
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                    held = element_of(owner, self.fields)
                    if isinstance(held, Sequenced) and method == ADDS[type(held)]:
                        return True
                case ast.Call(func=ast.Name(id=name)) if name in self.trees and name not in known:
                    if self._sends(self.trees[name], known | {name, tree.name}):
                        return True
        return False

    def _bound_of(self, tree: ast.FunctionDef, statement: ast.stmt) -> str:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and node.attr in self.bounds:
                return node.attr
        raise self.refuse(
            statement,
            f"a `within` of {tree.name} names no bound",
            f"compare with one of {', '.join(f's.{bound}' for bound in self.bounds) or 'none'}",
        )

    def _function(
        self,
        tree: ast.FunctionDef,
        body: Sequence[ast.stmt],
        states: int = 1,
        *,
        tries: bool = False,
    ) -> Any:
        """The function of this body that is given the settings after the state or states."""
        names = [argument.arg for argument in tree.args.args]
        return self._compiled(tree, [*names[:states], SETTINGS, *names[states:]], body, tries=tries)

    def _compiled(
        self,
        tree: ast.FunctionDef,
        arguments: Sequence[str],
        body: Sequence[ast.stmt],
        *,
        tries: bool = False,
    ) -> Any:
        """The function of this body; one that `tries` returns the number of a limit, 0 for none."""
        plain = ast.arguments([], [ast.arg(name) for name in arguments], None, [], [], None, [])
        made = ast.FunctionDef(tree.name, plain, copy.deepcopy(list(body)), [], None)
        made = ast.fix_missing_locations(_at(made, tree))
        self._require_asks_nothing(made)
        self._require_known(made)
        kinds = self._kinds(tree)
        kinds.require(made)
        kind = kinds.kind_in(made)
        self._note_what_is_given(made, kind)
        made = Numbering(kind, self._words_taken, self._constants(tree), self.refuse).visit(made)
        if tries:
            made = self._trying(made)
        lowering = Lowering(kind, self.refuse, self._room_of if tries else None)
        made = lowering.lowered(made)
        unfolding = Unfolding(taken=self.names)
        made = ast.fix_missing_locations(unfolding.visit(made))
        for written in (lowering.made, unfolding.loops):
            for name, function in written.items():
                self.names[name] = self._made_of(ast.fix_missing_locations(function))
        for tree_used in (made, *unfolding.loops.values()):
            self._make_what_it_calls(tree_used)
        return self._made_of(made)

    def _words_taken(self, called: str) -> dict[int, Choice]:
        """Which arguments of a function of the file are words, by their places."""
        if called not in self.trees:
            return {}
        tree = self.trees[called]
        taken = self._kinds(tree).words_taken(called)
        parameters = [argument.arg for argument in tree.args.args]
        return {parameters.index(name): choice for name, choice in taken.items()}

    def _note_what_is_given(self, tree: ast.FunctionDef, kind: Callable[[ast.expr], Kind]) -> None:
        """Of which kinds the arguments of functions are that this one calls."""
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in self.trees:
                continue
            called = self.trees[node.func.id]
            parameters = [argument.arg for argument in called.args.args]
            known = self._given.setdefault(called.name, {})
            for parameter, given in zip(parameters, node.args, strict=False):
                found = kind(given)
                found = found if _is_told(found) else None
                if known.setdefault(parameter, found) != found:
                    shown = ast.unparse(given)
                    raise self.refuse(
                        node,
                        f"{called.name} is given `{shown}` for {parameter}, and elsewhere "
                        "something of another kind",
                        "write a function for each",
                    )

    def _trying(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The function with calls of functions that try as well, where these add to a sequence."""
        sends = {name for name, each in self.trees.items() if self._sends(each)}
        return ast.fix_missing_locations(_Trying(sends, self.refuse).visit(tree))

    def _made_of(self, tree: ast.FunctionDef) -> Any:
        return function_of(tree, self.file, self.names, runs=limited(tree, self.names))

    @property
    def _mistakes(self) -> Mistakes:
        sizes = [name for name in self.known if name not in self.fields]
        return Mistakes(self.fields, sizes, self.names, self.refuse)

    def _kinds(self, tree: ast.FunctionDef) -> Kinds:
        return Kinds(self.fields, self.trees, self._constants(tree), self.refuse, self._given)

    def _constants(self, tree: ast.FunctionDef) -> dict[str, Any]:
        """What names of the file stand for in a function, which may have its own of that name."""
        own = {argument.arg for argument in tree.args.args}
        own |= {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return {name: value for name, value in self.names.items() if name not in own}

    def _require_known(self, tree: ast.FunctionDef) -> None:
        """What is read of an argument is read of a state: a field, a bound, a number of names."""
        arguments = {argument.arg for argument in tree.args.args}
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                    if name not in arguments or attribute in (*self.known, "bit_count"):
                        continue
                    what = f"{tree.name}: the state has no field {attribute!r}"
                    has = f"it has {', '.join(self.known)}"
                    raise self.refuse(node, what, did_you_mean_or(attribute, self.known, has))

    def _require_asks_nothing(self, tree: ast.FunctionDef) -> None:
        """Those of actions are taken out before: what is left is that of a claim, or of a call."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (asked := _name_asked(node)) is not None:
                raise self.refuse(
                    node,
                    f"{tree.name} has a `{asked}`, and is a claim, or called by another rule",
                    "only an action has one: ask with `if`, or call a function of what both do",
                )

    def _require_given(self, node: ast.Call, name: str) -> None:
        """A function of the file is given as many arguments as it takes."""
        takes = [argument.arg for argument in self.trees[name].args.args]
        given = len(node.args) + len(node.keywords)
        if given != len(takes) and not any(isinstance(a, ast.Starred) for a in node.args):
            called = f"{name}({', '.join(takes)})"
            raise self.refuse(
                node, f"`{ast.unparse(node)}` gives {name} {given} arguments", f"write {called}"
            )

    def _make_what_it_calls(self, tree: ast.FunctionDef) -> None:
        """Functions of the file that this one calls are read in the same way."""
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            name = node.func.id
            called_as = name
            tries = name.startswith(_TRY)
            name = name.removeprefix(_TRY)
            if name in self.trees and called_as not in self._made:
                self._require_given(node, name)
            if name not in self.trees or called_as in self._made:
                self._require_own(node, called_as)
                continue
            self._made.add(called_as)
            source = self._file_names.get(name) or self.names[name]
            self._file_names[name] = source
            called = self._tree(source, "called by a rule", node)
            arguments = [argument.arg for argument in called.args.args]
            body = _without_docstring(called)
            if tries:
                body = [*_tried(body), _at(ast.Return(ast.Constant(0)), called)]
            self.names[called_as] = self._compiled(called, arguments, body, tries=tries)

    def _require_own(self, node: ast.Call, name: str) -> None:
        function = self.names.get(name)
        if isinstance(function, types.FunctionType) and function.__code__.co_filename != self.file:
            raise self.refuse(
                node, f"{name} is a function of another file", "a model is one file: write it here"
            )


class _Silent(ast.NodeTransformer):
    """`return True` of an action is `return`; a warning says so."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """What is returned is read by nobody."""
        return ast.copy_location(ast.Return(), node) if is_true(node.value) else node


def _silent(statement: ast.stmt) -> ast.stmt:
    silent: ast.stmt = _Silent().visit(copy.deepcopy(statement))
    return silent


def _returns_nothing(node: ast.Return) -> bool:
    return node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)


@dataclass(slots=True)
class _Trying(ast.NodeTransformer):
    """Calls what tries a step out in the place of what takes it: `sends` are such functions."""

    sends: Collection[str]
    refuse: Refuse

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        """`answer(s, a, b)`: where that goes beyond a limit, so does this."""
        match node.value:
            case ast.Call(func=ast.Name(id=name) as function) if name in self.sends:
                node.value.args = [self.visit(each) for each in node.value.args]
                function.id = f"{_TRY}{name}"
                beyond = ast.Name(_BEYOND, ast.Load())
                returns = ast.If(beyond, [ast.Return(beyond)], [])
                kept = ast.Assign([ast.Name(_BEYOND, ast.Store())], node.value)
                return [_at(kept, node), _at(returns, node)]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Such a function has no value that is read."""
        match node.func:
            case ast.Name(id=name) if name in self.sends:
                raise self.refuse(
                    node,
                    f"{name} adds to a queue or a log, and its value is read",
                    "call it on a line of its own",
                )
        return self.generic_visit(node)


def _tried(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements of a step that is tried out: where it returns, it went beyond no limit."""
    return [_Returning().visit(copy.deepcopy(statement)) for statement in body]


class _Returning(ast.NodeTransformer):
    def visit_Return(self, node: ast.Return) -> ast.AST:
        """`return`"""
        return ast.copy_location(ast.Return(ast.Constant(0)), node)


def _counted_from(tree: ast.FunctionDef, over: Mapping[str, AnyField]) -> Iterator[ast.stmt]:
    """Arguments are counted from 0: those of a range that begins elsewhere are moved there."""
    for name, each in over.items():
        if isinstance(each, Number) and each.lo != 0:
            moved = ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(each.lo))
            yield _at(moved, tree)


def _is_told(kind: Kind) -> bool:
    """Whether a function has to know that it is given something of this kind."""
    return kind == SET or isinstance(kind, Set | Choice)


def _asked(statement: ast.stmt) -> str | None:
    """`when` or `within`, if the statement is a call of one."""
    match statement:
        case ast.Expr(value=ast.Call() as call):
            return _name_asked(call)
    return None


def _name_asked(call: ast.Call) -> str | None:
    """`when` or `within`, also as `waterline.when`."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _ASKS:
            return name
    return None


def _unless(statement: ast.stmt, value: ast.Constant) -> ast.stmt:
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    condition = statement.value.args[0]
    negated = _at(ast.UnaryOp(ast.Not(), condition), condition)
    return _at(ast.If(negated, [_at(ast.Return(value), condition)], []), statement)


def _at(node: _Node, like: ast.AST | None) -> _Node:
    if like is None:
        return node
    return ast.copy_location(node, like)


def _without_docstring(tree: ast.FunctionDef) -> list[ast.stmt]:
    return tree.body[1:] if ast.get_docstring(tree) is not None else list(tree.body)


def _first_sentence(tree: ast.FunctionDef) -> str:
    """The first paragraph of its docstring, on one line."""
    described = (ast.get_docstring(tree) or "").strip().split("\n\n")[0]
    return " ".join(described.split())
