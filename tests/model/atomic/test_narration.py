from __future__ import annotations

import pytest

from tests.support.atomic_states import EVERY_VERSION, cluster
from tests.support.states import bound, run
from tests.support.walking import walk
from waterline.model.atomic.narration import HEADER, rows, sentence, summary
from waterline.model.atomic.versions import ACTIONS
from waterline.model.core.transition_system import Model

LED = ("ElectLeader replica=0", "BecomeLeader epoch=0", "BecomeFollower replica=1 epoch=0")
COMMITTED = (*LED, "Produce leader=0", "Fetch follower=1", "AdvanceHighWatermark leader=0")
ALONE = ("ElectLeader replica=0", "RemoveFromIsr replica=1", "BecomeLeader epoch=1")


def told(model: Model, *steps: str) -> str:
    """The sentence of the last of the steps."""
    before = run(model, *steps[:-1])
    after = run(model, steps[-1], start=before)
    action, arguments = bound(model, steps[-1])
    return sentence(action.name, arguments, before, after)


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_every_step_is_a_sentence(version: str) -> None:
    model = cluster(version, log_size=1)
    happened = set()
    for state, steps in walk(model):
        for step in steps:
            words = sentence(step.action.name, step.arguments, state, step.after)
            happened.add(step.action.name)

            assert words.endswith(".")
            assert "\n" not in words
            assert words.isascii()

    assert happened == set(model.contents)


@pytest.mark.parametrize("version", EVERY_VERSION)
def test_states_that_read_the_same_are_the_same(version: str) -> None:
    states = [state for state, _ in walk(cluster(version, log_size=1))]
    texts = {str((rows(state), summary(state))) for state in states}

    assert len(texts) == len(states)


def test_an_action_it_does_not_know_has_no_sentence() -> None:
    state = cluster("hw").initial[0]
    with pytest.raises(KeyError):
        sentence("Explode", (), state, state)


def test_rows_are_a_header_and_a_row_a_broker() -> None:
    model = cluster("hw", replicas=3)

    assert rows(run(model, *COMMITTED[:-1])) == [
        HEADER,
        ["r0", "leader e0", "1", "0", "{r0, r1, r2}", "m1@0"],
        ["r1", "follower r0 e0", "1", "0", "-", "m1@0"],
        ["r2", "no role", "0", "0", "-", "empty"],
    ]


def test_the_summary_has_the_quorum_and_every_request() -> None:
    model = cluster("hw")

    assert summary(model.initial[0]) == [
        ("Quorum", "no leader, no epoch, ISR {r0, r1}"),
        ("LeaderAndIsr", "none"),
        ("Produced", "none"),
    ]
    assert summary(run(model, *COMMITTED, "RemoveFromIsr replica=0")) == [
        ("Quorum", "no leader, epoch 1, ISR {r1}"),
        ("LeaderAndIsr", "e0: leader r0, ISR {r0, r1}; e1: no leader, ISR {r1}"),
        ("Produced", "m1"),
    ]


@pytest.mark.parametrize(
    ("version", "steps", "words"),
    [
        ("hw", LED[:1], "The controller elects r0 leader of epoch 0, ISR {r0, r1}."),
        (
            "hw",
            LED[:2],
            "r0 acts on the LeaderAndIsr of epoch 0 and leads in epoch 0: LEO 0, HW 0, "
            "ISR {r0, r1}.",
        ),
        (
            "hw",
            LED,
            "r1 acts on the LeaderAndIsr of epoch 0 and follows r0: its log stays, LEO 0; HW 0.",
        ),
        (
            "hw",
            (*LED[:1], "RemoveFromIsr replica=1", "BecomeLeader epoch=0"),
            "r0 acts on the LeaderAndIsr of epoch 0 (late: the newest is of epoch 1) and leads in "
            "epoch 0: LEO 0, HW 0, ISR {r0, r1}.",
        ),
        ("hw", COMMITTED[:4], "leader r0 (epoch 0) appends m1 at offset 0: LEO 1."),
        ("hw", COMMITTED[:5], "r1 fetches m1 from r0: LEO 1, HW min(1, 0) = 0."),
        (
            "hw",
            COMMITTED,
            "leader r0 (epoch 0) finds offset 0 on all of its ISR {r0, r1}: HW 0 -> 1, "
            "m1 is committed.",
        ),
        (
            "hw",
            (*COMMITTED[:5], "ElectLeader replica=1", "AdvanceHighWatermark leader=0"),
            "r0, which still leads in epoch 0 as far as it knows, finds offset 0 on all of its "
            "ISR {r0, r1}: HW 0 -> 1, m1 is committed.",
        ),
        (
            "hw",
            (*COMMITTED, "RemoveFromIsr replica=1"),
            "The controller takes r1 to have failed: it leaves the ISR, now {r0}; epoch 1, "
            "r0 stays leader.",
        ),
        (
            "hw",
            (*COMMITTED, "RemoveFromIsr replica=0"),
            "The controller takes leader r0 to have failed: it leaves the ISR, now {r1}; epoch 1, "
            "nobody leads.",
        ),
        (
            "hw",
            (*ALONE, "RemoveFromIsr replica=0"),
            "The controller takes leader r0 to have failed: it is the last of the ISR {r0} and "
            "stays in it; epoch 2, nobody leads.",
        ),
        (
            "hw",
            (*COMMITTED, "RemoveFromIsr replica=1", "BecomeFollower replica=1 epoch=1"),
            "r1 acts on the LeaderAndIsr of epoch 1 and follows r0: it truncates to 0, "
            "removing m1; HW 0.",
        ),
        (
            "epoch",
            (*COMMITTED, "RemoveFromIsr replica=1", "BecomeFollower replica=1 epoch=1"),
            "r1 acts on the LeaderAndIsr of epoch 1 and follows r0: its log stays, LEO 1; HW 0.",
        ),
        (
            "epoch",
            (*COMMITTED, "ElectLeader replica=1", "BecomeFollower replica=0 epoch=1"),
            "r0 acts on the LeaderAndIsr of epoch 1, gives up leadership and follows r1: "
            "its log stays, LEO 1; HW 1.",
        ),
        (
            "hw",
            (*LED, "Produce leader=0", "ShrinkIsr leader=0 follower=1"),
            "r0 finds r1 lagging and takes it out of the ISR, now {r0}.",
        ),
        (
            "hw",
            (*ALONE, "BecomeFollower replica=1 epoch=1", "ExpandIsr leader=0 follower=1"),
            "r0 finds that r1 has caught up with HW 0 and takes it into the ISR, now {r0, r1}.",
        ),
        (
            "kip320-first-try",
            (
                *LED,
                "Produce leader=0",
                "ElectLeader replica=1",
                "BecomeLeader epoch=1",
                "BecomeFollower replica=0 epoch=1",
                "Truncate follower=0",
            ),
            "r0's fetch shows that its log does not continue r1's: it truncates to 0, removing m1; "
            "HW 0.",
        ),
    ],
)
def test_a_step_reads_as_what_happened(version: str, steps: tuple[str, ...], words: str) -> None:
    assert told(cluster(version), *steps) == words


def test_the_example_steps_are_of_every_action() -> None:
    cases = test_a_step_reads_as_what_happened.pytestmark[0].args[1]

    assert {case[1][-1].split()[0] for case in cases} == {action.name for action in ACTIONS}
