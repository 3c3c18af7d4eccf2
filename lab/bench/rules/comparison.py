"""What became of each cited method from one release to the next."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from lab.bench.rules.release import Found, Method

UNCHANGED, CHANGED, MOVED, REMOVED, NEW, NEITHER = (
    *("unchanged", "changed", "moved", "removed", "new"),
    "in neither",
)
TO_READ = (CHANGED, MOVED, REMOVED, NEW)
"""What somebody has to look at."""
DIFF_LINES_MAX = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One method: what became of it, its file before and now, "" for none, and its texts."""

    method: str
    outcome: str
    file_before: str = ""
    file_now: str = ""
    before: str = ""
    now: str = ""

    @property
    def where(self) -> str:
        """The file that has it, or had it; both where it is in another one now."""
        files = [file for file in (self.file_before, self.file_now) if file]
        return " -> ".join(dict.fromkeys(files))

    def diff(self) -> list[str]:
        """A unified diff of the method, without comments, with what was cut off counted."""
        found = list(
            difflib.unified_diff(
                _lines(self.before),
                _lines(self.now),
                fromfile=f"{self.file_before} {self.method}",
                tofile=f"{self.file_now} {self.method}",
                n=2,
                lineterm="",
            )
        )
        left = len(found) - DIFF_LINES_MAX
        return [*found[:DIFF_LINES_MAX], f"... {left} lines more"] if left > 0 else found


def compared(method: str, before: dict[str, Found], now: dict[str, Found]) -> Compared:
    """What became of `Class.method`.

    In another file with the same text it is moved; from Scala to Java it always is, for the
    text of two languages says nothing. Comments and white space are no change.
    """
    class_name, name = method.split(".")
    was, here = before.get(class_name, Found()), now.get(class_name, Found())
    nothing = Method("", "")
    before_it, now_it = was.methods.get(name, nothing), here.methods.get(name, nothing)
    texts = {"before": before_it.shown, "now": now_it.shown}
    files = {"file_before": was.files.get(name, ""), "file_now": here.files.get(name, "")}
    if name not in was.methods and name not in here.methods:
        return Compared(method=method, outcome=NEITHER)
    if name not in here.methods:
        outcome = REMOVED
    elif name not in was.methods:
        outcome = NEW
    elif _language(files["file_before"]) != _language(files["file_now"]):
        outcome = MOVED
    elif before_it.compared != now_it.compared:
        outcome = CHANGED
    elif files["file_before"] != files["file_now"]:
        outcome = MOVED
    else:
        outcome = UNCHANGED
    return Compared(method=method, outcome=outcome, **texts, **files)


def _lines(text: str) -> list[str]:
    """Its lines, without those that are empty, and without what ends them."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _language(file: str) -> str:
    return file.rpartition(".")[2] if "." in file else ""
