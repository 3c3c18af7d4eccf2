"""Bounds and budgets: which of them a transition would exceed.

A transition that exceeds one is not taken; the search counts it as cut, so that a verdict can say
how tight its bounds were.
"""

from __future__ import annotations

WITHIN = 0
RECORDS = 1
EPOCHS = 2
RESTARTS = 3
MOVES = 4
POWER_LOSSES = 5
LOST_DISKS = 6
LOST_CHECKPOINTS = 7
SESSION_EXPIRIES = 8
SHUTDOWNS = 9

NAMES = (
    "within",
    "records",
    "epochs",
    "restarts",
    "moves",
    "power-losses",
    "lost-disks",
    "lost-checkpoints",
    "session-expiries",
    "shutdowns",
)
