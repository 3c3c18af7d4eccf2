from __future__ import annotations

from typing import Any

import pytest

from waterline.model.atomic import NAME, AtomicEnvironment, atomic_model
from waterline.model.core.errors import BadEnvironment


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"replicas": 0}, "replicas is 0; allowed is 1 to 7"),
        ({"log_size": 0}, "log-size is 0; allowed is 1 to 12"),
        ({"records": 13}, "records is 13; allowed is 1 to 12"),
        ({"epochs": -1}, "epochs is -1; allowed is 0 to 30"),
    ],
)
def test_a_bound_that_means_nothing_is_refused(bounds: dict[str, int], message: str) -> None:
    with pytest.raises(BadEnvironment, match=message):
        AtomicEnvironment(**bounds)


def test_options_and_environment_are_each_others_inverse() -> None:
    environment = AtomicEnvironment(replicas=3, log_size=1, records=4, epochs=5)

    assert environment.options() == {"replicas": 3, "log-size": 1, "records": 4, "epochs": 5}
    assert AtomicEnvironment.from_options(environment.options()) == environment


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restarts": 1}, "unknown option 'restarts'; known: replicas, log-size, records, epochs"),
        ({"records": "2"}, "records is '2'; it must be of type int"),
        ({"records": True}, "records is True; it must be of type int"),
    ],
)
def test_options_it_does_not_know_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadEnvironment, match=message):
        AtomicEnvironment.from_options(options)


def test_bounds_too_large_to_pack_are_named() -> None:
    with pytest.raises(BadEnvironment, match=r"replicas 7, log-size 12, .*too large to pack"):
        atomic_model("hw", AtomicEnvironment(replicas=7, log_size=12, records=12, epochs=30))


def test_an_unknown_version_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadEnvironment, match="known: hw, epoch, kip279, kip320-first-try, kip320"):
        atomic_model("raft", AtomicEnvironment())


def test_the_header_of_a_trace_makes_the_model_again() -> None:
    model = atomic_model("kip320", AtomicEnvironment(records=1))
    again = atomic_model(model.version, AtomicEnvironment.from_options(dict(model.options)))

    assert (again.name, again.version, again.layout) == (NAME, "kip320", model.layout)
