"""Kernels of problems with more than one mask has bits for, and kernels that are shared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.graph_model import NODES, NOT_BAD, NOT_WORSE, graph_problem, node_state
from waterline.checker.compiler.kernel import plan_of
from waterline.checker.compiler.loops import FAULT_BIT
from waterline.checker.problem.problem import Problem, Shared
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.model.core.transition_system import Parameter

EDGES = [(0, 1), (0, 2), (2, 1), (5, 47), (47, 5), (3, 3)]


def can_follow_either(s: Any, c: Any, target: int, other: int) -> bool:
    """There is an edge, and one to another node from there on."""
    return (c[10 + s.node] >> target) & 1 == 1 and (c[10 + target] >> other) & 1 == 1


def follow_other(s: Any, c: Any, target: int, other: int) -> None:
    """Take both."""
    s.node = other


def never_beyond(s: Any, c: Any, target: int, other: int) -> int:
    """Bounded by the second node."""
    return (c.beyond >> other) & 1


def of_pairs(**marked: Any) -> Problem:
    """A graph whose only action has 2,304 arguments, the others coming before it and behind it."""
    problem = graph_problem(EDGES, **marked)
    follow, *others = problem.model.actions
    both = replace(
        follow,
        name="FollowTwice",
        parameters=(Parameter("target", "nodes"), Parameter("other", "nodes")),
        guard=can_follow_either,
        effect=follow_other,
        limit=never_beyond,
    )
    actions = (follow, both, *others)
    contents = tuple(action.name for action in actions)
    model = replace(problem.model, actions=actions, contents=contents)
    return replace(problem, model=model, shared=None)


def of_many_claims() -> Problem:
    """A graph with three invariants more than a mask has bits."""
    problem = replace(graph_problem(EDGES, bad=[1, 5], worse=[2], poisons=[9]), shared=None)
    first = [replace(NOT_WORSE, name=f"first{i}") for i in range(FAULT_BIT)]
    last = [replace(NOT_BAD, name=f"last{i}") for i in range(3)]
    return replace(problem, invariants=(*first, *last))


def shifted(s: Any, c: Any) -> bool:
    """Raises in the first nodes, where it is evaluated."""
    return (c.bad >> (s.node - 5)) & 1 == 0


def of_fewer() -> Problem:
    """A graph that shares its kernel with others, and lacks actions and claims that they have."""
    problem = graph_problem(
        EDGES, bad=[1, 2, 5], worse=[0, 1], breaks=[0, 7], divides=[1], trips=[2]
    )
    model = replace(problem.model, contents=("Follow", "Never"))
    raising = replace(NOT_BAD, holds=shifted)
    asked = frozenset(("not_worse", "clear"))
    return replace(problem, model=model, invariants=(raising, NOT_WORSE), asked=asked)


@pytest.mark.parametrize("nodes", [[0], [0, 2, 5, 47, 3, 9], [*range(NODES), *range(NODES)]])
def test_an_action_with_more_arguments_than_a_mask_has_bits_is_asked_one_by_one(
    nodes: list[int],
) -> None:
    problem = of_pairs(beyond=[5])
    model = problem.model
    rows = np.array([node_state(node).words for node in nodes], np.uint64)
    tally = Tally(problem)
    expander = Expander(problem)
    found = sorted(
        tuple(map(int, row)) for n in expander.expand(rows, tally) for row in expander.out[:n]
    )
    steps = [step for node in nodes for step in model.successors(node_state(node))]

    assert found == sorted(step.after.words for step in steps)
    fired = [step.action.name for step in steps]
    assert tally.fired.tolist() == [fired.count(action.name) for action in model.actions]
    dead = [n for n in nodes if not any(s == n for s, _ in EDGES)]
    assert tally.deadlock == (node_state(min(dead)).words if dead else None)
    assert not tally.faults


def test_more_claims_than_a_mask_has_bits_are_all_checked() -> None:
    problem = of_many_claims()
    expander = Expander(problem)

    def broken(*nodes: int) -> Findings:
        findings = Findings(problem)
        rows = np.array([node_state(node).words for node in nodes], np.uint64)
        expander.inspect(rows, findings)
        return findings

    found = broken(7, 5, 2, 1)

    assert found.broken.tolist() == [True] * (FAULT_BIT + 3)
    assert found.as_dict()[0] == node_state(2).words
    assert found.as_dict()[FAULT_BIT + 2] == node_state(1).words
    assert broken(7, 9).faults == [node_state(9).words]
    assert not broken(7, 0).broken.any()


def test_problems_that_share_a_kernel_have_one_plan_whatever_each_checks_and_contains() -> None:
    """What one of them does not have or does not ask for is in the kernel all the same."""
    problem = graph_problem(EDGES)
    other = graph_problem([(1, 0)], bad=[3])
    fewer = replace(other.model, contents=("Follow",))
    names = frozenset(claim.name for claim in (*problem.invariants, *problem.properties))
    shared = Shared(
        settings=frozenset(problem.model.settings._fields),
        actions=frozenset(problem.model.contents),
        claims=names,
    )
    asked = [
        replace(problem, shared=shared),
        replace(other, model=fewer, shared=shared, asked=frozenset(("not_bad",))),
    ]

    assert plan_of(asked[0]) == plan_of(asked[1])
    assert plan_of(replace(asked[0], shared=None)) != plan_of(replace(asked[1], shared=None))


def test_of_a_shared_kernel_only_the_problems_own_actions_and_claims_are_used() -> None:
    """Those of others would break a range, divide by zero, and be broken."""
    problem = of_fewer()
    rows = np.array([node_state(node).words for node in range(NODES)], np.uint64)
    expander, tally, findings = Expander(problem), Tally(problem), Findings(problem)
    steps = sum(expander.expand(rows, tally))
    expander.inspect(rows, findings)

    assert steps == len(EDGES)
    assert tally.fired.tolist() == [len(EDGES), 0, 0, 0]
    assert tally.faults == findings.faults == []
    assert findings.broken.tolist() == [False, True]
    assert tally.breaches.as_dict() == {1: node_state(2).words}
