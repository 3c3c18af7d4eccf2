"""The trace that most tests here replay: KIP-101's first scenario, made by hand."""

from __future__ import annotations

import pytest

from waterline.counterexamples import Replayed, Trace, replay, trace_of
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

LOSS = (
    ("Produce", (0,)),
    ("SendFetch", (1,)),
    ("LeaderFetch", (1,)),
    ("RecvFetch", (1,)),
    ("SendFetch", (1,)),
    ("LeaderFetch", (1,)),
    ("Crash", (1,)),
    ("Restart", (1,)),
    ("Learn", (1,)),
    ("Crash", (0,)),
    ("Fence", (0,)),
    ("Learn", (1,)),
)


@pytest.fixture(scope="session")
def hw() -> Model:
    return message_model("hw", Environment())


@pytest.fixture(scope="session")
def epoch() -> Model:
    return message_model("epoch", Environment())


@pytest.fixture(scope="session")
def loss(hw: Model) -> Trace:
    """Loses m1 under hw: r1 truncates it to its high watermark, then leads."""
    return trace_of(hw, "no_committed_loss", LOSS)


@pytest.fixture(scope="session")
def replayed(loss: Trace, hw: Model) -> Replayed:
    return replay(loss, hw)
