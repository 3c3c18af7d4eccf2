"""Keys and the mouse: what they do to the screen. In tests/verify every key, at both sizes."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence

import pytest
from textual.pilot import Pilot

from lab.documents.pictures import lines, settled
from tests.support.stories import C21, LOSS, story
from tests.support.viewing import NARROW, WIDE, screen_of, seen, viewer
from waterline.checker.report.viewer.look import GONE_MARK
from waterline.checker.report.viewer.stepping import ENDED_BY_SIGNAL

SIZES = pytest.mark.parametrize("size", [NARROW], ids=["80x24"])
MOVES = (
    ("j", 1),
    ("down", 2),
    ("space", 3),
    ("right", 4),
    ("k", 3),
    ("up", 2),
    ("left", 1),
    ("k", 0),
    ("k", 0),
    ("G", 15),
    ("j", 15),
    ("g", 0),
    ("end", 15),
    ("home", 0),
    ("pagedown", 10),
    ("pagedown", 15),
    ("pageup", 5),
    ("g", 0),
    ("f", 5),
    ("f", 11),
    ("f", 14),
    ("f", 14),
    ("F", 11),
    ("g", 0),
    ("n", 1),
    ("n", 3),
    ("n", 7),
    ("N", 3),
    ("N", 1),
    ("N", 1),
)
"""Keys, one after the other, with the step of C21 that each leads to."""


def assert_keys_lead_to_their_steps(
    moves: Sequence[tuple[str, int]], size: tuple[int, int]
) -> None:
    """Each of these keys leads to its step."""
    steps = []

    async def press(pilot: Pilot[int]) -> None:
        for key, _ in moves:
            await pilot.press(key)
            await settled(pilot)
            steps.append(step_shown("\n".join(lines(pilot.app))))

    seen(viewer(story(C21)), size=size, then=press)

    assert steps == [step for _, step in moves]


def test_a_key_leads_to_a_step() -> None:
    assert_keys_lead_to_their_steps(MOVES[:12], NARROW)


def step_shown(screen: str) -> int:
    found = re.search(r"step (\d+) of", screen.splitlines()[0])
    assert found is not None
    return int(found[1])


def words_of(screen: str) -> str:
    """What is written, without the frames."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", screen).split())


def test_where_there_is_no_further_step_it_is_said() -> None:
    assert "no further fault" in screen_of(C21, "G", "f")
    assert "no earlier step of r0" in screen_of(C21, "j", "N")


@SIZES
def test_the_first_screen_says_what_it_is(size: tuple[int, int]) -> None:
    screen = words_of(screen_of(LOSS, size=size))

    assert "How hw breaks the claim in 12 steps: The current leader has every record" in screen
    assert "j or a click goes on" in screen
    for key in ("j next", "k back", "/ find", "c claim", "? help", "q quit"):
        assert key in screen


@SIZES
def test_a_step_is_told_with_why_it_matters(size: tuple[int, int]) -> None:
    screen = words_of(screen_of(LOSS, "G", "k", "k", size=size))

    assert "truncates to its own HW 0, removing m1." in screen
    assert "> r1 truncates to its high watermark 0: m1 at offset 0, already" in screen
    assert f"{GONE_MARK}m1@0*" in screen


def test_the_list_tells_steps_in_full_where_there_is_room() -> None:
    narrow, wide = (screen_of(LOSS, size=size) for size in (NARROW, WIDE))

    assert "r1 sends r0 a fetch from offset 0." in wide
    assert " 1    r1  SendFetch " in narrow
    assert " 7 !  r0  Crash " in narrow
    assert "11  > ctl Fence " in narrow


@SIZES
def test_c_says_what_the_claim_says_and_where_it_breaks(size: tuple[int, int]) -> None:
    opened = words_of(screen_of(LOSS, "c", size=size))

    assert "The claim no_committed_loss" in opened
    assert "It breaks in step 12 (r1, offset 0, m1)" in opened
    assert "gone from r1 in step 10" in opened


def test_a_long_help_can_be_scrolled() -> None:
    assert "their first offsets" not in words_of(screen_of(LOSS, "question_mark"))
    assert "their first offsets" in words_of(screen_of(LOSS, "question_mark", *["j"] * 20))


@SIZES
def test_t_shows_what_the_step_changed(size: tuple[int, int]) -> None:
    screen = screen_of(LOSS, "G", "k", "k", "t", size=size)

    assert "r1  LEO  1 -> 0" in screen
    assert "r1  Log  m1@0 -> empty" in screen
    assert "▲" not in screen
    assert "▲" in screen_of(LOSS, "G", "t", "t", size=size)


@SIZES
def test_a_click_chooses_a_step(size: tuple[int, int]) -> None:
    async def click(pilot: Pilot[int]) -> None:
        row = next(n for n, line in enumerate(lines(pilot.app)) if line.startswith("  7 "))
        await pilot.click("#steps", offset=(8, row - 1))

    assert step_shown(seen(viewer(story(LOSS)), size=size, then=click)) == 7


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_q_is_the_end(key: str) -> None:
    app = viewer(story(LOSS))
    seen(app, key)

    assert app.return_value == 0


def test_sigterm_is_the_end() -> None:
    async def terminate(pilot: Pilot[int]) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        await pilot.pause(0.05)

    app = viewer(story(LOSS))
    seen(app, then=terminate)

    assert app.return_value == ENDED_BY_SIGNAL


def test_without_colours_the_screen_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    with_colours = screen_of(LOSS, "G", "k", "k")
    monkeypatch.setenv("NO_COLOR", "1")
    colours: set[tuple[int, ...]] = set()

    async def look(pilot: Pilot[int]) -> None:
        for strip in pilot.app.screen._compositor.render_strips():
            for segment in strip:
                color = segment.style.color if segment.style else None
                if color is not None and color.triplet is not None:
                    colours.add(tuple(color.triplet))

    assert seen(viewer(story(LOSS)), "G", "k", "k", then=look) == with_colours
    # Grey, but for the rounding.
    assert all(max(colour) - min(colour) <= 1 for colour in colours)
