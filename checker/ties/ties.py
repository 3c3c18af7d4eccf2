"""The state of every tie: is the code that a model names still the code that was reviewed?"""

from __future__ import annotations

import enum
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from waterline.checker.problem.problem import Problem
from waterline.checker.ties.citations import REMEDY, Citation, ModelCode, code_in
from waterline.checker.ties.lock import lock_of, read_lock
from waterline.checker.ties.sources import Sources
from waterline.checker.ties.symbol import Kind, Symbol, Unreadable
from waterline.checker.user_models.family import OwnFamily
from waterline.checker.user_models.loading import OwnFile, load_text, read_own
from waterline.model.core.errors import nearest
from waterline.model.own.declared import Protocol


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
