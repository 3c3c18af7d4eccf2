"""Text of a file, within limits, and decoded as the tools of operators write it."""

from __future__ import annotations

import codecs
import functools
import re
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.kafka.deployed.deployment import BadConfig, Place

CONFIG_BYTES_MAX = 1 << 20
"""Largest configuration; a parser of YAML takes seconds for as much."""
OUTPUT_BYTES_MAX = 1 << 25
"""Largest output of a tool: 200,000 partitions of `kafka-topics --describe`."""
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b\x0e-\x1f]")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",  # what PowerShell's `>` writes
    codecs.BOM_UTF16_BE: "utf-16",
}


class NotText(BadConfig):
    """Content that is not text."""


@dataclass(frozen=True, slots=True)
class File:
    """A text. `name` is how answers call it; `mark` is the encoding that a byte order mark says."""

    path: Path
    name: str
    text: str
    mark: str | None = None

    def lines(self) -> list[str]:
        """Lines of the text; the first has number 1."""
        return self.text.split("\n")

    def beginning(self, most: int = 50) -> list[str]:
        """The first lines that are not blank."""
        return _beginning(self.text)[:most]

    def place(self, line: int, column: int = 1) -> Place:
        """A place in it."""
        return Place(str(self.path), line, column)


@functools.lru_cache(maxsize=4)
def _beginning(text: str) -> list[str]:
    return [line for line in text[: 1 << 16].split("\n") if line.strip()]


def read_text(path: Path, name: str | None = None) -> File:
    """The text of a file, its ends of lines as newlines. Raises `BadConfig`."""
    content = bytes_of(path)
    mark = next((known for start, known in _MARKS.items() if content.startswith(start)), None)
    text = content.decode(mark or "utf-8", errors="replace")
    if _NOT_TEXT.search(text):
        raise NotText(
            f"{path} is not text; a .properties file, YAML and the output of Kafka's tools are"
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return File(path, name or path.name, text, mark)


def bytes_of(path: Path) -> bytes:
    """The content of a file. Raises `BadConfig`."""
    try:
        with path.open("rb") as file:
            content = file.read(OUTPUT_BYTES_MAX + 1)
    except OSError as problem:
        raise BadConfig(f"{path} cannot be read: {problem.strerror}") from None
    require_size(path, len(content), OUTPUT_BYTES_MAX)
    return content


def require_size(path: Path, size: int, most: int) -> None:
    """Raise `BadConfig` where a file is larger than what it may be."""
    if size > most:
        raise BadConfig(f"{path} is larger than {most:,} bytes; it is no configuration")
