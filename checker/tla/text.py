r"""Text of TLA+ expressions, on one line where it fits.

Lists of `/\` and `\/` are delimited by their indentation alone: one that does not fit on a line has
a line for each item.
"""

from __future__ import annotations

from collections.abc import Sequence

from waterline.checker.tla.forming import everything_in
from waterline.checker.tla.tree import (
    Apply,
    Atom,
    Change,
    Collection,
    Definition,
    Element,
    Except,
    Filter,
    Formula,
    Functions,
    If,
    Image,
    Infix,
    Junction,
    Label,
    Let,
    Local,
    Mapped,
    Member,
    Minus,
    Not,
    Number,
    Primed,
    Quantified,
    Record,
    Records,
    Subsets,
    Tree,
    Truth,
    Unchanged,
    Word,
)

WIDTH = 100
_ARITHMETIC = {"+": 1, "-": 1, "*": 2}
_COMPARISONS = ("=", "#", "<", "<=", ">", ">=", r"\in", r"\notin", r"\subseteq")
_ABOVE_COMPARISONS = frozenset((*_ARITHMETIC, r"\div", "%", ".."))
_CLOSED = (
    Apply,
    Atom,
    Collection,
    Element,
    Except,
    Filter,
    Functions,
    Image,
    Local,
    Mapped,
    Member,
    Primed,
    Record,
    Records,
    Truth,
    Word,
)
"""Expressions that need no brackets anywhere."""


def text_of(name: str, parameters: Sequence[str], value: Tree) -> list[str]:
    """The lines of a definition."""
    head = f"{name}({', '.join(parameters)})" if parameters else name
    whole = f"{head} == {flat(value)}"
    if len(whole) <= WIDTH and not _is_laid_out(value):
        return [whole]
    return [f"{head} ==", *_lines(value, 2)]


def flat(tree: Tree) -> str:  # noqa: PLR0911, PLR0912 - one for each kind
    """The expression on one line."""
    match tree:
        case Atom(name=name):
            return name
        case Number(value=number, name=name):
            return name or str(number)
        case Truth(value=value):
            return "TRUE" if value else "FALSE"
        case Word(text=text):
            return quote(text)
        case Apply(operator=operator, arguments=arguments):
            given = ", ".join(map(flat, arguments))
            return f"{flat(operator)}({given})" if arguments else flat(operator)
        case Element(function=function, index=index):
            return f"{_close(function)}[{flat(index)}]"
        case Member(record=record, name=name):
            return f"{_close(record)}.{name}"
        case Infix(operator=operator, left=left, right=right):
            between = operator if operator == ".." else f" {operator} "
            return f"{_operand(operator, left)}{between}{_operand(operator, right, right=True)}"
        case Minus(operand=operand):
            return f"-{_close(operand)}"
        case Not(operand=operand):
            return f"~{_close(operand)}"
        case Junction(operator=operator, items=items):
            return f" {operator} ".join(map(_item, items))
        case If(test=test, then=then, otherwise=otherwise):
            return f"IF {flat(test)} THEN {flat(then)} ELSE {flat(otherwise)}"
        case Let(definitions=definitions, body=body):
            return f"LET {' '.join(map(_definition, definitions))} IN {flat(body)}"
        case Quantified():
            head, body = _quantifiers(tree)
            return f"{head} {flat(body)}"
        case Mapped():
            return f"{_head(tree)} {flat(tree.body)}]"
        case Filter():
            return f"{_head(tree)} {flat(tree.body)}}}"
        case Image(variable=variable, domain=domain, body=body):
            return f"{{{flat(body)} : {flat(variable)} \\in {flat(domain)}}}"
        case Except(function=function, changes=changes):
            return f"[{flat(function)} EXCEPT {', '.join(map(_change, changes))}]"
        case Subsets(domain=domain):
            return f"SUBSET {_close(domain)}"
        case Functions(domain=domain, range=range_):
            return f"[{flat(domain)} -> {flat(range_)}]"
        case Collection(items=items, ordered=ordered):
            listed = ", ".join(map(flat, items))
            return f"<<{listed}>>" if ordered else f"{{{listed}}}"
        case Record(members=members):
            return f"[{', '.join(f'{name} |-> {flat(value)}' for name, value in members)}]"
        case Records(members=members):
            return f"[{', '.join(f'{name} : {flat(values)}' for name, values in members)}]"
        case Primed(operand=operand):
            return f"{_close(operand)}'"
        case Unchanged(names=names):
            return (
                f"UNCHANGED {names[0]}" if len(names) == 1 else f"UNCHANGED <<{', '.join(names)}>>"
            )
        case Formula(operator=operator, operands=(left, right)):
            return f"{_close(left)} {operator} {_close(right)}"
        case Formula(operator=operator, operands=(operand,)):
            return f"{operator}{_close(operand)}"
    raise TypeError(f"{tree!r} has no text")


