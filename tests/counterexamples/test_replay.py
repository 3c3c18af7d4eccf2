from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from waterline.counterexamples import (
    BadTrace,
    Divergence,
    NotACounterexample,
    Replayed,
    Trace,
    TraceStep,
    confirm,
    confirm_step,
    first_difference,
    follow,
    replay,
    trace_of,
)
from waterline.invariants import no_committed_loss
from waterline.model.core.transition_system import Model


def holds(model: Model) -> Any:
    return lambda state: no_committed_loss.holds(state, model.settings)


def with_step(trace: Trace, number: int, step: TraceStep) -> Trace:
    steps = (*trace.steps[: number - 1], step, *trace.steps[number:])
    return dataclasses.replace(trace, steps=steps)


def test_the_kip_101_loss_replays_to_an_empty_leader(replayed: Replayed) -> None:
    last = replayed.states[-1]

    assert len(replayed.moments) == 12
    assert [str(moment) for moment in replayed.moments][-2:] == [
        "Fence(replica=0)",
        "Learn(replica=1)",
    ]
    assert (last.leader, last.leo[1], last.exposed_end) == (1, 0, 1)


def test_moments_are_chained(replayed: Replayed) -> None:
    befores = [moment.before for moment in replayed.moments]

    assert befores == list(replayed.states[:-1])
    assert [moment.number for moment in replayed.moments] == list(range(1, 13))


def test_a_trace_without_steps_replays_to_the_initial_state(hw: Model) -> None:
    assert replay(trace_of(hw, "sane", ()), hw).states == hw.initial


def test_the_loss_is_confirmed(loss: Trace, hw: Model) -> None:
    assert len(confirm(loss, hw, holds(hw)).moments) == 12


def test_a_trace_cut_short_is_no_counterexample(loss: Trace, hw: Model) -> None:
    short = dataclasses.replace(loss, steps=loss.steps[:-1])
    with pytest.raises(NotACounterexample, match="holds after step 11") as caught:
        confirm(short, hw, holds(hw))

    assert caught.value.step == 11


def test_a_trace_that_goes_on_is_no_counterexample(loss: Trace, hw: Model) -> None:
    more = TraceStep("Produce", (("leader", 1),))
    with pytest.raises(NotACounterexample, match="broken after step 12 already, of 13"):
        confirm(dataclasses.replace(loss, steps=(*loss.steps, more)), hw, holds(hw))


def keeps_its_log(before: Any, after: Any) -> bool:
    """r1 removes no record: step 9 of the loss does."""
    return bool(after.leo[1] >= before.leo[1])


def test_a_step_is_confirmed_when_it_is_the_last_and_the_first_to_break_the_claim(
    loss: Trace, hw: Model
) -> None:
    there = dataclasses.replace(loss, steps=loss.steps[:9])

    assert confirm_step(there, hw, keeps_its_log).moments[-1].action == "Learn"


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        (0, "holds after step 0"),
        (8, "holds after step 8, the last"),
        (10, "broken after step 9 already, of 10"),
    ],
)
def test_a_step_is_no_counterexample_before_or_after_that(
    steps: int, complaint: str, loss: Trace, hw: Model
) -> None:
    with pytest.raises(NotACounterexample, match=complaint):
        confirm_step(dataclasses.replace(loss, steps=loss.steps[:steps]), hw, keeps_its_log)


def test_a_divergence_lists_what_is_offered(loss: Trace, hw: Model) -> None:
    wrong = with_step(loss, 4, TraceStep("Fence", (("replica", 1),)))
    with pytest.raises(Divergence) as caught:
        replay(wrong, hw)

    assert caught.value.step == 4
    assert str(caught.value) == (
        "step 4: Fence(replica=1) is not enabled; enabled: Produce(leader=0), "
        "RecvFetch(follower=1), ShrinkIsr(leader=0, follower=1), Crash(replica=0), "
        "Crash(replica=1)"
    )


def test_a_divergence_at_a_bound_names_the_bound(loss: Trace, hw: Model) -> None:
    more = (TraceStep("Crash", (("replica", 1),)),)
    with pytest.raises(Divergence, match=r"is beyond the bound on restarts; enabled: Produce"):
        replay(dataclasses.replace(loss, steps=loss.steps + more), hw)


def test_an_action_of_another_version_diverges(loss: Trace, hw: Model) -> None:
    asks = with_step(loss, 1, TraceStep("OffsetForLeaderEpoch", (("follower", 1),)))
    with pytest.raises(Divergence, match=r"step 1: OffsetForLeaderEpoch.* not part of version hw"):
        replay(asks, hw)


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        (TraceStep("Explode"), "step 3: kafka-message has no action Explode; it has Produce,"),
        (TraceStep("Fence"), r"step 3: Fence\(\) has not the arguments of Fence; they are replica"),
        (TraceStep("Fence", (("leader", 0),)), "they are replica"),
        (TraceStep("Fence", (("replica", 2),)), "replica is 2 in .*range is 0 to 1"),
        (TraceStep("Fence", (("replica", -1),)), "replica is -1"),
    ],
)
def test_what_the_model_does_not_have_is_a_bad_trace(
    loss: Trace, hw: Model, step: TraceStep, complaint: str
) -> None:
    with pytest.raises(BadTrace, match=complaint):
        replay(with_step(loss, 3, step), hw)


def test_an_initial_state_that_does_not_exist_is_a_bad_trace(loss: Trace, hw: Model) -> None:
    with pytest.raises(BadTrace, match="initial is 1; kafka-message has 1 initial states"):
        replay(dataclasses.replace(loss, initial=1), hw)


def test_arguments_are_taken_by_name(loss: Trace, hw: Model) -> None:
    shrink = TraceStep("ShrinkIsr", (("follower", 1), ("leader", 0)))

    taken = replay(dataclasses.replace(loss, steps=(*loss.steps[:1], shrink)), hw).moments[-1]

    assert taken.arguments == (("leader", 0), ("follower", 1))


def test_the_same_choices_are_safe_under_epoch(loss: Trace, epoch: Model) -> None:
    """No step of the loss is refused under epoch; what differs is an effect."""
    followed = follow(loss, epoch)

    assert followed.refusal is None
    assert all(holds(epoch)(state) for state in followed.replayed.states)


def test_following_stops_where_the_other_version_refuses(loss: Trace, hw: Model) -> None:
    asks = with_step(loss, 3, TraceStep("OffsetForLeaderEpoch", (("follower", 1),)))
    followed = follow(asks, hw)

    assert followed.refusal is not None
    assert followed.refusal.step == 3
    assert len(followed.replayed.moments) == 2


def test_hw_and_epoch_differ_first_where_the_follower_truncates(
    loss: Trace, hw: Model, epoch: Model
) -> None:
    assert first_difference(loss, hw, epoch) == 9
    assert first_difference(loss, hw, hw) is None


def test_refusing_a_step_is_a_difference(loss: Trace, hw: Model, epoch: Model) -> None:
    asks = TraceStep("OffsetForLeaderEpoch", (("follower", 1),))
    trace = dataclasses.replace(loss, steps=(*loss.steps[:8], loss.steps[8], asks))

    assert first_difference(trace, hw, epoch) == 9
    assert follow(trace, epoch).refusal is None
