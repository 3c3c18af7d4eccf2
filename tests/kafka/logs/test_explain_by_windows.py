"""`explain-logs --windows`: what brokers wrote is explained epoch by epoch, as one behaviour."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from waterline.checker.cli.commands import waterline
from waterline.checker.kafka.logs import chain_answer
from waterline.checker.kafka.logs.chain import Chain
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.history import History
from waterline.checker.kafka.logs.reading import read_logs

RECORDED = Path(__file__).parent / "recorded"


@pytest.mark.parametrize("open_in", [None, 0, 1])
def test_nothing_fits_only_if_it_does_for_each_order_of_assignment(
    open_in: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No search in here: what each search of windows came to is given."""
    logs = read_logs([RECORDED / "3.9.1-control"])
    orders: list[tuple[int, ...]] = []

    def chained(whole: History, given: Circumstances, *, plain: bool, **limits: object) -> Chain:
        if plain:
            assert whole.decisions == ()
            orders.append(whole.brokers)
        is_whole = not plain or len(orders) - 1 != open_in
        return Chain(
            whole=whole, explored=[], pieces=(), fits=False, loses=False, is_whole=is_whole
        )

    monkeypatch.setattr(chain_answer, "explain_windows", chained)
    given = Circumstances(version="kraft", hw_in_response="post")
    found = chain_answer.answered_by_windows(logs, "t-0", given, width=1)

    assert len(set(orders)) == len(orders) == 2
    assert {order[0] for order in orders} == {orders[0][0]}
    assert found.nothing_fits is (open_in is None)


def test_a_trace_of_windows_is_refused() -> None:
    arguments = ["explain-logs", str(RECORDED / "3.9.1-control"), "--windows", "1"]
    outcome = CliRunner().invoke(waterline, [*arguments, "--format", "json"])
    assert outcome.exit_code == 2
