"""Entries of the catalogue are recognised in the lines that their own traces write, and no others.

Each trace of the catalogue whose faults a search of logs has is written as lines of the brokers.
What is searched for knows the lines alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.kafka.logs.answer import Answer, answered
from checker.kafka.logs.causes import causes_of
from checker.kafka.logs.fitting import Circumstances
from checker.kafka.logs.reading import read_logs
from checker.kafka.scenarios.catalogue import find_scenario
from counterexamples import Trace
from model.message.environment import Environment
from model.message.model import message_model
from tests.support.logged_walks import Writer
from tests.support.recorded_traces import entry_trace

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
    return answered(read_logs([folder]), "t-0", given, states_max=60_000, seconds_max=120.0)


@pytest.mark.parametrize("name", FOUND)
def test_an_entry_is_recognised_in_the_lines_of_its_trace(name: str, tmp_path: Path) -> None:
    found = explained(entry_trace(name), tmp_path)

    assert True in found.best.fits
    assert [cause.scenario.number for cause in found.causes][:1] == [FOUND[name]]


def test_an_entry_that_needs_a_fault_is_not_named_without_it() -> None:
    """The repair of a power loss also changes who is elected after a crash."""
    trace = entry_trace("stale-remote-leo")
    model = message_model(trace.version, environment_of(trace))
    calls = [(s.action, tuple(number for _, number in s.arguments)) for s in trace.steps]

    for missed in (True, False):
        found = causes_of(model, environment_of(trace), model.initial[0], calls, missed=missed)
        numbers = {cause.scenario.number for cause in found}

        assert ("C21" in numbers) is missed
        assert not numbers & {"C9", "C10", "C13", "C22"}


def test_what_was_lost_before_has_no_cause() -> None:
    trace = entry_trace("stale-remote-leo")
    model = message_model(trace.version, environment_of(trace))
    calls = [(s.action, tuple(number for _, number in s.arguments)) for s in trace.steps]
    state = model.initial[0]
    for name, arguments in calls:
        state = model.apply(state, model.action(name), arguments)

    assert causes_of(model, environment_of(trace), state, calls, missed=True) == ()
    assert causes_of(model, environment_of(trace), model.initial[0], calls[:3], missed=True) == ()
    assert find_scenario("C21").name == "stale-remote-leo"
