"""A reduced model has the verdicts of the full one, and its traces lead there in the full one."""

from __future__ import annotations

import pickle
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from checker.checking.run import run
from checker.kafka.families import MESSAGE
from checker.problem.problem import Problem
from checker.problem.reduction import Reduction
from checker.reduction import effects, independence, relations, smaller
from checker.reduction.generated import made
from checker.reduction.plan import CannotReduce, as_text, of_text
from checker.reduction.planning import decided
from checker.reduction.reduction import reduced, reduced_as_analysed
from checker.search.engines.choice import EngineChoice
from checker.search.result import Result
from fuzz.random_models import random_problem, verdicts
from model.core.claim import ActionProperty, Invariant
from tests.support.row_models import SWITCHED_OFF, SWITCHED_ON, model_of

LOCAL = EngineChoice(name="local", threads=1)


def kafka(version: str, names: tuple[str, ...] = (), **options: Any) -> Problem:
    return MESSAGE.problem_of(version, options, names)


def reduction_of(problem: Problem) -> Reduction:
    found = reduced(problem).reduction
    assert found is not None
    return found


def told(result: Result) -> dict[str, Any]:
    claims = {found.name: found.verdict for found in result.invariants}
    return {**claims, **{found.name: found.depth is not None for found in result.reachable}}


@pytest.mark.parametrize(
    ("version", "options"),
    [
        ("hw", {}),
        ("kip320", {"restarts": 0, "moves": 2}),
    ],
    ids=["hw", "kip320"],
)
def test_verdicts_and_what_happens_are_those_of_the_full_model(
    version: str, options: dict[str, Any]
) -> None:
    problem = kafka(version, **options)

    full, less = run(problem, LOCAL), run(reduced(problem), LOCAL)

    assert told(less.result) == told(full.result)
    assert less.result.distinct < full.result.distinct
    shortest = {finding.invariant: finding for finding in full.findings}
    assert {finding.invariant for finding in less.findings} == set(shortest)
    for finding in less.findings:
        # Each was replayed in the full model and seen to break the claim in its last step only.
        steps = len(finding.replayed.trace.steps)
        assert finding.model.layout == problem.model.layout
        assert steps >= len(shortest[finding.invariant].replayed.trace.steps)


def differing(seeds: range) -> list[int]:
    """The random models whose verdicts a reduction changes."""
    found = []
    for seed in seeds:
        problem = random_problem(seed)
        full = verdicts(problem)
        if full is None:
            continue
        less = replace(problem, model=smaller.smaller_model(problem.model, decided(problem)))
        few = verdicts(less)
        if few is None or few[0] != full[0]:
            found.append(seed)
    return found


def test_no_verdict_of_a_random_model_changes() -> None:
    assert differing(range(70)) == []


def test_a_wrong_independence_changes_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(independence, "is_independent", lambda *given: True)

    assert differing(range(310, 312)) == [310, 311]


def test_a_relation_that_a_step_breaks_changes_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert differing(range(252, 253)) == []

    monkeypatch.setattr(relations.Relations, "dropped", lambda *given: frozenset())

    assert differing(range(252, 253)) == [252]


def test_steps_that_only_seem_to_change_nothing_are_told_from_others() -> None:
    # What a step writes as it was before may be written otherwise by another step meanwhile.
    assert differing(range(329, 330)) == []


def test_who_takes_one_of_a_set_of_values_is_not_taken_at_once() -> None:
    # For it there is one step for each of the values, and not the first of them alone.
    assert differing(range(2197, 2198)) == []


def test_what_decides_what_a_variable_is_is_kept() -> None:
    assert differing(range(1316, 1317)) == []


def test_a_field_that_is_read_only_by_what_cannot_happen_is_not_kept() -> None:
    found = reduction_of(kafka("kip320", restarts=0, moves=1))

    assert found.fields == ("checkpoint",)
    assert found.actions == ("Checkpoint",)
    assert set(found.never) == {"Crash", "Restart", "Fence"}


def test_a_field_that_a_restart_reads_is_decided_by_the_restart() -> None:
    found = reduction_of(kafka("kip320", restarts=1))

    assert found.postponed == ("checkpoint",)
    assert found.writers == ("Checkpoint",)


def test_an_action_is_taken_where_a_claim_sees_nothing_of_it_but_that_it_was_taken() -> None:
    # Once, something is written that no claim reads; how often it was done, a claim does read.
    model = model_of(SWITCHED_ON, SWITCHED_OFF, budgeted=("s.on[i] == 1", "s.other[i] = 2"))
    holds = made("def holds(s, c):\n    return s.used == 0 or s.on[0] == 0\n", {})["holds"]
    claim = Invariant(name="never", sentence="", holds=holds, explain=_nothing)
    problem = Problem(model, (claim,))

    decisions = decided(problem)
    less = verdicts(replace(problem, model=smaller.smaller_model(model, decisions)))

    assert decisions.fields == ("other",)
    assert less is not None
    assert less[0] == {"never": True}


