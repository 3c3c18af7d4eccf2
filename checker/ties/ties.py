"""Ties of a model: is the code that it names still the code that was reviewed?

    Code: server.py:LeaseServer.acquire, server.py:LeaseServer.renew

is a paragraph of an action or a claim; `Code: none, REASON` says that such code does not exist. The
docstring of the file may have lines `Sources: DIR`, the folder of the sources from the model's
folder on, and `Not modelled: server.py:LeaseServer.close, REASON`.
"""

from __future__ import annotations

import ast
import enum
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

from waterline.checker.problem.problem import Problem
from waterline.checker.ties.lock import lock_of, read_lock
from waterline.checker.ties.sources import Sources
from waterline.checker.ties.symbol import Kind, Symbol, Unreadable
from waterline.checker.user_models.family import OwnFamily
from waterline.checker.user_models.loading import OwnFile, load_text, read_own
from waterline.model.core.errors import BadEnvironment, nearest
from waterline.model.own.declared import Action, Protocol

_CODE = re.compile(r"^Code:[ \t]*(.*?)(?:\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_NONE = re.compile(r"none\b[,:;]?\s*(.*)", re.DOTALL)
_SYMBOL = re.compile(r"""[^\x00-\x20:,"\\\x7f][^\x00-\x1f:,"\\\x7f]*:[^\W\d]\w*(?:\.[^\W\d]\w*)*""")
_SOURCES = re.compile(r"^Sources:[ \t]*(.*\S)", re.MULTILINE)
_NOT_MODELLED = re.compile(r"^Not modelled:[ \t]*([^,\n]*[^,\s])[ \t]*,?[ \t]*(.*)$", re.MULTILINE)
REMEDY = "write Code: file.py:Class.method, or Code: none, REASON"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """An action or a claim with the symbols that it names, or the reason why it names none."""

    name: str
    file: str
    line: int
    symbols: tuple[str, ...] = ()
    reason: str = ""
    is_action: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCode:
    """All that a model's file says of code. `left_out` are symbols in no rule, with reasons."""

    folder: Path
    citations: tuple[Citation, ...]
    left_out: dict[str, str]


def code_in(own: OwnFile, protocols: Iterable[Protocol]) -> ModelCode:
    """Return the citations of all that these protocols declare, and of others that name code.

    Raises `BadEnvironment`, with the line.
    """
    actions: list[Callable[..., Any]] = []
    claims: list[Callable[..., Any]] = []
    for protocol in protocols:
        actions += [a.function if isinstance(a, Action) else a for a in protocol.actions]
        claims += list(_claims(protocol))
    others: list[Callable[..., Any]] = [
        each
        for each in own.names.values()
        if isinstance(each, FunctionType) and _CODE.search(inspect.cleandoc(each.__doc__ or ""))
    ]
    found = {id(each): _citation(each, is_action=True) for each in actions}
    for each in [*claims, *others]:
        found.setdefault(id(each), _citation(each, is_action=False))
    about = inspect.cleandoc(ast.get_docstring(ast.parse(own.text)) or "")
    sources = _SOURCES.search(about)
    left_out = {}
    for symbol, reason in _NOT_MODELLED.findall(about):
        if not _SYMBOL.fullmatch(symbol) or not reason.strip():
            described = f"Not modelled: {symbol}".rstrip()
            raise BadEnvironment(
                f"{own.file}:1: {described!r}: write Not modelled: file.py:Class.method, REASON"
            )
        left_out[symbol] = reason.strip()
    return ModelCode(
        folder=Path(own.file).parent / (sources[1] if sources else ""),
        citations=tuple(sorted(found.values(), key=lambda each: (each.file, each.line))),
        left_out=left_out,
    )


def _claims(protocol: Protocol) -> Iterable[Callable[..., Any]]:
    for kind in ("always", "every_step", "sometimes", "recoverable", "eventually"):
        yield from getattr(protocol, kind)
    yield from protocol.always_eventually
    for pair in protocol.leads_to:
        yield from pair


def _citation(function: Callable[..., Any], *, is_action: bool) -> Citation:
    code = inspect.unwrap(function).__code__
    found = Citation(
        name=function.__name__,
        file=code.co_filename,
        line=code.co_firstlineno,
        is_action=is_action,
    )
    said = _CODE.search(inspect.cleandoc(function.__doc__ or ""))
    return found if said is None else _parse(found, said[1])


def _parse(found: Citation, said: str) -> Citation:
    where = f"{found.file}:{found.line}: {found.name}"
    text = " ".join(said.split())
    if none := _NONE.fullmatch(text):
        if not none[1]:
            raise BadEnvironment(f"{where}: Code: none has no reason; {REMEDY}")
        return replace(found, reason=none[1])
    symbols = [each.strip() for each in text.split(",")]
    for symbol in symbols:
        if not _SYMBOL.fullmatch(symbol):
            raise BadEnvironment(f"{where}: {symbol!r} is no symbol of a file; {REMEDY}")
    return replace(found, symbols=tuple(dict.fromkeys(symbols)))


class State(enum.Enum):
    """State of a tie."""

    REVIEWED = "reviewed"
    NO_CODE = "none"
    NOT_MODELLED = "not modelled"
    CHANGED = "changed since it was reviewed"
    NEVER_REVIEWED = "never reviewed"
    GONE = "gone"
    UNREADABLE = "unreadable"
    UNTIED = "names no code"
    UNDESCRIBED = "described by no action"


FINE = (State.REVIEWED, State.NO_CODE, State.NOT_MODELLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """A tie: of an action or a claim (`name`, "" for none) to a symbol ("" for none).

    `place` is where the name is written, `where` the symbol; both as file:line. `note` says more.
    """

    name: str
    place: str
    symbol: str
    where: str
    state: State
    note: str = ""
    digest: str = ""

    @property
    def is_fine(self) -> bool:
        """True if nothing is to be done about it."""
        return self.state in FINE

    def __str__(self) -> str:
        note = f"; {self.note}" if self.note else ""
        if self.state is State.UNTIED:
            return f"{self.place}: {self.name} {self.state.value}{note}"
        if self.state is State.NO_CODE:
            return f"{self.place}: {self.name} -> none: {self.note}"
        symbol = self.symbol.rpartition(":")[2] if self.where else self.symbol
        if not self.name:
            return f"{self.where or self.place}: {symbol}: {self.state.value}{note}"
        code = f"{self.where} {symbol}".strip()
        return f"{self.place}: {self.name} -> {code}: {self.state.value}{note}"


def ties_of(own: OwnFile, protocols: Iterable[Protocol]) -> list[Tie]:
    """The ties of what these protocols of a file declare. Raises `BadEnvironment`."""
    code = code_in(own, protocols)
    lock = read_lock(lock_of(own.file))
    sources = Sources(code.folder)
    found = [tie for each in code.citations for tie in _of_citation(each, sources, lock)]
    found += _of_left_out(own.file, code, sources)
    return found + list(_gaps(code, sources))


def ties_of_file(file: Path) -> list[Tie]:
    """The ties of all protocols of a model's file, which is run. Raises `BadEnvironment`."""
    own = load_text(*read_own(file))
    return ties_of(own, [own.declare(name, own.bounds(name)) for name in own.protocols])


def ties_of_problem(problem: Problem) -> list[Tie]:
    """The ties of the protocol of a problem. Raises `BadEnvironment`; needs a model of a file."""
    assert isinstance(problem.family, OwnFamily)
    own = problem.family.own
    return ties_of(own, [own.declare(problem.model.version, own.bounds_in(problem.model))])


def _of_citation(each: Citation, sources: Sources, lock: Mapping[str, str]) -> Iterator[Tie]:
    place = f"{os.path.normpath(each.file)}:{each.line}"
    if each.reason:
        yield Tie(
            name=each.name, place=place, symbol="", where="", state=State.NO_CODE, note=each.reason
        )
    elif not each.symbols and each.is_action:
        yield Tie(name=each.name, place=place, symbol="", where="", state=State.UNTIED, note=REMEDY)
    for symbol in each.symbols:
        yield _of_symbol(each.name, place, symbol, sources, lock)


def _of_symbol(
    name: str, place: str, symbol: str, sources: Sources, lock: Mapping[str, str]
) -> Tie:
    file = symbol.rpartition(":")[0]
    where, note, digest = "", "", ""
    try:
        found = sources.find(symbol)
        if found is None:
            state, note = State.GONE, _nearest(symbol, sources)
        else:
            where, digest = f"{sources.path(file)}:{found.line}", found.digest
            state = _state_of_review(symbol, digest, lock)
    except Unreadable as problem:
        state, note = State.UNREADABLE, str(problem)
    return Tie(
        name=name, place=place, symbol=symbol, where=where, state=state, note=note, digest=digest
    )


def _state_of_review(symbol: str, digest: str, lock: Mapping[str, str]) -> State:
    if symbol not in lock:
        return State.NEVER_REVIEWED
    return State.REVIEWED if lock[symbol] == digest else State.CHANGED


def _nearest(symbol: str, sources: Sources) -> str:
    file, _, name = symbol.rpartition(":")
    described = f"{sources.path(file)} has no {name}"
    by_last = {each.rpartition(".")[2]: each for each in sources.symbols(file)}
    near = nearest(name.rpartition(".")[2], by_last)
    return f"{described}; did you mean {by_last[near]}?" if near else described


def _of_left_out(file: str, code: ModelCode, sources: Sources) -> Iterator[Tie]:
    for symbol, reason in code.left_out.items():
        tie = _of_symbol("", f"{os.path.normpath(file)}:1", symbol, sources, {})
        is_there = tie.state is State.NEVER_REVIEWED
        yield replace(tie, state=State.NOT_MODELLED, note=reason) if is_there else tie


def _gaps(code: ModelCode, sources: Sources) -> Iterator[Tie]:
    """The methods of classes with a method that an action describes, and that none describes."""
    named = [symbol for each in code.citations for symbol in each.symbols if each.is_action]
    described = {*named, *code.left_out}
    for owner in dict.fromkeys(symbol.rpartition(".")[0] for symbol in named):
        file, _, class_name = owner.rpartition(":")
        if not class_name or owner in described or not sources.is_readable(file):
            continue
        for name, symbol in sources.symbols(file).items():
            method = f"{file}:{name}"
            if name.rpartition(".")[0] == class_name and _is_request(symbol, method, described):
                yield Tie(
                    name="",
                    place="",
                    symbol=method,
                    where=f"{sources.path(file)}:{symbol.line}",
                    state=State.UNDESCRIBED,
                )


def _is_request(symbol: Symbol, method: str, described: set[str]) -> bool:
    return symbol.kind is Kind.METHOD and not symbol.is_internal and method not in described
