"""Apache Fluss: what its four features change, its releases, its words, its recorded traces."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from waterline.checker.kafka.families import MESSAGE
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import read_trace
from waterline.counterexamples.replay import follow
from waterline.model.core.state import State
from waterline.model.core.transition_system import Call, Model
from waterline.model.message.environment import Environment
from waterline.model.message.fluss import RELEASES, fluss_release, in_words_of_fluss
from waterline.model.message.model import message_model
from waterline.model.message.releases import UnknownRelease
from waterline.model.message.versions import (
    FLUSS,
    FLUSS_VERSIONS,
    KAFKA,
    VERSIONS,
    BadVersion,
    version_of,
)

TRACES = Path(__file__).parents[2] / "examples" / "traces" / "fluss"
ENTRIES = TRACES.parent / "scenarios"
BREAKING = sorted(path for path in TRACES.glob("*.json") if "kip-101" not in path.name)


def model_of(version: str, **options: Any) -> Model:
    return message_model(version, Environment(**{"restarts": 1, "epochs": 3, **options}))


def end_of(model: Model, *calls: Call) -> State:
    state = model.initial[0]
    for name, arguments in calls:
        action = model.action(name)
        assert model.is_enabled(state, action, arguments), (name, arguments)
        state = model.apply(state, action, arguments)
    return state


FETCHED = (
    ("Produce", (0,)),
    ("SendFetch", (1,)),
    ("LeaderFetch", (1,)),
    ("RecvFetch", (1,)),
)
BACK = (("Produce", (0,)), ("Crash", (0,)), ("Fence", (0,)), ("Restart", (0,)))
FOLLOWER_GONE = (("Crash", (2,)), ("Fence", (2,)), ("Learn", (0,)))


@pytest.mark.parametrize(
    ("version", "high_watermark"),
    [("fluss-0.9", 1), ("fluss-0.9-without-follower-hw-at-end", 0), ("hw", 0)],
)
def test_a_follower_takes_the_end_of_its_own_log_for_the_high_watermark(
    version: str, high_watermark: int
) -> None:
    after = end_of(model_of(version), *FETCHED)

    assert (after.leo[1], after.hw[1]) == (1, high_watermark)


def test_who_begins_to_lead_shows_consumers_what_only_it_had_for_committed() -> None:
    after = end_of(model_of("fluss-0.9", moves=1), *FETCHED, ("Move", (1,)), ("Learn", (1,)))

    assert (after.hw[0], after.exposed_end, after.exposed[0]) == (0, 1, 1)


@pytest.mark.parametrize(
    ("version", "records"),
    [("fluss-0.9", 0), ("fluss-main", 0), ("fluss-0.9-without-truncate-leaderless", 1)],
)
def test_the_last_in_sync_truncates_to_its_checkpoint_as_it_comes_back(
    version: str, records: int
) -> None:
    after = end_of(model_of(version, replicas=1), *BACK)

    assert (after.leo[0], after.epoch, after.leader, after.known_epoch[0]) == (records, 2, 0, 1)
    assert after.acked == 1


def test_a_lost_follower_raises_no_epoch_and_none_comes_back_unnoticed() -> None:
    model = model_of("fluss-0.9")
    crashed = end_of(model, ("Crash", (1,)))
    fenced = end_of(model, ("Crash", (1,)), ("Fence", (1,)))

    assert not model.is_enabled(crashed, model.action("Restart"), (1,))
    assert model.is_enabled(fenced, model.action("Restart"), (1,))
    assert (fenced.epoch, fenced.isr, fenced.outdated[0]) == (0, 1, 1)


def test_nothing_is_sent_to_who_is_about_to_stop() -> None:
    leaving = (("BeginShutdown", (0,)),)
    fluss, kafka = (model_of(v, shutdowns=1) for v in ("fluss-0.9", "hw"))

    assert not fluss.is_enabled(end_of(fluss, *leaving), fluss.action("Learn"), (0,))
    assert kafka.is_enabled(end_of(kafka, *leaving), kafka.action("Learn"), (0,))


@pytest.mark.parametrize(("version", "known"), [("fluss-0.9", -1), ("fluss-main", 0)])
def test_up_to_0_9_a_notice_of_the_same_epoch_makes_a_leader_forget(
    version: str, known: int
) -> None:
    after = end_of(model_of(version, replicas=3), *FOLLOWER_GONE)

    assert (after.epoch, after.known_isr[0], after.remote_leo[0, 1]) == (0, 3, known)


@pytest.mark.parametrize("path", BREAKING, ids=lambda path: path.stem)
def test_recorded_traces_break_their_claims(path: Path) -> None:
    trace = read_trace(path)
    problem = MESSAGE.problem(trace.version, trace.environment, [trace.invariant])
    [claim] = [each for each in problem.invariants if each.name == trace.invariant]

    assert confirm_trace(trace, problem.model, claim).replayed.moments


def test_the_loss_of_before_kip_101_by_moves_is_none_under_fluss() -> None:
    trace = read_trace(TRACES / "kip-101-loss-by-moves.json")
    problem = MESSAGE.problem("fluss-0.9", trace.environment, [trace.invariant])
    [claim] = [each for each in problem.invariants if each.name == trace.invariant]
    followed = follow(trace, problem.model)

    assert followed.refusal is None
    assert claim.holds(followed.replayed.states[-1], problem.model.settings)


def test_sentences_are_in_fluss_s_words() -> None:
    trace = read_trace(ENTRIES / "leaderless-truncation.json")
    model = MESSAGE.problem(trace.version, trace.environment, [trace.invariant]).model
    told = " ".join(
        model.narration.sentence(m.action, m.values, m.before, m.after)
        for m in follow(trace, model).replayed.moments
    )

    assert "The coordinator notices" in told
    assert "told that nobody leads in epoch 1 and truncates to its HW, removing m1" in told
    assert "ontroller" not in told
    assert in_words_of_fluss("A broker, its partition") == "A tablet server, its bucket"


@pytest.mark.parametrize("text", RELEASES)
def test_a_release_follows_a_named_version(text: str) -> None:
    assert fluss_release(text).name in FLUSS_VERSIONS
    assert fluss_release("0.9.1-incubating").name == "fluss-0.9"


def test_a_release_that_was_not_read_is_refused_with_those_that_were() -> None:
    with pytest.raises(UnknownRelease, match=r"'0\.8\.0' were not looked up; those of 0\.9\.0"):
        fluss_release("0.8.0")


def test_a_bucket_has_a_coordinator_or_kraft() -> None:
    with pytest.raises(BadVersion, match="both coordinator and kraft"):
        version_of("fluss-0.9-with-kraft")


def test_fluss_is_none_of_kafka_s_versions() -> None:
    assert not FLUSS_VERSIONS.keys() & VERSIONS.keys()
    assert {version.system for version in VERSIONS.values()} == {KAFKA}
    assert {version.system for version in FLUSS_VERSIONS.values()} == {FLUSS}
    assert version_of("fluss-0.9-without-follower-hw-at-end").system == FLUSS
