"""Models of one's own are not reduced: the analysis says HOLDS of some that are violated.

The attacks judge an analysis that would accept own models: it keeps every verdict, or refuses.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from checker.kafka.where.family import asking
from checker.problem.problem import Problem
from checker.reduction.plan import CannotReduce
from checker.reduction.planning import decided
from checker.reduction.reduction import reduced
from checker.reduction.smaller import smaller_model
from checker.user_models.family import own_family
from fuzz.random_models import verdicts
from tests.support.commands import Commands
from tests.support.reduction_attacks import UNREACHED, WRITING, Attack

WRONG = {
    f"{kind}, {how}"
    for kind in (
        "a name that is never None",
        "a number",
        "a choice",
        "rows",
        "phases",
    )
    for how in (
        "undone",
        "undone in a loop",
        "undone by a function",
        "undone at the end",
        "overdone",
    )
}
MISLED = pytest.mark.xfail(
    reason="the argument is of the wrong kind; --reduce refuses own models",
    strict=True,
    raises=AssertionError,
)
ATTACKS = {**UNREACHED, **WRITING}


def problem_of(attack: Attack) -> Problem:
    return own_family(attack.text, "attack.py").problem_of("attack", {})


def broken(problem: Problem) -> dict[str, bool]:
    found = verdicts(problem)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_the_full_search_has_the_verdict_that_is_written_down(attack: Attack) -> None:
    assert broken(problem_of(attack)) == {"claim": not attack.holds}


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(attack, id=name, marks=[MISLED] if name in WRONG else [])
        for name, attack in ATTACKS.items()
    ],
)
def test_the_analysis_keeps_the_verdict_or_refuses(attack: Attack) -> None:
    problem = problem_of(attack)
    try:
        less = replace(problem, model=smaller_model(problem.model, decided(problem)))
    except CannotReduce:
        return

    assert broken(less) == {"claim": not attack.holds}


@pytest.mark.parametrize("attack", WRITING.values(), ids=WRITING)
def test_a_call_that_writes_inside_an_expression_is_refused(attack: Attack) -> None:
    with pytest.raises(CannotReduce, match="bump writes, and is called inside a larger"):
        decided(problem_of(attack))


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_an_own_model_is_refused_by_its_family(attack: Attack) -> None:
    with pytest.raises(CannotReduce, match=r"--reduce is for Kafka's own versions, and attack\.py"):
        reduced(problem_of(attack))


def test_a_condition_of_an_own_model_is_refused_as_well() -> None:
    family = asking(own_family(UNREACHED["a number, undone"].text, "attack.py"))

    with pytest.raises(CannotReduce, match="is for Kafka's own versions"):
        reduced(family.problem_of("attack", {"where": "s.k == 2"}))


def test_a_model_of_no_family_is_refused() -> None:
    with pytest.raises(CannotReduce, match="is for Kafka's own versions"):
        reduced(replace(problem_of(UNREACHED["a number, undone"]), family=None))


@pytest.mark.parametrize("name", ["rows, undone", "the middle of a comparison"])
def test_an_own_model_is_refused_on_the_command_line_in_one_line(name: str, cli: Commands) -> None:
    Path("attack.py").write_text(ATTACKS[name].text)
    code, out, err = cli("--model", "attack.py", "--engine", "local", "--reduce")

    assert code == 2
    assert out == ""
    assert err.splitlines() == [
        "error: --reduce is for Kafka's own versions, and attack.py is none: of own models it may "
        "say HOLDS of what is violated; leave out --reduce"
    ]


@pytest.mark.parametrize("command", ["run", "states", "simulate"])
def test_no_other_command_reduces(command: str, cli: Commands) -> None:
    Path("attack.py").write_text(UNREACHED["rows, undone"].text)
    code, out, err = cli(command, "--model", "attack.py", "--reduce", name="waterline")

    assert code == 2
    assert out == ""
    assert "--reduce" in err


def test_a_gate_has_no_key_for_it(cli: Commands) -> None:
    Path("attack.py").write_text(UNREACHED["rows, undone"].text)
    Path("gate.toml").write_text('[[expect]]\nname = "own"\nmodel = "attack.py"\nreduce = true\n')
    code, out, err = cli("gate", "gate.toml", "--allow-models", name="waterline")

    assert code == 2
    assert "reduce" in out + err
