"""An action that plain Python runs does what the checker says: in every state, for all arguments.

The checker's side is the interpreted model; that compiled rules equal it is tested elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import waterline
from tests.support.live import Both, lease_text
from tests.support.own import EXAMPLES
from tests.user_models.test_containers import FILES, HEAD
from waterline.model.core.claim import Behaviour, Pattern, Recoverable
from waterline.state import unpack
from waterline.telling import number_state

SMALL: dict[str, dict[str, int]] = {
    "raft": {"terms": 1, "entries": 1},
    "kraft_log": {"epochs": 1, "records": 1},
}
"""Bounds of the examples that are large."""
STATES_MAX = 40
"""Of each model. In tests/verify more are looked at, and rules made at random."""
EXAMPLE_FILES = sorted(EXAMPLES.glob("*.py"))


def differences(both: Both, states_max: int) -> list[object]:
    """Where the two differ, with the state."""
    return [
        (str(unpack(both.plain, state)), called, ran, checked)
        for state in both.reached(states_max)
        for (called, checked), (also, ran) in zip(
            both.checked(state).items(), both.run(state).items(), strict=True
        )
        if ran != checked or called != also
    ]


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.stem)
def test_every_example_runs_as_it_is_checked(file: Path) -> None:
    assert_runs_as_checked(file, STATES_MAX)


def assert_runs_as_checked(file: Path, states_max: int) -> None:
    """An example has the same initial states, and does the same in so many states."""
    both = Both.of(file, **SMALL.get(file.stem, {}))
    initial = tuple(unpack(both.plain, state) for state in both.problem.model.initial)

    assert waterline.initials(both.plain) == initial
    assert differences(both, states_max) == []


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.stem)
def test_claims_say_of_plain_states_what_they_say_of_the_checkers(file: Path) -> None:
    assert_claims_agree(file, STATES_MAX)


def assert_claims_agree(file: Path, states_max: int) -> None:
    """The claims of an example are true of the same states and steps."""
    both = Both.of(file, **SMALL.get(file.stem, {}))
    problem, protocol = both.problem, both.plain.protocol
    settings = problem.model.settings
    states = list(both.reached(states_max))
    wrong = []
    for state in states:
        plain = unpack(both.plain, state)
        for invariant, claim in zip(problem.invariants, protocol.always, strict=True):
            if claim(plain) != bool(invariant.holds(state, settings)):
                wrong.append((str(plain), invariant.name))
        for step in problem.model.successors(state):
            after = unpack(both.plain, step.after)
            for kept, claim in zip(problem.properties, protocol.every_step, strict=True):
                if claim(plain, after) != bool(kept.keeps(state, step.after, settings)):
                    wrong.append((str(plain), kept.name))
        for behaviour in problem.behaviours:
            for predicate, claim, names in predicates(behaviour, protocol):
                if claim(plain, *names) != bool(predicate(state, settings)):
                    wrong.append((str(plain), behaviour.name))

    assert states
    assert wrong == []


def predicates(
    behaviour: Behaviour, protocol: waterline.Protocol
) -> Iterator[tuple[Any, Any, list[int]]]:
    """What the checker asks of a state, the function that says it, and the names it is about."""
    named, *names = behaviour.name.split(".")
    numbers = [int(re.sub(r"\D", "", name)) for name in names]
    if isinstance(behaviour, Recoverable):
        functions = {f"recoverable_{each.__name__}": each for each in protocol.recoverable}
        yield behaviour.good, functions[named], numbers
        return
    functions = {f"eventually_{each.__name__}": each for each in protocol.eventually}
    again = protocol.always_eventually
    functions |= {f"always_eventually_{each.__name__}": each for each in again}
    if behaviour.pattern is not Pattern.LEADS_TO:
        yield behaviour.then, functions[named], numbers
        return
    pairs = {f"{p.__name__}_leads_to_{q.__name__}": (p, q) for p, q in protocol.leads_to}
    for asked, function in zip((behaviour.when, behaviour.then), pairs[named], strict=True):
        yield asked, function, numbers[: function.__code__.co_argcount - 1]


@pytest.mark.parametrize(
    ("asks", "expected"),
    [
        ("within(s.n < s.top)\n    when(s.n < 1)", "not enabled"),
        ("when(s.n > 1)\n    within(s.n < s.top)", "cut"),
        ("within(s.n < s.top)\n    when(s.n > 1)", "cut"),
        ("within(s.n < s.top)\n    v = s.row[s.n]\n    when(v > 1)", "raised"),
        ("within(s.n < s.top)\n    when(s.n > 1)\n    s.n = s.row[s.n + 1]", "cut"),
        ("when(s.n > 1)\n    s.n = s.row[s.n + 1]", "raised"),
        ("when(s.n > 1)\n    s.n = s.row[-1]", "raised"),
        ("when(s.n > 1)\n    s.n -= 3", "raised"),
        ("within(s.low + s.n < s.top)\n    within(s.n < s.top)", "cut"),
    ],
)
def test_the_order_of_questions_does_not_matter(asks: str, expected: str, tmp_path: Path) -> None:
    """In the state in which n is 2: beyond the bound is what is enabled, and nothing else."""
    file = tmp_path / "order.py"
    file.write_text(
        "from waterline import Number, Protocol, when, within\n"
        "def order(top: int = 2, low: int = 0) -> Protocol:\n"
        "    return Protocol(fields=[Number('n', 0, 2), Number('row', 0, 1, by=2)],\n"
        "                    actions=[more, act])\n"
        "def more(s):\n    when(s.n < 2)\n    s.n += 1\n"
        f"def act(s):\n    {asks}\n    s.row[1] = 1\n"
    )
    both = Both.of(file)
    two = next(state for state in both.reached(9) if unpack(both.plain, state).n == 2)

    assert both.checked(two)["act()"][0] == expected
    assert both.run(two) == both.checked(two)


@pytest.mark.parametrize("name", FILES)
def test_sets_queues_and_logs_run_as_they_are_checked(name: str, tmp_path: Path) -> None:
    assert_containers_run_as_checked(FILES[name], tmp_path, STATES_MAX)


def assert_containers_run_as_checked(text: str, folder: Path, states_max: int) -> None:
    """Also, a state is shown alike."""
    file = folder / "containers.py"
    file.write_text(HEAD + text)
    both = Both.of(file)
    narration = both.problem.model.narration

    assert differences(both, states_max) == []
    for state in both.reached(states_max):
        assert str(unpack(both.plain, state)) == narration.whole(state)


@pytest.mark.parametrize("name", ["peterson", "raft"])
def test_a_state_comes_back_from_its_numbers(name: str) -> None:
    both = Both.of(EXAMPLES / f"{name}.py", **SMALL.get(name, {}))
    model = both.problem.model
    for state in both.reached(50):
        plain = unpack(both.plain, state)

        assert (
            model.narration.whole(number_state(both.plain, plain._values))
            == model.narration.whole(state)
            == str(plain)
        )


def test_the_lease_runs_as_it_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "lease.py"
    file.write_text(lease_text())

    assert differences(Both.of(file, clients=3), STATES_MAX) == []
    assert differences(Both.of(file, fenced=True), STATES_MAX) == []
