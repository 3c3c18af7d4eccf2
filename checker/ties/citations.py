"""Code that a model's docstrings name, and the reasons why some of it is in no rule.

    Code: server.py:LeaseServer.acquire, server.py:LeaseServer.renew

is a paragraph of an action or a claim; `Code: none, REASON` says that such code does not exist. The
docstring of the file may have lines `Sources: DIR`, the folder of the sources from the model's
folder on, and `Not modelled: server.py:LeaseServer.close, REASON`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import Any

from waterline.checker.user_models.loading import OwnFile
from waterline.model.core.errors import BadEnvironment
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
