"""A link reads what passes by the definitions that it is given."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.kafka.confirm.quorum.fake_broker import DEFINITIONS, FETCH, SECONDS, FakeBroker
from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.proxy import Link
from waterline.checker.kafka.confirm.quorum.controller import ScriptedController
from waterline.checker.kafka.confirm.wire import reader_of

READER = reader_of(DEFINITIONS)


def test_a_link_holds_and_reads_requests_that_other_schemas_do_not_have() -> None:
    seen: list[str] = []
    answers: list[Any] = []
    with ScriptedController(DEFINITIONS, 1) as scripted:
        [port] = scripted.ports
        link = Link("r1", "r0", port, lambda who, body: seen.append(who), reader=READER)
        broker = FakeBroker(scripted, 0, port=link.port)
        asks = threading.Thread(target=lambda: answers.append(broker.fetch(0)), daemon=True)
        asks.start()
        waits = link.wait_for(lambda now: now is not None, SECONDS)
        current = link.current
        link.let_ask()
        held = link.wait_for(lambda now: now is not None and now.answer is not None, SECONDS)
        link.let_answer()
        asks.join(SECONDS)
        link.close()

    assert waits
    assert held
    assert current is not None
    assert current.request.key == FETCH
    assert current.request.body.topics[0].partitions[0].fetch_offset == 0
    assert current.answer.responses[0].partitions[0].high_watermark == 1
    assert answers[0].high_watermark == 1
    assert seen == ["r1 asks r0", "r0 answers r1"]


@pytest.mark.parametrize("frame", [b"\0\1\0\1", b"\1\1\0\1\0\0\0\0"], ids=["short", "unknown"])
def test_a_frame_that_the_definitions_do_not_fit_is_named(frame: bytes) -> None:
    with pytest.raises(NoAnswer, match="a request cannot be read"):
        READER.request(frame)
    with pytest.raises(NoAnswer, match="the answer to request 1 cannot be read"):
        READER.answer(1, 1, b"")
