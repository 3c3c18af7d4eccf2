"""Symbols of a file of Go, Java, Rust or Scala, from the trees that tree-sitter's grammars make.

Tree-sitter goes on after what it cannot parse. A file with such a place is refused: a symbol might
end early there, and a change of the rest would not be seen.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from waterline.checker.problem.distribution import require
from waterline.checker.ties.symbol import Kind, Symbol, Symbols, Unreadable, add

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

GRAMMARS = {
    ".go": "tree_sitter_go",
    ".java": "tree_sitter_java",
    ".rs": "tree_sitter_rust",
    ".scala": "tree_sitter_scala",
}
_CLASSES = {
    *("class_declaration", "interface_declaration", "enum_declaration", "record_declaration"),
    *("class_definition", "object_definition", "trait_definition", "enum_definition"),
    *("struct_item", "enum_item", "union_item", "trait_item", "impl_item", "type_spec"),
}
_FUNCTIONS = {
    *("method_declaration", "constructor_declaration", "compact_constructor_declaration"),
    *("function_definition", "function_declaration", "method_elem"),
    *("function_item", "function_signature_item"),
}
_MODULES = {"mod_item"}
_ANONYMOUS = {"object_creation_expression", "instance_expression"}
"""A class without a name: what it declares is named `new` on the way."""
_ATTRIBUTE = "attribute_item"
"""In Rust it stands before what it is about, and not in it."""


def grammar_symbols(file: str, content: bytes, suffix: str) -> Symbols:
    """Return the symbols of a file. Raises `Unreadable`, `Missing` without the grammar."""
    root = _parser(suffix).parse(content.replace(b"\r\n", b"\n")).root_node
    if root.has_error:
        line = _error_in(root).start_point.row + 1
        raise Unreadable(f"{file}:{line}: no {suffix[1:]} that {GRAMMARS[suffix]} can parse")
    found: Symbols = {}
    _collect(root, (), found, owner=None, is_go=suffix == ".go")
    return found


@functools.cache
def _parser(suffix: str) -> Parser:
    for library in ("tree_sitter", GRAMMARS[suffix]):
        require(library, "ties", f"a tie to a {suffix} file")
    from tree_sitter import Language, Parser  # noqa: PLC0415 - an extra

    grammar = importlib.import_module(GRAMMARS[suffix])
    return Parser(Language(grammar.language()))


def _error_in(node: Node) -> Node:
    """The first place that is an error or lacks something."""
    while not (node.is_error or node.is_missing):
        node = next(each for each in node.children if each.has_error or each.is_missing)
    return node


def _collect(
    node: Node, names: tuple[str, ...], found: Symbols, *, owner: Kind | None, is_go: bool
) -> None:
    attributes: list[Node] = []
    for child in node.children:
        if child.type == _ATTRIBUTE:
            attributes.append(child)
            continue
        if "comment" in child.type:
            continue
        inner, kind = _declaration(child, names, owner)
        if kind is not None:
            row = child.start_point.row + 1
            symbol = Symbol(kind, row, _is_internal(child, inner[-1], is_go=is_go), _spell)
            declaration = (*attributes, child)
            add(found, inner, symbol, declaration)
            if child.child_by_field_name("receiver") is not None:
                type_of = Symbol(Kind.CLASS, row, is_internal=False, spell=_spell)
                add(found, inner[:-1], type_of, declaration)
        attributes = []
        within = owner if inner == names else kind
        _collect(child, inner, found, owner=within, is_go=is_go)


def _declaration(
    node: Node, names: tuple[str, ...], owner: Kind | None
) -> tuple[tuple[str, ...], Kind | None]:
    """The names on the way into a node, and the kind of what it declares."""
    if node.type in _ANONYMOUS:
        return (*names, "new"), None
    named = node.child_by_field_name("name") or node.child_by_field_name("type")
    if named is None or node.type not in _CLASSES | _FUNCTIONS | _MODULES:
        return names, None
    name = re.sub(r"<.*", "", _text(named), flags=re.DOTALL).rpartition("::")[2].strip()
    receiver = node.child_by_field_name("receiver")
    if receiver is not None:  # of Go: (s *Server[T])
        before_arguments = _text(receiver).partition("[")[0]
        return (re.findall(r"\w+", before_arguments)[-1], name), Kind.METHOD
    if node.type in _MODULES:
        return (*names, name), None
    if node.type in _CLASSES:
        return (*names, name), Kind.CLASS
    return (*names, name), Kind.METHOD if owner is Kind.CLASS else Kind.FUNCTION


def _is_internal(node: Node, name: str, *, is_go: bool) -> bool:
    """True if others do not call it: private, a constructor, an implementation of a trait."""
    kinds = {each.type for each in node.children}
    if is_go:
        return not name[:1].isupper()
    if node.type == "function_item":
        return "visibility_modifier" not in kinds
    words = [_text(each).split() for each in node.children if each.type == "modifiers"]
    is_private = any(re.match(r"(private|protected)\b", word) for line in words for word in line)
    return is_private or "constructor" in node.type or name == "this"


def _spell(declaration: tuple[Node, ...]) -> str:
    return " ".join(part for node in declaration for part in _parts(node))


def _parts(node: Node) -> Iterator[str]:
    """The words of a node in brackets that show how they belong together, without comments.

    The brackets count: in Scala and Go the end of a line may end a statement.
    """
    if "comment" in node.type:
        return
    if not node.child_count or "string" in node.type:
        yield _text(node)
        return
    yield "("
    content, at = node.text or b"", 0
    for child in node.children:
        begin = child.start_byte - node.start_byte
        yield from _words(content[at:begin])  # that the grammar does not name
        yield from _parts(child)
        at = child.end_byte - node.start_byte
    yield from _words(content[at:])
    yield ")"


def _words(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split()


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
