"""Interface of workers over files: threads or Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from waterline.checker.search.engines.task import LevelPlan, Report
from waterline.checker.storage.storage import Storage

SENT_ROWS_MAX = 1 << 23
"""Most states sent that a worker keeps."""
GROWTH_EXPECTED = 16
"""Candidates to expect in the widest level to come, for each state of the level where workers take
over.
"""


class WorkersLost(Exception):
    """Some workers are gone, and with them the candidates they held; a level may be tried again."""


class Workers(Protocol):
    """Tasks over files, an owner's share of a level each.

    `name` is how the report calls them. Candidates go from one `explore` to the next by their
    hands; `send` is for the first. `sent_rows` and `rules` are what `LevelPlan` has of these names,
    and `parts_max` is the most parts that an owner's candidates may be dealt to.
    """

    name: str
    sent_rows: int
    parts_max: int

    @property
    def rules(self) -> str:
        """Digest of the problem's rules; "" where tasks run in this process."""

    @property
    def tasks(self) -> int:
        """How many tasks run at a time; known once they have got ready, as is `task_bytes`."""

    @property
    def task_bytes(self) -> int:
        """How much memory a task may take."""

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        """Get ready, and say how many owners there should be.

        `work` is a folder of the storage that only this attempt uses.
        """

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates that this process made, by owner."""

    def explore(self, plan: LevelPlan) -> list[Report]:
        """Run `task.explore` for every owner. Raises `WorkersLost`."""

    def renew(self) -> bool:
        """Whether candidates should rather be made anew from the files at this level."""

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, computed anywhere."""

    def close(self) -> None:
        """Let go of everything."""
