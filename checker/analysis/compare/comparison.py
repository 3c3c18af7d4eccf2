"""A comparison: the pairs of steps, the first difference, and both ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.analysis.compare.aligning import How, Pair, align
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem, asked_alone
from waterline.checker.problem.wording import describe_option
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import NO_CLAIM, Moment, Replayed
from waterline.counterexamples.protocols import Narration
from waterline.model.core.claim import ActionProperty, Behaviour, Invariant, Judged
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.features import TRUNCATIONS
from waterline.model.message.model import NAME as MESSAGE_NAME
from waterline.model.message.versions import version_of


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """End of one side. `broken_at` counts pairs from 1, 0 for the initial state; None: nowhere.

    A claim about behaviours is violated on the left at the state without a way back, or at the
    start of the waiting that never ends; on the right it is not judged, since that would need every
    continuation. `applies` is False if the version lacks the subject of the claim; `explanation`
    describes the violation.
    """

    broken_at: int | None
    explanation: str
    applies: bool = True
    is_judged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Ends of both sides.

    `repeats_after` is the pair whose state on the left the last one returns to; None: nothing
    repeats.
    """

    left: End
    right: End
    repeats_after: int | None = None


def ends_of(
    left: Problem, replayed: Replayed, right: Problem, initial: State, pairs: Sequence[Pair]
) -> Ends:
    """How a trace of `left` ends, and its choices in `right`, whose initial state is `initial`."""
    claim = asked_alone(right)
    if isinstance(claim, Invariant | ActionProperty):
        ours, theirs = [pair.ours for pair in pairs], [pair.theirs for pair in pairs]
        return Ends(
            left=_end(left, claim, replayed.initial, ours),
            right=_end(right, claim, initial, theirs),
        )
    return _ends_of_behaviours(left, replayed, right, claim, pairs)


def _ends_of_behaviours(
    left: Problem, replayed: Replayed, right: Problem, claim: Behaviour, pairs: Sequence[Pair]
) -> Ends:
    trace = replayed.trace
    repeats_after = None if trace.cycle is None else _pairs_to(pairs, trace.cycle)
    begins = len(pairs) if repeats_after is None else repeats_after
    text = confirm_trace(trace, left.model, asked_alone(left)).explanation
    applies = claim.applies(right.model.settings)
    return Ends(
        left=End(broken_at=begins, explanation=text),
        right=End(broken_at=None, explanation="", applies=applies, is_judged=False),
        repeats_after=repeats_after,
    )


def _pairs_to(pairs: Sequence[Pair], number: int) -> int:
    """Return the number of the pair by whose end the trace has taken so many of its steps."""
    taken = [0, *(0 if pair.ours is None else pair.ours.number for pair in pairs)]
    return taken.index(number)


def _end(problem: Problem, claim: Judged, initial: State, moments: Sequence[Moment | None]) -> End:
    """Where on its way a claim about states or steps first breaks."""
    settings = problem.model.settings
    if not claim.applies(settings):
        return End(broken_at=None, explanation="", applies=False)
    if isinstance(claim, Invariant) and not claim.holds(initial, settings):
        return End(broken_at=0, explanation=claim.explain(initial, settings))
    for number, moment in enumerate(moments, start=1):
        if moment is None:
            continue
        if isinstance(claim, ActionProperty):
            if not claim.keeps(moment.before, moment.after, settings):
                text = claim.explain(moment.before, moment.after, settings)
                return End(broken_at=number, explanation=text)
        elif not claim.holds(moment.after, settings):
            return End(broken_at=number, explanation=claim.explain(moment.after, settings))
    return End(broken_at=None, explanation="")


@dataclass(frozen=True, slots=True)
class Difference:
    """A visible difference of two states: its owner, its column, and both cells."""

    whose: str
    what: str
    left: str
    right: str

    def __str__(self) -> str:
        of = f"{self.whose} {self.what}" if self.whose else self.what
        return f"{of}: {self.left} | {self.right}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A trace of `left` aligned with steps of `right`, two problems with one claim each.

    Pairs are numbered from 1; 0 are the initial states, and None means nowhere. `first_seen` is the
    first pair with a visible difference: another step, one more or one less, or another state.
    `parting` is the first after which a lane of a broker differs, its log end or high watermark in
    Kafka's models; where none ever does it is `first_seen`.
    """

    replayed: Replayed
    left: Problem
    right: Problem
    pairs: tuple[Pair, ...]
    first_seen: int | None
    parting: int | None
    ends: Ends

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The differences after the pair where the sides part."""
        return self.differences_after(self.parting) if self.parting is not None else ()

    def differences_after(self, number: int) -> tuple[Difference, ...]:
        """Return the visible differences after a pair, 0 for the initial states."""
        left, right = self.states_after(number)
        return differences(self.left.model, left, self.right.model, right)

    def place(self, number: int) -> str:
        """Return a pair's name: `step 10`, `before step 11` for an extra one, `the start`."""
        if number == 0:
            return "the start"
        ours = self.pairs[number - 1].ours
        if ours is not None:
            return f"step {ours.number}"
        following = (pair.ours.number for pair in self.pairs[number:] if pair.ours is not None)
        return f"before step {next(following)}"

    def at(self, number: int) -> str:
        """Where something comes about: `at step 10`, `before step 11`, `at the start`."""
        place = self.place(number)
        return place if place.startswith("before") else f"at {place}"

    def states_after(self, number: int) -> tuple[State, State]:
        """Both states after a pair, 0 for the initial ones."""
        if number == 0:
            return self.replayed.initial, _initial(self.right.model, self.replayed)
        pair = self.pairs[number - 1]
        return pair.left, pair.right


