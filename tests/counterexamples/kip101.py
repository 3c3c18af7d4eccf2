"""The traces that the tests of this folder replay, made by hand from KIP-101's first scenario."""

from __future__ import annotations

from counterexamples import Replayed, Trace, replay, trace_of
from model.environment import Environment
from model.message import message_model
from model.transition_system import Model

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
"""Loses m1 under hw: r1 truncates it to its high watermark, then leads."""

EXPLANATION = "m1 was committed at offset 0; leader r1 has nothing there: m1 is lost."


def model(version: str = "hw") -> Model:
    """The version in the documented environment."""
    return message_model(version, Environment())


def loss_trace() -> Trace:
    """The 12 steps."""
    return trace_of(model(), "no_committed_loss", LOSS)


def replayed_loss() -> Replayed:
    """The 12 steps with their states."""
    return replay(loss_trace(), model())
