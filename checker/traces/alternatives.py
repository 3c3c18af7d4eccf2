"""Alternative counterexamples: each of a kind that differs from those shown.

The kind of a way is how often each actor takes each action: an interleaving of the same steps is
no other kind, and what only adds steps to a kind is none either. The ways are all shortest ones to
the states that break the claim, those at the least depth first, and none breaks it before its end.
Of one depth kinds with fewer faults come first; of those the one that differs most from all that
were shown; then one of the fewest actors, then a fixed order. So which ones they are does not
depend on the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from waterline.checker.compiler.origins import call_of
from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import quantity
from waterline.checker.search.engines.engine import Engine
from waterline.checker.traces.fewest_actors import STATES_MAX, followed_back
from waterline.checker.traces.finding import Finding, finding_at
from waterline.checker.traces.violating_states import ENDS_MAX, Breaking, Path, Ways, all_breaking
from waterline.model.core.claim import ActionProperty, Invariant
from waterline.model.core.state import State

KINDS_MAX = 20_000
"""How many kinds of ways to a level are followed on: as many of the least ones for each state."""
_KINDS_OF_A_STATE = 20
LONGER_MAX = 4
"""How many steps longer than the shortest ones further ones may be: each is another pass back."""

Deed = tuple[int, str, int]
"""An action by its number, what its first argument ranges over, and which; "" and -1 for none."""
Kind = tuple[Deed, ...]
"""How often who does what: in order, each as often as it is done."""


@dataclass(frozen=True, slots=True)
class Others:
    """Further counterexamples, and how many kinds of shortest ones there are, the first among them.

    `is_all`: there are no more kinds as short; else some ways were not followed. Further ones were
    looked for up to so many `steps`.
    """

    findings: tuple[Finding, ...]
    kinds: int
    is_all: bool
    steps: int

    def describe(self, first: Finding) -> str:
        """How many kinds of shortest ones there are, and what the further ones are."""
        steps = quantity(len(first.replayed.moments), "step")
        if not self.is_all:
            text = f"At least {quantity(self.kinds, 'kind')} of {steps}"
        elif self.kinds == 1:
            text = f"All of {steps} have the same ones in another order"
        else:
            text = f"There are {self.kinds:,} kinds of {steps}"
        if not self.findings:
            return f"{text}; none of another kind was found up to {quantity(self.steps, 'step')}."
        return f"{text}; shown are {1 + len(self.findings)} that differ in who takes which steps."


def others_of(
    problem: Problem, engine: Engine, breaking: Breaking, first: Finding, count: int, deepest: int
) -> Others:
    """Up to `count` further counterexamples of the claim of `first`.

    `engine` has absorbed the levels up to `deepest`. Raises `ValueError` under a symmetry, where
    states are representatives and actors have no names.
    """
    if problem.symmetry.sorts:
        raise ValueError("under a symmetry actors have no names")
    claim = next(claim for claim in problem.judged if claim.name == first.invariant)
    deeds = _Deeds(problem)
    moments = first.replayed.moments[: breaking.depth]
    shown = [deeds.kind_of([(moment.action, moment.values) for moment in moments])]
    findings: list[Finding] = []
    kinds, is_all = 0, False
    last = min(deepest, breaking.depth + LONGER_MAX)
    steps = last + breaking.of_steps
    for depth in range(breaking.depth, last + 1):
        ways = _ways_at(problem, engine, claim, replace(breaking, depth=depth), deeds)
        if depth == breaking.depth:
            kinds, is_all = len({*ways.found, shown[0]}), ways.is_all
        for kind in ways.of_other_kinds(shown):
            if len(findings) == count:
                return Others(tuple(findings), kinds, is_all, steps)
            shown.append(kind)
            findings.append(finding_at(problem.model, claim, ways.path(kind)))
    return Others(tuple(findings), kinds, is_all, steps)


@dataclass(frozen=True, slots=True)
class _WaysAt:
    """The ways to the states that break a claim at one depth, by their kinds.

    `found` has for each kind the faults that it takes, and the least state that it leads to.
    """

    problem: Problem
    deeds: _Deeds
    levels: Sequence[Ways]
    kinds: Sequence[Mapping[StateWords, frozenset[Kind]]]
    found: Mapping[Kind, tuple[int, StateWords]]
    is_all: bool

    def of_other_kinds(self, shown: Sequence[Kind]) -> Iterator[Kind]:
        """Yield kinds that are neither shown nor an extension of one; `shown` may grow."""
        left = sorted(self.found, key=lambda kind: (self.found[kind][0], *_in_order(kind)))
        while left := [kind for kind in left if not any(_has_all(kind, one) for one in shown)]:
            fewest = [kind for kind in left if self.found[kind][0] == self.found[left[0]][0]]
            # The first of the most different ones: `max` keeps to the order.
            yield max(fewest, key=lambda each: min(_difference(each, one) for one in shown))

    def path(self, kind: Kind) -> Path:
        """The least way of this kind."""
        model = self.problem.model
        begun, steps = _way(self.levels, self.kinds, self.found[kind][1], kind, self.deeds)
        numbers = [state.words for state in model.initial]
        return Path(numbers.index(begun), tuple(call_of(model, step) for step in steps))


def _ways_at(
    problem: Problem,
    engine: Engine,
    claim: Invariant | ActionProperty,
    breaking: Breaking,
    deeds: _Deeds,
) -> _WaysAt:
    ends = all_breaking(problem, engine, claim.name, breaking)
    if not ends:
        return _WaysAt(problem, deeds, (), (), {}, True)
    wanted = replace(breaking, ends=tuple(words for _, words in ends))
    levels = followed_back(problem, engine, {claim.name: wanted})[claim.name]
    levels = [_unbroken(problem, claim, ways) for ways in levels]
    kinds, is_all = _kinds(levels, wanted.ends, deeds)
    found: dict[Kind, tuple[int, StateWords]] = {}
    for end in reversed(ends):
        found.update(dict.fromkeys(kinds[-1].get(end[1], ()), end))
    is_whole = len(ends) < ENDS_MAX and all(len(ways) < STATES_MAX for ways in levels)
    return _WaysAt(problem, deeds, levels, kinds, found, is_all and is_whole)


def _unbroken(problem: Problem, claim: Invariant | ActionProperty, ways: Ways) -> Ways:
    """Without the steps before which the claim is broken already, or that break it themselves."""
    layout, settings = problem.model.layout, problem.model.settings

    @cache
    def holds(words: StateWords) -> bool:
        return not isinstance(claim, Invariant) or claim.holds(State(layout, words), settings)

    def keeps(before: StateWords, after: StateWords) -> bool:
        if isinstance(claim, Invariant):
            return holds(before)
        return claim.keeps(State(layout, before), State(layout, after), settings)

    if problem.model.concretise is not None and not isinstance(claim, Invariant):
        return ways  # a state in normal form does not say what the step to it has written
    return {
        state: [(parent, step) for parent, step in into if keeps(parent, state)]
        for state, into in ways.items()
    }


class _Deeds:
    """Identity of each step, from its action and its first argument."""

    def __init__(self, problem: Problem) -> None:
        self._model = problem.model
        self._actions = {action.name: i for i, action in enumerate(problem.model.actions)}
        self.of_step = cache(self._of_step)

    def _of_step(self, step: int) -> Deed:
        return self.of_call(*call_of(self._model, step))

    def of_call(self, name: str, arguments: tuple[int, ...]) -> Deed:
        """Return the identity of a call."""
        number = self._actions[name]
        parameters = self._model.actions[number].parameters
        return (number, parameters[0].over, arguments[0]) if parameters else (number, "", -1)

    def kind_of(self, calls: Sequence[tuple[str, tuple[int, ...]]]) -> Kind:
        """The kind of a way."""
        return tuple(sorted(self.of_call(*call) for call in calls))


def _kinds(
    levels: Sequence[Ways], ends: Sequence[StateWords], deeds: _Deeds
) -> tuple[list[Mapping[StateWords, frozenset[Kind]]], bool]:
    """For every level and state the kinds of the ways there; and whether none was left out."""
    begun = {parent for ways in levels[0].values() for parent, _ in ways} if levels else set(ends)
    nothing: frozenset[Kind] = frozenset({()})
    kinds: list[Mapping[StateWords, frozenset[Kind]]] = [dict.fromkeys(begun, nothing)]
    is_all = True
    for ways in levels:
        before, here = kinds[-1], dict[StateWords, frozenset[Kind]]()
        most = max(_KINDS_OF_A_STATE, KINDS_MAX // max(1, len(ways)))
        for state, into in ways.items():
            found = {
                _with(kind, deeds.of_step(step))
                for parent, step in into
                for kind in before.get(parent, ())
            }
            if len(found) > most:
                is_all = False
                found = set(sorted(found, key=_in_order)[:most])
            here[state] = frozenset(found)
        kinds.append(here)
    return kinds, is_all


def _way(
    levels: Sequence[Ways],
    kinds: Sequence[Mapping[StateWords, frozenset[Kind]]],
    end: StateWords,
    kind: Kind,
    deeds: _Deeds,
) -> tuple[StateWords, list[int]]:
    """The least way of this kind to a state: where it begins, and its steps."""
    at, steps = end, list[int]()
    for depth in range(len(levels), 0, -1):
        parent, step, before = min(
            (parent, step, rest)
            for parent, step in levels[depth - 1][at]
            if (rest := _without(kind, deeds.of_step(step))) is not None
            and rest in kinds[depth - 1].get(parent, ())
        )
        at, kind = parent, before
        steps.append(step)
    return at, steps[::-1]


def _with(kind: Kind, deed: Deed) -> Kind:
    return tuple(sorted((*kind, deed)))


def _without(kind: Kind, deed: Deed) -> Kind | None:
    if deed not in kind:
        return None
    at = kind.index(deed)
    return kind[:at] + kind[at + 1 :]


def _in_order(kind: Kind) -> tuple[int, Kind]:
    return len({deed[1:] for deed in kind}), kind


def _has_all(kind: Kind, other: Kind) -> bool:
    """True if there is in one all that is in the other."""
    return Counter(other) <= Counter(kind)


def _difference(one: Kind, other: Kind) -> int:
    """How many deeds one has that the other has not."""
    return (Counter(one) - Counter(other)).total()
