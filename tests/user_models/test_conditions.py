"""A condition at the prompt: what it means, interpreted and compiled, and what is refused."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.support.own import example, own_problem
from tests.support.walks import LOSS, walk_of
from waterline.checker.compiler.source import source_of
from waterline.checker.kafka.families import ATOMIC, MESSAGE
from waterline.checker.problem.packed_rows import state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.where import Condition, nowhere, where_asked
from waterline.checker.search.engines.expander import Expander
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.traces.violating_states import breaking_rows
from waterline.model.core.errors import BadCondition, BadEnvironment
from waterline.model.core.state import State
from waterline.model.own.condition import TEXT_MAX

SMALL = {"records": 1, "epochs": 1, "restarts": 1, "moves": 1}


def asked(text: str, problem: Problem | None = None) -> Condition:
    problem = problem or MESSAGE.problem("hw", {})
    assert problem.family is not None
    return problem.family.condition(text, problem.model)


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("s.leo[0] == 1 and s.leo[1] == 0", True),
        ("s.leo[r0] > s.leo[r1]", True),
        ("s.leo[0] == 1 == s.epoch", True),
        ("s.leader == r1 and s.role[r1] == LEADER", True),
        ("s.leader != r1", False),
        ("s.log[0, 0] == m1", True),
        ("s.log[0][0] == 1", True),
        ("s.log[0, s.leo[0] - 1] == m1", True),
        ("s.log[1, s.leo[1] - 1] == m1", False),
        ("s.log[1, s.leo[1] - 1] != m1", False),
        ("not s.log[1, s.leo[1] - 1] == m1", True),
        ("s.known_isr[1] == 2", True),
        ("s.known_isr[0] == 2", False),
        ("s.known_isr[0] != 2", False),
        ("contains(s.isr, r1) and not contains(s.isr, r0)", True),
        ("size(s.isr) == 1", True),
        ("any(s.up[r] == 0 for r in range(s.replicas))", True),
        ("all(s.up[r] == 1 for r in range(s.replicas))", False),
        ("any(s.log[r, o] == m1 for r in range(2) for o in range(s.leo[r]) if r != 0)", False),
        ("sum(s.leo[r] for r in range(s.replicas)) == 1", True),
        ("sum(s.known_isr[r] for r in range(s.replicas)) == 2", True),
        ("sum(s.up[r] == 1 for r in range(s.replicas)) == 1", True),
        ("1 // s.leo[1] == 0", False),
        ("7 % (s.leo[0] + 1) == 1 and -s.leo[0] < 0", True),
        ("-7 // 2 == -4", True),
        ("max(s.leo[0], s.leo[1]) - min(s.leo[0], s.leo[1]) == abs(s.leo[1] - s.leo[0])", True),
        ("c.min_insync_replicas == 1 and c.acks == ACKS_ALL", True),
        ("s.role[1] in (LEADER, FETCHING)", True),
        ("s.role[1] not in [LEADER]", False),
        ("s.leo[0]", True),
        ("s.leo[1] or False", False),
        ("s.replicas == 2 and s.records == 2", True),
    ],
)
def test_what_a_condition_means(text: str, so: bool) -> None:
    walk = walk_of("hw", *LOSS)
    found = asked(text, walk.problem)

    assert bool(found.holds(walk.state, walk.model.settings)) is so
    assert bool(found.fails(walk.state, walk.model.settings)) is not so


@pytest.mark.parametrize(
    ("text", "column", "complaint"),
    [
        ("s.leos[0] > 1", 3, "the state has no field 'leos'; did you mean leo?"),
        ("s.leo[0] > 1 and s.hw[9] == 0", 23, "hw has no element there; it has 0 to 1"),
        ("s.leo > 1", 3, "leo has more elements than one; say which, as s.leo[0]"),
        ("s.epoch[0] > 1", 1, "epoch has 0 indices, not 1; write s.epoch"),
        ("s.__class__", 3, "the state has no field '__class__'"),
        ("s.leo.__class__", 7, "cannot stand here"),
        ("leo[0] == 1", 1, "only fields have elements"),
        ("leo == 1", 1, "leo is of the state; write s.leo"),
        ("LEADR == 1", 1, "nothing is called 'LEADR'; did you mean LEADER?"),
        ("c.ack == 1", 3, "there is no setting 'ack'; did you mean acks?"),
        ("x.y == 1", 3, "`x` has no names"),
        ("s == 1", 1, "`s` alone is no number"),
        ("s.leo[0] >", 11, "it is no expression"),
        ("s.leo[0] == 1 2", 15, "it is no expression"),
        ("__import__('os').system('true')", 1, "cannot stand here"),
        ("open('x')", 1, "open cannot be called"),
        ("eval('1')", 1, "eval cannot be called"),
        ("(lambda: 1)()", 1, "cannot stand here"),
        ("[1 for r in range(2)]", 1, "cannot stand here"),
        ("f'{s.leo[0]}' == 1", 1, "cannot stand here"),
        ("2 ** 9 > 1", 1, "cannot stand here"),
        ("1 << 9 > 1", 1, "cannot stand here"),
        ("1.5 > s.leo[0]", 1, "cannot stand here"),
        ("(x := 1) == 1", 2, "cannot stand here"),
        ("9999999999999999999 > s.leo[0]", 1, "more than 64 bits"),
        ("4611686018427387903 * 2 > s.leo[0]", 1, "more than 64 bits"),
        ("s.leo[0] % 0 == 1", 12, "divides by zero"),
        ("s.leo[0] == 'x'", 13, "'x' has no meaning here"),
        ("s.leader is None", 13, "None has no meaning here"),
        ("s.leader is r0", 1, "`is` compares with None alone"),
        ("s.leo[0] in s.hw[0]", 13, "`in` needs a list of values"),
        ("any(s.up)", 1, "any needs a comprehension"),
        ("any(s.up[r] for r in (0, 1))", 22, "a loop is over a range"),
        ("any(s.up[s] for s in range(2))", 17, "'s' means something else"),
        ("any(r for r in range(100))", 16, "the loop is too long"),
        ("any(r for r in range(s.known_isr[0]))", 22, "this may not be there"),
        ("sum(1 for a in range(2) for b in range(2) for c in range(2))", 47, "'c' means"),
        ("contains(s.isr) == 1", 1, "contains takes 2 numbers"),
        ("contains(s.leader, r0)", 12, "contains takes a set"),
        ("max(s.leo[0]) == 1", 1, "max is given 1 numbers; give it 2"),
        ("size(x=1) == 1", 1, "size takes numbers alone"),
        ("", 1, "there is nothing"),
        ("s.leo[0] == \x1b[2J", 13, "printable ASCII"),
        ("1 == " + "1" * TEXT_MAX, TEXT_MAX + 1, "at most 200"),
    ],
)
def test_what_is_refused_is_pointed_at(text: str, column: int, complaint: str) -> None:
    with pytest.raises(BadCondition) as found:
        asked(text)

    assert found.value.column == column
    assert complaint in str(found.value)
    assert str(found.value).startswith(f"the condition, column {column}: ")
    caret = found.value.pointed.splitlines()[-1]
    assert caret == " " * (column - 1) + "^"


@pytest.mark.parametrize(
    ("text", "so"),
    [
        ("-" * 190 + "1 == 1", True),
        ("not " * 48 + "0 == 0", True),
        ("any(s.up[r] for r in range(3)) # two brokers are looked at", True),
    ],
)
def test_what_is_odd_has_its_meaning(text: str, so: bool) -> None:
    problem = MESSAGE.problem("hw", {})

    assert bool(asked(text).holds(problem.model.initial[0], problem.model.settings)) is so


def test_nothing_is_called_but_what_was_made_here() -> None:
    text = "any(contains(s.isr, r) and s.leo[r] > 0 for r in range(s.replicas)) or abs(s.epoch) > 1"
    tree = source_of(asked(text).holds).tree
    called = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }

    assert called == {"any_of_line_1", "abs"}


COMPILED = (
    "s.log[1, s.leo[1] - 1] == m1 or s.remote_leo[0, 1] == 1",
    "any(s.known_isr[r] == 1 and s.hw[r] == 1 for r in range(s.replicas))",
    "sum(s.remote_leo[r, q] for r in range(2) for q in range(2) if q != r) >= 1",
    "not contains(s.isr, r1) and s.fetch[1] in (REQUESTED, ANSWERED)",
    "1 % s.leo[0] == 0 and s.hw[0] * 2 - s.hw[1] // (s.leo[1] + 1) > 0",
)


def test_compiled_it_is_true_of_the_same_states() -> None:
    plain = MESSAGE.problem("hw", SMALL)
    model, conditions = plain.model, [asked(text, plain) for text in COMPILED]
    # All in one problem, so that there is one kernel.
    claims = tuple(replace(nowhere(c), name=f"nowhere_{i}") for i, c in enumerate(conditions))
    names = frozenset(claim.name for claim in claims)
    problem = Problem(model, claims, plain.reachable, asked=names)
    prepare(problem)
    states = reached(problem)
    rows, expander = np.array([state.words for state in states], np.uint64), Expander(problem)
    compiled = [
        {state_words(row[0]) for row in breaking_rows(rows, expander, number)}
        for number in range(len(claims))
    ]
    interpreted = [
        {state.words for state in states if each.holds(state, model.settings)}
        for each in conditions
    ]

    assert compiled == interpreted
    assert all(0 < len(found) < len(states) for found in interpreted)


def reached(problem: Problem) -> list[State]:
    """Every reachable state, interpreted."""
    found = dict.fromkeys(problem.model.initial)
    frontier = list(found)
    while frontier:
        after = [step.after for state in frontier for step in problem.model.successors(state)]
        frontier = [state for state in dict.fromkeys(after) if state not in found]
        found |= dict.fromkeys(frontier)
    return list(found)


def test_a_model_of_ones_own_is_asked_in_its_own_words() -> None:
    problem = example("two_phase_commit", rms=2)
    found = asked('s.rm_state[rm0] in ("working", "prepared") and not s.tm_prepared[1]', problem)
    first = problem.model.initial[0]

    assert found.holds(first, problem.model.settings)
    assert found.values(first) == "s.rm_state[rm0] is working, s.tm_prepared[1] is no"
    with pytest.raises(BadCondition, match="column 20: rm_state is never 'workin'; did you mean"):
        asked('s.rm_state[rm0] == "workin"', problem)


def test_the_atomic_grain_is_asked_too() -> None:
    problem = ATOMIC.problem("hw", {})

    assert asked("s.leo[r0] == 0", problem).holds(problem.model.initial[0], problem.model.settings)


def test_another_process_makes_the_same_question_again() -> None:
    problem = where_asked(MESSAGE.problem("hw", SMALL), "s.leo[0] == 1", ["sane"])
    make, arguments = problem.__reduce_ex__(4)[:2]
    again = make(*arguments)

    assert again.checked == ("sane", "nowhere")
    assert again.model.options == problem.model.options
    assert again.model.options["where"] == "s.leo[0] == 1"


def test_an_executor_needs_no_rich_for_it() -> None:
    program = (
        "import sys; from waterline.checker.problem.where import where_asked; "
        "from waterline.checker.kafka.families import MESSAGE; "
        "make, arguments = where_asked(MESSAGE.problem('hw', {}), '1').__reduce_ex__(4)[:2]; "
        "make(*arguments); print([m for m in ('rich', 'click') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout == b"[]\n"


def test_a_condition_may_tell_names_apart_so_none_is_asked_under_a_symmetry() -> None:
    options = {"election-order": "any", **SMALL}
    problem = MESSAGE.problem("hw", options, symmetry="replicas")
    with pytest.raises(BadEnvironment, match="leave out --symmetry"):
        where_asked(problem, "s.leo[0] == 1")


TAKEN = """
from waterline import Number, Protocol


def count(s):
    s.n = 1 - s.n


def {claim}(s):
    return s.n < 2


def flips({bound}=1) -> Protocol:
    return Protocol(fields=[Number("n", 0, {bound})], actions=[count], always=[{claim}])
"""


@pytest.mark.parametrize(("claim", "bound"), [("nowhere", "most"), ("small", "where")])
def test_a_model_that_has_these_names_itself_keeps_them(
    claim: str, bound: str, tmp_path: Path
) -> None:
    file = tmp_path / "flips.py"
    file.write_text(TAKEN.format(claim=claim, bound=bound))
    problem = own_problem(file)
    family = problem.family

    assert family is not None
    assert family.problem("flips", problem.model.options, [claim]).checked == (claim,)
    with pytest.raises(BadEnvironment, match="which has a meaning of its own here; call it other"):
        where_asked(problem, "s.n == 1")
