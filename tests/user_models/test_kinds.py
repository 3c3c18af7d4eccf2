"""A name is no truth and a choice is no number: what mixes them up is refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own import own_problem
from waterline import Choice, Flag, Name, Names, Number
from waterline.model.core.errors import BadCondition, BadEnvironment
from waterline.model.own.condition import condition

MODEL = """\
from waterline import Choice, Flag, Name, Names, Number, Protocol, when

IDLE = 0
BUSY = "busy"


def lock(nodes: int = 2) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Name("leader", node, or_none=True),
            Name("first", node),
            Name("next", node, by=node),
            Choice("state", "idle", "busy", by=node),
            Choice("mode", "idle", "busy"),
            Choice("phase", "one", "two"),
            Flag("on"),
            Number("count", 0, 3),
        ],
        actions=[step],
        always=[fine],
    )


def leader_of(s):
    return s.leader


def both_of(s, node):
    if s.on:
        return s.mode, s.count
    return s.state[node], s.count


def mixed_of(s, node):
    if s.on:
        return s.mode, s.count
    return s.phase, node


def is_word(s, node, word):
    return s.state[node] == word


def put(s, node, word):
    s.state[node] = word


def is_set(s, who):
    if who:
        return True
    return False


def step(s, node):
    {effect}
    s.count = 0


def fine(s):
    return {claim}
