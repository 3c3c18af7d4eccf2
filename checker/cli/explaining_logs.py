"""Execution of `explain-logs`: the answer on the screen, and the trace in a file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import click

from waterline.checker.cli.incident_json import incident_json
from waterline.checker.cli.incident_lines import answer_lines
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.screen import say, screen
from waterline.checker.kafka.logs.answer import Answer, answer_of
from waterline.checker.kafka.logs.fitting import STATES_MAX, Circumstances
from waterline.checker.kafka.logs.observation import BadLogs
from waterline.checker.kafka.logs.reading import Logs, read_logs
from waterline.counterexamples import NO_CLAIM, trace_of, write_trace
from waterline.model.message.releases import UnknownRelease, release_named

if TYPE_CHECKING:
    from waterline.checker.cli.explain_logs import ExplainLogsOptions

SECONDS_MAX = 120.0


def explain_logs(asked: ExplainLogsOptions) -> int:
    """Read the logs, search, and report; return the exit code. Raises `BadLogs`."""
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
        acks=asked.acks,
    )
    found = answer_of(
        logs,
        partition,
        given,
        epochs=epochs,
        states_max=asked.max_states or STATES_MAX,
        seconds_max=asked.max_time or SECONDS_MAX,
    )
    if asked.output_format == "json":
        click.echo(json.dumps(incident_json(found, logs, name, code_of(found)), indent=1))
    else:
        for part in answer_lines(found, logs, name):
            screen().print(part)
    shown = found.shown
    if asked.trace_file is not None and shown is not None and found.best is not None:
        write_trace(asked.trace_file, trace_of(found.best.model, NO_CLAIM, shown.calls))
        say(f"wrote {asked.trace_file}: {len(shown.calls)} steps")
    return code_of(found)


def code_of(found: Answer) -> int:
    """The exit code of an answer."""
    if found.at_risk or found.loses:
        return exit_codes.VIOLATED
    return exit_codes.HOLDS if found.fits else exit_codes.INCOMPLETE


def _epochs(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    matched = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", text)
    if matched is None or int(matched[2] or matched[1]) < int(matched[1]):
        raise click.UsageError(
            f"--epochs is {text!r}; write an epoch as 7, or two as 7-10, the lower first"
        )
    return int(matched[1]), int(matched[2] or matched[1])


def release_of(logs: Logs) -> str:
    """The release that the logs name, and its manner. Raises `BadLogs` where there is not one.

    Of several with the same rules, as while a cluster is upgraded, the newest.
    """
    is_zookeeper = logs.manners == {"zookeeper"}
    # Whether there are eligible leader replicas no line says: a new cluster's default is followed.
    named = {
        release: f"{release}:zookeeper" if is_zookeeper else release for release in logs.releases
    }
    try:
        rules = {release_named(name) for name in named.values()}
    except UnknownRelease:
        rules = set()
    if not named or len(rules) > 1 or len(logs.manners) > 1:
        names = ", ".join(sorted(logs.releases)) or "no release"
        raise BadLogs(
            f"the logs name {names}; say with --kafka whose rules to follow, as 3.9.1:kraft"
        )
    return named[max(named, key=lambda release: tuple(map(int, release.split("."))))]
