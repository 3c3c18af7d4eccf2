"""Loading of a user's file, which is code and runs with the user's rights.

Only a person's own words load one: `--model`, or a gate that is allowed to. What is loaded is a
text; where it came from is remembered for messages, and other processes are sent the text.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.abc
import importlib.util
import linecache
import re
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from waterline.counterexamples.named_file import BadFile, read_named
from waterline.model import own
from waterline.model.core.errors import BadEnvironment, RaisedAtStart, did_you_mean_or
from waterline.model.core.transition_system import Model
from waterline.model.own import BadProtocol, Protocol
from waterline.model.own.state_class import Bound, bounds_of, call_within

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,150}\.py", re.ASCII)
FILE_BYTES_MAX = 1 << 20
_Value = TypeVar("_Value")
_Imported: TypeAlias = list[tuple[str, types.ModuleType, dict[str, Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class OwnFile:
    """A file that has run. `protocols` are its functions that return one, in their order.

    `called` is what traces call it by, where its own name is none that they can have.
    """

    file: str
    text: str
    names: Mapping[str, Any]
    protocols: Mapping[str, Callable[..., Protocol]]
    called: str = ""

    @property
    def name(self) -> str:
        """The model's name in traces and runs: the file's name without its folders."""
        return self.called or Path(self.file).name

    @property
    def digest(self) -> str:
        """A name for its content."""
        return digest_of(self.text)

    def bounds(self, protocol: str) -> dict[str, Bound]:
        """The bounds of a protocol, each with its default."""
        return bounds_of(self.protocols[protocol])

    def bounds_in(self, model: Model) -> dict[str, Bound]:
        """The bounds of a model of the file; those that it is without have their defaults."""
        found = self.bounds(model.version)
        return {name: model.options.get(name, value) for name, value in found.items()}  # type: ignore[misc]  # as given

    def declare(self, protocol: str, bounds: Mapping[str, Bound]) -> Protocol:
        """Return the function's declaration within these bounds. Raises `BadEnvironment`."""
        made = describe_where(self.file, lambda: call_within(self.protocols[protocol], bounds))
        if not isinstance(made, Protocol):
            raise BadEnvironment(f"{self.file}: {protocol} returns no Protocol but {made!r}")
        return made


def digest_of(text: str) -> str:
    """A name for a content."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_own(path: Path) -> tuple[str, str]:
    """Text and path of a user's file. Raises `BadEnvironment`."""
    if path.suffix != ".py":
        raise BadEnvironment(f"{path} is no model: its name does not end in .py")
    if _NAME.fullmatch(path.name) is None:
        raise BadEnvironment(f"{path}: traces name it; call it with letters, digits, _ and - alone")
    try:
        text = read_named(path, bytes_max=FILE_BYTES_MAX).decode("utf-8-sig")
    except BadFile as problem:
        raise BadEnvironment(str(problem)) from None
    except UnicodeDecodeError:
        raise BadEnvironment(f"{path} is no Python: it is not UTF-8 text") from None
    return text, str(path)


_FILES_MAX = 16
_files: dict[tuple[str, str], tuple[OwnFile, _Imported]] = {}
"""Files that have run, by text and file, with what the modules had that they import."""


def load_text(text: str, file: str) -> OwnFile:
    """Run a text as that of `file`: once, unless a module that it imports has changed meanwhile.

    Raises `BadEnvironment`, with the line.
    """
    found = _files.get((text, file))
    if found is not None and all(_is_as_it_was(*each) for each in found[1]):
        return found[0]
    own = _run(text, file)
    if len(_files) >= _FILES_MAX:
        _files.clear()
    _files[text, file] = own, _imports(text)
    return own


def _imports(text: str) -> _Imported:
    """The modules that a text imports, but for Python's and Waterline's, with their names."""
    nodes = list(ast.walk(ast.parse(text)))
    named = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
    named |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    ours = {*sys.stdlib_module_names, "waterline"}
    modules = [(name, sys.modules.get(name)) for name in named if name.split(".")[0] not in ours]
    return [(name, module, dict(vars(module))) for name, module in modules if module is not None]


def _is_as_it_was(name: str, module: types.ModuleType, names: dict[str, Any]) -> bool:
    now = vars(module)
    return (
        sys.modules.get(name) is module
        and now.keys() == names.keys()
        and all(now[each] is value for each, value in names.items())
    )


def _run(text: str, file: str) -> OwnFile:
    name = f"own_{Path(file).stem}_{digest_of(text)}"
    # So that what Python says of it shows the line, wherever the text is run.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    spec = importlib.util.spec_from_loader(name, _Text(text, file), origin=file)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = file
    assert spec.loader is not None
    execute = spec.loader.exec_module
    sys.modules[name] = module  # Where a class that it defines looks for it, by then.
    try:
        describe_where(file, lambda: execute(module))
    finally:
        sys.modules.pop(name, None)
    protocols = {
        function.__name__: function
        for function in vars(module).values()
        if isinstance(function, types.FunctionType)
        and function.__module__ == name
        and _is_protocol(function.__annotations__.get("return"))
    }
    if not protocols:
        raise BadEnvironment(
            f"{file} declares no protocol; write a function `def name(...) -> Protocol:` "
            "(`waterline new NAME` writes a file to begin with)"
        )
    found = OwnFile(file, text, vars(module), protocols)
    for protocol in protocols:
        describe_where(file, functools.partial(found.bounds, protocol))
    return found


def _is_protocol(annotation: object) -> bool:
    """True if a return annotation is Protocol, also as a string."""
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == "Protocol"
    return annotation is Protocol


