"""Files to read: which of a folder are logs, in which order, and their lines, within limits.

A line that is longer than a line of Kafka's is cut, a file that is no text is refused.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from checker.kafka.logs.errors import BadLogs

LINE_MAX = 20_000
"""Characters of a line that are looked at."""
BYTES_MAX = 2 << 30
"""Of one file, unpacked."""
FILES_MAX = 10_000
CHECKPOINTS = ("leader-epoch-checkpoint", "replication-offset-checkpoint")
DUMP_BEGINS = "Dumping "
"""How each part of the output of kafka-dump-log begins."""
_HEAD_BYTES = 4096
_IS_LOG = re.compile(r"(\.log(\.|$)|\.out(\.|$)|\.log-|^console)", re.IGNORECASE)
_IS_SEGMENT = re.compile(r"^\d{20}\.")
_IS_TEXT = re.compile(r"\.txt(\.gz)?$", re.IGNORECASE)


def log_files(folders: Iterable[Path]) -> Iterator[Path]:
    """Regular files in a stable order; segments, which are data, are left alone.

    Files that are named are read whatever their name is; of a folder also text files in which a
    dump begins. Raises `BadLogs`.
    """
    count = 0
    for named in folders:
        found = [named] if named.is_file() else sorted(named.rglob("*"), key=_rotation)
        if not named.exists():
            raise BadLogs(f"{named}: there is no such file or folder")
        for path in found:
            if path.is_symlink() or not path.is_file():
                continue
            is_log = _IS_LOG.search(path.name) and not _IS_SEGMENT.match(path.name)
            if not (named == path or is_log or path.name in CHECKPOINTS or _is_dump(path)):
                continue
            count += 1
            if count > FILES_MAX:
                raise BadLogs(f"{named}: more than {FILES_MAX:,} files; name fewer folders")
            yield path


def lines_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, from 1. Raises `BadLogs`."""
    read = 0
    try:
        with _opened(path) as file:
            number = 0
            while raw := file.readline(LINE_MAX):
                if number == 0 or raw.endswith(b"\n") or len(raw) < LINE_MAX:
                    number += 1
                read += len(raw)
                if read > BYTES_MAX:
                    raise BadLogs(f"{path}: more than {BYTES_MAX:,} bytes unpacked; cut it")
                if b"\x00" in raw:
                    raise BadLogs(f"{path}: line {number} is no text; name logs, not data")
                yield number, raw.decode("utf-8", errors="replace").rstrip("\r\n")
    except (gzip.BadGzipFile, EOFError) as problem:
        raise BadLogs(f"{path}: it is packed and cannot be unpacked ({problem})") from None


def _rotation(path: Path) -> tuple[str, int, str]:
    """Rotated files before the one that is written to: server.log.2, server.log.1, server.log."""
    matched = re.search(r"\.(\d{1,6})(?:\.gz)?$", path.name)
    base = path.name.split(".log")[0]
    dated = re.search(r"\.log[.-](\d{4}-\d\d-\d\d.*)$", path.name)
    age = -int(matched[1]) if matched and not dated else (1 if path.name.endswith(".log") else 0)
    return str(path.parent / base), age, path.name


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb")) if packed else path.open("rb")


def _is_dump(path: Path) -> bool:
    if not _IS_TEXT.search(path.name):
        return False
    try:
        with _opened(path) as file:
            head = file.read(_HEAD_BYTES).decode("utf-8", errors="replace")
    except (OSError, EOFError):
        return False
    return any(line.startswith(DUMP_BEGINS) for line in head.splitlines())
