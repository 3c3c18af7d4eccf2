"""Abstract interpreter: all that a rule may read and write.

A rule is gone through as Python would run it, with sets of values in place of numbers: a condition
that may be true and false is gone through both ways. Settings are what they are, so what a version
or the circumstances rule out is not looked at. What the syntax means is in
`checker.reduction.statements` and `checker.reduction.expressions`; here functions are called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checker.compiler.source import Source, source_of
from checker.reduction.abstract_state import TooIntricate, Value, World, known, made_of_too, merged
from checker.reduction.elements import Elements, Seen
from checker.reduction.expressions import Found
from checker.reduction.memo import Remembered
from checker.reduction.statements import body_of


@dataclass(slots=True)
class Looker:
    """Looks at rules with these settings, in states that hold these `elements`."""

    settings: Any
    elements: Elements
    remembered: Remembered

    @property
    def seen(self) -> Seen:
        """What the rules that were looked at may do."""
        return self.elements.seen

    def ways(self, rule: Any, world: World, arguments: tuple[Any, ...]) -> Found:
        """The worlds in which a rule ends that begins in `world`, each with what it returns."""
        given = [known(a) if isinstance(a, int) else a for a in arguments]
        try:
            return self.called(source_of(rule), given, world.with_variables({}))
        except (
            AttributeError,
            KeyError,
            RecursionError,
            TooIntricate,
            TypeError,
            ValueError,
        ) as problem:
            raise TooIntricate(f"{rule.__name__}: {problem}") from problem

    def called(self, source: Source, given: Sequence[Value], world: World) -> Found:
        """What a function comes to: it is gone through where the call is not remembered."""
        found = self.remembered.recalled(source, given, world, self.elements)
        if found is not None:
            return found
        elements = self.elements
        seen, asked = elements.seen, elements.asked
        elements.seen, elements.asked = Seen(), set()
        try:
            found = self._gone_through(source, given, world)
            self.remembered.keep(source, given, world, elements, found)
        finally:
            seen.add(elements.seen)
            asked |= elements.asked
            elements.seen, elements.asked = seen, asked
        return found

    def _gone_through(self, source: Source, given: Sequence[Value], world: World) -> Found:
        inner = world.with_variables(dict(zip(source.parameters, given, strict=True)))
        found: Found = []
        for after, value in body_of(source)(self, inner):
            back = after.with_variables(world.variables).as_decided_by(world.decided_by)
            found.append((back, made_of_too(value, after.decided_by - world.decided_by)))
        return merged(found)
