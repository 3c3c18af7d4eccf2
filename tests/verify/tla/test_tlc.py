"""TLC says the same of a module as Waterline of its model. Needs Java and Maven."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from lab.bench.peers.tlc import run_tlc
from tests.support.own import example, own_problem
from tests.support.tla_modules import differences_from_tlc, tlc
from tests.user_models.test_a_kind_with_places import FILE as COUNTING
from tests.user_models.test_containers import HEAD, LOGS
from tests.user_models.test_messages import NET_FILE
from waterline.checker.tla.kafka.module import export

pytestmark = pytest.mark.tlc

MODELS = Path(__file__).parents[2] / "tla" / "models"


def test_two_phase_commit_is_the_same_to_tlc() -> None:
    problem = example("two_phase_commit", rms=2)

    assert differences_from_tlc(problem, export(problem)) == []


def test_all_that_rules_can_say_is_the_same_to_tlc() -> None:
    problem = own_problem(MODELS / "constructs.py", depth=2)

    assert differences_from_tlc(problem, export(problem)) == []


@pytest.mark.parametrize("group", ["go, back, edge, pay, heir, unpack", "loop, vote, sums, member"])
def test_constant_tables_are_the_same_to_tlc(group: str, tmp_path: Path) -> None:
    path, text = tmp_path / "tables.py", (MODELS / "tables.py").read_text()
    path.write_text(re.sub(r"actions=\[[^]]*\]", f"actions=[{group}, most]", text))
    problem = own_problem(path)

    assert differences_from_tlc(problem, export(problem)) == []


def test_logs_and_sets_are_the_same_to_tlc(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(HEAD + LOGS)
    problem = own_problem(path, entries=2)

    assert differences_from_tlc(problem, export(problem)) == []


def test_bags_and_structs_are_the_same_to_tlc(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET_FILE)
    problem = own_problem(path)

    assert differences_from_tlc(problem, export(problem)) == []


def test_a_kind_without_a_form_of_its_own_is_the_same_to_tlc(tmp_path: Path) -> None:
    path = tmp_path / "counting.py"
    path.write_text(COUNTING)
    problem = own_problem(path)

    assert differences_from_tlc(problem, export(problem)) == []


def test_a_fair_step_that_a_bound_cuts_counts_as_enabled_to_tlc_too() -> None:
    problem = own_problem(MODELS / "cut.py")

    assert differences_from_tlc(problem, export(problem)) == []


@pytest.mark.parametrize("strong", [False, True])
@pytest.mark.parametrize("rounds", [0, 2])
def test_strong_fairness_is_the_same_to_tlc(strong: bool, rounds: int) -> None:
    problem = own_problem(MODELS / "semaphore.py", strong=strong, rounds=rounds)

    assert differences_from_tlc(problem, export(problem)) == []


MANY = """\
from waterline import Fields, Number, Protocol, Queue, when


class State(Fields):
    wire = Queue(of=("a", "b", "c", "d", "e", "f"), room=8, by=2)
    k = Number(0, 2)


def many(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[go], always=[ok])


def full(s: State) -> bool:
    return any(len(s.wire[a]) <= b for a in range(2) for b in range(9))


def go(s: State) -> None:
    when(s.k < 2 and any(a + b >= s.k for a in range(90) for b in range(90)))
    when(full(s))
    s.k += 1


def ok(s: State) -> bool:
    return s.k <= 2
"""


def test_wide_queues_are_not_enumerated_and_a_guard_makes_one_step(tmp_path: Path) -> None:
    path = tmp_path / "many.py"
    path.write_text(MANY)
    problem = own_problem(path)
    module = export(problem)
    spec = tmp_path / f"{module.name}.tla"
    spec.write_text(module.text)

    said = run_tlc(tlc(), spec, module.config_text(list(module.claims), types=True))

    assert (said.distinct, said.generated, said.violated) == (3, 3, None)


def test_a_guard_that_is_changed_is_found_out() -> None:
    problem = example("two_phase_commit", rms=2)
    module = export(problem)
    guard = '  /\\ rm_state[rm] = "working"\n  /\\ rm_state\' = [rm_state EXCEPT ![rm] = "aborted"]'
    weaker = '  /\\ rm_state\' = [rm_state EXCEPT ![rm] = "aborted"]'
    changed = replace(module, text=module.text.replace(guard, weaker))

    found = differences_from_tlc(problem, changed)

    assert changed != module
    assert any("distinct states" in difference for difference in found)
