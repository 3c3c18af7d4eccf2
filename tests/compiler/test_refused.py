"""What has no compiled form is refused before anything runs, with its place and what to write."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.compiling import Both, module_of, small_layout
from tests.support.graph_model import graph_problem
from tests.support.sampling import drawn
from waterline.checker.compiler.kernel import TooLargeToNumber, plan_of, program_of
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.model.core.transition_system import Action, Parameter
from waterline.model.message.environment import Environment

LAYOUT = small_layout()
REFUSED = [
    ("return sum(i for i in range(3))", "`sum` is nothing that can be compiled; use min, max"),
    ("return len([1, 2])", "nothing that can be compiled"),
    ("x = [i for i in range(3)]\nreturn 1", "a list has no compiled form; write a loop"),
    ("x = lambda: 1\nreturn 1", "a lambda has no compiled form; write a loop, or a function"),
    ("x = {1: 2}\nreturn 1", "a dictionary has no compiled form"),
    ("x = 'text'\nreturn 1", "a constant that is no whole number"),
    ("return 1.5", "a constant that is no whole number"),
    ("return a ** 2", "no compiled Pow; use"),
    ("return a / 2", "no compiled Div; use"),
    ("return a is None", "no whole number|no compiled `Is`"),
    ("return 1 << 70 if a else 1 + 9223372036854775808", "needs more than 64 bits"),
    ("for i in (1, 2):\n    pass\nreturn 1", "a loop over something else than a range"),
    ("for i in helper(t, 3):\n    pass\nreturn 1", "a loop over something else than a range"),
    ("for i in range(3):\n    pass\nelse:\n    pass\nreturn 1", "`else` after a loop"),
    ("while a:\n    break\nelse:\n    pass\nreturn 1", "`else` after a loop"),
    ("for i in range(0, 3, a):\n    pass\nreturn 1", "a step that is not known"),
    ("for i in range(0, 3, 0):\n    pass\nreturn 1", "a step that is not known, or zero"),
    ("if a:\n    p = 1\nreturn p", "`p` may have no value here; give it one before"),
    ("if a:\n    p = 1\nelse:\n    p = 2\nreturn q", "`q` is not defined; define it"),
    ("for i in range(t.y):\n    p = 1\nreturn p", "`p` may have no value here"),
    ("if a:\n    return 1, 2\nreturn 1", "sometimes more, sometimes less"),
    ("if a:\n    return\nreturn 1", "sometimes more, sometimes less"),
    ("return t.nothing", "the state has no field 'nothing'; use x, y"),
    ("return c.nothing", "there is no setting 'nothing'; use low, none, high"),
    ("return t.row", "is returned; return numbers"),
    ("return t.row[0, 1]", "`t.row` has 1 dimensions, not 2"),
    ("return t.table[0]", "`t.table` has 2 dimensions, not 1"),
    ("return t.x[0]", "is no element of a field"),
    ("return unknown(t)", "`unknown` is not defined; define it"),
    ("return helper(t)", "no n; give t, n"),
    ("return helper(t, 1, 2)", "an argument too many"),
    ("return helper(t, m=1)", "an argument too many"),
    ("return again(a)", "again cannot be compiled: it calls itself; write a loop"),
    ("return decorated(a)", "has a decorator"),
    ("return min(a)", "give min and max two numbers or more"),
    ("raise ValueError", "no compiled form of `raise ValueError`"),
    ("assert a\nreturn 1", "no compiled form of `assert a`"),
    ("try:\n    pass\nfinally:\n    pass\nreturn 1", "no compiled form of `try:`"),
    ("global g\nreturn 1", "no compiled form of `global g`"),
    ("del a\nreturn 1", "no compiled form of `del a`"),
    ("t.row = 1\nreturn 1", "`t.row` is assigned to"),
    ("t.width = 1\nreturn 1", "`t.width` is assigned to"),
    ("p, q = 1\nreturn 1", "what is assigned has another length"),
    ("p = t.row\np = 1\nreturn p", "`p` would be no number"),
    ("return LIST[0]", "`LIST` is list, no number"),
    ("return TEXT", "`TEXT` is str, no number"),
    ("return a in LIST", "`LIST` is list, no number"),
]
NAMES = """
import functools

LIST = [1, 2]
TEXT = "text"


def helper(t, n):
    return n


def again(n):
    return again(n - 1)


@functools.wraps(helper)
def decorated(n):
    return n


