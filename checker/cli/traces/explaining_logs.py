"""Execution of `explain-logs`: the answer on the screen, and the trace in a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import RenderableType
from rich.text import Text

from checker.cli.shared import exit_codes
from checker.cli.shared.screen import say, screen
from checker.cli.traces.cause_lines import cause_lines
from checker.cli.traces.chain_lines import chain_lines, code_of_chain
from checker.cli.traces.incident_json import incident_json
from checker.cli.traces.incident_lanes import Lanes
from checker.kafka.logs.answer import Answer, answered
from checker.kafka.logs.chain_answer import answered_by_windows
from checker.kafka.logs.errors import BadLogs
from checker.kafka.logs.fitting import STATES_MAX, Circumstances
from checker.kafka.logs.reading import Logs, read_logs
from checker.kafka.logs.timeline import timeline
from checker.problem.wording import counted
from counterexamples import NO_CLAIM, trace_of, write_trace
from counterexamples.style import BAD, QUIET, TITLE
from model.message.releases import UnknownRelease, release_named

SECONDS_MAX = 120.0
_REFUSALS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOfLogs:
    """The command's options."""

    folders: tuple[Path, ...]
    partition: str | None
    release: str | None
    epochs: str | None
    min_insync_replicas: int
    unclean_leader_election: bool
    trace_file: Path | None
    states_max: int | None
    seconds_max: float | None
    as_json: bool = False
    window_epochs: int | None = None


def explain_logs(asked: AskedOfLogs) -> int:
    """Read, search, tell; returns the exit code. Raises `BadLogs`."""
    epochs = _epochs(asked.epochs)
    logs = read_logs(asked.folders)
    partition = asked.partition or logs.only_partition()
    name = asked.release or release_of(logs)
    try:
        followed, hw_in_response = release_named(name)
    except UnknownRelease as problem:
        raise BadLogs(f"--kafka: {problem}") from None
    given = Circumstances(
        version=followed.version,
        hw_in_response=hw_in_response,
        min_insync_replicas=asked.min_insync_replicas,
        unclean_leader_election=asked.unclean_leader_election,
    )
    if asked.window_epochs is not None:
        return _explain_by_windows(asked, logs, partition, given, name, epochs)
    found = answered(
        logs,
        partition,
        given,
        epochs=epochs,
        states_max=asked.states_max or STATES_MAX,
        seconds_max=asked.seconds_max or SECONDS_MAX,
    )
    if asked.as_json:
        click.echo(json.dumps(incident_json(found, logs, name, code_of(found)), indent=1))
    else:
        for part in answer_lines(found, logs, name):
            screen().print(part)
    shown = found.shown
    if asked.trace_file is not None and shown is not None:
        write_trace(asked.trace_file, trace_of(found.best.model, NO_CLAIM, shown.calls))
        say(f"wrote {asked.trace_file}: {len(shown.calls)} steps")
    return code_of(found)


def _explain_by_windows(
    asked: AskedOfLogs,
    logs: Logs,
    partition: str,
    given: Circumstances,
    name: str,
    epochs: tuple[int, int] | None,
) -> int:
    if asked.as_json or asked.trace_file is not None:
        raise click.UsageError(
            "--windows prints a timeline; for --format json and --trace name epochs with --epochs"
        )
    assert asked.window_epochs is not None
    found = answered_by_windows(
        logs,
        partition,
        given,
        width=asked.window_epochs,
        epochs=epochs,
        states_max=asked.states_max or STATES_MAX,
        seconds_max=asked.seconds_max or SECONDS_MAX,
    )
    for part in chain_lines(found, name):
        screen().print(part)
    for each in logs.notes_of(found.partition):
        screen().print(Text(f"Passed over: {each}", QUIET))
    return code_of_chain(found)


def code_of(found: Answer) -> int:
    """The exit code of an answer."""
    if found.at_risk or found.always_loses:
        return exit_codes.VIOLATED
    return exit_codes.HOLDS if found.fits else exit_codes.INCOMPLETE


