"""Claims: invariants, step invariants, cover properties, recovery and liveness."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum
from functools import partial
from typing import Any

from waterline.model.core.transition_system import Action


def _always(settings: Any) -> bool:
    return True


def _anywhere(state: Any, settings: Any) -> bool:
    return True


def _promise(settings: Any) -> str | None:
    return None


def first_sentence(doc: str | None) -> str:
    """The first sentence of a claim's docstring, which every report has it by."""
    return " ".join((doc or "").split()).partition(". ")[0].rstrip(".") + "."


def headline(module: str, doc: str | None) -> tuple[str, str]:
    """Name and sentence of the claim that a module makes: its own name, its first sentence."""
    return module.rpartition(".")[2], first_sentence(doc)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """Meaning of a broken claim to an operator; the matrix checks only claims that have one.

    `word` stands in a cell, `sentence` in its legend. The least `severity` is the worst.
    """

    word: str
    sentence: str
    severity: int


@dataclass(frozen=True, slots=True)
class _Verdictable:
    """Common part of all claims with a verdict.

    `applies(settings)` is False for a version that the claim does not cover: then its verdict is
    NOT APPLICABLE. A claim that is not `default` is checked only if requested by name.
    `contract(settings)` says why the claim is not promised with these settings, the setting first,
    as `acks=1: ...`; None if it is promised. `remark` says where it applies and what it leaves out.
    `breach` is its meaning to an operator. Claims are listed by `rank`; ranks differ by ten or
    more, to leave room for others.

    A claim `about_abstraction` is a side condition of a model that renames (`Model.concretise`),
    and is checked for such models alone.

    Three optional fields serve reports: `where`, with the arguments of `explain`, locates the
    violation for a picture; `reasons` names what a reader of a counterexample looks for first;
    `outside` judges by what a running system shows.
    """

    name: str
    sentence: str
    _: KW_ONLY
    explain: Callable[..., str]
    applies: Callable[[Any], bool] = _always
    default: bool = True
    contract: Callable[[Any], str | None] = _promise
    breach: Breach | None = None
    where: Callable[..., Any] | None = None
    reasons: tuple[str, ...] = ()
    outside: Callable[[Any], bool | None] | None = None
    remark: str = ""
    rank: int = 0
    about_abstraction: bool = False


def not_so_here(sentence: str, state: Any, settings: Any) -> str:
    """The explanation of a claim that has no other: that its sentence is not true of this state."""
    return f"Not so here: {sentence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant(_Verdictable):
    """A claim about every reachable state.

    `holds(state, settings)` is interpreted and compiled alike. `explain(state, settings)` says of
    one state that breaks the claim which broker and which offset.
    """

    holds: Callable[[Any, Any], bool]

    @classmethod
    def of(cls, rule: Callable[[Any, Any], bool]) -> Invariant:
        """The claim with the name and the first sentence of a rule, as of a lemma."""
        sentence = first_sentence(rule.__doc__)
        explain = partial(not_so_here, sentence)
        return cls(name=rule.__name__, sentence=sentence, holds=rule, explain=explain)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionProperty(_Verdictable):
    """A claim about every transition out of a reachable state.

    `keeps(before, after, settings)` is interpreted and compiled alike. `explain(before, after,
    settings)` says of one transition that breaks the claim which broker and which offset.
    """

    keeps: Callable[[Any, Any, Any], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachable:
    """Claim that something happens at least once; without it, "nothing bad happens" is vacuous.

    `happens(before, after, settings)` looks at one transition. `applies(settings)` is False if it
    cannot be expected: then the claim has no verdict. `begun(state, settings)` is True if an
    initial state satisfies it; None for a claim about steps alone, since no step leads to an
    initial state.
    """

    name: str
    sentence: str
    happens: Callable[[Any, Any, Any], bool]
    applies: Callable[[Any], bool] = _always
    begun: Callable[[Any, Any], bool] | None = None

    @classmethod
    def of(
        cls, rule: Callable[[Any, Any, Any], bool], *, applies: Callable[[Any], bool] = _always
    ) -> Reachable:
        """The claim with the name and the first sentence of a rule."""
        sentence = first_sentence(rule.__doc__)
        return cls(name=rule.__name__, sentence=sentence, happens=rule, applies=applies)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recoverable(_Verdictable):
    """Claim of a way back: from every reachable state where `when` is true, the steps named in `by`
    can reach a state where `good` is true.

    `by` are names of actions; empty means all fair ones. Names that a version does not have are
    skipped. `when` and `good` are `(state, settings) -> bool`, interpreted and compiled alike. If
    the only way from a state leads to a step that a bound cuts, the state is not judged but counted
    in the report: the states beyond the bounds may be good. `explain(state, settings)` names the
    obstacle in a state without a way back. The claim is checked only if requested.
    """

    good: Callable[[Any, Any], bool]
    by: tuple[str, ...] = ()
    when: Callable[[Any, Any], bool] = _anywhere
    default: bool = False


class Pattern(Enum):
    """Formula of a claim about whole behaviours, over `when`, p, and `then`, q."""

    EVENTUALLY = "<>q"
    ALWAYS_EVENTUALLY = "[]<>q"
    LEADS_TO = "p ~> q"


@dataclass(frozen=True, slots=True, kw_only=True)
class Temporal(_Verdictable):
    """Claim about every behaviour that is fair to the actions declared so, weakly or strongly.

    EVENTUALLY: each has a state where `then` is true. ALWAYS_EVENTUALLY: each has infinitely many.
    LEADS_TO: `then` is true in or after each state where `when` is true. A behaviour may stutter
    forever where no fair step is enabled. A fair step that a bound cuts counts as taken: a
    behaviour that ends at a bound breaks nothing. `when` and `then` are `(state, settings) ->
    bool`, interpreted and compiled alike. `explain(state, settings)` says what is missing in a
    state on the cycle. The claim is checked only if requested.
    """

    pattern: Pattern
    then: Callable[[Any, Any], bool]
    when: Callable[[Any, Any], bool] = _anywhere
    default: bool = False


Judged = Invariant | ActionProperty
"""Claim that a search judges as it goes, by one state or step at a time."""
Behaviour = Recoverable | Temporal
"""Claim that is judged on the whole explored graph, after the search."""
Claim = Judged | Behaviour
"""All that can have a verdict."""


def predicates_of(claim: Behaviour) -> tuple[Callable[[Any, Any], bool], ...]:
    """Return its predicates on single states: the premise, and the awaited condition."""
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
    """Return the names of a version's actions that may lead back."""
    if not claim.by:
        return fair_actions(actions)
    return tuple(action.name for action in actions if action.name in claim.by)
