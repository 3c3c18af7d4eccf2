"""Answer from logs: what lines alone show, and what behaviours of the model that fit them show.

What lines show needs no model: an epoch that a leader missed, and offsets that were below a high
watermark before an epoch whose leader began without them. What fits is one behaviour that could
have written these lines, not the one that did. That no record was lost is never said.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from checker.kafka.logs.causes import Cause, causes_of
from checker.kafka.logs.fitting import (
    STATES_MAX,
    Circumstances,
    Fit,
    Searched,
    bounds_in_turn,
    searched,
)
from checker.kafka.logs.history import ORDERS_MAX, History, history_of, leaders_told
from checker.kafka.logs.observation import Kind, Observation, Place
from checker.kafka.logs.reading import Logs
from model.message.environment import Environment


@dataclass(frozen=True, slots=True)
class MissedEpoch:
    """A leader that led on in `epoch` from `known`, and did not hear of what was between."""

    broker: int
    known: int
    epoch: int
    leaders_between: tuple[tuple[int, int], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class AtRisk:
    """Offsets `first` to `last` were below a high watermark; the leader of `epoch` began below."""

    first: int
    last: int
    epoch: int
    leader: int
    watermark_at: Place
    begins_at: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the logs of a partition show. `best` is the search that says most; `tried` are all.

    `alike` are those of the bounds of `best`. `has_all_orders`: in every bounds that were tried all
    orders were in which brokers may be assigned, as far as the order matters there; else nothing is
    said of every behaviour.
    """

    partition: str
    missed: tuple[MissedEpoch, ...]
    at_risk: tuple[AtRisk, ...]
    best: Searched
    tried: tuple[Searched, ...]
    alike: tuple[Searched, ...]
    has_all_orders: bool
    causes: tuple[Cause, ...]
    """The entries of the catalogue that the loss shown is an instance of, the nearest first."""
    seconds: float

    @property
    def fits(self) -> bool:
        """Whether a behaviour was found that fits every line."""
        return bool(self.best.fits)

    @property
    def nothing_fits(self) -> bool:
        """Whether no behaviour fits, within the bounds that were tried."""
        return self.has_all_orders and all(each.nothing_fits for each in self.tried)

    @property
    def always_loses(self) -> bool:
        """Whether every behaviour that fits, within these bounds, loses an acknowledged record."""
        return self._is_so_of_all(True)

    @property
    def never_loses(self) -> bool:
        """Whether none does, within these bounds."""
        return self._is_so_of_all(False)

    def _is_so_of_all(self, loses: bool) -> bool:
        fits = any(loses in each.fits for each in self.alike)
        return self.has_all_orders and fits and all(s.excludes(not loses) for s in self.alike)

    @property
    def is_certain(self) -> bool:
        """Whether every behaviour that fits loses a record, and the one shown by one cause."""
        return self.always_loses and len(self.causes) == 1

    @property
    def shown(self) -> Fit | None:
        """The behaviour to show: one that loses, if there is one; else the longest prefix."""
        fits = self.best.fits
        return fits.get(True) or fits.get(False) or self.best.longest


def answered(
    logs: Logs,
    partition: str,
    given: Circumstances,
    *,
    epochs: tuple[int, int] | None = None,
    states_max: int = STATES_MAX,
    seconds_max: float = 120.0,
) -> Answer:
    """Search until something fits, raising the bounds in turn. Raises `BadLogs`."""
    began = time.monotonic()
    by_broker = logs.of(partition)
    first, last = epochs or (None, None)
    tried: list[Searched] = []
    alike: list[Searched] = []
    has_all_orders, is_over = True, False
    for in_bounds, is_every_order in _in_turn(by_broker, logs, first, last, given):
        alike = []
        has_all_orders &= is_every_order
        for history, environment in in_bounds:
            left = seconds_max - (time.monotonic() - began)
            if tried and left <= 0:
                # Nothing is known of this order, nor of all behaviours within these bounds.
                has_all_orders, is_over = has_all_orders and not alike, True
                break
            found = searched(history, given, environment, states_max=states_max, seconds_max=left)
            tried.append(found)
            alike.append(found)
            if found.nothing_fits:
                # That shall not rest on dead ends, nor on what the decisions are taken for.
                left = seconds_max - (time.monotonic() - began)
                plain = replace(history, decisions=(), decision_sources=())
                found = searched(
                    plain, given, environment, states_max=states_max, seconds_max=left, plain=True
                )
                tried.append(found)
                alike.append(found)
            if len(found.fits) > 1:
                break  # One that loses a record and one that loses none: more orders say no more.
        if is_over or any(each.fits for each in alike):
            break
    best = max(
        tried,
        key=lambda s: (bool(s.fits), True in s.fits, s.longest.lines if s.longest else 0),
    )
    missed = missed_epochs(by_broker, first, last)
    losing = best.fits.get(True)
    return Answer(
        partition=partition,
        missed=missed,
        at_risk=at_risk(by_broker, first, last),
        best=best,
        tried=tuple(tried),
        alike=tuple(alike),
        has_all_orders=has_all_orders,
        causes=()
        if losing is None
        else causes_of(
            best.model,
            best.environment,
            best.model.initial[0],
            losing.calls,
            missed=bool(missed),
        ),
        seconds=time.monotonic() - began,
    )


