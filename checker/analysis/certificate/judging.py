"""Judgement of one state of a certificate, by the rules as Python runs them.

This is what a certified verdict rests on, beside the rules and the claims themselves. For a state
of the set: its bits are those of a state and of no other; the claims about states hold in it; each
of its steps keeps the claims about steps, as the step has written its outcome; and where the step
leads, in normal form, is returned, so that the caller can see that it is in the set. Nothing here
is compiled, and nothing is evaluated by NumPy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from checker.problem.problem import Problem
from model.core.layout import Layout
from model.core.state import State
from model.core.transition_system import Action, Arguments

OUT_OF_SET = "leads out of the set"
NOT_IN_SET = "is not in the set"
BYTES = 8
"""Of a word."""
OF_STATE = -1
"""The place of a failure that is of the state, and of none of its steps."""


@dataclass(frozen=True, slots=True, order=True)
class Failure:
    """What keeps a certificate from being one.

    `key` is the state, `place` the number of the step out of it among `Judge.calls`, or `OF_STATE`.
    An initial state that is not in the set has no key, and its own number as `place`. So failures
    have an order: initial states, then the least state, then the first of its steps.
    """

    key: bytes
    place: int
    what: str


@dataclass(slots=True)
class Judged:
    """What came of one state: where its steps lead, by their numbers; the first thing wrong."""

    successors: list[tuple[int, bytes]] = field(default_factory=list)
    cut: Counter[str] = field(default_factory=Counter)
    failure: Failure | None = None


def words_of(key: bytes) -> tuple[int, ...]:
    """The packed words of a key, which has the most significant byte of each first."""
    return tuple(int.from_bytes(key[i : i + BYTES], "big") for i in range(0, len(key), BYTES))


def key_of(words: Iterable[int]) -> bytes:
    """The key of packed words: keys have the order of states."""
    return b"".join(word.to_bytes(BYTES, "big") for word in words)


def misfit(layout: Layout, words: Sequence[int]) -> str | None:
    """Why words are no state of a layout, or would be a second name of one; None where they fit."""
    left = list(words)
    for place in layout.places.values():
        for index, element in layout.elements[place.name].items():
            if not isinstance(index, tuple):
                continue  # An element of a row is there by i and by (i,).
            decides = element.decides
            if decides is not None:
                decided = words[decides.word] >> decides.shift & decides.mask
                if decided not in element.values:
                    continue
            value = (words[element.word] >> element.shift & element.mask) + element.lo
            if value > place.hi:
                name = place.name + "".join(f"[{i}]" for i in index)
                return f"has {value} for {name}, whose range is {place.lo}..{place.hi}"
            left[element.word] &= ~(element.mask << element.shift)
    return "has bits that belong to no field" if any(left) else None


class Judge:
    """Judges the states of a problem; `certified` names the claims that are to hold."""

    def __init__(self, problem: Problem, certified: Iterable[str]) -> None:
        names = frozenset(certified)
        self.model = model = problem.model
        self.invariants = [claim for claim in problem.invariants if claim.name in names]
        self.properties = [claim for claim in problem.properties if claim.name in names]
        self.calls = [
            (action, arguments)
            for action in model.enabled_actions
            for arguments in model.bindings(action)
        ]

    def initial(self) -> list[bytes]:
        """The keys of the initial states."""
        return [key_of(state.words) for state in self.model.initial]

    def judged(self, key: bytes) -> Judged:
        """A state, all of its steps within the bounds, and the first thing that is wrong."""
        found = Judged()
        words = words_of(key)
        if wrong := misfit(self.model.layout, words) or self._wrong_in(words):
            found.failure = Failure(key, OF_STATE, wrong)
            return found
        state = State(self.model.layout, words)
        for number, (action, arguments) in enumerate(self.calls):
            try:
                wrong = self._taken(state, action, arguments, number, found)
            except Exception as error:
                wrong = _raised(error)
            if wrong is not None:
                found.failure = Failure(key, number, wrong)
                break
        return found

    def _wrong_in(self, words: tuple[int, ...]) -> str | None:
        """Which claim about states does not hold."""
        state = State(self.model.layout, words)
        for claim in self.invariants:
            try:
                if not claim.holds(state, self.model.settings):
                    return f"breaks {claim.name}"
            except Exception as error:
                return f"cannot be judged: {claim.name} {_raised(error)}"
        return None

    def _taken(
        self, state: State, action: Action, arguments: Arguments, number: int, found: Judged
    ) -> str | None:
        """Take a step, if it is enabled and within the bounds; returns what is wrong with it."""
        model = self.model
        if not model.is_enabled(state, action, arguments):
            return None
        if bound := model.exceeded(state, action, arguments):
            found.cut[model.limits[bound]] += 1
            return None
        step = model.take(state, action, arguments)
        found.successors.append((number, key_of(step.after.words)))
        for claim in self.properties:
            if not claim.keeps(state, step.outcome, model.settings):
                return f"breaks {claim.name}"
        return None


def _raised(error: Exception) -> str:
    if isinstance(error, MemoryError):
        raise error
    return f"raised {type(error).__name__}: {error}"
