"""Each construct of a rule has the TLA+ that means the same."""

from __future__ import annotations

import pytest

from tests.support.tla_modules import definition, module_of

HEAD = """
from waterline import *
LIMIT = 3
def mine(nodes: int = 2, low: int = -3, strict: bool = True) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Number("x", -9, 9), Number("row", -9, 9, by=node), Number("table", 0, 9, by=(node, 3)),
            Flag("flag"), Flag("up", by=node), Choice("mode", "a", "b"),
            Choice("state", "b", "a", by=node), Name("owner", node, or_none=True),
        ],
        actions=[act],
        {claims}
    )
"""
RULE = "\ndef act(s, node):\n    {}\n"


def act(*lines: str, more: str = "") -> str:
    """What the one action comes to, without what it leaves unchanged."""
    text = HEAD.replace("{claims}", "") + RULE.format("\n    ".join(lines)) + more
    found = definition(module_of(text), "Act").partition("\n")[2]
    kept = [line for line in found.splitlines() if "UNCHANGED" not in line]
    return "\n".join(line.strip() for line in kept)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("s.x = s.x // 2", r"x' = x \div 2"),
        ("s.x = s.x % 3", "x' = x % 3"),
        ("s.x = s.x % s.nodes", "x' = x % nodes"),
        ("s.x = s.x % -3", "x' = Modulo(x, -3)"),
        ("s.x = s.x % s.row[0]", "x' = Modulo(x, row[0])"),
        ("s.x = -7 // 2", "x' = (-4)"),
        ("s.x = -s.x * (s.x - 1)", "x' = (-x) * (x - 1)"),
        ("s.x = s.x - (s.x - 1)", "x' = x - (x - 1)"),
        ("s.x = LIMIT", "x' = LIMIT"),
        ("s.x = s.x & 3 | s.x ^ 1", "x' = BitOr(BitAnd(x, 3), BitXor(x, 1))"),
        ("s.x = s.x >> 1", r"x' = x \div 2"),
        ("s.x = min(s.x, 3, s.row[0])", "x' = Min(Min(x, 3), row[0])"),
        ("s.x = abs(s.x)", "x' = Abs(x)"),
        ("s.flag = 0 < s.x <= 3", r"flag' = (0 < x /\ x <= 3)"),
        ("s.flag = s.x in (1, 2)", r"flag' = (x \in {1, 2})"),
        ("s.flag = s.x not in (1, 2)", r"flag' = (x \notin {1, 2})"),
        ("s.flag = not s.x", "flag' = (x = 0)"),
        ("s.flag = s.up[node] == 1", "flag' = up[node]"),
        ("s.x = s.flag + 1", "x' = (IF flag THEN 1 ELSE 0) + 1"),
        ("s.mode = 'b'", 'mode\' = "b"'),
        ("s.mode = 'a' if s.flag else 'b'", 'mode\' = IF flag THEN "a" ELSE "b"'),
        ("s.flag = s.mode == 'b'", 'flag\' = (mode = "b")'),
        ("s.flag = s.owner is None", "flag' = (owner = None)"),
        ("s.owner = node", "owner' = node"),
        ("s.owner = None", "owner' = None"),
        ("s.row[node] += 1", "row' = [row EXCEPT ![node] = row[node] + 1]"),
        ("s.table[node, 1] = 0", "table' = [table EXCEPT ![node][1] = 0]"),
        (
            "s.flag = any(s.up[n] for n in s.nodes)",
            r"flag' = (\E n \in Node : up[n])",
        ),
        (
            "s.flag = all(s.row[n] > i for n in s.nodes for i in range(3) if i != 1)",
            r"flag' = (\A n \in Node, i \in 0..2 : i = 1 \/ row[n] > i)",
        ),
        ("s.x = sum(s.up[n] for n in s.nodes)", r"x' = Cardinality({n \in Node : up[n]})"),
        ("s.x = sum(s.row[n] for n in s.nodes)", r"x' = Sum([n \in Node |-> row[n]])"),
    ],
)
def test_an_assignment_means_what_python_means(rule: str, expected: str) -> None:
    assert act(rule) == f"/\\ {expected}"


def test_an_early_return_is_a_choice_of_two_steps() -> None:
    found = act("if s.flag:", "    s.x = 1", "    return", "s.x = 2")

    assert found == "/\\ IF flag\nTHEN x' = 1\nELSE x' = 2"


