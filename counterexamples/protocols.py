"""Protocols (interfaces) of a model whose traces can be replayed.

This package is handed a model and imports none. A state is an opaque value to it, to be handed
back to the model that it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

State = Any
"""A value that only the model understands."""


class Parameter(Protocol):
    """One argument of an action: it ranges over 0..n-1, n being the layout's size `over`."""

    @property
    def name(self) -> str:
        """How a trace names it."""

    @property
    def over(self) -> str:
        """Name of the size that it ranges over."""


class Action(Protocol):
    """One kind of transition."""

    @property
    def name(self) -> str:
        """How a trace names it."""

    @property
    def parameters(self) -> Sequence[Parameter]:
        """Its arguments, in order."""

    def name_arguments(self, arguments: tuple[int, ...], /) -> tuple[tuple[str, int], ...]:
        """A value for each parameter, with the names."""


class Step(Protocol):
    """One transition that the model offers; `str(step)` is `Fence(replica=1)`."""

    @property
    def action(self) -> Action:
        """Kind of the transition."""

    @property
    def arguments(self) -> tuple[int, ...]:
        """A value for each of the action's parameters."""

    @property
    def after(self) -> State:
        """Where it leads."""


class Layout(Protocol):
    """How large the model's index ranges are."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes that parameters range over, by name."""


class Narration(Protocol):
    """How a person reads states and steps."""

    @property
    def sentence(self) -> Callable[[str, tuple[int, ...], State, State], str]:
        """Describes a step: the action's name, its arguments, the states before and after."""

    @property
    def rows(self) -> Callable[[State], list[list[str]]]:
        """A header, then rows of as many cells; the first cell names the row."""

    @property
    def summary(self) -> Callable[[State], list[tuple[str, str]]]:
        """Label and value of what belongs to no row."""

    @property
    def elements(self) -> bool:
        """True if values in a cell that are apart by a space are elements of a field."""

    @property
    def lanes(self) -> Sequence[str]:
        """All names with a lane in a diagram, in addition to the rows."""

    @property
    def stands_still(self) -> str:
        """The sentence for a state where no step is sure to follow."""


class Model(Protocol):
    """A transition system within bounds, and what makes this very one again."""

    @property
    def name(self) -> str:
        """The family."""

    @property
    def version(self) -> str:
        """The member of the family."""

    @property
    def options(self) -> Mapping[str, object]:
        """The environment, as a trace holds it."""

    @property
    def layout(self) -> Layout:
        """The index ranges."""

    @property
    def actions(self) -> Sequence[Any]:
        """Every `Action` of the family."""

    @property
    def contents(self) -> Sequence[str]:
        """The names of the actions that this version takes part in."""

    @property
    def limits(self) -> Sequence[str]:
        """Meaning of the numbers in `exceeded_limit`."""

    @property
    def initial(self) -> Sequence[State]:
        """The initial states."""

    @property
    def narration(self) -> Narration:
        """The words for it all."""

    def bindings(self, action: Any, /) -> Iterator[tuple[int, ...]]:
        """Every combination of an action's arguments, in order."""

    def successors(self, state: State, /) -> Iterator[Step]:
        """Every step out of `state` within the bounds."""

    def is_enabled(self, state: State, action: Any, arguments: tuple[int, ...], /) -> bool:
        """True if the guard lets the step happen, within the bounds or not."""

    def exceeded_limit(self, state: State, action: Any, arguments: tuple[int, ...], /) -> int:
        """Return the number of the limit that an enabled step would exceed; 0 for none."""

    def apply(self, state: State, action: Any, arguments: tuple[int, ...], /) -> State:
        """The state after a step that is enabled and within the bounds."""
