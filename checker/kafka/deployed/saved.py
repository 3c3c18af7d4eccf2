"""A deployment as a JSON file: what was read from a cluster, to be read again.

Only what the answer depends on is written: settings by name, value and origin, and partitions with
their brokers. No address, no user, no secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment

FORMAT = "waterline-deployment/2"


def to_saved(deployment: Deployment) -> str:
    """The text of such a file."""
    written: dict[str, Any] = {"format": FORMAT, **asdict(deployment)}
    return json.dumps(written, indent=1) + "\n"


def read_saved(path: Path, text: str) -> Deployment:
    """The deployment that was saved. Raises `BadConfig`."""
    try:
        saved = msgspec.json.decode(text, type=dict[str, Any])
        deployment = msgspec.convert(saved, Deployment)
    except msgspec.MsgspecError as problem:
        raise BadConfig(f"{path} is no saved deployment: {problem}; save it anew") from None
    if (found := saved.pop("format", None)) != FORMAT:
        raise BadConfig(f"{path} has format {found!r}, this reads {FORMAT}; save it anew")
    if (name := next(_unknown_keys(saved, asdict(deployment)), None)) is not None:
        raise BadConfig(f"{path} is no saved deployment: unknown field {name}; save it anew")
    return deployment


def _unknown_keys(saved: Any, known: Any) -> Iterator[str]:
    """Yield the names in a file that a deployment has no field for."""
    if isinstance(saved, dict):
        for name, each in saved.items():
            yield from _unknown_keys(each, known[name]) if name in known else (name,)
    elif isinstance(saved, list):
        for each, other in zip(saved, known, strict=True):
            yield from _unknown_keys(each, other)
