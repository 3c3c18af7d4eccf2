"""Cache key of a program's text, by a verifying trace of its look-ups.

To write a program's text takes a tenth of a second, and the text is only needed for its name in the
cache. Writing is a function of the compiler's sources, the recipe, and the result of each look-up
of a name (`checker.compiler.resolution`). The key has the first two, up to the functions that a
recipe calls. The entry under it has a record of the look-ups (`checker.compiler.lookup_record`) and
the name of the text that was written then. If all look-ups lead to the same content now, writing
would make the same ones, get the same answers, and write the same text (docs/checker.md). Otherwise
the text is written.

No key exists for a recipe with a part that has no content. If sources were changed a moment ago, a
key is valid in this process alone.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from waterline.checker.compiler.content import Intrinsic, NoContent, content_of
from waterline.checker.compiler.lookup_record import Found, Record, found_again, record_of
from waterline.checker.compiler.sources import COMPILER, settled_digest, stands_in
from waterline.model.core.layout import Layout
from waterline.model.core.transition_system import Action

_PLAIN = (bool, bytes, complex, float, int, str, type(None), type(...))


@dataclasses.dataclass(frozen=True, slots=True)
class TextKey:
    """A name for a recipe, and the functions in it, where look-ups begin.

    Unless it `is_settled`, it is valid in this process alone.
    """

    name: str
    functions: tuple[types.FunctionType, ...]
    is_settled: bool

    def record(self, found: Found) -> Record | None:
        """Look-ups as they are kept; None where one began in a function that the key lacks."""
        begun = {function for function, _ in found}
        reached = {thing for thing in found.values() if isinstance(thing, types.FunctionType)}
        if any(not stands_in(f, COMPILER) for f in begun - reached - set(self.functions)):
            return None
        return record_of(self.functions, found, exact=True)

    def found_again(self, record: Any) -> Found | None:
        """See `lookup_record.found_again`."""
        return found_again(self.functions, record, exact=True)


def key_of(*made_of: Any) -> TextKey | None:
    """The key of what is made of these; None where there is none."""
    sources = settled_digest(COMPILER)
    begun = f"{sources or '-'} {sys.version} {sys.flags.optimize}\n"
    digest = hashlib.sha256(begun.encode())
    description = _Description(digest.update)
    try:
        for part in made_of:
            description.add(part)
    except NoContent:
        return None
    functions = tuple(description.functions)
    return TextKey(digest.hexdigest()[:32], functions, is_settled=sources is not None)


class _Description:
    """Passes the content of a recipe to `update`, and collects the functions in it."""

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
            self._say("layout", _layout(value))
        elif kind is Action:
            rules = (value.guard, value.effect, value.limit)
            digest, functions = _action(value, tuple(getattr(f, "__code__", None) for f in rules))
            self._say("action", digest)
            self._all(functions)
        elif dataclasses.is_dataclass(value):
            self.all_fields(value)
        else:
            raise NoContent(f"{kind.__name__} is in a recipe", "leave it out")

    def all_fields(self, value: Any) -> None:
        """The fields of a dataclass."""
        kind = type(value)
        self._say("fields of", kind.__module__, kind.__qualname__)
        self._all(getattr(value, field.name) for field in dataclasses.fields(value))

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
        texts = [str(fact) for fact in facts]
        described = "".join([f"{len(text)} {text}\n" for text in texts])
        self._update(described.encode(errors="surrogatepass"))


@functools.lru_cache(maxsize=256)
def _layout(layout: Layout) -> str:
    """The content of a layout: equal ones are alike in all that code could depend on."""
    digest = hashlib.sha256()
    description = _Description(digest.update)
    description.add((layout.digest, layout.fields, layout.sizes))
    return digest.hexdigest()


@functools.lru_cache(maxsize=4096)
def _action(
    action: Action, codes: tuple[types.CodeType | None, ...]
) -> tuple[str, tuple[types.FunctionType, ...]]:
    """The content of an action whose rules have these codes, and the functions in it.

    Most problems share their actions.
    """
    digest = hashlib.sha256()
    description = _Description(digest.update)
    description.all_fields(action)
    return digest.hexdigest(), tuple(description.functions)


def _in_order(values: frozenset[Any] | set[Any]) -> Sequence[Any]:
    """The items in an order that is the same in every process."""
    if not all(type(value) in _PLAIN for value in values):
        raise NoContent("a set of more than plain values is in a recipe", "leave it out")
    return sorted(values, key=lambda value: (type(value).__name__, repr(value)))
