"""Walks on a stage that only pretends: what is chosen, what is compared, when one ends."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from lab.conform.circumstances import CIRCUMSTANCES
from lab.conform.conformance import begin
from lab.conform.grounds import (
    trace_of_walk,
)
from lab.conform.shortening import possible, shorten
from lab.conform.steerable import FENCED, SILENT, Steerable
from lab.conform.walking import (
    Choose,
    Walked,
    by_chance,
    following,
    walk,
)
from tests.lab.pretended_brokers import FETCHED, WROTE, steps_of
from tests.support import states
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.facts import ISR, Facts
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.confirm.stage import NotHeld, StepFailed
from waterline.checker.kafka.confirm.stepping import LAG_MS, NO_LAG_MS
from waterline.counterexamples import from_json, to_json

OLD, NEW = kafka_release("0.10.2.2"), kafka_release("2.1.1")
CRASHES = next(each for each in CIRCUMSTANCES if each.name == "crashes")


def walked_on(
    stage: Any, choose: Choose, *, version: str = "hw", steps_max: int = 30, lag_ms: int = NO_LAG_MS
) -> Walked:
    return walk(
        stage,
        states.model_of(version, hw_in_response="pre"),
        choose,
        topic="w",
        topic_settings={},
        steps_max=steps_max,
        lag_ms=lag_ms,
    )


def chance(stage: Any, seed: int, known: Counter[Any] | None = None) -> Choose:
    model = states.model_of("hw", hw_in_response="pre")
    return by_chance(random.Random(seed), model, Counter() if known is None else known)


def test_a_walk_where_all_agrees_ends_at_its_last_step(pretended: Any) -> None:
    stage = pretended()
    walked = walked_on(stage, chance(stage, 1), steps_max=4)

    assert walked.has_ended
    assert len(walked.steps) == len(walked.compared) == len(stage.acts) == 4
    assert [step.action for step in walked.steps] == [action for action, _ in walked.compared]


def test_the_same_seed_walks_the_same_walk(pretended: Any) -> None:
    walks = [
        walked_on(stage, chance(stage, seed)).steps for seed in (1, 1, 2) for stage in [pretended()]
    ]

    assert walks[0] == walks[1] != walks[2]


def test_what_was_compared_often_is_chosen_less_often(pretended: Any) -> None:
    model = states.model_of("hw", hw_in_response="pre")
    steerable = Steerable(model, OLD, NO_LAG_MS)
    steps = steerable.offers(model.initial[0], 1, 0)
    known: Counter[Any] = Counter()
    choose = by_chance(random.Random(1), model, known)
    before = Counter(choose(steps, 0).action for _ in range(300))  # type: ignore[union-attr]
    known[("Produce", ("leo+", "unanswered+"))] = 1000
    after = Counter(choose(steps, 0).action for _ in range(300))  # type: ignore[union-attr]

    assert before["Produce"] > 40
    assert after["Produce"] < 5


def test_one_wrong_value_ends_the_walk_and_is_no_step_compared(pretended: Any) -> None:
    stage = pretended(
        deviates=lambda name, facts: {"r1 HW": "7"} if name == "RecvFetch" and facts else None
    )
    walked = walked_on(stage, following(steps_of(*WROTE)))

    assert walked.disagreement is not None
    assert walked.disagreement.complaint == "r1 HW: 0 in the model, 7 in Kafka"
    assert [step.action for step in walked.steps] == [
        "Produce",
        "SendFetch",
        "LeaderFetch",
        "RecvFetch",
    ]
    assert len(walked.compared) == 3


def test_a_step_that_brokers_refuse_is_a_disagreement(pretended: Any) -> None:
    refused = StepFailed("r0 appends m1", "no answer")
    stage = pretended(deviates=lambda name, facts: refused if name == "Produce" else None)
    walked = walked_on(stage, following(steps_of(*WROTE)))

    assert walked.disagreement is not None
    assert walked.disagreement.complaint == "r0 appends m1; found: no answer"


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (NotHeld("it did not wait"), "it did not wait"),
        (BrokerFailed("r0 has ended by itself"), "the cluster failed: r0 has ended by itself"),
    ],
)
def test_what_is_the_harness_s_is_no_disagreement(
    problem: Exception, told: str, pretended: Any
) -> None:
    stage = pretended(deviates=lambda name, facts: problem if name == "LeaderFetch" else None)
    walked = walked_on(stage, following(steps_of(*WROTE)))

    assert walked.disagreement is None
    assert walked.not_held == told
    assert not walked.has_ended
    assert len(walked.compared) == 2


def test_an_isr_that_shrinks_by_itself_is_a_step_of_the_model(pretended: Any) -> None:
    """Until KAFKA-7152 also before the record, while the follower has all."""

    def shrunk(name: str, facts: Facts) -> Mapping[str, str] | None:
        return {
            ISR: "r0",
            "r0 HW": "1",
            "acknowledged": "m1",
            "waiting for acknowledgement": "none",
        }

    stage = pretended(deviates=shrunk)
    walked = walked_on(stage, following(steps_of("Produce leader=0")), lag_ms=LAG_MS)

    assert walked.has_ended
    assert [step.action for step in walked.steps] == ["ShrinkIsr", "Produce"]


def test_an_isr_that_shrinks_by_itself_otherwise_is_not_held(pretended: Any) -> None:
    stage = pretended(deviates=lambda name, facts: {ISR: "r0", "r0 LEO": "9"})
    early = walked_on(stage, following(steps_of("Produce leader=0")), lag_ms=LAG_MS)
    out_of_reach = walked_on(stage, following(steps_of("Produce leader=0")))

    assert "a follower left the ISR before its step" in early.not_held
    assert out_of_reach.disagreement is not None


def test_the_isr_is_shrunk_only_where_the_lag_is_short() -> None:
    model = states.model_of("hw")
    produced = next(
        step.after for step in model.successors(model.initial[0]) if step.action.name == "Produce"
    )

    def shrinks(lag_ms: int) -> bool:
        steps = Steerable(model, OLD, lag_ms).offers(produced, 1, 0)
        return "ShrinkIsr" in {step.action for step in steps}

    assert shrinks(LAG_MS)
    assert not shrinks(NO_LAG_MS)


@pytest.mark.parametrize(("release", "asks_again"), [(NEW, False), (kafka_release("2.0.1"), True)])
def test_a_fenced_follower_asks_no_more_until_it_learns(
    release: KafkaRelease, asks_again: bool
) -> None:
    model = states.model_of("kip320", moves=2, replicas=3)
    steerable = Steerable(model, release, NO_LAG_MS)
    state, silent = model.initial[0], 0

    def take(call: str) -> None:
        nonlocal state, silent
        [wanted] = steps_of(call)
        choose = following([wanted])
        moment = choose(steerable.offers(state, 1, silent), silent)
        assert moment is not None, call
        silent = steerable.silent_after(moment, silent)
        state = moment.after

    for call in (
        "Move replica=1",
        "Move replica=0",
        "Learn replica=0",
        "SendFetch follower=2",
        "LeaderFetch follower=2",
    ):
        take(call)
    offered = [str(moment) for moment in steerable.offers(state, 1, silent)]
    take("Learn replica=2")

    assert ("SendFetch(follower=2)" in offered) is asks_again
    assert silent == 0
    assert (SILENT in steerable.restrictions()) is not asks_again


@pytest.mark.parametrize(
    ("old", "steps"),
    [
        pytest.param(
            0,
            [
                "SessionExpiry replica=0",
                "Learn replica=0",
                "SendFetch follower=0",
                "Crash replica=0",
                "Learn replica=1",
            ],
            id="r1 leads now, and has read that r0's session is over",
        ),
        pytest.param(
            1,
            [
                "SendFetch follower=1",
                "Crash replica=1",
                "Fence replica=1",
                "Learn replica=0",
                "SessionExpiry replica=0",
            ],
            id="r0 has read that r1 is fenced, and not that it leads no more",
        ),
    ],
)
def test_a_kraft_leader_asks_for_nobody_whom_it_may_know_to_be_fenced(
    old: int, steps: list[str]
) -> None:
    """A fetch of before arrives at a leader when its sender is fenced."""
    release = kafka_release("4.2.0:elr")
    late = next(each for each in CIRCUMSTANCES if each.name == "late")
    [tally] = begin(release, [late]).tallied
    state = tally.model.initial[0]
    for wanted in steps_of(*steps):
        [state] = [
            step.after
            for step in tally.model.successors(state)
            if (step.action.name, step.action.name_arguments(step.arguments))
            == (wanted.action, wanted.arguments)
        ]

    def fetches(lifted: frozenset[str]) -> bool:
        offered = Steerable(tally.model, release, LAG_MS, lifted).offers(state, 1, 0)
        return f"StrayFetch(follower={old})" in map(str, offered)

    assert not fetches(frozenset())
    assert fetches(frozenset({FENCED}))


def asks_after_each(*steps: str) -> tuple[list[bool], int]:
    """Whether r1 may ask after each step of a walk with shutdowns, and who is silent then."""
    shutdowns = next(each for each in CIRCUMSTANCES if each.name == "shutdowns")
    release = kafka_release("4.2.0:elr")
    [tally] = begin(release, [shutdowns]).tallied
    steerable = Steerable(tally.model, release, NO_LAG_MS)
    state, silent = tally.model.initial[0], 0
    asks = []
    for wanted in steps_of(*steps):
        moment = following([wanted])(steerable.offers(state, 1, silent), silent)
        assert moment is not None, wanted
        silent = steerable.silent_after(moment, silent)
        state = moment.after
        asks.append("SendFetch(follower=1)" in map(str, steerable.offers(state, 1, silent)))
    return asks, silent


def test_who_shuts_down_and_has_read_that_it_left_the_isr_asks_no_more() -> None:
    asks, silent = asks_after_each("Move replica=1", "BeginShutdown replica=1", "Learn replica=1")

    assert asks == [True, True, False]
    assert silent == 0b10


@pytest.mark.parametrize(("name", "silent"), [("4.2.0:elr", 0b10), ("3.9.1", 0)])
def test_a_leader_that_has_started_anew_may_fence_by_the_metadata_log(
    name: str, silent: int
) -> None:
    """In the model it has not learned of anything, and refuses a fetch without fencing it."""
    release = kafka_release(name)
    [tally] = begin(release, [CRASHES]).tallied
    steerable = Steerable(tally.model, release, NO_LAG_MS)
    state, found = tally.model.initial[0], 0
    starts = ("Crash replica=0", "Fence replica=0", "Restart replica=0")
    for wanted in steps_of(*starts, "SendFetch follower=1", "LeaderFetch follower=1"):
        moment = following([wanted])(steerable.offers(state, 1, found), found)
        assert moment is not None, wanted
        found = steerable.silent_after(moment, found)
        state = moment.after

    assert found == silent


def test_who_is_silent_is_so_until_it_learns_or_starts_anew() -> None:
    """A checkpoint, and what the controller decides, change nothing for a silent follower."""
    asks, silent = asks_after_each(
        "Move replica=1",
        "SendFetch follower=1",
        "Produce leader=0",
        "LeaderFetch follower=1",
        "RecvFetch follower=1",
        "SendFetch follower=1",
        "LeaderFetch follower=1",
        "Learn replica=0",
        "SendFetch follower=0",
        "Learn replica=1",
        "LeaderFetch follower=0",
        "BeginShutdown replica=1",
        "RecvFetch follower=0",
        "Learn replica=1",
        "BeginShutdown replica=0",
        "Checkpoint replica=1",
    )

    assert not asks[-1]
    assert silent == 0b10


def test_steps_that_are_not_offered_are_passed_over() -> None:
    model = states.model_of("hw")
    steps = steps_of("RecvFetch follower=1", "Produce leader=0", "Learn replica=0", *FETCHED)

    assert possible(steps, Steerable(model, OLD, NO_LAG_MS)) == steps_of(
        "Produce leader=0", *FETCHED
    )


def test_a_walk_is_shortened_to_what_shows_the_same(pretended: Any) -> None:
    stage = pretended(
        deviates=lambda name, facts: {"r0 HW": "0"} if facts.get("r0 HW") == "1" else None
    )
    model = states.model_of("hw", hw_in_response="pre")
    noise = ("Checkpoint replica=0", "Crash replica=1", "Fence replica=1", "Restart replica=1")
    long = walked_on(
        stage, following(steps_of(*FETCHED, *FETCHED, *WROTE[:1], *FETCHED, *WROTE, *noise))
    )
    tries: list[int] = []

    def again(steps: Any) -> Walked:
        tries.append(len(steps))
        return walked_on(stage, following(steps))

    short = shorten(
        long,
        Steerable(model, OLD, NO_LAG_MS),
        again,
        tries_max=40,
        report=lambda line: None,
    )

    assert len(long.steps) == 13
    assert short.steps == steps_of("Produce leader=0", *FETCHED, *FETCHED[:2])
    assert tries


def test_shortening_ends_after_so_many_tries(pretended: Any) -> None:
    stage = pretended(
        deviates=lambda name, facts: {"r0 HW": "5"} if facts.get("r0 HW") == "1" else None
    )
    long = walked_on(stage, following(steps_of(*FETCHED, *FETCHED, *WROTE)))
    model = states.model_of("hw", hw_in_response="pre")
    tries: list[int] = []

    def again(steps: Any) -> Walked:
        tries.append(len(steps))
        return Walked(not_held="no cluster")

    short = shorten(
        long, Steerable(model, OLD, NO_LAG_MS), again, tries_max=3, report=lambda line: None
    )

    assert short is long
    assert len(tries) == 3


def test_a_walk_as_a_trace_is_the_same_after_it_was_written() -> None:
    model = states.model_of("hw")
    trace = trace_of_walk(steps_of(*WROTE), model)

    assert from_json(to_json(trace)) == trace
