"""A leader replays the record of a change of the ISR after it has heard the answer (KAFKA-13790).

Guards, and all that the step changes, under the releases that compare partition epochs and those
that do not. What a search finds is in tests/verify.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import after, bound, changed_by, edited, is_enabled, model_of
from waterline.model.core.state import State
from waterline.model.message.contents import contents
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_named
from waterline.model.message.settings import settings_of
from waterline.model.message.terms import (
    GRANTED,
    NO_ROLE,
    NOTHING_TO_REPLAY,
    REFUSED,
    REPLAYS_OLDER,
    REPLAYS_SAME,
)
from waterline.model.message.versions import version_of

LATE = {"late_replay": True, "late_answers": True}
NOW = model_of(release_named("4.4.0:kraft")[0].version, **LATE)
BEFORE_3_3 = model_of(release_named("3.2.3:kraft")[0].version, **LATE)
REPAIRED = model_of(
    f"{release_named('4.4.0:kraft')[0].version}-with-pending-survives-replay", **LATE
)

START = NOW.initial[0]
ALONE = edited(
    START,
    leo=[1, 1],
    log=[[1], [1]],
    produced=1,
    hw=[1, 0],
    exposed_end=1,
    exposed={0: 1},
    isr=0b01,
    known_isr={0: 0b01},
    remote_leo={(0, 1): 1},
    replay={0: REPLAYS_SAME},
)
"""r0 has heard that r1 is out of the ISR, and has not replayed that; r1 has caught up since."""
ASKS = edited(ALONE, pending_isr={0: 0b11})
"""It has asked to take r1 back."""
DISOWNED = edited(ASKS, replay={0: NOTHING_TO_REPLAY}, disowned={0: 1})
OLDER = edited(
    ALONE,
    isr=0b11,
    known_isr={0: 0b11},
    replay={0: REPLAYS_OLDER},
    replay_isr={0: 0b01},
)
"""It has taken r1 back by a second answer, and has to replay that r1 was out."""


@pytest.mark.parametrize(
    ("state", "step", "enabled"),
    [
        (ALONE, "Replay leader=0", True),
        (OLDER, "Replay leader=0", True),
        (DISOWNED, "Replay leader=0", False),
        (START, "Replay leader=0", False),
        (ALONE, "Replay leader=1", False),
        (DISOWNED, "AlterPartition leader=0", True),
        (edited(DISOWNED, outdated={0: 1}), "AlterPartition leader=0", True),
        (edited(ASKS, outdated={0: 1}), "AlterPartition leader=0", False),
    ],
)
def test_a_record_is_replayed_once_and_a_forgotten_request_arrives_all_the_same(
    state: State, step: str, enabled: bool
) -> None:
    assert is_enabled(NOW, state, step) is enabled


def test_with_zookeeper_nobody_replays() -> None:
    circumstances = Environment(late_replay=True)
    table = contents(
        settings_of(circumstances, version_of("truncate-on-fetch-with-alter-partition"))
    )

    assert "AlterPartition" in table
    assert "Replay" not in table


def test_what_an_answer_grants_is_to_be_replayed() -> None:
    granted = edited(START, pending_isr={0: 0b01}, isr=0b01, answer={0: GRANTED})

    assert changed_by(NOW, granted, "HearAnswer leader=0") == {
        "answer[0]": (GRANTED, 0),
        "pending_isr[0]": (0b01, 0),
        "known_isr[0]": (0b11, 0b01),
        "replay[0]": (NOTHING_TO_REPLAY, REPLAYS_SAME),
    }


def test_of_two_answers_the_first_is_replayed_first() -> None:
    granted = edited(ASKS, isr=0b11, answer={0: GRANTED})
    heard = after(NOW, granted, "HearAnswer leader=0")

    assert (heard.replay[0], heard.replay_isr[0]) == (REPLAYS_OLDER, 0b01)
    assert heard.known_isr[0] == 0b11


def test_a_refusal_is_in_no_record() -> None:
    refused = edited(ASKS, answer={0: REFUSED}, replay={0: NOTHING_TO_REPLAY})

    assert after(NOW, refused, "HearAnswer leader=0").replay[0] == NOTHING_TO_REPLAY


def test_a_record_of_the_state_of_now_makes_the_leader_forget_whom_it_waits_for() -> None:
    waiting = edited(ASKS, leo={0: 2}, log={(0, 1): 2}, produced=2, unanswered={0: 0b10})

    assert changed_by(NOW, waiting, "Replay leader=0") == {
        "replay[0]": (REPLAYS_SAME, NOTHING_TO_REPLAY),
        "disowned[0]": (0, 1),
        "hw[0]": (1, 2),
        "exposed_end": (1, 2),
        "exposed[1]": (0, 2),
        "unanswered[0]": (0b10, 0),
        "acked": (waiting.acked, waiting.acked | 0b10),
    }


def test_a_leader_that_has_asked_for_nothing_loses_nothing() -> None:
    assert changed_by(NOW, ALONE, "Replay leader=0") == {
        "replay[0]": (REPLAYS_SAME, NOTHING_TO_REPLAY)
    }


def test_the_repair_leaves_the_request_as_it_is() -> None:
    assert changed_by(REPAIRED, ASKS, "Replay leader=0") == {
        "replay[0]": (REPLAYS_SAME, NOTHING_TO_REPLAY)
    }


@pytest.mark.parametrize(("answer", "outdated"), [(GRANTED, 1), (REFUSED, 0)])
def test_an_answer_to_what_was_forgotten_is_ignored(answer: int, outdated: int) -> None:
    isr = 0b11 if answer == GRANTED else 0b01
    replayed = after(NOW, edited(ASKS, isr=isr, answer={0: answer}), "Replay leader=0")

    assert (replayed.pending_isr[0], replayed.disowned[0], replayed.answer[0]) == (0, 0, 0)
    assert (replayed.known_isr[0], replayed.outdated[0]) == (0b01, outdated)


def test_a_forgotten_request_that_is_granted_leaves_the_leader_behind() -> None:
    assert changed_by(NOW, DISOWNED, "AlterPartition leader=0") == {
        "isr": (0b01, 0b11),
        "pending_isr[0]": (0b11, 0),
        "disowned[0]": (1, 0),
        "outdated[0]": (0, 1),
    }


def test_a_forgotten_request_that_is_refused_leaves_nothing() -> None:
    assert changed_by(NOW, edited(DISOWNED, stopping=0b10), "AlterPartition leader=0") == {
        "pending_isr[0]": (0b11, 0),
        "disowned[0]": (1, 0),
    }


@pytest.mark.parametrize("step", ["Fence replica=1", "Move replica=1"])
def test_a_change_by_the_controller_ends_a_forgotten_request(step: str) -> None:
    model = model_of(NOW.version, **LATE, moves=1)
    state = edited(DISOWNED, isr=0b11, known_isr={0: 0b11}, pending_isr={0: 0b01})
    if step.startswith("Fence"):
        state = edited(state, up={1: 0}, role={1: NO_ROLE}, known_epoch={1: -1})
    changed = after(model, state, step)

    assert (changed.pending_isr[0], changed.disowned[0]) == (0, 0)


def test_who_learns_the_newest_has_nothing_to_replay() -> None:
    changed = after(NOW, edited(OLDER, outdated={0: 1}), "Learn replica=0")

    assert (changed.replay[0], changed.replay_isr[0]) == (NOTHING_TO_REPLAY, 0)


def test_since_kafka_13790_an_older_record_is_skipped() -> None:
    assert changed_by(NOW, OLDER, "Replay leader=0") == {
        "replay[0]": (REPLAYS_OLDER, REPLAYS_SAME),
        "replay_isr[0]": (0b01, 0),
    }


def test_before_an_older_record_replaced_what_the_leader_knew() -> None:
    assert changed_by(BEFORE_3_3, OLDER, "Replay leader=0") == {
        "replay[0]": (REPLAYS_OLDER, NOTHING_TO_REPLAY),
        "replay_isr[0]": (0b01, 0),
        "known_isr[0]": (0b11, 0b01),
        "outdated[0]": (0, 1),
    }


def test_an_older_record_that_is_taken_for_the_newest_commits_what_its_isr_has() -> None:
    behind = edited(
        OLDER, leo={0: 2}, log={(0, 1): 2}, produced=2, unanswered={0: 0b10}, remote_leo={(0, 1): 1}
    )
    changed = changed_by(BEFORE_3_3, behind, "Replay leader=0")

    assert changed["hw[0]"] == (1, 2)
    assert changed["unanswered[0]"] == (0b10, 0)


@pytest.mark.parametrize(
    ("model", "state", "words"),
    [
        (
            NOW,
            ASKS,
            "r0 replays the record of ISR {r0}; it forgets that it has asked for {r0, r1}.",
        ),
        (NOW, ALONE, "r0 replays the record of ISR {r0}."),
        (NOW, OLDER, "r0 replays the record of ISR {r0}, and skips it: it knows of a newer one."),
        (BEFORE_3_3, OLDER, "r0 replays the record of ISR {r0}; it takes that for the newest."),
    ],
)
def test_a_replay_is_a_sentence(model: Any, state: State, words: str) -> None:
    action, arguments = bound(model, "Replay leader=0")
    told = model.narration.sentence(
        action.name, arguments, state, after(model, state, "Replay leader=0")
    )

    assert told == words
