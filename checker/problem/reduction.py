"""Description of a reduction, for reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checker.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a problem was reduced.

    `fields` vary and are not kept; `actions` change nothing that matters and are not taken;
    `never` cannot happen. `postponed` are decided when they are read, and `writers` write nothing
    else. `at_once` are taken as soon as they are possible and change nothing else. What is `dead`
    at times is kept only while it may be read again. `again` makes the reduced form of a problem in
    another process.
    """

    fields: tuple[str, ...]
    actions: tuple[str, ...]
    never: tuple[str, ...]
    postponed: tuple[str, ...]
    writers: tuple[str, ...]
    at_once: tuple[str, ...]
    dead: tuple[str, ...]
    again: Callable[[Problem], Problem] = field(compare=False, repr=False)

    @property
    def silent(self) -> frozenset[str]:
        """The actions of the full model that the smaller one takes unseen, or not at all."""
        return frozenset((*self.actions, *self.writers, *self.at_once))

    def describe(self) -> list[str]:
        """What was done, a line each."""
        lines = []
        if self.fields:
            lines.append(f"no claim depends on {', '.join(self.fields)}: not kept")
        if self.actions:
            lines.append(f"nothing that matters is changed by {', '.join(self.actions)}: not taken")
        lines += [f"{name} is decided when it is read" for name in self.postponed]
        if self.at_once:
            lines.append(
                f"where nothing else is changed by it, taken at once: {', '.join(self.at_once)}"
            )
        if self.dead:
            lines.append(f"kept only while it may be read again: {', '.join(self.dead)}")
        return lines or ["nothing could be left out"]

    def as_value(self) -> dict[str, tuple[str, ...]]:
        """The same as plain values, for programs."""
        names = ("fields", "actions", "never", "postponed", "writers", "at_once", "dead")
        return {name: getattr(self, name) for name in names}
