"""What came of a case that was drawn, in one word, and a table of the words by kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.stale_disk.attempt import DOORS, Outcome, kept, outcomes
from fuzz.stale_disk.drawn import Drawn
from fuzz.stale_disk.processes import Commands

WORDS = ("kept", "recomputed", "refused", "LOST", "UNPLACED", "WRONG")
"""LOST: nothing has changed, and it was made again. The last three are mistakes."""
_WORD = {"right": "recomputed"}


def judge(drawn: Drawn, commands: Commands, folder: Path) -> tuple[str, dict[str, Outcome]]:
    """The worst that a door did, and what each of them did."""
    if drawn.change == "nothing":
        found = kept(drawn.case, commands, folder)
        words = [{"recomputed": "LOST"}.get(each.what, each.what) for each in found.values()]
    else:
        is_the_same = drawn.case.holds == drawn.case.still_holds
        found = outcomes(drawn.case, commands, folder, DOORS[:2] if is_the_same else DOORS)
        words = [_WORD.get(each.what, each.what) for each in found.values()]
        if not is_the_same and found["gate"].what == "kept":
            words.append("WRONG")
        elif found["gate"].what == "right":
            # A refused resume is right beside an answer that was made anew.
            words = ["recomputed" if word == "refused" else word for word in words]
    return max(words, key=WORDS.index), found


@dataclass(slots=True)
class Table:
    """How many came out how, by kind."""

    rows: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, drawn: Drawn, word: str) -> None:
        """Count a case: under its change, and under all that its value lies in."""
        for kind in (f"change: {drawn.change}", *(f"lookup: {each}" for each in set(drawn.lookup))):
            self.rows[kind][word] += 1

    def count(self, word: str) -> int:
        """How many came out so."""
        return sum(row[word] for kind, row in self.rows.items() if kind.startswith("change"))

    def lines(self) -> list[str]:
        """The table as text."""
        head = f"{'kind':28}{'cases':>7}" + "".join(f"{word:>12}" for word in WORDS)
        body = [
            f"{kind:28}{row.total():>7}" + "".join(f"{row[word]:>12}" for word in WORDS)
            for kind, row in sorted(self.rows.items())
        ]
        return [head, *body]
