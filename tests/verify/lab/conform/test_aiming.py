"""What brokers can be steered to, the way there, and aiming from outcome to outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.conform import conforming
from lab.conform.aiming import Aiming, Plan, lag_of, plan_goals
from lab.conform.circumstances import CIRCUMSTANCES
from lab.conform.conformance import begin
from lab.conform.harness_digest import harness_digest, modules
from lab.conform.outcomes import Outcome, outcome_of
from lab.conform.reaching import DEAR, Search
from lab.conform.steerable import SILENT, Steerable
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.stepping import LAG_MS, NO_LAG_MS, SHRINK
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.counterexamples import Moment
from waterline.model.core.transition_system import Call
from waterline.model.message.environment import Environment

OLD, NEW = kafka_release("0.10.2.2"), kafka_release("2.8.2")
MANY = 10**6


def problem(version: str = "hw", **options: object) -> Problem:
    small: dict[str, object] = {"records": 1, "epochs": 1, "restarts": 1, "hw_in_response": "pre"}
    return MESSAGE.problem(version, Environment(**small | options), ["valid_isr"])  # type: ignore[arg-type]


def outcome_at_the_end(asked: Problem, way: tuple[Call, ...]) -> Outcome:
    state = before = asked.model.initial[0]
    for name, arguments in way:
        before = state
        [state] = [
            step.after
            for step in asked.model.successors(state)
            if (step.action.name, step.arguments) == (name, arguments)
        ]
    return outcome_of(asked.model, way[-1][0], before, state)


def test_a_plan_has_a_way_to_every_outcome_that_can_be_had() -> None:
    asked = problem()
    plan = plan_goals(asked, OLD, states_max=MANY, announce=lambda line: None)

    assert plan.complete
    assert plan.outcomes == len(plan.ways) > 20
    assert {goal: outcome_at_the_end(asked, way) for goal, way in plan.ways.items()} == {
        goal: goal for goal in plan.ways
    }


def test_what_no_way_leads_to_is_named_with_the_step_in_the_way() -> None:
    asked = problem(parked_fetches=True)
    plan = plan_goals(asked, OLD, states_max=MANY, announce=lambda line: None)
    actions = {action for action, _ in plan.unsteerable}

    assert "WakeParked" in actions
    assert "WakeParked" not in {action for action, _ in plan.ways}
    assert all(why.startswith("`WakeParked`") for why in plan.unsteerable.values())
    assert "WakeParked" in plan.restrictions


def test_a_search_that_was_cut_is_not_complete() -> None:
    plan = plan_goals(problem(), OLD, states_max=20, announce=lambda line: None)

    assert not plan.complete


def test_a_way_has_as_few_dear_steps_as_any() -> None:
    """By chance or by the shortest way there may be more of them."""
    asked = problem(restarts=2, moves=1, epochs=2)
    plan = plan_goals(asked, OLD, states_max=MANY, announce=lambda line: None)
    dear = {goal: sum(action in DEAR for action, _ in way) for goal, way in plan.ways.items()}

    search = Search(asked, Steerable(asked.model, OLD, LAG_MS))
    for number in range(max(dear.values())):
        search.carried_out(states_max=MANY, dear_max=number)

        assert search.outcomes == {goal for goal in dear if dear[goal] <= number}
    assert max(dear.values()) > 1


def test_the_isr_shrinks_only_on_brokers_that_look_for_lag() -> None:
    plan = plan_goals(problem(), OLD, states_max=MANY, announce=lambda line: None)
    shrinking = [way for way in plan.ways.values() if any(action == SHRINK for action, _ in way)]

    assert {lag_of(way) for way in shrinking} == {LAG_MS}
    assert {lag_of(way) for way in plan.ways.values()} == {LAG_MS, NO_LAG_MS}


@pytest.mark.parametrize(("release", "is_silenced"), [(OLD, False), (NEW, True)])
def test_a_search_knows_who_is_silent(release: object, is_silenced: bool) -> None:
    """A follower that was fenced asks in vain in the model alone."""
    asked = problem(release.rules, moves=2, epochs=3, replicas=2)  # type: ignore[attr-defined]
    steerable = Steerable(asked.model, release, LAG_MS)  # type: ignore[arg-type]
    search, every = Search(asked, steerable), Search(asked, None)
    search.carried_out(states_max=MANY)
    every.carried_out(states_max=MANY)

    assert search.complete
    assert search.outcomes <= every.outcomes
    assert (SILENT in steerable.restrictions()) is is_silenced
    # With who is silent there are more states than without.
    assert (search.states > every.states) is is_silenced


def test_a_walk_goes_on_to_the_next_outcome_that_is_near() -> None:
    asked = problem()
    plan = plan_goals(asked, OLD, states_max=MANY, announce=lambda line: None)
    steerable = Steerable(asked.model, OLD, NO_LAG_MS)
    wanted = {goal for goal, way in plan.ways.items() if lag_of(way) == NO_LAG_MS}
    far = max(wanted, key=lambda goal: len(plan.ways[goal]))
    aiming = Aiming(asked, steerable, set(wanted), far, plan.ways[far])
    state, silent, came = asked.model.initial[0], 0, set[Outcome]()
    taken: list[Moment] = []
    while (chosen := aiming(steerable.offers(state, len(taken) + 1, silent), silent)) is not None:
        taken.append(chosen)
        came.add(outcome_of(asked.model, chosen.action, chosen.before, chosen.after))
        silent = steerable.silent_after(chosen, silent)
        state = chosen.after

    assert aiming.wanted == wanted - came
    assert len(came & wanted) > 5
    # It ended because from there none is left.
    search = Search(asked, steerable, start=state, silent=silent)
    search.carried_out(states_max=MANY)
    assert not search.outcomes & aiming.wanted


def test_where_none_is_near_the_plan_s_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.conform.aiming.NEAR_STATES_MAX", 0)
    asked = problem()
    plan = plan_goals(asked, OLD, states_max=MANY, announce=lambda line: None)
    steerable = Steerable(asked.model, OLD, NO_LAG_MS)
    ways = {goal: way for goal, way in plan.ways.items() if lag_of(way) == NO_LAG_MS}
    goal = max(ways, key=lambda each: len(ways[each]))
    aiming = Aiming(asked, steerable, {goal}, goal, ways[goal])
    state, taken = asked.model.initial[0], list[Call]()
    while (chosen := aiming(steerable.offers(state, len(taken) + 1, 0), 0)) is not None:
        taken.append((chosen.action, chosen.values))
        state = chosen.after

    assert tuple(taken) == ways[goal]
    assert not aiming.wanted


@pytest.mark.parametrize("made_by", ["this harness", "another"])
def test_a_plan_that_another_harness_made_is_looked_for_again(
    made_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which steps can be caused follows from code that no other part of the key has."""
    release = kafka_release("4.2.0:elr")
    crashes = next(each for each in CIRCUMSTANCES if each.name == "crashes")
    found = begin(release, [crashes])
    [tally] = found.tallied
    kept = Plan(
        states=1,
        complete=True,
        ways={},
        unsteerable={},
        restrictions=Steerable(tally.model, release, LAG_MS).restrictions(),
        made_by=harness_digest() if made_by == "this harness" else "0123456789abcdef",
    )
    tally.plan, new = kept, replace(kept, states=2)
    monkeypatch.setattr(conforming, "plan_goals", lambda *_, **__: new)
    conforming.look_for_outcomes(found, states_max=1, results=None, announce=lambda line: None)

    assert tally.plan == (kept if made_by == "this harness" else new)


def test_every_module_of_the_harness_is_in_its_digest() -> None:
    names = {path.name for path in modules()}

    assert {"steerable.py", "reaching.py", "outcomes.py", "mapping.py", "aiming.py"} <= names
