"""Layout of a line: its message, its time and its writer, in whatever a shipper has wrapped it.

Read are any layout of log4j, JSON objects of container runtimes and log shippers, and what
kubectl, stern, docker compose, grep and tail put before a line.
"""

from __future__ import annotations

import calendar
import json
import re
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from waterline.checker.kafka.logs.observation import Span

_SECOND = 1_000_000_000
_STAMP = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[,.](\d{1,9}))?"
    r"(?: ?(Z\b|[+-]\d\d:?\d\d\b))?"
)
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_SECTION = re.compile(r"^==> (.{1,400}) <==$")
"""Before the lines of each file, by tail and head."""
_MESSAGE_KEYS = ("log", "message", "msg", "MESSAGE", "line", "textPayload", "_raw", "content")
_WRITER_KEYS = frozenset(
    {"pod_name", "podName", "pod", "pod.name", "container_name", "containerName"}
    | {"container.name", "instance", "hostname", "host", "HOSTNAME", "_HOSTNAME", "host.name"}
)
_DEPTH_MAX = 6
_BEFORE_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_VARIES = re.compile(r"\d\d:\d\d:\d\d\S*|\d{4}-\d\d-\d\dT?|\b\w{3} [ \d]\d(?= )|:\d+:$|\[\d+\]")
"""Parts of a prefix that differ from line to line: times, line numbers, process ids."""


class Line(NamedTuple):
    """A line without its wrapping. `writer` is what stands before it, the same for one broker."""

    text: str
    span: Span | None
    writer: str


def unwrap(line: str, section: str = "") -> Line:
    """Return a line with its time and the writer that its prefix or its object names."""
    line = _COLOUR.sub("", line)
    begin = line.find("{")
    if begin >= 0 and line.endswith("}") and (found := _of_object(line, begin)):
        text, rest, writer = found
        return Line(text, span_in(text) or span_in(rest), section + writer)
    stamp = _STAMP.search(line)
    level = _BEFORE_LEVEL.search(line)
    ends = [found.start() for found in (stamp, level) if found]
    prefix = line[: min(ends)] if ends else ""
    return Line(line, span_in(line), section + _VARIES.sub("", prefix).strip(" [\t"))


def lines_in(line: str) -> list[str]:
    """The lines that a line has: one, or the objects of an array that an export is."""
    if line.startswith("[{") and line.endswith("]"):
        try:
            return [json.dumps(each) for each in json.loads(line)]
        except (ValueError, RecursionError):
            pass
    return [line]


def section_of(line: str) -> str | None:
    """The file whose lines follow, where tail or head says so."""
    matched = _SECTION.match(line)
    return matched[1] if matched else None


def span_in(text: str) -> Span | None:
    """The time of a line: the last before its message, where a runtime puts one before log4j's."""
    level = _BEFORE_LEVEL.search(text)
    stamps = list(_STAMP.finditer(text, 0, level.start() if level else 400))
    stamps = stamps or list(_STAMP.finditer(text, 0, 2000))[:1]
    for stamp in reversed(stamps):
        try:
            return _span(stamp)
        except ValueError:
            continue
    return None


def _span(stamp: re.Match[str]) -> Span:
    numbers = [int(each) for each in stamp.groups()[:6]]
    if not (1 <= numbers[1] <= 12 and 1 <= numbers[2] <= 31):
        raise ValueError(stamp[0])
    seconds = calendar.timegm((*numbers, 0, 0, 0)) - _offset(stamp[8])
    digits = stamp[7] or ""
    start = seconds * _SECOND + int(digits.ljust(9, "0"))
    return Span(start, start + 10 ** (9 - len(digits)))


def _offset(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    assert zone is not None
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _of_object(line: str, begin: int) -> tuple[str, str, str] | None:
    """The message in a JSON object, the rest of the object, and its writer."""
    try:
        value = json.loads(line[begin:])
    except (ValueError, RecursionError):
        return None
    found = dict(_strings(value, 0))
    key = next((key for key in _MESSAGE_KEYS if key in found), None)
    if key is None:
        return None
    text = found.pop(key).rstrip("\r\n")
    if text.startswith("{") and text.endswith("}") and (inner := _of_object(text, 0)):
        text, rest, _ = inner
    else:
        rest = ""
    writer = " ".join(found[key] for key in sorted(_WRITER_KEYS & found.keys()))
    return text, f"{rest} {' '.join(found.values())}", writer + line[:begin].strip()


def _strings(value: Any, depth: int, within: str = "") -> Iterator[tuple[str, str]]:
    """The texts of an object by their names, those of inner objects also with the outer name."""
    if not isinstance(value, dict) or depth > _DEPTH_MAX:
        return
    if isinstance(seconds := value.get("epochSecond"), int):
        yield "instant", _format_time(seconds, value.get("nanoOfSecond"))
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _strings(each, depth + 1, f"{name}.")
        elif name == "timeMillis" and isinstance(each, int):
            yield name, _format_time(each // 1000, each % 1000 * 1_000_000)
        elif isinstance(each, str):
            yield name, each
            if within:
                yield within + name, each


def _format_time(seconds: int, nanoseconds: object) -> str:
    if not 0 <= seconds < 1 << 36:
        return ""
    fraction = nanoseconds if isinstance(nanoseconds, int) else 0
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds))}.{fraction:09d}"
