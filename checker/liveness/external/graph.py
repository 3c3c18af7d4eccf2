"""The partitioned graph, built once and traversed in rounds of tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.liveness.external.linking import (
    Done,
    Expand,
    Resolve,
    SortOut,
    TakeOut,
    least_fault,
)
from waterline.checker.liveness.external.parts import Parts, mail_of
from waterline.checker.liveness.external.travelling import Flow, Round, Thinning
from waterline.checker.liveness.space import predicates_asked
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import quantity
from waterline.checker.search.engines.answers import ModelFault
from waterline.checker.search.engines.over_files import FileEngine
from waterline.checker.storage.level_files import LevelFiles
from waterline.checker.storage.storage import undurable

_TELL_SECONDS = 5.0
_FOLDER = "behaviours"
_TASKS_A_CORE_MAX = 4
_OWNERS_MAX = 1024
"""Most owners, however little a task may take: every owner sends messages to all others."""
_TASK_BYTES_A_WORD = 4 * 8
"""Memory of a task for each word of the successors that it receives: they are sorted, and kept."""


@dataclass
class PartedGraph:
    """States with an event still to come, and all their steps, in files of `parts`.

    `over` is `FileEngine.over`. `states` is how many there are, `taken` which steps occur,
    `depth_max` the depth of the deepest level.
    """

    problem: Problem
    parts: Parts
    over: Callable[[Sequence[Any], Callable[[Any], Any]], Iterator[Any]]
    announce: Callable[[str], None]
    depth_max: int
    states: int = 0
    taken: tuple[int, ...] = ()
    _describe: float = field(default_factory=time.monotonic)
    _names: int = 0

    def each(self, work: Callable[[int], Any]) -> list[Any]:
        """Return `work(owner)` for every owner, in the order of the owners."""
        return list(self.over(range(self.parts.owners), work))

    def name(self, what: str) -> str:
        """A name for files that no others have."""
        self._names += 1
        return f"{what}{self._names}"

    def flow(self, flow: Flow, doing: str) -> str:
        """Have bits travel as far as they go; what the files are called that say where they came.

        Bits that are timed begin at the depth of a state, so the deepest is waited for.
        """
        return self._rounds(flow, doing, self.depth_max if flow.timed else 0, lambda states: False)

    def thin(
        self, thinning: Thinning, doing: str, enough: Callable[[int], bool]
    ) -> tuple[str, int]:
        """Take away what goes, or as much until it is `enough`; the files of what is left, and of
        how many states.
        """
        left = [self.states]

        def is_enough(states: int) -> bool:
            left[0] = states
            return states == 0 or enough(states)

        return self._rounds(thinning, doing, 1, is_enough), left[0]

    def _rounds(
        self, task: Flow | Thinning, doing: str, last: int, enough: Callable[[int], bool]
    ) -> str:
        """Run rounds until none sends a message, at least up to the round `last`."""
        owners, counts, number = self.parts.owners, list[tuple[int, ...]](), 0
        while True:
            asked = [Round(owner, number, mail_of(counts, owner)) for owner in range(owners)]
            found = list(self.over(asked, task))
            counts = [text.counts for text in found]
            states = sum(text.states for text in found)
            self._report(f"{doing}: round {number}, {quantity(states, 'state')}")
            self.parts.delete(*self._of_round(task, number - 1))
            if enough(states) or (number >= last and not any(map(any, counts))):
                break
            number += 1
        self.parts.delete(f"{task.name}-mail-{number}", *_of_all_rounds(task, number))
        return f"{task.name}-{number}"

    def _of_round(self, task: Flow | Thinning, number: int) -> list[str]:
        """Return the files of a round that are unused once the next one has ended."""
        names = [f"{task.name}-{number}", f"{task.name}-mail-{number}"]
        return [*names, f"{task.name}-left-{number}"] if isinstance(task, Thinning) else names

    def _report(self, message: str) -> None:
        if time.monotonic() - self._describe >= _TELL_SECONDS:
            self.announce(message)
            self._describe = time.monotonic()

    def link(self, levels: Sequence[LevelFiles]) -> None:
        """Make the parts. Raises `ModelFault`, and `NotExplored`."""
        parts, owners = self.parts, range(self.parts.owners)
        taken_out = self.each(TakeOut(self.problem, parts, tuple(levels)))
        self._require_sound(taken_out)
        self.states = sum(done.made for done in taken_out)
        self.announce(f"linking the steps of {quantity(self.states, 'state')} in files")
        expanded = self.each(Expand(self.problem, parts))
        self._require_sound(expanded)
        self.taken = tuple(sorted({step for done in expanded for step in done.steps}))
        counts = [done.counts for done in expanded]
        asked = [(owner, mail_of(counts, owner)) for owner in owners]
        resolved = list(self.over(asked, Resolve(self.problem, parts)))
        parts.delete("sought")
        counts = [done.counts for done in resolved]
        asked = [(owner, mail_of(counts, owner)) for owner in owners]
        for _ in self.over(asked, SortOut(parts)):
            pass
        parts.delete("found")

    def _require_sound(self, done: Sequence[Done]) -> None:
        fault = least_fault(done)
        if fault is not None:
            raise ModelFault(fault)


def _of_all_rounds(task: Flow | Thinning, last: int) -> list[str]:
    """Return the files of a task that are unused after its last round."""
    return [f"{task.name}-left-{last}" if isinstance(task, Thinning) else f"{task.name}-given"]


def _owners_for(engine: FileEngine, bytes_in_all: int) -> int:
    """Return the number of owners: the fewest possible, since each round of each costs time; or as
    many as explored, if that is about as many, since each then reads its own files only.
    """
    workers = engine.main
    needed = max(workers.tasks, min(-(-bytes_in_all // workers.task_bytes), _OWNERS_MAX))
    explored = engine.owners
    return explored if needed <= explored <= _TASKS_A_CORE_MAX * workers.tasks else needed


@contextmanager
def part_graph(
    problem: Problem,
    engine: FileEngine,
    *,
    steps: int,
    levels: Sequence[LevelFiles],
    announce: Callable[[str], None],
) -> Iterator[PartedGraph]:
    """The graph of what an engine has explored, in files that are removed in the end.

    `steps` is how many there may be: of many there are more owners, so that each task fits.
    """
    words = problem.model.layout.words
    owners = _owners_for(engine, steps * (words + 1) * _TASK_BYTES_A_WORD)
    # Of what is lost with a machine nothing is needed any more: no file has to survive that.
    storage = undurable(engine.levels.storage)
    folder = f"{engine.levels.work}/{_FOLDER}"
    parts = Parts(storage, folder, owners, words, predicates_asked(problem))
    graph = PartedGraph(problem, parts, engine.over, announce, max(level.depth for level in levels))
    try:
        graph.link(levels)
        yield graph
    finally:
        storage.remove_folder(folder)
