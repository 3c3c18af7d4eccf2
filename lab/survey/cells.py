"""Results of catalogue entries on releases: a file with a line per entry and release.

docs/formats.md describes a line. Lines follow the order of the catalogue and of releases, so a new
result adds a line in its place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.releases import ELR, KRAFT, ZOOKEEPER, kafka_release
from waterline.checker.kafka.confirm.replay import Judgement
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE, find_scenario
from waterline.counterexamples.named_file import written_whole
from waterline.model.core.errors import BadEnvironment

_MANNERS = (ZOOKEEPER, KRAFT, ELR)
_SHOWN = {
    Judgement.CONFIRMED: "CONFIRMED",
    Judgement.HELD: "holds",
    Judgement.REFUTED: "REFUTED",
    Judgement.NOT_STEERABLE: "not steerable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Result of a catalogue entry on a release.

    `course` is the digest of the replayed course (`checker.kafka.confirm.course_digest`), `traced`
    the version that the counterexample comes from. `step` is the step that the judgement names, or
    where that version and the release's rules first differ; 0 for none. `reason` says why the entry
    is not CONFIRMED. For a liveness claim, `waited` is the number of seconds without the awaited
    event, and `ended_by` the step that brought it; else None and "".
    """

    scenario: str
    release: str
    judgement: str
    step: int
    reason: str
    traced: str
    course: str
    seconds: float
    waited: float | None = None
    ended_by: str = ""

    @property
    def judged(self) -> Judgement:
        """The verdict."""
        return Judgement[self.judgement]

    @property
    def shown(self) -> str:
        """Text in the table."""
        text = _SHOWN[self.judged]
        if self.judged in {Judgement.REFUTED, Judgement.NOT_STEERABLE} and self.step:
            return f"{text} {self.step}"
        if self.judged is Judgement.CONFIRMED and self.waited is not None:
            return f"{text} (waited {self.waited:.0f} s)"
        return text


def count_of(cells: Iterable[Cell]) -> str:
    """`112 CONFIRMED, 98 holds, 3 REFUTED, 9 not steerable`"""
    judged = [cell.judged for cell in cells]
    return ", ".join(f"{judged.count(each)} {word}" for each, word in _SHOWN.items())


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Sort by entry, then by release: with ZooKeeper first, and the oldest first."""
    places = {scenario.name: place for place, scenario in enumerate(CATALOGUE)}
    return sorted(cells, key=lambda cell: (places[cell.scenario], *release_order(cell.release)))


def release_order(name: str) -> tuple[bool, tuple[int, ...], int]:
    """Return the sort key of a release."""
    release = kafka_release(name)
    return release.is_kraft, release.number, _MANNERS.index(release.manner)


def read_cells(file: Path) -> list[Cell]:
    """Return the cells in `file`, none if it does not exist. Raises `CannotConfirm`."""
    if not file.exists():
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [_from_json(json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError, KeyError, BadEnvironment, CannotConfirm) as problem:
        raise CannotConfirm(
            f"{file} holds no results of the catalogue ({problem}); name another file"
        ) from None


def _from_json(values: dict[str, object]) -> Cell:
    cell = Cell(**values)  # type: ignore[arg-type]  # what is of another kind fails below
    find_scenario(cell.scenario)
    kafka_release(cell.release)
    if cell.judged.name != cell.judgement or not isinstance(cell.step, int):
        raise ValueError(f"{cell.judgement} at {cell.step!r} is no verdict")
    return cell


def write_cells(file: Path, cells: Sequence[Cell]) -> None:
    """Write all, one a line, whole or not at all. Raises `BadFile`."""
    with written_whole(file) as draft:
        for cell in in_order(cells):
            kept = {name: value for name, value in asdict(cell).items() if _is_said(name, value)}
            draft.write((json.dumps(kept) + "\n").encode())


_DEFAULTS = {each.name: each.default for each in fields(Cell)}


def _is_said(name: str, value: object) -> bool:
    return value != _DEFAULTS[name]


def replace_cell(cells: Sequence[Cell], found: Cell) -> list[Cell]:
    """Return the cells with this one in its place."""
    place = (found.scenario, found.release)
    return [*(cell for cell in cells if (cell.scenario, cell.release) != place), found]
