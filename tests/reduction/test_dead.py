"""What is dead in a state is found, and only that; and with it what is forgotten by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.kafka.families import MESSAGE
from checker.problem.problem import Problem
from checker.reduction import dead
from checker.reduction.dead import dead_fields
from checker.reduction.effects import Steps
from checker.reduction.generated import made
from checker.reduction.plan import Dead
from checker.reduction.planning import decided, seen_while
from checker.reduction.smaller import smaller_model
from fuzz.random_models import random_problem, verdicts
from model.core.claim import Invariant
from tests.support.row_models import COUNTED, SWITCHED_OFF, SWITCHED_ON, model_of

LEFT = ("s.on[i] == 1", "s.on[i] = 0")
REMEMBERED = ("s.on[i] == 0", "s.other[i] = s.count[i]; s.on[i] = 1")
ASKED_FOR = ("s.on[i] == 1 and s.other[i] == 2", "s.count[0] = 0")
GROWN = ("s.count[i] < 2", "s.count[i] = s.count[i] + 1")
OVERWRITTEN = (REMEMBERED, ASKED_FOR, LEFT, GROWN)


def found(
    *actions: tuple[str, str], budgeted: tuple[str, str] | None = None
) -> set[tuple[str, str, tuple[int, ...], tuple[str, ...]]]:
    """When `other` is dead; claims read the rest."""
    steps = Steps.of(model_of(*actions, budgeted=budgeted))
    dead = dead_fields(steps, ["other"], lambda name, *at: name != "other")
    return {(each.field, each.deciding, each.values, each.spent) for each in dead}


def test_what_is_overwritten_before_it_is_read_is_dead_until_then() -> None:
    assert found(*OVERWRITTEN) == {("other", "on", (0,), ())}


@pytest.mark.parametrize(
    "step",
    [
        ("s.on[i] == 0 and s.other[i] == 1", "s.count[i] = 0"),
        ("s.on[i] == 0", "s.count[i] = s.other[i]"),
        ("s.on[0] == 0", "s.count[i] = s.other[0]"),
        ("s.on[i] == 0", "s.on[i] = 1"),
    ],
    ids=["asked in a guard", "read", "read for another row", "left as it was"],
)
def test_what_may_be_read_is_not_dead(step: tuple[str, str]) -> None:
    assert found(*OVERWRITTEN, step) == set()


def test_who_only_writes_a_field_may_read_it() -> None:
    assert found(*OVERWRITTEN, ("s.other[i] != 1", "s.other[i] = 1")) == {("other", "on", (0,), ())}


def test_what_only_a_fault_reads_is_dead_once_there_can_be_none() -> None:
    counted = (SWITCHED_ON, COUNTED, SWITCHED_OFF, ("s.other[i] < 2", "s.other[i] = 2"))
    fault = ("s.on[i] == 1", "s.count[i] = s.other[i]")

    assert found(*counted) == {("other", "on", (0, 1), ())}
    assert found(*counted, budgeted=fault) == {("other", "on", (0, 1), ("used",))}


def test_no_fewer_verdicts_where_what_is_dead_is_forgotten() -> None:
    holds = made("def holds(s, c):\n    return s.count[0] != 2 or s.on[1] == 0\n", {})["holds"]
    claim = Invariant(name="claim", sentence="", holds=holds, explain=lambda s, c: "")
    problem = Problem(model_of(*OVERWRITTEN), (claim,))
    decisions = decided(problem)
    assert decisions.dead == (Dead("other", "on", (0,), ()),)

    less = verdicts(replace(problem, model=smaller_model(problem.model, decisions)))
    more = replace(decisions, dead=())
    kept = verdicts(replace(problem, model=smaller_model(problem.model, more)))

    assert less is not None
    assert kept is not None
    assert less[0] == kept[0]
    assert less[1] < kept[1]


def test_what_is_forgotten_though_it_is_read_changes_verdicts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by = dead._Uses._by

    def unread(*given: object) -> dict[str, tuple[bool, frozenset[int]]]:
        return {name: (False, leads_to) for name, (_, leads_to) in by(*given).items()}

    monkeypatch.setattr(dead._Uses, "_by", unread)
    problem = random_problem(162)
    less = verdicts(replace(problem, model=smaller_model(problem.model, decided(problem))))
    full = verdicts(problem)

    assert less is not None
    assert full is not None
    assert less[0] != full[0]


def test_what_kafkas_roles_forget_by_hand_is_dead() -> None:
    # The other fields of a role begin anew with it: that they are cleared is a rule, and is read.
    claims = ("no_divergence_below_hw", "remote_leo_honest")
    problem = MESSAGE.problem_of("kip320", {"records": 1, "epochs": 1, "restarts": 1}, claims)
    steps = Steps.of(problem.model)
    of_a_role = [f for f in problem.model.layout.fields if f.alive and f.alive.field == "role"]
    names = [f.name for f in of_a_role if len(steps.ranges[f.name]) > 1]

    found = dead_fields(steps, names, seen_while(problem, steps))

    by_role = {each.field: set(each.values) for each in found if each.deciding == "role"}
    roles = steps.ranges["role"]
    not_alive = {f.name: roles - set(f.alive.values) for f in of_a_role if f.alive}
    forgotten = {name for name in by_role if not_alive[name] <= by_role[name]}
    assert forgotten == {"known_isr", "outdated", "known_leader", "cached_epoch"}
    assert set(names) - forgotten == {
        "unanswered",
        "remote_leo",
        "fetch",
        "answer_offset",
        "answer_log",
    }
