"""Models of one's own without bounds of epochs and values, against plain Python within bounds."""

from __future__ import annotations

import random
from typing import Any

import pytest

from checker.user_models.family import own_family
from tests.support.plain_epochs import declared, explored_within, explored_without

HEAD = """\
from waterline import Action, Epoch, Epochs, Log, Names, Number, Protocol, Value, Values, when


def m(nodes: int = 2, terms: int = 3, records: int = 2) -> Protocol:
    node = Names("node", nodes)
    term = Epochs("term", terms)
    record = Values("record", records)
    return Protocol(
        fields=[
            Epoch("term", term, by=node),
            Epoch("top", term),
            Log("log", of=term, room=1),
            Value("held", record, by=node, or_none=True),
            Value("last", record),
            Number("n", 0, 2),
        ],
        actions=[{actions}],
        always=[never],
        every_step=[step],
    )
"""


class _Chance:
    """A random model, whose rules compare and copy epochs and values."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.two = seed % 3 == 0
        """Whether an action takes two epochs."""

    def text(self) -> str:
        """The file."""
        names = ["first(s, node, term)", "second(s, node, record)", "third(s, node)"]
        actions = "first, second, third"
        if self.two:
            names[0] = "first(s, term, other)"
            actions = "Action(first, other=term), second, third"
        rules = [HEAD.replace("{actions}", actions)]
        epochs = [["term", "other"] if self.two else ["term"], [], []]
        values: list[list[str]] = [[], ["record"], []]
        for name, given, held in zip(names, epochs, values, strict=True):
            rules.append(self._rule(name, given, held, "node" if "node" in name else "0"))
        state = self._condition("s", [], [], "0")
        rules.append(f"def never(s):\n    return not ({state} and s.n == {self._some(range(3))})\n")
        before, after = self._epoch("before", [], "1"), self._epoch("after", [], "1")
        rules.append(f"def step(before, after):\n    return {before} {self._order()} {after}\n")
        return "\n\n".join(rules)

    def _rule(self, name: str, epochs: list[str], values: list[str], node: str) -> str:
        asks = [self._condition("s", epochs, values, node) for _ in range(self._some((0, 0, 1)))]
        bases = ["s.top", f"s.term[{node}]", "0", "s.term[1]"]
        asks += [f"{each} {self._some('>><')} {self._some(bases)}" for each in epochs[:1]]
        lines = [f"    when({each})" for each in asks]
        # What is new is kept somewhere, and something is copied.
        stored = [f"{self._some(['s.top', f's.term[{node}]'])} = {each}" for each in epochs]
        stored += [f"{self._some(['s.last', f's.held[{node}]'])} = {each}" for each in values]
        stored += [self._change(epochs, values, node) for _ in range(self._some((1, 2)))]
        self.chance.shuffle(stored)
        lines += [f"    {each}" for each in stored]
        return "\n".join([f"def {name}:", *lines, ""])

    def _change(self, epochs: list[str], values: list[str], node: str) -> str:
        epoch = self._epoch("s", epochs, node)
        return str(
            self._some(
                [
                    f"s.top = {epoch}",
                    f"s.term[{node}] = {epoch}",
                    f"s.term[1] = {self._some(['s.top', 's.term[0]'])}",
                    f"if {epoch} > 0:\n        s.log.clear()\n        s.log.append({epoch})",
                    f"s.held[{node}] = {self._some([*values, 's.last', 'None'])}",
                    f"if s.held[{node}] is not None:\n        s.last = s.held[{node}]",
                    f"s.held[1] = {self._some(['s.last', 's.held[0]'])}",
                    "s.n = (s.n + 1) % 3",
                ]
            )
        )

    def _condition(self, s: str, epochs: list[str], values: list[str], node: str) -> str:
        one, other = (self._epoch(s, epochs, node) for _ in range(2))
        held = self._some([f"{s}.held[{node}]", f"{s}.held[1]"])
        value = self._some([*values, f"{s}.last", f"{s}.held[0]"])
        return str(
            self._some(
                [
                    f"{one} {self._order()} {other}",
                    f"{one} {self._order()} {other}",
                    f"{held} {self._some(['==', '!='])} {value}",
                    f"{one} in {s}.log",
                    f"{one} >= 0",
                ]
            )
        )

    def _epoch(self, s: str, given: list[str], node: str) -> str:
        one, other = (
            self._some([*given, f"{s}.top", f"{s}.term[0]", f"{s}.term[1]", f"{s}.term[{node}]"])
            for _ in range(2)
        )
        return str(self._some([one, one, one, f"max({one}, {other})", f"min({one}, {other})"]))

    def _order(self) -> str:
        return str(self._some(["<", "<=", "==", "!=", ">", ">="]))

    def _some(self, among: Any) -> Any:
        return self.chance.choice(list(among))


def _problem(text: str, **bounds: int) -> Any:
    family = own_family(text, "m.py")
    return family.problem_of("m", {**bounds, "unbounded": True})


def _both(text: str, depth: int, epochs: int) -> tuple[Any, Any]:
    """What there is within bounds in so many steps, which take so many epochs each; and without."""
    bounds = {"nodes": 2, "terms": depth * epochs, "records": depth + 1}
    problem = _problem(text)
    within = explored_within(text, depth, bounds, {})
    without = explored_without(
        problem.model,
        declared(text).fields,
        depth,
        [(claim.name, claim.holds) for claim in problem.invariants],
        [(claim.name, claim.keeps) for claim in problem.properties],
    )
    return within, without


@pytest.mark.parametrize("seed", range(18))
def test_a_random_model_reaches_without_bounds_what_it_reaches_within_enough(seed: int) -> None:
    chance = _Chance(seed)
    text, depth = chance.text(), 3 if chance.two else 4

    within, without = _both(text, depth, 1 + chance.two)

    known: set[Any] = set()
    for level, expected in zip(without.levels, within.levels, strict=True):
        assert level | known == expected | known, text
        known |= level
    assert without.broken == within.broken, text
