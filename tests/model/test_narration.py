from __future__ import annotations

import functools

import pytest

from tests.support.sampling import drawn
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, Step
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.narration import HEADER, LANES, rows, sentence, summary
from waterline.model.message.versions import spell

SMALL = {"replicas": 2, "records": 1, "epochs": 1, "restarts": 1}
SPACES = [
    (version, options)
    for version in ("hw", "epoch")
    for options in (
        SMALL,
        SMALL | {"parked_fetches": True, "moves": 1},
        SMALL | {"acks": "1", "unclean_leader_election": True, "hw_in_response": "pre"},
        SMALL | {"replicas": 3, "election_order": "any"},
    )
]
FAMILY = [
    ("kip320", SMALL | {"requests_survive": True, "moves": 2, "epochs": 2, "consumer": True}),
    ("truncate-on-fetch", SMALL | {"late_metadata": True, "moves": 2, "epochs": 3}),
    ("kraft", SMALL | {"lost_disks": 1, "requests_survive": True, "session_expiries": 1}),
    ("elr", SMALL | {"power_losses": 1, "shutdowns": 1, "restarts": 0, "epochs": 3}),
    ("elr-with-last-known-leader", SMALL | {"restarts": 2, "epochs": 3}),
    ("elr", SMALL | {"late_booking": "by-replica", "moves": 2, "restarts": 0}),
    ("kip279", SMALL | {"lost_checkpoints": 1, "epochs": 2, "moves": 1}),
    ("elr", SMALL | {"restarts": 2, "caught_up_wait": True}),
    ("kraft", SMALL | {"replicas": 3, "restarts": 0}),
    ("kip320", SMALL | {"directory_moves": 1, "power_losses": 1, "epochs": 2, "moves": 2}),
    (
        "elr-with-last-known-leader",
        SMALL | {"directory_moves": 1, "future_log": True, "min_isr_writes": 1, "shutdowns": 1},
    ),
    ("elr", SMALL | {"failed_directories": 1, "taken_directories": 1, "min_insync_replicas": 2}),
    (
        "elr",
        SMALL
        | {"reassignments": 2, "taken_directories": 1, "shutdowns": 1, "min_insync_replicas": 2},
    ),
    ("kraft", SMALL | {"replicas": 3, "reassignments": 1, "restarts": 0, "election_order": "any"}),
    ("kip320", SMALL | {"assigned": 1, "reassignments": 1, "restarts": 0, "epochs": 2}),
    (
        "kip320",
        SMALL | {"consumer": True, "unclean_leader_election": True, "records": 2, "epochs": 3},
    ),
]


RARE = {"ReadLate", "HearAnswer", "MarkClean"}
"""Steps of single tickets: `test_ticket_rules.py` has their sentences."""
OF_REASSIGNMENTS = {"AlterAndElect", "CancelAndElect"}
"""`test_reassignment.py` has their sentences."""
OF_REPLAY = {"Replay"}
"""`test_replay.py` has its sentences."""


def space(version: str, options: dict[str, object]) -> Model:
    return message_model(version, Environment(**options))  # type: ignore[arg-type]


FEW, MANY = 300, 3000


def transitions(version: str, options: dict[str, object], most: int) -> list[tuple[State, Step]]:
    """Every transition out of the first reachable states, shallowest first."""
    return _transitions(version, tuple(options.items()), most)


@functools.cache
def _transitions(
    version: str, options: tuple[tuple[str, object], ...], most: int
) -> list[tuple[State, Step]]:
    """Worked out once for all tests: to step takes longer than to read."""
    model = space(version, dict(options))
    seen = set(model.initial)
    queue = list(model.initial)
    found: list[tuple[State, Step]] = []
    for state in queue:
        for step in model.successors(state):
            found.append((state, step))
            if step.after not in seen and len(seen) < most:
                seen.add(step.after)
                queue.append(step.after)
    return found


def told(model: Model, calls: str) -> str:
    """The sentence of the last of `calls`, `Produce 0, SendFetch 1, ...`."""
    state, words = model.initial[0], ""
    for call in calls.split(", "):
        name, *arguments = call.split()
        values = tuple(map(int, arguments))
        step = next(
            s for s in model.successors(state) if (s.action.name, s.arguments) == (name, values)
        )
        words = model.narration.sentence(name, values, state, step.after)
        state = step.after
    return words


def assert_steps_are_sentences(version: str, options: dict[str, object], most: int) -> None:
    model = space(version, options)
    for before, step in transitions(version, options, most):
        words = model.narration.sentence(step.action.name, step.arguments, before, step.after)

        assert words.endswith(".")
        assert "\n" not in words
        assert words.isascii()


@pytest.mark.parametrize(("version", "options"), drawn(SPACES + FAMILY, 10))
def test_every_step_is_a_sentence(version: str, options: dict[str, object]) -> None:
    assert_steps_are_sentences(version, options, FEW)


