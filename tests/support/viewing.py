"""The viewer without a terminal: keys go in, lines of text come out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from lab.documents.pictures import lines, settled
from tests.support.stories import story
from waterline.checker.kafka.families import family_of
from waterline.checker.kafka.narrative.story import Story
from waterline.checker.report.viewer.app import Viewer
from waterline.model.own.condition import Condition

NARROW, WIDE = (80, 24), (160, 50)


def viewer(told: Story, asked: Condition | None = None) -> Viewer:
    """The viewer of one of Kafka's traces."""
    family = family_of(told.model.name)
    claims = {claim.name: claim for claim in (*family.invariants, *family.properties)}
    return Viewer(told, claims[told.claim], asked)


def seen(
    app: App[Any],
    *keys: str,
    size: tuple[int, int] = NARROW,
    then: Callable[[Pilot[Any]], Awaitable[object]] | None = None,
) -> str:
    """The screen after these keys, and after what `then` does."""

    async def run() -> str:
        async with app.run_test(size=size) as pilot:
            await settled(pilot)
            await pilot.press(*keys)
            if then is not None:
                await then(pilot)
            await settled(pilot)
            return "\n".join(lines(app))

    return asyncio.run(run())


def screen_of(path: Path, *keys: str, size: tuple[int, int] = NARROW) -> str:
    """The screen that shows a trace on record after these keys."""
    return seen(viewer(story(path)), *keys, size=size)
