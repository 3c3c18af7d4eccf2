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
from tests.support.rule_texts import rule_text
from tests.user_models.test_containers import CHANNELS, HEAD, LOGS, SETS
from waterline.model.core.claim import Behaviour, Pattern, Recoverable
from waterline.model.core.errors import BadEnvironment
from waterline.packing import unpacked
from waterline.telling import numbered

SMALL: dict[str, dict[str, int]] = {
    "raft": {"terms": 1, "entries": 1},
    "kraft_log": {"epochs": 1, "records": 1},
}
"""Bounds of the examples that are large."""
STATES_MAX = 150
RANDOM_MODELS = 10


def differences(both: Both, states_max: int) -> list[object]:
    """Where the two differ, with the state."""
    return [
        (str(unpacked(both.plain, state)), called, ran, checked)
        for state in both.reached(states_max)
        for (called, checked), (also, ran) in zip(
            both.checked(state).items(), both.run(state).items(), strict=True
        )
        if ran != checked or called != also
    ]


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_every_example_runs_as_it_is_checked(file: Path) -> None:
    both = Both.of(file, **SMALL.get(file.stem, {}))
    initial = tuple(unpacked(both.plain, state) for state in both.problem.model.initial)

    assert waterline.initials(both.plain) == initial
    assert differences(both, STATES_MAX) == []


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.py")), ids=lambda file: file.stem)
def test_claims_say_of_plain_states_what_they_say_of_the_checkers(file: Path) -> None:
    both = Both.of(file, **SMALL.get(file.stem, {}))
    problem, protocol = both.problem, both.plain.protocol
    settings = problem.model.settings
    states = list(both.reached(200))
    wrong = []
    for state in states:
        plain = unpacked(both.plain, state)
        for invariant, claim in zip(problem.invariants, protocol.always, strict=True):
            if claim(plain) != bool(invariant.holds(state, settings)):
                wrong.append((str(plain), invariant.name))
        for step in problem.model.successors(state):
            after = unpacked(both.plain, step.after)
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


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RANDOM_MODELS))
def test_rules_made_at_random_run_as_they_are_checked(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "made.py"
    file.write_text(rule_text(seed))
    try:
        both = Both.of(file)
    except BadEnvironment as refused:
        pytest.skip(f"not a model: {refused}")

    assert differences(both, 25) == []


def test_few_random_models_are_refused(tmp_path: Path) -> None:
    """Else the test above would be empty."""
    kinds, refused = set(), 0
    for seed in range(12):
        file = tmp_path / f"made{seed}.py"
        file.write_text(rule_text(seed))
        try:
            both = Both.of(file)
        except BadEnvironment:
            refused += 1
            continue
        states = list(both.reached(20))
        kinds |= {what for state in states for what, _ in both.checked(state).values()}

    assert kinds == {"after", "not enabled", "cut", "raised"}
    assert refused < 4


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
    two = next(state for state in both.reached(9) if unpacked(both.plain, state).n == 2)

    assert both.checked(two)["act()"][0] == expected
    assert both.run(two) == both.checked(two)


@pytest.mark.parametrize("text", [CHANNELS, LOGS, SETS], ids=["channels", "logs", "sets"])
def test_sets_queues_and_logs_run_as_they_are_checked(text: str, tmp_path: Path) -> None:
    file = tmp_path / "containers.py"
    file.write_text(HEAD + text)
    both = Both.of(file)
    narration = both.problem.model.narration

    assert differences(both, 150) == []
    for state in both.reached(150):
        assert str(unpacked(both.plain, state)) == narration.whole(state)


@pytest.mark.parametrize("name", ["peterson", "raft"])
def test_a_state_comes_back_from_its_numbers(name: str) -> None:
    both = Both.of(EXAMPLES / f"{name}.py", **SMALL.get(name, {}))
    model = both.problem.model
    for state in both.reached(50):
        plain = unpacked(both.plain, state)

        assert (
            model.narration.whole(numbered(both.plain, plain._values))
            == model.narration.whole(state)
            == str(plain)
        )


def test_the_lease_runs_as_it_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "lease.py"
    file.write_text(lease_text())

    assert differences(Both.of(file, clients=3), STATES_MAX) == []
    assert differences(Both.of(file, fenced=True), STATES_MAX) == []