def test_an_unknown_action_has_no_sentence() -> None:
    model = message_model("hw", Environment())

    with pytest.raises(KeyError):
        sentence(model.settings, "Explode", (), *model.initial * 2)


def assert_states_read_otherwise(version: str, options: dict[str, object], most: int) -> None:
    model = space(version, options)
    states = set(model.initial) | {step.after for _, step in transitions(version, options, most)}
    texts = {str((rows(state), summary(state))) for state in states}

    assert len(texts) == len(states)


@pytest.mark.parametrize(("version", "options"), drawn(SPACES + FAMILY, 10))
def test_states_that_read_the_same_are_the_same(version: str, options: dict[str, object]) -> None:
    assert_states_read_otherwise(version, options, FEW)


@pytest.mark.parametrize(
    ("version", "options", "whence"),
    [
        ("elr-with-last-known-leader", {}, " as the last known leader (unclean)."),
        ("elr", {"unclean_leader_election": True}, " from outside the ISR (unclean)."),
    ],
)
def test_a_broker_that_crashed_does_not_come_back_from_the_elr(
    version: str, options: dict[str, object], whence: str
) -> None:
    model = space(version, SMALL | {"replicas": 1, "restarts": 1, "epochs": 2} | options)

    assert told(model, "Crash 0, Fence 0, Restart 0").endswith(whence)


def test_who_led_last_is_shown_while_nobody_leads() -> None:
    model = space("elr-with-last-known-leader", SMALL | {"replicas": 1, "restarts": 1, "epochs": 2})
    gone = model.apply(
        model.apply(model.initial[0], model.actions[names(model).index("Crash")], (0,)),
        model.actions[names(model).index("Fence")],
        (0,),
    )

    assert ", ELR {r0}, last led by r0, " in dict(summary(gone))["Controller"]
    assert "last led" not in dict(summary(model.initial[0]))["Controller"]


def names(model: Model) -> list[str]:
    return [action.name for action in model.actions]


def test_rows_are_a_header_and_a_row_a_broker() -> None:
    state = message_model("hw", Environment(replicas=3)).initial[0]

    assert rows(state) == [
        HEADER,
        ["r0", "leader e0", "0", "0", "0", "r1:0 r2:0", "r0 r1 r2", "empty", "-"],
        ["r1", "follower r0 e0", "0", "0", "0", "-", "-", "empty", "-"],
        ["r2", "follower r0 e0", "0", "0", "0", "-", "-", "empty", "-"],
    ]
    assert set(LANES) <= set(HEADER)


FETCHED = "Produce 0, SendFetch 1, LeaderFetch 1, RecvFetch 1, SendFetch 1, LeaderFetch 1"
UNNOTICED = FETCHED + ", Crash 1, Restart 1, Learn 1"


@pytest.mark.parametrize(
    ("version", "calls", "words"),
    [
        (
            "hw",
            "Produce 0",
            "A producer's record m1 is appended at offset 0 by leader r0 (epoch 0).",
        ),
        ("hw", "SendFetch 1", "r1 sends r0 a fetch from offset 0."),
        (
            "hw",
            FETCHED,
            "r0 handles r1's fetch from offset 1: remote LEO 1; HW 0 -> 1; "
            "m1 is committed and acknowledged; it answers no record, HW 1.",
        ),
        (
            "hw",
            "Produce 0, SendFetch 1, LeaderFetch 1, RecvFetch 1",
            "r1 appends m1: LEO 1, HW min(1, 0) = 0.",
        ),
        (
            "hw",
            FETCHED + ", RecvFetch 1, Checkpoint 1",
            "r1 writes its HW to replication-offset-checkpoint: 0 -> 1.",
        ),
        (
            "hw",
            "Produce 0, ShrinkIsr 0 1",
            "r0 finds r1 lagging and takes it out of the ISR, now {r0}; HW 0 -> 1; "
            "m1 is committed and acknowledged.",
        ),
        (
            "hw",
            FETCHED.replace("Produce 0", "Produce 0, ShrinkIsr 0 1"),
            "r0 handles r1's fetch from offset 1: remote LEO 1; r1 joins the ISR {r0, r1}; "
            "HW stays 1; it answers no record, HW 1.",
        ),
        (
            "hw",
            "SendFetch 1, Crash 0",
            "The process of leader r0 crashes: HW 0 in memory is gone; "
            "checkpoint 0 and log (LEO 0) stay; r1's fetch is lost.",
        ),
        (
            "hw",
            "Produce 0, Crash 0",
            "The process of leader r0 crashes: HW 0 in memory is gone; "
            "checkpoint 0 and log (LEO 1) stay; m1 will never be acknowledged.",
        ),
        (
            "hw",
            "Crash 1, Fence 1",
            "The controller notices that r1 is down; it leaves the ISR, now {r0}; "
            "r0 stays leader, now in epoch 1.",
        ),
        (
            "hw",
            "Crash 1, Fence 1, Crash 0, Fence 0",
            "The controller notices that r0 is down; it is the last of the ISR {r0} and stays "
            "in it; no replica can lead (NoReplicaOnlineException).",
        ),
        (
            "hw",
            "Crash 0, Fence 0, Restart 0",
            "r0 starts again and registers: HW := min(checkpoint 0, LEO 0) = 0.",
        ),
        (
            "hw",
            "Crash 0, SendFetch 1, LeaderFetch 1",
            "r1's fetch from offset 0 does not reach r0, which is down.",
        ),
        (
            "hw",
            "Move 1",
            "The controller moves leadership from r0 to r1: epoch 1, ISR {r0, r1} unchanged.",
        ),
        (
            "hw",
            "Move 1, Produce 0",
            "A producer's record m1 is appended at offset 0 by r0, which still leads in epoch 0 "
            "as far as it knows.",
        ),
        (
            "hw",
            "Move 1, Produce 0, Learn 0",
            "r0 learns that r1 leads in epoch 1 and follows it: it truncates to its own HW 0, "
            "removing m1; m1 will never be acknowledged.",
        ),
        (
            "hw",
            "SendFetch 1, Move 1, Learn 0, LeaderFetch 1",
            "r0 refuses r1's fetch from offset 0: NOT_LEADER_FOR_PARTITION.",
        ),
        (
            "hw",
            "Crash 1, Fence 1, Learn 0",
            "r0 learns that it still leads, now in epoch 1: LEO 0, HW 0.",
        ),
        (
            "hw",
            "Move 1, Move 0, Learn 1",
            "r1 learns that r0 leads in epoch 2; it is the same leader, so r1 truncates nothing "
            "and carries on.",
        ),
        (
            "epoch",
            UNNOTICED,
            "r1 learns that r0 leads in epoch 0 and follows it: it will ask where its last epoch "
            "ends before it fetches.",
        ),
        (
            "epoch",
            UNNOTICED + ", OffsetForLeaderEpoch 1",
            "r1 asks r0 where epoch 0 ends, its last; the answer is 1: "
            "it truncates to 1, removing nothing.",
        ),
    ],
)
def test_the_sentence_of(version: str, calls: str, words: str) -> None:
    assert told(message_model(version, Environment(moves=2)), calls) == words


