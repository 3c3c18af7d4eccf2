"""The answer of `explain-logs` on the screen: verdict, what lines show, lanes, steps, bounds.

The lanes are as wide as the screen: a column for each broker, its lines in an order that can have
been. What no line says stands in brackets: a crash, a record that is appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.text import Text

from waterline.checker.kafka.logs.answer import ELIGIBLE_LEADER_REPLICAS, Answer, is_unclean
from waterline.checker.kafka.logs.causes import STALE_REMOTE_LEO, Cause
from waterline.checker.kafka.logs.evidence import Evidence
from waterline.checker.kafka.logs.fitting import Searched
from waterline.checker.kafka.logs.observation import CONTROLLER, Place
from waterline.checker.kafka.logs.reading import Logs
from waterline.checker.kafka.logs.timeline import Event, facts_of, timeline
from waterline.checker.problem.wording import quantity
from waterline.counterexamples.style import BAD, QUIET, TITLE, columns
from waterline.model.message.versions import version_of

_GAP = 2
_LANE_MIN = 12
_UNSAID = {
    "Produce": "appends records",
    "Crash": "crashes",
    "Restart": "starts",
    "Stop": "ends",
    "SessionExpiry": "session expires",
    "DirectoryTaken": "log directory is taken out",
}


class Lanes:
    """The table, for rich; `brokers` in the order of the columns."""

    def __init__(self, events: Iterable[Event], brokers: Sequence[int]) -> None:
        self._rows = [(event, *_cell(event)) for event in events if _is_shown(event)]
        self._brokers = sorted(brokers)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        number = max([len("Step"), *(len(f"{event.number}") for event, _, _ in self._rows)])
        lanes = 1 + len(self._brokers)
        width = max(_LANE_MIN, (options.max_width - number) // lanes - _GAP)
        table = columns(gap=_GAP, header=TITLE)
        table.add_column(Text("Step"), justify="right", no_wrap=True)
        table.add_column(Text("Controller"), width=width)
        for broker in self._brokers:
            table.add_column(Text(f"Broker {broker}"), width=width)
        for event, lane, (pieces, place) in self._rows:
            cells: list[Text | str] = [""] * lanes
            cells[0 if lane is None else 1 + self._brokers.index(lane)] = _lines(
                pieces, place, width
            )
            table.add_row(f"{event.number or ''}", *cells)
        yield table


def _is_shown(event: Event) -> bool:
    return event.line is not None or event.decided is not None or event.action in _UNSAID


def _cell(event: Event) -> tuple[int | None, tuple[tuple[str, ...], str]]:
    """Whose lane, what stands in it, and where its line is."""
    if event.line is not None:
        return event.broker, (facts_of(event.line), _short(event.line.place))
    if event.decided is not None:
        decided = event.decided
        whom = "no leader" if decided.leader == -1 else f"leader {decided.leader}"
        at = _short(event.decided_at) if event.decided_at is not None else ""
        sets = [("replicas", decided.replicas), ("adding", decided.adding)]
        sets += [("removing", decided.removing)]
        said = [f"{name} {','.join(map(str, each))}" for name, each in sets if each]
        isr = ",".join(map(str, decided.isr or ())) or "empty"
        return None, ((f"epoch {decided.epoch}", whom, f"ISR {isr}", *said), at)
    return event.broker, ((f"({_UNSAID[event.action]})",), "")


def _short(place: Place) -> str:
    return f"{place.file.rpartition('/')[2]}:{place.line}"


def _lines(pieces: Sequence[str], place: str, width: int) -> Text:
    """Pieces that are not broken where a line has room for them; the place of the line is quiet."""
    quiet = not place
    text = Text("\n".join(_pack(pieces, width)), style=QUIET if quiet else "")
    if place:
        last = text.plain.rpartition("\n")[2]
        fits = len(last) + _GAP + len(place) <= width
        text.append(("  " if fits else "\n") + place, style=QUIET)
    return text


def _pack(pieces: Sequence[str], width: int) -> Iterator[str]:
    line = ""
    for number, piece in enumerate(pieces):
        said = piece + ("," if number + 1 < len(pieces) else "")
        if line and len(line) + 1 + len(said) > width:
            yield line
            line = said
        else:
            line = f"{line} {said}" if line else said
    yield line


_REFUSALS_SHOWN = 3
_REASSIGNED_SHOWN = 4


def answer_lines(found: Answer, logs: Logs, name: str) -> Iterator[RenderableType]:
    """The answer, part by part: the verdict first."""
    best = found.best
    if best is None:
        yield Text(f"Partition {found.partition}, Kafka {name}.\n")
    else:
        history = best.history
        brokers = ", ".join(f"{b} (r{r})" for r, b in enumerate(history.brokers))
        yield Text(
            f"Partition {found.partition}, Kafka {name}, brokers {brokers}; "
            f"{_epochs(history.first_epoch, history.last_epoch)}; "
            f"{quantity(history.lines, 'line')} to fit.\n"
        )
        yield from _verdict(found, best)
    yield from evidence_lines(found.evidence, acks=found.given.acks)
    yield from _reassignments(found)
    yield from _elections(found)
    yield from _min_isr(found)
    if best is None:
        yield Text(f"No behaviour was searched for: {found.unsearched}.", QUIET)
        yield from _notes(found)
    else:
        yield from _timeline(found, best)
        yield from _left_open(found, best)
    for each in logs.notes_of(found.partition):
        yield Text(f"Passed over: {each}", QUIET)


def evidence_lines(evidence: Evidence, *, acks: str) -> Iterator[Text]:
    """Yield what lines alone show: epochs that leaders missed, offsets at risk, truncations."""
    yield from _elsewhere(evidence)
    for missed in evidence.missed:
        between = ", ".join(
            f"{epoch} (led by {leader})" for epoch, leader in missed.leaders_between
        )
        yield Text(
            f"Broker {missed.broker} led epoch {missed.known}, and then {missed.epoch}; it missed "
            f"epoch {between}: {missed.place}"
        )
    for risk in evidence.at_risk:
        said = _offsets(risk.first, risk.last)
        begun = f"the leader of epoch {risk.epoch}, broker {risk.broker}, began without"
        cut = f"broker {risk.broker} truncated to {risk.first}"
        it = "it" if risk.first == risk.last else "them"
        then = cut if risk.epoch is None else f"{begun} {it}"
        yield Text.assemble(
            ("At risk: ", BAD),
            f"{said} below a high watermark ({risk.watermark_at}), and {then} ({risk.lost_at}).",
        )
    for each in evidence.truncated:
        if any(r.first <= each.first and each.last <= r.last for r in evidence.at_risk):
            continue
        said = f"{_offsets(each.first, each.last)} truncated by broker {each.broker} ({each.place})"
        if acks == "1":
            yield Text.assemble(("At risk: ", BAD), f"{said}; with acks=1 they were acknowledged.")
        elif acks == "all":
            yield Text(
                f"{said[0].upper()}{said[1:]}; with acks=1 they were acknowledged: if producers "
                "use it, ask with --acks 1."
            )


def _elsewhere(evidence: Evidence) -> Iterator[Text]:
    if every := evidence.reassigned_elsewhere:
        yield Text(f"Replicas were reassigned in other epochs, not searched here: {every[0]}.")


def _reassignments(found: Answer) -> Iterator[Text]:
    """Each change of the replicas, and the entries of the catalogue that it opens."""
    every = found.evidence.reassigned
    if not every:
        return
    shown = "; ".join(map(str, every[:_REASSIGNED_SHOWN]))
    more = f"; and {len(every) - _REASSIGNED_SHOWN} more" if len(every) > _REASSIGNED_SHOWN else ""
    features = version_of(found.given.version).feature_names
    if ELIGIBLE_LEADER_REPLICAS in features:
        opens = (
            "A replica that is taken away stays in the ELR, and may be elected without its log if "
            "it is added again: C55, C56, C58 (docs/losses.md)."
        )
    elif "kraft" in features:
        opens = "A record that is replayed late may then leave out a member of the ISR: C50."
    else:
        opens = "A cancellation deletes the logs of those it removes: C63 (docs/losses.md)."
    yield Text.assemble(("Replicas were reassigned: ", BAD), f"{shown}{more}. {opens}")


def _offsets(first: int, last: int) -> str:
    return f"offset {first} was" if first == last else f"offsets {first} to {last} were"


def _epochs(first: int, last: int) -> str:
    return f"leader epoch {first}" if first == last else f"leader epochs {first} to {last}"


def _elections(found: Answer) -> Iterator[Text]:
    """Unclean elections, and what looks like one."""
    for each in found.evidence.unclean:
        of = "" if each.epoch is None else f"in epoch {each.epoch} "
        yield Text(
            f"The controller elected broker {each.leader} {of}uncleanly ({each.place}); unclean "
            "elections are searched."
        )
    for other in found.evidence.outside:
        what = (
            f"Broker {other.leader} was elected leader of epoch {other.epoch} ({other.place}) and "
            f"was not in the ISR before, {list(other.isr)} ({other.isr_at})"
        )
        if is_unclean(found.evidence, found.given.version):
            yield Text(f"{what}: that is an unclean election.")
        elif found.given.unclean_leader_election:
            yield Text(f"{what}: unclean elections are searched.")
        else:
            yield Text(
                f"{what}: if unclean.leader.election.enable may have been true, ask with "
                "--unclean-leader-election."
            )


def _min_isr(found: Answer) -> Iterator[Text]:
    if found.evidence.min_isr is not None:
        least, place = found.evidence.min_isr
        says = "says (under-min-isr)" if "(under-min-isr)" in place.text else "has an ELR"
        yield Text(f"min.insync.replicas is at least {least}: {place} {says}.")


def _verdict(found: Answer, best: Searched) -> Iterator[Text]:
    if not found.fits:
        longest = best.longest.lines if best.longest else 0
        what = (
            "Nothing fits within the bounds"
            if found.nothing_fits
            else "Nothing was found in time that fits"
        )
        yield Text(f"{what}: at most {longest} of {quantity(best.history.lines, 'line')}.", BAD)
        for refused, times in best.refusals.most_common(_REFUSALS_SHOWN):
            line = best.history.sources[refused.replica][refused.line]
            yield Text(f"  next at {line.place}: {refused.reason} ({times} times)")
        if not found.nothing_fits:
            states = sum(each.states for each in found.tried)
            yield Text(
                f"  {states:,} states were searched: --max-states raises the limit, --epochs names "
                "fewer epochs."
            )
        return
    yield from cause_lines(found.causes, is_certain=found.is_certain)
    if found.always_loses:
        yield Text("Every behaviour that fits, within the bounds, loses an acknowledged record.")
    elif True in best.fits:
        also = (
            "another loses none"
            if False in best.fits
            else "none was found that loses none, and not all were looked at"
        )
        yield Text(f"A behaviour fits that loses an acknowledged record; {also}.")
    elif found.never_loses:
        yield Text(
            "A behaviour fits; none that fits, within the bounds, loses an acknowledged record."
        )
    else:
        yield Text(
            "A behaviour fits that loses no acknowledged record. Whether another loses one was not "
            "decided in time."
        )


def _timeline(found: Answer, best: Searched) -> Iterator[RenderableType]:
    """The lanes of all brokers; the steps of the behaviour, with the line that each has written."""
    events = list(timeline(best, found.shown)) if found.shown is not None else []
    if not any(event.number for event in events):
        yield from _notes(found)
        return
    yield Text("\nWhat the brokers wrote, in an order in which it can have happened:", TITLE)
    yield Lanes(events, best.history.brokers)
    yield Text("In brackets, and of the controller where no file stands: what no line says.", QUIET)
    yield Text("\nOne behaviour that fits, so far as lines are fitted:", TITLE)
    yield from step_lines(events)


def _notes(found: Answer) -> Iterator[Text]:
    """Yield log lines with their meaning, for answers without steps."""
    for seen in found.evidence.noted:
        who = "controller" if seen.broker == CONTROLLER else f"broker {seen.broker}"
        yield Text(f"  {who}: {seen.said}: {seen.place}")


def step_lines(events: Iterable[Event]) -> Iterator[Text]:
    """Each step, with the line that it has written; lines of no step between them."""
    for event in events:
        who = "controller" if event.broker is None else f"broker {event.broker}"
        if event.number:
            yield Text(f"{event.number:>3}. {event.sentence}")
            if event.line is not None:
                yield Text(f"     {who}: {event.line.place}", QUIET)
        elif event.line is not None:
            yield Text(f"     {who}: {event.sentence}: {event.line.place}")


def _left_open(found: Answer, best: Searched) -> Iterator[Text]:
    e, history, floor = best.environment, best.history, best.history.offsets[0]
    states = sum(each.states for each in found.tried)
    unclean = "with" if e.unclean_leader_election else "without"
    rare = {"reassignments": e.reassignments, "directories taken out": e.taken_directories}
    moved = "".join(f", {what}: {number}" for what, number in rare.items() if number)
    yield Text(
        f"\nBounds: {quantity(e.records, 'run')} of records between the offsets that lines name "
        f"({', '.join(map(str, history.offsets))}); crashes: {e.restarts}, shutdowns: "
        f"{e.shutdowns}, sessions of living brokers that expire: {e.session_expiries}, "
        f"power losses: {e.power_losses}, lost disks: {e.lost_disks}{moved}; acks={e.acks}, "
        f"min.insync.replicas={e.min_insync_replicas}, {unclean} unclean elections. {states:,} "
        f"states, {found.seconds:.0f} s.\n"
        f"Assumed: when epoch {history.first_epoch} begins, offsets below {floor} are the same "
        "everywhere, and all are in sync.\n"
        "A behaviour that fits could have written these lines; it need not be what happened. A "
        "record can be lost without a line that tells of it.",
        QUIET,
    )
    silent = [
        broker for replica, broker in enumerate(history.brokers) if not history.sources[replica]
    ]
    if silent:
        yield Text(f"No line to fit of broker {', '.join(map(str, silent))}: free to do anything.")


_OF_STALE_REMOTE_LEO = (
    "a leader that missed an epoch went on by what a follower had had before, and acknowledged a "
    "record that the next leader did not have. docs/losses.md"
)


def cause_lines(causes: Sequence[Cause], *, is_certain: bool) -> Iterator[Text]:
    """The nearest entry, with its repair, and the others."""
    if not causes:
        return
    nearest, *others = causes
    scenario, repair = nearest.scenario, nearest.repair
    if scenario.number == STALE_REMOTE_LEO:
        what = _OF_STALE_REMOTE_LEO
    else:
        what = (
            f"{scenario.title[0].lower()}{scenario.title[1:]}. The same steps lose nothing with "
            f"{repair.description}. waterline scenarios {scenario.name}"
        )
    how = "is" if is_certain else "can be"
    yield Text.assemble((f"This {how} {scenario.number} ({scenario.name})", BAD), f": {what}")
    if others:
        names = ", ".join(f"{each.scenario.number} ({each.scenario.name})" for each in others)
        yield Text(f"The repairs of these keep the same steps harmless as well: {names}.")
