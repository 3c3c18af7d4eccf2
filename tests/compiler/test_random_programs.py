"""Random expressions and functions mean the same compiled as they do in Python.

A few are drawn here, many in tests/verify/compiler.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.support.compiling import ALL_STATES, ARGUMENTS, Both, Outcome, module_of
from tests.support.programs import (
    as_compiled,
    expressions,
    fit,
    function_of,
    rest,
    shift,
    statements,
)

FOLDER = Path(tempfile.mkdtemp(prefix="waterline-programs-"))


def assert_same(text: str, varying: tuple[str, ...]) -> list[Outcome]:
    """What the function comes to in many states, which is the same both ways."""
    interpreted = module_of(text, FOLDER)
    vars(interpreted).update(fit=fit, rest=rest, shift=shift)
    both = Both(module_of(as_compiled(text), FOLDER).f, ALL_STATES[0].layout, varying=varying)
    compiled, both.function = both.function, interpreted.f
    assert compiled is not interpreted.f
    outcomes: list[Outcome] = []
    for number, state in enumerate(ALL_STATES):
        argument = number % ARGUMENTS
        expected = both.interpreted(state, argument)
        found = both.compiled(state, argument)

        assert found == expected, (text, state, argument)
        flat = both.flat(state, argument)
        if flat is not None:
            assert flat == (expected if isinstance(expected, str) else expected[0])
        outcomes.append(expected)
    return outcomes


VARYING = st.sampled_from(((), ("none",), ("low", "none", "high")))
# What is drawn from is deferred: to make it takes seconds, in each process that collects tests.
EXPRESSIONS = st.deferred(expressions)
BODIES = st.deferred(statements)
BODIES_THAT_LOOK = st.deferred(lambda: statements(writes=False))
MANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(MANY, max_examples=5)


@FEW
@given(expression=EXPRESSIONS, varying=VARYING)
def test_an_expression_means_what_it_means_in_python(
    expression: str, varying: tuple[str, ...]
) -> None:
    assert_same(function_of([f"return {expression}"]), varying)


@FEW
@given(body=BODIES, varying=VARYING)
def test_a_function_does_what_it_does_in_python(body: list[str], varying: tuple[str, ...]) -> None:
    assert_same(function_of(body), varying)


NEGATIVE_SHIFT = (
    "if t.x:",
    "    p = (0)",
    "    fit(p)",
    "    fit(q)",
    "    return t.row[fit(t.x {} shift((-1)))]",
)
"""A fault. By a negative number LLVM's own shift is poison, and so is what is made of it."""


@FEW
@example(body=[line.format("<<") for line in NEGATIVE_SHIFT], varying=())
@example(body=[line.format(">>") for line in NEGATIVE_SHIFT], varying=())
@given(body=BODIES_THAT_LOOK, varying=VARYING)
def test_a_function_that_only_looks_means_the_same_without_branches(
    body: list[str], varying: tuple[str, ...]
) -> None:
    assert_same(function_of(body), varying)
