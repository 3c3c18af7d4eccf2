"""Which bound or budget cuts a step of the later versions and of the rarer faults."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import after, bound, edited, is_enabled, model_of
from waterline.model.core.state import State
from waterline.model.message.terms import NO_EPOCH, NO_REPLICA, NO_ROLE

ELR = model_of("elr")
START = ELR.initial[0]
"""r0 leads in epoch 0, r1 fetches from it, both are in sync. The same in every version."""
DOWN = edited(START, up={1: 0}, role={1: NO_ROLE}, known_epoch={1: NO_EPOCH})
"""The same with r1 down, which the controller has not noticed."""
FENCED = edited(DOWN, fenced=0b10, isr=0b01)
ZOMBIE = edited(START, fenced=0b10, isr=0b01)
"""r1 runs, and the controller takes it for down."""
STOPPING = edited(START, stopping=0b10)
ONE_RECORD = edited(START, leo=[1, 1], log=[[1], [1]], produced=1)
COMMITTED = edited(ONE_RECORD, hw=[1, 1])
PENDING = edited(START, leo=[1], log=[[1]], produced=1, pending_isr={0: 0b01})
"""r0 has asked to take r1 out of the ISR."""
NOBODY_LEADS = edited(FENCED, up={0: 0}, role={0: NO_ROLE}, known_epoch={0: NO_EPOCH}, leader=-1)
NOBODY_LEADS = edited(NOBODY_LEADS, fenced=0b11)
"""Both are down; r0 is the last in sync."""
EMPTY_ISR = edited(NOBODY_LEADS, isr=0, elr=0b01)
LIVE = edited(START, fenced=0b01, isr=0b01, leader=NO_REPLICA)
"""r0 runs, was taken for down as the last in sync, and nobody leads; r1 runs."""
LAST = {"epoch": 2}
GROWS = edited(START, pending_isr={0: 0b11}, isr=0b01, known_isr={0: 0b01})

LIMITS: list[tuple[str, str, State, dict[str, Any], str]] = [
    ("PowerLoss replica=1 end=0", "elr", ONE_RECORD, {"power_losses": 1}, "within"),
    ("PowerLoss replica=1 end=0", "elr", ONE_RECORD, {}, "power-losses"),
    (
        "PowerLoss replica=1 end=0",
        "elr",
        edited(ONE_RECORD, power_losses_used=1),
        {"power_losses": 1},
        "power-losses",
    ),
    ("DiskLoss replica=1", "elr", ONE_RECORD, {"lost_disks": 1}, "within"),
    (
        "DiskLoss replica=1",
        "elr",
        edited(ONE_RECORD, lost_disks_used=1),
        {"lost_disks": 1},
        "lost-disks",
    ),
    (
        "CheckpointLoss replica=1",
        "hw",
        edited(DOWN, checkpoint={1: 1}),
        {"lost_checkpoints": 1},
        "within",
    ),
    (
        "CheckpointLoss replica=1",
        "hw",
        edited(DOWN, checkpoint={1: 1}, lost_checkpoints_used=1),
        {"lost_checkpoints": 1},
        "lost-checkpoints",
    ),
    ("SessionExpiry replica=1", "kip320", START, {"session_expiries": 1}, "within"),
    (
        "SessionExpiry replica=1",
        "kip320",
        edited(START, session_expiries_used=1),
        {"session_expiries": 1},
        "session-expiries",
    ),
    ("SessionExpiry replica=1", "kip320", edited(START, **LAST), {"session_expiries": 1}, "epochs"),
    (
        "SessionExpiry replica=1",
        "kip320",
        edited(START, isr=0b01, **LAST),
        {"session_expiries": 1},
        "within",
    ),
    ("SessionExpiry replica=1", "kraft", edited(START, **LAST), {"session_expiries": 1}, "epochs"),
    ("SessionExpiry replica=1", "elr", edited(START, **LAST), {"session_expiries": 1}, "within"),
    ("SessionExpiry replica=0", "elr", edited(START, **LAST), {"session_expiries": 1}, "epochs"),
    ("BeginShutdown replica=1", "kip320", START, {"shutdowns": 1}, "within"),
    (
        "BeginShutdown replica=1",
        "kip320",
        edited(START, shutdowns_used=1),
        {"shutdowns": 1},
        "shutdowns",
    ),
    ("BeginShutdown replica=1", "kip320", edited(START, **LAST), {"shutdowns": 1}, "epochs"),
    ("BeginShutdown replica=1", "elr", edited(START, **LAST), {"shutdowns": 1}, "within"),
    ("BeginShutdown replica=0", "elr", edited(START, **LAST), {"shutdowns": 1}, "epochs"),
    (
        "BeginShutdown replica=0",
        "kip320",
        edited(START, isr=0b01, **LAST),
        {"shutdowns": 1},
        "within",
    ),
    ("Stop replica=1", "kip320", edited(STOPPING, **LAST), {}, "within"),
    ("Fence replica=1", "kip320", edited(DOWN, **LAST), {}, "epochs"),
    ("Fence replica=1", "kraft", edited(DOWN, **LAST), {}, "epochs"),
    ("Fence replica=1", "kraft", edited(DOWN, isr=0b01, **LAST), {}, "within"),
    ("Fence replica=1", "elr", edited(DOWN, **LAST), {}, "within"),
    ("Register replica=0", "kip320", edited(LIVE, epoch=1), {}, "within"),
    ("Register replica=0", "kip320", edited(LIVE, **LAST), {}, "epochs"),
    ("Register replica=0", "elr", edited(LIVE, isr=0, elr=0b01, **LAST), {}, "epochs"),
    ("Register replica=0", "elr", edited(LIVE, isr=0, elr=0b10, **LAST), {}, "epochs"),
    ("Register replica=0", "elr", edited(LIVE, isr=0, **LAST), {}, "within"),
    ("Register replica=1", "kip320", edited(ZOMBIE, **LAST), {}, "within"),
    ("Restart replica=0", "kip320", edited(NOBODY_LEADS, **LAST), {}, "epochs"),
    ("Restart replica=1", "kip320", edited(NOBODY_LEADS, **LAST), {}, "within"),
    ("Restart replica=0", "elr", edited(EMPTY_ISR, **LAST), {}, "epochs"),
    ("Restart replica=1", "elr", edited(EMPTY_ISR, **LAST), {}, "within"),
    ("AlterPartition leader=0", "kraft", edited(PENDING, epoch=1, known_epoch=[1]), {}, "within"),
    ("AlterPartition leader=0", "kraft", edited(PENDING, known_epoch=[2], **LAST), {}, "epochs"),
    ("AlterPartition leader=0", "elr", edited(PENDING, known_epoch=[2], **LAST), {}, "within"),
    ("AlterPartition leader=0", "kraft", edited(GROWS, known_epoch=[2], **LAST), {}, "within"),
    ("Consume leader=0", "kip320", COMMITTED, {}, "within"),
]


@pytest.mark.parametrize(
    ("step", "version", "state", "options", "limit"),
    [pytest.param(*case, id=f"{case[0]} {case[1]} {case[4]} {i}") for i, case in enumerate(LIMITS)],
)
def test_a_bound_or_budget_cuts_a_step(
    step: str, version: str, state: State, options: dict[str, Any], limit: str
) -> None:
    model = model_of(version, **options)

    assert is_enabled(model, state, step)
    assert model.limits[model.exceeded_limit(state, *bound(model, step))] == limit


def test_a_limit_is_reached_exactly_where_the_step_would_start_an_epoch_too_many() -> None:
    """Of every case about epochs: one epoch earlier the step is within, and takes that epoch."""
    for step, version, state, options, limit in LIMITS:
        if limit != "epochs":
            continue
        known = {r: 1 for r in range(2) if state.known_epoch[r] == 2}
        before = edited(state, epoch=1, known_epoch=known)

        assert after(model_of(version, **options), before, step).epoch == 2, step


def test_one_that_crashed_comes_back_to_an_elr_without_it_and_starts_no_epoch() -> None:
    crashed = edited(EMPTY_ISR, unclean={0: 1}, **LAST)
    step = bound(ELR, "Restart replica=0")

    assert ELR.apply(crashed, *step).epoch == 2
    assert ELR.limits[ELR.exceeded_limit(crashed, *step)] == "within"
