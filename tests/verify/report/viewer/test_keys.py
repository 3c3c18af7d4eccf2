"""Every key and the mouse, at both sizes: what they do to the screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from lab.documents.pictures import lines, settled
from tests.report.viewer import test_keys as narrow
from tests.report.viewer.test_keys import MOVES, assert_keys_lead_to_their_steps, step_shown
from tests.support.stories import C21, LOSS, story
from tests.support.viewing import NARROW, WIDE, screen_of, seen, viewer


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "160x50"])
def test_a_key_leads_to_a_step(size: tuple[int, int]) -> None:
    assert_keys_lead_to_their_steps(MOVES, size)


@pytest.mark.parametrize(
    "test",
    [
        narrow.test_the_first_screen_says_what_it_is,
        narrow.test_a_step_is_told_with_why_it_matters,
        narrow.test_c_says_what_the_claim_says_and_where_it_breaks,
        narrow.test_t_shows_what_the_step_changed,
        narrow.test_a_click_chooses_a_step,
    ],
    ids=lambda test: test.__name__,
)
def test_a_wide_screen_says_the_same(test: Callable[[tuple[int, int]], None]) -> None:
    test(WIDE)


def test_slash_finds_what_is_told_and_goes_round() -> None:
    found = []

    async def search(pilot: Pilot[int]) -> None:
        for keys in (tuple("truncat"), (), (), ("z", "z"), ("escape",)):
            await pilot.press("slash", *keys, *([] if keys == ("escape",) else ["enter"]))
            await settled(pilot)
            found.append("\n".join(lines(pilot.app)))
        await pilot.press("j")

    screen = seen(viewer(story(LOSS)), then=search)

    assert [step_shown(each) for each in found] == [10, 11, 10, 10, 10]
    assert "nothing is told of 'zz'" in found[3]
    assert step_shown(screen) == 11


def test_a_dialog_is_closed_by_key_and_click() -> None:
    shown = []

    async def close(pilot: Pilot[int]) -> None:
        for key in ("escape", "q", "enter", "c", "question_mark", ""):
            await pilot.press("question_mark")
            await settled(pilot)
            shown.append("next / previous fault" in "\n".join(lines(pilot.app)))
            await (pilot.press(key) if key else pilot.click(offset=(2, 2)))
            await settled(pilot)
            shown.append("next / previous fault" in "\n".join(lines(pilot.app)))

    seen(viewer(story(LOSS)), then=close)

    assert shown == [True, False] * 6


def test_the_picture_scrolls_where_it_is_too_large() -> None:
    assert "offset 0" in screen_of(C21, "G")
    assert "offset 0" not in screen_of(C21, "G", "J")
    assert "offset 0" in screen_of(C21, "G", "J", "K")


def test_resizing_draws_the_screen_anew() -> None:
    widths = []

    async def resize(pilot: Pilot[int]) -> None:
        for columns, rows in (WIDE, (40, 12), NARROW):
            await pilot.resize_terminal(columns, rows)
            await settled(pilot)
            widths.append(max(map(len, lines(pilot.app))))

    screen = seen(viewer(story(LOSS)), "G", then=resize)

    assert screen == screen_of(LOSS, "G")
    assert all(drawn <= asked for drawn, asked in zip(widths, (160, 40, 80), strict=True))
