from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from counterexamples import Replayed, view
from counterexamples.viewer import Position, keys, press

MIDDLE = Position(step=5, last=12)


@pytest.mark.parametrize(
    ("key", "step"),
    [
        ("n", 6),
        (" ", 6),
        ("\r", 6),
        ("\x1b[C", 6),
        ("p", 4),
        ("\x1b[D", 4),
        ("\x1bOD", 4),
        ("g", 0),
        ("\x1b[H", 0),
        ("\x1b[1~", 0),
        ("G", 12),
        ("\x1b[F", 12),
        ("x", 5),
        ("\x1b[A", 5),
    ],
)
def test_a_key_leads_to_a_step(key: str, step: int) -> None:
    assert press(MIDDLE, key) == Position(step=step, last=12)


def test_there_is_nothing_past_either_end() -> None:
    assert press(Position(12, 12), "n") == Position(12, 12)
    assert press(Position(0, 12), "p") == Position(0, 12)
    assert press(Position(0, 0), "n") == Position(0, 0)


@pytest.mark.parametrize("key", ["q", "Q", "\x1b"])
def test_q_is_the_end(key: str) -> None:
    assert press(MIDDLE, key).done


def test_keys_that_arrive_together_are_told_apart() -> None:
    assert keys("nn\x1b[Cp\x1b[1~q") == ["n", "n", "\x1b[C", "p", "\x1b[1~", "q"]


def stepped(replayed: Replayed, typed: Iterator[str]) -> str:
    def getchar() -> str:
        key = next(typed)
        if key == "^C":
            raise KeyboardInterrupt
        return key

    out = io.StringIO()
    console = Console(file=out, width=80, height=24, force_terminal=True, _environ={})
    view(replayed, console, explanation="All is lost.", interactive=True, getchar=getchar)
    return out.getvalue()


def test_stepping_shows_one_state_at_a_time(replayed: Replayed) -> None:
    shown = stepped(replayed, iter(["n", "G", "q"]))

    assert [n for n in range(13) if f"Step {n} of 12" in shown] == [0, 1, 12]
    assert shown.count("All is lost.") == 1


def test_ctrl_c_leaves_like_q_and_restores_the_screen(replayed: Replayed) -> None:
    assert stepped(replayed, iter(["^C"])).endswith("\x1b[?1049l\x1b[?25h")


def test_into_a_pipe_goes_the_whole_trace(replayed: Replayed) -> None:
    out = io.StringIO()
    view(replayed, Console(file=out, width=80), explanation="All is lost.")
    lines = out.getvalue().splitlines()
    numbers = [line.split(".")[0] for line in lines if line[:1].isdigit()]

    assert numbers == [str(n) for n in range(13)]
    assert lines[-1] == "All is lost."
