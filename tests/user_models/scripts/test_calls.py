"""A step is found by as much of its call as is unique; what cannot be is told with what can."""

from __future__ import annotations

import pytest

from tests.support.walks import walk_of
from waterline.checker.user_models.scripts.calls import (
    Ambiguous,
    NoSuchStep,
    NotTaken,
    nearest,
    step_called,
)


@pytest.mark.parametrize(
    "typed",
    [
        "SendFetch(follower=1)",
        "SendFetch(1)",
        "SendFetch r1",
        "SendFetch follower=r1",
        "sendfetch",
        "send 1",
        "  Send   replica1 ",
    ],
)
def test_a_call_may_be_short(typed: str) -> None:
    assert str(step_called(typed, walk_of())) == "SendFetch(follower=1)"


def test_what_several_steps_may_be_is_not_guessed() -> None:
    with pytest.raises(
        Ambiguous, match=r"^Crash may be Crash\(replica=0\), Crash\(replica=1\); say which$"
    ):
        step_called("Crash", walk_of())


def test_of_a_beginning_only_what_can_be_taken_is_meant() -> None:
    walk = walk_of("hw", "Produce r0", "SendFetch r1", "LeaderFetch r1")

    assert str(step_called("recv", walk)) == "RecvFetch(follower=1)"


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("Fence r0", "Fence(replica=0) is not enabled"),
        ("Move r1", "Move(replica=1) is beyond the bound on moves"),
        ("OffsetForLeaderEpoch r1", "OffsetForLeaderEpoch is not part of version hw"),
    ],
)
def test_a_step_that_cannot_be_taken_says_why(typed: str, complaint: str) -> None:
    walk = walk_of("hw", moves=0)
    with pytest.raises(NotTaken) as refused:
        step_called(typed, walk)

    assert str(refused.value).startswith(f"{complaint}; enabled: ")
    assert "Produce(leader=0)" in str(refused.value)


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("Prodce r0", "there is no action Prodce, did you mean Produce; enabled: "),
        ("Produce r7", "Produce r7 has not the arguments of Produce(leader 0 to 1)"),
        ("Produce m0", "Produce m0 has not the arguments of Produce(leader 0 to 1)"),
        ("Produce epoch=0", "Produce epoch=0 has not the arguments"),
        ("Produce 0 1", "Produce 0 1 has not the arguments"),
        ("Produce(leader=x)", "`leader=x` is no argument"),
        ("?!", "`?!` is no step; write one as Produce(leader=0)"),
    ],
)
def test_what_is_no_step_at_all_is_told(typed: str, complaint: str) -> None:
    with pytest.raises(NoSuchStep) as refused:
        step_called(typed, walk_of())

    assert str(refused.value).startswith(complaint)


def test_the_most_alike_steps_come_first() -> None:
    assert nearest("Crsh(replica=1)", walk_of())[:2] == ["Crash(replica=1)", "Crash(replica=0)"]