def _epochs(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    matched = re.fullmatch(r"(\d{1,9})-(\d{1,9})", text)
    if matched is None or int(matched[1]) >= int(matched[2]):
        raise click.UsageError(f"--epochs is {text!r}; write two epochs as 7-10, the lower first")
    return int(matched[1]), int(matched[2])


def release_of(logs: Logs) -> str:
    """The release that the logs name, and its manner. Raises `BadLogs` where there is not one."""
    if len(logs.releases) != 1 or len(logs.manners) > 1:
        names = ", ".join(sorted(logs.releases)) or "no release"
        raise BadLogs(
            f"the logs name {names}; say with --kafka whose rules to follow, as 3.9.1:kraft"
        )
    [release] = logs.releases
    is_zookeeper = logs.manners == {"zookeeper"}
    # Whether there are eligible leader replicas no line says: a new cluster's default is followed.
    return f"{release}:zookeeper" if is_zookeeper else release


def answer_lines(found: Answer, logs: Logs, name: str) -> Iterator[RenderableType]:
    """The answer, part by part: the verdict first."""
    best = found.best
    history = best.history
    brokers = ", ".join(f"{b} (r{r})" for r, b in enumerate(history.brokers))
    yield Text(
        f"Partition {found.partition}, Kafka {name}, brokers {brokers}; leader epochs "
        f"{history.first_epoch} to {history.last_epoch}; {history.lines} lines to fit.\n"
    )
    yield from _verdict(found)
    for missed in found.missed:
        between = ", ".join(
            f"{epoch} (led by {leader})" for epoch, leader in missed.leaders_between
        )
        yield Text(
            f"Broker {missed.broker} led epoch {missed.known}, and then {missed.epoch}; it missed "
            f"epoch {between}: {missed.place}"
        )
    for risk in found.at_risk:
        span = f"{risk.first}" if risk.first == risk.last else f"{risk.first} to {risk.last}"
        yield Text.assemble(
            ("At risk: ", BAD),
            f"offset {span} was below a high watermark ({risk.watermark_at}), and the leader of "
            f"epoch {risk.epoch}, broker {risk.leader}, began without it ({risk.begins_at}).",
        )
    yield from _timeline(found)
    yield from _left_open(found, logs)


def _verdict(found: Answer) -> Iterator[Text]:
    best = found.best
    if not found.fits:
        longest = best.longest.lines if best.longest else 0
        what = (
            "Nothing fits within the bounds"
            if found.nothing_fits
            else "Nothing was found in time that fits"
        )
        yield Text(f"{what}: at most {longest} of {best.history.lines} lines.", BAD)
        for refused, times in best.refusals.most_common(_REFUSALS_SHOWN):
            line = best.history.sources[refused.replica][refused.position]
            yield Text(f"  next at {line.place}: {refused.reason} ({times} times)")
        return
    yield from cause_lines(found.causes, is_certain=found.is_certain)
    if found.always_loses:
        yield Text("Every behaviour that fits, within the bounds, loses an acknowledged record.")
    elif True in best.fits:
        also = "another loses none" if False in best.fits else "whether one loses none is open"
        yield Text(f"A behaviour fits that loses an acknowledged record; {also}.")
    elif found.never_loses:
        yield Text(
            "A behaviour fits; none that fits, within the bounds, loses an acknowledged record."
        )
    else:
        yield Text("A behaviour fits that loses no acknowledged record; whether one loses is open.")


def _timeline(found: Answer) -> Iterator[RenderableType]:
    """The lanes of all brokers; the steps of the behaviour, with the line that each has written."""
    if found.shown is None:
        return
    events = list(timeline(found.best, found.shown))
    yield Text("\nWhat the brokers wrote, in an order in which it can have happened:", TITLE)
    yield Lanes(events, found.best.history.brokers)
    yield Text("In brackets, and of the controller where no file stands: what no line says.", QUIET)
    yield Text("\nOne behaviour that fits, so far as lines are fitted:", TITLE)
    for event in events:
        yield Text(f"{event.number:>3}. {event.sentence}")
        if event.line is not None:
            yield Text(f"     broker {event.broker}: {event.line.place}", QUIET)


def _left_open(found: Answer, logs: Logs) -> Iterator[Text]:
    best = found.best
    e, history, floor = best.environment, best.history, best.history.offsets[0]
    states = sum(each.states for each in found.tried)
    yield Text(
        f"\nBounds: {counted(e.records, 'run')} of records between the offsets that lines name "
        f"({', '.join(map(str, history.offsets))}); crashes: {e.restarts}, shutdowns: "
        f"{e.shutdowns}, sessions of living brokers that expire: {e.session_expiries}, "
        f"power losses: {e.power_losses}, lost disks: {e.lost_disks}; acks=all, "
        f"min.insync.replicas={e.min_insync_replicas}. {states:,} states, {found.seconds:.0f} s.\n"
        f"Assumed: when epoch {history.first_epoch} begins, offsets below {floor} are the same "
        "everywhere, and all are in sync.\n"
        "What fits could have written these lines; that it did is not shown. A record can be lost "
        "without a line that tells of it.",
        QUIET,
    )
    silent = [
        broker for replica, broker in enumerate(history.brokers) if not history.sources[replica]
    ]
    if silent:
        yield Text(f"No lines of broker {', '.join(map(str, silent))}: it is free to do anything.")
    for each in logs.notes_of(found.partition):
        yield Text(f"Passed over: {each}", QUIET)
