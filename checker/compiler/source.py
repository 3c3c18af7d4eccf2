"""Source and syntax tree of a rule.

Each file is parsed once. A function whose file has changed since it was imported is refused: the
tree would be that of another rule than the one that Python runs.
"""

from __future__ import annotations
import __future__

import ast
import functools
import threading
import types
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waterline.model.core.made import tree_of

_FUTURES = functools.reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag,
    __future__.all_feature_names,
    0,
)
"""Flags of a code object for the `__future__` imports that it was compiled with."""

_HOLDS_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_ONE_AT_A_TIME = threading.Lock()


class NotCompilable(TypeError):
    """A rule uses something that a compiled rule cannot; says where, and what to write instead."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A function that is compiled: its syntax tree, and what the names in it stand for.

    `names` are those of its module, `variables` its own. `sources_of` says that the checker wrote
    it, and that it never runs interpreted: there is no `function` of Python's then. One that is
    `own_file` calls functions of its own file alone.
    """

    name: str
    file: str
    tree: ast.FunctionDef
    names: Mapping[str, Any]
    variables: frozenset[str]
    generated: bool = False
    function: Any = None
    own_file: bool = False

    @property
    def line(self) -> int:
        """The line of its `def`."""
        return self.tree.lineno

    @property
    def defaults(self) -> tuple[Any, ...]:
        """The defaults of its last parameters, as they are now."""
        return getattr(self.function, "__defaults__", None) or ()

    @property
    def parameters(self) -> list[str]:
        """The names of its arguments, in order."""
        return [argument.arg for argument in self.tree.args.args]

    @property
    def wraps(self) -> bool:
        """True if it is the checker's own, which works on bits: no number leaves 64 of them."""
        return self.generated or str(self.names.get("__name__", "")).startswith(
            "waterline.checker."
        )

    @property
    def place(self) -> str:
        """Where it is, from the folder of its package on: `model/message/fetch.py:46`."""
        return self.place_of(self.line)

    def place_of(self, line: int) -> str:
        """A line of it, in the same form."""
        name = str(self.names.get("__name__", "")).removeprefix("waterline.")
        packages = name.count(".") + 1
        return f"{'/'.join(Path(self.file).parts[-packages:])}:{line}"

    def refuse(self, line: int, what: str, instead: str) -> NotCompilable:
        """The error for a line of this function."""
        return NotCompilable(
            f"{self.file}:{line}: {self.tree.name} cannot be compiled: {what}; {instead}"
        )


def source_of(function: object) -> Source:
    """The syntax tree of a plain function. Raises `NotCompilable`."""
    return _source_of(function, getattr(function, "__code__", None))


@functools.cache
def _source_of(function: object, code: types.CodeType) -> Source:
    if not isinstance(function, types.FunctionType):
        raise NotCompilable(
            f"{function!r} cannot be compiled: it is no function made by `def`; "
            "write one at the top level of a module"
        )
    if code.co_name == "<lambda>":
        raise NotCompilable(
            f"{code.co_filename}:{code.co_firstlineno}: a lambda cannot be compiled: it is no "
            "function made by `def`; write one at the top level of a module"
        )
    made_of = tree_of(function)
    tree, is_as_it_runs = (made_of, True) if made_of is not None else _tree_in_file(code)
    if tree is None:
        raise NotCompilable(
            f"{code.co_filename}:{code.co_firstlineno}: {code.co_name} cannot be compiled: "
            "its text is not there (any more); define it in a file, and start anew after a change"
        )
    module = function.__module__.rpartition(".")[2]
    source = Source(
        f"{module}.{code.co_name}",
        code.co_filename,
        tree,
        function.__globals__,
        frozenset(code.co_varnames),
        function=function,
        own_file=is_of_own_file(function, code.co_filename),
    )
    if code.co_freevars or "." in function.__qualname__:
        raise source.refuse(
            source.line, "it is defined inside another function or class", "define it in the module"
        )
    if not is_as_it_runs:
        raise source.refuse(
            source.line, "its file has changed since it was imported", "start the program anew"
        )
    return source


def is_of_own_file(function: types.FunctionType, file: str) -> bool:
    """True if a function is a rule of this file, which is a user model."""
    stands_there = function.__code__.co_filename == file == function.__globals__.get("__file__")
    return stands_there and tree_of(function) is not None


def sources_of(text: str, names: Mapping[str, Any]) -> dict[str, Source]:
    """The functions of a text that the checker wrote, whose names stand for these things."""
    found: dict[str, Source] = {}
    known: Mapping[str, Any] = ChainMap(found, dict(names))
    for tree in _parse(text).body:
        if isinstance(tree, ast.FunctionDef):
            variables = _variables(tree)
            found[tree.name] = Source(
                tree.name, "<generated>", tree, known, variables, generated=True
            )
    return found


def _variables(tree: ast.FunctionDef) -> frozenset[str]:
    stored = (
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return frozenset((*stored, *(argument.arg for argument in tree.args.args)))


def _parse(text: str | bytes) -> ast.Module:
    # Python counts the depth of all the trees that its threads make in one variable (before 3.11.8
    # and 3.12.2): two at once and `ast.parse` raises SystemError.
    with _ONE_AT_A_TIME:
        return ast.parse(text)


def _tree_in_file(code: types.CodeType) -> tuple[ast.FunctionDef | None, bool]:
    """The function of the file that a code is of, and whether it makes that code.

    A file that was read before is read again where it does not: its module may have been reloaded.
    """
    place = (code.co_firstlineno, code.co_name)
    for _ in range(2):
        tree = _functions_in(code.co_filename).get(place)
        if tree is not None and _compile(tree, code) == code:
            return tree, True
        _functions_in.cache_clear()
    return tree, False


@functools.cache
def _functions_in(file: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """The functions of a file by first line, that of a decorator included, and name."""
    try:
        tree = _parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    return {
        (min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.name): node
        for node in _function_definitions(tree)
    }


def _function_definitions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Function definitions of a module, nested ones too. No expression holds one."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef):
            yield node
        left += (c for c in ast.iter_child_nodes(node) if isinstance(c, _HOLDS_STATEMENTS))


def _compile(tree: ast.FunctionDef, like: types.CodeType) -> types.CodeType | None:
    """The code object that this tree makes, to be compared with the one that runs."""
    module = ast.Module([tree], [])
    code = compile(
        module, like.co_filename, "exec", flags=like.co_flags & _FUTURES, dont_inherit=True
    )
    made = [c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == tree.name]
    return made[-1] if made else None
