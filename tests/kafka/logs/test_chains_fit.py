"""What the model could have written fits as a chain of windows; what it could not does not.

An attack on the carry of states from window to window: random walks through several epochs, whose
lines are explained an epoch or two at a time, as in `test_walks_fit`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.logged_walks import walked
from waterline.checker.kafka.logs.carrying import (
    Numbering,
    carry,
    fields_known,
)
from waterline.checker.kafka.logs.chain import Chain, explain_windows
from waterline.checker.kafka.logs.fitting import Beside, Circumstances
from waterline.checker.kafka.logs.history import History, history_of
from waterline.checker.kafka.logs.reading import read_logs
from waterline.checker.kafka.logs.settled import past_epochs, settled_end
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

BOUNDS = Environment(replicas=2, records=2, epochs=4, restarts=2, moves=2, restart_detection="any")
CARRIED = ["elr", "kip320", "truncate-on-fetch", "kraft"]
DISTURBS = {"Crash", "SessionExpiry", "ShrinkIsr", "Stop", "BeginShutdown"}
AS_WALKED = (Beside(more_records=2, crashes=2),)
"""Room for all that a walk does, in each window."""


def walk_of(version: str, seed: int, folder: Path, *, of_all: bool = True) -> History | None:
    """The history of a walk, None of one that hardly writes anything."""
    lines = walked(message_model(version, BOUNDS), seed, folder, of_all=of_all).lines
    if lines < 4:
        return None
    logs = read_logs([folder])
    return history_of(logs.of("t-0"), with_server_log=set(logs.server_logs), is_limited=False)


def explained(whole: History, version: str, *, plain: bool, loses: bool = True) -> Chain:
    return explain_windows(
        whole,
        Circumstances(version=version, hw_in_response=BOUNDS.hw_in_response),
        width=1,
        loses=loses,
        plain=plain,
        states_max=1500,
        until=time.monotonic() + 30,
        ladder=AS_WALKED,
    )


def require_one_behaviour(chain: Chain) -> None:
    """Its pieces are steps of the model, each begins where the one before ended."""
    end: State | None = None
    before = None
    for piece in chain.pieces:
        if end is not None:
            assert before is not None
            assert piece.numbering is not None
            assert carry(end, piece.window.model, piece.numbering).state == piece.state
            assert piece.positions == before.fit.positions[-1]
        state = piece.state
        for name, arguments in piece.fit.calls:
            action = piece.window.model.action(name)
            assert piece.window.model.is_enabled(state, action, arguments)
            state = piece.window.model.apply(state, action, arguments)
        end, before = state, piece


def chains_of_walks(version: str, seeds: Iterable[int], folder_of_all: Path) -> tuple[int, int]:
    """How many walks were fitted, and how many by several windows; none may be excluded."""
    fitted = several = 0
    for seed in seeds:
        folder = folder_of_all / str(seed)
        folder.mkdir()
        whole = walk_of(version, seed, folder)
        if whole is None:
            continue
        chain = explained(whole, version, plain=seed % 2 == 0)

        assert chain.fits or not chain.is_whole, seed
        require_one_behaviour(chain)
        fitted += chain.fits
        several += chain.fits and len(chain.pieces) > 1

    return fitted, several


def test_no_chain_excludes_a_walk_of_the_model(tmp_path: Path) -> None:
    fitted, _ = chains_of_walks("elr", [3], tmp_path)

    assert fitted == 1


def test_every_field_of_a_state_is_carried_or_begun_anew() -> None:
    names = {field.name for field in message_model("elr", BOUNDS).layout.fields}
    assert names == set(fields_known())


def carried_alike(version: str, walks: int) -> tuple[int, int]:
    """Bisimulation, as far as walks reach: the carry of a step is a step of the carry.

    How many states were carried, and of how many something was cut off.
    """
    model = message_model(version, replace(BOUNDS, records=4, epochs=6, moves=6, restarts=6))
    judged = cut = 0
    for seed in range(walks):
        state = walked_state(model, seed)
        if state is None:
            continue
        one = numbering_of(state, first=int(state.epoch), spare=0)
        next_model = message_model(
            version, replace(BOUNDS, records=6, epochs=12, moves=15, restarts=15)
        )
        begun = carry(state, next_model, one).state
        judged += 1
        cut += one.boundaries[0] > 0
        require_same_steps(model, state, next_model, begun)
    return judged, cut


@pytest.mark.parametrize("version", CARRIED)
def test_a_carried_state_takes_the_same_steps(version: str) -> None:
    judged, _ = carried_alike(version, 8)

    assert judged >= 3


def walked_state(model: Model, seed: int) -> State | None:
    chance = random.Random(seed)
    """The end of a walk, None within the first epoch; odd ones begin with what settles records."""
    state: Any = model.initial[0]
    quiet = 40 * (seed % 2)
    for number in range(quiet + 25):
        steps = [s for s in model.successors(state) if s.after.produced < 4]
        if number < quiet:
            steps = [
                s for s in steps if s.after.epoch == 0 and s.action.name not in DISTURBS
            ] or steps
        if not steps:
            break
        state = chance.choice(steps).after
    return state if state.epoch > 0 else None


def numbering_of(state: Any, *, first: int, spare: int) -> Numbering:
    base = settled_end(state)
    past = past_epochs(state, first)
    return Numbering(
        first=first,
        slots=len(past) + spare,
        boundaries=tuple(range(base, int(state.records) + 1)),
    )


def require_same_steps(model: Model, state: Any, other: Model, begun: Any) -> None:
    """The same actions are enabled, and what they lead to is carried into the same states."""
    budgets = ("Produce",)
    mine = {
        (step.action.name, step.arguments): step.after
        for step in model.successors(state)
        if step.action.name not in budgets or state.produced < state.records
    }
    theirs = {(step.action.name, step.arguments): step.after for step in other.successors(begun)}
    assert set(mine) <= set(theirs)
    for call in set(theirs) - set(mine):
        action = model.action(call[0])
        assert not model.is_enabled(state, action, call[1]) or model.exceeded_limit(
            state, action, call[1]
        ), call
        assert model.is_enabled(state, action, call[1]), call
    for call, after in mine.items():
        assert comparable(after, int(state.epoch)) == comparable(theirs[call], int(begun.epoch)), (
            call
        )


def comparable(state: Any, epoch: int) -> Any:
    """A state in numbers that hold on both sides: cut at what is settled, epochs in order."""
    model = message_model("elr", replace(BOUNDS, records=6, epochs=12))
    base = settled_end(state)
    first = int(state.epoch)
    numbering = Numbering(
        first=first, slots=6, boundaries=tuple(range(base, int(state.records) + 1))
    )
    return carry(state, model, numbering).state
