"""Files to read: the logs in a folder, their order and their lines, within limits.

A file is a log by its name or by its first lines. Compressed files are unpacked, a byte order mark
decides the UTF encoding, and a line longer than Kafka's lines is cut.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from waterline.checker.kafka.logs.observation import BadLogs

LINE_MAX = 20_000
"""Characters of a line that are looked at."""
_LONG = 1_000_000
"""Longest line, in characters, that Kafka may have written; the reader reports a cut."""
CHARACTERS_MAX = 2 << 30
"""Maximum size of one file in characters, unpacked."""
FILES_MAX = 10_000
CHECKPOINTS = ("leader-epoch-checkpoint", "replication-offset-checkpoint")
DUMP_BEGINS = "Dumping "
"""Beginning of each part of the output of kafka-dump-log."""
_HEAD = 64 << 10
_SKIPPED = 1 << 16
_IS_LOG = re.compile(r"(\.log(\.|$)|\.out(\.|$)|\.log-|^console)", re.IGNORECASE)
_IS_SEGMENT = re.compile(r"^\d{20}\.")
_IS_ARCHIVE = re.compile(r"\.(zip|tar|tgz|tbz2?|txz|tar\.\w{2,4}|zst|7z|rar)$", re.IGNORECASE)
_SAYS_KAFKA = re.compile(
    r"\[(?:Broker id=|Partition \S+ broker=|\w*Log partition=|KafkaServer id=|BrokerServer id=|"
    r"(?:Quorum)?Controller |ReplicaFetcher)|Kafka version ?: ?\d|Kafka startTimeMs|^Dumping ",
    re.MULTILINE,
)
"""Pattern of a log, whatever the file's name is."""
_PACKED: tuple[tuple[bytes, Callable[..., Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
_ROTATED = re.compile(r"[.-]\d{4}-\d\d-\d\d(?:[-_.]?\d{1,4})*|\.\d{1,6}(?=\.|$)|\.(?:gz|bz2|xz)$")


def log_files(folders: Iterable[Path], passed_over: list[str]) -> Iterator[Path]:
    """Regular files in a stable order; segments, which are data, are left alone.

    Files that are named are read whatever their name is. Archives of a folder are noted in
    `passed_over`. Raises `BadLogs`.
    """
    count = 0
    for named in folders:
        found = [named] if named.is_file() else sorted(named.rglob("*"), key=_rotation)
        if not named.exists():
            raise BadLogs(f"{named}: there is no such file or folder")
        for path in found:
            if path.is_symlink() or not path.is_file():
                continue
            if _IS_ARCHIVE.search(path.name):
                if named == path:
                    raise BadLogs(f"{path}: it is an archive; unpack it, and name the folder")
                passed_over.append(f"{path}: it is an archive; unpack it to have it read")
                continue
            is_log = _IS_LOG.search(path.name) and not _IS_SEGMENT.match(path.name)
            if not (named == path or is_log or path.name in CHECKPOINTS or _says_kafka(path)):
                continue
            count += 1
            if count > FILES_MAX:
                raise BadLogs(f"{named}: more than {FILES_MAX:,} files; name fewer folders")
            yield path


def lines_of(path: Path, passed_over: list[str] | None = None) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, from 1; what of one is not read is noted once.

    Raises `BadLogs`.
    """
    read = number = 0
    notes: dict[str, str] = {}
    try:
        with _text_of(path) as file:
            while line := file.readline(LINE_MAX):
                number += 1
                read += len(line)
                if len(line) == LINE_MAX and not line.endswith("\n"):
                    rest = _skip_line(file)
                    read += rest
                    if rest > _LONG or line.startswith(("{", "[{")):
                        notes.setdefault("long", _cut_note(path, number, LINE_MAX + rest))
                if read > CHARACTERS_MAX:
                    raise BadLogs(f"{path}: more than {CHARACTERS_MAX:,} characters; cut it")
                if "\x00" in line:
                    if number == 1 and not _says_kafka(path):
                        raise BadLogs(f"{path}: line {number} is no text; name logs, not data")
                    line = line.replace("\x00", "")
                    notes.setdefault(
                        "zeros", f"{path}:{number}: zero bytes, as after a power loss; left out"
                    )
                yield number, line.rstrip("\r\n")
    except (OSError, EOFError, lzma.LZMAError) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise BadLogs(f"{path}: it cannot be read ({problem.strerror})") from None
        raise BadLogs(f"{path}: it is packed and cannot be unpacked ({problem})") from None
    if passed_over is not None:
        passed_over += notes.values()


def stream_of(path: Path) -> str:
    """Return the file that the logger writes to; rotated parts belong to one stream."""
    return str(path.parent / (_ROTATED.sub("", path.name) or path.name))


def _skip_line(file: IO[str]) -> int:
    """Read to the end of a line, a piece at a time; returns how many characters that were."""
    skipped = 0
    while piece := file.readline(_SKIPPED):
        skipped += len(piece)
        if piece.endswith("\n"):
            break
    return skipped


def _cut_note(path: Path, number: int, length: int) -> str:
    return (
        f"{path}:{number}: a line of {length:,} characters, of which the first {LINE_MAX:,} were "
        "read; give each log line a line of its own"
    )


def _rotation(path: Path) -> tuple[str, int, str]:
    """Rotated files before the one that is written to: server.log.2, server.log.1, server.log."""
    matched = re.search(r"\.(\d{1,6})(?:\.\w{2,3})?$", path.name)
    dated = re.search(r"\d{4}-\d\d-\d\d", path.name)
    age = -int(matched[1]) if matched and not dated else (0 if dated else 1)
    return stream_of(path), age, path.name


def _text_of(path: Path) -> IO[str]:
    """The text of a file, unpacked and decoded."""
    with path.open("rb") as file:
        magic = file.read(6)
    opened = next((how for begins, how in _PACKED if magic.startswith(begins)), None)
    raw = opened(path, "rb") if opened else path.open("rb")
    try:
        head = raw.peek(4)[:4]
    except BaseException:
        raw.close()
        raise
    is_wide = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if is_wide else "utf-8-sig"
    return io.TextIOWrapper(raw, encoding=encoding, errors="replace")


def _says_kafka(path: Path) -> bool:
    """True if the first lines are those of a log of Kafka, or of a dump."""
    if _IS_SEGMENT.match(path.name):
        return False
    try:
        with _text_of(path) as file:
            return _SAYS_KAFKA.search(file.read(_HEAD)) is not None
    except (OSError, EOFError, lzma.LZMAError):
        return False
