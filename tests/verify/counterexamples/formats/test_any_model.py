"""Long traces are converted in time."""

from __future__ import annotations

from tests.counterexamples.formats.test_any_model import of_thousands_of_steps
from tests.support.machine_speed import Slowness, fewest_seconds
from waterline.checker.report.pages.formats import FORMATS
from waterline.counterexamples import from_json
from waterline.counterexamples.formats import from_itf


def test_thousands_of_steps_are_converted_in_seconds() -> None:
    given = of_thousands_of_steps()
    texts = {name: FORMATS[name](given) for name in ("itf", "tlc", "json")}

    trace = given.finding.replayed.trace
    assert from_itf(texts["itf"]) == from_json(texts["json"]) == trace
    assert texts["tlc"].count("State ") == 1_063

    slowness = Slowness()
    seconds = fewest_seconds(lambda: [FORMATS[name](given) for name in texts])
    assert seconds < 5 * slowness.until_now()
