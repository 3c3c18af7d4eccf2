"""HTML page of a counterexample: self-contained, one step at a time.

Whatever comes from elsewhere is escaped. The page may fetch nothing, send nothing, and run no
script but ours: its policy says so to the browser, with the hash of that script.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from waterline.checker.kafka.narrative.story import Story
from waterline.checker.problem.errors import Refused
from waterline.checker.report.pages.drawing import Drawing, draw
from waterline.checker.report.pages.scenes import Scene, scenes_of
from waterline.checker.report.pages.templating import ours, templates, without_blank_lines
from waterline.checker.report.pages.trace_sequence import sequence_of
from waterline.counterexamples import to_json

BESIDE_STEPS_MAX = 200
"""Most steps of a trace that has a diagram below it: a page has to be scrolled past it."""
STEPS_MAX = 5_000
"""Most steps on one page: a browser has to hold all of them, a terminal has not."""


class TooLongForPage(Refused, ValueError):
    """The traces have more steps than a page shows."""


def require_few_steps(steps: Iterable[int]) -> None:
    """See that a page can hold traces of so many steps. Raises `TooLongForPage`."""
    total = sum(steps)
    if total > STEPS_MAX:
        raise TooLongForPage(
            f"the traces have {total:,} steps, and a page shows at most {STEPS_MAX:,}; "
            "step through them with waterline view"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A counterexample on a page: `name` is what links call it, `sentence` what its claim says.

    `alike` says how short it is. `explained` is what it takes and what repairs it, as
    `waterline explain --format json` has it. `offsets` are the columns of its logs. `file` is the
    text of its trace file, "" where a page has too many to hold them.
    """

    name: str
    title: str
    claim: str
    sentence: str
    explanation: str
    alike: str
    explained: Mapping[str, Any]
    offsets: int
    scenes: tuple[Scene, ...]
    drawing: Drawing | None
    file: str


def parts_of(
    story: Story,
    name: str,
    *,
    title: str,
    sentence: str = "",
    alike: str = "",
    explained: Mapping[str, Any] | None = None,
    whole: bool = True,
) -> Shown:
    """Return the parts of a story that a page shows; diagram and file only if `whole`."""
    has_diagram = whole and story.steps <= BESIDE_STEPS_MAX
    return Shown(
        name=name,
        title=title,
        claim=story.claim,
        sentence=sentence,
        explanation=story.explanation,
        alike=alike,
        explained=explained or {},
        offsets=story.longest_log,
        scenes=scenes_of(story),
        drawing=draw(sequence_of(story)) if has_diagram else None,
        file=to_json(story.replayed.trace) if whole else "",
    )


def render(template: str, **given: object) -> str:
    """The page that a template of a package makes, with our styles and our script."""
    script = ours("stepper.js")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    text = (
        templates()
        .get_template(template)
        .render(
            policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
            script=script,
            style=ours("page.css") + ours("diagram.css"),
            **given,
        )
    )
    return without_blank_lines(text) + "\n"
