"""What the model itself could have written fits: random walks, whose lines alone are searched for.

An attack on all that the search leaves out. Each walk is one of the behaviours, so "nothing fits"
is wrong of it, and so is a verdict about all behaviours that this one refutes. Lines are written
here after Kafka's format, from the states, and read like any other.
"""

from __future__ import annotations

from waterline.model.message.environment import Environment

BOUNDS = Environment(replicas=2, records=1, epochs=3, restarts=2, moves=1, restart_detection="any")
FAULTS = {"crashes": {}, "power": {"power_losses": 1}, "disks": {"lost_disks": 1}}
VERSIONS = ("elr", "truncate-on-fetch")
SEEDS = (1, 2, 3, 4, 31, 32, 52, 53, 55)
"""Among them walks that nothing fitted while the search left checkpoints out."""
