"""A model that is in memory already: its functions, and the text that they were made of.

Rules are read from the text, so that must be the one that Python has compiled. Where it is not,
because the file was edited since, or a notebook's cell is gone, nothing is checked.
"""

from __future__ import annotations
import __future__

import itertools
import linecache
import re
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from waterline.checker.user_models.loading import FILE_BYTES_MAX, OwnFile
from waterline.counterexamples.named_file import BadFile, read_named
from waterline.model.core.errors import BadEnvironment
from waterline.model.own import Action, Protocol
from waterline.model.own.state_class import body_of

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,150}\.py", re.ASCII)


def live_file(function: Callable[..., Protocol], protocol: Protocol) -> OwnFile:
    """The file of a function that declares a protocol, which it has returned.

    Raises `BadEnvironment` where its source is not known, or is not what has run.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        raise BadEnvironment(f"{function!r} is no function with a source; write it with def")
    file, names = code.co_filename, function.__globals__
    text = _text_of(file, names)
    _require_as_it_ran(file, text, function, protocol)
    name = function.__name__
    called = "" if _NAME.fullmatch(Path(file).name) else f"{name}.py"
    return OwnFile(file, text, dict(names), {name: function}, called)


def _text_of(file: str, names: dict[str, Any]) -> str:
    """The text of a file, or of a notebook's cell, which Python knows under a name of its own."""
    if Path(file).is_file():
        try:
            return read_named(Path(file), bytes_max=FILE_BYTES_MAX).decode("utf-8-sig")
        except BadFile as problem:
            raise BadEnvironment(str(problem)) from None
        except UnicodeDecodeError:
            raise BadEnvironment(f"{file} is not UTF-8 text; write it so") from None
    text = "".join(linecache.getlines(file, names))
    if not text:
        raise BadEnvironment(
            f"the source of {file} is not known, and rules are read from it; write the model into "
            "a file, or into a cell of a notebook"
        )
    return text


def _require_as_it_ran(
    file: str, text: str, function: Callable[..., Protocol], protocol: Protocol
) -> None:
    """The functions of the protocol, and those that they call, are what this text makes."""
    # A notebook goes on with what an earlier cell has imported of __future__.
    flags = (0, __future__.annotations.compiler_flag)
    try:
        modules = [compile(text, file, "exec", each, dont_inherit=True) for each in flags]
    except (SyntaxError, ValueError):
        raise BadEnvironment(_changes(file)) from None
    written: dict[tuple[str, int], list[types.CodeType]] = {}
    for code in itertools.chain.from_iterable(map(_codes, modules)):
        written.setdefault((code.co_name, code.co_firstlineno), []).append(code)
    codes = [each.__code__ for each in _reachable([function, *_functions(protocol)], file)]
    if protocol.state is not None and (body := body_of(protocol.state)) is not None:
        codes.append(body)
    for code in codes:
        found = written.get((code.co_name, code.co_firstlineno), [])
        if _facts(code) not in map(_facts, found):
            raise BadEnvironment(
                f"{_changes(file)} ({code.co_name}, line {code.co_firstlineno}, is another one)"
            )


def _changes(file: str) -> str:
    return f"{file} has changed since Python has read it; load it again, or start Python again"


def _functions(protocol: Protocol) -> Iterator[Any]:
    """All that the protocol is made of."""
    declared = [*protocol.actions, *protocol.fair, *protocol.strongly_fair]
    if protocol.initial is not None:
        declared.append(protocol.initial)
    yield from (each.function if isinstance(each, Action) else each for each in declared)
    for claims in (
        protocol.always,
        protocol.every_step,
        protocol.sometimes,
        protocol.recoverable,
        protocol.eventually,
        protocol.always_eventually,
    ):
        yield from claims
    for pair in protocol.leads_to:
        yield from pair


def _reachable(functions: Iterable[Any], file: str) -> Iterator[types.FunctionType]:
    """The functions of the file among these, and those of it that they name, again and again."""
    left, seen = list(functions), set()
    while left:
        each = left.pop()
        if not isinstance(each, types.FunctionType) or each in seen:
            continue
        seen.add(each)
        if each.__code__.co_filename != file:
            continue  # refused where the rules are read, with its line
        yield each
        names = {name for code in _codes(each.__code__) for name in code.co_names}
        left += [each.__globals__[name] for name in names if name in each.__globals__]


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code and all within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _facts(code: types.CodeType) -> tuple[object, ...]:
    """Return a code's behaviour as a value: other bytecode is another function."""
    constants = tuple(
        _facts(each) if isinstance(each, types.CodeType) else (type(each), each)
        for each in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars)
