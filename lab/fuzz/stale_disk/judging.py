"""What came of a case that was drawn, in one word."""

from __future__ import annotations

from pathlib import Path

from lab.fuzz.stale_disk.attempt import DOORS, Outcome, kept, outcomes
from lab.fuzz.stale_disk.drawn import Drawn
from lab.fuzz.stale_disk.processes import Commands

WORDS = ("kept", "recomputed", "refused", "LOST", "UNPLACED", "WRONG")
"""LOST: nothing has changed, and it was made again."""
MISTAKES = WORDS[3:]
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
