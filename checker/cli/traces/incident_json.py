"""The answer from logs as one JSON object: `docs/schemas/incident.schema.json`."""

from __future__ import annotations

from typing import Any

from checker.kafka.logs.answer import Answer
from checker.kafka.logs.observation import Place
from checker.kafka.logs.reading import Logs
from checker.kafka.logs.timeline import Event, timeline

FORMAT = "waterline-incident/1"


def incident_json(found: Answer, logs: Logs, release: str, exit_code: int) -> dict[str, Any]:
    """What the logs of a partition show. Epochs, offsets and brokers are Kafka's numbers.

    Only the arguments of a step are the model's: replica i is the broker at i of `brokers`.
    """
    best, history = found.best, found.best.history
    shown = timeline(best, found.shown) if found.shown is not None else ()
    return {
        "format": FORMAT,
        "partition": found.partition,
        "release": release,
        "rules": best.model.version,
        "brokers": list(history.brokers),
        "epochs": {"first": history.first_epoch, "last": history.last_epoch},
        "lines": history.lines,
        "lines_fitted": history.lines if found.fits else best.longest.lines if best.longest else 0,
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
            for each in found.missed
        ],
        "at_risk": [
            {
                "first": each.first,
                "last": each.last,
                "epoch": each.epoch,
                "leader": each.leader,
                "high_watermark_at": _place(each.watermark_at),
                "begins_at": _place(each.begins_at),
            }
            for each in found.at_risk
        ],
        "timeline": [_event(event) for event in shown],
        "refused": [
            {
                "at": _place(history.sources[refused.replica][refused.position].place),
                "reason": refused.reason,
                "times": times,
            }
            for refused, times in ([] if found.fits else best.refusals.most_common())
        ],
        "bounds": dict(best.model.options),
        "offsets": list(history.offsets),
        "states": sum(each.states for each in found.tried),
        "seconds": round(found.seconds, 3),
        "passed_over": logs.notes_of(found.partition),
    }


def _verdict(found: Answer) -> str:
    if found.fits:
        return "fits"
    return "nothing fits" if found.nothing_fits else "not found"


def _loss(found: Answer) -> str | None:
    """Whether behaviours that fit lose an acknowledged record, within the bounds."""
    best = found.best
    if not found.fits:
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
            "epoch": decided[0],
            "leader": decided[1],
            "isr": list(decided[2]),
            "at": _place(event.decided_at) if event.decided_at else None,
        }
        if decided
        else None,
    }


def _place(place: Place) -> dict[str, Any]:
    return {"file": place.file, "line": place.line, "text": place.text}
