"""What can follow in the other version: against the definitions, and of every kind on a graph."""

from __future__ import annotations

import random
import time
from collections.abc import Collection, Sequence
from dataclasses import replace

import networkx as nx
import pytest

from checker.analysis.compare.aligning import How, Pair, aligned
from checker.analysis.compare.continuation import Following, Outcome
from checker.analysis.compare.cycle import gone_round
from checker.analysis.compare.liveness import what_follows
from checker.analysis.explain.allowance import Allowance
from checker.analysis.explain.executions import Event
from checker.problem.problem import Problem
from checker.problem.words import Words
from counterexamples import replay, trace_of
from model.core.claim import Behaviour, Pattern, Recoverable, Temporal, ways_back
from model.core.state import State
from model.core.transition_system import Model
from tests.support.labelled_graph import (
    BACK,
    BACK_BY_ALL,
    BEYOND,
    CLAIMS,
    FAIR,
    LEADS_TO,
    NODES,
    Edges,
    labelled_problem,
    node_state,
)
from tests.support.on_courses import OnCourses, a_graph
from tests.support.temporal_oracle import Space, explored, for_ever, no_way_back

PLENTY = Allowance(states=1_000_000, ends=time.monotonic() + 10_000)
GRAPHS = 80
BACK_BY_FREE = replace(BACK, name="back_by_free", by=("Free",))
"""By none of the steps that are fair."""
Call = tuple[str, tuple[int, ...]]


def fair(label: int) -> Call:
    return "Fair", (label,)


def free(label: int) -> Call:
    return "Free", (label,)


def walked(model: Model, dice: random.Random, length: int) -> list[Call]:
    """A walk by chance, as far as there is one."""
    state, calls = model.initial[0], []
    for _ in range(length):
        steps = list(model.successors(state))
        if not steps:
            break
        step = dice.choice(steps)
        calls.append((step.action.name, step.arguments))
        state = step.after
    return calls


def beside(left: Problem, right: Problem, calls: Sequence[Call]) -> tuple[Pair, ...]:
    """A walk in one graph beside what another does."""
    return aligned(replay(trace_of(left.model, "any", calls), left.model), right.model, Words())


def by_definition(
    problem: Problem, claim: Behaviour, states: Sequence[State], events: Sequence[Event]
) -> tuple[Collection[Outcome], Space]:
    """What may follow on the last of some states, and all that follows."""
    settings, end = problem.model.settings, states[-1]
    actions = problem.model.enabled_actions
    if isinstance(claim, Recoverable):
        by = set(ways_back(claim, actions))
        space = explored(OnCourses(problem.model, end, (), by))  # type: ignore[arg-type]
        if not claim.when(end, settings):
            return {Outcome.NOT_CLAIMED}, space
        found = no_way_back(space, claim)
        stuck = end in {node.state for node in found.lost}  # type: ignore[attr-defined]
        is_open = end in {node.state for node in found.not_judged}  # type: ignore[attr-defined]
        return {Outcome.STAYS if stuck else Outcome.OPEN if is_open else Outcome.COMES}, space
    own = {action.name for action in actions if action.weakly_fair}
    space = explored(OnCourses(problem.model, end, events, own))  # type: ignore[arg-type]
    waits = waits_after(claim, states, settings)
    if claim.pattern is Pattern.EVENTUALLY and not waits:
        return {Outcome.COMES}, space
    breaks = bool(for_ever(space, claim))
    if waits:
        # Who waits at the start waits as for what is to come in any case.
        breaks |= bool(for_ever(space, replace(claim, pattern=Pattern.EVENTUALLY)))
    return {Outcome.STAYS} if breaks else {Outcome.COMES, Outcome.OPEN}, space


def waits_after(claim: Temporal, states: Sequence[State], settings: object) -> bool:
    """Whether something is still to come after the last of the states."""
    comes = [claim.then(state, settings) for state in states]
    if claim.pattern is Pattern.EVENTUALLY:
        return not any(comes)
    if claim.pattern is Pattern.ALWAYS_EVENTUALLY:
        return not comes[-1]
    return any(claim.when(s, settings) and not any(comes[i:]) for i, s in enumerate(states))


def fewest(space: Space, claim: Behaviour, by: Collection[str]) -> int:
    """How many steps of these actions lead to what is to come, from where the space begins."""
    settings = space.model.settings
    good = claim.good if isinstance(claim, Recoverable) else claim.then
    far = nx.single_source_shortest_path_length(space.graph(by=by), space.states[0])
    return min(far[state] for state in far if good(state, settings))