@pytest.mark.parametrize(
    "effect",
    [
        "s.other[i] = s.count[i] - 1",
        "s.other[s.count[i] - 1] = 2",
        "s.other[i] = 2 // s.count[i]",
        "s.other[i] = 1 << s.count[i] - 1",
    ],
    ids=["value", "index", "division", "shift"],
)
def test_a_field_is_kept_where_its_lowest_value_would_make_a_step_raise(effect: str) -> None:
    model = model_of(
        ("s.on[i] == 0", f"s.on[i] = 1; {effect}"), ("s.count[i] == 1", "s.count[i] = 2")
    )
    begun = model.initial[0].draft()
    begun.count[0] = begun.count[1] = 1
    holds = made("def holds(s, c):\n    return s.on[0] == 0\n", {})["holds"]
    claim = Invariant(name="off", sentence="", holds=holds, explain=_nothing)
    problem = Problem(replace(model, initial=(begun.freeze(),)), (claim,))

    decisions = decided(problem)
    less = verdicts(replace(problem, model=smaller.smaller_model(problem.model, decisions)))

    assert decisions.fields == ("other",)
    assert less is not None
    assert less[0] == {"off": True}


def test_one_claim_alone_needs_less_than_all() -> None:
    # What must happen is asked beside it: that records are committed, and acknowledged.
    alone = kafka("hw", ("no_divergence_below_hw",), restarts=1)

    assert "exposed" in reduction_of(alone).fields
    assert "exposed" not in reduction_of(kafka("hw", restarts=1)).fields


def test_a_request_that_outlives_its_sender_is_not_sent_at_once() -> None:
    kept = kafka("hw", restarts=1, **{"requests-survive": True})

    assert "SendFetch" not in reduction_of(kept).at_once
    assert "SendFetch" in reduction_of(kafka("hw", restarts=1)).at_once


def test_nothing_that_a_state_holds_is_outside_the_values_found() -> None:
    problem = kafka("hw", restarts=1, epochs=1)
    ranges = effects.Steps.of(problem.model).ranges
    seen = set(problem.model.initial)
    level = list(seen)
    for _ in range(6):
        level = [step.after for state in level for step in problem.model.successors(state)]
        level = sorted(set(level) - seen, key=lambda state: state.words)
        seen |= set(level)

    for state in seen:
        for name, values in ranges.items():
            assert set(flat(effects.as_dict(state)[name])) <= values, name


def flat(value: Any) -> list[int]:
    if isinstance(value, list):
        return [each for item in value for each in flat(item)]
    return [] if value is None else [value]


def test_a_property_that_minds_steps_without_a_change_is_refused() -> None:
    problem = random_problem(0)
    moved = ActionProperty(name="moves", sentence="", keeps=_moves, explain=_nothing)

    with pytest.raises(CannotReduce, match="moves may break in a step that changes nothing"):
        decided(replace(problem, properties=(moved,)))


def _moves(s: Any, t: Any, c: Any) -> bool:
    return bool(s.g != t.g)


def _nothing(*given: Any) -> str:
    return ""


def test_symmetric_replicas_and_a_reduction_go_together() -> None:
    options = {"election-order": "any", "restarts": 1, "epochs": 1}
    problem = MESSAGE.problem_of("hw", options, symmetry=MESSAGE.symmetry_asked("replicas"))

    full, less = run(problem, LOCAL), run(reduced(problem), LOCAL)

    assert told(less.result) == told(full.result)
    assert less.result.distinct < full.result.distinct


def test_another_process_makes_the_same_reduced_problem() -> None:
    less = reduced(kafka("hw", restarts=1))

    again = pickle.loads(pickle.dumps(less))

    assert again.reduction == less.reduction
    assert again.model.contents == less.model.contents
    assert again.model.initial == less.model.initial


def test_decisions_are_kept_as_they_were_made_and_nothing_else_is_taken_for_them() -> None:
    decisions = decided(random_problem(5))
    text = as_text(decisions)

    assert of_text(text) == decisions
    for other in (text[:-1], b"[]", text.replace(b'"at_once"', b'"later"'), b"{}" + text):
        with pytest.raises(ValueError, match=r"Expecting|Extra|no decisions"):
            of_text(other)


class AskingWhatFollows(Problem):
    applicable_behaviours = (SimpleNamespace(name="recovers"),)


def test_claims_about_what_follows_are_refused() -> None:
    problem = random_problem(0)

    with pytest.raises(CannotReduce, match="recovers is about what follows"):
        reduced_as_analysed(AskingWhatFollows(problem.model, problem.invariants))


def claimed(actions: tuple[tuple[str, str], ...], never: str) -> Problem:
    """A little model of which it is claimed that something is never so."""
    holds = made(f"def holds(s, c):\n    return not ({never})\n", {})["holds"]
    claim = Invariant(name="never", sentence="", holds=holds, explain=_nothing)
    return Problem(model_of(*actions), (claim,))


def reached(*actions: tuple[str, str], never: str) -> tuple[bool, bool]:
    """Whether something that is claimed never to be so is reached, fully searched and reduced."""
    return both_ways(claimed(actions, never))


