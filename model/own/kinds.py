"""Kind checking of rules: names, truths, choices and numbers are not mixed.

Fields keep names and choices as numbers, so a rule that mixes them up would run, and mean something
else than in Python: node 0 would be false, and 7 one of three words. Such a rule is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from waterline.model.own.constants import kind_of, table_of
from waterline.model.own.fields import (
    AnyField,
    Choice,
    Container,
    Name,
    Set,
    Value,
)
from waterline.model.own.structs import Structs
from waterline.model.own.syntax import (
    NUMBER,
    OF_SET,
    SET,
    Kind,
    Refuse,
    assignments,
    element_of,
    ends,
    gone_through,
    is_none,
    is_plain,
    item_of,
    items,
    truths,
)

_NUMBERS = {"min", "max", "abs", "int", "bool", "sum", "all", "any", "range"}


@dataclass(slots=True)
class Kinds:
    """Looks through the functions of a file. Raises what `refuse` makes.

    `trees` are the functions, `names` what names of the file stand for. `given` are the kinds of a
    function's arguments, as far as who calls it says so.
    """

    fields: Mapping[str, AnyField]
    trees: Mapping[str, ast.FunctionDef]
    names: Mapping[str, Any]
    refuse: Refuse
    structs: Structs
    given: Mapping[str, Mapping[str, Kind]] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)

    def require(self, tree: ast.FunctionDef) -> None:
        """Reject a function that uses a name as a truth value, or mixes a number with a choice."""
        known = self._variables(tree)
        self._require_one_choice(tree, known)
        for truth in truths(tree):
            self.require_truth(truth, known)
        for node in ast.walk(tree):
            match node:
                case ast.Compare():
                    self._require_alike([node.left, *node.comparators], known)
                    self._require_unordered(node, known)
                case ast.Assign():
                    for target in node.targets:
                        self._require_storable(target, node.value, known)
                case ast.AnnAssign(value=ast.expr() as value):
                    self._require_storable(node.target, value, known)
                case ast.AugAssign():
                    self._require_no_choice(node.target, known)
                    self._require_no_choice(node.value, known)
                case ast.BinOp():
                    self._require_operands(node, known)
                case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                    self._require_no_choice(node.operand, known)
                case ast.Call():
                    self._require_given(node, known)

    def kind_in(self, tree: ast.FunctionDef) -> Callable[[ast.expr], Kind]:
        """Return a function from an expression of this function to its kind."""
        known = self._variables(tree)
        return lambda node: self._kind(node, known)

    def words_taken(self, called: str) -> dict[str, Choice]:
        """The arguments of a function of the file that are words: what it was given before, else
        the first choice that it compares them with, or stores them in.
        """
        tree = self.trees[called]
        names = {argument.arg for argument in tree.args.args}
        given = self.given.get(called, {})
        found = {name: kind for name, kind in given.items() if isinstance(kind, Choice)}
        for name, choice in self._taken_for(tree, self._variables(tree)):
            if name in names:
                found.setdefault(name, choice)
        return found

    def require_claim(self, tree: ast.FunctionDef) -> None:
        """Require that a claim returns a truth value."""
        known = self._variables(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Return) and node.value is not None:
                self.require_truth(node.value, known)

    def require_truth(self, node: ast.expr, known: Mapping[str, Kind]) -> None:
        """Reject a name or a choice that is used as a truth value."""
        for each in ends(node):
            if (misuse := misuse_as_truth(self._kind(each, known))) is not None:
                raise self.refuse(each, *misuse)

    # --- what stands beside a choice -------------------------------------------------------------

    def _require_alike(self, operands: list[ast.expr], known: Mapping[str, Kind]) -> None:
        kinds = [self._kind(operand, known) for operand in operands]
        for held in kinds:
            if isinstance(held, Container):
                for operand, kind in zip(operands, kinds, strict=True):
                    # A word that the words of the set are without is not in it.
                    is_word = isinstance(held.element, Choice) and isinstance(kind, Choice)
                    if not is_word or not is_plain(operand):
                        self._require_member(held, operand, known)
        struct = next((kind for kind in kinds if isinstance(kind, Value)), None)
        if struct is not None and not any(isinstance(k, Container) for k in kinds):
            for operand in operands:
                self._require_struct(struct, operand, known)
        if any(kind == SET or isinstance(kind, Container) for kind in kinds):
            return
        choices = [kind for kind in kinds if isinstance(kind, Choice)]
        choice = max(choices, key=lambda each: len(each.values), default=None)
        for operand in operands if choice is not None else ():
            assert choice is not None
            self._require_word(choice, operand, known)

    def _require_one_choice(self, tree: ast.FunctionDef, known: Mapping[str, Kind]) -> None:
        """Refuse what may hold words of several choices: which one it is would not be known."""
        held: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            for target, value in assignments(node):
                if value is not None:
                    held.setdefault(f"`{target}`", []).append(value)
            if isinstance(node, ast.Return) and node.value is not None:
                what = f"what {tree.name} returns"
                held.setdefault(what, []).append(node.value)
                if isinstance(node.value, ast.Tuple):
                    for number, item in enumerate(node.value.elts, start=1):
                        held.setdefault(f"item {number} of {what}", []).append(item)
            if isinstance(node, ast.IfExp):
                held[f"`{ast.unparse(node)}`"] = [node.body, node.orelse]
        for what, values in held.items():
            kinds = [self._kind(value, known) for value in values]
            choices = [kind for kind in kinds if isinstance(kind, Choice)]
            for value, kind in zip(values, kinds, strict=True):
                if choices and kind is not None and _words(kind) != choices[0].values:
                    raise self.refuse(
                        value,
                        f"{what} is one of the words of {choices[0].name} in one place, "
                        f"and `{ast.unparse(value)}` in another",
                        "keep them in two variables",
                    )

    def _require_unordered(self, node: ast.Compare, known: Mapping[str, Kind]) -> None:
        """Refuse words that are compared by their places, which Python would compare as text."""
        operands = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                for side in (left, right):
                    self._require_no_choice(side, known)

    def _require_operands(self, node: ast.BinOp, known: Mapping[str, Kind]) -> None:
        sides = (node.left, node.right)
        for side in sides:
            self._require_no_choice(side, known)
            for other in sides:
                self._require_member(self._kind(side, known), other, known)

    def _require_given(self, node: ast.Call, known: Mapping[str, Kind]) -> None:
        """Check the arguments of a call, or the value that it puts into a set or a sequence."""
        match node.func:
            case ast.Name(id=name) if parts := self.structs.parts_of_call(name):
                for part, given in zip(parts, node.args, strict=True):
                    self._require_value(part, given, known)
            case ast.Name(id=name) if name in self.trees:
                self._require_arguments(node, self.trees[name], known)
            case ast.Name(id="min" | "max" | "abs"):
                for given in node.args:
                    self._require_no_choice(given, known)
            case ast.Attribute(value=owner, attr=name):
                held = self._kind(owner, known)
                method = held.methods.get(name) if isinstance(held, Container) else None
                for given in node.args if method is not None and method.takes == "value" else ():
                    self._require_member(held, given, known)

    def _require_member(self, held: Kind, node: ast.expr, known: Mapping[str, Kind]) -> None:
        """Refuse what a set or a sequence never has, in a set that is written there too."""
        if isinstance(node, ast.Set):
            for each in node.elts:
                self._require_member(held, each, known)
            return
        kind = self._kind(node, known)
        if not isinstance(held, Container) or isinstance(kind, Container):
            return
        if kind != SET and isinstance(held.element, Choice):
            self._require_word(held.element, node, known)
        elif kind != SET and isinstance(held.element, Value):
            self._require_struct(held.element, node, known)
        else:
            self._require_no_choice(node, known)

    def _require_storable(
        self, target: ast.expr, value: ast.expr, known: Mapping[str, Kind]
    ) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for each, given in zip(target.elts, value.elts, strict=False):
                self._require_storable(each, given, known)
            return
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Call):
            for each, given in zip(target.elts, items(value, len(target.elts)), strict=True):
                self._require_storable(each, given, known)
            return
        stored = self._element(target)
        if stored is not None:
            self._require_value(stored, value, known)

    def _require_value(self, stored: AnyField, value: ast.expr, known: Mapping[str, Kind]) -> None:
        """Refuse what a field never holds."""
        if isinstance(stored, Choice):
            self._require_word(stored, value, known)
        elif isinstance(stored, Value):
            self._require_struct(stored, value, known)
        elif isinstance(stored, Set):
            self._require_set(stored, value, known)
        else:
            self._require_no_choice(value, known)
            self._require_no_set(stored, value, known)

    def _require_struct(self, held: Value, node: ast.expr, known: Mapping[str, Kind]) -> None:
        """Reject an expression that cannot be this struct."""
        for each in ends(node, of_literals=True):
            kind = self._kind(each, known)
            if kind is not None and not (isinstance(kind, Value) and kind.of == held.of):
                what = f"`{ast.unparse(each)}` is no {held.name}, and stands where one is wanted"
                instead = f"write {held.name}(...), or read one that is kept"
                raise self.refuse(each, what, instead)

    def _require_word(self, choice: Choice, node: ast.expr, known: Mapping[str, Kind]) -> None:
        """Reject an expression that cannot be a word of the choice."""
        for each in ends(node, of_literals=True):
            kind = self._kind(each, known)
            other = "is a number"
            match kind:
                case None:
                    continue
                case Choice(values=words):
                    is_some = set(words) <= set(choice.values)
                    if words == choice.values or (is_some and is_plain(each)):
                        continue
                    other = "has other words"
                case Name():
                    other = "is a name"
                case Value(name=name):
                    other = f"is a {name}"
            what = f"{choice.name} is one of its words, and `{ast.unparse(each)}` {other}"
            raise self.refuse(each, what, f"write {words_of(choice)}")

    def _require_set(self, stored: Set, value: ast.expr, known: Mapping[str, Kind]) -> None:
        for each in ends(value):
            kind = self._kind(each, known)
            if kind is not None and kind != SET and not isinstance(kind, Set):
                shown = ast.unparse(each)
                what = f"{stored.name} is a set, and `{shown}` is none"
                raise self.refuse(each, what, f"write {{{shown}}}")

    def _require_no_set(self, stored: AnyField, value: ast.expr, known: Mapping[str, Kind]) -> None:
        kind = self._kind(value, known)
        if kind == SET or isinstance(kind, Set):
            what = f"{stored.name} is no set, and `{ast.unparse(value)}` is one"
            raise self.refuse(value, what, f"store one value, or declare {stored.name} as a Set")

    def _require_no_choice(self, node: ast.expr, known: Mapping[str, Kind]) -> None:
        for each in ends(node):
            if (misuse := misuse_as_number(self._kind(each, known))) is not None:
                raise self.refuse(each, *misuse)

    def _require_arguments(
        self, call: ast.Call, called: ast.FunctionDef, known: Mapping[str, Kind]
    ) -> None:
        """Require arguments of the kinds that the called function uses them as."""
        parameters = [argument.arg for argument in called.args.args]
        given = dict(zip(parameters, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        variables = self._variables(called)
        for truth in truths(called):
            if isinstance(truth, ast.Name) and truth.id in given:
                self.require_truth(given[truth.id], known)
        for parameter, choice in self._taken_for(called, variables):
            if parameter in given:
                self._require_word(choice, given[parameter], known)

    def _taken_for(
        self, tree: ast.FunctionDef, known: Mapping[str, Kind]
    ) -> Iterator[tuple[str, Choice]]:
        """Names that a function compares with a choice or stores in one."""
        for node in ast.walk(tree):
            match node:
                case ast.Compare():
                    operands = [node.left, *node.comparators]
                case ast.Assign(targets=[target]):
                    operands = [target, node.value]
                case _:
                    continue
            for choice in [self._kind(operand, known) for operand in operands]:
                if isinstance(choice, Choice):
                    yield from ((o.id, choice) for o in operands if isinstance(o, ast.Name))

    # --- what an expression is -------------------------------------------------------------------

    def _kind(  # noqa: PLR0911 - one for each kind of expression
        self, node: ast.expr, known: Mapping[str, Kind]
    ) -> Kind:
        if (table := table_of(node, self.names)) is not None:
            return kind_of(table, self.names)
        match node:
            case ast.Constant(value=int()) | ast.UnaryOp() | ast.Compare():
                return NUMBER
            case ast.Attribute(value=owner, attr=part):
                held = self._kind(owner, known)
                return held.of.part(part) if isinstance(held, Value) else self._element(node)
            case ast.Name(id=name):
                constant = NUMBER if isinstance(self.names.get(name), int) else None
                return known.get(name, constant)
            case ast.Subscript(
                value=ast.Call(func=ast.Name(id=name)), slice=ast.Constant(value=int() as item)
            ):
                return self._return_kind(name, item)
            case ast.Set() | ast.SetComp() | ast.BinOp():
                return self._of_operation(node, known)
            case ast.IfExp():
                return _same([self._kind(each, known) for each in (node.body, node.orelse)])
            case ast.Call():
                return self._of_call(node, known)
        return self._element(node)

    def _of_operation(
        self, node: ast.BinOp | ast.Set | ast.SetComp, known: Mapping[str, Kind]
    ) -> Kind:
        if not isinstance(node, ast.BinOp):
            return SET
        sides = [self._kind(side, known) for side in (node.left, node.right)]
        sets: list[Kind] = [side for side in sides if side == SET or isinstance(side, Set)]
        return _same(sets) if sets else NUMBER

    def _of_call(self, node: ast.Call, known: Mapping[str, Kind]) -> Kind:
        match node.func:
            case ast.Name(id=name) if name == "set" or name.startswith(OF_SET):
                return SET
            case ast.Name(id=name) if (made := self.structs.kind_of_call(name)) is not None:
                return made
            case ast.Name(id=name):
                return self._return_kind(name)
            case ast.Attribute(value=owner, attr=name):
                held = self._kind(owner, known)
                if isinstance(held, Container) and (method := held.methods.get(name)) is not None:
                    return {"value": held.element, "number": NUMBER}.get(method.gives)
        return None

    def _element(self, node: ast.expr) -> AnyField | None:
        found = element_of(node, self.fields)
        return found.of.value if isinstance(found, Value) else found

    def _annotation(self, argument: ast.arg) -> Kind:
        """Return the struct in an argument's annotation, `vote: Vote`; None for none."""
        match argument.annotation:
            case ast.Name(id=name) if (struct := self.structs.by_name.get(name)) is not None:
                return struct.value
        return None

    def structs_of(self, tree: ast.FunctionDef) -> set[str]:
        """The arguments of a function that are structs, and no states."""
        given = self.given.get(tree.name, {})
        return {
            each.arg
            for each in tree.args.args
            if isinstance(given.get(each.arg) or self._annotation(each), Value)
        }

    def _return_kind(self, name: str, item: int | None = None) -> Kind:
        """Return the kind that a function returns, or that of an item, if all its returns agree."""
        tree = self.trees.get(name)
        if tree is None or name in self._asked:
            return NUMBER if tree is None and name in _NUMBERS else None
        self._asked.add(name)
        known = self._variables(tree)
        values = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Return) and node.value is not None and not is_none(node.value)
        ]
        if item is not None:
            values = [item_of(value, item) for value in values]
        kinds = [self._kind(value, known) for value in values]
        self._asked.discard(name)
        return _same(kinds)

    def _variables(self, tree: ast.FunctionDef) -> dict[str, Kind]:
        """Return the kinds of a function's variables and arguments, None where unknown."""
        given = self.given.get(tree.name, {})
        known: dict[str, Kind] = {
            each.arg: given.get(each.arg) or self._annotation(each) for each in tree.args.args
        }
        stored: dict[str, list[ast.expr | None]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored.setdefault(node.id, [])
                known[node.id] = None
        for node in ast.walk(tree):
            for target, value in assignments(node):
                stored.setdefault(target, []).append(value)
        for target, over in gone_through(tree):
            held = self._kind(over, known)
            if isinstance(held, Container) and not stored.get(target):
                known[target] = held.element
        for name, values in stored.items():  # in order: what is made of another comes after it
            kinds = [None if v is None else self._kind(v, known) for v in values]
            if values and name not in {argument.arg for argument in tree.args.args}:
                known[name] = self._of_words(name, values, known) or _same(kinds)
        return known

    def _of_words(
        self, name: str, values: list[ast.expr | None], known: Mapping[str, Kind]
    ) -> Choice | None:
        """Return the choice of a variable that holds words written in the rule; None for others."""
        texts: list[str] = []
        held: Choice | None = None
        if None in values:
            return None
        for value in (end for each in values if each is not None for end in ends(each)):
            text = value.value if isinstance(value, ast.Constant) else None
            if isinstance(value, ast.Name) and value.id in self.names:
                text = self.names[value.id]
            kind = self._kind(value, known)
            if isinstance(kind, Choice):
                held = held or kind
            elif isinstance(text, str):
                texts.append(text)
            else:
                return None
        if not texts:
            return None
        return held if held is not None else Choice(name, *dict.fromkeys(texts))


def _words(kind: Kind) -> tuple[str, ...] | None:
    return kind.values if isinstance(kind, Choice) else None


def misuse_as_truth(kind: Kind) -> tuple[str, str] | None:
    """Return the refusal of a value as a truth, and the remedy; None for one that can be one."""
    match kind:
        case Value(name=name):
            return f"{name} is a struct, not true or false", "ask one of its parts"
        case Name(name=name, or_none=or_none):
            instead = "write `is not None`" if or_none else "compare it with one"
            return f"{name} is a name, not true or false", instead
        case Choice(name=name):
            what = f"{name} is one of its words, not true or false"
            return what, f"compare it with {words_of(kind)}"
    return None


def misuse_as_number(kind: Kind) -> tuple[str, str] | None:
    """Return the refusal of a value as a number, and the remedy; None for one that can be one."""
    match kind:
        case Value(name=name):
            return f"{name} is a struct, no number", "read one of its parts"
        case Choice(name=name):
            return f"{name} is one of its words, no number", f"compare it with {words_of(kind)}"
    return None


def words_of(choice: Choice) -> str:
    """`'idle' or 'busy'`"""
    return " or ".join(repr(word) for word in choice.values)


def _same(kinds: list[Kind]) -> Kind:
    if kinds and all(kind == SET or isinstance(kind, Set) for kind in kinds):
        return next((kind for kind in kinds if isinstance(kind, Set)), SET)
    words = {kind.values for kind in kinds if isinstance(kind, Choice)}
    if len(words) == 1 and all(isinstance(kind, Choice) for kind in kinds):
        return kinds[0]
    return kinds[0] if kinds and all(kind == kinds[0] for kind in kinds) else None
