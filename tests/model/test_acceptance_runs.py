"""Kafka's own acceptance tests of replication by leader epochs, and what became of them.

EpochDrivenReplicationProtocolAcceptanceTest of 2.0.0, with its counts of records or fewer. Each is
a run of the model: its own guards say that a step can be taken, its own effects take it. There the
cluster is told apart by broker ids 100 and 101; here they are r0 and r1.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import exchange, is_enabled, model_of, run
from waterline.invariants import no_divergence_below_hw
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import FETCHING

EPOCHS_OF_2_0 = ["kip279", "kip279-code", "kip320", "truncate-on-fetch"]


def log(s: State, replica: int) -> list[int]:
    return [s.log[replica, offset] for offset in range(s.leo[replica])]


def produced(leader: int, records: int) -> list[str]:
    return [f"Produce leader={leader}"] * records


def caught_up(model: Model, state: State, follower: int) -> State:
    """After the follower has asked, truncated and fetched until there is nothing more to do."""
    for _ in range(20):
        question = f"OffsetForLeaderEpoch follower={follower}"
        if question.split(maxsplit=1)[0] in model.contents and is_enabled(model, state, question):
            state = run(model, question, start=state)
            continue
        asked = run(model, *exchange(follower)[:2], start=state)
        answers = ["RecvFetch", "RecvOutOfRange", "RecvDiverging"]
        (answer,) = [
            step
            for name in answers
            if name in model.contents
            for step in [f"{name} follower={follower}"]
            if is_enabled(model, asked, step)
        ]
        received = run(model, answer, start=asked)
        if received.leo[follower] == state.leo[follower] and received.role[follower] == FETCHING:
            return received
        state = received
    raise AssertionError("it never caught up")


def stopped(replica: int) -> tuple[str, str]:
    return f"Crash replica={replica}", f"Fence replica={replica}"


def leads(replica: int) -> tuple[str, str]:
    """It is started while nobody else is up, and elected from outside the ISR if need be."""
    return f"Restart replica={replica}", f"Learn replica={replica}"


def after_unclean_elections(version: str) -> tuple[Model, State]:
    """Of two brokers one is stopped, the other started and written to, by turns.

    In the original r0 writes three the first time, not two.
    """
    model = model_of(
        version, records=7, epochs=7, restarts=4, unclean_leader_election=True, acks="1"
    )
    state = run(model, *produced(0, 1), *exchange(1), *exchange(1))
    both = state
    state = run(model, *stopped(0), "Learn replica=1", *produced(1, 1), start=state)
    state = run(model, *stopped(1), *leads(0), *produced(0, 2), start=state)
    state = run(model, *stopped(0), *leads(1), *produced(1, 1), start=state)
    state = run(model, *stopped(1), *leads(0), *produced(0, 2), start=state)
    assert log(both, 0) == log(both, 1) == [1]
    assert (log(state, 0), log(state, 1)) == ([1, 3, 4, 6, 7], [1, 2, 5])
    return model, run(model, "Restart replica=1", "Learn replica=1", start=state)


@pytest.mark.parametrize("version", EPOCHS_OF_2_0)
def test_logs_do_not_diverge_on_unclean_leader_elections(version: str) -> None:
    model, state = after_unclean_elections(version)
    last = caught_up(model, state, 1)

    assert log(last, 0) == log(last, 1) == [1, 3, 4, 6, 7]
    assert no_divergence_below_hw.holds(last, model.settings)


def test_before_kip_279_they_did() -> None:
    """By one question the follower keeps m2 where its leader has m3 (KIP-101, appendix)."""
    model, state = after_unclean_elections("epoch")
    last = caught_up(model, state, 1)

    assert log(last, 0) == [1, 3, 4, 6, 7]
    assert log(last, 1)[:2] == [1, 2]
    assert len(log(last, 1)) == 5


def after_a_lost_suffix(version: str, **options: Any) -> tuple[Model, State]:
    """Four records on both, both stop, r0 loses the last two, leads, and writes four others.

    In the original these are ten, five and ten.
    """
    model = model_of(version, records=8, epochs=4, power_losses=1, **options)
    state = run(model, *produced(0, 4), *exchange(1), *exchange(1))
    both = state
    state = run(model, *stopped(1), "PowerLoss replica=0 end=2", "Fence replica=0", start=state)
    lost = state
    state = run(model, *leads(0), *produced(0, 4), start=state)
    assert log(both, 0) == log(both, 1) == log(lost, 1) == [1, 2, 3, 4]
    assert (log(lost, 0), log(state, 0)) == ([1, 2], [1, 2, 5, 6, 7, 8])
    return model, run(model, "Restart replica=1", "Learn replica=1", start=state)


@pytest.mark.parametrize("version", ["epoch", *EPOCHS_OF_2_0])
def test_divergent_logs_are_not_allowed(version: str) -> None:
    model, state = after_a_lost_suffix(version)
    last = caught_up(model, state, 1)

    assert log(last, 0) == log(last, 1) == [1, 2, 5, 6, 7, 8]
    assert no_divergence_below_hw.holds(last, model.settings)


def test_by_the_high_watermark_divergent_logs_came_to_be() -> None:
    """The follower had checkpointed its high watermark, 4, and so cuts nothing."""
    model = model_of("hw", records=8, epochs=4, power_losses=1)
    state = run(model, *produced(0, 4), *exchange(1), *exchange(1), "Checkpoint replica=1")
    state = run(model, *stopped(1), "PowerLoss replica=0 end=2", "Fence replica=0", start=state)
    state = run(model, *leads(0), *produced(0, 4), start=state)
    back = run(model, "Restart replica=1", "Learn replica=1", start=state)
    last = caught_up(model, back, 1)

    assert (log(last, 0), log(last, 1)) == ([1, 2, 5, 6, 7, 8], [1, 2, 3, 4, 7, 8])
    assert not no_divergence_below_hw.holds(caught_up(model, last, 1), model.settings)
