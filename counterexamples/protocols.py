"""What a model must offer for its traces to be replayed and shown.

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
    def name(self) -> str: ...
    @property
    def over(self) -> str: ...


class Action(Protocol):
    """One kind of transition, by name."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> Sequence[Parameter]: ...


class Step(Protocol):
    """One transition that the model offers; `str(step)` is `Fence(replica=1)`."""

    @property
    def action(self) -> Action: ...
    @property
    def arguments(self) -> tuple[int, ...]: ...
    @property
    def after(self) -> State: ...


class Layout(Protocol):
    """How large the model's index ranges are."""

    @property
    def sizes(self) -> Mapping[str, int]: ...


class Narration(Protocol):
    """How a person reads states and steps.

    `sentence(action name, arguments, before, after)`; `rows(state)`, the first being the header and
    the first column naming the row; `summary(state)`, pairs of label and value.
    """

    @property
    def sentence(self) -> Callable[[str, tuple[int, ...], State, State], str]: ...
    @property
    def rows(self) -> Callable[[State], list[list[str]]]: ...
    @property
    def summary(self) -> Callable[[State], list[tuple[str, str]]]: ...


class Model(Protocol):
    """A transition system within bounds, and what makes this very one again."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def options(self) -> Mapping[str, object]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def actions(self) -> Sequence[Any]: ...
    @property
    def contents(self) -> Sequence[str]: ...
    @property
    def limits(self) -> Sequence[str]: ...
    @property
    def initial(self) -> Sequence[State]: ...
    @property
    def narration(self) -> Narration: ...

    def successors(self, state: State, /) -> Iterator[Step]:
        """Every step out of `state` within the bounds."""
        ...

    def is_enabled(self, state: State, action: Any, arguments: tuple[int, ...], /) -> bool:
        """Whether the guard lets the step happen, within the bounds or not."""
        ...

    def exceeded(self, state: State, action: Any, arguments: tuple[int, ...], /) -> int:
        """Which of `limits` an enabled step would exceed; 0 for none."""
        ...
