"""When each step of the atomic grain can happen, what it changes, and where the versions differ."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.atomic_states import EVERY_VERSION, by_hand, cluster
from tests.support.states import changed_by, is_enabled, run
from tests.support.walking import walk
from waterline.model.atomic.state import known_leader, quorum_isr, quorum_leader
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

ALL_OF_TWO, ALL_OF_THREE = 0b11, 0b111
LED = ("ElectLeader replica=0", "BecomeLeader epoch=0", "BecomeFollower replica=1 epoch=0")


def led(model: Model, **fields: Any) -> State:
    """Replica 0 leads in epoch 0 and the rest follow, with other values in some fields."""
    replicas = model.layout.sizes["replicas"]
    everyone = (1 << replicas) - 1
    usual = {
        "issued": 1,
        "request_leader": [0],
        "request_isr": [everyone],
        "known_epoch": [0] * replicas,
        "known_isr": [everyone],
    }
    return by_hand(model, **usual | fields)


def published(s: State) -> tuple[Any, ...]:
    """The variables of the published text, with all that it stores twice."""

    def isr(replica: int) -> int:
        epoch = s.known_epoch[replica]
        if known_leader(s, replica) == replica:
            return s.known_isr[replica]
        return s.request_isr[epoch] if epoch >= 0 else 0

    def log(replica: int) -> tuple[tuple[int, int], ...]:
        records = [s.log[replica, offset] for offset in range(s.leo[replica])]
        return tuple((record, s.record_epoch[record - 1]) for record in records)

    return (
        tuple(log(r) for r in range(s.replicas)),
        tuple((s.hw[r], s.known_epoch[r], known_leader(s, r), isr(r)) for r in range(s.replicas)),
        s.produced,
        s.issued,
        frozenset((e, s.request_leader[e], s.request_isr[e]) for e in range(s.issued)),
        (s.issued - 1, quorum_leader(s), quorum_isr(s)),
    )


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_equal_states_of_the_published_text_and_only_those_have_equal_words(version: str) -> None:
    for bounds in ({"log_size": 1}, {"records": 3, "epochs": 1}):
        states = [state for state, _ in walk(cluster(version, **bounds))]

        assert len({published(state) for state in states}) == len(states) > 1000


def test_at_first_nobody_leads_and_everybody_is_in_sync() -> None:
    state = cluster("hw", replicas=3).initial[0]

    assert (quorum_leader(state), quorum_isr(state)) == (-1, ALL_OF_THREE)
    assert [known_leader(state, replica) for replica in range(3)] == [-1, -1, -1]


def test_an_election_takes_the_next_epoch_and_nobody_knows_of_it() -> None:
    model = cluster("hw")

    assert changed_by(model, model.initial[0], "ElectLeader replica=1") == {
        "issued": (0, 1),
        "request_leader[0]": (-1, 1),
        "request_isr[0]": (0, ALL_OF_TWO),
    }


def test_only_a_member_of_the_isr_that_does_not_lead_is_elected() -> None:
    model = cluster("hw", replicas=3)
    state = led(model, known_isr=[0b011])

    assert [is_enabled(model, state, f"ElectLeader replica={r}") for r in range(3)] == [
        False,
        True,
        False,
    ]


def test_a_controller_that_removes_the_leader_leaves_nobody_to_lead() -> None:
    model = cluster("hw")
    state = run(model, "RemoveFromIsr replica=0", start=led(model))

    assert (quorum_leader(state), quorum_isr(state)) == (-1, 0b10)


def test_the_last_member_stays_in_the_isr_while_it_leads() -> None:
    model = cluster("hw")
    alone = run(model, "RemoveFromIsr replica=1", start=led(model))
    nobody = run(model, "RemoveFromIsr replica=0", start=alone)

    assert (quorum_leader(nobody), quorum_isr(nobody)) == (-1, 0b01)
    assert not is_enabled(model, alone, "RemoveFromIsr replica=1")


def test_when_nobody_leads_even_the_last_member_can_leave() -> None:
    model = cluster("hw")
    state = by_hand(model, issued=1, request_leader=[-1], request_isr=[0b01])
    empty = run(model, "RemoveFromIsr replica=0", start=state)

    assert quorum_isr(empty) == 0
    assert not any(is_enabled(model, empty, f"ElectLeader replica={r}") for r in range(2))


def test_no_epoch_is_given_out_beyond_the_bound() -> None:
    model = cluster("hw", epochs=0)
    state = led(model)

    assert "RemoveFromIsr" not in {step.action.name for step in model.successors(state)}
    assert {model.limits[model.exceeded_limit(state, *each)] for each in enabled(model, state)} == {
        "within",
        "epochs",
    }


def enabled(model: Model, state: State) -> list[tuple[Any, tuple[int, ...]]]:
    return [
        (action, arguments)
        for action in model.enabled_actions
        for arguments in model.bindings(action)
        if model.is_enabled(state, action, arguments)
    ]


def test_a_replica_acts_on_any_request_that_is_newer_than_what_it_knows() -> None:
    model = cluster("hw")
    requests = {"issued": 3, "request_leader": [0, 1, 1], "request_isr": [0b11, 0b11, 0b10]}
    state = by_hand(model, **requests, known_epoch=[-1, 1], known_isr=[0, 0b11])

    assert [is_enabled(model, state, f"BecomeLeader epoch={e}") for e in range(3)] == [
        True,
        False,
        True,
    ]
    assert [is_enabled(model, state, f"BecomeFollower replica=0 epoch={e}") for e in range(3)] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_no_follower_ever_acts_on_a_request_without_a_leader(version: str) -> None:
    model = cluster(version)
    state = by_hand(model, issued=1, request_leader=[-1], request_isr=[0b11])

    assert {each.name for each, _ in enabled(model, state)} == {"ElectLeader", "RemoveFromIsr"}


def test_a_leader_keeps_its_high_watermark_and_takes_the_isr_of_the_request() -> None:
    model = cluster("hw", replicas=3)
    requests = {"issued": 2, "request_leader": [0, 1], "request_isr": [0b111, 0b110]}
    state = by_hand(model, **requests, known_epoch=[0, 0, 0], known_isr=[0b111], hw=[1])

    assert changed_by(model, state, "BecomeLeader epoch=1") == {
        "known_epoch[1]": (0, 1),
        "known_isr[1]": (0, 0b110),
    }


def test_who_stops_leading_forgets_its_isr() -> None:
    model = cluster("hw")
    requests = {"issued": 2, "request_leader": [0, 1], "request_isr": [0b11, 0b11]}
    state = by_hand(model, **requests, known_epoch=[0, 0], known_isr=[0b11])

    assert changed_by(model, state, "BecomeFollower replica=0 epoch=1") == {
        "known_epoch[0]": (0, 1),
        "known_isr[0]": (0b11, 0),
    }


def test_a_stale_leader_accepts_a_write() -> None:
    model = cluster("kip320")
    requests = {"issued": 2, "request_leader": [0, 1], "request_isr": [0b11, 0b11]}
    state = by_hand(model, **requests, known_epoch=[0, 1], known_isr=[0b11, 0b11])

    assert changed_by(model, state, "Produce leader=0") == {
        "leo[0]": (0, 1),
        "log[0][0]": (0, 1),
        "produced": (0, 1),
    }
    assert run(model, "Produce leader=1", start=state).record_epoch[0] == 1


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({}, "within"),
        ({"produced": 3}, "records"),
        ({"leo": [1], "log": [[1]], "produced": 1}, "log-size"),
        ({"leo": [1], "log": [[1]], "produced": 3}, "records"),
    ],
)
def test_a_write_ends_where_records_or_the_log_do(fields: dict[str, Any], limit: str) -> None:
    model = cluster("hw", log_size=1, records=3)
    state = led(model, **fields)
    (found,) = [(a, args) for a, args in enabled(model, state) if a.name == "Produce"]

    assert model.limits[model.exceeded_limit(state, *found)] == limit


ONE_RECORD = {"leo": [1, 1], "log": [[1], [1]], "produced": 1}
TWO_LEADS = {"issued": 2, "request_leader": [0, 0], "request_isr": [0b11, 0b11]}
IN_OTHER_EPOCHS = {**TWO_LEADS, "known_epoch": [0, 1], **ONE_RECORD}
OTHER_RECORDS = {"leo": [1, 1], "log": [[1], [2]], "produced": 2, "record_epoch": [1, 0]}
IN_EPOCH_ONE = {**TWO_LEADS, "known_epoch": [1, 1]}


@pytest.mark.parametrize(
    ("fields", "versions"),
    [
        pytest.param({}, set(), id="nothing to commit"),
        pytest.param(ONE_RECORD, set(EVERY_VERSION), id="all have it"),
        pytest.param({**ONE_RECORD, "leo": [1, 0], "log": [[1]]}, set(), id="one does not"),
        pytest.param(
            {**ONE_RECORD, "leo": [1, 0], "log": [[1]], "known_isr": [0b01]},
            set(EVERY_VERSION),
            id="one does not, and is not in the ISR",
        ),
        pytest.param({**ONE_RECORD, "known_epoch": [0, -1]}, set(), id="one does not follow"),
        pytest.param(
            {**ONE_RECORD, "leo": [0, 1], "log": [[], [1]], "known_isr": [0b10]},
            set(),
            id="the leader itself does not",
        ),
        pytest.param(
            IN_OTHER_EPOCHS, set(EVERY_VERSION) - {"kip320"}, id="same leader, other epoch"
        ),
        pytest.param(
            {**IN_EPOCH_ONE, **OTHER_RECORDS},
            set(EVERY_VERSION) - {"kip320-first-try"},
            id="another record there",
        ),
    ],
)
def test_what_a_version_lets_its_high_watermark_pass(
    fields: dict[str, Any], versions: set[str]
) -> None:
    found = {
        version
        for version in EVERY_VERSION
        for model in [cluster(version)]
        if is_enabled(model, led(model, **fields), "AdvanceHighWatermark leader=0")
    }

    assert found == versions


def test_the_high_watermark_advances_by_one() -> None:
    model = cluster("hw")
    state = led(model, leo=[2, 2], log=[[1, 2], [1, 2]], produced=2)

    assert changed_by(model, state, "AdvanceHighWatermark leader=0") == {"hw[0]": (0, 1)}


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_only_the_true_leader_changes_the_isr(version: str) -> None:
    model = cluster(version, replicas=3)
    stale = {
        "issued": 2,
        "request_leader": [0, 1],
        "request_isr": [0b111, 0b111],
        "known_epoch": [0, 1, 0],
        "known_isr": [0b011, 0b111],
    }
    state = led(model, **stale, leo=[1], log=[[1]], produced=1)
    shrinks = [f"{a.name}{args}" for a, args in enabled(model, state) if a.name.endswith("Isr")]

    assert not [call for call in shrinks if call.startswith(("ShrinkIsr(0", "ExpandIsr(0"))]
    assert "ShrinkIsr(1, 0)" in shrinks


def test_a_follower_that_is_behind_leaves_the_isr_and_the_quorum_knows() -> None:
    model = cluster("hw")
    state = led(model, leo=[1], log=[[1]], produced=1)
    after = run(model, "ShrinkIsr leader=0 follower=1", start=state)

    assert changed_by(model, state, "ShrinkIsr leader=0 follower=1") == {"known_isr[0]": (3, 1)}
    assert quorum_isr(after) == 0b01
    assert not is_enabled(model, led(model, **ONE_RECORD), "ShrinkIsr leader=0 follower=1")


def test_an_unfenced_leader_lets_a_follower_join_before_it_knows_what_is_committed() -> None:
    """Its own high watermark may lag that of its predecessor."""
    state = {
        **IN_EPOCH_ONE,
        "leo": [1, 0],
        "log": [[1]],
        "produced": 1,
        "request_isr": [0b11, 0b01],
        "known_isr": [0b01],
    }
    joins = {
        version
        for version in EVERY_VERSION
        for model in [cluster(version)]
        if is_enabled(model, led(model, **state), "ExpandIsr leader=0 follower=1")
    }

    assert joins == {"hw", "epoch", "kip279"}


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_a_follower_joins_once_it_has_what_is_committed(version: str) -> None:
    model = cluster(version)
    alone = {"known_isr": [0b01], "hw": [1]}
    behind = led(model, **alone, leo=[1], log=[[1]], produced=1)
    level = led(model, **alone, **ONE_RECORD)

    assert not is_enabled(model, behind, "ExpandIsr leader=0 follower=1")
    assert changed_by(model, level, "ExpandIsr leader=0 follower=1") == {"known_isr[0]": (1, 3)}


def test_a_fetch_appends_one_record_and_takes_the_leaders_high_watermark() -> None:
    model = cluster("hw")
    state = led(model, leo=[2], log=[[1, 2]], hw=[2], produced=2)

    assert changed_by(model, state, "Fetch follower=1") == {
        "leo[1]": (0, 1),
        "log[1][0]": (0, 1),
        "hw[1]": (0, 1),
    }
    assert not is_enabled(model, state, "Fetch follower=0")


def test_a_fetch_from_a_leader_that_is_behind_lowers_the_high_watermark() -> None:
    model = cluster("hw")
    state = led(model, leo=[2, 1], log=[[1, 2], [1]], hw=[0, 1], produced=2)

    assert run(model, "Fetch follower=1", start=state).hw[1] == 0


@pytest.mark.parametrize(
    ("fields", "versions"),
    [
        ({"leo": [1], "log": [[1]], "produced": 1}, set(EVERY_VERSION)),
        ({**IN_OTHER_EPOCHS, "leo": [1, 0], "log": [[1]]}, set(EVERY_VERSION) - {"kip320"}),
        (
            {**IN_EPOCH_ONE, **OTHER_RECORDS, "leo": [2, 1], "log": [[1, 1], [2]]},
            set(EVERY_VERSION) - {"kip320-first-try"},
        ),
    ],
    ids=["in step", "same leader, other epoch", "another record before it"],
)
def test_what_a_version_lets_a_follower_fetch(fields: dict[str, Any], versions: set[str]) -> None:
    found = {
        version
        for version in EVERY_VERSION
        for model in [cluster(version)]
        if is_enabled(model, led(model, **fields), "Fetch follower=1")
    }

    assert found == versions


def truncated(version: str, **fields: Any) -> tuple[int, int] | None:
    """LEO and HW of replica 1 after it follows replica 0 into epoch 2; None where it cannot."""
    model = cluster(version, log_size=3, records=4)
    requests = {"issued": 3, "request_leader": [0, 1, 0], "request_isr": [0b11, 0b11, 0b11]}
    usual = {"known_epoch": [2, 1], "known_isr": [0b11, 0b11], "produced": 4}
    state = by_hand(model, **requests, **usual | fields)
    step = "BecomeFollower replica=1 epoch=2"
    if not is_enabled(model, state, step):
        return None
    after = run(model, step, start=state)
    return after.leo[1], after.hw[1]


@pytest.mark.parametrize(
    ("fields", "ends"),
    [
        pytest.param(
            {"leo": [2, 2], "log": [[1, 2], [1, 2]], "hw": [1, 1]},
            {"hw": (1, 1), "epoch": (2, 1), "kip279": (2, 1), "kip320": (2, 1)},
            id="nothing differs",
        ),
        pytest.param(
            {"leo": [2, 3], "log": [[1, 3], [1, 2, 4]], "hw": [2, 2], "record_epoch": [0, 1, 2, 1]},
            {"hw": (2, 2), "epoch": (1, 1), "kip279": (1, 1), "kip320": (1, 1)},
            id="the leader went on in a later epoch",
        ),
        pytest.param(
            {"leo": [2, 2], "log": [[1, 2], [1, 3]], "record_epoch": [1, 2, 1]},
            {"hw": (0, 0), "epoch": (1, 0), "kip279": (1, 0), "kip320": (1, 0)},
            id="the leader has some of that epoch",
        ),
        pytest.param(
            {"leo": [1, 2], "log": [[1], [1, 2]], "hw": [1, 0], "record_epoch": [0, 1]},
            {"hw": (0, 0), "epoch": (0, 0), "kip279": (1, 0), "kip320": (1, 0)},
            id="the leader knows no such epoch: KIP-101 falls back to the high watermark",
        ),
        pytest.param(
            {"leo": [0, 2], "log": [[], [1, 2]], "hw": [0, 1]},
            {"hw": (1, 1), "epoch": (1, 1), "kip279": (0, 0), "kip320": (0, 0)},
            id="the leader has nothing",
        ),
        pytest.param(
            {"leo": [2, 0], "log": [[1, 2], []]},
            {"hw": (0, 0), "epoch": (0, 0), "kip279": (0, 0), "kip320": (0, 0)},
            id="the follower has nothing",
        ),
        pytest.param(
            {"leo": [3, 2], "log": [[1, 2, 3], [1, 2]], "hw": [0, 0]},
            {"hw": (0, 0), "epoch": None, "kip279": (2, 0), "kip320": (2, 0)},
            id="an end beyond the follower's own: under KIP-101 it waits",
        ),
        pytest.param(
            {"known_epoch": [0, 1], "leo": [1, 1], "log": [[1], [1]]},
            {"hw": (0, 0), "epoch": (1, 0), "kip279": (1, 0), "kip320": None},
            id="the leader has not heard yet: KIP-320 waits",
        ),
    ],
)
def test_how_far_a_new_follower_truncates(
    fields: dict[str, Any], ends: dict[str, tuple[int, int] | None]
) -> None:
    first_try = (fields["leo"][1], fields.get("hw", [0, 0])[1])

    assert {version: truncated(version, **fields) for version in ends} == ends
    assert truncated("kip320-first-try", **fields) == first_try


def test_the_epoch_of_a_record_that_no_log_has_is_forgotten() -> None:
    model = cluster("hw")
    requests = {"issued": 2, "request_leader": [0, 0], "request_isr": [0b11, 0b11]}
    written = {"known_epoch": [0, 0], "known_isr": [0b11], "produced": 1, "record_epoch": [2]}
    lone = by_hand(model, **requests, **written, leo=[0, 1], log=[[], [1]])
    kept = by_hand(model, **requests, **written, leo=[1, 1], log=[[1], [1]])

    assert run(model, "BecomeFollower replica=1 epoch=1", start=lone).record_epoch[0] == 0
    assert run(model, "BecomeFollower replica=1 epoch=1", start=kept).record_epoch[0] == 2


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({"leo": [1, 2], "log": [[1], [1, 2]]}, 1),
        ({"leo": [2, 2], "log": [[1, 2], [1, 3]], "record_epoch": [0, 1, 0]}, 1),
        ({"leo": [2, 2], "log": [[1, 2], [1, 3]]}, None),
        ({"leo": [2, 1], "log": [[1, 2], [1]]}, None),
        ({"leo": [1, 0], "log": [[1]]}, None),
    ],
    ids=["longer than the leader's", "another epoch", "same epoch", "shorter", "empty"],
)
def test_a_fetching_follower_truncates_what_does_not_match(
    fields: dict[str, Any], end: int | None
) -> None:
    model = cluster("kip320-first-try", records=3)
    state = led(model, **fields, produced=3, hw=[0, fields["leo"][1]])
    step = "Truncate follower=1"

    assert is_enabled(model, state, step) == (end is not None)
    if end is not None:
        after = run(model, step, start=state)
        assert (after.leo[1], after.hw[1]) == (end, end)
