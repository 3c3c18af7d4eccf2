"""The counterexamples from which the experiments' tests begin are those that a search finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.experiments import test_paused, test_refused
from waterline.checker.kafka.confirm.counterexample import search
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.counterexamples import to_json


@pytest.mark.parametrize(
    ("number", "release", "recorded"),
    [
        ("C21", test_paused.RELEASE, test_paused.SHOWN),
        ("C43", test_refused.RELEASE, test_refused.SHOWN),
    ],
    ids=["C21", "C43"],
)
def test_the_recorded_counterexample_is_the_one_that_is_found(
    number: str, release: KafkaRelease, recorded: Path
) -> None:
    found = search(find_scenario(number), release.rules, lambda line: None, always=True)

    assert to_json(found.finding.replayed.trace) == recorded.read_text()