def compare_models(left: Problem, replayed: Replayed, right: Problem) -> Comparison:
    """Make the choices of a trace of `left` in `right`; each problem asks the trace's claim alone.

    Both are of one family.
    """
    pairs = align(replayed, right.model, words_of(left))
    initial = _initial(right.model, replayed)
    states = [(replayed.initial, initial), *((pair.left, pair.right) for pair in pairs)]
    found = [differences(left.model, one, right.model, two) for one, two in states]
    lanes = words_of(left).lanes
    is_seen = (
        bool(each) or (number > 0 and pairs[number - 1].how is not How.SAME)
        for number, each in enumerate(found)
    )
    first_seen = next((number for number, seen in enumerate(is_seen) if seen), None)
    parted = (any(one.whose and one.what in lanes for one in each) for each in found)
    return Comparison(
        replayed=replayed,
        left=left,
        right=right,
        pairs=pairs,
        first_seen=first_seen,
        parting=next((number for number, has in enumerate(parted) if has), first_seen),
        ends=ends_of(left, replayed, right, initial, pairs),
    )


def differences(
    model: Model, state: State, other: Model, counterpart: State
) -> tuple[Difference, ...]:
    """Return the visible differences, in the order of the table, then of the facts below it."""
    ours, theirs = _cells(model.narration, state), _cells(other.narration, counterpart)
    return tuple(
        Difference(*where, ours.get(where, "-"), theirs.get(where, "-"))
        for where in {**ours, **theirs}
        if ours.get(where) != theirs.get(where)
    )


def describe_changes(left: Model, right: Model) -> tuple[str, ...]:
    """Return the changes from `left` to `right`: rules, then settings, as `acks: all | 1`."""
    text = []
    if left.name == MESSAGE_NAME:
        ours, theirs = version_of(left.version), version_of(right.version)
        ways = {value: name for name, value in TRUNCATIONS.items()}
        if ours.truncation != theirs.truncation:
            text.append(f"{ways[ours.truncation]} | {ways[theirs.truncation]}")
        gone = [n for n in ours.feature_names[1:] if n not in theirs.feature_names]
        come = [n for n in theirs.feature_names[1:] if n not in ours.feature_names]
        text += [f"{name} | -" for name in gone] + [f"- | {name}" for name in come]
    for name in {**left.options, **right.options}:
        one, two = left.options.get(name), right.options.get(name)
        if one != two:
            text.append(f"{name}: {describe_option(one)} | {describe_option(two)}")
    return tuple(text)


def _initial(model: Model, replayed: Replayed) -> State:
    return model.initial[min(replayed.trace.initial, len(model.initial) - 1)]


def _cells(narration: Narration, state: State) -> dict[tuple[str, str], str]:
    header, *rows = narration.rows(state)
    cells = {
        (row[0], title): cell
        for row in rows
        for title, cell in zip(header[1:], row[1:], strict=True)
    }
    return cells | {("", label): value for label, value in narration.summary(state)}


@dataclass(frozen=True, slots=True)
class EndText:
    """How a side ends. `is_broken` is None where nothing is claimed, or the claim is not judged."""

    sentence: str
    is_broken: bool | None


def describe_ends(comparison: Comparison) -> tuple[EndText, EndText]:
    """Both ends, the left one first."""
    ends = comparison.ends
    return _describe_end(comparison, ends.left), _describe_end(comparison, ends.right)


def _describe_end(comparison: Comparison, end: End) -> EndText:
    claim = comparison.replayed.trace.invariant
    if claim == NO_CLAIM:
        return EndText("no claim is asked.", None)
    if not end.applies:
        return EndText(f"has nothing that {claim} is about.", None)
    if not end.is_judged:
        command = comparison.right.to_command()
        return EndText(
            f"{claim} is about all that can follow and is not judged here; see "
            f"{command} --invariant {claim}",
            None,
        )
    if end.broken_at is None:
        return EndText(f"{claim} holds all the way.", False)
    return EndText(f"{claim} is broken {comparison.at(end.broken_at)}. {end.explanation}", True)
