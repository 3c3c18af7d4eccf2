"""Long traces are converted in time."""

from __future__ import annotations

import time

from tests.counterexamples.formats.test_any_model import of_thousands_of_steps
from tests.support.machine_speed import Slowness
from waterline.checker.report.pages.formats import FORMATS
from waterline.counterexamples import from_json
from waterline.counterexamples.formats import from_itf


def test_thousands_of_steps_are_converted_in_seconds() -> None:
    given = of_thousands_of_steps()
    slowness = Slowness()
    begun = time.process_time()
    texts = {name: FORMATS[name](given) for name in ("itf", "tlc", "json")}
    seconds = time.process_time() - begun

    trace = given.finding.replayed.trace
    assert from_itf(texts["itf"]) == from_json(texts["json"]) == trace
    assert texts["tlc"].count("State ") == 1_063
    assert seconds < 5 * slowness.until_now()
