"""Claims: invariants, step invariants, cover properties, recovery and liveness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from waterline.model.core.transition_system import Action


def _always(settings: Any) -> bool:
    return True


def _anywhere(state: Any, settings: Any) -> bool:
    return True


def _promised(settings: Any) -> str | None:
    return None


def first_sentence(doc: str | None) -> str:
    """The first sentence of a claim's docstring, which every report has it by."""
    return " ".join((doc or "").split()).partition(". ")[0].rstrip(".") + "."


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """What it is to an operator that a claim breaks; only such claims are asked of the matrix.

    `word` stands in a cell, `sentence` in its legend. The least `severity` is the worst.
    """

    word: str
    sentence: str
    severity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdictable:
    """What every claim that has a verdict says of itself.

    `applies(settings)` is False for a version that the claim has nothing to say about: then its
    verdict is NOT APPLICABLE. One that is not `default` is checked only where it is asked for by
    name. `contract(settings)` is why the claim is not promised with these settings, the setting
    first, as `acks=1: ...`; None where it is. `remark` says where it applies and what it does not
    say. What breaking it is to an operator is its `breach`. Claims are listed by their
    `rank`; ranks are apart by ten or more, so that another claim has a place.

    One `about_abstraction` is a side condition of a model that renames (`Model.concretise`), and is
    asked of such models alone.

    What a report knows beside that, each of which may be left out: `where`, of the same arguments
    as `explain`, locates the violation for a picture; `reasons` names those that a reader of a
    counterexample looks for first; `outside` judges by what a running system shows.
    """

    name: str
    sentence: str
    explain: Callable[..., str]
    applies: Callable[[Any], bool] = _always
    default: bool = True
    contract: Callable[[Any], str | None] = _promised
    breach: Breach | None = None
    where: Callable[..., Any] | None = None
    reasons: tuple[str, ...] = ()
    outside: Callable[[Any], bool | None] | None = None
    remark: str = ""
    rank: int = 0
    about_abstraction: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant(_Verdictable):
    """A claim about every reachable state.

    `holds(state, settings)` is interpreted and compiled alike. `explain(state, settings)` says of
    one state that breaks the claim which broker and which offset.
    """

    holds: Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionProperty(_Verdictable):
    """A claim about every transition out of a reachable state.

    `keeps(before, after, settings)` is interpreted and compiled alike. `explain(before, after,
    settings)` says of one transition that breaks the claim which broker and which offset.
    """

    keeps: Callable[[Any, Any, Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachable:
    """A claim that something happens at least once: without it, that nothing bad happens is
    vacuous.

    `happens(before, after, settings)` looks at one transition. `applies(settings)` is False where
    it cannot be expected: then nothing is said of it. `begun(state, settings)` says whether an
    initial state is enough for it, None where it is about steps alone: no step leads to that state.
    """

    name: str
    sentence: str
    happens: Callable[[Any, Any, Any], bool]
    applies: Callable[[Any], bool] = _always
    begun: Callable[[Any, Any], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoverable(_Verdictable):
    """A claim that there is a way back: from every reachable state in which `when` is true, a state
    in which `good` is true can be reached by the steps named in `by` alone.

    `by` are names of actions; none means all that are fair. Those that a version does not
    have are passed over. `when` and `good` are `(state, settings) -> bool`, interpreted and
    compiled alike. A state from which no way leads back, but one to a step that a bound cuts, is
    not judged, and the report counts such states: what is beyond the bounds may be good.
    `explain(state, settings)` says of one state from which no way leads back what is in the way.
    It is checked where it is asked for.
    """

    good: Callable[[Any, Any], bool]
    by: tuple[str, ...] = ()
    when: Callable[[Any, Any], bool] = _anywhere
    default: bool = False


class Pattern(Enum):
    """What a claim about whole behaviours says of `when`, p, and `then`, q, as a formula."""

    EVENTUALLY = "<>q"
    ALWAYS_EVENTUALLY = "[]<>q"
    LEADS_TO = "p ~> q"


@dataclass(frozen=True, slots=True, kw_only=True)
class Temporal(_Verdictable):
    """A claim about every behaviour that is fair to the actions declared so, weakly or strongly.

    EVENTUALLY: each has a state in which `then` is true. ALWAYS_EVENTUALLY: each has infinitely
    many. LEADS_TO: each state in which `when` is true is one in which `then` is true, or is
    followed by one. A behaviour may stutter for ever where no fair step is enabled. A fair step
    that a bound cuts is taken for one that would be taken: a behaviour that ends at a bound breaks
    nothing. `when` and `then` are `(state, settings) -> bool`, interpreted and compiled alike.
    `explain(state, settings)` says of a state on the cycle what does not come. It is checked where
    it is asked for.
    """

    pattern: Pattern
    then: Callable[[Any, Any], bool]
    when: Callable[[Any, Any], bool] = _anywhere
    default: bool = False


Judged = Invariant | ActionProperty
"""What a search judges as it goes, by states and steps one at a time."""
Behaviour = Recoverable | Temporal
"""What is judged of the explored graph as a whole, once a search has ended."""
Claim = Judged | Behaviour
"""All that can have a verdict."""


def predicates_of(claim: Behaviour) -> tuple[Callable[[Any, Any], bool], ...]:
    """What it asks of single states: of whom it is claimed, and what is to come."""
    if isinstance(claim, Recoverable):
        return claim.when, claim.good
    return claim.when, claim.then


def fair_actions(actions: Iterable[Action]) -> tuple[str, ...]:
    """The names of those that are fair. Strong fairness demands all that weak fairness does."""
    return tuple(action.name for action in actions if action.weakly_fair or action.strongly_fair)


def strongly_fair_actions(actions: Iterable[Action]) -> tuple[str, ...]:
    """The names of those that are strongly fair."""
    return tuple(action.name for action in actions if action.strongly_fair)


def ways_back(claim: Recoverable, actions: Sequence[Action]) -> tuple[str, ...]:
    """The names of those of a version's actions by which it is to come back."""
    if not claim.by:
        return fair_actions(actions)
    return tuple(action.name for action in actions if action.name in claim.by)
