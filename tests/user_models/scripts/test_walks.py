"""A walk knows what may happen, what breaks, and what trace it has made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.own import example
from tests.support.walks import LOSS, walk_of
from waterline.checker.cli.shared.recorded import load_counterexample
from waterline.checker.report.pages.formats import FORMATS, Converted
from waterline.checker.user_models.scripts.walk import Walk
from waterline.counterexamples import NO_CLAIM, write_trace


def test_what_is_offered_is_what_the_model_offers() -> None:
    walk = walk_of("hw", "Produce r0")
    offered = [str(offer.step) for offer in walk.offers()]

    assert offered == [str(step) for step in walk.model.successors(walk.state)]
    assert [str(offer.step) for offer in walk.offers() if offer.is_fault] == [
        "Crash(replica=0)",
        "Crash(replica=1)",
    ]


def test_what_a_bound_cuts_is_counted_by_it() -> None:
    assert walk_of("hw", "Produce r0", records=1, moves=0, restarts=0).cut() == {
        "records": 1,
        "moves": 1,
        "restarts": 2,
    }


def test_a_claim_breaks_once() -> None:
    walk = walk_of("hw", *LOSS[:-1])
    before = walk.breaks()
    walk = walk_of("hw", *LOSS)
    at_the_end, broken = walk.breaks(), walk.broken_claims()

    assert "acknowledged_somewhere" in before
    assert {"no_committed_loss", "acknowledged_durable"} <= set(at_the_end)
    assert "acknowledged_somewhere" not in at_the_end
    assert "acknowledged_somewhere" in broken
    assert "m1 is lost" in broken["no_committed_loss"]


@pytest.mark.parametrize("claim", ["no_committed_loss", NO_CLAIM])
def test_a_saved_walk_is_read_back(claim: str, tmp_path: Path) -> None:
    walk = walk_of("hw", *LOSS)
    path = tmp_path / "trace.json"
    write_trace(path, walk.record(claim))
    finding = load_counterexample(path, None).finding

    assert claim in walk.savable()
    assert finding.invariant == claim
    assert finding.replayed.states == walk.states


@pytest.mark.parametrize("name", FORMATS)
def test_a_trace_that_breaks_nothing_is_converted_too(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    write_trace(path, walk_of("hw", "Produce r0", "Crash r1").record(NO_CLAIM))
    found = load_counterexample(path, None)
    text = FORMATS[name](Converted(problem=found.problem, finding=found.finding))

    assert text
    assert "breaks" not in text


def test_a_trace_that_breaks_nothing_is_viewed_and_compared(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    write_trace(path, walk_of("hw", *LOSS).record(NO_CLAIM))
    view = cli("view", path, name="waterline")
    compare = cli("compare", path, "--protocol", "epoch", name="waterline")
    explain = cli("explain", path, name="waterline")

    assert view[0] == 0
    assert view[1].startswith("hw (kafka-message): 12 steps\n")
    assert ">> r1 truncates to its high watermark 0: m1" in view[1]
    assert compare[0] == 0
    assert compare[1].endswith("hw: no claim is asked.\nepoch: no claim is asked.\n")
    assert explain[0] == 2
    assert explain[2] == f"error: {path} breaks no claim: there is nothing to explain\n"


def test_a_condition_that_is_first_true_here_is_a_claim_to_save(tmp_path: Path) -> None:
    walk = walk_of("hw", "Produce r0")
    walk.watch("s.leo[r1] == 1")
    assert walk.savable() == (NO_CLAIM,)

    for step in ("SendFetch r1", "LeaderFetch r1", "RecvFetch r1"):
        walk = walk_of("hw", *[str(m) for m in walk.moments], step)
        walk.watch("s.leo[r1] == 1")
    path = tmp_path / "trace.json"
    write_trace(path, walk.record("nowhere"))
    finding = load_counterexample(path, None).finding

    assert walk.savable() == ("nowhere", NO_CLAIM)
    assert finding.explanation == "Here it is true that s.leo[r1] == 1: s.leo[r1] is 1."
    assert finding.replayed.trace.environment["where"] == "s.leo[r1] == 1"


def test_a_model_of_ones_own_is_walked_in_its_own_words() -> None:
    walk = Walk(example("two_phase_commit", rms=2))
    sentences = [offer.sentence for offer in walk.offers()]

    assert any("rm0" in sentence for sentence in sentences)
    assert walk.broken_claims() == {}
