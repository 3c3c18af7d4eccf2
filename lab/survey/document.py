"""Document of the catalogue on released Kafkas, from the results of surveys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.conform.figures import without_walks
from lab.survey.cells import Cell, count_of, in_order, release_order
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.replay import Judgement
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE, is_of_kafka, of_kafka
from waterline.counterexamples.named_file import written_whole

_HEAD = """\
# The catalogue on released Kafkas

What `waterline confirm` found for each entry of the [catalogue](results/catalogue.md) on unchanged
brokers of each release. This document is written by

    .venv/bin/python -m lab.survey --results {results} --markdown FILE

from `{results}`, to which the same command adds what is tried with `--kafka RELEASE`;
[confirm.md](confirm.md) says how brokers are steered, what is compared, and what the words mean.

* `CONFIRMED`: the loss, or the divergence, happened on brokers, every step as in the model. With
  `(waited 20 s)` the entry is about what comes in the end: for so long it did not, and the list
  below has what ended it.
* `holds`: the steps of a version that breaks the claim were replayed as far as the release's own
  rules offer them; brokers did what the model of these rules says, in which nothing breaks.
* `REFUTED` and `not steerable`: at the step given.
* `-`: not tried.

Releases from 2.7 to 3.9 with ZooKeeper speak the protocol of 2.6. With KRaft (`:kraft`, and `:elr`
with eligible leader replicas) brokers speak their own, and the harness is their controller.
"""
_MANNERS = (("With ZooKeeper", False), ("With KRaft", True))


def to_markdown(cells: Sequence[Cell], results: str) -> str:
    """The document: tables, then why a cell is what it is."""
    cells = in_order(cells)
    lines = [_HEAD.format(results=results), f"{count_of(cells)}."]
    for title, is_kraft in _MANNERS:
        of_manner = [cell for cell in cells if kafka_release(cell.release).is_kraft is is_kraft]
        if of_manner:
            lines += ["", f"## {title}", "", f"{count_of(of_manner)}.", "", *_table(of_manner)]
    tried = {cell.scenario for cell in cells}
    for title, chosen_ones in (
        (
            "Nothing to replay, for no version breaks their claims",
            [e for e in CATALOGUE if not e.falls],
        ),
        (
            "Without any result",
            [e for e in of_kafka() if e.falls and e.name not in tried],
        ),
        (
            "Of Apache Fluss alone ([results/fluss.md](results/fluss.md))",
            [e for e in CATALOGUE if not is_of_kafka(e)],
        ),
    ):
        if chosen_ones:
            lines += ["", f"{title}: {', '.join(f'{e.number} {e.name}' for e in chosen_ones)}."]
    waits = list(_waits(cells))
    if waits:
        lines += ["", "## What ended the waiting", "", *waits]
    for title, judgement in (
        ("Refuted", Judgement.REFUTED),
        ("Not steerable", Judgement.NOT_STEERABLE),
        ("Where the versions part", Judgement.HELD),
    ):
        chosen = [cell for cell in cells if cell.judged is judgement]
        if chosen:
            lines += ["", f"## {title}", "", *_by_reason(chosen)]
    return "\n".join(lines) + "\n"


def _table(cells: Sequence[Cell]) -> Iterator[str]:
    releases = sorted({cell.release for cell in cells}, key=release_order)
    by_place = {(cell.scenario, cell.release): cell for cell in cells}
    yield f"| | scenario | {' | '.join(releases)} |"
    yield "|---" * (len(releases) + 2) + "|"
    for scenario in CATALOGUE:
        row = [by_place.get((scenario.name, release)) for release in releases]
        if any(row):
            shown = " | ".join(cell.shown if cell else "-" for cell in row)
            yield f"| {scenario.number} | {scenario.name} | {shown} |"


def _waits(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a line for each ending of a wait, with its releases."""
    of_end: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        if cell.waited is not None:
            of_end.setdefault((cell.scenario, cell.ended_by), []).append(cell.release)
    for (scenario, ended_by), releases in of_end.items():
        what = f"ended by {ended_by}" if ended_by else "what was tried did not end it"
        yield f"* {scenario} on {', '.join(releases)}: {what}."


def _by_reason(cells: Sequence[Cell]) -> list[str]:
    """Each reason once, with the entries and releases that have it."""
    of_scenario: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        of_scenario.setdefault((cell.scenario, _reason(cell)), []).append(cell.release)
    of_reason: dict[tuple[str, str], list[str]] = {}
    for (scenario, reason), releases in of_scenario.items():
        of_reason.setdefault((", ".join(releases), reason), []).append(scenario)
    return [
        f"* {', '.join(scenarios)} on {releases}: {reason}."
        for (releases, reason), scenarios in of_reason.items()
    ]


def _reason(cell: Cell) -> str:
    if cell.judged is not Judgement.HELD:
        return cell.reason
    if not cell.reason:
        return f"the trace of `{cell.traced}` is the same up to its end, where nothing breaks"
    return f"the trace of `{cell.traced}` parts at step {cell.step}, {cell.reason}"


def write_markdown(path: Path, cells: Sequence[Cell], results: str) -> None:
    """Write the document, whole or not at all; its part about walks stays. Raises `BadFile`."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    _, walks = without_walks(text)
    with written_whole(path) as file:
        file.write((to_markdown(cells, results) + walks).encode())
