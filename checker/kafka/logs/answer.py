"""Answer from logs: what lines alone show, and what behaviours of the model that fit them show.

What lines show needs no model: an epoch that a leader missed, and offsets that were below a high
watermark before an epoch whose leader began without them. What fits is one behaviour that could
have written these lines, not the one that did. That no record was lost is never said.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.logs.causes import Cause, causes_of
from waterline.checker.kafka.logs.evidence import Evidence, evidence_of
from waterline.checker.kafka.logs.fitting import (
    STATES_MAX,
    Circumstances,
    Fit,
    Searched,
    bounds_in_turn,
    search_fits,
)
from waterline.checker.kafka.logs.history import ORDERS_MAX, History, history_of
from waterline.checker.kafka.logs.observation import BadLogs, Observation
from waterline.checker.kafka.logs.reading import Logs
from waterline.checker.kafka.logs.reassigned import reassigned_in, requests_in
from waterline.model.message.environment import RARE_BUDGET_MAX, Environment
from waterline.model.message.versions import version_of

_SHARE, _STATES_LEAST = 3, 2_000
"""A search has this part of the states that are left, and at least so many."""
ELIGIBLE_LEADER_REPLICAS = "elr"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Answer about a partition. `best` is the most informative search; `tried` are all.

    If no search can begin, `best` is None and `unsearched` says why: lines alone show a loss.

    `alike` are the searches with the bounds of `best`. `has_all_orders`: for all bounds tried,
    every order of the assigned brokers was tried as far as it matters; otherwise the answer does
    not cover every behaviour.
    """

    partition: str
    given: Circumstances
    evidence: Evidence
    best: Searched | None
    tried: tuple[Searched, ...]
    alike: tuple[Searched, ...]
    has_all_orders: bool
    causes: tuple[Cause, ...]
    """The entries of the catalogue that the loss shown is an instance of, the nearest first."""
    seconds: float
    unsearched: str = ""

    @property
    def fits(self) -> bool:
        """True if a behaviour was found that fits every line."""
        return self.best is not None and bool(self.best.fits)

    @property
    def loses(self) -> bool:
        """True if a behaviour that fits loses a record, and none was found that loses none."""
        return self.best is not None and set(self.best.fits) == {True}

    @property
    def at_risk(self) -> bool:
        """True if lines alone show that acknowledged records may be lost."""
        return bool(self.evidence.at_risk) or (
            self.given.acks == "1" and bool(self.evidence.truncated)
        )

    @property
    def nothing_fits(self) -> bool:
        """True if no behaviour fits, within the bounds that were tried."""
        return (
            self.best is not None
            and self.has_all_orders
            and all(each.nothing_fits for each in self.tried)
        )

    @property
    def always_loses(self) -> bool:
        """True if every behaviour that fits, within these bounds, loses an acknowledged record."""
        return self._is_so_of_all(True)

    @property
    def never_loses(self) -> bool:
        """True if no fitting behaviour loses an acknowledged record, within these bounds."""
        return self._is_so_of_all(False)

    def _is_so_of_all(self, loses: bool) -> bool:
        fits = any(loses in each.fits for each in self.alike)
        return self.has_all_orders and fits and all(s.excludes(not loses) for s in self.alike)

    @property
    def is_certain(self) -> bool:
        """True if every behaviour that fits loses a record, and the one shown by one cause."""
        return self.always_loses and len(self.causes) == 1

    @property
    def shown(self) -> Fit | None:
        """The behaviour to show: one that loses, if there is one; else the longest prefix."""
        if self.best is None:
            return None
        fits = self.best.fits
        return fits.get(True) or fits.get(False) or self.best.longest