def test_an_if_chooses_a_value() -> None:
    found = act("if s.flag:", "    s.x = 1", "s.row[node] = s.x")

    assert "x' = x_1" in found
    assert "x_1 == IF flag THEN 1 ELSE x" in found


def test_a_variable_keeps_its_name() -> None:
    found = act("half = s.x // 2", "s.x = half", "s.row[node] = half")

    assert "half == x \\div 2" in found
    assert "x' = half" in found


def test_a_loop_over_all_elements_is_a_function() -> None:
    found = act("for n in range(s.nodes):", "    if n != node:", "        s.row[n] = s.x")

    assert found == "/\\ row' = [n \\in Node |-> IF n # node THEN x ELSE row[n]]"


def test_nested_loops_over_all_elements_are_functions() -> None:
    found = act("for n in s.nodes:", "    for i in range(3):", "        s.table[n, i] = i")

    assert found == "/\\ table' = [n \\in Node |-> [i \\in 0..2 |-> i]]"


def test_a_loop_over_some_elements_leaves_the_others() -> None:
    found = act("for i in range(1, 3):", "    s.table[node, i] = 0")

    assert "IF i \\in 1..2 THEN 0 ELSE table[node][i]" in found


def test_turns_that_depend_on_each_other_are_taken_one_by_one() -> None:
    found = act("for i in range(2):", "    s.table[node, i] = s.table[node, i + 1]")

    assert "RECURSIVE loop(_, _)" in found


def test_a_function_that_looks_is_an_operator() -> None:
    more = "\ndef big(s, n, k):\n    return s.row[n] > k\n"
    found = act("when(big(s, node, 1))", "s.row[node] = 0", more=more)

    assert found.splitlines()[0] == "/\\ big(node, 1)"


def test_a_function_that_writes_is_put_in() -> None:
    more = "\ndef clear(s, n):\n    s.row[n] = 0\n    s.up[n] = False\n"
    found = act("clear(s, node)", "s.x = s.row[node]", more=more)

    assert "up' = [up EXCEPT ![node] = FALSE]" in found
    assert "x' = row_1[node]" in found


def test_a_state_that_has_changed_is_asked_as_it_is_by_then() -> None:
    more = "\ndef big(s, n):\n    return s.row[n] > 1\n"
    found = act("s.row[node] = 2", "s.flag = big(s, node)", more=more)

    assert "flag' = (row_1[node] > 1)" in found


def test_within_stands_where_the_file_has_it() -> None:
    found = act("when(s.flag)", "within(s.x < s.nodes)", "when(s.up[node])", "s.x = 0")

    assert found.splitlines()[:3] == ["/\\ flag", "/\\ x < nodes", "/\\ up[node]"]


def test_names_that_tla_has_already_are_changed_with_a_remark() -> None:
    text = """
from waterline import *
def mine() -> Protocol:
    return Protocol(fields=[Number("IF", 0, 3), Number("Next", 0, 3)], actions=[act])
def act(s):
    IN = s.IF
    s.IF = s.Next
    s.Next = IN
"""
    module = module_of(text)

    assert "IF_1' = Next_1" in module.text
    assert "\\* IF_1 is IF of the model." in module.text


def test_a_claim_of_steps_has_primes() -> None:
    claims = "every_step=[grows], sometimes=[jumps, far],"
    more = """
def grows(before, after):
    return after.x >= before.x
def jumps(before, after):
    return high(after) and not high(before)
def high(s):
    return s.x > 3
def far(s):
    return high(s)
"""
    module = module_of(HEAD.replace("{claims}", claims) + RULE.format("s.x = 0") + more)

    assert definition(module, "grows") == "grows == x' >= x"
    assert definition(module, "jumps") == "jumps == high' /\\ ~high"
    assert definition(module, "grows_in_every_step").endswith("[][grows]_vars")
    assert definition(module, "never_far") == "never_far == ~far"


def test_a_negative_bound_is_a_definition() -> None:
    text = HEAD.replace("{claims}", "") + RULE.format("s.x = s.low")
    module = module_of(text)

    assert "low <- low_value" in module.configuration
    assert definition(module, "low_value") == "low_value == -3"
