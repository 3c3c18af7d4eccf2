"""Survey of all catalogue entries on all requested releases, and its document.

What is found is written down as it comes, so that a survey that was ended goes on where it was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from checker.kafka.confirm.carrying_out import carried_out
from checker.kafka.confirm.counterexample import searched
from checker.kafka.confirm.errors import CannotConfirm, NoJars
from checker.kafka.confirm.figures import without_walks
from checker.kafka.confirm.releases import KafkaRelease
from checker.kafka.confirm.replay import Judgement
from checker.kafka.scenarios.catalogue import CATALOGUE, find_scenario
from checker.kafka.scenarios.scenario import Scenario
from counterexamples.named_file import written_whole

_SHOWN = {
    Judgement.CONFIRMED: "CONFIRMED",
    Judgement.HELD: "holds",
    Judgement.REFUTED: "REFUTED",
    Judgement.NOT_STEERABLE: "not steerable",
}
_HEAD = """\
# The catalogue on released Kafkas

What `waterline confirm` found for each entry of the [catalogue](scenarios.md) on unchanged brokers
of each release. This document is written by

    .venv/bin/waterline confirm-catalogue {options} --markdown docs/released-brokers.md

and [confirm.md](confirm.md) says how brokers are steered, what is compared, and what the words
mean. `CONFIRMED`: the loss, or the divergence, happened on brokers, every step as in the model.
`holds`: the steps of a version that breaks the claim were replayed as far as the release's own
rules offer them; brokers did what the model of these rules says, in which nothing breaks.
`REFUTED` and `not steerable`: at the step given. Releases from 2.7 to 3.9 speak the protocol of
2.6; those of 4.x, and those with `:kraft`, speak their own, with the harness as their KRaft
controller, and `:elr` is with eligible leader replicas. What is about recovery and liveness is in
[confirm.md](confirm.md). `-` is a cell that was not tried.
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """What came of a scenario on a release. `step` is 0 where it is of no step."""

    scenario: str
    release: str
    judgement: str
    step: int
    reason: str
    seconds: float

    @property
    def shown(self) -> str:
        """As it stands in the table."""
        judgement = Judgement[self.judgement]
        names_step = judgement in {Judgement.REFUTED, Judgement.NOT_STEERABLE} and self.step
        at = f" {self.step}" if names_step else ""
        return f"{_SHOWN[judgement]}{at}"


def read_cells(file: Path) -> list[Cell]:
    """What an earlier survey wrote down. Raises `CannotConfirm` for any other file."""
    if not file.exists():
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [Cell(**json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError) as problem:
        raise CannotConfirm(
            f"{file} holds no results of a survey ({problem}); name another file"
        ) from None


def surveyed(
    scenarios: Sequence[Scenario],
    releases: Sequence[KafkaRelease],
    *,
    results: Path | None,
    jars: Path | None,
    announce: Callable[[str], None],
    report: Callable[[str], None],
) -> tuple[list[Cell], list[str]]:
    """Try every scenario on every release; the cells, and the releases that cannot be had.

    Cells that `results` has are not tried again. Ctrl-C ends it with what was found until then.
    """
    cells = read_cells(results) if results else []
    known = {(cell.scenario, cell.release) for cell in cells}
    missing: list[str] = []
    try:
        for release in releases:
            for scenario in scenarios:
                if release.name in missing or (scenario.name, release.name) in known:
                    continue
                announce(f"{scenario.name} on Kafka {release.name}")
                try:
                    cell = _tried(scenario, release, jars, report)
                except NoJars as problem:
                    announce(str(problem))
                    missing.append(release.name)
                    continue
                except CannotConfirm as problem:
                    # One cluster that did not come up is not to end a survey of an hour.
                    announce(f"not tried: {problem}")
                    continue
                cells.append(cell)
                if results:
                    with results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(cell)) + "\n")
    except KeyboardInterrupt:
        announce("interrupted: what was found until then is shown")
    return cells, missing


def _tried(
    scenario: Scenario, release: KafkaRelease, jars: Path | None, report: Callable[[str], None]
) -> Cell:
    shown = searched(scenario, release.rules, report)
    found, _ = carried_out(shown, release, jars=jars, report=report)
    return Cell(
        scenario.name,
        release.name,
        found.judgement.name,
        found.step,
        found.reason,
        round(found.seconds, 1),
    )


def count_of(cells: Sequence[Cell]) -> str:
    """`112 CONFIRMED, 98 holds, 3 REFUTED, 9 not steerable`"""
    numbers = Counter(Judgement[cell.judgement] for cell in cells)
    return ", ".join(f"{numbers[judgement]} {word}" for judgement, word in _SHOWN.items())


def to_markdown(cells: Sequence[Cell], releases: Sequence[str], missing: Sequence[str]) -> str:
    """The document: a table, then why each cell is not CONFIRMED."""
    by_place = {(cell.scenario, cell.release): cell for cell in cells}
    options = " ".join(f"--kafka {name}" for name in releases)
    lines = [_HEAD.format(options=options), f"{count_of(cells)}."]
    if missing:
        lines.append(f"Not to be had: {', '.join(missing)}.")
    lines += ["", f"| | scenario | {' | '.join(releases)} |", "|---" * (len(releases) + 2) + "|"]
    for scenario in CATALOGUE:
        row = [by_place.get((scenario.name, name)) for name in releases]
        if any(row):
            shown = " | ".join(cell.shown if cell else "-" for cell in row)
            lines.append(f"| {scenario.number} | {scenario.name} | {shown} |")
    for title, judgement in (
        ("Refuted", Judgement.REFUTED),
        ("Not steerable", Judgement.NOT_STEERABLE),
        ("Where the versions part", Judgement.HELD),
    ):
        chosen = [cell for cell in cells if cell.judgement == judgement.name]
        if chosen:
            lines += ["", f"## {title}", ""]
            lines += _by_reason(chosen, releases)
    return "\n".join(lines) + "\n"


def _by_reason(cells: Sequence[Cell], releases: Sequence[str]) -> list[str]:
    """Each reason once, with the cells that have it."""
    ordered = sorted(cells, key=lambda cell: (_place(cell), releases.index(cell.release)))
    of_scenario: dict[tuple[str, str], list[str]] = {}
    for cell in ordered:
        of_scenario.setdefault((cell.scenario, cell.reason), []).append(cell.release)
    of_reason: dict[tuple[str, str], list[str]] = {}
    for (scenario, reason), where in of_scenario.items():
        of_reason.setdefault((", ".join(where), reason), []).append(scenario)
    return [
        f"* {', '.join(scenarios)} on {where}: {reason}."
        for (where, reason), scenarios in of_reason.items()
    ]


def _place(cell: Cell) -> int:
    return CATALOGUE.index(find_scenario(cell.scenario))


def write_markdown(
    path: Path, cells: Sequence[Cell], releases: Sequence[str], missing: Sequence[str]
) -> None:
    """Write the document, whole or not at all; its part about walks stays. Raises `BadFile`."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    _, walks = without_walks(text)
    with written_whole(path) as file:
        file.write((to_markdown(cells, releases, missing) + walks).encode())