def both_ways(problem: Problem) -> tuple[bool, bool]:
    """Whether its claim `never` is broken, fully searched and reduced."""
    less = replace(problem, model=smaller.smaller_model(problem.model, decided(problem)))
    full, few = verdicts(problem), verdicts(less)
    assert full is not None
    assert few is not None
    return full[0]["never"], few[0]["never"]


@pytest.mark.parametrize(
    "effect",
    [
        "found = 0\n    if s.on[i] == 1: found = 2\n    s.count[i] = found",
        "found = 2\n    if s.on[i] == 0: found = 0\n    if found == 2: s.count[i] = 2",
        "found = 0\n    for k in range(s.on[0] + s.on[1]): found = k + 1\n    s.count[i] = found",
        "found = 0\n    for k in range(2):\n        if s.on[k] == 1: found = found + 1\n"
        "    more = found\n    s.count[i] = more",
        "for k in range(s.on[0] + s.on[1]): s.count[0] = 2",
        "s.count[i] = 2 if s.on[i] == 1 else 0",
        "if s.on[i] == 1 and s.other[i] == 0: s.count[i] = 2",
        "s.count[1 - s.on[i]] = 2",
        "s.count[i] = s.other[s.on[i]]",
    ],
    ids=[
        "a variable written or not",
        "a variable asked afterwards",
        "a variable of turns",
        "a variable that counts",
        "turns",
        "either value",
        "and",
        "the row written",
        "the row read",
    ],
)
def test_what_decides_what_is_written_is_kept(effect: str) -> None:
    actions = (SWITCHED_ON, ("s.other[1] == 0", "s.other[1] = 2"), ("s.other[0] == 0", effect))

    assert reached(*actions, never="s.count[0] == 2") == (True, True)


def test_of_two_fields_of_which_one_is_written_from_the_other_one_alone_is_postponed() -> None:
    actions = (
        ("s.count[i] < 2", "s.count[i] = s.count[i] + 1"),
        ("s.other[i] != s.count[i]", "s.other[i] = s.count[i]"),
        ("s.count[i] == 2", "s.on[i] = 1 if s.other[i] == 1 else 0"),
        ("s.count[i] == 2", "s.used = s.on[i]"),
    )

    assert reached(*actions, never="s.used == 1") == (True, True)
    # Alone, or written from what is kept, each of them would be.
    assert [each.field for each in decided(claimed(actions, "s.used == 1")).postponed] == ["on"]


def test_whether_a_value_is_one_of_some_is_understood() -> None:
    actions = (SWITCHED_ON, ("s.on[i] in (1, 2)", "s.count[i] = 2 if s.on[i] not in (0,) else 1"))

    assert reached(*actions, never="s.count[0] == 2") == (True, True)
    assert reached(*actions, never="s.count[0] == 1") == (False, False)


def test_a_rule_that_is_not_followed_is_named() -> None:
    actions = (("s.on[i] == 0", "while s.on[i] == 0: s.on[i] = 1"),)

    with pytest.raises(CannotReduce, match=r"effect: `while s.on\[i\] == 0:` in line \d+ is not"):
        decided(claimed(actions, "s.on[0] == 1"))


def test_a_step_that_a_bound_may_cut_is_not_taken_at_once() -> None:
    # The counts are the same in both first states, which is not found out: the step is always cut.
    actions = (("s.other[i] == 0", "s.other[i] = 1"), ("s.other[i] == 1", "s.on[i] = 1"))
    problem = claimed(actions, "s.on[0] == 1")
    begun = problem.model.initial[0].draft()
    begun.count[0] = begun.count[1] = 1
    text = "def limit(s, c, i):\n    return 1 if s.count[0] == s.count[1] else 0\n"
    first, then = problem.model.actions
    cut = replace(
        problem.model,
        initial=(*problem.model.initial, begun.freeze()),
        actions=(replace(first, limit=made(text, {})["limit"]), then),
    )

    assert [each.action for each in decided(problem).at_once] == ["step0", "step0"]
    assert both_ways(replace(problem, model=cut)) == (False, False)


def test_what_a_postponed_field_is_written_from_is_not_changed_at_once() -> None:
    actions = (
        ("s.other[i] == 0", "s.other[i] = 1"),
        ("s.on[i] != s.other[i]", "s.on[i] = s.other[i]"),
        ("s.count[i] == 0", "s.count[i] = 1 + s.on[i]"),
    )

    assert reached(*actions, never="s.count[0] == 2 and s.count[1] == 2") == (True, True)


def test_who_has_read_one_value_of_a_set_reads_no_other_afterwards() -> None:
    actions = (
        ("s.other[i] == 0", "s.other[i] = 1"),
        ("s.on[i] == 0", "s.on[i] = 1; s.count[i] = s.other[i]"),
        ("s.on[i] == 1 and s.count[i] == 1", "s.count[i] = 2 if s.other[i] == 0 else 1"),
    )

    assert reached(*actions, never="s.count[0] == 2") == (False, False)
    assert reached(*actions, never="s.count[0] == 1") == (True, True)