class _Text(importlib.abc.InspectLoader):
    """Gives a module the text of a file, whether that is there or not."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file

    def get_source(self, fullname: str) -> str:
        """The text."""
        return self._text

    def get_code(self, fullname: str) -> types.CodeType:
        """The text, compiled under the file's name."""
        return self.source_to_code(self._text, self._file)


def describe_where(file: str, call: Callable[[], _Value]) -> _Value:
    """Return the result of a call into a user's file; report its error with file and line."""
    try:
        return call()
    except RaisedAtStart:
        raise
    except SyntaxError as problem:
        raise BadEnvironment(
            f"{problem.filename}:{problem.lineno}:{problem.offset or 1}: {problem.msg}"
        ) from None
    except (Exception, SystemExit) as problem:  # A file that ends the program would pass for one
        # whose claims hold.
        frames = [f for f in traceback.extract_tb(problem.__traceback__) if f.filename == file]
        described = str(problem)
        if described.startswith(f"{file}:"):
            raise BadEnvironment(described) from None
        line = f":{frames[-1].lineno}" if frames else ""
        if isinstance(problem, Exception):
            text = "".join(linecache.getlines(file))
            functions = frozenset(re.findall(r"^def (\w+)", text, re.MULTILINE))
            if (mistake := describe_declaration_error(problem, functions)) is not None:
                raise BadEnvironment(f"{file}{line}: {mistake}") from None
        kind = "" if isinstance(problem, BadProtocol) else f"{type(problem).__name__}: "
        described = " ".join(described.split())
        raise BadEnvironment(f"{file}{line}: {kind}{described}") from problem


_USAGE = {
    "Names": "Names takes what one is called and how many there are, as nodes = Names('node', 3)",
    "Epochs": "Epochs takes what one is called and the highest, as terms = Epochs('term', 3)",
    "Opaque": "Opaque takes what one is called and how many there are, as "
    "records = Opaque('record', 2)",
    "Epoch": "Epoch takes a sort of Epochs, as term = Epoch(terms, by=nodes)",
    "Flag": "Flag takes nothing but by=, as sent = Flag(by=nodes); it is False at first",
    "Number": "Number takes the least and the greatest number, as term = Number(0, terms)",
    "Choice": "Choice takes its words, as state = Choice('idle', 'busy')",
    "Name": "Name takes a sort, as leader = Name(nodes, or_none=True)",
    "Set": "Set takes what its members are of, as votes = Set(of=nodes)",
    "Queue": "Queue takes what its values are of and how many have room, as "
    "wire = Queue(of=('ask', 'yes'), room=2)",
    "Log": "Log takes what its values are of and how many have room, as log = Log(of=3, room=4)",
    "Action": "Action takes a function and what its arguments range over, as "
    "Action(send, source=state.nodes)",
}
_HIDING = frozenset({"hidden", "hide", "view"})
"""Names that users of TLC's VIEW may look for."""
_NO_VIEW = (
    "would take states that differ for one, and never see what follows only from the others; "
    "write ghost=True for a field that only claims read, and make bounds smaller for fewer states"
)
_IN_A_LIST = "; in a list of fields a name comes first"
_INIT = re.compile(r"(\w+)\.__init__\(\) (.+)")
_UNEXPECTED = re.compile(r"got an unexpected keyword argument '(\w+)'")
_MISSING = re.compile(r"(\w+)\(\) missing \d+ required positional arguments?: .+")
_WRITTEN_WITH = [name for name in own.__all__ if name != "BadProtocol"]
_PROTOCOL = tuple(Protocol.__dataclass_fields__)


def describe_declaration_error(
    error: Exception, functions: frozenset[str] = frozenset()
) -> str | None:
    """Return the error and its remedy; None if the error is not about a declaration.

    `functions` are those of the file.
    """
    text = str(error)
    if isinstance(error, TypeError) and (found := _INIT.search(text)):
        return _of_declaration(found[1], found[2])
    if isinstance(error, TypeError) and (found := _MISSING.fullmatch(text)):
        if found[1] in functions:
            return f"{found[1]} is called here; name it without brackets: {found[1]}"
        return None
    if isinstance(error, NameError) and error.name in _WRITTEN_WITH:
        return f"{error.name} is not imported; write from waterline import {error.name}"
    if isinstance(error, ImportError) and error.name == "waterline":
        wanted = text.split("'")[1]
        known = _WRITTEN_WITH
        return f"waterline has no {wanted}; " + did_you_mean_or(
            wanted, known, f"it has {', '.join(known)}"
        )
    return None


def _of_declaration(kind: str, what: str) -> str | None:
    unexpected = _UNEXPECTED.search(what)
    if unexpected and unexpected[1] in _HIDING and kind in {"Protocol", *_USAGE}:
        article = "a" if kind == "Protocol" else "this"
        return f"{article} {kind} has no {unexpected[1]!r}: that {_NO_VIEW}"
    if kind == "Protocol" and unexpected:
        name = unexpected[1]
        known = f"it has {', '.join(_PROTOCOL)}"
        return f"a Protocol has no {name!r}; {did_you_mean_or(name, _PROTOCOL, known)}"
    if not (usage := _USAGE.get(kind) or _example(kind)):
        return None
    given = f"has no {unexpected[1]!r}" if unexpected else "has other arguments"
    listed = "" if kind in ("Names", "Action") else _IN_A_LIST
    return f"this {kind} {given}; {usage}{listed}"


def _example(kind: str) -> str:
    """Return the example in the docstring of a kind of field, as a remedy; "" for none."""
    declared = getattr(own, kind, None) if kind in own.__all__ else None
    example = re.search(rf"`(\w+ = {kind}\([^`]+)`", getattr(declared, "__doc__", None) or "")
    return f"write it as {example[1]}" if example else ""
