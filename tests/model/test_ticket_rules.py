"""Rules of single tickets, each under the version that has it and the one that has not."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.support.states import Changes, after, bound, changed_by, edited, is_enabled, model_of
from waterline.model.core.state import State
from waterline.model.message.terms import (
    ANSWERED,
    FETCHING,
    GRANTED,
    IDLE,
    NO_EPOCH,
    NO_REPLICA,
    NO_ROLE,
    REFUSED,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
)

LATE = {"late_answers": True, "late_reads": True, "unfenced_registration": True}
ASKED = model_of("kraft", **LATE)
DIRECT = model_of("kip320", late_reads=True)
CODE_2_1 = model_of("kip320-code", late_reads=True)
ELR = model_of("elr", **LATE, min_insync_replicas=2)
FORGETFUL = model_of("elr-without-unclean-mark-kept", **LATE)

START = ASKED.initial[0]
OLDER = DIRECT.initial[0]
"""r0 leads in epoch 0, r1 fetches from it, both are in sync; without room for late answers."""
BEHIND = edited(START, leo=[1], log=[[1]], produced=1, pending_isr={0: 0b01})
"""r0 has a record that r1 lacks, and asks to take it out."""
HEARS_YES = edited(BEHIND, isr=0b01, answer={0: GRANTED})
HEARS_NO = edited(BEHIND, answer={0: REFUSED})
DOWN = edited(
    ELR.initial[0], up={1: 0}, role={1: NO_ROLE}, known_epoch={1: NO_EPOCH}, unclean={1: 1}
)
"""r1 has crashed, which the controller has not noticed."""
REPLACED = edited(
    OLDER,
    leo=[1],
    log=[[2]],
    produced=2,
    record_epoch=[0, 1],
    epoch=1,
    known_epoch=[1, 1],
    fetch={1: ANSWERED},
    answer_log={(1, 0): 1},
)
"""The answer to r1 points to m1; r0 has written m2 in its place since."""
EQUAL = edited(OLDER, up={1: 0}, role={1: NO_ROLE}, known_epoch={1: NO_EPOCH})
"""r1 is down, and has all that r0 has."""

Case = tuple[str, str, Any, State, bool]
CASES: list[Case] = [
    ("an answer is on its way", "HearAnswer leader=0", ASKED, HEARS_YES, True),
    ("a refusal too", "HearAnswer leader=0", ASKED, HEARS_NO, True),
    ("there is none", "HearAnswer leader=0", ASKED, BEHIND, False),
    ("who does not lead hears none", "HearAnswer leader=1", ASKED, HEARS_YES, False),
    ("a request is answered once", "AlterPartition leader=0", ASKED, HEARS_NO, False),
    ("a request without an answer", "AlterPartition leader=0", ASKED, BEHIND, True),
    ("metadata forestalls an answer", "Learn replica=0", ASKED, HEARS_YES, True),
    ("a refusal is in no metadata", "Learn replica=0", ASKED, HEARS_NO, False),
    ("a record was replaced", "ReadLate follower=1", DIRECT, REPLACED, True),
    (
        "a record was removed",
        "ReadLate follower=1",
        DIRECT,
        edited(REPLACED, leo=[0], log={(0, 0): 0}),
        False,
    ),
    (
        "the file is as it was",
        "ReadLate follower=1",
        DIRECT,
        edited(REPLACED, answer_log={(1, 0): 2}),
        False,
    ),
    (
        "the second record was replaced",
        "ReadLate follower=1",
        DIRECT,
        edited(REPLACED, leo=[2], log=[[1, 2]], answer_log={(1, 1): 1}),
        True,
    ),
    (
        "there is no answer",
        "ReadLate follower=1",
        DIRECT,
        edited(REPLACED, fetch={1: IDLE}),
        False,
    ),
    (
        "its sender is down",
        "ReadLate follower=1",
        DIRECT,
        edited(REPLACED, up={0: 0}, role={0: NO_ROLE}, known_epoch={0: NO_EPOCH}),
        False,
    ),
    ("who recovers leaves the mark", "MarkClean replica=1", FORGETFUL, DOWN, True),
    (
        "one that shut down has left it",
        "MarkClean replica=1",
        FORGETFUL,
        edited(DOWN, unclean={1: 0}),
        False,
    ),
    ("one that runs does not", "MarkClean replica=0", FORGETFUL, DOWN, False),
    ("a crashed broker comes back unfenced", "Restart replica=1", ELR, DOWN, True),
    (
        "one that was shutting down does not",
        "Restart replica=1",
        ELR,
        edited(DOWN, stopping=0b10),
        False,
    ),
    ("nor where that is not asked for", "Restart replica=1", model_of("elr"), DOWN, False),
    (
        "until KAFKA-7152 one down with all leaves the ISR",
        "ShrinkIsr leader=0 follower=1",
        model_of("kip320-without-shrink-only-lagging"),
        EQUAL,
        True,
    ),
    ("since then it stays", "ShrinkIsr leader=0 follower=1", CODE_2_1, EQUAL, False),
    ("nobody leads, and that is told", "Learn replica=0", ASKED, edited(START, epoch=1), True),
    (
        "who follows nobody sends nothing",
        "SendFetch follower=1",
        ASKED,
        edited(START, known_leader={1: 1}),
        False,
    ),
    (
        "an old broker's fetch is refused",
        "StrayFetch follower=1",
        model_of("kip903", requests_survive=True),
        edited(OLDER, stray_from=1, stray_to=0, stray_stale=1),
        False,
    ),
    (
        "until KAFKA-15221 it was taken",
        "StrayFetch follower=1",
        model_of("kip903-without-stale-fetch-check", requests_survive=True),
        edited(OLDER, stray_from=1, stray_to=0, stray_stale=1),
        True,
    ),
]


@pytest.mark.parametrize(
    ("step", "model", "state", "enabled"),
    [pytest.param(*case[1:], id=f"{case[1].split()[0]}: {case[0]}") for case in CASES],
)
def test_a_step_is_enabled_exactly_when(step: str, model: Any, state: State, enabled: bool) -> None:
    assert is_enabled(model, state, step) is enabled


def test_what_test_guards_leaves_to_this_file_has_a_case_for_it_and_one_against_it() -> None:
    elsewhere = runpy.run_path(str(Path(__file__).with_name("test_guards.py")))["OF_TICKETS"]
    named = {(step.split()[0], enabled) for _, step, _, _, enabled in CASES}

    assert {(name, kind) for name in elsewhere for kind in (True, False)} <= named


# Late answers.


@pytest.mark.parametrize("version", ["kraft-without-shrink-raises-epoch", "elr"])
def test_the_controller_has_changed_the_isr_before_the_leader_hears_it(version: str) -> None:
    model = model_of(version, **LATE)
    granted = after(model, BEHIND, "AlterPartition leader=0")

    assert changed_by(model, BEHIND, "AlterPartition leader=0") == {
        "isr": (0b11, 0b01),
        "answer[0]": (0, GRANTED),
    }
    assert changed_by(model, granted, "HearAnswer leader=0") == {
        "answer[0]": (GRANTED, 0),
        "pending_isr[0]": (0b01, 0),
        "known_isr[0]": (0b11, 0b01),
        "hw[0]": (0, 1),
        "exposed_end": (0, 1),
        "exposed[0]": (0, 1),
    }


def test_a_refusal_that_is_heard_leaves_the_isr_as_it_was() -> None:
    assert changed_by(ASKED, HEARS_NO, "HearAnswer leader=0") == {
        "answer[0]": (REFUSED, 0),
        "pending_isr[0]": (0b01, 0),
    }


def test_an_answer_in_a_new_epoch_is_left_to_the_metadata() -> None:
    assert changed_by(ASKED, BEHIND, "AlterPartition leader=0") == {
        "pending_isr[0]": (0b01, 0),
        "isr": (0b11, 0b01),
        "epoch": (0, 1),
    }


def test_metadata_that_comes_before_the_answer_ends_the_request() -> None:
    learned = after(ASKED, HEARS_YES, "Learn replica=0")

    assert (learned.known_isr[0], learned.pending_isr[0], learned.answer[0]) == (0b01, 0, 0)


# What a fetch tells, and what an answer brings.


def test_a_refused_fetch_makes_the_leader_forget_the_log_end_until_2_4() -> None:
    refused = edited(OLDER, fetch={1: REQUESTED}, epoch=1, known_epoch={0: 1})
    forgets = model_of("kip320-without-refusal-tells-nothing")
    gone: Changes = {"fetch[1]": (REQUESTED, IDLE)}

    assert changed_by(DIRECT, refused, "LeaderFetch follower=1") == gone
    assert changed_by(forgets, refused, "LeaderFetch follower=1") == gone | {
        "remote_leo[0][1]": (0, UNKNOWN_OFFSET)
    }


@pytest.mark.parametrize(
    ("version", "known", "end"),
    [
        ("kip320", 1, 0),
        ("kip320-without-moved-fetch-tries-hw", 1, 1),
        ("kip320-code", 1, 1),
        ("kip320", 0, 1),
        ("kip320", UNKNOWN_OFFSET, 1),
    ],
)
def test_since_2_4_only_a_fetch_that_moves_the_log_end_tries_the_high_watermark(
    version: str, known: int, end: int
) -> None:
    """KAFKA-8841. r0 and r1 have m1, and r0's high watermark was left behind."""
    both = edited(OLDER, leo=[1, 1], log=[[1], [1]], produced=1, fetch={1: REQUESTED})
    behind = edited(both, remote_leo={(0, 1): known})
    handled = after(model_of(version), behind, "LeaderFetch follower=1")

    assert (handled.hw[0], handled.remote_leo[0, 1]) == (end, 1)


