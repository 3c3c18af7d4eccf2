"""Many random expressions and functions mean the same compiled as they do in Python."""

from __future__ import annotations

from hypothesis import given

from tests.compiler.test_random_programs import (
    BODIES,
    BODIES_THAT_LOOK,
    EXPRESSIONS,
    MANY,
    VARYING,
    assert_same,
)
from tests.support.programs import function_of


@MANY
@given(expression=EXPRESSIONS, varying=VARYING)
def test_an_expression_means_what_it_means_in_python(
    expression: str, varying: tuple[str, ...]
) -> None:
    assert_same(function_of([f"return {expression}"]), varying)


@MANY
@given(body=BODIES, varying=VARYING)
def test_a_function_does_what_it_does_in_python(body: list[str], varying: tuple[str, ...]) -> None:
    assert_same(function_of(body), varying)


@MANY
@given(body=BODIES_THAT_LOOK, varying=VARYING)
def test_a_function_that_only_looks_means_the_same_without_branches(
    body: list[str], varying: tuple[str, ...]
) -> None:
    assert_same(function_of(body), varying)