def test_what_follows_is_what_the_definitions_say() -> None:
    seen = dict.fromkeys(Outcome, 0)
    rounds = obliged = 0
    for seed in range(GRAPHS):
        dice = random.Random(seed)
        (ours, theirs), q = (a_graph(dice), a_graph(dice)), dice.sample(range(NODES), 2)
        for claim in (*CLAIMS, BACK_BY_FREE):
            left, right = (
                labelled_problem(edges, p=range(0, NODES, 2), q=q, claims=(claim,))
                for edges in (ours, {**ours, **theirs} if dice.random() < 0.5 else theirs)
            )
            pairs = beside(left, right, walked(left.model, dice, dice.randint(0, 5)))
            repeats_after = dice.randint(0, len(pairs))
            again = [m for p in pairs[repeats_after:] for m in (p.ours, p.theirs) if m is not None]
            events = [Event(m.action, m.values[0], again=True) for m in again]
            states = [right.model.initial[0], *(pair.right for pair in pairs)]

            found = what_follows(right, claim, right.model.initial[0], pairs, repeats_after, PLENTY)
            expected, space = by_definition(right, claim, states, events)

            assert found.outcome in expected, (seed, claim.name)
            assert found.outcome is not Outcome.OPEN or any(space.cut.values())
            if found.states:
                reached = {node.state for node in space.states}  # type: ignore[attr-defined]
                assert found.states == len(reached), (seed, claim.name)
            if found.outcome is Outcome.COMES and found.way:
                require_way(found, claim, space, right)
            seen[found.outcome] += 1
            rounds += found.stays_by_itself
            obliged += found.round is not None and bool(found.round.obliged)
    # All of them come up, or the comparison would say nothing.
    del seen[Outcome.UNDECIDED]
    assert min(*seen.values(), rounds, obliged) > 10


def require_way(found: Following, claim: Behaviour, space: Space, right: Problem) -> None:
    """A way leads to what comes, is as short as any, and begins as fairness obliges."""
    settings, end = right.model.settings, found.way[-1].after
    if isinstance(claim, Recoverable):
        by = ways_back(claim, right.model.enabled_actions)

        assert claim.good(end, settings)
        assert len(found.way) == fewest(space, claim, by)
        return
    first = (found.way[0].action, found.way[0].arguments)
    assert found.round is not None
    asked = {(each.action, each.arguments) for each in found.round.obliged if not each.limit}

    assert claim.then(end, settings)
    assert {moment.action for moment in found.way} == {"Fair"}
    assert first in asked or len(found.way) == fewest(space, claim, {"Fair"})


def following(
    ours: Edges,
    theirs: Edges,
    calls: Sequence[Call],
    claim: Behaviour = LEADS_TO,
    *,
    repeats_after: int = 0,
    p: Collection[int] = range(NODES),
    q: Collection[int] = (),
    allowance: Allowance = PLENTY,
) -> Following:
    """What follows in the second graph on a walk in the first."""
    left, right = (labelled_problem(e, p=p, q=q, claims=(claim,)) for e in (ours, theirs))
    pairs = beside(left, right, calls)
    return what_follows(right, claim, node_state(0), pairs, repeats_after, allowance)


ROUND: Edges = {(0, 0): 1, (1, FAIR): 0}
"""A fair step to node 1, and a free one back."""


def test_the_cycle_that_stays_is_the_traces_own() -> None:
    found = following(ROUND, {**ROUND, (0, FAIR + 1): 2}, [fair(0), free(0)])

    assert found.stays_by_itself
    assert (found.outcome, found.states, found.explanation) == (Outcome.STAYS, 0, "node 0.")


def test_what_fairness_obliges_breaks_a_cycle_open() -> None:
    repaired = {**ROUND, (0, 1): 2, (1, 1): 2, (2, 2): 3}
    found = following(ROUND, repaired, [fair(0), free(0)], q=[3])

    assert found.round is not None
    assert [(each.action, dict(each.arguments)) for each in found.round.obliged] == [
        ("Fair", {"label": 1})
    ]
    assert (found.outcome, found.is_waiting) == (Outcome.COMES, True)
    assert [str(moment) for moment in found.way] == ["Fair(label=1)", "Fair(label=2)"]
    assert [moment.number for moment in found.way] == [3, 4]


def test_the_way_that_is_shown_begins_as_fairness_obliges_though_another_is_shorter() -> None:
    # Fair(1) is not enabled all the time, so that nobody is obliged to take it.
    repaired = {**ROUND, (0, 1): 3, (0, 2): 2, (1, 2): 2, (2, 2): 3}
    found = following(ROUND, repaired, [fair(0), free(0)], q=[3])

    assert [str(moment) for moment in found.way] == ["Fair(label=2)", "Fair(label=2)"]


def test_a_step_that_a_bound_cuts_is_obliged_and_leaves_it_open() -> None:
    found = following(ROUND, {**ROUND, (0, 1): BEYOND, (1, 1): BEYOND}, [fair(0), free(0)], q=[3])

    assert found.round is not None
    assert [each.limit for each in found.round.obliged] == ["beyond"]
    assert (found.outcome, found.open_states) == (Outcome.OPEN, 2)


def test_one_cycle_is_broken_open_and_another_stays() -> None:
    elsewhere = {**ROUND, (0, 1): 2, (1, 1): 2, (2, 2): 4, (4, 2): 2}
    found = following(ROUND, elsewhere, [fair(0), free(0)], q=[3])

    assert found.outcome is Outcome.STAYS
    assert not found.stays_by_itself
    assert [str(moment) for moment in found.way] == ["Fair(label=1)", *["Fair(label=2)"] * 2]
    assert found.repeats_after == 1
    assert found.explanation == "node 2."


