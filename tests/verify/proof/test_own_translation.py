"""Rules of user models as terms: examples, and models that are drawn at random."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

from tests.support.own_theorems import theorem_in, verdict_of
from tests.support.translation import Comparison
from waterline.checker.proof.proving import Verdict, search_first
from waterline.checker.proof.terms import NotProvable
from waterline.checker.search.rule_errors import Raised

EXAMPLES = Path(__file__).parents[3] / "examples"
PROVED = [
    "abd_register",
    "chain_replication",
    "fenced_lease",
    "philosophers",
    "token_ring",
    "two_phase_commit",
]


@pytest.mark.parametrize("name", PROVED)
def test_terms_of_an_example_mean_what_python_computes(name: str) -> None:
    made = theorem_in((EXAMPLES / f"{name}.py").read_text())
    comparison, rng = Comparison(made.theorem, made.theorem.sizes), random.Random(1)
    for _ in range(40):
        comparison.lemmas(rng)
        for action in comparison.induction.model.enabled_actions:
            comparison.step(action, rng)

    assert comparison.seen["enabled True"] > 20


class Drawn:
    """The text of a random model of nodes: flags, numbers, names and sets, loops of both forms."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.searches: list[str] = []

    def pick(self, *of: str) -> str:
        return self.rng.choice(of)

    def atom(self, node: str) -> str:
        other = self.pick("node", "s.owner", node) if node == "node" else node
        return self.pick(
            f"s.flag[{node}]",
            f"s.count[{node}] {self.pick('<', '<=', '==', '>=', '!=')} {self.number(node)}",
            f"s.owner == {node}",
            "s.owner is None",
            f"{other} in s.members" if other != "s.owner" else "s.owner is not None",
            f"{node} in s.seen[{node}]",
            self.pick("s.phase == 'a'", "s.phase == 'b'"),
            "s.members == s.others",
            "s.members <= s.others",
            "not s.members",
            f"{self.pick('', '2 * ')}len(s.members) {self.pick('>', '<=')} {self.number(node)}",
            f"sum(s.flag[i] for i in s.nodes) {self.pick('>', '==')} {self.number(node)}",
            f"sum({node} in s.seen[i] for i in s.nodes) + 1 < {self.pick('s.nodes', 's.total')}",
        )

    def number(self, node: str) -> str:
        return self.pick("0", "1", f"s.count[{node}]", "s.total", f"s.count[{node}] + 1", "s.limit")

    def condition(self, node: str, deep: int = 2) -> str:
        if deep == 0:
            return self.atom(node)
        one, other = self.condition(node, deep - 1), self.condition(node, deep - 1)
        return self.pick(
            self.atom(node),
            f"not ({one})",
            f"({one} and {other})",
            f"({one} or {other})",
            f"any({self.condition('i', 0)} for i in s.nodes)",
            f"all({self.condition('i', 0)} for i in s.nodes if {self.atom('i')})",
        )

    def assignment(self, node: str) -> str:
        return self.pick(
            f"s.flag[{node}] = {self.condition(node, 1)}",
            f"s.count[{node}] = max({self.number(node)}, {self.number(node)})",
            f"s.owner = {self.pick('node', 'None')}",
            f"s.members.add({node})",
            f"s.members.discard({node})",
            f"s.seen[{node}].add({node})",
            "s.others = s.members",
            "s.others = s.members | s.others",
            "s.members.clear()",
            f"s.total = {self.number('node')}",
            self.pick("s.phase = 'a'", "s.phase = 'b'"),
        )

    def first(self) -> str:
        """The name of a function that searches."""
        name = f"first{len(self.searches)}"
        rounds = self.pick("s.nodes", "range(1, s.nodes)", "range(s.nodes - 1, -1, -1)")
        self.searches.append(
            f"def {name}(s: State) -> int:\n    for i in {rounds}:\n"
            f"        if {self.atom('i')} and {self.atom('i')}:\n            return i\n"
            f"    return {self.pick('-1', '0')}\n"
        )
        return name

    def statements(self) -> list[str]:
        lines = []
        for _ in range(self.rng.randint(1, 3)):
            match self.rng.randrange(4):
                case 0:
                    lines += [f"if {self.condition('node', 1)}:", f"    {self.assignment('node')}"]
                    lines += ["else:", f"    {self.assignment('node')}"]
                case 1:
                    own = self.pick("s.flag[i] = s.flag[i] or i == node", "s.count[i] = 0")
                    lines += ["for i in s.nodes:", f"    if {self.atom('i')}:", f"        {own}"]
                case 2:
                    lines.append(f"s.owner = {self.first()}(s)")
                case _:
                    lines.append(self.assignment("node"))
        return lines

    def text(self) -> str:
        actions = []
        for k in range(3):
            body = [f"when({self.condition('node')})", *self.statements()]
            limit = "within(s.total <= s.limit and s.count[node] <= s.limit)"
            lines = "".join(f"    {line}\n" for line in [body[0], limit, *body[1:]])
            actions.append(f'def act{k}(s: State, node: int) -> None:\n    """{k}."""\n{lines}')
        claims = [
            f'def claim{k}(s: State) -> bool:\n    """{k}."""\n    return '
            f"all({self.condition('i', 1)} or {self.condition('i', 1)} for i in s.nodes)\n"
            for k in range(2)
        ]
        return "\n\n".join([HEAD, *self.searches, *actions, *claims, TAIL])


HEAD = """from waterline import *


class State(Fields):
    nodes = Names("node", 2)
    limit: int = 2
    flag = Flag(by=nodes)
    count = Number(0, limit + 6, by=nodes)
    owner = Name(nodes, or_none=True)
    members = Set(of=nodes)
    others = Set(of=nodes)
    seen = Set(of=nodes, by=nodes)
    total = Number(0, limit + 6)
    phase = Choice("a", "b")


def drawn(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[act0, act1, act2], always=[claim0, claim1],
                    every_step=[grows])
"""
TAIL = '''def grows(before: State, after: State) -> bool:
    """A total only grows, unless somebody owns."""
    return after.total >= before.total or before.owner is not None
'''


def made(seed: int) -> Any:
    return theorem_in(Drawn(seed).text())


@pytest.mark.parametrize("first", range(0, 24, 6))
def test_terms_of_drawn_models_mean_what_python_computes(first: int) -> None:
    compared = 0
    for seed in range(first, first + 6):
        rng = random.Random(seed)
        try:
            theorem = made(seed).theorem
            comparison = Comparison(theorem, theorem.sizes)
            for _ in range(4):
                comparison.lemmas(rng)
                for action in comparison.induction.model.enabled_actions:
                    comparison.step(action, rng)
        except NotProvable:
            continue
        compared += comparison.seen["enabled True"]

    assert compared > 20


@pytest.mark.parametrize("first", [15, 43])
def test_a_drawn_claim_that_is_proved_holds_within_all_bounds(first: int) -> None:
    proved = 0
    for seed in range(first, first + 10):
        try:
            found = made(seed)
            if verdict_of(found)[0] is not Verdict.PROVED:
                continue
        except NotProvable:
            continue
        proved += 1
        for nodes, limit in [(1, 1), (2, 2), (3, 1)]:
            try:
                searched = search_first(found.theorem, {"nodes": nodes, "limit": limit})
            except Raised:  # beyond a range that a bound sets, which counts as cut in a proof
                continue
            assert all(each.verdict.value == "holds" for each in searched.invariants), seed

    assert proved > 0
