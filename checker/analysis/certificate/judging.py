"""Judgement of one state of a certificate, by the rules as Python runs them.

A certified verdict rests on this module, and on the rules and the claims themselves. For a state of
the set: its bits are those of a state and of no other; the claims about states hold in it; each of
its steps keeps the claims about steps, as the step has written its outcome; and the target of each
step, in normal form, is returned, so that the caller can see that it is in the set. Under a
symmetry a state stands for all of its renamings, and each is judged: the irrelevance of names is
seen, not believed. Nothing here is compiled or evaluated by NumPy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from waterline.checker.analysis.certificate.renaming import Renamings, key_of, words_of
from waterline.checker.problem.problem import Problem
from waterline.model.core.layout import Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Arguments

OUT_OF_SET = "leads out of the set"
NOT_IN_SET = "is not in the set"
OF_STATE = -1
"""The place of a failure that is of the state, and of none of its steps."""


@dataclass(frozen=True, slots=True, order=True)
class Failure:
    """Flaw that makes a certificate invalid.

    `key` is the state, `renaming` which of the states that it stands for (`Judge.alike`), `place`
    the number of the step out of that among `Judge.calls`, or `OF_STATE`. An initial state outside
    the set has no key, and its own number as `place`. So failures have an order: initial states,
    then the least state, then the first of its steps.
    """

    key: bytes
    renaming: int
    place: int
    what: str


@dataclass(slots=True)
class Judged:
    """Outcome for one state of the set: targets of its steps, and the first flaw.

    A successor has the numbers of the renaming and of the step before it. `fits` is False for words
    that do not encode a state of the layout.
    """

    successors: list[tuple[int, int, bytes]] = field(default_factory=list)
    cut: Counter[str] = field(default_factory=Counter)
    failure: Failure | None = None
    fits: bool = True


def misfit(layout: Layout, words: Sequence[int]) -> str | None:
    """Return why words are not the only encoding of a state of a layout; None if they are."""
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
        symmetry = problem.symmetry
        self._renamings = Renamings(model.layout, symmetry) if symmetry.sorts else None
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

    def alike(self, key: bytes) -> list[bytes]:
        """The states that a state of the set stands for: under a symmetry all of its renamings."""
        return [key] if self._renamings is None else self._renamings.of(key)

    def state_of(self, failure: Failure) -> bytes:
        """The very state that a failure is of."""
        return self.alike(failure.key)[failure.renaming] if failure.renaming else failure.key

    def judge(self, key: bytes) -> Judged:
        """All that a state of the set stands for, with all steps within the bounds."""
        found = Judged()
        if wrong := misfit(self.model.layout, words_of(key)):
            found.fits = False
            found.failure = Failure(key, 0, OF_STATE, wrong)
            return found
        for renaming, each in enumerate(self.alike(key)):
            self._judge(key, renaming, words_of(each), found)
            if found.failure is not None:
                break
        return found

    def _judge(self, key: bytes, renaming: int, words: tuple[int, ...], found: Judged) -> None:
        """Judge one state, and the steps out of it."""
        if wrong := self._wrong_in(words):
            found.failure = Failure(key, renaming, OF_STATE, wrong)
            return
        state = State(self.model.layout, words)
        for number, (action, arguments) in enumerate(self.calls):
            try:
                after, wrong = self._take(state, action, arguments, found)
            except Exception as error:
                after, wrong = None, _error_text(error)
            if after is not None:
                found.successors.append((renaming, number, after))
            if wrong is not None:
                found.failure = Failure(key, renaming, number, wrong)
                return

    def _wrong_in(self, words: tuple[int, ...]) -> str | None:
        """Return the flaw of a claim about states that does not hold."""
        state = State(self.model.layout, words)
        for claim in self.invariants:
            try:
                if not claim.holds(state, self.model.settings):
                    return f"breaks {claim.name}"
            except Exception as error:
                return f"cannot be judged: {claim.name} {_error_text(error)}"
        return None

    def _take(
        self, state: State, action: Action, arguments: Arguments, found: Judged
    ) -> tuple[bytes | None, str | None]:
        """Where a step leads, if it is enabled and within the bounds; what is wrong with it."""
        model = self.model
        if not model.is_enabled(state, action, arguments):
            return None, None
        if bound := model.exceeded_limit(state, action, arguments):
            limit = model.limits[bound]
            found.cut[limit] += 1
            # Without bounds the highest epoch is to cut nothing.
            return None, f"is cut by {limit}" if limit in model.exact_without else None
        step = model.take(state, action, arguments)
        after = key_of(step.after.words)
        for claim in self.properties:
            if not claim.keeps(state, step.outcome, model.settings):
                return after, f"breaks {claim.name}"
        return after, None


def _error_text(error: Exception) -> str:
    if isinstance(error, MemoryError):
        raise error
    return f"raised {type(error).__name__}: {error}"
