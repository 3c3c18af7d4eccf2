"""Verdicts without bounds: the order abstraction is exact, and its counts are those of the gate."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from lab.fuzz.order_abstraction import CASES, Pair, compare, compare_scrambled
from lab.fuzz.second_normal_form import normal_form
from tests.support.gate_texts import depths_of, entries_of
from tests.support.reached import depths_of_states
from tests.support.sampling import drawn
from waterline import invariants
from waterline.checker.checking.run import Run, run
from waterline.checker.cli.check import check_command
from waterline.checker.cli.run_report import render_run
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem, asked_alone
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.counterexamples import replay
from waterline.invariants.side_conditions import base_kept
from waterline.model.core.claim import ActionProperty, Recoverable
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import COUNTED, FAULTS, Environment
from waterline.model.message.model import message_model

LOCAL = EngineChoice(name="local", threads=2)


def checked(
    version: str, symmetry: str = "none", names: tuple[str, ...] = (), **bounds: Any
) -> Run:
    """A run of the local engine; what is not said is as documented."""
    options = {**MESSAGE.usual.options(), **{n.replace("_", "-"): v for n, v in bounds.items()}}
    return run(MESSAGE.problem(version, options, names, symmetry=symmetry), LOCAL)


def violated(done: Run) -> dict[str, int | None]:
    """The depth of every claim that breaks."""
    return {
        found.name: found.depth
        for found in done.result.invariants
        if found.verdict is Verdict.VIOLATED
    }


def always_broken(s: Any, c: Any) -> bool:
    """A side condition that a first record breaks."""
    return bool(s.leo[0] == 0)


def reached(model: Model, most: int) -> dict[State, int]:
    """Every state with its depth, interpreted; logs of at most `most` records."""
    found = dict.fromkeys(model.initial, 0)
    level, depth = [*model.initial], 0
    while level:
        depth += 1
        following = {
            step.after
            for state in level
            for step in model.successors(state)
            if max(step.after.leo[r] for r in range(step.after.replicas)) <= most
        }
        level = [state for state in following if state not in found]
        found.update(dict.fromkeys(level, depth))
    return found


def assert_steps_lead_to_normal_forms(version: str, circumstances: dict[str, Any]) -> None:
    pair = Pair.of(version, circumstances)

    assert compare(pair, 20, seed=7)[1] == []
    assert compare_scrambled(pair, 40, seed=7) == []


@pytest.mark.parametrize(("version", "circumstances"), drawn(CASES, 14), ids=str)
def test_the_same_steps_lead_to_the_normal_form_of_where_they_lead(
    version: str, circumstances: dict[str, Any]
) -> None:
    assert_steps_lead_to_normal_forms(version, circumstances)


INSIDE: list[tuple[str, dict[str, int]]] = [
    ("elr", {"records": 1, "epochs": 1, "restarts": 1}),
    ("kip320", {"records": 1, "epochs": 2, "restarts": 2}),
    ("hw", {"records": 1, "epochs": 1, "restarts": 1}),
    ("epoch", {"records": 2, "epochs": 2, "restarts": 0, "moves": 2}),
]


def assert_bounded_states_are_inside(version: str, bounds: dict[str, int]) -> None:
    one_record = bounds["records"] == 1
    endless = {"records": 1, "restarts": bounds["restarts"], "moves": bounds.get("moves", 0)}
    unbounded = message_model(version, Environment(**endless, unbounded=True))
    pair = Pair(unbounded, unbounded)
    everywhere = depths_of_states(Problem(unbounded, (), ()))
    whole = {repr(pair.plain(state)): depth for state, depth in everywhere.items()}
    within = message_model(version, Environment(**bounds))

    # Explored compiled where no state is left out: what is on trial are the normal forms.
    inside = depths_of_states(Problem(within, (), ())) if one_record else reached(within, 1)

    assert len(inside) > 500
    for state, depth in inside.items():
        form = normal_form(as_dict(state), unbounded)
        named = repr({name: form[name] for name in pair.plain(unbounded.initial[0])})
        assert whole.get(named, depth + 1) <= depth, state


def test_every_bounded_state_is_inside_and_no_deeper() -> None:
    assert_bounded_states_are_inside(*INSIDE[0])


ONE_RECORD = [entry for entry in entries_of("unbounded.toml") if entry["records"] == 1]


def assert_as_the_gate_has_it(entry: dict[str, Any]) -> None:
    done = checked(entry["protocol"], records=1, moves=entry["moves"], unbounded=True)

    assert done.result.complete
    assert done.result.distinct == entry["counts"]["distinct"]
    assert done.result.depth == entry["counts"]["depth"]
    assert violated(done) == depths_of(entry)
    assert done.result.cut["epochs"] == 0
    assert done.result.cut["restarts"] == 0


@pytest.mark.parametrize("entry", drawn(ONE_RECORD, 3), ids=lambda entry: entry["name"])
def test_one_record_at_a_time(entry: dict[str, Any]) -> None:
    assert_as_the_gate_has_it(entry)


def test_a_lost_disk_leaves_nothing_settled() -> None:
    model = message_model("kip320", Environment(unbounded=True, lost_disks=1))

    assert model.settings.settled == 0


def test_the_interpreted_model_reaches_as_many_states_as_the_compiled_one() -> None:
    unbounded = message_model("kip320", Environment(records=1, unbounded=True))

    found = reached(unbounded, 1)

    [gate] = [e["counts"] for e in ONE_RECORD if (e["protocol"], e["moves"]) == ("kip320", 0)]
    assert (len(found), max(found.values())) == (gate["distinct"], gate["depth"])


def test_a_counterexample_is_a_trace_of_the_bounded_model() -> None:
    done = checked("hw", records=1, unbounded=True)

    assert len(done.findings) == 11
    for finding in done.findings:
        trace = finding.replayed.trace
        again = replay(trace, MESSAGE.problem(trace.version, trace.environment).model)
        assert trace.environment["unbounded"] is False
        assert len(again.moments) == violated(done)[finding.invariant]


def test_claims_about_steps_see_what_the_effect_has_written() -> None:
    names = ("no_forced_exit", "hw_monotone")
    within = checked("hw", names=names, records=1, epochs=2, restarts=2)
    done = checked("hw", names=names, records=1, unbounded=True)

    assert violated(done) == violated(within) != {}
    assert {r.name: r.depth for r in done.result.reachable} == {
        r.name: r.depth for r in within.result.reachable
    }


def test_a_record_that_is_nowhere_is_readable_never_again() -> None:
    names = ("acknowledged_readable_again",)
    within = checked("kip320", names=names, acks="1", records=1, epochs=2, restarts=2)
    done = checked("kip320", names=names, acks="1", records=1, unbounded=True)

    # Records that are nowhere have no name without bounds, and were once passed over.
    assert violated(within) == violated(done) == {"acknowledged_readable_again": 2}


@pytest.mark.parametrize("version", ["hw", "elr"])
def test_what_recovers_does_so_without_bounds_too(version: str) -> None:
    names = tuple(c.name for c in invariants.BEHAVIOURS if isinstance(c, Recoverable))
    within = checked(version, names=names, records=1, epochs=2, restarts=2)
    done = checked(version, names=names, records=1, unbounded=True)

    assert violated(done) == violated(within)


def test_a_counterexample_to_recovery_is_shown_as_it_is_without_bounds() -> None:
    asked = ["--invariant", "acknowledged_readable_again", "--acks", "1", "--records", "1"]
    given = ["--protocol", "kip320", "--unbounded", "--engine", "local", *asked]

    answer = CliRunner().invoke(check_command, given)

    assert answer.exception is None or isinstance(answer.exception, SystemExit)
    assert "No way back from there" in " ".join(answer.output.split())


def test_every_claim_about_steps_is_compared() -> None:
    assert all(isinstance(claim, ActionProperty) for claim in invariants.PROPERTIES)


def test_all_but_the_losses_of_machines_is_not_counted() -> None:
    unbounded = message_model(
        "elr", Environment(unbounded=True, power_losses=2, taken_directories=1)
    )
    ranges = {name: unbounded.layout.places[f"{name}_used"].width for name in FAULTS}

    assert {name for name, width in ranges.items() if width > 1} == COUNTED - {"lost_checkpoints"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--epochs", "3"), "--unbounded has no highest epoch; leave out --epochs"),
        (("--late-metadata",), "unbounded cannot be with late-metadata"),
        (("--records", "5"), "names for 8 records at one time"),
        (("--where", "epoch == 1"), "--where may name an epoch or a record"),
        (("--symmetry", "records"), "--unbounded has renamed the records already"),
    ],
    ids=str,
)
def test_contradictions_are_refused(given: tuple[str, ...], says: str) -> None:
    answer = CliRunner().invoke(check_command, ["--protocol", "kip320", "--unbounded", *given])

    assert isinstance(answer.exception, BadEnvironment)
    assert says in str(answer.exception)


def test_a_verdict_says_what_has_no_bound_and_what_has() -> None:
    given = ["--protocol", "elr", "--unbounded", "--records", "1", "--engine", "local"]
    more = ["--moves", "2", "--power-losses", "1", "--lost-disks", "1"]

    text = " ".join(CliRunner().invoke(check_command, [*given, *more]).output.split())

    assert "restarts any number, moves any number" in text
    assert (
        "for any number of crashes, moves, epochs and produced records; 2 replicas, at most 1 "
        "record in a log at one time, at most 1 power loss, at most 1 lost disk." in text
    )
    assert "within 2 replicas" not in text


def unbounded_problem(names: tuple[str, ...], **bounds: Any) -> Problem:
    """A problem with two records above the settled ones; `names` are the claims asked."""
    options = {**MESSAGE.usual.options(), "records": 2, "unbounded": True, **bounds}
    return MESSAGE.problem("kip320", options, names)


def test_a_side_condition_is_checked_whatever_is_asked() -> None:
    names = {
        found.name for found in run(unbounded_problem(("hw_monotone",)), LOCAL).result.invariants
    }

    assert names == {"hw_monotone", "base_kept"}
    assert unbounded_problem(("hw_monotone",), settled=False).checked == ("hw_monotone",)


def test_what_holds_is_withdrawn_where_a_side_condition_breaks() -> None:
    problem = unbounded_problem(("no_committed_loss", "hw_monotone"))
    broken = replace(base_kept.SIDE_CONDITION, holds=always_broken)
    claims = [broken if claim.name == "base_kept" else claim for claim in problem.invariants]

    done = run(replace(problem, invariants=tuple(claims)), LOCAL).result

    verdicts = {found.name: (found.verdict, found.why) for found in done.invariants}
    why = "it rests on base_kept, which is violated"
    assert verdicts == {
        "no_committed_loss": (Verdict.INCOMPLETE, why),
        "hw_monotone": (Verdict.INCOMPLETE, why),
        "base_kept": (Verdict.VIOLATED, ""),
    }
    assert not done.is_judged


def test_a_violated_side_condition_is_reported_like_any_claim() -> None:
    broken = replace(base_kept.SIDE_CONDITION, holds=always_broken)
    problem = unbounded_problem(("base_kept",))
    done = run(replace(problem, invariants=(broken,)), LOCAL)
    console = Console(width=80, record=True, file=StringIO())

    console.print(render_run(done))

    assert [finding.invariant for finding in done.findings] == ["base_kept"]
    assert "is appended at offset 0" in console.export_text()


def test_the_one_claim_of_a_trace_stands_beside_side_conditions() -> None:
    problem = unbounded_problem(("hw_monotone",))
    again = problem.spec.build(lambda model: MESSAGE)

    assert asked_alone(again).name == asked_alone(problem).name == "hw_monotone"
    assert asked_alone(unbounded_problem(("base_kept",))).name == "base_kept"


def test_what_holds_is_withdrawn_where_a_limit_cuts_that_is_to_cut_nothing() -> None:
    problem = unbounded_problem(("hw_monotone",))
    cutting = replace(problem, model=replace(problem.model, exact_without=("records",)))

    done = run(cutting, LOCAL).result

    assert {found.verdict for found in done.invariants} == {Verdict.INCOMPLETE}
    assert "steps beyond the highest of records were cut" in done.inexact
    assert run(problem, LOCAL).result.inexact == ""
