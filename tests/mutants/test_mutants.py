"""What is altered in a text, what is left alone, and what each mutant reads like."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.own import EXAMPLES
from waterline.checker.mutants.mutants import CONDITIONS, EFFECTS, GUARDS, Mutant, mutants_of
from waterline.checker.user_models.loading import load_text, read_own

TEXT = '''\
from waterline import Number, Protocol, when, within


def counter(top: int = 3, down: bool = False) -> Protocol:
    return Protocol(
        fields=[Number("x", 0, 5), Number("y", 0, 5)],
        actions=[move, fall] if down else [move],
        always=[low],
    )


def move(s):
    """The figure “é” stays, so do remarks."""
    when(
        s.x >= 0 and  # of the guard
        s.y < 5
    ); within(s.x < s.top)
    if s.x > s.y or s.x > 1: s.y = s.x
    s.x += 1


def fall(s):
    when(s.x == 5 and s.y == 5)
    s.x = least(s)


def least(s):
    return 0 if s.y != 1 else 1


def low(s):
    return s.x < 9
'''


def mutants(**bounds: int) -> list[Mutant]:
    own = load_text(TEXT, "counter.py")
    return mutants_of(own, "counter", own.bounds("counter") | bounds)


def test_guards_conditions_and_effects_are_altered_and_bounds_and_claims_are_not() -> None:
    assert [(each.kind, each.change) for each in mutants() if each.rule == "move"] == [
        (GUARDS, "drop when(s.x >= 0 and s.y < 5)"),
        (GUARDS, "drop s.x >= 0 of `and`"),
        (GUARDS, "drop s.y < 5 of `and`"),
        (GUARDS, "s.x >= 0 -> s.x > 0"),
        (GUARDS, "s.x >= 0 -> s.x < 0"),
        (GUARDS, "s.y < 5 -> s.y <= 5"),
        (GUARDS, "s.y < 5 -> s.y >= 5"),
        (CONDITIONS, "drop s.x > s.y of `or`"),
        (CONDITIONS, "drop s.x > 1 of `or`"),
        (CONDITIONS, "negate s.x > s.y or s.x > 1"),
        (CONDITIONS, "s.x > s.y or s.x > 1 -> True"),
        (CONDITIONS, "s.x > s.y or s.x > 1 -> False"),
        (CONDITIONS, "s.x > s.y -> s.x >= s.y"),
        (CONDITIONS, "s.x > s.y -> s.x <= s.y"),
        (CONDITIONS, "s.x > 1 -> s.x >= 1"),
        (CONDITIONS, "s.x > 1 -> s.x <= 1"),
        (EFFECTS, "drop s.y = s.x"),
        (EFFECTS, "drop s.x += 1"),
    ]
    assert {each.rule for each in mutants()} == {"move"}


def test_an_action_and_what_it_calls_are_altered_within_the_bounds_that_have_them() -> None:
    assert {each.rule for each in mutants(down=True)} == {"move", "fall", "least"}


def test_every_other_line_of_a_mutant_is_that_of_the_model() -> None:
    whole = TEXT.splitlines()
    for mutant in mutants(down=True):
        lines = mutant.text.splitlines()
        differ = [n for n, (a, b) in enumerate(zip(whole, lines, strict=False)) if a != b]

        assert differ
        assert len(lines) == len(whole) + 1
        # Only the guard of `move` stands on several lines.
        assert {*differ} <= {mutant.line - 1, *(range(14, 18) if mutant.line < 18 else ())}


@pytest.mark.parametrize("name", ["circuit_breaker", "fenced_lease", "peterson"])
def test_no_two_mutants_of_an_example_read_alike_or_are_named_alike(name: str) -> None:
    require_differing_mutants(EXAMPLES / f"{name}.py")


def require_differing_mutants(path: Path) -> None:
    own = load_text(*read_own(path))
    name = next(iter(own.protocols))
    found = mutants_of(own, name, own.bounds(name))
    trees = {ast.dump(ast.parse(each.text)) for each in found}

    assert len(found) >= 10
    assert len(trees) == len({(each.rule, each.change) for each in found}) == len(found)
    assert ast.dump(ast.parse(own.text)) not in trees