def _in_turn(
    by_broker: Mapping[int, Sequence[Observation]],
    logs: Logs,
    first: int | None,
    last: int | None,
    given: Circumstances,
) -> Iterator[tuple[list[tuple[History, Environment]], bool]]:
    """Each of the bounds, with each order in which brokers may be assigned; whether with all."""
    histories = histories_of(by_broker, logs, first, last)
    orders = math.factorial(len(histories[0].brokers) - 1)
    for environments in zip(*(bounds_in_turn(h, given) for h in histories), strict=True):
        if environments[0].election_order == "any":
            # The order of assignment matters to nothing then.
            yield [(histories[0], environments[0])], True
        else:
            yield list(zip(histories, environments, strict=True)), len(histories) == orders


def histories_of(
    by_broker: Mapping[int, Sequence[Observation]],
    logs: Logs,
    first: int | None,
    last: int | None,
    *,
    is_limited: bool = True,
) -> list[History]:
    """The history for each order in which brokers may be assigned. Raises `BadLogs`."""
    found: dict[tuple[int, ...], History] = {}
    for order in range(ORDERS_MAX):
        made = history_of(
            by_broker,
            with_server_log=logs.with_server_log,
            first_epoch=first,
            last_epoch=last,
            order=order,
            is_zookeeper=logs.manners == {"zookeeper"},
            is_limited=is_limited,
        )
        found.setdefault(made.brokers, made)
    return list(found.values())


def missed_epochs(
    by_broker: Mapping[int, Sequence[Observation]], first: int | None, last: int | None
) -> tuple[MissedEpoch, ...]:
    """Leaders that led on after an epoch that somebody else led, by what their lines say."""
    leaders, found = leaders_told(by_broker), []
    for broker, observed in by_broker.items():
        for seen in _within(observed, first, last):
            known = seen.previous_epoch
            if seen.kind is not Kind.LEADS or known is None or known < 0 or seen.epoch is None:
                continue
            if leaders.get(known) != broker:
                continue
            between = tuple(
                (epoch, leaders[epoch])
                for epoch in range(known + 1, seen.epoch)
                if leaders.get(epoch, broker) != broker
            )
            if between:
                found.append(MissedEpoch(broker, known, seen.epoch, between, seen.place))
    return tuple(found)


def at_risk(
    by_broker: Mapping[int, Sequence[Observation]], first: int | None, last: int | None
) -> tuple[AtRisk, ...]:
    """Offsets below a high watermark of before an epoch whose leader began below it.

    A broker's first line of an epoch has the high watermark with which it came into it: that was
    reached in an earlier one. Not so a later line, of a broker that has started again within the
    epoch, nor the first line of all, before which others may be missing.
    """
    every = [o for observed in by_broker.values() for o in _within(observed, first, last)]
    marks = [
        o
        for observed in by_broker.values()
        for o in _first_of_epochs(_within(observed, first, last))
    ]
    found = []
    for begun in (o for o in every if o.kind is Kind.LEADS):
        assert begun.epoch is not None
        assert begun.offset is not None
        before = [o for o in marks if (o.epoch or 0) <= begun.epoch]
        highest = max(before, key=lambda o: o.high_watermark or 0, default=begun)
        if (highest.high_watermark or 0) > begun.offset:
            found.append(
                AtRisk(
                    begun.offset,
                    (highest.high_watermark or 0) - 1,
                    begun.epoch,
                    begun.broker,
                    highest.place,
                    begun.place,
                )
            )
    return tuple(found)


def _first_of_epochs(observed: Iterable[Observation]) -> Iterator[Observation]:
    """A broker's lines of an epoch that is higher than all before, but the first line of all."""
    highest: int | None = None
    for seen in observed:
        if seen.epoch is None or seen.high_watermark is None:
            continue
        if highest is not None and seen.epoch > highest:
            yield seen
        highest = max(seen.epoch, seen.epoch if highest is None else highest)


def _within(
    observed: Sequence[Observation], first: int | None, last: int | None
) -> Iterator[Observation]:
    for seen in observed:
        if seen.epoch is None or (
            (first is None or seen.epoch >= first) and (last is None or seen.epoch <= last)
        ):
            yield seen
