"""Every message that the jars of a release define goes to bytes and back."""

from __future__ import annotations

import pytest

from tests.kafka.confirm.test_codec import require_round_trip
from waterline.checker.kafka.confirm.definitions import definitions_in
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import class_path, require_brokers
from waterline.checker.kafka.confirm.releases import kafka_release


@pytest.mark.brokers
@pytest.mark.parametrize("name", ["3.9.1", "4.2.0"])
def test_every_message_of_a_release_comes_back_as_it_was(name: str) -> None:
    try:
        require_brokers(name)
    except CannotConfirm as reason:
        pytest.skip(str(reason))
    jars = class_path(kafka_release(name), folder=None, announce=lambda line: None)
    found = definitions_in(jars)

    assert require_round_trip(found) > 1000
