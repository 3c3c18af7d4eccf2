"""From a problem to machine code: one generated module per model, shape and set of claims.

Two kernels are generated. `expand` makes every successor of a block of states, and evaluates the
properties of each step; `inspect` evaluates invariants. The generated text is only loops and calls:
guards, effects and predicates are the functions of `model/` and `invariants/` themselves, compiled
as they stand.

Which actions a version has and which claims are asked for are run-time masks, so that every version
and setting of one shape shares one compilation. The compiled code is kept on disk under a name that
covers everything it was made of: the bytecode of every function reached, the values of every
constant they use, and the versions of the compiler. (Numba's own cache sees neither constants nor
callees.)
"""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import os
import platform
import tempfile
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

from checker.compiled import orders
from checker.compiled import state as compiled_state
from checker.compiled.canonical import canonical_source
from checker.problem import Problem
from checker.store import blocks
from checker.store.blocks import keep_least
from checker.symmetry import Symmetry
from model import layout, renaming
from model.layout import Layout
from model.transition_system import Action

Pure = Callable[..., Any]
_PLAIN = (int, str, float, bool, type(None))

ROW_SHIFT, ACTION_SHIFT = 24, 16
"""A successor's origin is one number: row, action, and the arguments as one mixed-radix number."""

FINISHED, FULL, FAULT = 0, 1, 2
"""How `expand` ended: every row done, no room for another row, an access out of range."""


_BEHIND_KERNEL = (compiled_state, blocks, layout, renaming)
_BEHIND_CANONICAL = (orders,)
"""Modules whose functions a generated text calls, or whose classes Numba pickles beside the code.

A layout is part of a state's type. One that another version of its class has pickled breaks Numba.
"""


