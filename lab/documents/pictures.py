"""The screens of `waterline view` in docs/pictures/, as SVG.

    python -m lab.documents.pictures [--check]

One for each of the best known counterexamples, at the step at which it is to be seen. `--check`
writes nothing, and fails where a picture is not the one that would be made now. A picture refers to
no other file and fetches nothing: the font is the reader's own.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Footer

from waterline.checker.kafka.families import family_of
from waterline.checker.kafka.narrative.story import story_of
from waterline.checker.report.viewer.app import Viewer
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import read_trace

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "examples" / "traces"
PICTURES = ROOT / "docs" / "pictures"
SIZE = (124, 36)
"""Columns and lines: wide enough that the steps are told in full."""
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}\n", re.DOTALL)
_MADE_UP_NAME = re.compile(r"terminal-\d+-")


@dataclass(frozen=True, slots=True)
class Shown:
    """A trace, and the step of it that the picture shows."""

    trace: Path
    step: int


PICTURED = {
    "loss": Shown(TRACES / "hw-no_committed_loss-2r2n2e.json", 10),
    "loss-end": Shown(TRACES / "hw-no_committed_loss-2r2n2e.json", 12),
    "kip-279": Shown(TRACES / "scenarios" / "kip-279.json", 12),
    "c21": Shown(TRACES / "scenarios" / "stale-remote-leo.json", 13),
}
"""By the name of the file."""


def drawn(name: str) -> str:
    """The screen at that step, as SVG."""
    return asyncio.run(_drawn(name, PICTURED[name]))


async def _drawn(name: str, shown: Shown) -> str:
    trace = read_trace(shown.trace)
    problem = family_of(trace.model).problem(trace.version, trace.environment, [trace.invariant])
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    app = Viewer(story_of(confirm_trace(trace, problem.model, claim)), claim)
    async with app.run_test(size=SIZE) as pilot:
        app.show(shown.step)
        await settled(pilot)
        title = f"waterline view {shown.trace.relative_to(ROOT).as_posix()}"
        return _alone(app.export_screenshot(title=title, simplify=True), name)


async def settled(pilot: Pilot[Any], pauses_max: int = 500) -> None:
    """Wait until the screen is drawn in full: another pause changes nothing any more.

    One pause is too short on a busy machine: it takes a process that was not given the processor
    for an idle one, and the footer is composed only after the first refresh.

    Raises:
        TimeoutError: The screen is another one after each of that many pauses.
    """
    before, same = list[str](), 0
    for _ in range(pauses_max):
        await pilot.pause()
        now = lines(pilot.app)
        same = same + 1 if now == before and _has_its_keys(pilot.app) else 0
        if same == 4 or pilot.app.return_value is not None:
            return
        before = now
    raise TimeoutError(f"the screen still changes after {pauses_max} pauses")


def lines(app: App[Any]) -> list[str]:
    """What is on the screen."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def _has_its_keys(app: App[Any]) -> bool:
    return all(footer.children for footer in app.screen.query(Footer))


def _alone(svg: str, name: str) -> str:
    """Without what would be fetched, and with names that are of this picture alone."""
    svg = _FONT_FACE.sub("\n", svg).replace("Fira Code", "ui-monospace, Menlo, Consolas")
    return _MADE_UP_NAME.sub(f"{name}-", svg)


def main() -> None:
    """Write the pictures, or see that they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where one is old")
    only_check = parser.parse_args().check
    PICTURES.mkdir(exist_ok=True)
    for name in PICTURED:
        path, svg = PICTURES / f"{name}.svg", drawn(name)
        if only_check and (not path.is_file() or path.read_text(encoding="utf-8") != svg):
            raise SystemExit(f"{path} is old; run: python -m lab.documents.pictures")
        if not only_check:
            path.write_text(svg, encoding="utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