"""
A_NAME = "leader is a name, not true or false; write `is not None`"
NO_TRUTH = {
    "when": ({"effect": "when(s.leader)"}, A_NAME),
    "when not": ({"effect": "when(not s.leader)"}, A_NAME),
    "if": ({"effect": "if s.leader: s.count = 1"}, A_NAME),
    "while": ({"effect": "while s.leader: s.leader = None"}, A_NAME),
    "a conditional expression": ({"effect": "s.count = 1 if s.leader else 2"}, A_NAME),
    "and": ({"effect": "when(s.on and s.leader)"}, A_NAME),
    "or": ({"effect": "when(s.leader or s.on)"}, A_NAME),
    "bool": ({"effect": "s.on = bool(s.leader)"}, A_NAME),
    "an element": ({"effect": "when(s.next[node])"}, "next is a name"),
    "a name that is never None": ({"effect": "when(s.first)"}, "compare it with one"),
    "a variable": ({"effect": "who = s.leader; s.on = not who"}, A_NAME),
    "one of two": ({"effect": "when(s.leader if s.on else s.first)"}, "is a name"),
    "what a function returns": ({"effect": "when(leader_of(s))"}, A_NAME),
    "what a function is given": ({"effect": "s.on = is_set(s, s.leader)"}, A_NAME),
    "a claim": ({"claim": "s.first"}, "first is a name"),
    "a claim of two": ({"claim": "s.first if s.on else True"}, "first is a name"),
    "not in a claim": ({"claim": "not s.leader"}, A_NAME),
    "an argument": ({"effect": "when(s.leader == node and node)"}, "node is a name"),
    "any": ({"claim": "any(s.next[n] for n in range(s.nodes))"}, "next is a name"),
    "all": ({"claim": "all(s.next[n] for n in range(s.nodes))"}, "next is a name"),
    "if of a comprehension": ({"claim": "all(s.on for n in range(2) if s.leader)"}, A_NAME),
    "a choice": ({"effect": "when(s.mode)"}, "compare it with 'idle' or 'busy'"),
}
BESIDE = {
    "==": (
        {"effect": "when(s.state[node] == 7)"},
        "state is one of its words, and `7` is a number",
    ),
    "!=": ({"effect": "when(s.mode != 0)"}, "write 'idle' or 'busy'"),
    "the number first": ({"effect": "when(1 == s.mode)"}, "`1` is a number"),
    "a truth": ({"effect": "when(s.mode == True)"}, "`True` is a number"),
    "in": ({"effect": "when(s.mode in (0, 1))"}, "`0` is a number"),
    "in, among words": ({"effect": "when(s.mode in ('idle', 1))"}, "`1` is a number"),
    "a constant": ({"effect": "when(s.mode == IDLE)"}, "`IDLE` is a number"),
    "arithmetic": ({"effect": "when(s.mode == s.count + 1)"}, "`s.count + 1` is a number"),
    "a field of numbers": ({"effect": "when(s.mode == s.count)"}, "`s.count` is a number"),
    "a field of names": ({"effect": "when(s.mode == s.first)"}, "`s.first` is a name"),
    "other words": ({"effect": "when(s.mode == s.phase)"}, "`s.phase` has other words"),
    "a variable of a number": ({"effect": "x = 1; s.mode = x"}, "`x` is a number"),
    "a variable of a choice": ({"effect": "x = s.mode; s.on = x == 1"}, "`1` is a number"),
    "storing": ({"effect": "s.mode = 1"}, "`1` is a number"),
    "storing one of two": ({"effect": "s.mode = 'idle' if s.on else 1"}, "`1` is a number"),
    "storing two": ({"effect": "s.count, s.mode = 1, 1"}, "`1` is a number"),
    "storing with +=": ({"effect": "s.mode += 1"}, "mode is one of its words, no number"),
    "storing in a number": ({"effect": "s.count = s.mode"}, "mode is one of its words"),
    "adding": ({"effect": "s.count = s.mode + 1"}, "mode is one of its words, no number"),
    "what is compared in a function": ({"claim": "is_word(s, 0, 1)"}, "`1` is a number"),
    "what is stored by a function": ({"effect": "put(s, node, 1)"}, "`1` is a number"),
    "an item of a tuple": ({"effect": "x, y = both_of(s, node); s.phase = x"}, "has other words"),
    "an item that is stored": (
        {"effect": "s.phase, s.count = both_of(s, node)"},
        "`both_of(s, node)[0]` has other words",
    ),
    "an item as a number": ({"effect": "x, y = both_of(s, node); s.count = x"}, "no number"),
    "an item for a word": ({"effect": "x, y = both_of(s, node); s.mode = y"}, "`y` is a number"),
    "items of two kinds": (
        {"effect": "x, y = mixed_of(s, node); s.count = y"},
        "item 1 of what mixed_of returns is one of the words of",
    ),
    "in a comprehension": ({"claim": "all(s.state[n] != 7 for n in range(2))"}, "`7` is a number"),
}
STANDS = {
    "None": {"effect": "when(s.leader is not None)"},
    "== None": {"effect": "when(s.leader == None)"},
    "a name as a number": {"effect": "when(s.leader == 0 or s.first < 1)"},
    "a stored number": {"effect": "s.leader = 1 if s.on else None"},
    "names beside names": {"effect": "when(s.leader == s.next[node])"},
    "arithmetic on names": {"effect": "s.first = (s.first + 1) % s.nodes"},
    "a name as an index": {"effect": "when(s.state[s.first] == 'idle')"},
    "a comparison as a truth": {"effect": "s.on = not s.leader is None"},
    "words": {"effect": "when(s.mode in ('idle', 'busy') and s.mode != BUSY)"},
    "the same words": {"effect": "s.state[node] = s.mode"},
    "a word of two": {"effect": "s.mode = 'idle' if s.on else s.state[node]"},
    "a variable of the same words": {"effect": "was = s.mode; s.state[node] = was"},
    "a word for a function": {"claim": "is_word(s, 0, s.mode) or True"},
    "what a function stores": {"effect": "put(s, node, s.mode)"},
    "items of a tuple": {"effect": "x, y = both_of(s, node); s.mode = x; s.count = y"},
    "items that are stored": {"effect": "s.mode, s.count = both_of(s, node)"},
    "a flag": {"effect": "when(s.on and not s.count)"},
    "a flag as a number": {"effect": "when(s.on == 1 and s.count == s.on)"},
    "counting words": {"claim": "sum(s.state[n] == 'busy' for n in range(2)) <= 2"},
    "any word": {"claim": "any(s.mode == 'idle' for n in range(2)) or s.on or True"},
    "a function that returns a name": {"effect": "when(leader_of(s) == node)"},
}


def written(change: dict[str, str], folder: Path) -> Path:
    file = folder / "lock.py"
    file.write_text(MODEL.format(**{"effect": "s.on = True", "claim": "True", **change}))
    return file


@pytest.mark.parametrize(("change", "says"), [*NO_TRUTH.values(), *BESIDE.values()])
def test_what_mixes_up_names_choices_and_numbers_is_refused(
    change: dict[str, str], says: str, tmp_path: Path
) -> None:
    with pytest.raises(BadEnvironment) as found:
        own_problem(written(change, tmp_path))

    assert says in str(found.value)
    assert "lock.py:" in str(found.value)


@pytest.mark.parametrize("change", STANDS.values(), ids=STANDS)
def test_what_has_a_meaning_stands(change: dict[str, str], tmp_path: Path) -> None:
    problem = own_problem(written(change, tmp_path))

    assert list(problem.model.successors(problem.model.initial[0])) is not None


REFUSED = {
    "s.leader": A_NAME,
    "not s.leader": A_NAME,
    "s.on and s.leader": A_NAME,
    "s.leader or s.on": A_NAME,
    "any(s.next[n] for n in range(2))": "next is a name",
    "s.mode": "mode is one of its words, not true or false",
    "s.mode == 1": "mode is one of its words, no number",
    "s.state[0] in (0, 1)": "state is one of its words, no number",
    "s.count == s.mode": "mode is one of its words, no number",
    "s.mode == s.phase": "mode is one of its words, no number",
    "s.mode + 1 == 1": "mode is one of its words, no number",
}
TAKEN = (
    "s.leader is not None",
    "s.leader == 1 and s.on",
    "s.mode == 'idle'",
    "s.state[0] in ('idle', 'busy')",
    "s.state[0] == s.mode",
    "s.count",
)


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, dict[str, object]]:
    problem = own_problem(written({}, tmp_path_factory.mktemp("kinds")))
    return problem.model.layout, {field.name: field for field in declared()}


def declared() -> list[object]:
    node = Names("node", 2)
    return [
        Name("leader", node, or_none=True),
        Name("next", node, by=node),
        Choice("state", "idle", "busy", by=node),
        Choice("mode", "idle", "busy"),
        Choice("phase", "one", "two"),
        Flag("on"),
        Number("count", 0, 3),
    ]


@pytest.mark.parametrize(("text", "says"), REFUSED.items(), ids=REFUSED)
def test_a_condition_at_the_prompt_refuses_them_too(text: str, says: str, terms: object) -> None:
    layout, fields = terms  # type: ignore[misc]
    with pytest.raises(BadCondition) as found:
        condition(text, layout, (), fields)

    assert says in str(found.value)


@pytest.mark.parametrize("text", TAKEN)
def test_a_condition_at_the_prompt_takes_what_has_a_meaning(text: str, terms: object) -> None:
    layout, fields = terms  # type: ignore[misc]

    assert condition(text, layout, (), fields).text == text