class NotCompilable(TypeError):
    """A function of the model uses something that a compiled action cannot."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """The compiled form of a problem.

    `expand` and `inspect` are as `_source` writes them. `successors_max` is the most that one state
    can have.
    """

    expand: Pure
    inspect: Pure
    successors_max: int


def cache_directory() -> Path:
    """Where compiled kernels are kept: WATERLINE_CACHE, or the user's cache directory."""
    if chosen := os.environ.get("WATERLINE_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "waterline"


def action_mask(problem: Problem) -> int:
    """Bit i is set when action i belongs to the version's table of contents."""
    model = problem.model
    return sum(1 << i for i, a in enumerate(model.actions) if a.name in model.contents)


def claim_mask(problem: Problem) -> int:
    """Bit i is set when invariant i is asked for and applies to the version."""
    return sum(1 << i for i, claim in enumerate(problem.invariants) if problem.is_checked(claim))


def property_mask(problem: Problem) -> int:
    """Bit i is set when property i is asked for and applies to the version."""
    return sum(1 << i for i, claim in enumerate(problem.properties) if problem.is_checked(claim))


def is_cached(problem: Problem) -> bool:
    """Whether the kernel of this problem has been compiled for its shape on this machine before."""
    return all(marker.exists() for marker in _markers(problem))


def mark_cached(problem: Problem) -> None:
    """Remember that this shape has been compiled; where the cache cannot be written, do without."""
    with contextlib.suppress(OSError):
        for marker in _markers(problem):
            marker.touch()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What is compiled: actions; predicates of invariants, properties and reachability claims."""

    actions: tuple[Action, ...]
    holds: tuple[Pure, ...]
    keeps: tuple[Pure, ...]
    happens: tuple[Pure, ...]


@functools.lru_cache(maxsize=64)
def _kernel(parts: _Parts) -> Kernel:
    source, names = _source(parts)
    namespace: dict[str, Any] = {name: _compiled(function) for name, function in names.items()}
    namespace |= {
        name: getattr(compiled_state, name)
        for name in ("scratch", "fetch_words", "put_words", "copy_state", "faulted")
    }
    namespace |= {"keep_least": keep_least, "__name__": __name__}
    fingerprint = _fingerprint(source, names, _BEHIND_KERNEL)
    expand, inspect = _load(fingerprint, source, namespace, "expand", "inspect")
    return Kernel(expand, inspect, 0)


@functools.lru_cache(maxsize=64)
def _canonical(form: Layout, symmetry: Symmetry) -> Pure:
    source = canonical_source(form, symmetry)
    namespace: dict[str, Any] = {
        name: getattr(orders, name) for name in ("sort_by_signature", "next_order", "name_rest")
    }
    namespace |= {"empty": np.empty, "int64": np.int64, "__name__": __name__}
    fingerprint = _fingerprint(source, {}, _BEHIND_CANONICAL)
    return _load(fingerprint, source, namespace, "canonical")[0]


def _load(fingerprint: str, source: str, namespace: dict[str, Any], *names: str) -> list[Pure]:
    """The functions that a generated text defines, to be compiled at their first call."""
    path = _write(fingerprint, source)
    exec(compile(source, str(path or "<waterline kernel>"), "exec"), namespace)
    jit = numba.njit(nogil=True, cache=path is not None)
    return [jit(namespace[name]) for name in names]


def kernel_of(problem: Problem) -> Kernel:
    """The kernel of a problem. Machine code is made, or loaded, at its first call."""
    kernel = _kernel(_parts(problem))
    sizes = problem.model.layout.sizes
    most = 0
    for action in problem.model.actions:
        most += int(np.prod([sizes[p.over] for p in action.parameters], dtype=np.int64))
    return Kernel(kernel.expand, kernel.inspect, most)


def canonical_of(problem: Problem) -> Pure | None:
    """`canonical` as `checker.compiled.canonical` writes it; None where no symmetry is asked for.

    A module of its own: it depends on the layout, and on no rule or claim.
    """
    if problem.symmetry is Symmetry.NONE:
        return None
    return _canonical(problem.model.layout, problem.symmetry)


def _parts(problem: Problem) -> _Parts:
    return _Parts(
        problem.model.actions,
        tuple(claim.holds for claim in problem.invariants),
        tuple(claim.keeps for claim in problem.properties),
        tuple(claim.happens for claim in problem.reachable),
    )


def _markers(problem: Problem) -> list[Path]:
    """Empty files that say for which shapes the modules of this problem have been compiled."""
    form = problem.model.layout
    fingerprints = [_fingerprint(*_source(_parts(problem)), _BEHIND_KERNEL)]
    if problem.symmetry is not Symmetry.NONE:
        source = canonical_source(form, problem.symmetry)
        fingerprints.append(_fingerprint(source, {}, _BEHIND_CANONICAL))
    directory = cache_directory() / "kernels"
    return [directory / fingerprint / f"{form.digest}.done" for fingerprint in fingerprints]


def _write(fingerprint: str, source: str) -> Path | None:
    """Put the generated text where Numba can keep machine code beside it, if anywhere."""
    directory = cache_directory() / "kernels" / fingerprint
    path = directory / "kernel.py"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            handle, temporary = tempfile.mkstemp(dir=directory, suffix=".py")
            with os.fdopen(handle, "w") as file:
                file.write(source)
            Path(temporary).replace(path)
    except OSError:
        return None
    return path


def _source(parts: _Parts) -> tuple[str, dict[str, Pure]]:
    """The text of both kernels, and the functions that its names stand for."""
    names: dict[str, Pure] = {}
    lines = [
        "def expand(layout, c, mask, asked, rows, start, stop, out, origin, fired, cut, happened,",
        "           dead, broken, least):",
        '    """Successors of rows[start:stop] into `out`, where each came from into `origin`.',
        "",
        "    Returns (next row, successors written, how it ended). fired[a] counts transitions of",
        "    action a, cut[a, b] those that bound b cut; happened[k] is set once claim k happened;",
        "    dead[row] is set where a state has no transition at all. Where a step breaks property",
        "    k and it is asked for, broken[k] is set and least[k] lowered to the least such row.",
        '    """',
        "    s = scratch(layout)",
        "    t = scratch(layout)",
        "    n = 0",
        "    room = out.shape[0]",
        "    for row in range(start, stop):",
        f"        if n + {' + '.join(_count(action) for action in parts.actions)} > room:",
        "            return row, n, 1",
        "        fetch_words(s, rows, row)",
        "        before = n",
        "        kept_out = 0",
    ]
    for number, action in enumerate(parts.actions):
        lines += _action_lines(number, action, len(parts.happens), names)
    lines += _property_lines(parts.keeps, names)
    lines += [
        "        if faulted(s) or faulted(t):",
        "            return row, before, 2",
        "        dead[row] = n == before and kept_out == 0",
        "    return stop, n, 0",
        "",
        "",
        "def inspect(layout, c, mask, rows, start, stop, broken, least):",
        '    """Set broken[i] and lower least[i] to the least of rows[start:stop] that breaks i.',
        "",
        "    Returns -1, or the first row in which an access was out of range.",
        '    """',
        "    s = scratch(layout)",
        "    for row in range(start, stop):",
        "        fetch_words(s, rows, row)",
    ]
    for number, predicate in enumerate(parts.holds):
        names[f"holds_{number}"] = predicate
        lines += [
            f"        if mask >> {number} & 1 and not holds_{number}(s, c):",
            f"            keep_least(rows, row, broken, least, {number})",
        ]
    lines += ["        if faulted(s):", "            return row", "    return -1"]
    for number, predicate in enumerate(parts.happens):
        names[f"happens_{number}"] = predicate
    return "\n".join(lines) + "\n", names


def _count(action: Action) -> str:
    return " * ".join(f"s.{p.over}" for p in action.parameters) or "1"


