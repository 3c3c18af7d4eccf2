"""Constant tables of all shapes, indexed, gone through and looked into."""

from enum import IntEnum
from typing import NamedTuple

from waterline import Choice, Fields, Flag, Log, Name, Names, Number, Protocol, Set, when


class Edge(NamedTuple):
    source: int
    target: int


class Size(IntEnum):
    SMALL = 1
    LARGE = 3


class Limits:
    MOST = (2, 3, 1)


NEXT = (2, 0, 1)
PAIRS = ((0, 1), (1, 2), (2, 0))
EDGES = [Edge(0, 1), Edge(1, 2)]
NEIGHBOURS = {0: (1, 2), 1: (2,), 2: ()}
COST = {"idle": 1, "busy": Size.LARGE}
AFTER = {"idle": "busy", "busy": "idle"}
BY_TWO = {(0, True): 3, (1, False): 2, (2, True): 1}
NESTED = ((0, (1, 2)), (1, (2, 0)), (2, (0, 1)))
QUORUMS = (frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2}))
WORDS = ("idle", "busy")
HEIR = {None: 0, 0: 1, 1: 2, 2: None}
EMPTY = ()


class State(Fields):
    nodes = Names("node", 3)
    at = Number(0, 2)
    n = Number(0, 20)
    f = Flag(by=nodes)
    state = Choice("idle", "busy", by=nodes)
    holder = Name(nodes, or_none=True)
    votes = Set(of=nodes)
    log = Log(of=("idle", "busy", "x"), room=3)


def tables(state: type[State]) -> Protocol:
    return Protocol(
        state=state,
        actions=[go, back, edge, pay, loop, heir, vote, words, sums, unpack, member, most],
        always=[ok, pairs_ok],
        sometimes=[seen],
    )


def go(s: State, node: int) -> None:
    when(s.at == node)
    s.at = NEXT[node]


def back(s: State, node: int) -> None:
    when(s.at == NEXT[node])
    s.at = NEXT[s.at - 1]


def edge(s: State) -> None:
    when(any(e.source == s.at for e in EDGES))
    for e in EDGES:
        if e.source == s.at:
            s.at = e.target
            break


def pay(s: State, node: int) -> None:
    when(s.n + COST[s.state[node]] <= 4)
    s.n += COST[s.state[node]]
    s.state[node] = AFTER[s.state[node]]


def loop(s: State, node: int) -> None:
    when(not s.f[node])
    for other in NEIGHBOURS[node]:
        s.f[other] = True
    for a, b in PAIRS:
        if a == s.at:
            s.f[b] = not s.f[b]


def heir(s: State) -> None:
    s.holder = HEIR[s.holder]


def vote(s: State, node: int) -> None:
    when(node in QUORUMS[node])
    s.votes = QUORUMS[node] | s.votes
    if QUORUMS[node - 1] <= s.votes:
        s.votes = QUORUMS[NEXT[node]]


def words(s: State, node: int) -> None:
    when(len(s.log) < 2)
    word = WORDS[s.at % 2]
    s.state[node] = word
    s.log.append(word)
    for w in WORDS:
        if s.state[NEXT[node]] == w:
            s.log.append(w)


def sums(s: State) -> None:
    when(s.n > 0)
    s.n = min(20, sum(COST[s.state[n]] for n in s.nodes) + len(NEIGHBOURS[s.at]))


def unpack(s: State, node: int) -> None:
    a, b = PAIRS[node]
    when(s.at == a)
    s.at = b
    x, (y, z) = node, (1, 2)
    s.n = x - x + NESTED[node][1][y % 2] + NESTED[a][0] + z - 2


def member(s: State, node: int) -> None:
    when((s.at in NEIGHBOURS[node] and (node, True) not in BY_TWO) or node in NEIGHBOURS)
    when((node == 1) != s.f[0])
    s.n = BY_TWO[node, node != 1]


def most(s: State, node: int) -> None:
    s.n = max(NEXT[n] + Limits.MOST[n] for n in s.nodes if s.f[n] or n == node) + min(
        (n for n in EMPTY), default=0
    )


def ok(s: State) -> bool:
    return s.n <= 20 * max(COST.values())


def pairs_ok(s: State) -> bool:
    return all(NEXT[b] != b and (s.at != a or s.n < 19) for a, b in PAIRS) and not any(
        s.state[NEXT[n]] == w and s.n == 17 for n in s.nodes for w in WORDS
    )


def seen(s: State) -> bool:
    return any(k == s.at and v == (1, 2)[0] for k, v in enumerate(NEXT)) or s.state[0] in COST
