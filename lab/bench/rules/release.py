"""The cited classes of one release: their methods, and the file that each class is in.

Sources are parsed as the ties of a model are. A class is every declaration of a name, with its
companion; overloaded methods are one, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lab.bench.rules.byte_code import methods_of, printed_by_javap
from lab.bench.rules.jars import fetched, files_in, text_in
from waterline.checker.ties.sources import symbols_in
from waterline.checker.ties.symbol import Kind, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_CLASS_FILE = re.compile(r"(?:.*/)?([A-Za-z]\w*)(?:\$\S*)?\.class")


@dataclass(frozen=True, slots=True)
class Method:
    """A method without comments: as it is shown, and as it is compared with another."""

    shown: str
    compared: str

    def __add__(self, other: Method) -> Method:
        return Method(f"{self.shown}\n{other.shown}", f"{self.compared}\n{other.compared}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The methods of one class of a release, and where they are: a file, or for byte code a class.

    A class of one name may be in several files; the methods of all are here.
    """

    methods: dict[str, Method] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, method: Method, file: str) -> None:
        """Take in a method of a file."""
        self.methods[name] = self.methods[name] + method if name in self.methods else method
        self.files.setdefault(name, file)


def from_sources(texts: Iterable[tuple[str, str]], classes: set[str]) -> dict[str, Found]:
    """The classes of these names in files, each a name and a text."""
    declared = re.compile(
        rf"\b(?:class|object|trait|interface|enum|record)\s+(?:{'|'.join(sorted(classes))})\b"
    )
    found: dict[str, Found] = {}
    for file, text in texts:
        if declared.search(text) is None:
            continue
        for path, symbol in symbols_in(file, text.encode()).items():
            *_, owner, name = ["", *path.split(".")]
            if symbol.kind is Kind.METHOD and owner in classes:
                method = Method(_source_of(symbol), symbol.text)
                found.setdefault(owner, Found()).add(name, method, file)
    return found


def _source_of(symbol: Symbol) -> str:
    """The source of a symbol as it is written, without comments."""
    nodes = [node for declaration in symbol.declarations for node in declaration]
    return "\n".join(b"".join(_without_comments(node)).decode() for node in nodes)


def _without_comments(node: Node) -> Iterator[bytes]:
    if "comment" in node.type:
        return
    content, at = node.text or b"", 0
    for child in node.children:
        begin = child.start_byte - node.start_byte
        yield content[at:begin]
        yield from _without_comments(child)
        at = child.end_byte - node.start_byte
    yield content[at:]


def of_release(release: str, classes: set[str], *, with_sources: bool) -> dict[str, Found]:
    """The classes of these names in a release."""
    jars = fetched(release, with_sources=with_sources)
    if with_sources:
        files = files_in(jars, ".scala", ".java")
        return from_sources(((name, text_in(jar, name)) for name, jar in files.items()), classes)
    return _from_classes(jars, classes)


def _from_classes(jars: list[Path], classes: set[str]) -> dict[str, Found]:
    """By javap, each class with its companion and what it holds."""
    named: dict[tuple[str, str], list[str]] = {}
    for file in files_in(jars, ".class"):
        matched = _CLASS_FILE.fullmatch(file)
        if matched and matched[1] in classes:
            outer = file.partition("$")[0].removesuffix(".class")
            full = file.removesuffix(".class").replace("/", ".")
            named.setdefault((matched[1], outer), []).append(full)
    found: dict[str, Found] = {}
    for (name, outer), parts in sorted(named.items()):
        printed = printed_by_javap(jars, sorted(parts))
        for method, text in methods_of(printed).items():
            found.setdefault(name, Found()).add(method, Method(text, text), outer)
    return found
