"""The harness of Kafka's own classes, without Java: its source, its comparison, its ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from lab.classes.comparison import SILENT, differences, expected_of, known_reason
from lab.classes.jvm import SERIES, source_for
from lab.classes.replaying import without
from waterline.checker.covering.state_graph import StateGraph


def state() -> dict[str, Any]:
    """A leader with two records of two epochs, and a follower that has the first."""
    return {
        "isr": [0],
        "acked": [1],
        "up": {"0": 1, "1": 1},
        "role": {"0": 1, "1": 3},
        "leo": {"0": 2, "1": 1},
        "log": {"0": {"0": 1, "1": 2}, "1": {"0": 1, "1": 0}},
        "record_epoch": {"1": 0, "2": 3},
        "hw": {"0": 2, "1": 0},
        "checkpoint": {"0": 1, "1": 0},
        "known_epoch": {"0": 3, "1": 3},
        "known_isr": {"0": [0]},
        "remote_leo": {"0": {"0": -1, "1": 1}},
        "cached_epoch": {"1": 2},
        "fetch": {"1": 2},
        "known_leader": {"1": 0},
    }


def seen() -> dict[str, Any]:
    """What classes show that agree with this state."""
    modelled = state()
    brokers = [expected_of(modelled, number) for number in ("0", "1")]
    return {"isr": [0], "acked": [1], "brokers": brokers}


def test_classes_that_show_the_state_agree() -> None:
    shown = seen()

    assert differences(state(), shown) == []
    assert shown["brokers"][0]["epochs"] == [[0, 0], [3, 1]]
    assert shown["brokers"][1]["epochs"] == [[0, 0], [2, 1]]


def edit(broker: int, field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda shown: shown["brokers"][broker].update({field: value})


@pytest.mark.parametrize(
    ("deviate", "found"),
    [
        (edit(0, "leo", 1), "leo[0] is 1; the model has 2"),
        (edit(0, "hw", 1), "hw[0] is 1; the model has 2"),
        (edit(0, "known_isr", [0, 1]), "known_isr[0] is [0, 1]; the model has [0]"),
        (edit(0, "remote_leo", {"1": 0}), "remote_leo[0] is {'1': 0}; the model has {'1': 1}"),
        (edit(0, "checkpoint", 2), "checkpoint[0] is 2; the model has 1"),
        (edit(1, "log", []), "log[1] is []; the model has"),
        (edit(1, "epochs", [[0, 0]]), "epochs[1] is [[0, 0]]; the model has [[0, 0], [2, 1]]"),
        (edit(1, "fetch", 0), "fetch[1] is 0; the model has 2"),
        (edit(1, "known_epoch", 2), "known_epoch[1] is 2; the model has 3"),
        (lambda shown: shown.update(isr=[0, 1]), "isr is [0, 1]; the model has [0]"),
        (lambda shown: shown.update(acked=[]), "acked is []; the model has [1]"),
        (lambda shown: shown.update(problem="no leader"), "the step fails: no leader"),
        (lambda shown: shown["brokers"].__setitem__(1, None), "up[1] is 0; the model has 1"),
    ],
)
def test_each_deviation_is_seen(deviate: Callable[[dict[str, Any]], None], found: str) -> None:
    shown = seen()
    deviate(shown)
    [text] = differences(state(), shown)

    assert text.startswith(found)
    assert known_reason(state(), shown, [text]) == ""


def test_a_follower_that_is_silent_is_known_where_it_is_fenced_and_nothing_else_differs() -> None:
    shown = seen()
    shown["brokers"][1].update(role=0, refusal="FENCED_LEADER_EPOCH")
    found = differences(state(), shown)
    shown["brokers"][1]["refusal"] = "UNKNOWN_LEADER_EPOCH"
    unknown = known_reason(state(), shown, found)
    shown["brokers"][1]["refusal"] = "FENCED_LEADER_EPOCH"
    known = known_reason(state(), shown, found)
    shown["brokers"][1]["hw"] = 1
    more = differences(state(), shown)

    assert found == ["role[1] is 0; the model has 3"]
    assert (known, unknown) == (SILENT, "")
    assert known_reason(state(), shown, more) == ""


@pytest.mark.parametrize("series", SERIES)
def test_the_source_has_the_lines_of_one_series_alone(series: tuple[int, int]) -> None:
    text = source_for(series)

    assert not [line for line in text.splitlines() if line.endswith((" // 3.9", " // 4.4"))]
    assert ("import kafka.api.LeaderAndIsr;" in text) == (series == (3, 9))
    assert ("import org.apache.kafka.metadata.LeaderAndIsr;" in text) == (series == (4, 4))
    assert text.count("{") == text.count("}")


def test_a_part_of_a_graph_has_its_own_ways_and_the_numbers_of_the_whole() -> None:
    """0 -> 1 -> 2, 0 -> 2 and 2 -> 3: without the short way to 2 it is reached by the long one."""
    numbers = np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3]), np.arange(4)
    whole = StateGraph(
        None,  # type: ignore[arg-type]
        np.zeros((4, 1), np.uint64),
        np.array([0, 1, 1, 2], np.int32),
        np.array([0]),
        *numbers,
    )
    part, edges = without(whole, [1])
    less, left = without(whole, [1, 2])

    assert part.depth.tolist() == [0, 1, 2, 3]
    assert edges.tolist() == [0, 2, 3]
    assert left.tolist() == [0]
    assert less.target.tolist() == [1]
