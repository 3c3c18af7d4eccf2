"""Text of a configuration file, within limits."""

from __future__ import annotations

import re
from pathlib import Path

from checker.kafka.deployed.setting import BadConfig

CONFIG_BYTES_MAX = 1 << 20
"""Largest configuration; a parser of YAML takes seconds for as much."""
OUTPUT_BYTES_MAX = 1 << 25
"""Largest output of a tool: 200,000 partitions of `kafka-topics --describe`."""
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")


def bytes_of(path: Path) -> bytes:
    """The content of a file. Raises `BadConfig`."""
    try:
        with path.open("rb") as file:
            content = file.read(OUTPUT_BYTES_MAX + 1)
    except OSError as problem:
        raise BadConfig(f"{path} cannot be read: {problem.strerror}") from None
    if _NOT_TEXT.search(content):
        raise BadConfig(
            f"{path} is not text; a .properties file, YAML and the output of Kafka's tools are"
        )
    require_size(path, content, OUTPUT_BYTES_MAX)
    return content


def require_size(path: Path, content: bytes, most: int) -> None:
    """Raise `BadConfig` where a file is larger than what it may be."""
    if len(content) > most:
        raise BadConfig(f"{path} is larger than {most:,} bytes; it is no configuration")
