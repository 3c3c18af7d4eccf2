"""Two versions on one page: every pair, both ends, where they part; for any pair of versions."""

from __future__ import annotations

import itertools
import re

import pytest

from tests.support.confirmed_traces import FOLDER, TRACES
from tests.support.pages import assert_needs_nothing_else
from tests.support.pictured import C21, DIVERGENCE, LOSS, beside
from tests.support.sampling import drawn
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.report.pages.comparison_page import comparison_page
from waterline.counterexamples import read_trace
from waterline.model.core.errors import BadEnvironment

TO_COME = {claim.name for claim in MESSAGE.behaviours}
COMPARED = [name for name in TRACES if read_trace(FOLDER / name).invariant not in TO_COME]
"""Those about states and steps. Of others what can follow is searched: tests/analysis/compare."""
SAMPLE = list(itertools.islice(itertools.product(COMPARED, MESSAGE.versions), 0, None, 7))
"""Every seventh of all of them under all versions, for tests/verify; some of them here."""


@pytest.mark.parametrize(("name", "version"), [(LOSS, "epoch"), (C21, "hw"), (DIVERGENCE, "elr")])
def test_every_pair_has_a_scene_for_each_side(name: str, version: str) -> None:
    try:
        comparison = beside(name, version)
    except BadEnvironment as refused:
        # A trace of reassignments under a version that has none.
        assert "is no version of Kafka" in str(refused)  # noqa: PT017
        return
    text = comparison_page(comparison)
    scenes = re.findall(
        r'<article class="scene" data-step="(\d+)">(.*?)</article>', text, re.DOTALL
    )

    assert [int(number) for number, _ in scenes] == list(range(len(comparison.pairs) + 1))
    assert all(body.count('<div class="side">') == 2 for _, body in scenes)
    assert_needs_nothing_else(text)


def test_the_page_says_where_the_two_part_and_how_each_ends() -> None:
    text = comparison_page(beside(LOSS, "epoch"))
    [parting] = re.findall(
        r'<article[^>]*data-step="(\d+)">\s*<h3>[^<]*<b[^>]*>[^<]*</b> <em', text
    )

    assert parting == "10"
    assert "They part at <b>step 10</b>: " in text
    assert "<b>hw</b> breaks no_committed_loss at step 12. m1 was committed" in text
    assert "<b>epoch</b> keeps no_committed_loss all the way." in text


@pytest.mark.parametrize(("name", "version"), drawn(SAMPLE, 20))
def test_any_trace_under_any_version_makes_a_page(name: str, version: str) -> None:
    assert_makes_a_page(name, version)


def assert_makes_a_page(name: str, version: str) -> None:
    """A trace under a version makes a page with all pairs of steps."""
    try:
        comparison = beside(name, version)
    except BadEnvironment as refused:
        # A trace of reassignments under a version that has none.
        assert "is no version of Kafka" in str(refused)  # noqa: PT017
        return
    text = comparison_page(comparison)

    assert text.count("<article ") == len(comparison.pairs) + 1


def test_the_sample_has_every_version_and_many_traces() -> None:
    assert {version for _, version in SAMPLE} == set(MESSAGE.versions)
    assert {name for name, _ in SAMPLE} == set(COMPARED)
    assert len(TRACES) == len(list(FOLDER.rglob("*.json"))) > len(COMPARED)
