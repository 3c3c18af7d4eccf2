"""Rules with a part changed: a step leads out of the lemmas wherever the change is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("z3")

from waterline.checker.kafka.theorems import SMALL, theorem_of
from waterline.checker.proof.obligations import Induction
from waterline.checker.proof.proving import refute
from waterline.model.atomic import logs, rules, state
from waterline.model.atomic.rules import has_reached_own_epoch, has_replicated
from waterline.model.atomic.state import is_true_leader, known_leader, leads, quorum_leader
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import NO_REPLICA, contains, with_member


def counts_short_logs(s: Any, c: Any, leader: int, follower: int, end: int) -> bool:
    return (
        known_leader(s, follower) == leader
        and leads(s, leader)
        and s.known_epoch[follower] == s.known_epoch[leader]
    )


def counts_other_epochs(s: Any, c: Any, leader: int, follower: int, end: int) -> bool:
    return known_leader(s, follower) == leader and leads(s, leader) and s.leo[follower] >= end


def advances_without_the_last(s: Any, c: Any, leader: int) -> bool:
    if not leads(s, leader) or s.leo[leader] <= s.hw[leader]:
        return False
    for other in range(s.replicas - 1):
        counts = contains(s.known_isr[leader], other)
        if counts and not has_replicated(s, c, leader, other, s.hw[leader] + 1):
            return False
    return True


def expands_before_own_epoch(s: Any, c: Any, leader: int, follower: int) -> bool:
    return (
        not contains(s.known_isr[leader], follower)
        and is_true_leader(s, leader)
        and has_replicated(s, c, leader, follower, s.hw[leader])
    )


def shrinks_when_stale(s: Any, c: Any, leader: int, follower: int) -> bool:
    return (
        contains(s.known_isr[leader], follower)
        and leads(s, leader)
        and not has_replicated(s, c, leader, follower, s.leo[leader])
    )


def never_cuts(s: Any, c: Any, replica: int, epoch: int) -> None:
    s.known_epoch[replica] = epoch
    s.known_isr[replica] = 0


def follows_unfenced(s: Any, c: Any, replica: int, epoch: int) -> bool:
    named = s.request_leader[epoch]
    return named != NO_REPLICA and epoch > s.known_epoch[replica] and named != replica


def leads_backwards(s: Any, c: Any, epoch: int) -> bool:
    named = s.request_leader[epoch]
    return named != NO_REPLICA and epoch != s.known_epoch[named]


def elects_from_outside(s: Any, c: Any, replica: int) -> bool:
    return quorum_leader(s) != replica


def forgets_the_isr(s: Any, c: Any, epoch: int) -> None:
    named = s.request_leader[epoch]
    s.known_epoch[named] = epoch
    s.known_isr[named] = with_member(0, named)


def elects_by_old_isr(s: Any) -> int:
    return (1 << s.replicas) - 1 if s.issued == 0 else s.request_isr[s.issued - 1]


def produces_in_next_epoch(s: Any, c: Any, leader: int) -> None:
    s.produced += 1
    s.log[leader, s.leo[leader]] = s.produced
    s.record_epoch[s.produced - 1] = s.known_epoch[leader] + 1
    s.leo[leader] += 1


def shrinks_at_will(s: Any, c: Any, leader: int, follower: int) -> bool:
    return (
        contains(s.known_isr[leader], follower)
        and is_true_leader(s, leader)
        and (leader != follower)
    )


def expands_as_it_is(s: Any, c: Any, leader: int, follower: int) -> bool:
    return (
        not contains(s.known_isr[leader], follower)
        and is_true_leader(s, leader)
        and has_replicated(s, c, leader, follower, s.hw[leader])
        and has_reached_own_epoch(s, leader)
    )


Rule = Callable[..., Any]
WRONG: list[tuple[Rule, Rule, str]] = [
    (rules.has_replicated, counts_short_logs, "AdvanceHighWatermark"),
    (rules.has_replicated, counts_other_epochs, "AdvanceHighWatermark"),
    (rules.can_advance_high_watermark, advances_without_the_last, "AdvanceHighWatermark"),
    (rules.can_expand_isr, expands_before_own_epoch, "ExpandIsr"),
    (rules.can_shrink_isr, shrinks_when_stale, "ShrinkIsr"),
    (rules.become_follower, never_cuts, "BecomeFollower"),
    (rules.can_become_follower, follows_unfenced, "BecomeFollower"),
    (rules.can_become_leader, leads_backwards, "BecomeLeader"),
    (rules.can_elect, elects_from_outside, "ElectLeader"),
    (rules.become_leader, forgets_the_isr, "BecomeLeader"),
    (state.quorum_isr, elects_by_old_isr, "ElectLeader"),
    (rules.produce, produces_in_next_epoch, "Produce"),
]
"""A rule, what replaces it, and an action that goes by it. Kafka has had most of these errors."""
HARMLESS: list[tuple[Rule, Rule, str]] = [
    (rules.can_shrink_isr, shrinks_at_will, "ShrinkIsr"),
    (rules.can_expand_isr, expands_as_it_is, "ExpandIsr"),
]
PLACES = (rules, logs, state)


def mutated(rule: Rule, mutant: Rule, monkeypatch: pytest.MonkeyPatch) -> Induction:
    """The small induction of `kip320` with a rule replaced wherever it is named."""
    named = [
        (module, name)
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("waterline.model.atomic")
        or getattr(module, "__name__", "").startswith("waterline.invariants.atomic")
        for name, value in vars(module).items()
        if value is rule
    ]
    for module, name in named:
        monkeypatch.setattr(module, name, mutant)
    theorem = theorem_of("kip320")

    def model(sizes: dict[str, int]) -> Model:
        made = theorem.model(sizes)
        actions = tuple(
            replace(
                each,
                guard=mutant if each.guard is rule else each.guard,
                effect=mutant if each.effect is rule else each.effect,
            )
            for each in made.actions
        )
        return replace(made, actions=actions)

    return replace(theorem, model=model).within(SMALL)


def leads_out(rule: Rule, mutant: Rule, action: str, monkeypatch: pytest.MonkeyPatch) -> bool:
    small = mutated(rule, mutant, monkeypatch)
    steps = small.steps(small.model.action(action))
    return any(refute(small, obligation) is not None for obligation in steps)


@pytest.mark.parametrize(("rule", "mutant", "action"), WRONG)
def test_a_wrong_rule_leads_out_of_the_lemmas(
    rule: Rule, mutant: Rule, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert leads_out(rule, mutant, action, monkeypatch)


@pytest.mark.parametrize(("rule", "mutant", "action"), HARMLESS)
def test_a_harmless_change_does_not(
    rule: Rule, mutant: Rule, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not leads_out(rule, mutant, action, monkeypatch)
