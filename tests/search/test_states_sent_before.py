"""Attack on what a worker remembers: the states that it has sent, and those of its owner.

It may drop a successor only if its owner has it or is about to absorb it, and a candidate only if
that is visited. Here attempts of tasks fail half-way, succeed and are not taken, run again on other
workers, and candidates are lost: a worker that relies on what nobody has received loses states, and
so does one that keeps the states of an attempt that has failed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.graph_model import NODES, graph_problem, node_state
from waterline.checker.search.engines import over_files, task
from waterline.checker.search.engines.expander import Expander, Tally
from waterline.checker.search.engines.factory import GrowingEngine
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.over_files import FileEngine, WrittenLevels
from waterline.checker.search.engines.shipping import CandidatesLost
from waterline.checker.search.engines.task import LevelPlan, Outbox, Report, explore
from waterline.checker.search.engines.workers import WorkersLost
from waterline.checker.search.search import search
from waterline.checker.storage import owner_table
from waterline.checker.storage.blocks import owner_of_each
from waterline.checker.storage.storage import Storage

OWNERS = 3
Edges = list[tuple[int, int]]


class HostileWorkers:
    """Workers on which attempts fail, are discarded and run again, by the numbers of `chance`."""

    name = "hostile"
    rules = ""

    def __init__(
        self, chance: random.Random, use: Callable[[Any], None], *, sent_rows: int, parts: int
    ) -> None:
        self.chance = chance
        self.use = use
        self.sent_rows = sent_rows
        self.parts_max = parts
        self.processes = [SimpleNamespace() for _ in range(OWNERS)]
        self.waiting: list[list[tuple[int, bytes]]] = []
        self.lost: set[tuple[int, bool]] = set()
        self.attempts = 0
        self.owners = OWNERS

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        self.owners += self.chance.randrange(2)
        return self.owners

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        self.waiting = [[(0, block) for to, block in blocks if to == o] for o in range(owners)]

    def explore(self, plan: LevelPlan) -> list[Report]:
        self._lose(plan)
        owners = len(plan.owners)
        made: list[list[tuple[int, bytes]]] = [[] for _ in range(owners)]
        order = self.chance.sample(range(owners), owners)
        reports = [self._accepted(plan, owner, made) for owner in order]
        self._lose(plan)
        self.waiting = [sorted(blocks, key=lambda block: block[0]) for blocks in made]
        return reports

    def _lose(self, plan: LevelPlan) -> None:
        kind = plan.depth, plan.absorbs
        if self.chance.random() < 0.15 and kind not in self.lost:
            self.lost.add(kind)
            raise WorkersLost("all that was sent is gone")

    def _accepted(self, plan: LevelPlan, owner: int, made: list[list[tuple[int, bytes]]]) -> Report:
        while True:
            fate = self.chance.random()
            if fate < 0.2:  # It fails, having received some.
                read = self.chance.randrange(plan.parts)
                with suppress(CandidatesLost):
                    list(self._attempt(plan, owner, parts_received=read))
                continue
            yielded = self._attempt(plan, owner)
            if fate < 0.3:  # It fails, having sent some.
                for _ in zip(range(self.chance.randrange(3)), yielded, strict=False):
                    pass
                yielded.close()  # type: ignore[attr-defined]
                continue
            sent, report = [], None
            for receiver, found in yielded:
                if receiver == len(plan.owners) * plan.parts_sent:
                    report = found
                else:
                    sent.append((receiver, bytes(found)))
            if fate < 0.5:  # What it found does not arrive.
                continue
            for receiver, block in sent:
                made[receiver // plan.parts_sent].append((receiver % plan.parts_sent, block))
            assert isinstance(report, Report)
            return report

    def _attempt(
        self, plan: LevelPlan, owner: int, *, parts_received: int | None = None
    ) -> Iterator[tuple[int, Any]]:
        self.attempts += 1
        at_home = self.processes[owner % OWNERS]
        self.use(at_home if self.chance.random() < 0.6 else self.chance.choice(self.processes))
        given = self.waiting[owner] if plan.absorbs else []
        return explore(plan, owner, deliveries(given, parts_received))

    def renew(self) -> bool:
        return self.chance.random() < 0.1

    def keep_tables(self, owners: int, states: int) -> bool:
        return self.chance.random() < 0.8

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        yield from map(work, items)

    def close(self) -> None:
        pass


def deliveries(given: list[tuple[int, bytes]], parts: int | None) -> Iterator[tuple[int, bytes]]:
    """Yield the given blocks, or some parts of them and then an error."""
    for part, block in given:
        if parts is not None and part > parts:
            break
        yield part, block
    if parts is not None:
        raise CandidatesLost


def levels_of(edges: Edges, initial: int) -> list[int]:
    """How many nodes there are at each distance, by the plainest of searches."""
    seen, level, sizes = {initial}, {initial}, []
    while level:
        sizes.append(len(level))
        level = {to for start, to in edges if start in level} - seen
        seen |= level
    return sizes


@pytest.mark.parametrize("seed", range(60))
def test_no_state_is_lost_whatever_becomes_of_attempts(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr(over_files, "PART_BYTES", 8)
    monkeypatch.setattr(over_files, "SMALL_FRONTIER", 1)
    monkeypatch.setattr(over_files, "GROWTH_TAKEN", 1)
    monkeypatch.setattr(owner_table, "TABLES", 2)
    monkeypatch.setattr(task, "MERGED_ROWS", 2)
    edges = [(n, chance.randrange(NODES)) for n in range(NODES) for _ in range(2)]
    workers = HostileWorkers(
        chance,
        lambda process: monkeypatch.setattr(task, "_benches", process),
        sent_rows=chance.choice((1, 1 << 12)),
        parts=chance.choice((1, 4)),
    )
    problem = graph_problem(edges)
    over = FileEngine(problem, workers, WrittenLevels(problem.model.layout.words))
    levels_in_memory = chance.randrange(4)
    engine = GrowingEngine(
        MemoryEngine(problem, threads=1),
        over,
        name="hostile",
        outgrown=lambda depth, states: depth >= levels_in_memory,
    )

    with closing(engine):
        result = search(problem, engine)

    assert [level.states for level in result.levels if level.states] == levels_of(edges, 0)
    with closing(MemoryEngine(problem, threads=1)) as in_memory:
        assert result.generated == search(problem, in_memory).generated
    assert workers.attempts > OWNERS * len(result.levels)


def test_a_worker_gives_its_table_back_once_there_is_no_room_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = SimpleNamespace()
    monkeypatch.setattr(task, "_benches", bench)
    tables: list[bool] = []

    class Workers(HostileWorkers):
        def keep_tables(self, owners: int, states: int) -> bool:
            if hasattr(bench, "bench"):
                tables.append(bench.bench.table is not None)
            return states < 4

    workers = Workers(random.Random(1), lambda process: None, sent_rows=1, parts=1)
    problem = graph_problem([(n, n + 1) for n in range(NODES - 1)])
    engine = FileEngine(problem, workers, WrittenLevels(problem.model.layout.words), owners=1)

    with closing(engine):
        result = search(problem, engine)

    assert result.distinct == NODES
    assert any(tables)
    assert not any(tables[-3:])


class Sending:
    """An outbox over a graph, and what it sends of each level."""

    def __init__(self, edges: Edges, slots_max: int) -> None:
        self.problem = graph_problem(edges)
        self.outbox = Outbox(Expander(self.problem), slots_max=slots_max)

    def sent(self, nodes: Sequence[int], receivers: int = 2) -> list[int]:
        """Nodes that are sent when these are expanded, in the order in which they come."""
        words = self.problem.model.layout.words
        rows = np.array([node_state(n).words for n in nodes], np.uint64).reshape(-1, words)
        by_state = {node_state(n).words: n for n in range(NODES)}
        found: list[int] = []
        for receiver, block in self.outbox.send([rows], Tally(self.problem), receivers):
            sent = np.frombuffer(bytes(block), np.uint64).reshape(-1, words)
            assert set(owner_of_each(sent, receivers).tolist()) == {receiver}
            found += [by_state[tuple(int(word) for word in row)] for row in sent]
        return found


def test_a_state_is_sent_once_while_what_was_sent_is_accepted() -> None:
    sending = Sending([(0, 2), (1, 2), (1, 3), (4, 3), (4, 5)], 1 << 10)

    first = sending.outbox.begin("g", frozenset(), 2)
    assert sorted(sending.sent([0, 1])) == [2, 3]
    second = sending.outbox.begin("g", {first}, 1)
    assert sorted(sending.sent([4])) == [5]
    sending.outbox.begin("g", {"another"}, 1)
    assert second != first
    assert sorted(sending.sent([4])) == [3, 5]


def test_a_state_is_sent_again_when_candidates_are_lost() -> None:
    sending = Sending([(0, 2)], 1 << 10)

    first = sending.outbox.begin("g", frozenset(), 1)
    assert sending.sent([0]) == [2]
    sending.outbox.begin("h", {first}, 1)
    assert sending.sent([0]) == [2]


@pytest.mark.parametrize("slots", [1, 2, 1 << 10])
def test_an_empty_cache_holds_no_state_not_even_that_of_all_zeros(slots: int) -> None:
    everything = [(0, n) for n in range(NODES)]
    sending = Sending(everything, slots)

    sending.outbox.begin("g", frozenset(), 1)

    assert sorted(set(sending.sent([0]))) == list(range(NODES))


def test_buffers_that_are_full_are_handed_out_and_filled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("waterline.checker.search.engines.task.BUFFER_BYTES", 16)
    sending = Sending([(0, n) for n in range(NODES)], 1 << 10)

    sending.outbox.begin("g", frozenset(), 1)

    assert sorted(sending.sent([0], receivers=5)) == list(range(NODES))
