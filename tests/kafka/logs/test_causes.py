"""Entries of the catalogue are recognised in the lines that their own traces write, and no others.

Each trace of the catalogue whose faults a search of logs has is written as lines of the brokers.
What is searched for knows the lines alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.logged_walks import LOADED, SHUT_DOWN, Writer
from tests.support.recorded_traces import entry_trace
from waterline.checker.kafka.logs.answer import Answer, answer_of
from waterline.checker.kafka.logs.causes import causes_of
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.reading import read_logs
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.counterexamples import Trace
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.releases import release_named

FOUND = {
    "stale-remote-leo": "C21",
    "unclean-election": "C11",
    "last-replica-standing": "C10",
    "lost-disk-rejoins": "C9",
    "maximal-isr": "C8",
}


def environment_of(trace: Trace) -> Environment:
    """The environment of a trace."""
    return Environment.from_options(trace.environment)


def explained(trace: Trace, folder: Path) -> Answer:
    """The answer for the lines that the brokers of a trace would write."""
    model = message_model(trace.version, environment_of(trace))
    state = model.initial[0]
    writer = Writer(state, of_all=True)
    for step in trace.steps:
        action = model.action(step.action)
        taken = model.take(state, action, tuple(number for _, number in step.arguments))
        writer.note(state, taken)
        state = taken.after
    for replica, written in writer.lines.items():
        (folder / f"{replica}.log").write_text("\n".join(written) + "\n")
    environment = environment_of(trace)
    given = Circumstances(
        version=trace.version,
        hw_in_response=environment.hw_in_response,
        min_insync_replicas=environment.min_insync_replicas,
        unclean_leader_election=environment.unclean_leader_election,
    )
    return answer_of(read_logs([folder]), "t-0", given, states_max=60_000, seconds_max=120.0)


def assert_recognised_in_the_lines_of_its_trace(name: str, folder: Path) -> None:
    found = explained(entry_trace(name), folder)

    assert True in found.best.fits
    assert [cause.scenario.number for cause in found.causes][:1] == [FOUND[name]]


@pytest.mark.parametrize("name", ["unclean-election", "lost-disk-rejoins", "maximal-isr"])
def test_an_entry_is_recognised_in_the_lines_of_its_trace(name: str, tmp_path: Path) -> None:
    assert_recognised_in_the_lines_of_its_trace(name, tmp_path)


def test_an_entry_that_needs_a_fault_is_not_named_without_it() -> None:
    """The repair of a power loss also changes who is elected after a crash."""
    trace = entry_trace("stale-remote-leo")
    model = message_model(trace.version, environment_of(trace))
    calls = [(s.action, tuple(number for _, number in s.arguments)) for s in trace.steps]

    for missed in (True, False):
        found = causes_of(model, environment_of(trace), calls, missed=missed)
        numbers = {cause.scenario.number for cause in found}

        assert ("C21" in numbers) is missed
        assert not numbers & {"C9", "C10", "C13", "C22"}


def role(broker: int, what: str, epoch: int, end: int, isr: str = "") -> str:
    """The line of a broker that takes up its role with a log of this end, all of it committed."""
    at = f"[Broker id={broker}] {what} t-0 starts at leader epoch {epoch} from offset {end} with"
    if what == "Leader":
        rest = f"high watermark {end}, ISR [{isr}] . Previous leader epoch was -1."
        return f"{at} partition epoch {epoch}, {rest}"
    return f"{at} partition epoch {epoch} and high watermark {end}. Current leader is {1 - broker}."


def test_a_log_directory_that_was_taken_out_is_known_by_a_proper_shutdown(tmp_path: Path) -> None:
    """The log is shorter than it was, though no process crashed: C57."""
    lines = {
        0: [
            role(0, "Leader", 0, 0, "0,1"),
            role(0, "Follower", 1, 5),
            role(0, "Leader", 2, 5, "0"),
            "[BrokerServer id=0] shutting down",
        ],
        1: [
            role(1, "Follower", 0, 0),
            role(1, "Leader", 1, 5, "0,1"),
            "[BrokerServer id=1] shutting down",
            SHUT_DOWN,
            f"[Partition t-0 broker=1] {LOADED} 0",
            role(1, "Follower", 2, 0),
            role(1, "Leader", 3, 0, "1"),
        ],
    }
    for broker, written in lines.items():
        text = "\n".join([f"[BrokerServer id={broker}] started", *written])
        (tmp_path / f"{broker}.log").write_text(text + "\n")
    given = Circumstances(
        version=release_named("4.4")[0].version, hw_in_response="post", min_insync_replicas=2
    )
    found = answer_of(read_logs([tmp_path]), "t-0", given, states_max=6000)

    assert ("DirectoryTaken", (1,)) in found.shown.calls
    assert [cause.scenario.number for cause in found.causes][:1] == ["C57"]


def test_steps_that_lose_nothing_have_no_cause() -> None:
    trace = entry_trace("stale-remote-leo")
    model = message_model(trace.version, environment_of(trace))
    calls = [(s.action, tuple(number for _, number in s.arguments)) for s in trace.steps]

    assert causes_of(model, environment_of(trace), calls[:3], missed=True) == ()
    assert find_scenario("C21").name == "stale-remote-leo"
