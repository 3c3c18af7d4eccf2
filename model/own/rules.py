"""Reads rules from a user's file as functions to interpret and compile.

An action is one function. The part before its last `when` or `within` only reads, and becomes the
guard and the limit; the whole function without these becomes the effect. Otherwise only values
without a number change: a choice's text and None become the numbers that fields keep, and `all`,
`any` and `sum` of a comprehension become loops. Lines stay those of the file.
"""

from __future__ import annotations

import ast
import copy
import linecache
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.model.core.errors import did_you_mean_or
from waterline.model.core.made import function_of
from waterline.model.core.transition_system import Action as KitAction
from waterline.model.own.asking import (
    TRY,
    Asking,
    Trying,
    counted_from,
    first_paragraph,
    passed_kind,
    question_of,
    require_no_question,
    sends,
    silent,
    trial,
    without_docstring,
)
from waterline.model.own.comprehensions import Members, Unfolding
from waterline.model.own.data_sorts import Arguments, argument_of
from waterline.model.own.declared import Action
from waterline.model.own.fields import (
    AnyField,
    BadProtocol,
    Choice,
    Domain,
    Name,
    PlacedField,
    PlainField,
    Struct,
)
from waterline.model.own.kinds import Kinds
from waterline.model.own.limits import add_limits
from waterline.model.own.lowering import Lowering
from waterline.model.own.mistakes import Mistakes
from waterline.model.own.structs import Parts, Structs
from waterline.model.own.syntax import Kind, at, is_none, on_line, variables_of
from waterline.model.own.values import Numbering
from waterline.model.own.witness import witness_of