def _action_lines(number: int, action: Action, claims: int, names: dict[str, Pure]) -> list[str]:
    """Loops over the arguments of one action: guard, limit, effect, successor."""
    names[f"guard_{number}"] = action.guard
    names[f"effect_{number}"] = action.effect
    pad = " " * 8
    lines = [f"{pad}if mask >> {number} & 1:  # {action.name}"]
    arguments = [f"a{i}" for i in range(len(action.parameters))]
    for argument, parameter in zip(arguments, action.parameters, strict=True):
        pad += "    "
        lines.append(f"{pad}for {argument} in range(s.{parameter.over}):")
    given = "".join(f", {argument}" for argument in arguments)
    packed = "0"
    for argument, parameter in zip(arguments, action.parameters, strict=True):
        packed = f"({packed}) * s.{parameter.over} + {argument}"
    pad += "    "
    lines.append(f"{pad}if guard_{number}(s, c{given}):")
    pad += "    "
    if action.limit is not None:
        names[f"limit_{number}"] = action.limit
        lines += [
            f"{pad}bound = limit_{number}(s, c{given})",
            f"{pad}if bound != 0:",
            f"{pad}    cut[{number}, bound] += 1",
            f"{pad}    kept_out += 1",
            f"{pad}else:",
        ]
        pad += "    "
    lines += [
        f"{pad}copy_state(t, s)",
        f"{pad}effect_{number}(t, c{given})",
        f"{pad}put_words(t, out, n)",
        f"{pad}origin[n] = row << {ROW_SHIFT} | {number} << {ACTION_SHIFT} | {packed}",
        f"{pad}n += 1",
        f"{pad}fired[{number}] += 1",
    ]
    for claim in range(claims):
        lines += [
            f"{pad}if not happened[{claim}]:",
            f"{pad}    happened[{claim}] = happens_{claim}(s, t, c)",
        ]
    return lines


def _property_lines(keeps: Sequence[Pure], names: dict[str, Pure]) -> list[str]:
    """A second loop over a state's successors: not a copy of each property behind each action."""
    if not keeps:
        return []
    lines = [
        "        if asked != 0:",
        "            for i in range(before, n):",
        "                fetch_words(t, out, i)",
    ]
    for number, predicate in enumerate(keeps):
        names[f"keeps_{number}"] = predicate
        lines += [
            f"                if asked >> {number} & 1 and not keeps_{number}(s, t, c):",
            f"                    keep_least(rows, row, broken, least, {number})",
        ]
    return lines


def rules_digest(problem: Problem) -> str:
    """A name for the rules and claims of a problem: their bytecode, and all that it refers to.

    It covers which claims are checked, too: one that was not so far may be broken already.
    """
    source, names = _source(_parts(problem))
    digest = hashlib.sha256(source.encode())
    digest.update(repr([c.name for c in problem.claims if problem.is_checked(c)]).encode())
    digest.update(repr(platform.python_version_tuple()[:2]).encode())
    seen: set[Pure] = set()
    for name in sorted(names):
        digest.update(name.encode())
        _describe(names[name], digest, seen)
    return digest.hexdigest()[:24]


def _globals_used(function: Pure) -> list[str]:
    """Names of globals that a function reads, attribute names left out."""
    return sorted(
        {
            instruction.argval
            for instruction in dis.get_instructions(function)
            if instruction.opname == "LOAD_GLOBAL"
        }
    )


@functools.cache
def _compiled(function: Pure) -> Any:
    """A function of the model, and every function it calls, ready for Numba."""
    if not isinstance(function, types.FunctionType) or function.__closure__:
        raise NotCompilable(f"{function!r} is not a plain module-level function without a closure")
    namespace = dict(function.__globals__)
    for name in _globals_used(function):
        value = namespace.get(name)
        if isinstance(value, types.FunctionType):
            namespace[name] = _compiled(value)
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__
    )
    # Inlined by order: LLVM would call the larger guards, and reload the state in each. Only the
    # kernels are called from Python: without wrappers of their own these compile a quarter faster.
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(nogil=True, forceinline=True, **options)(copy)


def _fingerprint(source: str, names: dict[str, Pure], modules: Sequence[types.ModuleType]) -> str:
    """A name for everything that the machine code depends on, but for the layout."""
    digest = hashlib.sha256(source.encode())
    versions = (platform.python_version(), numba.__version__, llvmlite.__version__, np.__version__)
    digest.update(repr(versions).encode())
    for module in modules:
        # By name too: what Numba keeps on disk names the modules of its types.
        digest.update(module.__name__.encode())
        digest.update(Path(str(module.__file__)).read_bytes())
    seen: set[Pure] = set()
    for name in sorted(names):
        digest.update(name.encode())
        _describe(names[name], digest, seen)
    return digest.hexdigest()[:24]


def _describe(function: Pure, digest: Any, seen: set[Pure]) -> None:
    """Digest a function's bytecode, constants and globals, and those of all it calls."""
    if function in seen:
        return
    seen.add(function)
    code = function.__code__
    digest.update(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames, function.__defaults__)).encode())
    for constant in code.co_consts:
        if isinstance(constant, (*_PLAIN, tuple)):
            digest.update(repr(constant).encode())
    for name in _globals_used(function):
        value = function.__globals__.get(name)
        digest.update(name.encode())
        if isinstance(value, types.FunctionType):
            digest.update(value.__module__.encode() + value.__qualname__.encode())
            _describe(value, digest, seen)
        elif isinstance(value, types.ModuleType):
            constants = {k: v for k, v in vars(value).items() if isinstance(v, _PLAIN)}
            constants.pop("__file__", None), constants.pop("__cached__", None)
            digest.update(repr(sorted(constants.items(), key=str)).encode())
        else:
            digest.update(repr(value).encode())
