"""Update of a gate file: new counts and depths, everything else unchanged.

Never rewritten: a verdict, and a number next to an unexpected verdict. A person must enter a change
of verdict.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from waterline.checker.ci.document import BadGate, Document, parse
from waterline.checker.ci.expectation import WITHIN_CONTRACT
from waterline.checker.ci.judging import Outcome, count_of
from waterline.checker.ci.positions import Spot
from waterline.checker.search.result import Verdict


def update(document: Document, outcomes: Sequence[Outcome]) -> str:
    """The text of the file with new numbers. Raises `BadGate` where that would be another gate."""
    text = document.text
    # From the end on, so that the places before stay where they are.
    for spot, number in sorted(_edits(outcomes), key=lambda edit: -edit[0].start):
        text = f"{text[: spot.start]}{number}{text[spot.end :]}"
    if list(parse(text, document.file).spots) != list(document.spots):
        raise BadGate(document.place(()), "the numbers cannot be rewritten; write them by hand")
    return text


def difference(before: str, after: str, file: str) -> str:
    """The lines that differ, as `diff -u` shows them; nothing where none does."""
    lines = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return "".join(difflib.unified_diff(*lines, file, file))


def _edits(outcomes: Sequence[Outcome]) -> Iterator[tuple[Spot, int]]:
    for outcome in outcomes:
        if outcome.answer is None:
            continue
        result, expectation = outcome.answer.result, outcome.expectation
        found = {each.name: each for each in result.invariants}
        for (kind, name), spot in expectation.spots.items():
            if kind == "counts":
                if result.complete and count_of(result, name) != expectation.counts[name]:
                    yield spot, count_of(result, name)
                continue
            expected, depth = expectation.verdicts[name], found[name].depth
            fits = expected.verdict in (Verdict.VIOLATED.value, WITHIN_CONTRACT)
            if fits and depth is not None and depth != expected.depth:
                yield spot, depth
