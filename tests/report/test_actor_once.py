"""No line of any view has the actor of a step twice, as `r1 r1 sends r0 a fetch` would.

Of recorded traces, of random steps of versions, and of example models (all in tests/verify): pages,
diagrams, tickets, the viewer's list at every width and what it tells below, and notebooks.
"""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.confirmed_traces import TRACES, confirmed_in
from tests.support.own import EXAMPLES
from tests.support.pictured import LOSS, beside
from tests.support.sampling import drawn
from waterline.checker.kafka.families import GRAINS
from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.problem.problem import Problem, asked_alone
from waterline.checker.report import pages
from waterline.checker.report.pages.comparison_page import comparison_page
from waterline.checker.report.pages.formats import FORMATS, Converted
from waterline.checker.report.viewer.app import Steps
from waterline.checker.report.viewer.sentences import describe
from waterline.checker.traces.finding import Finding, confirm_trace
from waterline.checker.user_models.family import family_in
from waterline.counterexamples import NO_CLAIM, trace_of

STEPS = 40
VERSIONS = [(grain, version) for grain, family in GRAINS.items() for version in family.versions]
MORE = {
    "replicas": 3,
    "shutdowns": 1,
    "lost-checkpoints": 1,
    "session-expiries": 1,
    "moves": 1,
    "late-answers": True,
    "parked-fetches": True,
    "caught-up-wait": True,
    "requests-survive": True,
    "late-metadata": True,
    "unclean-leader-election": True,
    "consumer": True,
}
"""Of the message grain: with the recorded traces nearly every action is taken."""
OWN = sorted(path.stem for path in EXAMPLES.glob("*.py"))
_LINE = re.compile(
    r'<li data-step.*?</li>|<p class="sentence">.*?</p>|<title>.*?</title>', re.DOTALL
)


def walked(problem: Problem, seed: int) -> Finding:
    """Steps chosen at random, the rarest actions first, so that many are seen."""
    model, chosen = problem.model, random.Random(seed)
    state, calls, seen = model.initial[0], [], dict[str, int]()
    for _ in range(STEPS):
        steps = list(model.successors(state))
        if not steps:
            break
        step = min(steps, key=lambda s: (seen.get(s.action.name, 0), chosen.random()))
        seen[step.action.name] = seen.get(step.action.name, 0) + 1
        calls.append((step.action.name, step.arguments))
        state = step.after
    trace = trace_of(model, NO_CLAIM, calls)
    return confirm_trace(trace, model, asked_alone(problem))


def lines_of(problem: Problem, finding: Finding) -> Iterator[str]:
    """Every line of every view."""
    story, claim = story_of(finding), asked_alone(problem)
    given = Converted(problem=problem, finding=finding)
    shown = list(lines_of_page(FORMATS["html"](given)))
    assert len(shown) >= 3 * story.steps, "a list, a scene and a band of a diagram for each"
    yield from shown
    for name in ("mermaid", "markdown"):
        yield from FORMATS[name](given).splitlines()
    actors = [story.actor(step) for step in range(1, story.steps + 1)]
    steps = Steps(story, actors, id="steps")
    for step in range(1, story.steps + 1):
        for width in (None, 120, 60, 30):
            yield " ".join(line.plain for line in steps.lines(step, width))
        yield from describe(story, claim, step, actors).plain.splitlines()


def lines_of_page(text: str) -> Iterator[str]:
    """What stands in the lists of steps, above the scenes, and at the bands of a diagram."""
    for line in _LINE.findall(text):
        yield html.unescape(" ".join(re.sub(r"<[^>]*>", "", line).split()))


def require_once(actors: set[str], lines: Iterator[str]) -> None:
    """No line begins with an actor, and then with the same again."""
    names = "|".join(map(re.escape, actors - {""}))
    twice = re.compile(rf"^[\W\d]*(?:fault:\W*)?({names})\W+(?:the )?\1(?!\w)", re.IGNORECASE)
    found = [line for line in lines if names and twice.match(line)]

    assert found == []


def require_told_once(story: Story) -> None:
    """A step is told with its actor: as often as the sentence names it, or once in front."""
    for step in range(1, story.steps + 1):
        told, sentence = story.phrase(step), story.sentence(step)
        assert str(told) in {sentence, f"{story.actor(step)}: {sentence}"}
        assert (str(told) == sentence) == (told.before + told.actor in sentence)


def actors_of(story: Story) -> set[str]:
    return {story.actor(step) for step in range(1, story.steps + 1)}


def require(problem: Problem, finding: Finding) -> None:
    story = story_of(finding)
    require_told_once(story)
    require_once(actors_of(story), lines_of(problem, finding))


def require_right(story: Story) -> None:
    """Whom a sentence of Kafka's begins with acts."""
    for step in range(1, story.steps + 1):
        told, sentence = story.phrase(step), story.sentence(step)
        first = re.match(r"(r\d+|The (?:controller|coordinator|consumer))(?= )", sentence)
        assert first is None or told.actor in first[1], sentence


@pytest.mark.parametrize("name", TRACES)
def test_of_every_recorded_trace(name: str) -> None:
    found = story_of(confirmed_in(name).finding)
    require_right(found)
    require_told_once(found)


@pytest.mark.parametrize(("grain", "version"), drawn(VERSIONS, 6))
def test_of_some_versions(grain: str, version: str) -> None:
    require_of_version(grain, version, seed=0)


def require_of_version(grain: str, version: str, *, seed: int) -> None:
    """Of a walk under a version in many circumstances."""
    family = GRAINS[grain]
    options = family.usual.options() | (MORE if grain == "message" else {})
    problem = family.problem(version, options, [NO_CLAIM])
    finding = walked(problem, seed)
    require_right(story_of(finding))
    require(problem, finding)


@pytest.mark.parametrize("name", ["die_hard", "token_ring"])
def test_of_an_example_model(name: str) -> None:
    require_of_example(name)


def require_of_example(name: str) -> None:
    """Of walks in an example."""
    family = family_in(EXAMPLES / f"{name}.py")
    problem = family.problem(next(iter(family.versions)), {}, [NO_CLAIM])
    require(problem, walked(problem, seed=7))


def test_of_a_comparison() -> None:
    lines = list(lines_of_page(comparison_page(beside(LOSS, "epoch"))))

    assert any("r1 sends r0 a fetch" in line for line in lines)
    require_once({"r0", "r1", "controller"}, iter(lines))


def test_pages_of_matrices_and_deployments_show_traces_by_the_same_template() -> None:
    """No other template knows who acts."""
    folder = Path(pages.__file__).parent / "templates"
    knowing = [path.name for path in folder.glob("*.j2") if "actor" in path.read_text()]
    using = [path.name for path in folder.glob("*.j2") if "trace(t" in path.read_text()]

    assert knowing == ["trace.html.j2"]
    assert {"matrix.html.j2", "deployment.html.j2", "report.html.j2"} <= set(using)
