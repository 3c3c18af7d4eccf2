"""Transition system: initial states, actions, successors.

Nothing here knows Kafka, and nothing that uses it needs to. A model is a layout, its initial
states, settings, and a table of contents of actions; an action is a guard and an effect over named
arguments. The same two functions run interpreted here and compiled in a search.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.model.core.layout import Layout
from waterline.model.core.machine_numbers import TooManyRounds
from waterline.model.core.renaming import Digit, Sort
from waterline.model.core.sorts import Held, Trusted
from waterline.model.core.state import OutsideOfPlace, State

Arguments = tuple[int, ...]
Call = tuple[str, Arguments]
"""An action's name and its arguments."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an action: it ranges over 0..n-1, n being the layout's size `over`.

    `held` is its data sort, None for a plain number. A set has the size `of` that counts names
    which may be members.
    """

    name: str
    over: str
    digits: tuple[Digit, ...] = ()
    """Digits of a number, if some of them are names."""
    held: Held | None = None
    of: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limit of an action in one run: the setting gives the number, the field `used` counts.

    `name` is the name of the limit.
    """

    name: str
    setting: str
    used: str

    def is_spent(self, state: Any, settings: Any) -> bool:
        """True if none is left."""
        return bool(getattr(state, self.used) >= getattr(settings, self.setting))


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One kind of transition.

    `guard(state, settings, *arguments) -> bool` is True if it is enabled. `effect(draft, settings,
    *arguments)` writes its only outcome. `limit(state, settings, *arguments) -> int` returns the
    bound that an enabled step would exceed, 0 for none; one that `limit_writes` tries the step out
    on a draft that is thrown away. A step with a `budget` uses up one of it, and is cut if none is
    left; no rule counts it. `stays_normal` says that the effect leaves a normal state normal, so it
    need not be normalised (`Model.normalise`): this saves time, and must not change anything else.
    A `weakly_fair` action is eventually taken, with the same arguments, if it is always enabled
    from some moment on: those in charge make progress. This matters only to claims about whole
    behaviours (`model.core.claim.Temporal`). A step that changes nothing does not count as one of
    its steps. A `strongly_fair` action is eventually taken even if it is only enabled again and
    again.
    """

    name: str
    guard: Callable[..., bool]
    effect: Callable[..., None]
    parameters: tuple[Parameter, ...] = ()
    limit: Callable[..., int] | None = None
    limit_writes: bool = False
    budget: Budget | None = None
    stays_normal: bool = False
    weakly_fair: bool = False
    strongly_fair: bool = False

    def name_arguments(self, arguments: Arguments) -> tuple[tuple[str, int], ...]:
        """Arguments with their names."""
        return tuple((p.name, value) for p, value in zip(self.parameters, arguments, strict=True))


@dataclass(frozen=True, slots=True)
class Step:
    """One enabled transition out of a state, and the state that it leads to.

    `outcome` is what the effect has written: claims about steps are judged on it. It differs from
    `after` if the model's normal form renames (`Model.concretise`).
    """

    action: Action
    arguments: Arguments
    after: State
    outcome: State

    def __str__(self) -> str:
        return call(self.action, self.arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Narration:
    """Words for a model's states and steps; see `model.message.narration` for Kafka's.

    `sentence(action name, arguments, before, after)` describes one step. `rows(state)` is a table
    with a header; a cell that differs between two states is a change. `summary(state)` are (label,
    value) pairs for what belongs to no row. `whole(state)` is all of it on one line. `stands_still`
    describes a state without an enabled fair step. `elements` says that values separated by spaces
    in a cell change individually. `lanes` are all names, with or without a row, and `actors(action
    name, arguments)` those of a step, the acting one first. `channels(state)` are the carriers of
    messages: the names at the ends, and the content. `typed(state)` is each field as a file would
    have it, `values(state)` as data, and so are `arguments(action name, arguments)`: `Value` of
    `counterexamples.formats` says how. `call(action name, arguments, model)` is a step as an error
    names it, `out_of_range` the text of such an error.
    """

    sentence: Callable[[str, Arguments, State, State], str]
    rows: Callable[[State], list[list[str]]]
    summary: Callable[[State], list[tuple[str, str]]]
    whole: Callable[[State], str] = repr
    stands_still: str = "no step is enabled that is sure to be taken in the end"
    elements: bool = False
    lanes: tuple[str, ...] = ()
    actors: Callable[[str, Arguments], Sequence[str]] | None = None
    channels: Callable[[State], Mapping[str, tuple[Sequence[str], Sequence[str]]]] | None = None
    typed: Callable[[State], Mapping[str, str]] | None = None
    values: Callable[[State], Mapping[str, Any]] | None = None
    arguments: Callable[[str, Arguments], Mapping[str, Any]] | None = None
    call: Callable[[str, Arguments, Model], str] = field(
        default_factory=lambda: _named_call  # defined below, and picklable
    )
    out_of_range: Callable[[OutsideOfPlace], str] = str


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A transition system within bounds.

    `actions` are all that the family has, in the order of its table of contents; `contents` names
    those that this version takes part in. `limits[i]` is the name of limit i, limits[0] being
    "within". `options` rebuilds this very model, for the header of a trace. `distinguishes_names`
    maps a sort of names to the rule that uses more than their equality, and the remedy: states that
    differ in such names alone need not behave alike. `normalise(draft, settings)` runs after every
    effect: it resets what no rule can read again to its lowest value, so that states that behave
    alike are equal. `concretise` says that the normal form is an abstraction, which renames as
    well: then claims about steps are judged on what the effect has written, before it, and
    `stays_normal` has no effect. Given an initial state by its number and calls from there, it
    returns the same model without the abstraction, within the bounds that these calls need, and the
    translated calls; the last call may raise. Raises `BadEnvironment` if no bounds are large
    enough. It is exact while rules and claims keep to the data sorts of the layout, and while an
    action's `start`, which made the initial states, does so too; `trusted` need not.
    `exact_without` are limits of such a model that must not cut a step: if one does, the
    abstraction is not exact, and "holds" is not a verdict. `finitely_often` are the actions that
    bounds would limit: a behaviour takes each of them as often as it likes, but not infinitely
    often. `behaviours_refused` says why claims about whole behaviours are not judged, "" if they
    are.
    """

    name: str
    version: str
    layout: Layout
    settings: Any
    actions: tuple[Action, ...]
    contents: tuple[str, ...]
    limits: tuple[str, ...]
    initial: tuple[State, ...]
    narration: Narration
    options: Mapping[str, object]
    distinguishes_names: Mapping[Sort, str] = field(default_factory=dict)
    normalise: Callable[[Any, Any], None] | None = None
    concretise: Callable[[int, Sequence[Call]], tuple[Model, Sequence[Call]]] | None = None
    exact_without: tuple[str, ...] = ()
    finitely_often: tuple[str, ...] = ()
    trusted: tuple[Trusted, ...] = ()
    start: Action | None = None
    behaviours_refused: str = ""
    _ranges: tuple[tuple[Action, tuple[range, ...]], ...] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        known = [action.name for action in self.actions]
        unknown = [name for name in self.contents if name not in known]
        if unknown:
            raise ValueError(f"version {self.version} names actions that do not exist: {unknown}")
        if not self.initial:
            raise ValueError(f"model {self.name} has no initial state")
        # Worked out once: an interpreted search asks for them in every state.
        ranges = tuple((action, self._ranges_of(action)) for action in self.enabled_actions)
        object.__setattr__(self, "_ranges", ranges)

    @property
    def enabled_actions(self) -> tuple[Action, ...]:
        """The version's table of contents."""
        return tuple(action for action in self.actions if action.name in self.contents)

    def action(self, name: str) -> Action:
        """The action of this name, whether this version takes part in it or not."""
        return next(action for action in self.actions if action.name == name)

    def bindings(self, action: Action) -> Iterator[Arguments]:
        """Every combination of arguments, in order."""
        return itertools.product(*self._ranges_of(action))

    def _ranges_of(self, action: Action) -> tuple[range, ...]:
        return tuple(range(self.layout.sizes[p.over]) for p in action.parameters)

    def is_enabled(self, state: State, action: Action, arguments: Arguments) -> bool:
        """True if the guard lets the step happen, within the bounds or not."""
        return bool(action.guard(state, self.settings, *arguments))

    def exceeded_limit(self, state: State, action: Action, arguments: Arguments) -> int:
        """Return the index in `limits` of the one that an enabled step would exceed; 0 for none."""
        if action.budget is not None and action.budget.is_spent(state, self.settings):
            return self.limits.index(action.budget.name)
        if action.limit is None:
            return 0
        asked = state.draft() if action.limit_writes else state
        return int(action.limit(asked, self.settings, *arguments))

    def apply(self, state: State, action: Action, arguments: Arguments) -> State:
        """The state after an enabled step."""
        return self.take(state, action, arguments).after

    def take(self, state: State, action: Action, arguments: Arguments) -> Step:
        """An enabled step."""
        draft = state.draft()
        if action.budget is not None:
            setattr(draft, action.budget.used, getattr(draft, action.budget.used) + 1)
        action.effect(draft, self.settings, *arguments)
        if self.normalise is None:
            outcome = after = draft.freeze()
        elif self.concretise is None:
            if not action.stays_normal:
                self.normalise(draft, self.settings)
            outcome = after = draft.freeze()
        else:
            outcome = draft.freeze()
            draft = outcome.draft()
            self.normalise(draft, self.settings)
            after = draft.freeze()
        return Step(action, arguments, after, outcome)

    def successors(self, state: State) -> Iterator[Step]:
        """Every step out of `state` within the bounds, in the order of the table of contents."""
        settings = self.settings
        for action, ranges in self._ranges:
            guard = action.guard
            for arguments in itertools.product(*ranges):
                # As `is_enabled`: to call it takes as long as many a guard does.
                if guard(state, settings, *arguments) and not self.exceeded_limit(
                    state, action, arguments
                ):
                    yield self.take(state, action, arguments)


def call(action: Action, arguments: Arguments) -> str:
    """`LeaderFetch(follower=1)`"""
    named = (f"{name}={value}" for name, value in action.name_arguments(arguments))
    return f"{action.name}({', '.join(named)})"


def _named_call(name: str, arguments: Arguments, model: Model) -> str:
    return call(model.action(name), arguments)


_EXPLAINED = ("__made_", "__of_", "__set_of_", "max_of_line_", "min_of_line_")
"""Prefixes of functions written for a rule, whose docstring says why they raise."""


def _reason(error: Exception) -> str | None:
    """Return the reason that a generated function gives for its division by zero."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    code = at.tb_frame.f_code if at is not None else None
    if code is None or not code.co_name.startswith(_EXPLAINED):
        return None
    return str(code.co_consts[0])


def describe_error(error: Exception, narration: Narration) -> str:
    """Describe a rule's error in the words of its model."""
    match error:
        case OutsideOfPlace():
            return narration.out_of_range(error)
        case ZeroDivisionError():
            return _reason(error) or "a division by zero; ask first whether the divisor is 0"
        case OverflowError() | TooManyRounds():
            return str(error)
    return f"{type(error).__name__}: {error}"