@pytest.mark.parametrize(
    ("version", "refused"),
    [
        ("kip320", True),
        ("kip320-code", False),
        ("kip320-without-session-fencing", False),
        ("kip320-without-fencing", False),
    ],
)
def test_a_fetch_is_fenced_only_where_it_carries_an_epoch(version: str, refused: bool) -> None:
    newer = edited(OLDER, fetch={1: REQUESTED}, epoch=1, known_epoch={0: 1})

    answered = after(model_of(version), newer, "LeaderFetch follower=1").fetch[1] == ANSWERED
    assert answered is not refused


def test_an_answer_read_late_brings_what_the_file_has_now() -> None:
    assert changed_by(DIRECT, REPLACED, "ReadLate follower=1") == {"answer_log[1][0]": (1, 2)}


@pytest.mark.parametrize(("version", "end"), [("kip320", 2), ("elr", 1)])
def test_a_follower_appends_nothing_of_an_epoch_later_than_its_own(version: str, end: int) -> None:
    """KAFKA-18723. m1 is of epoch 0, m2 of epoch 1, which r1 has not heard of."""
    known = edited(REPLACED, leo=[2], log=[[1, 2]], answer_log={(1, 1): 2})
    late = edited(known, known_epoch={1: 0})

    assert after(model_of(version), late, "RecvFetch follower=1").leo[1] == end
    assert after(model_of(version), known, "RecvFetch follower=1").leo[1] == 2


