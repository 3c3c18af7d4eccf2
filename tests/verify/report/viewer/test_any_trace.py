"""Long traces, traces of somebody's own model, and texts that are not what they seem."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from lab.documents.pictures import lines, settled
from tests.support.machine_speed import Slowness, fewest_seconds
from tests.support.stories import LOSS, story_of_trace
from tests.support.viewing import NARROW, viewer
from waterline.counterexamples import TraceStep, read_trace


def test_ten_thousand_steps_open_in_four_seconds(tmp_path: Path) -> None:
    follower = (("follower", 1),)
    round_trip = [TraceStep(name, follower) for name in ("SendFetch", "LeaderFetch", "RecvFetch")]
    loss = read_trace(LOSS)
    trace = replace(loss, steps=(*round_trip * 3330, *loss.steps))

    async def screen() -> str:
        app = viewer(story_of_trace(trace))
        async with app.run_test(size=NARROW) as pilot:
            await pilot.pause()
            return "\n".join(lines(app))

    async def screen_once_settled() -> str:
        app = viewer(story_of_trace(trace))
        async with app.run_test(size=NARROW) as pilot:
            await settled(pilot)
            return "\n".join(lines(app))

    assert "step 0 of 10002" in asyncio.run(screen_once_settled())
    slowness = Slowness()
    seconds = fewest_seconds(lambda: asyncio.run(screen()), attempts=2)
    assert seconds < 4.0 * slowness.until_now()
