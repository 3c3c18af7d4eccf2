"""Proofs about a counter: what is proved, refuted, refused and in error is known."""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("z3")

import z3

from tests.support.translation import Comparison
from waterline.checker.proof.obligations import Theorem
from waterline.checker.proof.proving import (
    Proof,
    Verdict,
    never_happen,
    prove_all,
    search_first,
)
from waterline.checker.proof.terms import NotProvable
from waterline.model.core.claim import Invariant
from waterline.model.core.layout import Field, Layout
from waterline.model.core.renaming import (
    BY_REPLICA,
    BY_REPLICA_AND_REPLICA,
    PLAIN,
    SET_OF_REPLICAS,
)
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Narration, Parameter

SIZES = {"replicas": 2, "most": 5}
_SETTINGS = type("Settings", (tuple,), {"_fields": ()})


def can_count(s: Any, c: Any, r: int) -> bool:
    return s.count[r] < s.top


def looks_at_a_stranger(s: Any, c: Any, r: int) -> bool:
    return (r == 0 and s.count[0] < s.top) or s.count[r + 1] != s.count[r + 1]


def count(s: Any, c: Any, r: int) -> None:
    s.count[r] += 1


def count_two(s: Any, c: Any, r: int) -> None:
    s.count[r] += 2


def count_back(s: Any, c: Any, r: int) -> None:
    s.count[r] -= 1


def count_a_stranger(s: Any, c: Any, r: int) -> None:
    s.count[r + 1] = 0


def count_while(s: Any, c: Any, r: int) -> None:
    while s.count[r] < s.top:
        s.count[r] += 1


def count_with_carry(s: Any, c: Any, r: int) -> None:
    so_far = 0
    for other in range(s.replicas):
        so_far = so_far + s.count[other]
    s.count[r] = so_far + 1


def admit(s: Any, c: Any, r: int) -> None:
    s.members = s.members | 1 << r


def admit_a_stranger(s: Any, c: Any, r: int) -> None:
    s.members = s.members | 1 << r + 1


def admit_all_others(s: Any, c: Any, r: int) -> None:
    s.members = ~(1 << r)


def admit_minus_one(s: Any, c: Any, r: int) -> None:
    s.members = -1


def count_if_a_complement_is_not_everybody(s: Any, c: Any, r: int) -> None:
    if ~s.members != (1 << s.replicas) - 1:
        s.count[r] = s.top + 1


def mark_all_pairs(s: Any, c: Any, r: int) -> None:
    for one in range(s.replicas):
        for other in range(s.replicas):
            s.marked[one, other] = 1


def limit(s: Any, c: Any, r: int) -> int:
    return 1 if s.count[r] + 2 > s.most else 0


def raise_top(s: Any, c: Any) -> None:
    s.top += 1


def always(s: Any, c: Any) -> bool:
    return True


def top_limit(s: Any, c: Any) -> int:
    return 1 if s.top == s.most else 0


def below_top(s: Any, c: Any) -> bool:
    """No count is above the top."""
    for r in range(s.replicas):
        if s.top < s.count[r]:
            return not always(s, c)
    return True


def no_members(s: Any, c: Any) -> bool:
    """The set is empty."""
    return s.members == 0


def never(s: Any, c: Any) -> bool:
    """No state at all."""
    return s.top < 0


def first_below_top(s: Any, c: Any) -> bool:
    for r in range(s.replicas):
        if s.count[r] > s.top:
            return s.count[r] < 0
    return True


def made(effect: Any) -> Any:
    def model(sizes: dict[str, int]) -> Model:
        most = sizes["most"]
        layout = Layout(
            [
                Field(name="count", hi=most, shape=(sizes["replicas"],), naming=BY_REPLICA, doc=""),
                Field(name="top", hi=most, naming=PLAIN, doc=""),
                Field(
                    name="members",
                    hi=(1 << sizes["replicas"]) - 1,
                    naming=SET_OF_REPLICAS,
                    doc="",
                ),
                Field(
                    name="marked",
                    shape=(sizes["replicas"], sizes["replicas"]),
                    hi=1,
                    naming=BY_REPLICA_AND_REPLICA,
                    doc="",
                ),
            ],
            sizes=sizes,
        )
        actions = (
            Action(
                name="Count",
                guard=can_count,
                effect=effect,
                parameters=(Parameter("r", "replicas"),),
                limit=limit,
            ),
            Action(name="Raise", guard=always, effect=raise_top, limit=top_limit),
        )
        return Model(
            name="counter",
            version="1",
            layout=layout,
            settings=_SETTINGS(),
            actions=actions,
            contents=("Count", "Raise"),
            limits=("within", "most"),
            initial=(State(layout),),
            narration=Narration(
                sentence=lambda *given: "", rows=lambda s: [[""]], summary=lambda s: []
            ),
            options={},
        )

    return model


def theorem(effect: Any, lemmas: tuple[Invariant, ...] = (Invariant.of(below_top),)) -> Theorem:
    claim = Invariant(name="low", sentence="", holds=first_below_top, explain=lambda *given: "")
    return Theorem(made(effect), SIZES, lemmas, (), (claim,))


