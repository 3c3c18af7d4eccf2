"""Execution of `explain-logs`: the answer on the screen or as JSON, and the trace in a file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from waterline.checker.cli.incident_lines import answer_lines
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.screen import say, screen
from waterline.checker.kafka.logs.answer import Answer, answer_of
from waterline.checker.kafka.logs.evidence import AtRisk
from waterline.checker.kafka.logs.fitting import STATES_MAX, Circumstances
from waterline.checker.kafka.logs.observation import CONTROLLER, BadLogs, Place
from waterline.checker.kafka.logs.reading import Logs, read_logs
from waterline.checker.kafka.logs.timeline import Event, timeline
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


FORMAT = "waterline-incident/1"


def incident_json(found: Answer, logs: Logs, release: str, exit_code: int) -> dict[str, Any]:
    """Return what the logs of a partition show. Epochs, offsets and brokers are Kafka's numbers.

    Only the arguments of a step are the model's: replica i is the broker at i of `brokers`.
    """
    best, evidence = found.best, found.evidence
    shown = timeline(best, found.shown) if best is not None and found.shown is not None else ()
    history = best.history if best is not None else None
    return {
        "format": FORMAT,
        "partition": found.partition,
        "release": release,
        "rules": found.given.version,
        "brokers": list(history.brokers) if history else [],
        "epochs": {"first": history.first_epoch, "last": history.last_epoch} if history else None,
        "lines": history.lines if history else 0,
        "lines_fitted": _lines_fitted(found),
        "verdict": _verdict(found),
        "loss": _loss(found),
        "exit_code": exit_code,
        "catalogue": _catalogue(found),
        "missed_epochs": [
            {
                "broker": each.broker,
                "known": each.known,
                "epoch": each.epoch,
                "between": [{"epoch": e, "leader": leader} for e, leader in each.leaders_between],
                "at": _place(each.place),
            }
            for each in evidence.missed
        ],
        "at_risk": list(map(_at_risk, evidence.at_risk)),
        "truncated": [
            {
                "first": each.first,
                "last": each.last,
                "broker": each.broker,
                "at": _place(each.place),
            }
            for each in evidence.truncated
        ],
        "unclean_elections": [
            {"epoch": each.epoch, "leader": each.leader, "at": _place(each.place)}
            for each in evidence.unclean
        ],
        "elected_outside_isr": [
            {
                "epoch": each.epoch,
                "leader": each.leader,
                "at": _place(each.place),
                "isr": list(each.isr),
                "isr_at": _place(each.isr_at),
            }
            for each in evidence.outside
        ],
        "reassigned": [
            {"at": _place(each.place), "said": str(each)} for each in evidence.reassigned
        ],
        "noted": [
            {
                "broker": None if seen.broker == CONTROLLER else seen.broker,
                "at": _place(seen.place),
                "said": seen.said,
            }
            for seen in evidence.noted
        ],
        "timeline": [_event(event) for event in shown if event.number],
        "refused": [
            {
                "at": _place(best.history.sources[refused.replica][refused.line].place),
                "reason": refused.reason,
                "times": times,
            }
            for refused, times in best.refusals.most_common()
        ]
        if best is not None and not found.fits
        else [],
        "bounds": dict(best.model.options) if best is not None else {},
        "offsets": list(history.offsets) if history else [],
        "states": sum(each.states for each in found.tried),
        "seconds": round(found.seconds, 3),
        "unsearched": found.unsearched or None,
        "passed_over": logs.notes_of(found.partition),
    }


def _lines_fitted(found: Answer) -> int:
    if found.best is None:
        return 0
    if found.fits:
        return found.best.history.lines
    return found.best.longest.lines if found.best.longest else 0


def _at_risk(risk: AtRisk) -> dict[str, Any]:
    """Return a risk: records below the start of a leader's epoch, or below a truncation."""
    is_leader = risk.epoch is not None
    return {
        "first": risk.first,
        "last": risk.last,
        "epoch": risk.epoch,
        "leader": risk.broker if is_leader else None,
        "broker": risk.broker,
        "high_watermark_at": _place(risk.watermark_at),
        "begins_at": _place(risk.lost_at) if is_leader else None,
        "truncated_at": None if is_leader else _place(risk.lost_at),
    }


def _verdict(found: Answer) -> str:
    if found.best is None:
        return "not searched"
    if found.fits:
        return "fits"
    return "nothing fits" if found.nothing_fits else "not found"


def _loss(found: Answer) -> str | None:
    """True if behaviours that fit lose an acknowledged record, within the bounds."""
    best = found.best
    if best is None or not found.fits:
        return None
    if found.always_loses:
        return "every behaviour"
    if found.never_loses:
        return "no behaviour"
    return "some behaviour" if True in best.fits else "open"


def _catalogue(found: Answer) -> dict[str, Any] | None:
    """The nearest entry, and the others whose repairs keep these steps harmless as well."""
    if not found.causes:
        return None
    nearest, *others = found.causes
    return {
        "entry": nearest.scenario.number,
        "scenario": nearest.scenario.name,
        "certain": found.is_certain,
        "repair": nearest.repair.description,
        "others": [cause.scenario.number for cause in others],
    }


def _event(event: Event) -> dict[str, Any]:
    line, decided = event.line, event.decided
    return {
        "step": event.number,
        "action": event.action,
        "arguments": dict(event.arguments),
        "broker": event.broker,
        "sentence": event.sentence,
        "kind": line.kind.value if line else None,
        "at": _place(line.place) if line else None,
        "decision": {
            "epoch": decided.epoch,
            "leader": decided.leader,
            **{
                name: None if (each := getattr(decided, name)) is None else list(each)
                for name in ("isr", "replicas", "adding", "removing")
            },
            "at": _place(event.decided_at) if event.decided_at else None,
        }
        if decided
        else None,
    }


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "text": place.text}
