"""An interrupt that is lost on its way still counts; and it ends all runs of a command."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

import pytest
from told import Told

from checker.compiled.interrupting import ctrl_c_counts
from checker.console import judging
from checker.result import INTERRUPTED
from checker.scenarios import running


def test_an_interrupt_that_is_lost_in_compiled_code_still_counts() -> None:
    """As LLVM calls back into Python: what is raised there goes nowhere."""
    press = ctypes.CFUNCTYPE(None)(lambda: os.kill(os.getpid(), signal.SIGINT))
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), ctrl_c_counts():
            press()
        with pytest.raises(KeyboardInterrupt), ctrl_c_counts():
            _press_and_fail(press)
        with pytest.raises(RuntimeError, match="no compiled object"), ctrl_c_counts():
            raise RuntimeError("no compiled object yet")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)


def _press_and_fail(press: Any) -> None:
    press()
    raise RuntimeError("no compiled object yet")


def test_ctrl_c_ends_the_whole_tour(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    explore = judging.run

    def interrupted(*arguments: Any, **named: Any) -> Any:
        done = explore(*arguments, **named)
        done.result.complete, done.result.stopped_by = False, INTERRUPTED
        return done

    monkeypatch.setattr(judging, "run", interrupted)
    code, out, _ = told("tour", name="waterline")

    assert code == 20
    assert "1. hw loses" in out
    assert "2. epoch" not in out


def test_ctrl_c_ends_the_whole_catalogue(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    explore = running._explore
    explored: list[object] = []

    def interrupted(space: Any, *rest: Any) -> Any:
        if explored:
            raise KeyboardInterrupt
        explored.append(space)
        return explore(space, *rest)

    monkeypatch.setattr(running, "_explore", interrupted)
    code, out, err = told("scenarios", "c12", "--run", name="waterline")

    assert code == 20
    assert "acks-1" in out
    assert "interrupted: 1 of" in err