def quote(text: str) -> str:
    """A string as TLA+ writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _close(tree: Tree) -> str:
    if isinstance(tree, Number):
        return tree.name or (f"({tree.value})" if tree.value < 0 else str(tree.value))
    return flat(tree) if isinstance(tree, _CLOSED) else f"({flat(tree)})"


def _operand(operator: str, tree: Tree, *, right: bool = False) -> str:
    if operator in _ARITHMETIC and isinstance(tree, Infix) and tree.operator in _ARITHMETIC:
        binds, around = _ARITHMETIC[tree.operator], _ARITHMETIC[operator]
        if binds > around or (binds == around and not right):
            return flat(tree)
    if operator == "=>" and (
        isinstance(tree, Not) or (isinstance(tree, Infix) and tree.operator in _COMPARISONS)
    ):
        return flat(tree)
    if operator in _COMPARISONS and isinstance(tree, Infix) and tree.operator in _ABOVE_COMPARISONS:
        return flat(tree)
    return _close(tree)


def _item(tree: Tree) -> str:
    """An item of a list, where a comparison needs no brackets."""
    is_plain = isinstance(tree, Not | Unchanged) or (
        isinstance(tree, Infix) and tree.operator != "=>"
    )
    return flat(tree) if is_plain else _close(tree)


def _change(change: Change) -> str:
    return f"!{_path(change)} = {flat(change.value)}"


def _path(change: Change) -> str:
    return "".join(
        f".{part.name}" if isinstance(part, Label) else f"[{flat(part)}]" for part in change.path
    )


def _head(tree: Mapped | Filter) -> str:
    bound = f"{flat(tree.variable)} \\in {flat(tree.domain)}"
    return f"[{bound} |->" if isinstance(tree, Mapped) else f"{{{bound} :"


def _quantifiers(tree: Quantified) -> tuple[str, Tree]:
    """Return the bindings of nested quantifiers of one kind, and the innermost body."""
    bound = [(flat(tree.domain), [flat(tree.variable)])]
    body: Tree = tree.body
    while (
        isinstance(body, Quantified)
        and body.quantifier == tree.quantifier
        and not any(
            isinstance(each, Atom | Local) and flat(each) in _names(bound)
            for each in everything_in(body.domain)
        )
    ):
        if flat(body.domain) == bound[-1][0]:
            bound[-1][1].append(flat(body.variable))
        else:
            bound.append((flat(body.domain), [flat(body.variable)]))
        body = body.body
    listed = ", ".join(f"{', '.join(names)} \\in {domain}" for domain, names in bound)
    return f"{tree.quantifier} {listed} :", body


def _names(bound: Sequence[tuple[str, list[str]]]) -> list[str]:
    return [name for _, names in bound for name in names]


def _definition(definition: Definition) -> str:
    head = _name(definition)
    return f"{_forward(definition)}{head} == {flat(definition.value)}"


def _name(definition: Definition) -> str:
    given = ", ".join(map(flat, definition.parameters))
    return f"{flat(definition.name)}({given})" if given else flat(definition.name)


def _forward(definition: Definition) -> str:
    if not definition.recursive:
        return ""
    places = ", ".join("_" for _ in definition.parameters)
    return f"RECURSIVE {flat(definition.name)}({places}) "


# --- several lines -------------------------------------------------------------------------------


def _is_laid_out(tree: Tree) -> bool:
    """True if it has lines of its own even where it would fit on one: LET, and lists that say what
    a step does.
    """
    match tree:
        case Let():
            return True
        case Junction(operator="/\\", items=items):
            return any(_changes(item) for item in items)
        case If(then=then, otherwise=otherwise):
            return _changes(then) or _changes(otherwise)
    return False


def _changes(tree: Tree) -> bool:
    match tree:
        case Unchanged() | Infix(operator="=", left=Primed()):
            return True
        case Junction(items=items):
            return any(map(_changes, items))
        case Let(body=body):
            return _changes(body)
        case If(then=then, otherwise=otherwise):
            return _changes(then) or _changes(otherwise)
        case Quantified(body=body):
            return _changes(body)
    return False


def _lines(tree: Tree, indent: int) -> list[str]:  # noqa: PLR0911, PLR0912 - one for each kind
    """The expression from this column on."""
    pad = " " * indent
    if indent + len(flat(tree)) <= WIDTH and not _is_laid_out(tree):
        if isinstance(tree, Infix) and tree.operator == "=" and isinstance(tree.right, If):
            # Nothing comes after it on the line.
            return [f"{pad}{_operand('=', tree.left)} = {flat(tree.right)}"]
        return [f"{pad}{flat(tree)}"]
    match tree:
        case Junction(operator=operator, items=items):
            return [line for item in items for line in _after(f"{pad}{operator} ", item)]
        case If(test=test, then=then, otherwise=otherwise):
            return [
                *_after(f"{pad}IF ", test),
                *_after(f"{pad}THEN ", then),
                *_after(f"{pad}ELSE ", otherwise),
            ]
        case Let(definitions=definitions, body=body):
            lines = [line for each in definitions for line in _of_definition(each, indent + 4)]
            lines[0] = f"{pad}LET {lines[0].lstrip()}"
            return [*lines, *_after(f"{pad}IN ", body)]
        case Quantified():
            head, body = _quantifiers(tree)
            return [f"{pad}{head}", *_lines(body, indent + 2)]
        case Mapped():
            return _end_line([f"{pad}{_head(tree)}", *_lines(tree.body, indent + 2)], "]")
        case Filter():
            return _end_line([f"{pad}{_head(tree)}", *_lines(tree.body, indent + 2)], "}")
        case Except(function=function, changes=changes):
            return _except(function, changes, indent)
        case Image(variable=variable, domain=domain, body=body):
            of = _end_line(_after(f"{pad}{{", body), " :")
            bound = f"{' ' * (indent + 2)}{flat(variable)} \\in "
            return [*of, *_end_line(_after(bound, domain), "}")]
        case Formula(operator=operator, operands=(Image() as operand,)):
            return _after(f"{pad}{operator}", operand)
        case Infix(operator="=", left=left, right=Junction() | Quantified() as right):
            return _end_line(_after(f"{pad}{flat(left)} = (", right), ")")
        case Infix(operator="=", left=Primed() | Atom() as left, right=right):
            return _after(f"{pad}{flat(left)} = ", right)
        case Infix(operator=operator, left=left, right=right):
            return [
                *_end_line(_bracket(operator, left, indent), f" {operator}"),
                *_bracket(operator, right, indent + 2),
            ]
        case Not(operand=operand):
            return _end_line(_after(f"{pad}~(", operand), ")")
        case Record(members=members):
            return _list_lines(pad, "[", [(f"{name} |-> ", value) for name, value in members], "]")
        case Records(members=members):
            return _list_lines(pad, "[", [(f"{name} : ", values) for name, values in members], "]")
        case Collection(items=items, ordered=ordered):
            opening, closing = ("<<", ">>") if ordered else ("{", "}")
            return _list_lines(pad, opening, [("", item) for item in items], closing)
        case Apply(operator=operator, arguments=arguments) if arguments:
            return _list_lines(pad, f"{flat(operator)}(", [("", item) for item in arguments], ")")
    return [f"{pad}{flat(tree)}"]


def _after(start: str, tree: Tree) -> list[str]:
    """Return the lines of an expression after the start of a line, indented to its width."""
    first, *others = _lines(tree, len(start))
    return [start + first.lstrip(), *others]


def _end_line(lines: list[str], end: str) -> list[str]:
    return [*lines[:-1], lines[-1] + end]


def _bracket(operator: str, tree: Tree, indent: int) -> list[str]:
    pad = " " * indent
    text = _operand(operator, tree)
    if indent + len(text) <= WIDTH:
        return [pad + text]
    if isinstance(tree, _CLOSED):
        return _lines(tree, indent)
    return _end_line(_after(f"{pad}(", tree), ")")


def _except(function: Tree, changes: Sequence[Change], indent: int) -> list[str]:
    pad = " " * indent
    head = f"{pad}[{flat(function)} EXCEPT"
    lines = [head]
    for number, change in enumerate(changes):
        found = _after(f"{pad}  !{_path(change)} = ", change.value)
        lines += _end_line(found, "," if number < len(changes) - 1 else "]")
    return lines


def _list_lines(
    pad: str, opening: str, items: Sequence[tuple[str, Tree]], closing: str
) -> list[str]:
    lines: list[str] = []
    for number, (label, item) in enumerate(items):
        start = f"{pad}{opening}" if number == 0 else " " * (len(pad) + len(opening))
        end = "," if number < len(items) - 1 else closing
        lines += _end_line(_after(f"{start}{label}", item), end)
    return lines


def _of_definition(definition: Definition, indent: int) -> list[str]:
    pad = " " * indent
    lines = []
    if definition.recursive:
        lines.append(f"{pad}{_forward(definition).rstrip()}")
    head = f"{pad}{_name(definition)} =="
    whole = f"{head} {flat(definition.value)}"
    if len(whole) <= WIDTH and not _is_laid_out(definition.value):
        return [*lines, whole]
    return [*lines, head, *_lines(definition.value, indent + 2)]
