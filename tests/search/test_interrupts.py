"""A Ctrl-C counts wherever it comes."""

from __future__ import annotations

import os
import signal

import pytest

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines import prepare as module
from waterline.model.message.environment import Environment


class Sends:
    """Sends Ctrl-C in its finalizer, where Python drops what is raised."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_a_ctrl_c_in_a_finalizer_of_the_compiler_ends_the_preparation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(module, "loaded_quickly", lambda recipe: bool(Sends()))
    try:
        with pytest.raises(KeyboardInterrupt):
            module.prepare(problem_for("epoch", Environment()))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