SETTINGS = "_settings"
"""Argument for a model's settings; a user's protocol has none."""


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

    `names` are those of the file, with each function replaced by the one made from it.
    """

    file: str
    trees: Mapping[str, ast.FunctionDef]
    fields: Mapping[str, AnyField]
    bounds: Mapping[str, int]
    known: Sequence[str]
    names: dict[str, Any]
    structs: Structs
    _made: set[str] = field(default_factory=set)
    _given: dict[str, dict[str, Kind]] = field(default_factory=dict)
    _lowered: set[str] = field(default_factory=set)
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
        structs: Sequence[Struct] = (),
    ) -> Rules:
        """Return the rules of a file with this text, which has run and has left these names.

        `sizes` are the numbers that a state has besides its fields, `plurals` the sorts among them.
        """
        names = dict(names)
        parsed = Members(plurals, names).visit(ast.parse(text))
        trees = {n.name: n for n in parsed.body if isinstance(n, ast.FunctionDef)}
        by_name = {declared.name: declared for declared in fields}
        known = (*by_name, *sizes)
        called = {
            name: struct
            for name, value in names.items()
            for struct in structs
            if value is struct.kind
        }
        return Rules(file, trees, by_name, bounds, known, names, Structs(called))

    # --- what is made ----------------------------------------------------------------------------

    def arguments(
        self, action: Any, takes: Callable[[Any], Mapping[str, Domain]]
    ) -> dict[str, PlainField]:
        """Each argument of an action with a field that holds what it may be, as `takes` has it.

        Raises `BadProtocol`.
        """
        function = action.function if isinstance(action, Action) else action
        tree = self._tree(function, "an action")
        try:
            return {name: argument_of(name, over) for name, over in takes(action).items()}
        except BadProtocol as problem:
            what, _, instead = str(problem).partition("; ")
            raise self.refuse(tree, what, instead) from None

    def action(self, function: Any, given: Arguments) -> KitAction:
        """An action without its parameters: guard, effect and limit. Raises `BadProtocol`."""
        over: Mapping[str, AnyField] = given.over
        tree = self._tree(function, "an action")
        self._given[tree.name] = dict(over)
        self._mistakes.require_action(tree)
        body = without_docstring(tree)
        asks = [i for i, statement in enumerate(body) if question_of(statement) is not None]
        first = asks[-1] + 1 if asks else 0
        for statement in body:
            self._asking.require_asks_at_the_top(tree, statement)
        for statement in body[:first]:
            self._asking.require_looks_only(tree, statement)
        begins = list(counted_from(tree, over))
        effect = [silent(s) for s in body if question_of(s) is None] or [at(ast.Pass(), tree)]
        tries = sends(tree, self.trees, self.fields)
        limit = None
        if tries or given.are_cut or any(question_of(statement) == "within" for statement in body):
            looks = [*begins, *given.limit(tree), *self._asking.limit(tree, body[:first])]
            rest = [*trial(body[first:]), at(ast.Return(ast.Constant(0)), body[-1])]
            limit = self._function(tree, [*looks[:-1], *rest] if tries else looks, tries=tries)
        return KitAction(
            name=tree.name,
            guard=self._function(
                tree, [*begins, *given.guard(tree), *self._asking.guard(tree, body[:first])]
            ),
            effect=self._function(tree, [*begins, *effect]),
            limit=limit,
            limit_writes=tries,
        )

    def claim(
        self, function: Any, takes: Sequence[int], *, states: int | None = None
    ) -> tuple[str, str, int, Any]:
        """Return name, sentence, number of arguments, and the function with settings too.

        `takes` are the allowed numbers of arguments. The first `states` of them are states, by
        default all; the settings come after these. Raises `BadProtocol`.
        """
        tree = self._tree(function, "a claim")
        given = len(tree.args.args)
        if given not in takes:
            described = " or ".join("a state" if n == 1 else "a state and the next" for n in takes)
            raise self.refuse(
                tree, f"{tree.name} takes {given} arguments", f"let it take {described}"
            )
        body = without_docstring(tree)
        returns = [n for n in ast.walk(tree) if isinstance(n, ast.Return)]
        if not returns or any(is_none(node.value) for node in returns):
            raise self.refuse(tree, f"claim {tree.name} returns nothing", "return True or False")
        self._mistakes.require_claim(tree)
        self._kinds(tree).require_claim(tree)
        made = self._function(tree, body, given if states is None else states)
        described = first_paragraph(ast.get_docstring(tree) or "")
        return tree.name, described or tree.name, given, made

    def witness(self, function: Any) -> tuple[tuple[tuple[str, str], ...], Any] | None:
        """The variables of a claim with a comprehension, and what finds those that make it False.

        That is given a state or two and the settings, like the claim; see `witness_of`.
        """
        tree = self._tree(function, "a claim")
        found = witness_of(without_docstring(tree))
        if found is None:
            return None
        return found.variables, self._function(tree, found.body, len(tree.args.args))

    def happens(self, function: Any) -> tuple[str, str, Any, Any | None]:
        """Return name, sentence, condition on a step, and condition on initial states or None.

        A function of one state has both: a step satisfies it by leading to such a state.
        """
        name, described, given, made = self.claim(function, (1, 2))
        if given == 2:
            return name, described, made, None
        now = self._enter(f"{name}_now", made)
        text = f"return {now}(after, {SETTINGS})"
        step = ["before", "after", SETTINGS]
        return name, described, self._compile(self.trees[name], step, ast.parse(text).body), made

    def predicate(self, function: Any) -> Predicate:
        """A function of a state and of names, for claims of what follows. Raises `BadProtocol`."""
        tree = self._tree(function, "a claim")
        arguments = [argument.arg for argument in tree.args.args]
        if not arguments:
            raise self.refuse(
                tree, f"{tree.name} takes no state", "its first argument is the state"
            )
        name, described, _, made = self.claim(function, (len(arguments),), states=1)
        return Predicate(
            name, described, tuple(arguments[1:]), tree, self._enter(f"{name}_of", made)
        )

    def bound(self, predicate: Predicate, values: Mapping[str, int]) -> Any:
        """The predicate of these names, as a function of a state and the settings."""
        given = "".join(f", {values[name]}" for name in predicate.arguments)
        text = f"return {predicate.called}(state, {SETTINGS}{given})"
        return self._compile(predicate.tree, ["state", SETTINGS], ast.parse(text).body)

    def write(self, function: ast.FunctionDef) -> Any:
        """A function that the checker writes, which others are to call by its name."""
        self.names[function.name] = self._made_of(ast.fix_missing_locations(function))
        return self.names[function.name]

    def _enter(self, name: str, made: Any) -> str:
        """Make a function callable under a name like this one, and return that name."""
        while name in self.names:
            name += "_"
        self.names[name] = made
        return name

    def refuse(self, node: ast.AST | None, what: str, instead: str) -> BadProtocol:
        """The error for a place in the file."""
        return BadProtocol(f"{self.file}:{self._place_of(node)}: {what}; {instead}")

    def _place_of(self, node: ast.AST | None) -> str:
        """Line and column, both from 1; the tree counts bytes."""
        line = getattr(node, "lineno", 1)
        before = linecache.getline(self.file, line).encode()[: getattr(node, "col_offset", 0)]
        return f"{line}:{len(before.decode()) + 1}"

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
        self._mistakes.require_rule(tree, self._kinds(tree).structs_of(tree))
        if not tree.decorator_list and code.co_firstlineno != tree.lineno:
            raise self.refuse(
                tree,
                f"{name} is a function of line {code.co_firstlineno} now, and another one here",
                "give each function a name of its own, and leave it as it is written",
            )
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

    def _room_of(self, field: PlacedField) -> int:
        """The number of the limit that a full sequence stands for."""
        held = [name for name, each in self.fields.items() if isinstance(each, PlacedField)]
        return 1 + len(self.bounds) + held.index(field.name)

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
        return self._compile(tree, [*names[:states], SETTINGS, *names[states:]], body, tries=tries)

    def _compile(
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
        made = ast.fix_missing_locations(ast.copy_location(made, tree))
        require_no_question(made, self.refuse)
        kinds = self._kinds(tree)
        made = Parts(self.structs, kinds.kind_in(made), self.refuse).visit(made)
        self._require_known(made)
        kinds.require(made)
        kind = kinds.kind_in(made)
        self._note_what_is_given(made, kind)
        numbering = Numbering(kind, self._words_taken, self._constants(tree), self.refuse)
        made = numbering.visit(made)
        for name, function in numbering.made.items():
            self.names[name] = self._made_of(function)
        if tries:
            made = self._trying(made)
        lowering = Lowering(kind, self.refuse, self._room_of if tries else None)
        made = lowering.lower(made)
        unfolding = Unfolding(taken=self.names)
        made = ast.fix_missing_locations(unfolding.visit(made))
        for name, function in unfolding.loops.items():
            self.names[name] = self._made_of(ast.fix_missing_locations(function))
        for name, function in lowering.made.items():
            if name not in self._lowered:
                if name in self.names:
                    raise self.refuse(tree, f"{name} is a name of the checker", "use another one")
                self._lowered.add(name)
                self.names[name] = self._made_of(ast.fix_missing_locations(function))
        for tree_used in (made, *unfolding.loops.values(), *lowering.made.values()):
            self._make_of_structs(tree_used)
        for tree_used in (made, *unfolding.loops.values()):
            self._make_what_it_calls(tree_used)
        return self._made_of(made)

    def _make_of_structs(self, tree: ast.FunctionDef) -> None:
        """The functions of structs that this one calls, each on the line of its first call."""
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id=name)) if name not in self.names:
                    if (written := self.structs.written.get(name)) is not None:
                        self.names[name] = self._made_of(on_line(written.function, node))

    def _words_taken(self, called: str) -> Mapping[int, Choice | Name]:
        """Return the arguments of a function of the file that are words, by their places."""
        parts = self.structs.parts_of_call(called)
        if parts or called not in self.trees:
            return {n: each for n, each in enumerate(parts) if isinstance(each, Choice | Name)}
        tree = self.trees[called]
        taken = self._kinds(tree).words_taken(called)
        parameters = [argument.arg for argument in tree.args.args]
        return {parameters.index(name): choice for name, choice in taken.items()}

    def _note_what_is_given(self, tree: ast.FunctionDef, kind: Callable[[ast.expr], Kind]) -> None:
        """Note the argument types of each function that this one calls."""
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id not in self.trees:
                continue
            called = self.trees[node.func.id]
            parameters = [argument.arg for argument in called.args.args]
            known = self._given.setdefault(called.name, {})
            pairs = [*zip(parameters, node.args, strict=False)]
            pairs += [(each.arg, each.value) for each in node.keywords if each.arg in parameters]
            for parameter, given in pairs:
                found = passed_kind(kind(given))
                if self._is_text(given):
                    words = self._kinds(called).words_taken(called.name)
                    found = passed_kind(words.get(parameter))
                if known.setdefault(parameter, found) != found:
                    shown = ast.unparse(given)
                    raise self.refuse(
                        node,
                        f"{called.name} is given `{shown}` for {parameter}, and elsewhere "
                        "something of another kind",
                        "write a function for each",
                    )

    def _is_text(self, node: ast.expr) -> bool:
        """True if an expression is, or may be, a word written in the rule."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, str)
            case ast.Name(id=name):
                return isinstance(self.names.get(name), str)
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_text(body) or self._is_text(orelse)
        return False

    def _trying(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The function with calls of functions that try as well, where these add to a sequence."""
        adding = {name for name, each in self.trees.items() if sends(each, self.trees, self.fields)}
        return ast.fix_missing_locations(Trying(adding, self.refuse).visit(tree))

    def _made_of(self, tree: ast.FunctionDef) -> Any:
        return function_of(tree, self.file, self.names, runs=add_limits(tree, self.names))

    @property
    def _asking(self) -> Asking:
        return Asking(self.fields, list(self.bounds), self.refuse)

    @property
    def _mistakes(self) -> Mistakes:
        sizes = [name for name in self.known if name not in self.fields]
        return Mistakes(self.fields, sizes, self.names, self.refuse)

    def _kinds(self, tree: ast.FunctionDef) -> Kinds:
        return Kinds(
            self.fields, self.trees, self._constants(tree), self.refuse, self.structs, self._given
        )

    def _constants(self, tree: ast.FunctionDef) -> dict[str, Any]:
        """Return the names of the file that a function uses, without those that it redefines."""
        own = variables_of(tree)
        return {name: value for name, value in self.names.items() if name not in own}

    def _require_known(self, tree: ast.FunctionDef) -> None:
        """Require that rules read only fields, bounds and numbers of names from a state."""
        arguments = {argument.arg for argument in tree.args.args}
        for node in ast.walk(tree):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                    if name not in arguments or attribute in (*self.known, "bit_count"):
                        continue
                    what = f"{tree.name}: the state has no field {attribute!r}"
                    has = f"it has {', '.join(self.known)}"
                    raise self.refuse(node, what, did_you_mean_or(attribute, self.known, has))

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
            tries = name.startswith(TRY)
            name = name.removeprefix(TRY)
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
            body = without_docstring(called)
            if tries:
                body = [*trial(body), at(ast.Return(ast.Constant(0)), called)]
            self.names[called_as] = self._compile(called, arguments, body, tries=tries)

    def _require_own(self, node: ast.Call, name: str) -> None:
        function = self.names.get(name)
        if isinstance(function, types.FunctionType) and function.__code__.co_filename != self.file:
            raise self.refuse(
                node, f"{name} is a function of another file", "a model is one file: write it here"
            )
