"""Markdown of a counterexample: the text of a ticket.

Texts of models and traces are escaped: nothing in them is markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import printable, quantity
from waterline.checker.report.pages.page import require_few_steps
from waterline.checker.report.pages.report import command_of, options_of, title_of
from waterline.checker.report.pages.templating import prose
from waterline.checker.traces.finding import Finding
from waterline.counterexamples import to_json
from waterline.counterexamples.rendering import describe_repetition

_SPECIAL = re.compile(r"[\\`*\[\]<|~&#$]|(?<![^\W_])_|_(?![^\W_])|^(?:[>+=-]|\d+(?=[.)]))")
"""An underscore within a word is none; the others are special where a line begins."""


def to_markdown(problem: Problem, finding: Finding) -> str:
    """Headline, broken claim, setting, steps, and how to repeat it. Raises `TooLongForPage`."""
    story = story_of(finding)
    require_few_steps([story.steps])
    return "\n\n".join(_parts(problem, finding, story)) + "\n"


def _parts(problem: Problem, finding: Finding, story: Story) -> Iterator[str]:
    yield f"# {escape(f'{story.model.version}: {title_of(story)}')}"
    if finding.sentence:
        yield f"The claim: {escape(finding.sentence)}"
    if story.explanation:
        when = f"After step {story.steps}" if story.steps else "In the initial state"
        yield f"**{when}:** {escape(story.explanation)}"
    yield "## Setting"
    title = f"{story.model.version}{words_of(problem).title(problem.model)}"
    options = ", ".join(f"{name} {value}" for name, value in options_of(problem))
    yield escape(f"{title}: {options}." if options else f"{title}.")
    yield f"## {quantity(story.steps, 'step').capitalize()}"
    yield "\n".join(_steps(story))
    yield "## Again"
    if story.breaks or story.raises:
        yield _fence(command_of(problem, finding))
    model = "" if story.is_of_kafka else " --model FILE"
    yield f"Saved as trace.json, `waterline view trace.json{model}` steps through this:"
    yield "<details><summary>The trace</summary>"
    yield _fence(to_json(story.replayed.trace).rstrip())
    yield "</details>"


def _steps(story: Story) -> Iterator[str]:
    """A numbered line a step; why it matters is a quotation below it, but for the last."""
    for number in range(1, story.steps + 1):
        fault = "**fault:** " if story.is_fault(number) else ""
        repeats = " (repeats for ever)" if story.repeats(number) else ""
        yield f"{number}. {fault}{escape(str(story.phrase(number)))}{repeats}"
        if number < story.steps and (why := story.why(number)):
            yield f"{' ' * len(f'{number}. ')}> {escape(why)}"
    if ending := describe_repetition(story.replayed, story.steps + 1):
        yield f"\n{escape(ending)}"


def escape(text: str) -> str:
    """Return a text on one line, with markup and arrows escaped."""
    line = " ".join(prose(text).split())
    return _SPECIAL.sub(_spell, printable(line))


def _spell(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def _fence(text: str) -> str:
    """A block of code, its fence longer than any run of backticks in it."""
    runs = (len(run) for run in re.findall("`+", text))
    fence = "`" * max(3, 1 + max(runs, default=0))
    return f"{fence}\n{text}\n{fence}"
