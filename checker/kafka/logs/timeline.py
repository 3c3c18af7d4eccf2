"""Timeline of a behaviour that fits: its steps, their actors, and the lines that they write.

It is one possible order of the events: causes come before effects. The clocks of two brokers are
never compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from waterline.checker.kafka.logs.fitting import Fit, Searched
from waterline.checker.kafka.logs.observation import (
    CONTROLLER,
    Kind,
    Observation,
    PartitionState,
    Place,
)
from waterline.checker.kafka.logs.observer import Observer, Positions, decided_in
from waterline.model.core.state import State

_OF_ACTORS = frozenset(
    {"Produce", "Crash", "PowerLoss", "DiskLoss", "Restart", "Stop", "SessionExpiry"}
    | {"DirectoryTaken"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Step `number`, from 1, of a behaviour; 0 for a line that no step has written.

    `broker` is whose step it is, None for a decision of the controller. `line` is the observation
    that it has written, in Kafka's numbers, None for a step that no line tells of. `decided` is the
    state where the controller has decided something else, with replicas where they are reassigned;
    `decided_at` is the line that says so, of a controller or of a broker that has read of it, None
    where there is none.
    """

    number: int
    action: str
    arguments: tuple[tuple[str, int], ...]
    broker: int | None
    sentence: str
    line: Observation | None
    decided: PartitionState | None
    decided_at: Place | None = None


def timeline(best: Searched, shown: Fit) -> Iterator[Event]:
    """Every step of a behaviour.

    Lines to show stand before the line of a step that they stand before; the others at the end.
    """
    model, history, state = best.model, best.history, best.model.initial[0]
    observer = Observer(history)
    before = observer.start
    for number, ((name, arguments), after) in enumerate(
        zip(shown.calls, shown.positions, strict=True), 1
    ):
        action = model.action(name)
        step = model.take(state, action, arguments)
        yield from _notes_of(observer, before, after)
        line = _written_observation(observer, before, after)
        named = action.name_arguments(arguments)
        acts = name in _OF_ACTORS and line is None
        yield Event(
            number=number,
            action=name,
            arguments=named,
            broker=line.broker if line else history.brokers[arguments[0]] if acts else None,
            sentence=model.narration.sentence(name, arguments, state, step.after),
            line=line,
            decided=_decision(best, state, step.after),
            decided_at=_decided_at(best, before, after),
        )
        state, before = step.after, after
    yield from _notes_of(observer, before, None)


def _notes_of(observer: Observer, before: Positions, after: Positions | None) -> Iterator[Event]:
    """The lines to show of everybody who gets further than one to fit; at the end all others."""
    for lane, lines in enumerate(observer.history.noted):
        behind = observer.courses[lane].behind
        begin = behind[before[lane]]
        for at, seen in lines:
            if begin <= at and (after is None or at < behind[after[lane]]):
                yield Event(
                    number=0,
                    action="",
                    arguments=(),
                    broker=None if seen.broker == CONTROLLER else seen.broker,
                    sentence=seen.said,
                    line=seen,
                    decided=None,
                )


def _written_observation(
    observer: Observer, before: Positions, after: Positions
) -> Observation | None:
    for replica, (old, new) in enumerate(zip(before[:-1], after[:-1], strict=True)):
        if new > old:
            first = observer.courses[replica].between(old, new)
            lines = observer.history.sources[replica][first:]
            # A log that is made anew is loaded, and then the broker follows.
            is_made = (
                lines[0].kind is Kind.LOADS and observer.courses[replica].behind[new] > first + 1
            )
            return lines[1] if is_made else lines[0]
    return None


def _decided_at(best: Searched, before: Positions, after: Positions) -> Place | None:
    """The line of a decision, but for that of a leader, which is shown where it has its role."""
    if after[-1] == before[-1]:
        return None
    seen = best.history.decision_sources[before[-1]]
    return seen.place if seen.kind in (Kind.DECIDES, Kind.KNOWS) else None


def _decision(best: Searched, before: State, after: State) -> PartitionState | None:
    """Return what the controller has decided at a step, in Kafka's numbers."""
    moves = best.history.reassignments > 0
    old, new = (decided_in(s, with_replicas=moves) for s in (before, after))
    if old == new:
        return None
    brokers = best.history.brokers
    epoch, leader, *sets = PartitionState(*new)  # type: ignore[arg-type]
    assert epoch is not None
    assert leader is not None
    members = (each and tuple(sorted(brokers[replica] for replica in each)) for each in sets)
    return PartitionState(
        best.history.first_epoch + epoch, brokers[leader] if leader >= 0 else -1, *members
    )


def facts_of(seen: Observation) -> tuple[str, ...]:
    """Return what a line says, in a few words each."""
    kind = seen.kind
    if kind is Kind.LEADS:
        said = [f"leads epoch {seen.epoch}", *_ends(seen), f"ISR {_isr_text(seen.isr)}"]
    elif kind is Kind.FOLLOWS:
        whom = "nobody" if seen.leader == -1 else seen.leader
        of_whom = "" if seen.leader is None else f" {whom}"
        said = [f"follows{of_whom} in epoch {seen.epoch}", *_ends(seen)]
    elif kind is Kind.TRUNCATES:
        said = [f"truncates to {seen.offset}"]
    elif kind is Kind.ASKS_TO_SHRINK:
        said = [f"asks for ISR {_isr_text(seen.isr)}", *_ends(seen)]
    elif kind is Kind.CHANGES_ISR:
        said = [f"ISR is {_isr_text(seen.isr)}"]
    elif kind is Kind.LOADS:
        said = ["loads its log", f"HW {seen.high_watermark}"]
    elif kind is Kind.DELETES:
        said = ["deletes its log"]
    elif seen.said:
        said = [seen.said]
    else:
        said = ["shuts down"]
    return tuple(said)


def _ends(seen: Observation) -> tuple[str, str]:
    return f"LEO {seen.offset}", f"HW {seen.high_watermark}"


def _isr_text(isr: tuple[int, ...] | None) -> str:
    return ",".join(map(str, isr or ())) or "empty"
