"""Results on record are of the courses that a search finds today."""

from __future__ import annotations

import pytest

from lab.survey.survey import Survey
from tests.lab.survey.test_survey import RESULTS


@pytest.mark.parametrize("name", ["hw-below-min-isr", "last-replica-standing", "directory-move"])
def test_the_results_on_record_are_of_the_courses_of_today(name: str) -> None:
    """Else what a table says of a release would be tried again, or dropped."""
    on_record = Survey(RESULTS, None, lambda line: None, lambda line: None)
    cells = [each for each in on_record.cells if each.scenario == name]

    assert len(cells) > 10
    assert {each.release for each in cells if not on_record.is_current(each)} == set()
