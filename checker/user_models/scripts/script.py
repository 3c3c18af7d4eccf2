"""Script of a walk: headers, steps, expectations, one per line.

    # what it is about
    protocol: hw
    records: 1

    Produce r0
    expect r0 LEO 1 HW 0

Lines before the first step are headers, by the names of `check`'s options. `#` begins a remark. A
file is nothing but data: nothing of it is run, and it is read within limits. What `expect` takes:

    r1 LEO 1 HW 0                 cells of a row, by the titles of their columns
    Controller leader r1, ...     a fact below the table, all of it
    broken no_committed_loss      a claim is broken here; `holds`: it is not; alone: none is
    enabled Crash r0              a step can be taken here; `not enabled`: it cannot
    where s.leo[0] > 1            a condition is true here; `not where`: it is not
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from waterline.checker.problem.errors import Refused
from waterline.checker.user_models.scripts.calls import (
    Ambiguous,
    NoSuchStep,
    NotTaken,
    step_called,
)
from waterline.checker.user_models.scripts.walk import STEPS_MAX, Walk
from waterline.counterexamples import Moment
from waterline.counterexamples.named_file import BadFile, read_named
from waterline.model.core.errors import BadCondition, did_you_mean_or

_FORMS = "ROW COLUMN VALUE, broken CLAIM, holds CLAIM, enabled STEP, where CONDITION"


class NotUnderstood(Refused):
    """An expectation means nothing in this model; the message says what would."""


def judge(text: str, walk: Walk) -> str | None:
    """Return None if the expectation is met; else the deviation.

    Raises `NotUnderstood` and `BadCondition`.
    """
    first, _, rest = " ".join(text.split()).partition(" ")
    forms: dict[str, Callable[[str, Walk], str | None]] = {
        "broken": _expect_broken,
        "holds": _expect_holds,
        "enabled": partial(_expect_enabled, wanted=True),
        "where": partial(_expect_where, wanted=True),
    }
    if first in forms:
        return forms[first](rest, walk)
    if first != "not":
        return _cells(first, rest, walk)
    second, _, rest = rest.partition(" ")
    denied: dict[str, Callable[[str, Walk], str | None]] = {
        "enabled": partial(_expect_enabled, wanted=False),
        "where": partial(_expect_where, wanted=False),
    }
    if second not in denied:
        raise NotUnderstood(f"expect not {second}: write not enabled STEP, or not where CONDITION")
    return denied[second](rest, walk)


def _claims(rest: str, walk: Walk) -> list[str]:
    known = [claim.name for claim in walk.claims]
    names = rest.replace(",", " ").split()
    for name in names:
        if name not in known:
            raise NotUnderstood(f"no claim {name} is checked here; {_nearest(name, known)}")
    return names


def _expect_broken(rest: str, walk: Walk) -> str | None:
    names, broken = _claims(rest, walk), walk.broken_claims()
    if not names:
        raise NotUnderstood("expect broken: name the claims, as broken no_committed_loss")
    holding = [name for name in names if name not in broken]
    if not holding:
        return None
    others = f"; broken: {', '.join(broken)}" if broken else "; nothing is broken"
    return f"{', '.join(holding)} holds{others}"


def _expect_holds(rest: str, walk: Walk) -> str | None:
    names, broken = _claims(rest, walk), walk.broken_claims()
    wrong = [name for name in (names or broken) if name in broken]
    return "; ".join(f"{name} is broken: {broken[name]}" for name in wrong) or None


def _expect_enabled(rest: str, walk: Walk, *, wanted: bool) -> str | None:
    try:
        described = f"{step_called(rest, walk)} is enabled"
    except NoSuchStep as refused:
        raise NotUnderstood(str(refused)) from None
    except Ambiguous as several:
        described = str(several)
    except NotTaken as refused:
        return str(refused) if wanted else None
    return None if wanted else described


def _expect_where(rest: str, walk: Walk, *, wanted: bool) -> str | None:
    assert walk.problem.family is not None
    asked = walk.problem.family.condition(rest, walk.model)
    if bool(asked.holds(walk.state, walk.model.settings)) == wanted:
        return None
    values = asked.values(walk.state)
    return f"it is {'not true' if wanted else 'true'}" + (f": {values}" if values else "")


def _cells(first: str, rest: str, walk: Walk) -> str | None:
    """Cells of a row, or a fact that belongs to none."""
    header, *rows = walk.model.narration.rows(walk.state)
    facts = dict(walk.model.narration.summary(walk.state))
    labels = {label.lower(): label for label in facts}
    by_name = {row[0].lower(): row for row in rows}
    whole = f"{first} {rest}".strip().lower()
    fact = next((label for label in labels if f"{whole} ".startswith(f"{label} ")), None)
    if first.lower() in by_name:
        row = by_name[first.lower()]
        wrong = [
            f"{title} is {row[header.index(title)]}"
            for title, value in _pairs(first, rest, header, row)
            if _plain(row[header.index(title)]) != _plain(value)
        ]
        return f"{row[0]} {', '.join(wrong)}" if wrong else None
    if fact is not None:
        found, wanted = facts[labels[fact]], f"{first} {rest}".strip()[len(fact) :]
        if not wanted.strip():
            raise NotUnderstood(f"expect {labels[fact]}: say what, as {labels[fact]} {found}")
        return None if _plain(found) == _plain(wanted) else f"{labels[fact]} is {found}"
    known = [*(row[0] for row in rows), *facts]
    raise NotUnderstood(f"expect {first}: {_nearest(first, known)}; or {_FORMS}")


def _pairs(
    name: str, text: str, header: Sequence[str], row: Sequence[str]
) -> list[tuple[str, str]]:
    """Column and value: what the cell is, if that stands there, or all words up to a title.

    A cell may hold the title of another: `In flight answer m1, HW 0`.
    """
    words, found = text.split(), list[tuple[str, list[str]]]()
    titles, at = header[1:], 0
    while at < len(words):
        title = next((t for t in titles if _begins(words[at:], t)), None)
        if title is not None:
            at += len(title.split())
            cell = row[header.index(title)]
            is_so = _begins(words[at:], cell) and bool(cell)
            after = at + len(cell.split()) if is_so else at
            found.append((title, words[at:after]))
            at = after
        elif found:
            found[-1][1].append(words[at])
            at += 1
        else:
            raise NotUnderstood(f"expect {name} {words[at]}: {_nearest(words[at], titles)}")
    if not found:
        raise NotUnderstood(f"expect {name}: say what of it, as {name} {titles[0]} VALUE")
    for title, value in found:
        if not value:
            raise NotUnderstood(f"expect {name} {title}: the value is missing")
    return [(title, " ".join(value)) for title, value in found]


def _begins(words: Sequence[str], title: str) -> bool:
    """True if these words come first, and a comma at most behind them."""
    parts = title.lower().split()
    first = " ".join(words[: len(parts)]).lower()
    return first in (" ".join(parts), f"{' '.join(parts)},")


def _plain(cell: str) -> str:
    """Spaces and commas do not count, nor does case."""
    return " ".join(cell.replace(",", " ").split()).lower()


def _nearest(name: str, known: Sequence[str]) -> str:
    return did_you_mean_or(name, known, f"there are {', '.join(known)}")


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