CHECKS_OLDER = "elr-with-append-checks-older-epoch"


@pytest.mark.parametrize(("version", "log"), [("elr", [2, 1]), (CHECKS_OLDER, [2, 0])])
def test_a_follower_appends_nothing_of_an_epoch_below_its_last(
    version: str, log: list[int]
) -> None:
    """m1 is of epoch 0; the last record of r1 is m2, of epoch 1. KAFKA-18723 looks up alone."""
    older = edited(REPLACED, leo={1: 1}, log={(1, 0): 2}, answer_log={(1, 0): 1})

    taken = after(model_of(version), older, "RecvFetch follower=1")
    assert [taken.log[1, 0], taken.log[1, 1]] == log


@pytest.mark.parametrize(("version", "end"), [("elr", 1), (CHECKS_OLDER, 0)])
def test_the_last_epoch_may_be_one_in_which_it_led_and_wrote_nothing(
    version: str, end: int
) -> None:
    led = edited(REPLACED, cached_epoch={1: 1})

    assert after(model_of(version), led, "RecvFetch follower=1").leo[1] == end


def test_an_answer_whose_epochs_fall_is_appended_up_to_there() -> None:
    falling = edited(REPLACED, answer_log={(1, 0): 2, (1, 1): 1})

    assert after(model_of("elr"), falling, "RecvFetch follower=1").leo[1] == 2
    assert after(model_of(CHECKS_OLDER), falling, "RecvFetch follower=1").leo[1] == 1


