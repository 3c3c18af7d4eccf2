"""The proof in the message grain: PROVED, and what must not be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

import z3

from tests.support.commands import Commands
from tests.support.wrong_message_rules import (
    ask_and_cut_nothing,
    ask_and_cut_one_more,
    crash_and_forget_nothing,
    cut_one_more,
    ends_too_early,
    lead_on_with_old_leos,
    lose_power_and_be_clean,
    read_a_dead_row,
    receive_and_lead_on,
    shrink_and_wait_on,
)
from waterline.checker.kafka.theorems import message_theorem_of
from waterline.checker.proof.loops import Form
from waterline.checker.proof.obligations import NO_ERROR, Obligation, Theorem
from waterline.checker.proof.proving import refute
from waterline.checker.proof.solver import Outcome, ask
from waterline.checker.proof.terms import as_expression, conjunction, disjunction, negation
from waterline.model.message.epochs import entry_and_end

VERSION = "kraft-with-fresh-remote-leo"
ELR = "elr-with-fresh-remote-leo"
SMALL = {"replicas": 2, "records": 2, "epochs": 2}


def test_kip320_is_proved(cli: Commands) -> None:
    code, out, _ = cli("prove", "--grain", "message", "--protocol", "kip320", name="waterline")

    assert code == 0
    assert "kip320: PROVED no_committed_loss" in out
    assert "happens     12 of 14 actions" in out
    assert "for 2 replicas" in out


def test_elr_is_proved_for_any_number_of_replicas(cli: Commands) -> None:
    """The proof takes long: its certificate is kept. After a change of rules make it anew."""
    code, shown, _ = cli("certify", Path(__file__).parent / "elr", name="waterline")
    out = " ".join(shown.split())

    assert code == 0
    assert "CERTIFIED elr-with-fresh-remote-leo: PROVED no_committed_loss" in out
    assert "for any number of replicas" in out
    assert "process crashes, power losses, elections" in out
    assert "with min.insync.replicas=2; no disk is replaced" in out


def assert_is_shown(verdict: str, out: str, cli: Commands) -> None:
    """The verdict is printed with a command, and that finds a violation as well."""
    said = re.search(rf"{verdict} waterline check (.+) shows how", " ".join(out.split()))
    assert said, out
    code, found, _ = cli(*said[1].split())

    assert code == 12
    assert "no_committed_loss VIOLATED" in " ".join(found.split())


@pytest.mark.parametrize("left_out", [["hw-needs-min-isr"], ["stale-fetch-check", "broker-epoch"]])
def test_elr_is_violated_without(left_out: list[str], cli: Commands) -> None:
    """A broker in the ELR lacks what a smaller ISR has exposed without it; a leader adds one that
    has lost power since its fetch.
    """
    version = "-without-".join([ELR, *left_out])
    code, out, _ = cli("prove", "--grain", "message", "--protocol", version, name="waterline")

    assert code == 12
    assert_is_shown(f"{version}: VIOLATED no_committed_loss, found by the search", out, cli)


@pytest.mark.parametrize("version", ["kraft", "elr"])
def test_the_released_rules_are_not_proved(version: str, cli: Commands) -> None:
    """C21: a leader that missed an epoch keeps the remote LEOs of before."""
    code, out, _ = cli("prove", "--grain", "message", "--protocol", version, name="waterline")

    assert code == 14
    assert f"{version}: NOT PROVED" in out
    assert "remote_leos_are_of_its_epoch" in out


@pytest.mark.parametrize(
    "version",
    ["hw", "epoch", "kip279", "kip279-code", "kip320-without-fencing"],
)
def test_a_version_that_loses_records_is_violated(version: str, cli: Commands) -> None:
    """The search says so first: not every rule of theirs has a translation."""
    code, out, _ = cli("prove", "--grain", "message", "--protocol", version, name="waterline")

    assert code == 12
    assert_is_shown(f"{version}: VIOLATED no_committed_loss, found by the search", out, cli)


@pytest.mark.parametrize(
    ("version", "lemma"),
    [
        ("kip320-code", "late_member_stops_exposure"),
        ("kip320-without-truncate-every-epoch", "newest_is_heard_of_its_leader"),
        ("truncate-on-fetch", "fetches_are_in_range"),
    ],
)
def test_other_versions_are_not_proved(version: str, lemma: str, cli: Commands) -> None:
    code, out, _ = cli("prove", "--grain", "message", "--protocol", version, name="waterline")

    assert code == 14
    assert f"{version}: NOT PROVED" in out
    assert lemma in out


def test_the_bounds_of_its_lemmas_are_named(cli: Commands) -> None:
    code, _, err = cli(
        "prove", "--grain", "message", "--protocol", "kip320", "--replicas", "any", name="waterline"
    )

    assert code == 2
    assert "the lemmas of kip320 are about --replicas 2, not any" in err


def with_effect(theorem: Theorem, name: str, effect: Callable[..., None]) -> Theorem:
    """The theorem about a model where one action has another effect."""

    def model(sizes: dict[str, int]) -> Any:
        made = theorem.model(sizes)
        actions = [replace(a, effect=effect) if a.name == name else a for a in made.actions]
        return replace(made, actions=tuple(actions))

    return replace(theorem, model=model)


@pytest.mark.parametrize(
    ("version", "action", "effect"),
    [
        (VERSION, "RecvFetch", receive_and_lead_on),
        (VERSION, "RecvDiverging", cut_one_more),
        (VERSION, "Learn", lead_on_with_old_leos),
        (ELR, "PowerLoss", lose_power_and_be_clean),
        ("kip320", "OffsetForLeaderEpoch", ask_and_cut_one_more),
        ("kip320", "OffsetForLeaderEpoch", ask_and_cut_nothing),
        ("kip320", "ShrinkIsr", shrink_and_wait_on),
    ],
)
def test_a_wrong_rule_is_refuted(version: str, action: str, effect: Callable[..., None]) -> None:
    small = with_effect(message_theorem_of(version), action, effect).within(SMALL)
    found = (refute(small, each) for each in small.steps(small.model.action(action)))

    assert any(one is not None for one in found)


def is_proved_at_once(obligation: Obligation) -> bool:
    every = list(obligation.assumed)
    return ask(obligation.query(every, 1, False), set()).outcome is Outcome.PROVED


@pytest.mark.parametrize(
    ("action", "effect"), [("Crash", crash_and_forget_nothing), ("Checkpoint", read_a_dead_row)]
)
def test_a_row_that_is_not_alive_has_no_value(action: str, effect: Callable[..., None]) -> None:
    induction = with_effect(message_theorem_of(VERSION), action, effect).induction()
    steps = induction.steps(induction.model.action(action))
    of_errors = [each for each in steps if each.lemma == NO_ERROR]

    assert not all(is_proved_at_once(each) for each in of_errors)


def test_a_wrong_closed_form_is_an_error() -> None:
    theorem = message_theorem_of(VERSION)
    wrong = replace(theorem, forms={entry_and_end: Form(("least", "end"), ends_too_early)})
    induction = wrong.induction()
    steps = induction.steps(induction.model.action("LeaderFetch"))
    of_errors = [each for each in steps if each.lemma == NO_ERROR]

    assert not all(is_proved_at_once(each) for each in of_errors)


def test_every_step_is_in_a_case() -> None:
    theorem = message_theorem_of(VERSION)
    small = theorem.within(SMALL)
    run, action = small._run, small.model.action("LeaderFetch")
    solver, paths, waiting = z3.SolverFor("QF_UFLIA"), list[Any](), list[list[Any]]([[]])
    solver.add(*map(as_expression, (*small.space.assumed, *small._assumed["ranges"])))
    while waiting:
        run.begin_case(theorem.split, waiting.pop())
        _, guard, _ = small._step(action, (0,))
        solver.add(*map(as_expression, (guard, *run.definitions)))
        paths.append(conjunction(*run.path))
        waiting += run.others

    assert len(paths) > 3
    assert solver.check() == z3.sat
    solver.add(as_expression(negation(disjunction(*paths))))
    assert solver.check() == z3.unsat


def test_no_field_that_a_step_changes_is_taken_for_a_constant() -> None:
    constant = message_theorem_of(VERSION).induction().space.constant

    assert "elr" in constant
    assert not constant & {"leader", "epoch", "isr", "role", "log", "leo", "remote_leo", "fetch"}
