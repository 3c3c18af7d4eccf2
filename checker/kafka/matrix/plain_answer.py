"""Sentences below a small grid: the losses of each version, by fault; and Fluss's words."""

from __future__ import annotations

from collections.abc import Iterator

from waterline.checker.kafka.deployed.keys import ACKS, MIN_INSYNC
from waterline.checker.kafka.matrix.grid import CLAIMS, FAULT, NO_FAULT, SETTINGS, VERSION, Grid
from waterline.checker.kafka.matrix.matrix import Matrix
from waterline.checker.kafka.matrix.outcome import Outcome, Standing
from waterline.model.message.narration.fluss_words import in_words_of_fluss
from waterline.model.message.versions import FLUSS

VERSIONS_MAX = 2
"""Maximum number of versions with sentences; for more the table says enough."""
_SENTENCES = {claim.name: claim.sentence for claim in CLAIMS}
_OPTIONS_OF_FLUSS = {ACKS: "client.writer.acks", MIN_INSYNC: in_words_of_fluss(MIN_INSYNC)}


def in_words_of(system: str, text: str) -> str:
    """A sentence about Kafka in the words of the system: a broker of Fluss is a tablet server."""
    return in_words_of_fluss(text).replace("Kafka", FLUSS) if system == FLUSS else text


def option_names(grid: Grid) -> str:
    """Describe the axes' settings by their names in Fluss; "" for Kafka."""
    if grid.system != FLUSS:
        return ""
    named = [f"{axis} is {option}" for axis, option in _OPTIONS_OF_FLUSS.items()]
    return f"In Fluss {', '.join(named)}; there is no unclean leader election."


def plain_answers(matrix: Matrix) -> Iterator[str]:
    """A sentence for each version and combination of settings, where the versions are few."""
    grid = matrix.grid
    if len(grid.axis(VERSION).values) > VERSIONS_MAX or matrix.interrupted:
        return
    varied = [axis.name for axis in grid.varied if axis.name in SETTINGS]
    places = dict.fromkeys(
        tuple(outcome.cell.coordinates[name] for name in (VERSION, *varied))
        for outcome in matrix.outcomes
    )
    for at in places:
        cells = [
            outcome
            for outcome in matrix.outcomes
            if tuple(outcome.cell.coordinates[name] for name in (VERSION, *varied)) == at
        ]
        settings = ", ".join(f"{n}={v}" for n, v in zip(varied, at[1:], strict=True))
        yield f"{at[0]}{f' with {settings}' if settings else ''}: {'; '.join(_parts(cells))}."


def _parts(cells: list[Outcome]) -> Iterator[str]:
    """`a record is lost that was acknowledged to a producer under one crash (7 steps)`"""
    of_worst: dict[str, list[str]] = {}
    for outcome in cells:
        worst = outcome.worst
        if outcome.standing is Standing.VIOLATED and worst is not None:
            sentence = _SENTENCES.get(worst.name, f"{worst.name} is broken")
            of_worst.setdefault(sentence, []).append(_name_loss(outcome, f" ({worst.depth} steps)"))
    for claim in [*_SENTENCES.values(), *(s for s in of_worst if s not in _SENTENCES.values())]:
        if claim in of_worst:
            yield f"{claim} under {', '.join(of_worst[claim])}"
    for standing, text in (
        (Standing.CONTRACT, "what breaks is not promised"),
        (Standing.HOLDS, "nothing breaks"),
        (Standing.INCOMPLETE, "not decided"),
    ):
        if named := [_name_loss(outcome) for outcome in cells if outcome.standing is standing]:
            yield f"{text} under {', '.join(named)}"


def _name_loss(outcome: Outcome, text: str = "") -> str:
    fault = outcome.cell.coordinates[FAULT]
    return f"{'no fault' if fault == NO_FAULT else fault}{text}"