# High watermark and epochs when a log is cut.


@pytest.mark.parametrize(("version", "known"), [("kip320-code", 0), ("kip320", 2)])
def test_a_new_leader_forgets_a_high_watermark_above_its_log_until_2_4(
    version: str, known: int
) -> None:
    above = edited(OLDER, leader=1, epoch=1, leo=[2, 1], log=[[1, 2], [1]], produced=2, hw={1: 2})
    within = edited(above, leo={1: 2}, log={(1, 1): 2})

    assert after(model_of(version), above, "Learn replica=1").hw[1] == known
    assert after(model_of(version), within, "Learn replica=1").hw[1] == 2


def test_an_epoch_without_records_stays_where_nothing_is_cut_until_kafka_10706() -> None:
    asks = edited(OLDER, role={1: TRUNCATING}, epoch=2, known_epoch=[2, 2], cached_epoch={1: 1})
    keeps = model_of("kip320-without-truncation-clears-epochs")

    assert after(DIRECT, asks, "OffsetForLeaderEpoch follower=1").cached_epoch[1] == NO_EPOCH
    assert after(keeps, asks, "OffsetForLeaderEpoch follower=1").cached_epoch[1] == 1


# Nobody leads.


def test_a_leader_that_hears_that_nobody_leads_steps_down() -> None:
    nobody = edited(START, leader=NO_REPLICA, epoch=1)
    stepped_down = after(ASKED, nobody, "Learn replica=0")
    left = after(ASKED, nobody, "Learn replica=1")

    assert (stepped_down.role[0], stepped_down.known_leader[0]) == (TRUNCATING, 0)
    assert (left.role[1], left.known_leader[1], left.known_epoch[1]) == (TRUNCATING, 1, 1)
    assert left.leo[1] == nobody.leo[1]


@pytest.mark.parametrize(
    ("version", "epoch", "role"),
    [
        ("kip279-with-truncate-after-gap-with-truncate-every-epoch", 1, TRUNCATING),
        ("kip279-with-truncate-after-gap", 1, FETCHING),
        ("kip279-with-truncate-after-gap", 2, TRUNCATING),
        ("kip279", 2, FETCHING),
    ],
)
def test_under_the_same_leader_a_follower_truncates_by_release(
    version: str, epoch: int, role: int
) -> None:
    model = model_of(version)
    later = edited(OLDER, epoch=epoch, known_epoch={0: epoch})

    assert after(model, later, "Learn replica=1").role[1] == role


# Restarts, elections, and the ELR.


def test_a_mark_of_a_clean_shutdown_keeps_a_crashed_broker_in_the_elr() -> None:
    marked = after(FORGETFUL, DOWN, "MarkClean replica=1")

    assert changed_by(FORGETFUL, DOWN, "MarkClean replica=1") == {"unclean[1]": (1, 0)}
    fenced = {"fenced": 0b10, "isr": 0b01, "elr": 0b10}
    assert after(ELR, edited(marked, **fenced), "Restart replica=1").elr == 0b10
    assert after(ELR, edited(DOWN, **fenced), "Restart replica=1").elr == 0


def test_who_registers_after_a_crash_leaves_the_isr_also_if_it_was_not_fenced() -> None:
    stays = model_of("elr-without-registration-removes", **LATE)

    assert after(ELR, DOWN, "Restart replica=1").isr == 0b01
    assert after(stays, DOWN, "Restart replica=1").isr == 0b11
    # Whoever is taken for shut down properly is handled as if it had been fenced.
    assert after(ELR, edited(DOWN, unclean={1: 0}), "Restart replica=1").isr == 0b01


def test_since_4_0_a_registration_takes_out_of_the_isr_also_without_elr() -> None:
    """ReplicationControlManager.handleBrokerShutdown: as if the broker had been fenced."""
    four = model_of("kip903-with-registration-removes", **LATE)
    state = edited(model_of("kip903", **LATE).initial[0], up={1: 0})

    assert after(model_of("kip903", **LATE), state, "Restart replica=1").isr == 0b11
    assert after(four, state, "Restart replica=1").isr == 0b01


