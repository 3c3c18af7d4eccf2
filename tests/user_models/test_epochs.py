"""Models of one's own without bounds of epochs and values, against plain Python within bounds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.own import EXAMPLES, own_problem
from tests.support.plain_epochs import Explored, declared, explored_within, explored_without
from tests.support.plain_python import explored
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Verdict
from waterline.checker.search.search import search
from waterline.checker.user_models.family import own_family
from waterline.model.own import normal_form

HEAD = """\
from waterline import Action, Epoch, Epochs, Log, Name, Names, Number, Opaque, Protocol, when


def m(nodes: int = 2, terms: int = 3, records: int = 2) -> Protocol:
    node = Names("node", nodes)
    term = Epochs("term", terms)
    record = Opaque("record", records)
    return Protocol(
        fields=[
            Epoch("term", term, by=node),
            Epoch("top", term),
            Log("log", of=term, room=1),
            Name("held", record, by=node, or_none=True),
            Name("last", record),
            Number("n", 0, 2),
        ],
        actions=[{actions}],
        always=[never],
        every_step=[step],
    )
"""


class RandomModel:
    """A random model, whose rules compare and copy epochs and values."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.takes_two = seed % 3 == 0
        """Whether an action takes two epochs."""

    def text(self) -> str:
        """The file."""
        names = ["first(s, node, term)", "second(s, node, record)", "third(s, node)"]
        actions = "first, second, third"
        if self.takes_two:
            names[0] = "first(s, term, other)"
            actions = "Action(first, other=term), second, third"
        rules = [HEAD.replace("{actions}", actions)]
        epochs = [["term", "other"] if self.takes_two else ["term"], [], []]
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


def _problem(text: str) -> Any:
    return own_family(text, "m.py").problem("m", {"unbounded": True})


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 7, 8, 13, 16])
def test_a_random_model_reaches_without_bounds_what_it_reaches_within_enough(seed: int) -> None:
    chance = RandomModel(seed)

    _require_same(chance.text(), 3 if chance.takes_two else 4, 1 + chance.takes_two)


def _require_same(text: str, depth: int, epochs: int) -> None:
    """In so many steps, of which each takes so many epochs at most."""
    without = explored_without(_problem(text), declared(text, "m").fields, depth)
    within = explored_within(text, "m", depth, nodes=2, terms=depth * epochs, records=depth + 1)

    assert [*_first_reached(without)] == [*_first_reached(within)], text
    assert without.broken == within.broken, text
    assert without.states == len(without.all), text


def _first_reached(found: Explored) -> Iterator[set[Any]]:
    """Of each depth the states that are none of a lesser one."""
    known: set[Any] = set()
    for level in found.levels:
        yield level - known
        known |= level


BETWEEN = """

def lead(s, term):
    when(term > s.top)
    s.top = term


def follow(s, term, other):
    when(term < other < s.top)
    s.term[0] = term
    s.term[1] = other


def never(s):
    return not s.term[0] < s.term[1]


def step(before, after):
    return True
"""


@pytest.mark.parametrize("stride", [1, 2])
def test_two_new_epochs_have_room_below_another(
    stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = HEAD.replace("{actions}", "lead, Action(follow, other=term)") + BETWEEN
    _require_same(text, 3, 2)
    monkeypatch.setattr(normal_form.Renamed, "stride", stride)

    with pytest.raises(AssertionError):
        _require_same(f"{text}# another file\n# {stride}\n", 3, 2)


def test_states_within_bounds_grow_to_those_without_and_no_further() -> None:
    """A lease is above all others, so that as many are enough as a state can hold."""
    text = (EXAMPLES / "fenced_lease.py").read_text()
    fields = declared(text, "fenced_lease").fields
    problem = own_problem(EXAMPLES / "fenced_lease.py", unbounded=True)
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)

    without = explored_without(problem, fields, result.depth)
    grown = [
        explored_within(text, "fenced_lease", 30, clients=2, leases=n, values=3, fenced=True).all
        for n in (1, 2, 3)
    ]

    assert grown[0] < grown[1] < grown[2] == without.all
    assert [level.states for level in result.levels] == [*map(len, _first_reached(without))]
    assert result.distinct == without.states == len(without.all) == 136
    assert not sum(result.cut.values())
    assert {claim.verdict for claim in result.invariants} == {Verdict.HOLDS}


def test_what_is_above_the_highest_epoch_is_cut_and_counted() -> None:
    bounds = {"clients": 2, "leases": 2, "values": 2, "fenced": False}
    problem = own_problem(EXAMPLES / "fenced_lease.py", **bounds)
    protocol = declared((EXAMPLES / "fenced_lease.py").read_text(), "fenced_lease", **bounds)
    expected, cut = explored(protocol, bounds)
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)

    assert result.distinct == len(expected)
    assert result.cut["leases"] == cut["leases"] > 0


RAFT_WITH_EPOCHS = (
    ("Names, Number,", "Names, Number, Epoch, Epochs,"),
    ("    terms: int = 2\n", '    terms = Epochs("term", 2)\n'),
    ("term = Number(0, terms, by=servers)", "term = Epoch(terms, by=servers)"),
    ("of=range(1, terms + 1)", "of=terms"),
    ("def time_out(s: State, server: int)", "def time_out(s: State, server: int, term: int)"),
    ("    within(s.term[server] < s.terms)\n", "    when(term > s.term[server])\n"),
    ("    s.term[server] += 1\n", "    s.term[server] = term\n"),
)


def test_figure_8_of_raft_takes_as_many_steps_with_any_number_of_terms(tmp_path: Path) -> None:
    """As many as within four terms, where a server takes the next one: test_raft_and_kraft.py."""
    text = (EXAMPLES / "raft.py").read_text()
    for before, after in RAFT_WITH_EPOCHS:
        assert text.count(before) == 1
        text = text.replace(before, after)
    file = tmp_path / "raft.py"
    file.write_text(text)
    problem = own_problem(file, unbounded=True, entries=1, commits_own_term_only=False)

    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)

    assert (result.distinct, result.depth) == (114_033, 33)
    assert {claim.name: claim.depth for claim in result.invariants if claim.depth} == {
        "committed_entries_agree": 22,
        "leaders_have_what_is_committed": 19,
    }
