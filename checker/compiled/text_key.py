"""Which text a program has, found without writing the text: a verifying trace.

To write a program's text takes a tenth of a second, and the text is only needed for its name in the
cache. Writing is a function of the compiler's sources, the recipe, and what each look-up of a name
led to (`checker.compiled.resolution`). The key has the first two. What is kept under it has the
look-ups in order, each with its content, and the name of the text that was written then. Each path
is followed again: where all of them lead to the same content, writing would ask the same questions,
get the same answers, and write the same text (docs/kept.md has the argument). Where one does not,
the text is written.

There is no key where a recipe holds something that has no content, or where a source was changed
shortly before this process began or since: what runs may then be older than what the file says.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from checker.compiled.content import Intrinsic, NoContent, content_of
from checker.compiled.resolution import Path as LookupPath
from checker.compiled.resolution import Undefined, followed
from model.kit.layout import Layout

PACKAGES = Path(__file__).parents[2]
COMPILER = (
    "checker/compiled",
    "checker/problems",
    "checker/rows.py",
    "model/kit",
)
"""What writes a text: folders and modules. A test sees that the compiler imports no other. Rules
may lie elsewhere: what they read is looked up."""
EVERYTHING = ("checker", "invariants", "model")
SETTLED_SECONDS = 60.0
"""How long before this process a source must have been left alone: more than importing it takes."""
_BEGAN = time.time()
_PLAIN = (bool, bytes, complex, float, int, str, type(None), type(...))
Found = Mapping[tuple[types.FunctionType, LookupPath], Any]
"""What each path from a function led to, in the order in which they were looked up."""
Recorded = list[list[Any]]
"""The same as JSON has it: number of the function, steps, content."""


@dataclasses.dataclass(frozen=True, slots=True)
class TextKey:
    """A name for a recipe, and the functions in it, from which look-ups begin."""

    name: str
    functions: tuple[types.FunctionType, ...]

    def recorded(self, found: Found) -> Recorded | None:
        """Look-ups as they are kept; None where one began elsewhere."""
        numbers = {function: number for number, function in enumerate(self.functions)}
        recorded: Recorded = []
        for (function, path), thing in found.items():
            if function not in numbers:
                if _is_among(function, COMPILER):
                    continue  # the key has its source
                return None
            recorded.append([numbers[function], path, content_of(thing, exact=True)])
            if isinstance(thing, types.FunctionType):
                numbers.setdefault(thing, len(numbers))
        return recorded

    def found_again(self, recorded: Recorded) -> Found | None:
        """The look-ups as they come out now; None where one does not come out as it did.

        Raises `ValueError`, `TypeError`, `IndexError` for what no look-up was recorded as.
        """
        functions = list(self.functions)
        numbers = set(functions)
        found: dict[tuple[types.FunctionType, LookupPath], Any] = {}
        for number, steps, content in recorded:
            path = tuple((str(kind), step) for kind, step in steps)
            try:
                thing = followed(functions[number], path)
                if content_of(thing, exact=True) != content:
                    return None
            except (Undefined, NoContent):
                return None
            found[functions[number], path] = thing
            if isinstance(thing, types.FunctionType) and thing not in numbers:
                numbers.add(thing)
                functions.append(thing)
        return found


def key_of(*made_of: Any) -> TextKey | None:
    """The key of what is made of these; None where there is none."""
    sources = _settled_digest(COMPILER)
    if sources is None:
        return None
    digest = hashlib.sha256(f"{sources} {sys.version} {sys.flags.optimize}\n".encode())
    description = _Description(digest.update)
    try:
        for part in made_of:
            description.add(part)
    except NoContent:
        return None
    return TextKey(digest.hexdigest()[:32], tuple(description.functions))


def key_of_ours(*made_of: Any) -> str | None:
    """A name for what follows from these and from all of our sources; None where there is none.

    For what is found out of rules without a record of what was looked up. So there is none where a
    function is not of our own sources, just as it stands there.
    """
    sources = _settled_digest(EVERYTHING)
    if sources is None:
        return None
    digest = hashlib.sha256(f"{sources} {sys.version} {sys.flags.optimize}\n".encode())
    description = _Description(digest.update)
    try:
        for part in made_of:
            description.add(part)
    except NoContent:
        return None
    if not all(_is_among(function, EVERYTHING) for function in description.functions):
        return None
    return digest.hexdigest()[:32]


def _settled_digest(places: tuple[str, ...]) -> str | None:
    """A name for the sources in these places; None where they may not be what runs."""
    try:
        changed = max(path.stat().st_ctime for path in sources_in(places))
        # A program sent to an executor is read from a zip: there are no such files.
        return _bytes_digest(places) if changed < _BEGAN - SETTLED_SECONDS else None
    except OSError:
        return None


@functools.cache
def _bytes_digest(places: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for path in sources_in(places):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PACKAGES)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@functools.cache
def sources_in(places: tuple[str, ...]) -> tuple[Path, ...]:
    """The modules in these folders, and those that are named."""
    return tuple(path for each in places for path in _files_of(PACKAGES / each))


def _files_of(place: Path) -> Iterable[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else (place,)


def _is_among(function: types.FunctionType, places: tuple[str, ...]) -> bool:
    """Whether a function stands in the sources in these places."""
    module = sys.modules.get(function.__module__)
    if module is None or vars(module) is not function.__globals__:
        return False
    file = getattr(module, "__file__", None)
    return file is not None and Path(file) in sources_in(places)


class _Description:
    """Tells `update` the content of a recipe, and collects the functions in it."""

    def __init__(self, update: Callable[[bytes], None]) -> None:
        self._update = update
        self.functions: dict[types.FunctionType, int] = {}

    def add(self, value: Any) -> None:
        """A value that a recipe holds. Raises `NoContent`."""
        kind = type(value)
        if kind in _PLAIN:
            self._say(kind.__name__, repr(value))
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, enum.Enum):
            self._say("member", kind.__module__, kind.__qualname__, value.name, repr(value.value))
        elif isinstance(value, tuple):
            self._say("tuple", kind.__module__, kind.__qualname__, len(value))
            self._all(value)
        elif isinstance(value, frozenset | set):
            self._say("set", len(value))
            self._all(_in_order(value))
        elif isinstance(value, dict):
            self._say("dict", len(value))
            self._all(item for pair in value.items() for item in pair)
        elif isinstance(value, Intrinsic):
            # What it writes is decided by the compiler's sources.
            self._say("intrinsic", value.write.__module__, value.write.__qualname__)
        elif isinstance(value, Layout):
            self._say("layout", value.digest)
            self._all((value.fields, value.sizes))
        elif dataclasses.is_dataclass(value):
            self._say("fields of", kind.__module__, kind.__qualname__)
            self._all(getattr(value, field.name) for field in dataclasses.fields(value))
        else:
            raise NoContent(f"{kind.__name__} is in a recipe", "leave it out")

    def _function(self, function: types.FunctionType) -> None:
        number = self.functions.get(function)
        if number is None:
            self.functions[function] = number = len(self.functions)
            self._say("new", content_of(function, exact=True))
        self._say("function", number)

    def _all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.add(value)

    def _say(self, *facts: object) -> None:
        # Each with its length: no two lists of facts read alike.
        for fact in facts:
            text = str(fact).encode(errors="surrogatepass")
            self._update(b"%d %s\n" % (len(text), text))


def _in_order(values: frozenset[Any] | set[Any]) -> Sequence[Any]:
    """The items in an order that is the same in every process."""
    if not all(type(value) in _PLAIN for value in values):
        raise NoContent("a set of more than plain values is in a recipe", "leave it out")
    return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def lines_of(found: Found) -> Iterator[str]:
    """What was looked up, as text, in an order that depends on nothing else: each look-up by the
    content of the function in which it stands. Those of the compiler's own functions are left out.
    """
    lines = (
        f"{content_of(function, exact=False)} {path} {content_of(thing, exact=False)}\n"
        for (function, path), thing in found.items()
        if not _is_among(function, COMPILER)
    )
    yield from sorted(set(lines))
