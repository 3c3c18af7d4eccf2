"""Long traces, traces of somebody's own model, and texts that are not what they seem."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from lab.documents.pictures import settled
from tests.support.own import own_problem
from tests.support.viewing import seen
from waterline.checker.kafka.narrative.story import story_of
from waterline.checker.report.viewer.app import Viewer
from waterline.checker.traces.finding import Finding, confirm_trace
from waterline.counterexamples import trace_of

LOCK = '''
from waterline import Choice, Flag, Names, Protocol, when


def lock(clients: int = 2) -> Protocol:
    """A lock."""
    client = Names("client", clients)
    return Protocol(
        fields=[Flag("holds", by=client), Choice("state", "free", "taken")],
        actions=[take, give],
        always=[exclusive],
    )


def take(s, client):
    """{client} [bold red]takes[/bold red] the lock \\x1b]0;evil\\x07, [link=x]."""
    when(not s.holds[client])
    s.holds[client] = True
    s.state = "taken"


def give(s, client):
    """{client} gives it back."""
    when(s.holds[client])
    s.holds[client] = False


def exclusive(s):
    """Not [/b]two \\x1b[2J hold it."""
    return not (s.holds[0] and s.holds[1])
'''


@pytest.fixture(scope="module")
def lock(tmp_path_factory: pytest.TempPathFactory) -> tuple[Finding, Viewer]:
    file = tmp_path_factory.mktemp("own") / "lock.py"
    file.write_text(LOCK)
    problem = own_problem(file)
    (claim,) = problem.claims
    calls = (("take", (0,)), ("give", (0,)), ("take", (1,)), ("take", (0,)))
    finding = confirm_trace(trace_of(problem.model, claim.name, calls), problem.model, claim)
    return finding, Viewer(story_of(finding), claim)


def test_a_model_of_ones_own_is_a_table(lock: tuple[Finding, Viewer]) -> None:
    finding, app = lock
    story = story_of(finding)
    screen = seen(app, "G")

    assert [story.actor(step) for step in range(1, 5)] == [
        "client0",
        "client0",
        "client1",
        "client0",
    ]
    assert story.cluster(1) is None
    assert "client0   yes*" in screen
    assert "client1   yes" in screen
    assert "exclusive is False here." in screen
    assert [step for step in range(1, 5) if story.why(step)] == [4]


def test_nothing_in_a_text_is_markup_and_nothing_commands_the_terminal(
    lock: tuple[Finding, Viewer],
) -> None:
    text = _written(lock, ("G",), ("t",), ("c",))

    assert text.isprintable()
    assert r"client0 [bold red]takes[/bold red] the lock \x1b]0;evil\x07, [link=x]" in text
    assert r"Not [/b]two \x1b[2J hold it." in text


def test_nothing_that_is_sought_is_markup(lock: tuple[Finding, Viewer]) -> None:
    text = _written(lock, ("slash", *"[/b]", "enter"))

    assert text.isprintable()
    assert "nothing is told of '[/b]'" in text


def _written(lock: tuple[Finding, Viewer], *pressed: tuple[str, ...]) -> str:
    """All that the screens after these keys have, in one text."""
    finding, app = lock
    (claim,) = [app.claim]
    written = []

    async def look(pilot: Pilot[int]) -> None:
        for keys in pressed:
            await pilot.press(*keys)
            await settled(pilot)
            written.extend(
                segment.text
                for strip in pilot.app.screen._compositor.render_strips()
                for segment in strip
                if not segment.control
            )

    seen(Viewer(story_of(finding), claim), size=(120, 30), then=look)
    return "".join(written)
