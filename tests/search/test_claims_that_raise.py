"""An error of a claim is one of the run wherever it is, and on every engine the same one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lab.fuzz.raising import LOCAL, compare, drawn, seen_of
from tests.support.own import own_problem
from waterline.checker.analysis.simulate.simulation import Wanted, simulate
from waterline.checker.analysis.simulate.walker import Choosing, Plan
from waterline.checker.compiler import kernel
from waterline.checker.compiler.kernel import plan_of, program_of
from waterline.checker.compiler.loops import Loops, Parts
from waterline.checker.kafka.families import GRAINS
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.rule_errors import Raised

TEXT = '''\
from waterline import Action, Fields, Log, Number, Protocol, when


class State(Fields):
    top: int = 5

    at = Number(0, top)
    log = Log(of=range(1, 3), room=2)


def counted(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[Action(go, far=4)], {claims})


def go(s, far):
    """On, the first time as far as it likes."""
    when(s.at < s.top if s.at else far < {far})
    s.at += 1 + (0 if s.at else far)
    if s.at == {logs}:
        s.log.append(1)
    else:
        s.log.clear()


def first(s):
    """The first value is 1."""
    return s.at >= {asked} and s.log[0] == 1


def stays_low(before, after):
    return after.at <= 3


def ends(s):
    return s.at == s.top


def odd(before, after):
    return before.at % 2 == 0 or 1 // (before.at - before.at) == 0


def even(before, after):
    return before.at > 0 and before.at % 2 == 0 and 1 // (before.at - before.at) == 0
'''
BESIDE = ("every_step=[stays_low]", "recoverable=[ends], fair=[go]", "eventually=[ends]", "")


def counted(folder: Path, claims: str, *, far: int = 1, logs: int = 1, asked: int = 1) -> Path:
    file = folder / "counted.py"
    file.write_text(TEXT.format(claims=claims, far=far, logs=logs, asked=asked))
    return file


@pytest.mark.parametrize("beside", BESIDE)
def test_what_has_happened_raises_later_all_the_same(beside: str, tmp_path: Path) -> None:
    problem = own_problem(counted(tmp_path, f"sometimes=[first], {beside}"))
    seen = {way: seen_of(problem, way, tmp_path) for way in LOCAL}

    assert {found.depth for found in seen.values()} == {1}
    assert len(set(map(repr, seen.values()))) == 1
    assert "claim first of go(far=0): s.log is empty" in seen["one thread"].error
    assert seen["one thread"].said["first"] == 1


def test_of_two_claims_that_raise_in_a_level_the_one_in_the_least_state_is_named(
    tmp_path: Path,
) -> None:
    problem = own_problem(counted(tmp_path, "every_step=[odd], sometimes=[even]", far=4))
    seen = {way: seen_of(problem, way, tmp_path) for way in LOCAL}

    assert len(set(map(repr, seen.values()))) == 1
    assert "claim odd of go(far=0)" in seen["one thread"].error


def test_walks_end_where_what_must_happen_raises_at_the_start(tmp_path: Path) -> None:
    problem = own_problem(counted(tmp_path, "sometimes=[first]", asked=0))
    plan, choice = Plan(depth=5, seed=1, choosing=Choosing.STEPS), EngineChoice(name="local")

    with pytest.raises(Raised, match="claim first: s"):
        simulate(problem, choice, plan, Wanted(walks=3))
    assert seen_of(problem, "one thread", tmp_path).depth == 0


def test_a_random_model_whose_claims_raise_is_the_same_on_every_engine_and_in_python() -> None:
    noted: Counter[str] = Counter()
    [each] = drawn(126, 1)
    compare(each, LOCAL, noted)

    assert noted["compared"] == 1


@pytest.mark.parametrize("grain", GRAINS)
def test_none_of_kafkas_need_be_asked_once_it_has_happened(
    grain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising = []

    def noted(parts: Parts) -> Loops:
        raising.append(parts.raising)
        return loops_of(parts)

    loops_of = kernel.loops_of
    monkeypatch.setattr(kernel, "loops_of", noted)
    for version in ("hw", "kip320"):
        program_of(plan_of(GRAINS[grain].problem(version, {"replicas": 3})))

    assert raising == [frozenset(), frozenset()]