OUT_OF_RANGE = (
    FETCHED + ", Checkpoint 0, Crash 1, Restart 1, Learn 1, Crash 0, Fence 0, Learn 1, Restart 0, "
    "Learn 0, SendFetch 0, LeaderFetch 0, RecvOutOfRange 0"
)


def test_a_parked_fetch_may_be_completed_with_a_diverging_epoch() -> None:
    """Without fencing a leader of another epoch, with another log, completes what r0 parked."""
    model = space(
        spell("truncate-on-fetch", (), ("fencing",)),
        {"replicas": 3, "records": 2, "epochs": 2, "moves": 2, "parked_fetches": True},
    )
    before = (
        "Move 2, SendFetch 1, Produce 0, LeaderFetch 1, RecvFetch 1, SendFetch 1, LeaderFetch 1, "
        "Learn 0, SendFetch 0, Learn 2, LeaderFetch 0, RecvDiverging 0, Move 0, Learn 0"
    )

    assert told(model, f"{before}, WakeParked 1") == (
        "r0 completes r1's parked fetch from offset 1 with a diverging epoch: "
        "of epochs up to 0 it has 0, which ends at 0."
    )


@pytest.mark.parametrize(
    ("options", "calls", "words"),
    [
        (
            {},
            OUT_OF_RANGE.removesuffix(", RecvOutOfRange 0"),
            "r1 refuses r0's fetch from offset 1, beyond its LEO 0: OFFSET_OUT_OF_RANGE.",
        ),
        (
            {},
            OUT_OF_RANGE,
            "r0 learns that r1's LEO is 0, its own 1: unclean election is off, "
            "truncation is not allowed, the process exits.",
        ),
        (
            {"unclean_leader_election": True},
            OUT_OF_RANGE,
            "r0 learns that r1's LEO is 0, its own 1: it truncates to it, removing m1.",
        ),
        (
            {"unclean_leader_election": True},
            "Crash 1, Fence 1, Crash 0, Restart 1, Fence 0",
            "The controller notices that r0 is down; it leaves the ISR, now {r1}; "
            "r1 is elected leader of epoch 2 from outside the ISR (unclean).",
        ),
        (
            {"parked_fetches": True},
            "SendFetch 1, LeaderFetch 1",
            "r0 handles r1's fetch from offset 0: remote LEO 0; HW stays 0; "
            "nothing to answer yet, the fetch is parked.",
        ),
        (
            {"parked_fetches": True},
            "SendFetch 1, LeaderFetch 1, Produce 0, WakeParked 1",
            "r0 completes r1's parked fetch from offset 0: it answers m1, HW 0.",
        ),
    ],
)
def test_the_sentence_with_an_option(options: dict[str, object], calls: str, words: str) -> None:
    assert told(space("hw", options), calls) == words