def answer_of(
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
    evidence = evidence_of(by_broker, logs.unclean_of(partition), first, last)
    is_told = given.unclean_leader_election or is_unclean(evidence, given.version)
    least = evidence.min_isr[0] if evidence.min_isr else 1
    given = replace(
        given,
        unclean_leader_election=is_told,
        min_insync_replicas=max(given.min_insync_replicas, least),
        is_first_partition=partition.endswith("-0"),
    )
    answer = Answer(
        partition=partition,
        given=given,
        evidence=evidence,
        best=None,
        tried=(),
        alike=(),
        has_all_orders=False,
        causes=(),
        seconds=0.0,
    )
    try:
        _require_modelled(evidence, given)
        histories = histories_of(by_broker, logs, first, last)
    except BadLogs as problem:
        if not (answer.at_risk or evidence.reassigned):
            raise
        return replace(answer, unsearched=str(problem))
    allowed = [given]
    if evidence.outside and not is_told:
        allowed.append(replace(given, unclean_leader_election=True))
    for number, each in enumerate(allowed, 1):
        until = began + seconds_max * number / len(allowed)
        found = _search(histories, each, states_max // len(allowed), until)
        if number == 1 or found.fits:
            made = _with_causes(replace(answer, given=each), found)
        if found.fits:
            break
    return replace(made, seconds=time.monotonic() - began)


def _require_modelled(evidence: Evidence, given: Circumstances) -> None:
    """Raise `BadLogs` where replicas are reassigned and no search has that."""
    if not evidence.reassigned:
        return
    what, remedy = "", "name epochs before or after it with --epochs"
    if "kraft" not in version_of(given.version).feature_names:
        what = "without KRaft that is not searched"
    elif requests_in(evidence.reassigned) > RARE_BUDGET_MAX:
        what = f"at most {RARE_BUDGET_MAX} reassignments are searched at once"
    if what:
        raise BadLogs(f"replicas are reassigned, {evidence.reassigned[0]}; {what}: {remedy}")


@dataclass(slots=True)
class _Found:
    """Searches in bounds that were raised in turn; `alike` are those of the last bounds."""

    tried: list[Searched] = field(default_factory=list)
    alike: list[Searched] = field(default_factory=list)
    has_all_orders: bool = True

    @property
    def fits(self) -> bool:
        """True if some behaviour fits within the last bounds."""
        return any(each.fits for each in self.alike)


def _search(
    histories: Sequence[History], given: Circumstances, states_max: int, until: float
) -> _Found:
    """Search until something fits, or the states or the time are used up.

    Each search has a share of what is left: one within too small bounds shall not take all.
    """
    found = _Found()

    def search(history: History, environment: Environment, *, plain: bool = False) -> Searched:
        left = states_max - sum(each.states for each in found.tried)
        made = search_fits(
            history,
            given,
            environment,
            states_max=max(_STATES_LEAST, left // _SHARE),
            seconds_max=until - time.monotonic(),
            plain=plain,
        )
        found.tried.append(made)
        found.alike.append(made)
        return made

    for in_bounds, is_every_order in _in_turn(histories, given):
        found.alike = []
        found.has_all_orders &= is_every_order and not histories[0].orders_left_out
        for history, environment in in_bounds:
            states = sum(each.states for each in found.tried)
            if found.tried and (states >= states_max or time.monotonic() > until):
                # Nothing is known of this order, nor of all behaviours within these bounds.
                found.has_all_orders = found.has_all_orders and not found.alike
                return found
            if search(history, environment).nothing_fits:
                # That shall not rest on dead ends, nor on what the decisions are taken for.
                search(replace(history, decisions=(), decision_sources=()), environment, plain=True)
            if len(found.alike[-1].fits) > 1:
                break  # One that loses a record and one that loses none: more orders say no more.
        if found.fits:
            break
    return found


def _with_causes(answer: Answer, found: _Found) -> Answer:
    """The answer of these searches, with what the loss that they found is an instance of."""
    best = max(
        found.tried,
        key=lambda s: (bool(s.fits), True in s.fits, s.longest.lines if s.longest else 0),
    )
    losing = best.fits.get(True)
    missed = bool(answer.evidence.missed)
    return replace(
        answer,
        best=best,
        tried=tuple(found.tried),
        alike=tuple(found.alike),
        has_all_orders=found.has_all_orders,
        causes=()
        if losing is None
        else causes_of(best.model, best.environment, losing.calls, missed=missed),
    )


def is_unclean(evidence: Evidence, version: str) -> bool:
    """True if an election was unclean: a controller says so, or it cannot have been clean.

    A broker outside the ISR of the previous decision is elected cleanly only with eligible leader
    replicas.
    """
    if evidence.unclean:
        return True
    has_elr = ELIGIBLE_LEADER_REPLICAS in version_of(version).feature_names
    return not has_elr and any(each.is_next for each in evidence.outside)


def _in_turn(
    histories: Sequence[History], given: Circumstances
) -> Iterator[tuple[list[tuple[History, Environment]], bool]]:
    """Yield the histories of each bounds by order of assignment; True if all orders are there."""
    orders = math.factorial(len(histories[0].brokers) - 1)
    for environments in zip(*(bounds_in_turn(h, given) for h in histories), strict=True):
        if environments[0].election_order == "any":
            # The order of assignment matters to nothing then.
            yield [(histories[0], environments[0])], True
        else:
            # A reassignment may name brokers in any order.
            is_every = len(histories) == orders and not histories[0].reassignments
            yield list(zip(histories, environments, strict=True)), is_every


def histories_of(
    by_broker: Mapping[int, Sequence[Observation]],
    logs: Logs,
    first: int | None,
    last: int | None,
) -> list[History]:
    """Return a history for each order of assignment of the brokers. Raises `BadLogs`."""
    found: dict[tuple[int, ...], History] = {}
    for order in range(ORDERS_MAX):
        made = history_of(
            by_broker,
            with_server_log=logs.with_server_log(by_broker, first),
            first_epoch=first,
            last_epoch=last,
            order=order,
            is_zookeeper=logs.manners == {"zookeeper"},
            reassigned=reassigned_in(by_broker, first, last),
        )
        found.setdefault(made.brokers, made)
    return list(found.values())
