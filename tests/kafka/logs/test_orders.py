"""What is said of every behaviour is said of every order in which brokers may be assigned.

No line says the order of assignment, by which the model elects where a living broker may leave. So
a search is made for each order, and what one of them shows is no verdict about the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from waterline.checker.cli.explaining_logs import code_of
from waterline.checker.kafka.logs import answer
from waterline.checker.kafka.logs.answer import Answer, answer_of
from waterline.checker.kafka.logs.evidence import Evidence
from waterline.checker.kafka.logs.fitting import Circumstances, Fit, Searched
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.reading import read_logs
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.releases import release_named

LOGS = Path(__file__).parent / "recorded" / "3.9.1-c21"
FIRST, SECOND = (0, 1, 2), (0, 2, 1)
Outcome = tuple[set[bool], set[bool]]
"""Whether what fits loses a record, and which of the two searches were whole."""


def judged(monkeypatch: pytest.MonkeyPatch, outcomes: dict[Any, Outcome], most: int = 6) -> Answer:
    """The answer where each order comes out like this, in bounds in which the order matters."""
    followed, hw_in_response = release_named("3.9.1:zookeeper")
    given = Circumstances(version=followed.version, hw_in_response=hw_in_response)
    bounds = Environment(replicas=3, records=1, epochs=3, session_expiries=1)

    def bounds_once(history: History, given: Circumstances) -> Iterator[Environment]:
        yield bounds

    def found(history: History, *_: object, **__: object) -> Searched:
        fits, complete = outcomes[history.brokers]
        return Searched(
            history=history,
            model=message_model(given.version, bounds),
            environment=bounds,
            fits={loses: Fit((), (), loses) for loses in fits},
            complete=complete,
        )

    monkeypatch.setattr(answer, "bounds_in_turn", bounds_once)
    monkeypatch.setattr(answer, "search_fits", found)
    monkeypatch.setattr(answer, "ORDERS_MAX", most)
    return answer_of(read_logs([LOGS]), "t-0", given)


def test_every_behaviour_loses_only_if_it_does_in_each_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    losing: Outcome = ({True}, {False})
    nothing: Outcome = (set(), {True, False})
    harmless: Outcome = ({False}, {True})
    cut: Outcome = (set(), set())

    assert judged(monkeypatch, {FIRST: losing, SECOND: losing}).always_loses
    assert judged(monkeypatch, {FIRST: losing, SECOND: nothing}).always_loses
    for other in (harmless, cut, ({True, False}, set())):
        for orders in ({FIRST: losing, SECOND: other}, {FIRST: other, SECOND: losing}):
            found = judged(monkeypatch, orders)
            assert found.fits
            assert not found.always_loses
            assert not found.never_loses
            assert True in found.best.fits
    assert judged(monkeypatch, {FIRST: harmless, SECOND: nothing}).never_loses


def test_nothing_is_said_of_orders_that_were_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six are tried, and with five brokers there are 24."""
    nothing: Outcome = (set(), {True, False})
    losing: Outcome = ({True}, {False})

    assert judged(monkeypatch, {FIRST: nothing, SECOND: nothing}).nothing_fits
    assert not judged(monkeypatch, {FIRST: nothing}, most=1).nothing_fits
    assert not judged(monkeypatch, {FIRST: losing}, most=1).always_loses


def test_the_exit_code_is_that_of_a_loss_where_all_that_was_found_loses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether another behaviour loses none was not decided in time."""
    lines_say_nothing = Evidence()

    def code(outcome: Outcome) -> int:
        found = judged(monkeypatch, {FIRST: outcome, SECOND: outcome})
        return code_of(replace(found, evidence=lines_say_nothing))

    assert code(({True}, set())) == 12
    assert code(({True, False}, set())) == 0
    assert code((set(), set())) == 20
