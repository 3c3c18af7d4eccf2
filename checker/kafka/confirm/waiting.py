"""End of a liveness or recovery trace: all gates open, brokers watched for the awaited event.

Brokers can show that the event has not come as long as the harness watches. Only the model says
that it never comes. Then the harness takes the steps that end the wait in the model, on the
shortest path after which the awaited event occurs, and checks whether they do so here.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from waterline.checker.kafka.confirm.brokers import name_of
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm, NoAnswer
from waterline.checker.kafka.confirm.evidence import Evidence
from waterline.checker.kafka.confirm.facts import ISR, NONE, WAITING, Facts, of
from waterline.checker.kafka.confirm.observing import observe
from waterline.checker.kafka.confirm.proxy import Link, listens
from waterline.checker.kafka.confirm.stage import NotHeld, Stage, StepFailed
from waterline.checker.kafka.confirm.wire import FETCH
from waterline.counterexamples import Moment, skipping
from waterline.invariants import BEHAVIOURS
from waterline.invariants.current_leader import current_leader
from waterline.invariants.outside import Seen
from waterline.model.core.claim import Behaviour, Recoverable, Temporal, ways_back
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, Step
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.terms import NO_REPLICA

WATCH_SECONDS = 20.0
STARTS_MAX = 3
"""Maximum number of restarts of a broker that is down, or ends by itself."""
_LOOK_SECONDS = 0.5
_PASS_SECONDS = 0.02
_BETWEEN_SECONDS = 2.0
"""Time without gates between two steps that are to end the wait."""
EndBy = Sequence[tuple[str, Callable[[], None]]]
"""Steps that are to end the wait, each by name."""
_FETCHED, _ASKED = "fetched", "asked where its epoch ends"


def require_visible(claim: Behaviour) -> None:
    """Raise `CannotConfirm` where brokers do not show what the claim says comes."""
    if claim.outside is None:
        # Those about whole behaviours first.
        known = sorted(BEHAVIOURS, key=lambda each: isinstance(each, Recoverable))
        visible = ", ".join(each.name for each in known if each.outside is not None)
        raise CannotConfirm(
            f"what {claim.name} says comes in the end cannot be looked for on these brokers, whose "
            f"controller is the harness; what can be is that of {visible}; "
            "`waterline view` shows any trace"
        )


@dataclass(frozen=True, slots=True)
class Looked:
    """Result of the watch: seconds until the event came (None for never), and the observations.

    `ended_by` names the steps that brought it in the end, "" if it did not come.
    """

    came_after: float | None
    seconds: float
    evidence: Evidence
    ended_by: str = ""


def watch_for(stage: Stage, claim: Behaviour, end_by: EndBy = ()) -> Looked:
    """Let everything pass for a while, tell everybody the last decision, and look whether it comes.

    For a claim about recovery who is down is started again. If it does not come, the steps of
    `end_by` are taken, after which it may.
    """
    watch = _Watch(stage, claim)
    came_after = watch.until_it_comes(WATCH_SECONDS)
    seconds = watch.seconds
    lines = watch.lines()
    ended_by = ""
    if came_after is None and end_by:
        ended_by, line = watch.end_wait(end_by)
        lines = (*lines, line)
    return Looked(came_after, seconds, Evidence(lines, (), False, False), ended_by)


class _Watch:
    def __init__(self, stage: Stage, claim: Behaviour) -> None:
        assert claim.outside is not None, "seen to by `require_visible`"
        self._stage = stage
        self._claim = claim
        self._has_come = claim.outside
        self._done: Counter[tuple[str, str]] = Counter()
        self._starts: Counter[int] = Counter()
        self._ends: Counter[int] = Counter()
        self._up = self._running()
        self._facts: Facts = {}
        self.seconds = 0.0

    def until_it_comes(self, seconds: float) -> float | None:
        """Look until it has come, or the time is over; after how many seconds it came."""
        began = look = time.monotonic()
        self.seconds = 0.0
        while self.seconds < seconds or not self._facts:
            self._note_ends()
            if isinstance(self._claim, Recoverable):
                self._start_who_is_down()
            self._stage.answer_as_kafka()
            self._report_decision()
            for (asker, _), link in self._stage.links.items():
                self._let_pass(name_of(asker), link)
            self.seconds = time.monotonic() - began
            if time.monotonic() >= look:
                look = time.monotonic() + _LOOK_SECONDS
                self._end_what_hangs()
                if self._has_come(self._observe()):
                    return self.seconds
            time.sleep(_PASS_SECONDS)
        return None

    def end_wait(self, end_by: EndBy) -> tuple[str, str]:
        """Take these steps, and look whether it comes by them; they, or "", and a sentence."""
        names = ", ".join(name for name, _ in end_by)
        self._starts.clear()
        try:
            for place, (_, does) in enumerate(end_by):
                if place:
                    self.until_it_comes(_BETWEEN_SECONDS)
                does()
                self._up = self._running()
        except (StepFailed, NotHeld, NoAnswer, BrokerFailed) as problem:
            return "", f"The model has it end by {names}, which could not be taken: {problem}."
        came_after = self.until_it_comes(WATCH_SECONDS)
        if came_after is None:
            return "", f"The model has it end by {names}; it did not in {self.seconds:.0f} s."
        return names, f"It ended by {names}: it came within {came_after + _LOOK_SECONDS:.0f} s."

    def _running(self) -> set[int]:
        return {broker for broker in self._stage.replicas if self._stage.brokers.is_up(broker)}

    def _observe(self) -> Seen:
        self._facts = observe(self._stage)
        leader = self._stage.controller.current().leader
        in_sync = self._facts[ISR].split()
        return Seen(
            leader=leader,
            replicas=self._stage.replicas,
            logs={broker: self._stage.log(broker) for broker in sorted(self._running())},
            in_sync=frozenset(r for r in self._stage.replicas if name_of(r) in in_sync),
            fetched=frozenset(r for r in self._stage.replicas if self._done[name_of(r), _FETCHED]),
            high_watermark=self._facts.get(of(leader, "HW")),
            log_end=self._facts.get(of(leader, "LEO")),
            is_waiting=self._facts[WAITING] != NONE,
            leads=self._facts.get(of(leader, "leads")) == "yes",
        )

    def _let_pass(self, asker: str, link: Link) -> None:
        """Whatever waits at the link goes on, and is counted."""
        now = link.current
        if now is None:
            return
        if not now.may_ask:
            self._done[asker, _FETCHED if now.request.key == FETCH else _ASKED] += 1
            link.let_ask()
        elif now.answer is not None and not now.may_answer:
            link.let_answer()

    def _note_ends(self) -> None:
        up = self._running()
        for broker in sorted(self._up - up):
            self._ends[broker] += 1
            self._stage.kill(broker)  # Whatever it had on its way, or had learned, is gone with it.
        self._up = up

    def _end_what_hangs(self) -> None:
        """Kill brokers that run and no longer serve: 0.10 hangs in its own exit."""
        for broker in sorted(self._running()):
            if not listens(self._stage.brokers.ports[broker]):
                self._stage.kill(broker)
                self._ends[broker] += 1
                self._up.discard(broker)

    def _start_who_is_down(self) -> None:
        for broker in self._stage.replicas:
            if broker in self._up or self._starts[broker] >= STARTS_MAX:
                continue
            self._starts[broker] += 1
            with contextlib.suppress(BrokerFailed):  # It has ended once more: that is counted.
                self._stage.restart(broker)
            self._up.add(broker)

    def _report_decision(self) -> None:
        """Brokers that run and have not learned the last decision learn it, the leader first."""
        decision = self._stage.controller.current()
        running = sorted(self._running(), key=lambda broker: broker != decision.leader)
        for broker in running:
            if decision.leader < 0 or self._stage.epochs_learned.get(broker, -1) >= decision.epoch:
                continue
            with contextlib.suppress(StepFailed, NoAnswer):  # As above.
                self._stage.learn(broker, decision, sorted(running))

    def lines(self) -> tuple[str, ...]:
        """Describe the time without gates."""
        self._note_ends()
        text = [f"Then nothing was held back for {self.seconds:.0f} s."]
        for broker in self._stage.replicas:
            name = name_of(broker)
            if self._ends[broker] or self._starts[broker]:
                text.append(
                    f"{name} ended by itself {_times(self._ends[broker])}, and was started "
                    f"{_times(self._starts[broker])}."
                )
            text += [
                f"{name} {kind} {_times(self._done[name, kind])}."
                for kind in (_ASKED, _FETCHED)
                if self._done[name, kind]
            ]
        ends = [
            f"{name_of(broker)} {'up' if broker in self._up else 'down'}, log "
            f"{self._facts[of(broker, 'log')]}"
            for broker in self._stage.replicas
        ]
        text.append(f"At the end: ISR {self._facts[ISR]}; {'; '.join(ends)}.")
        for asked in self._stage.asked:
            if asked.outcome not in ("waiting", "acknowledged"):
                text.append(f"m{asked.record} was answered: {asked.outcome}.")
        if self._facts[WAITING] != NONE:
            text.append(f"Still waiting for an acknowledgement: {self._facts[WAITING]}.")
        return tuple(text)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


STATES_MAX = 30_000
"""Maximum number of states searched for each kind of ending."""
_BY_ITSELF = frozenset(
    {
        "SendFetch",
        "LeaderFetch",
        "RecvFetch",
        "RecvDiverging",
        "RecvOutOfRange",
        "OffsetForLeaderEpoch",
        "AlterPartition",
        "HearAnswer",
        "Learn",
    }
)
"""Actions that brokers take freely while the harness holds nothing back."""
_KINDS = (
    frozenset({"Restart", "Produce"}),
    frozenset({"Restart", "Produce", "Move"}),
    frozenset({"Restart", "Produce", "Move", "Crash", "Fence"}),
)
"""Actions that may end the wait, the mildest set first."""
_RAISED = ("records", "restarts", "moves", "epochs")


@dataclass(frozen=True, slots=True)
class Ending:
    """Steps that the harness takes, in a model with bounds wide enough for them."""

    model: Model
    moments: tuple[Moment, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.moments))


def ending_of(course: Course) -> Ending | None:
    """Return the ending of the course's wait; None if the states searched contain none.

    A recovery claim names the steps that lead to recovery. For other claims, or if those steps do
    not suffice, the path avoids new faults: it starts a broker, produces a record or moves
    leadership. If that fails, it stops and starts a broker. A bound of the trace that forbids a
    step is raised by one. Everything else runs freely on brokers.
    """
    claim = course.claim
    assert isinstance(claim, Behaviour)
    model = _wider(course)
    state = model.initial[course.trace.initial]
    for moment in skipping(course.replayed.moments, model, state):
        state = moment.after
    recovering = frozenset(
        ways_back(claim, model.actions) if isinstance(claim, Recoverable) else ()
    )
    for kind in (recovering, *_KINDS):
        way = _shortest(model, state, claim, _BY_ITSELF | kind)
        if way is not None:
            return Ending(model, tuple(m for m in way if m.action not in _BY_ITSELF))
    return None


def _wider(course: Course) -> Model:
    environment = Environment.from_options(dict(course.trace.environment))
    raised = {name: getattr(environment, name) + 1 for name in _RAISED}
    return message_model(course.model.version, replace(environment, **raised))


def _shortest(
    model: Model, start: State, claim: Behaviour, allowed: frozenset[str]
) -> list[Moment] | None:
    """Return the shortest path to the awaited state with a live leader and no broker stopped."""
    good = claim.then if isinstance(claim, Temporal) else claim.good
    came_from: dict[State, tuple[State, Step] | None] = {start: None}
    waiting = deque([start])
    while waiting and len(came_from) < STATES_MAX:
        state = waiting.popleft()
        for step in model.successors(state):
            if step.action.name not in allowed or step.after in came_from:
                continue
            came_from[step.after] = state, step
            if _leads(step.after, allowed) and good(step.after, model.settings):
                return _way(came_from, step.after)
            waiting.append(step.after)
    return None


def _leads(s: State, allowed: frozenset[str]) -> bool:
    """True if the partition has a leader and, where crashes are allowed, every broker is up."""
    is_whole = "Crash" not in allowed or all(s.up[replica] == 1 for replica in range(s.replicas))
    return is_whole and current_leader(s) != NO_REPLICA


def _way(came_from: Mapping[State, tuple[State, Step] | None], end: State) -> list[Moment]:
    way: list[Moment] = []
    found = came_from[end]
    while found is not None:
        before, step = found
        named = step.action.name_arguments(step.arguments)
        way.append(Moment(0, step.action.name, tuple(named), before, step.after))
        found = came_from[before]
    return way[::-1]
