"""The cited classes of one release: their methods, and the file that each class is in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from lab.bench.rules.byte_code import methods_of, printed_by_javap
from lab.bench.rules.jars import fetched, files_in, text_in
from lab.bench.rules.methods import Methods, classes_in

_CLASS_FILE = re.compile(r"(?:.*/)?([A-Za-z]\w*)(?:\$\S*)?\.class")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The methods of one class of a release, and where they are: a file, or for byte code a class.

    A class of one name may be in several files; the methods of all are here.
    """

    methods: Methods = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def add(self, methods: Methods, file: str) -> None:
        """Take in what another file has."""
        for name, text in methods.items():
            self.methods[name] = f"{self.methods[name]}\n{text}" if name in self.methods else text
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
        is_scala = file.endswith(".scala")
        for name, methods in classes_in(text, is_scala=is_scala, wanted=classes).items():
            found.setdefault(name, Found()).add(methods, file)
    return found


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
        found.setdefault(name, Found()).add(methods_of(printed), outer)
    return found
