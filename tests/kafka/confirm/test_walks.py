"""Walks on a stage that only pretends: what is chosen, what is compared, when one ends."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from checker.kafka.confirm import grounds, stepping, walking
from checker.kafka.confirm.aiming import planned
from checker.kafka.confirm.circumstances import CIRCUMSTANCES
from checker.kafka.confirm.conformance import TRIES_MAX, Conformance, begun
from checker.kafka.confirm.errors import BrokerFailed
from checker.kafka.confirm.facts import ISR, Facts, differences
from checker.kafka.confirm.grounds import (
    Grounds,
    Round,
    plan,
    trace_of_walk,
    walk_along,
    walk_by_chance,
    walk_to_outcomes,
)
from checker.kafka.confirm.kept_walks import CHANCE
from checker.kafka.confirm.known_differences import KNOWN, known_difference
from checker.kafka.confirm.mapping import TABLE, Act, Row
from checker.kafka.confirm.releases import KafkaRelease, kafka_release
from checker.kafka.confirm.shortening import possible, shortened
from checker.kafka.confirm.stage import NotHeld, StepFailed
from checker.kafka.confirm.steerable import FENCED, SILENT, Steerable
from checker.kafka.confirm.stepping import LAG_MS, NO_LAG_MS, StepSeen
from checker.kafka.confirm.walking import (
    Choose,
    Walked,
    by_chance,
    following,
    walk,
)
from counterexamples import TraceStep, from_json, to_json
from tests.support import states

OLD, NEW = kafka_release("0.10.2.2"), kafka_release("2.1.1")
CRASHES = next(each for each in CIRCUMSTANCES if each.name == "crashes")
Deviation = Callable[[str, Facts], Mapping[str, str] | Exception | None]


class Pretended:
    """Brokers that do what the model says, but for what `deviates` says of a step."""

    def __init__(self, release: KafkaRelease, deviates: Deviation) -> None:
        self.release = release
        self.replicas = range(2)
        self.deviates = deviates
        self.topics: list[str] = []
        self.settings: list[Mapping[str, str]] = []
        self.acts: list[Act] = []
        self.doing = ""

    def begin(self, topic: str, settings: Mapping[str, str]) -> None:
        self.topics.append(topic)
        self.settings.append(settings)


@pytest.fixture
def pretended(monkeypatch: pytest.MonkeyPatch) -> Any:
    def row(name: str) -> Row:
        def does(stage: Any, act: Act) -> None:
            stage.doing = name
            stage.acts.append(act)
            wrong = stage.deviates(name, {})
            if isinstance(wrong, Exception):
                raise wrong

        return Row("told.", does if TABLE[name].does else None, TABLE[name].unless)

    def compared(stage: Any, model: Facts, *, seconds: float) -> Any:
        facts = model | (stage.deviates(stage.doing, model) or {})
        return facts, differences(model, facts)

    monkeypatch.setattr(stepping, "row_of", lambda action, release: row(action))
    monkeypatch.setattr(stepping, "compared", compared)
    monkeypatch.setattr(stepping, "observed", lambda stage: {})
    monkeypatch.setattr(stepping, "keep_in_sync", lambda stage, state: None)
    monkeypatch.setattr(walking, "begin", Pretended.begin)

    def made(release: KafkaRelease = OLD, deviates: Deviation = lambda name, facts: None) -> Any:
        return Pretended(release, deviates)

    return made


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


def steps_of(*calls: str) -> list[TraceStep]:
    """`Produce leader=0` as steps."""
    found = []
    for name, *given in map(str.split, calls):
        pairs = (each.split("=") for each in given)
        found.append(TraceStep(name, tuple((key, int(value)) for key, value in pairs)))
    return found


FETCHED = ("SendFetch follower=1", "LeaderFetch follower=1", "RecvFetch follower=1")
WROTE = ("Produce leader=0", *FETCHED, *FETCHED)


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
    steps = steerable.offered(model.initial[0], 1, 0)
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
        steps = Steerable(model, OLD, lag_ms).offered(produced, 1, 0)
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
        moment = choose(steerable.offered(state, 1, silent), silent)
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
    offered = [str(moment) for moment in steerable.offered(state, 1, silent)]
    take("Learn replica=2")

    assert ("SendFetch(follower=2)" in offered) is asks_again
    assert silent == 0
    assert (SILENT in steerable.restrictions()) is not asks_again


def test_a_kraft_leader_asks_for_nobody_whom_it_knows_to_be_fenced() -> None:
    """r0's session is over, and r1, who leads now, has read so when r0's old fetch arrives."""
    release = kafka_release("4.2.0:elr")
    late = next(each for each in CIRCUMSTANCES if each.name == "late")
    [tally] = begun(release, [late]).tallied
    state = tally.model.initial[0]
    for wanted in steps_of(
        "SessionExpiry replica=0",
        "Learn replica=0",
        "SendFetch follower=0",
        "Crash replica=0",
        "Learn replica=1",
    ):
        [state] = [
            step.after
            for step in tally.model.successors(state)
            if (step.action.name, step.action.named(step.arguments))
            == (wanted.action, wanted.arguments)
        ]

    def fetches(lifted: frozenset[str]) -> bool:
        offered = Steerable(tally.model, release, LAG_MS, lifted).offered(state, 1, 0)
        return "StrayFetch(follower=0)" in map(str, offered)

    assert not fetches(frozenset())
    assert fetches(frozenset({FENCED}))


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

    short = shortened(
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

    short = shortened(
        long, Steerable(model, OLD, NO_LAG_MS), again, tries_max=3, report=lambda line: None
    )

    assert short is long
    assert len(tries) == 3


def test_a_walk_as_a_trace_is_the_same_after_it_was_written() -> None:
    model = states.model_of("hw")
    trace = trace_of_walk(steps_of(*WROTE), model)

    assert from_json(to_json(trace)) == trace


def is_known(call: str, epochs: tuple[int, int], release: KafkaRelease) -> bool:
    """r0 leads in the one epoch, r1 follows in the other, and no answer is seen."""
    facts = {"r0 leads": "yes", "r1 leads": "no"}
    facts |= {f"r{replica} epoch": str(epoch) for replica, epoch in enumerate(epochs)}
    seen = StepSeen(1, call, "told", {**facts, "r1 on its way": "answer"}, facts)
    return known_difference(seen, release) is not None


def test_a_known_difference_is_of_some_releases_and_of_one_kind() -> None:
    fetched = "LeaderFetch(follower=1)"

    assert is_known(fetched, (0, 1), NEW)
    assert not is_known(fetched, (1, 1), NEW)
    assert not is_known("Learn(replica=1)", (0, 1), NEW)
    assert not is_known(fetched, (0, 1), kafka_release("2.8.2"))
    assert not is_known(fetched, (0, 1), kafka_release("0.11.0.3"))
    assert len({known.name for known in KNOWN}) == len(KNOWN)


@pytest.mark.parametrize(
    ("up", "isr", "shown", "is_known"),
    [
        ("up", "r0", "0", True),
        ("down", "r0", "0", False),
        ("up", "r0 r1", "0", False),
        ("up", "r0", "2", False),
    ],
)
def test_a_leader_may_wait_for_a_replica_that_caught_up_lately(
    up: str, isr: str, shown: str, is_known: bool
) -> None:
    facts = {"r0 is": "up", "r1 is": up, ISR: isr, "r0 HW": "1", "acknowledged": "m1"}
    shows = facts | {"r0 HW": shown, "acknowledged": "none"}
    seen = StepSeen(1, "Produce(leader=0)", "told", facts, shows, differences(facts, shows))
    other = StepSeen(1, "Produce(leader=0)", "told", facts | {"r0 LEO": "1"}, {}, [])
    other.differences = differences(other.model, shows | {"r0 LEO": "2"})

    assert (known_difference(seen, NEW) is not None) is is_known
    assert known_difference(other, NEW) is None


class Fields:
    """Grounds whose clusters only pretend; it counts them."""

    def __init__(self, made: Any, release: KafkaRelease, deviates: Deviation) -> None:
        self.made = made
        self.release = release
        self.deviates = deviates
        self.clusters: list[tuple[int, int]] = []
        self.walked = Grounds.walked.__get__(self)
        self._topics = 0
        self._report = lambda line: None

    @contextmanager
    def cluster(self, replicas: int, lag_ms: int) -> Iterator[Any]:
        self.clusters.append((replicas, lag_ms))
        yield self.made(self.release, self.deviates)


def how(seed: int = 1, steps: int = 10**6) -> Round:
    """Walks of at most ten steps, until so many looks at the clock."""
    left = iter([False] * steps)
    return Round(
        steps_max=10,
        seed=seed,
        announce=lambda line: None,
        keep=lambda question, walk: None,
        is_over=lambda: next(left, True),
    )


def conformed(fields: Any, *, walks: int) -> Conformance:
    found = begun(fields.release, [CRASHES])
    walk_by_chance(fields, found, walks, how())
    return found


def test_walks_share_a_cluster_with_a_topic_each(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    found = conformed(fields, walks=4)

    assert fields.clusters == [(2, NO_LAG_MS)]
    assert len(found.tallied[0].walks) == 4
    assert found.steps > 30
    assert found.disagreements == []


def test_a_disagreement_ends_its_cluster_and_the_walks_go_on(pretended: Any) -> None:
    fields = Fields(
        pretended, OLD, lambda name, facts: {"r0 LEO": "9"} if name == "Produce" else None
    )
    found = conformed(fields, walks=4)

    assert len(found.disagreements) > 1
    assert len(fields.clusters) > len(found.disagreements) - 1
    assert len(found.tallied[0].walks) == 4
    assert "r0 LEO: 1 in the model, 9 in Kafka" in found.disagreements[0].reason


def test_a_known_difference_ends_its_walk_and_not_its_cluster(pretended: Any) -> None:
    def deviates(name: str, facts: Facts) -> Mapping[str, str] | None:
        leading = [each for each in ("r0", "r1") if facts.get(f"{each} leads") == "yes"]
        if name != "LeaderFetch" or len(leading) != 1:
            return None
        [leader], [follower] = leading, {"r0", "r1"} - set(leading)
        if facts.get(f"{leader} epoch") == facts.get(f"{follower} epoch"):
            return None
        return {f"{follower} on its way": "an error"}

    fields = Fields(pretended, NEW, deviates)
    found = conformed(fields, walks=20)
    [tally] = found.tallied

    assert fields.clusters == [(2, NO_LAG_MS), (2, LAG_MS)]
    assert found.disagreements == []
    known = [each for each in tally.walks if each.difference]
    assert {each.difference for each in known} == {"first-fetch-is-fenced"}
    assert tally.tried.total() == tally.compared.total() + len(known)


def aimed(fields: Any, how: Round) -> Conformance:
    found = begun(fields.release, [CRASHES])
    [tally] = found.tallied
    tally.plan = planned(
        tally.problem, fields.release, states_max=10**6, announce=lambda line: None
    )
    walk_to_outcomes(fields, found, how)
    return found


@pytest.mark.parametrize("release", [OLD, NEW])
def test_every_outcome_that_can_be_had_is_walked_to(release: KafkaRelease, pretended: Any) -> None:
    fields = Fields(pretended, release, lambda name, facts: None)
    found = aimed(fields, how())
    [tally] = found.tallied

    assert tally.plan is not None
    assert tally.plan.complete
    assert set(tally.plan.ways) == set(tally.compared)
    assert not set(tally.plan.unsteerable) & set(tally.compared)
    assert len(tally.compared) > 60
    # One walk goes from outcome to outcome.
    assert len(tally.walks) < len(tally.compared) / 2
    assert not tally.missed
    assert fields.clusters == [(2, NO_LAG_MS), (2, LAG_MS)]


def test_an_outcome_that_brokers_do_not_show_is_given_up(pretended: Any) -> None:
    problem = NotHeld("it did not wait")
    fields = Fields(
        pretended, OLD, lambda name, facts: problem if name == "Checkpoint" and not facts else None
    )
    [tally] = aimed(fields, how()).tallied
    assert tally.plan is not None
    missing = set(tally.plan.ways) - set(tally.compared)

    assert ("Checkpoint", ("checkpoint+",)) in missing
    assert set(tally.missed.values()) == {TRIES_MAX}
    assert set(tally.why_missed.values()) == {"it did not wait"}


def test_no_step_begins_when_time_is_up(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    [tally] = aimed(fields, how(steps=20)).tallied

    assert 0 < tally.compared.total() < 20
    assert not tally.missed


def test_walks_that_were_walked_before_are_not_walked_again(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    whole = conformed(fields, walks=4)
    half = conformed(fields, walks=2)
    walk_by_chance(fields, half, 4, how())  # type: ignore[arg-type]
    walk_by_chance(fields, half, 4, how())  # type: ignore[arg-type]

    assert [(each.kind, each.number) for each in half.walks] == [
        (CHANCE, number) for number in range(1, 5)
    ]
    assert half.tallied[0].compared == whole.tallied[0].compared


def test_steps_of_a_file_are_taken_as_they_are(pretended: Any) -> None:
    fields = Fields(pretended, OLD, lambda name, facts: None)
    found = begun(OLD, [CRASHES])
    walk_along(fields, found, steps_of(*WROTE), how())  # type: ignore[arg-type]

    assert found.steps == min(len(WROTE), 10)


def test_walks_that_need_the_same_cluster_follow_each_other() -> None:
    planned = plan(CIRCUMSTANCES, 40)
    clusters = [each.cluster for each in planned]
    changes = sum(one != other for one, other in pairwise(clusters))

    assert sorted(each.number for each in planned) == list(range(1, 41))
    assert changes == len(set(clusters)) - 1
    assert LAG_MS in {each.lag_ms for each in planned}
    assert grounds.LAG_EVERY > 1


def test_topics_carry_what_the_operator_has_set(pretended: Any) -> None:
    disks = next(each for each in CIRCUMSTANCES if each.name == "disks")

    assert disks.topic_settings == {
        "min.insync.replicas": "2",
        "unclean.leader.election.enable": "true",
    }
    assert CRASHES.topic_settings["unclean.leader.election.enable"] == "false"
