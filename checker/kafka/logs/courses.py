"""Course: the positions among a broker's lines, for every order that it can have written them in.

Position 0 is before all lines. If the order of the lines is known, position n is after n lines.
Lines of the same time in two files have a position for each set of them that may be written.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from waterline.checker.kafka.logs.observation import BadLogs, Observation

_POSITIONS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Course:
    """`nexts[p]` are the lines that can be next at p, each with the position behind it.

    `behind[p]` is how many lines are behind. A later position has a greater number.
    """

    lines: tuple[Observation, ...]
    nexts: tuple[tuple[tuple[int, int], ...], ...]
    behind: tuple[int, ...]

    def next_of(self, position: int) -> Iterator[tuple[int, Observation, int]]:
        """The lines that can be next: number, line, position behind it."""
        for line, after in self.nexts[position]:
            yield line, self.lines[line], after

    def between(self, old: int, new: int) -> int:
        """Return the first line on the way from a position to a later one."""
        for line, after in self.nexts[old]:
            if after == new or (after < new and self._leads(after, new)):
                return line
        raise ValueError(f"no line leads from {old} to {new}")

    def _leads(self, old: int, new: int) -> bool:
        return any(
            after == new or (after < new and self._leads(after, new))
            for _, after in self.nexts[old]
        )


def course_of(lines: Sequence[Observation]) -> Course:
    """The course of lines that stand in one of their orders. Raises `BadLogs` where it is too long.

    A line is in no order with one of its band in another stream.
    """
    nexts: list[tuple[tuple[int, int], ...]] = []
    behind: list[int] = []
    begin = 0
    for _, group in itertools.groupby(lines, key=lambda seen: seen.band):
        band = list(group)
        streams: dict[str, list[int]] = {}
        for at, seen in enumerate(band, begin):
            streams.setdefault(seen.stream, []).append(at)
        chains = list(streams.values())
        sizes = [len(chain) + 1 for chain in chains]
        made = list(itertools.product(*map(range, sizes)))
        if len(nexts) + len(made) > _POSITIONS_MAX:
            raise BadLogs(
                f"{band[0].place}: {len(band)} lines from here on, in {len(chains)} files of this "
                "broker, have the same time: name fewer epochs with --epochs"
            )
        made.sort(key=lambda each: (sum(each), each))
        number = {each: len(nexts) + k for k, each in enumerate(made)}
        for each in made[:-1]:
            nexts.append(
                tuple(
                    (chain[done], number[(*each[:k], done + 1, *each[k + 1 :])])
                    for k, (chain, done) in enumerate(zip(chains, each, strict=True))
                    if done < len(chain)
                )
            )
            behind.append(begin + sum(each))
        begin += len(band)
    return Course(tuple(lines), (*nexts, ()), (*behind, begin))
