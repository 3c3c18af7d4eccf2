"""Script of a walk: headers, steps, expectations, one per line.

    # what it is about
    protocol: hw
    records: 1

    Produce r0
    expect r0 LEO 1 HW 0

Lines before the first step are headers, by the names of `check`'s options. `#` begins a remark. A
file is nothing but data: nothing of it is run, and it is read within limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.problem.errors import Refused
from waterline.checker.user_models.scripts.calls import NotTaken, step_called
from waterline.checker.user_models.scripts.expectations import NotUnderstood, judge
from waterline.checker.user_models.scripts.walk import STEPS_MAX, Walk
from waterline.counterexamples import Moment
from waterline.counterexamples.named_file import BadFile, read_named
from waterline.model.core.errors import BadCondition

BYTES_MAX = 1 << 20
LINE_MAX = 500
_HEADER = re.compile(r"([a-z][a-z0-9_-]{0,60})\s*:\s*(.*)", re.ASCII)
_EXPECT = "expect "


class BadScript(Refused):
    """A script cannot be read, or a line of it cannot be done; names file and line."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its number, without its remark."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Header:
    """A circumstance: an option's name and its value."""

    number: int
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Script:
    """Content of a script, without values of one that has no line. `title` is the first remark."""

    file: str = ""
    title: str = ""
    headers: tuple[Header, ...] = ()
    lines: tuple[Line, ...] = ()

    def refuse(self, number: int, problem: str) -> BadScript:
        """The error for a line."""
        return BadScript(f"{self.file}:{number}: {problem}")


@dataclass(frozen=True, slots=True)
class Played:
    """Result of a line: the step taken, or the deviation from an expectation.

    `breaks` are the claims that this step is the first to break, and how.
    """

    line: Line
    moment: Moment | None = None
    instead: str | None = None
    breaks: tuple[tuple[str, str], ...] = ()

    @property
    def is_failure(self) -> bool:
        """True if something else was expected."""
        return self.instead is not None


def read_script(path: Path) -> Script:
    """The script in a file. Raises `BadScript`."""
    try:
        text = read_named(path, bytes_max=BYTES_MAX).decode("utf-8-sig")
    except BadFile as problem:
        raise BadScript(str(problem)) from None
    except UnicodeDecodeError:
        raise BadScript(f"{path} is no script: not UTF-8 text") from None
    return parse(text, str(path))


def parse(text: str, file: str) -> Script:
    """The script that a text is. Raises `BadScript`."""
    title, headers, lines = "", list[Header](), list[Line]()
    for number, whole in enumerate(text.split("\n"), start=1):
        if len(whole) > LINE_MAX:
            raise BadScript(f"{file}:{number}: the line is longer than {LINE_MAX} characters")
        described, _, remark = whole.partition("#")
        described = described.strip()
        title = title or remark.strip()
        header = _HEADER.fullmatch(described)
        if header is not None:
            if lines:
                problem = f"{header[1]}: stands before the first step, or is no step"
                raise BadScript(f"{file}:{number}: {problem}")
            headers.append(Header(number, header[1], header[2].strip()))
        elif described:
            lines.append(Line(number, described))
    if len(lines) > STEPS_MAX:
        raise BadScript(f"{file} has {len(lines):,} lines; at most {STEPS_MAX:,} are read")
    return Script(file, title, tuple(headers), tuple(lines))


def play(script: Script, walk: Walk) -> Iterator[Played]:
    """Take the steps and judge what is expected, line by line. Raises `BadScript`."""
    for line in script.lines:
        try:
            if f"{line.text} ".startswith(_EXPECT):
                yield Played(line, instead=judge(line.text[len(_EXPECT) :], walk))
            else:
                moment = walk.take(step_called(line.text, walk))
                yield Played(line, moment, breaks=tuple(walk.breaks().items()))
        except (NotTaken, NotUnderstood, BadCondition) as problem:
            raise script.refuse(line.number, str(problem)) from None