def test_the_last_of_the_isr_that_registers_anew_stays_in_it_and_leads_in_a_later_epoch() -> None:
    four = model_of("kip903-with-registration-removes", **LATE)
    alone = edited(four.initial[0], up={0: 0, 1: 0}, role={0: NO_ROLE}, isr=0b01, fenced=0b10)
    fenced = edited(alone, leader=NO_REPLICA, fenced=0b11)

    back = after(four, alone, "Restart replica=0")
    assert (back.isr, back.leader, back.epoch) == (0b01, 0, alone.epoch + 2)
    back = after(four, fenced, "Restart replica=0")
    assert (back.isr, back.leader, back.epoch) == (0b01, 0, alone.epoch + 1)


def test_a_registration_that_takes_out_the_leader_and_brings_it_back_takes_two_epochs() -> None:
    gone = edited(
        DOWN,
        up={0: 0, 1: 0},
        role={0: NO_ROLE},
        known_epoch={0: NO_EPOCH},
        unclean={0: 1},
        isr=0b01,
    )
    unclean = model_of("elr", **LATE, unclean_leader_election=True)
    cut = unclean.limits[unclean.exceeded_limit(gone, *bound(unclean, "Restart replica=0"))]
    last = edited(gone, epoch=2)

    assert cut == "within"
    assert (
        unclean.limits[unclean.exceeded_limit(last, *bound(unclean, "Restart replica=0"))]
        == "epochs"
    )


@pytest.mark.parametrize(("version", "leader"), [("4.0", 0), ("4.1", NO_REPLICA)])
def test_in_4_0_alone_the_last_known_leader_is_elected_while_fenced(
    version: str, leader: int
) -> None:
    """KAFKA-19522. ISR and ELR are empty, and another broker registers."""
    fenced = "-with-last-known-leader-fenced" if version == "4.0" else ""
    model = model_of(f"elr-with-last-known-leader{fenced}")
    state = edited(
        DOWN,
        leader=NO_REPLICA,
        last_leader=0,
        isr=0,
        fenced=0b11,
        up={0: 0},
        role={0: NO_ROLE},
        known_epoch={0: NO_EPOCH},
    )

    assert after(model, state, "Restart replica=1").leader == leader


@pytest.mark.parametrize(("controller", "elr"), [(0, 0b10), (1, 0), (2, 0b10)])
def test_the_elr_goes_by_the_controllers_min_insync_replicas(controller: int, elr: int) -> None:
    model = model_of("elr", min_insync_replicas=2, controller_min_insync_replicas=controller)

    assert after(model, edited(OLDER, up={1: 0}, role={1: NO_ROLE}), "Fence replica=1").elr == elr


SENTENCES: list[tuple[Any, State, str, str]] = [
    (
        DIRECT,
        REPLACED,
        "ReadLate follower=1",
        "r0 has written its log anew where its answer to r1 points to: the answer brings m2, "
        "not m1.",
    ),
    (ASKED, HEARS_YES, "HearAnswer leader=0", "r0 hears that ISR {r0} holds"),
    (
        ASKED,
        HEARS_NO,
        "HearAnswer leader=0",
        "r0 hears that ISR {r0} was refused, and goes by {r0, r1} again.",
    ),
    (
        FORGETFUL,
        DOWN,
        "MarkClean replica=1",
        "r1 starts and ends before it has recovered its log: it leaves the mark of a clean "
        "shutdown.",
    ),
    (
        ASKED,
        edited(START, leader=NO_REPLICA, epoch=1),
        "Learn replica=0",
        "r0 learns that nobody leads in epoch 1 and steps down",
    ),
]


@pytest.mark.parametrize(
    ("model", "state", "step", "words"),
    [pytest.param(*each, id=f"{n} {each[2]}") for n, each in enumerate(SENTENCES)],
)
def test_a_step_of_a_ticket_is_a_sentence(model: Any, state: State, step: str, words: str) -> None:
    action, arguments = bound(model, step)
    told = model.narration.sentence(action.name, arguments, state, after(model, state, step))

    assert told.startswith(words)
    assert told.endswith(".")


def test_every_step_that_walks_of_the_narration_do_not_reach_has_a_sentence_here() -> None:
    rare = runpy.run_path(str(Path(__file__).with_name("test_narration.py")))["RARE"]

    assert rare <= {step.split()[0] for _, _, step, _ in SENTENCES}