def test_a_step_of_the_cycle_that_is_not_there_is_named() -> None:
    found = following(ROUND, {(0, 0): 1, (1, 1): 3}, [fair(0), free(0)], q=[3])

    assert found.round is not None
    assert found.round.obstacle == "step 2 is not possible"
    assert found.outcome is Outcome.COMES
    assert [str(moment) for moment in found.way] == ["Fair(label=1)"]


def test_a_step_that_is_there_only_once_is_named() -> None:
    found = following(ROUND, {(0, 0): 1, (1, FAIR): 2, (2, 1): 3}, [fair(0), free(0)], q=[3])

    assert found.round is not None
    assert found.round.obstacle == "the next time round step 1 is not possible"


def test_a_cycle_may_close_when_it_is_gone_round_once_more() -> None:
    # The first time round it comes to node 2, and from then on it goes 2, 3, 2.
    later = {(0, 0): 1, (1, FAIR): 2, (2, 0): 3, (3, FAIR): 2}
    found = following(ROUND, later, [fair(0), free(0)])

    assert found.stays_by_itself
    assert found.round is not None
    assert (found.round.begins, len(found.round.moments)) == (2, 4)
    assert found.explanation == "node 2."


def test_what_had_to_be_done_first_need_not_be_done_again() -> None:
    words = Words(outside=frozenset({"Free"}))
    left = labelled_problem({(0, FAIR): 1, (1, FAIR): 0}, q=()).model
    right = labelled_problem({(0, 0): 2, (2, FAIR): 3, (3, FAIR): 2}, q=()).model
    replayed = replay(trace_of(left, "any", [free(0), free(0)], cycle=0), left)
    pairs = aligned(replayed, right, words)
    around = gone_round(right.initial[0], pairs, 0, right, words, {"Fair"})

    assert [pair.how for pair in pairs] == [How.INSERTED, How.SAME, How.SAME]
    assert [moment.action for moment in around.moments] == ["Fair", *["Free"] * 4]
    assert (around.begins, around.is_fair) == (3, True)


def test_what_came_on_the_way_is_no_longer_waited_for() -> None:
    found = following({(0, 0): 1}, {(0, 0): 1}, [fair(0)], p=[0], q=[1], repeats_after=1)

    assert (found.outcome, found.is_waiting, found.came_at) == (Outcome.COMES, False, 1)


def test_what_comes_each_time_round_is_waited_for_each_time() -> None:
    found = following(ROUND, ROUND, [fair(0), free(0)], p=[0], q=[1])

    assert (found.outcome, found.is_waiting, found.came_at) == (Outcome.COMES, True, 1)
    assert found.round is not None
    assert found.round.is_fair


def test_nothing_is_promised_where_nothing_was_asked_for() -> None:
    found = following(ROUND, ROUND, [fair(0), free(0)], p=[5])

    assert (found.outcome, found.is_waiting, found.came_at) == (Outcome.COMES, False, None)


def test_whoever_stands_still_may_do_so_where_nothing_is_obliged() -> None:
    stays = following({}, {(0, FAIR): 1}, [])
    moves = following({}, {(0, 0): 1}, [], q=[1])

    assert stays.stays_by_itself
    assert stays.round is not None
    assert stays.round.is_standstill
    assert (moves.outcome, [str(moment) for moment in moves.way]) == (
        Outcome.COMES,
        ["Fair(label=0)"],
    )


@pytest.mark.parametrize(
    ("theirs", "claim", "outcome", "way"),
    [
        ({(1, 0): 2, (2, 0): 3}, BACK, Outcome.COMES, 2),
        ({(1, 0): 2, (2, FAIR): 3}, BACK, Outcome.STAYS, 0),
        ({(1, 0): 2, (2, FAIR): 3}, BACK_BY_ALL, Outcome.COMES, 2),
        ({(1, 0): 2, (2, 0): BEYOND}, BACK, Outcome.OPEN, 0),
    ],
)
def test_a_way_back_is_by_the_steps_that_may_lead_back(
    theirs: Edges, claim: Recoverable, outcome: Outcome, way: int
) -> None:
    found = following({(0, 0): 1}, {(0, 0): 1, **theirs}, [fair(0)], claim, q=[3], repeats_after=1)

    assert (found.outcome, len(found.way)) == (outcome, way)


def test_no_way_back_is_claimed_of_states_that_the_claim_is_not_about() -> None:
    found = following({(0, 0): 1}, {(0, 0): 1}, [fair(0)], BACK, p=[0], repeats_after=1)

    assert found.outcome is Outcome.NOT_CLAIMED


@pytest.mark.parametrize("claim", [BACK, LEADS_TO])
def test_a_search_ends_at_its_budget(claim: Behaviour) -> None:
    few = Allowance(states=2, ends=PLENTY.ends)
    theirs = {(0, 0): 1, (1, 0): 2, (2, 0): 3, (3, 0): 4}
    found = following({}, theirs, [], claim, q=[4], allowance=few)

    assert found.outcome is Outcome.UNDECIDED
    assert found.states > 2
    assert not found.way