def proved(of: Theorem) -> Proof:
    proof, small = Proof(), of.within({"replicas": 2, "most": 3})
    proof.never = never_happen(small)
    prove_all(proof, of.induction(), small)
    return proof


def test_a_claim_that_follows_from_an_inductive_lemma_is_proved() -> None:
    of = theorem(count)

    assert proved(of).verdict(of) is Verdict.PROVED


def test_a_step_out_of_the_lemmas_is_shown_as_the_interpreter_runs_it() -> None:
    of = theorem(count_two)
    proof = proved(of)

    assert proof.verdict(of) is Verdict.NOT_PROVED
    assert proof.refuted is not None
    lemma, found = proof.refuted
    assert (lemma, found.action.name, found.broken) == ("below_top", "Count", ("below_top",))
    after: Any = found.after
    assert found.arguments == (0,)
    assert after.count[0] == 2


def test_the_step_that_is_shown_is_the_one_with_the_least_values() -> None:
    """It does not depend on what z3 was asked before in this process."""
    [one, other] = [proved(theorem(count_two)).refuted for _ in range(2)]
    assert one is not None
    before: Any = one[1].before

    assert one == other
    assert (before.count[0], before.count[1], before.top) == (0, 0, 1)
    assert (before.members, before.marked[1, 0]) == (0, 0)


def test_threads_with_a_solver_make_no_term_where_this_one_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Terms that two threads make in one context are corrupted now and then."""
    contexts = z3.z3.main_ctx

    def main_context() -> Any:
        assert threading.current_thread() is threading.main_thread()
        return contexts()

    monkeypatch.setattr(z3.z3, "main_ctx", main_context)
    monkeypatch.setattr(z3, "main_ctx", main_context)

    assert proved(theorem(count_two)).refuted is not None
    assert proved(of := theorem(admit)).verdict(of) is Verdict.PROVED


def test_a_complement_equals_no_set() -> None:
    """Python has -1 for the complement of the empty set, which is not the set of all names."""
    of = theorem(
        count_if_a_complement_is_not_everybody, (Invariant.of(below_top), Invariant.of(no_members))
    )
    proof = proved(of)

    assert proof.verdict(of) is Verdict.NOT_PROVED
    assert proof.refuted is not None
    assert proof.refuted[1].broken == ("below_top",)


def test_a_member_of_a_set_is_one_of_the_names() -> None:
    of = theorem(admit)

    assert proved(of).verdict(of) is Verdict.PROVED


@pytest.mark.parametrize(
    "effect", [count_back, count_a_stranger, admit_a_stranger, admit_all_others, admit_minus_one]
)
def test_a_rule_in_error_is_not_proved(effect: Any) -> None:
    of = theorem(effect)
    proof = proved(of)

    assert proof.verdict(of) is Verdict.NOT_PROVED
    assert proof.refuted is not None
    assert proof.refuted[0] == "no rule in error"
    assert proof.refuted[1].error != ""


def test_a_guard_in_error_where_it_is_false_is_not_proved() -> None:
    plain = theorem(count)

    def model(sizes: dict[str, int]) -> Model:
        found = plain.model(sizes)
        first, *others = found.actions
        return replace(found, actions=(replace(first, guard=looks_at_a_stranger), *others))

    of = replace(plain, model=model)
    proof = proved(of)

    assert proof.verdict(of) is Verdict.NOT_PROVED
    assert proof.refuted is not None
    assert proof.refuted[0] == "no rule in error"


def test_a_lemma_without_states_proves_nothing() -> None:
    of = theorem(count, (Invariant.of(below_top), Invariant.of(never)))
    proof = proved(of)

    assert proof.never == ["Count", "Raise"]
    assert proof.verdict(of) is Verdict.NOT_PROVED


def test_the_search_is_asked_first() -> None:
    of = theorem(count_two)
    sizes = {"replicas": 2, "most": 3}

    assert Proof(searched=search_first(of, sizes)).verdict(of) is Verdict.VIOLATED
    one = replace(of, claims=())
    assert Proof(searched=search_first(one, sizes)).verdict(one) is Verdict.NOT_PROVED


def test_all_pairs_are_written_at_once() -> None:
    comparison, rng = Comparison(theorem(mark_all_pairs), SIZES), random.Random(1)
    (action, *_) = comparison.induction.model.enabled_actions
    for _ in range(5):
        comparison.step(action, rng)

    assert comparison.seen["enabled True"] > 0


@pytest.mark.parametrize(
    ("effect", "reason"),
    [
        (count_while, "has no translation"),
        (count_with_carry, "carries so_far"),
    ],
)
def test_a_loop_of_another_form_is_refused_by_its_place(effect: Any, reason: str) -> None:
    of = theorem(effect)

    with pytest.raises(NotProvable, match=rf"test_induction.py:\d+: .*{reason}"):
        list(of.induction().all())
