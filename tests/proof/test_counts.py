"""Numbers of members in proofs: what follows of majorities of any number of names, and what not."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("z3")

from tests.support.own_theorems import theorem_in, verdict_of
from tests.support.translation import Comparison
from waterline.checker.proof.counts import Counts, SizedSet
from waterline.checker.proof.proving import Verdict
from waterline.checker.proof.terms import NotProvable, compare, total

MODEL = '''
from waterline import *


class State(Fields):
    servers = Names("server", 2)
    clients = Names("client", 2)
    votes = Set(of=servers, by=clients)
    gone = Flag(by=servers)
    won = Flag(by=clients)


def election(state: type[State]) -> Protocol:
    return Protocol(
        state=state, actions=[vote, leave, win], always=[one_wins], lemmas=[votes_once, has_won]
    )


def vote(s: State, server: int, client: int) -> None:
    """A server votes, once."""
    when(all(server not in s.votes[c] for c in s.clients))
    s.votes[client].add(server)


def leave(s: State, server: int) -> None:
    """A server leaves, one at the most."""
    when(sum(s.gone[i] for i in s.servers) == 0)
    s.gone[server] = True


def win(s: State, client: int) -> None:
    """A client wins."""
    when(GUARD)
    s.won[client] = True


def votes(s: State, client: int) -> int:
    """How many have voted for a client."""
    have = 0
    for i in s.servers:
        if i in s.votes[client]:
            have += 1
    return have


def one_wins(s: State) -> bool:
    """One client wins."""
    return all(i == j or not (s.won[i] and s.won[j]) for i in s.clients for j in s.clients)


def votes_once(s: State) -> bool:
    """No server votes for two."""
    return all(
        a == b or not (i in s.votes[a] and i in s.votes[b])
        for i in s.servers
        for a in s.clients
        for b in s.clients
    )


def has_won(s: State) -> bool:
    """A client that has won has the votes."""
    return all(not s.won[client] or GUARD for client in s.clients)
'''
MAJORITIES = [
    "2 * len(s.votes[client]) > s.servers",
    "2 * sum(i in s.votes[client] for i in s.servers) > s.servers",
    "votes(s, client) + votes(s, client) >= s.servers + 1",
    "len(s.votes[client]) == s.servers",
    "3 * len(s.votes[client]) > 2 * s.servers",
]
NO_MAJORITIES = [
    "2 * len(s.votes[client]) >= s.servers",
    "2 * sum(i in s.votes[client] for i in s.servers) + 1 > s.servers",
    "votes(s, client) + 1 >= s.servers",
    "3 * len(s.votes[client]) > s.servers",
    "len(s.votes[client]) > 0",
    "2 * sum(i in s.votes[client] or s.gone[i] for i in s.servers) > s.servers",
]


@pytest.mark.parametrize("guard", MAJORITIES)
def test_two_majorities_meet(guard: str) -> None:
    made = theorem_in(MODEL.replace("GUARD", guard))

    assert made.free == ("servers", "clients")
    assert verdict_of(made)[0] is Verdict.PROVED


@pytest.mark.parametrize("guard", NO_MAJORITIES)
def test_what_two_may_have_is_no_majority(guard: str) -> None:
    verdict, proof = verdict_of(theorem_in(MODEL.replace("GUARD", guard)))

    assert verdict is Verdict.NOT_PROVED
    assert proof.refuted is not None
    assert proof.refuted[0] == "one_wins"


@pytest.mark.parametrize("guard", [*MAJORITIES, *NO_MAJORITIES])
def test_numbers_of_members_are_those_of_python(guard: str) -> None:
    """All facts are assumed, with the number that there is: they contradict no state."""
    made = theorem_in(MODEL.replace("GUARD", guard))
    comparison, rng = Comparison(made.theorem, {"servers": 3, "clients": 2}), random.Random(1)
    for _ in range(4):
        comparison.lemmas(rng)
        comparison.step(comparison.induction.model.action("win"), rng)

    assert comparison.seen["enabled True"] + comparison.seen["enabled False"] == 4


def meet_anyhow(counts: Counts, one: SizedSet, other: SizedSet) -> Iterator[Any]:
    """Facts of two sets, as if any two were apart."""
    for _, most in counts._names():
        yield compare("<=", total(one.size, other.size), most)


def leave_one_out(counts: Counts, of: SizedSet) -> Iterator[Any]:
    """Facts of a set with the number that there is, as if none had all names."""
    yield from FACTS(counts, of)
    for _, most in counts._names():
        yield compare("<", of.size, most)


FACTS = Counts._facts


@pytest.mark.parametrize(
    ("name", "wrong"), [("_facts_of_two", meet_anyhow), ("_facts", leave_one_out)]
)
def test_a_wrong_fact_is_found_out(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counts, name, wrong)
    made = theorem_in(MODEL.replace("GUARD", MAJORITIES[0]))
    comparison, rng = Comparison(made.theorem, {"servers": 2, "clients": 2}), random.Random(1)

    with pytest.raises(AssertionError, match="a definition has no solution"):
        any(comparison.lemmas(rng) for _ in range(20))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("have += 1", "have += 2"),
        ("have += 1", "have -= 1"),
        ("have += 1", "have += have"),
        ("            have += 1", "            have += 1\n        if have > 1:\n            break"),
    ],
)
def test_what_is_no_count_is_refused(old: str, new: str) -> None:
    text = MODEL.replace("GUARD", "2 * votes(s, client) > s.servers")
    assert old in text

    with pytest.raises(NotProvable, match=r"drawn.py:\d+: "):
        list(theorem_in(text.replace(old, new)).theorem.induction().all())