def f(t, c, a):
"""


@pytest.mark.parametrize(("body", "said"), REFUSED, ids=[body for body, _ in REFUSED])
def test_what_has_no_compiled_form_is_refused(body: str, said: str, tmp_path: Path) -> None:
    text = NAMES + "".join(f"    {line}\n" for line in body.splitlines())
    module = module_of(text, tmp_path)

    with pytest.raises(NotCompilable, match=said) as refused:
        Both(module.f, LAYOUT)
    assert re.match(rf"{module.__file__}:\d+: \w+ cannot be compiled: ", str(refused.value))


def test_the_line_is_that_of_the_place(tmp_path: Path) -> None:
    module = module_of("\n\ndef f(t, c, a):\n    p = 1\n    return p ** 2\n", tmp_path)

    with pytest.raises(NotCompilable, match=rf"^{module.__file__}:5: f cannot be compiled"):
        Both(module.f, LAYOUT)


def test_a_function_inside_another_is_refused(tmp_path: Path) -> None:
    text = "def outer():\n    def f(t, c, a):\n        return 1\n    return f\n"

    with pytest.raises(NotCompilable, match="inside another function or class; define it in"):
        Both(module_of(text, tmp_path).outer(), LAYOUT)


def test_a_lambda_is_refused() -> None:
    with pytest.raises(NotCompilable, match="no function made by `def`"):
        Both(lambda t, c, a: 1, LAYOUT)


def test_a_file_that_has_changed_since_it_was_imported_is_refused(tmp_path: Path) -> None:
    module = module_of("def f(t, c, a):\n    return 1\n", tmp_path)
    Path(str(module.__file__)).write_text("def f(t, c, a):\n    return 2\n")

    with pytest.raises(NotCompilable, match="changed since it was imported; start the program"):
        Both(module.f, LAYOUT)


def test_a_function_without_a_file_is_refused() -> None:
    names: dict[str, object] = {"__name__": "nowhere"}
    exec("def f(t, c, a):\n    return 1\n", names)

    with pytest.raises(NotCompilable, match="its text is not there"):
        Both(names["f"], LAYOUT)


def test_only_an_effect_may_write() -> None:
    problem = graph_problem([(0, 1)])
    follow = problem.model.actions[0]
    writing = replace(follow, guard=follow.effect)
    model = replace(problem.model, actions=(writing, *problem.model.actions[1:]))

    with pytest.raises(NotCompilable, match="it writes to node, and only an effect may write"):
        program_of(plan_of(replace(problem, model=model)))


EVERYTHING = {
    "requests_survive": True,
    "late_metadata": True,
    "consumer": True,
    "parked_fetches": True,
    "unclean_leader_election": True,
    "power_losses": 1,
    "lost_disks": 1,
    "lost_checkpoints": 1,
    "directory_moves": 1,
    "session_expiries": 1,
    "shutdowns": 1,
    "moves": 1,
}


@pytest.mark.parametrize("version", drawn(MESSAGE.versions, 3))
def test_every_rule_and_claim_has_a_compiled_form(version: str) -> None:
    assert program_of(plan_of(with_everything(version, "assignment"))).text


def with_everything(version: str, election_order: str) -> Problem:
    """A version with every circumstance that this order admits, and every claim."""
    names = [claim.name for claim in (*MESSAGE.invariants, *MESSAGE.properties)]
    options = {**EVERYTHING, "election_order": election_order}
    if election_order == "any":
        options |= {"session_expiries": 0, "shutdowns": 0}
    return MESSAGE.problem(version, Environment(**options), names)


def numbered(count: int) -> Action:
    problem = graph_problem([(0, 1)])
    return replace(problem.model.actions[3], name=f"Never{count}")


def test_more_actions_than_a_kernel_can_number_are_refused() -> None:
    problem = replace(graph_problem([(0, 1)]), shared=None)
    actions = tuple(numbered(i) for i in range(257))
    model = replace(
        problem.model, actions=actions, contents=tuple(action.name for action in actions)
    )
    one_less = replace(model, actions=actions[:256], contents=model.contents[:256])

    plan_of(replace(problem, model=one_less))
    with pytest.raises(TooLargeToNumber, match="257 actions: a kernel can number 256"):
        plan_of(replace(problem, model=model))


def test_more_arguments_than_a_kernel_can_number_are_refused() -> None:
    problem = replace(graph_problem([(0, 1)]), shared=None)
    targets = tuple(Parameter(f"target{i}", "nodes") for i in range(3))
    follow = replace(problem.model.actions[0], parameters=targets)
    model = replace(problem.model, actions=(follow, *problem.model.actions[1:]))

    with pytest.raises(TooLargeToNumber, match="110,592 arguments of Follow"):
        plan_of(replace(problem, model=model))


def test_more_than_a_mask_has_bits_cannot_be_shared() -> None:
    problem = graph_problem([(0, 1)])
    claims = tuple(replace(problem.invariants[0], name=f"claim{i}") for i in range(64))
    many = replace(problem, invariants=claims)

    plan_of(replace(many, shared=None))
    with pytest.raises(TooLargeToNumber, match="64 claims of problems that share a kernel"):
        plan_of(many)
