"""What numbers of Kafka's models mean: flags, words, sets, and what they are counted by.

Rules compute with numbers alone. How a field is written in the module follows from its declaration
(`model.core.renaming.Naming`), and from the two tables here.
"""

from __future__ import annotations

from checker.tla.kinds import TRUTHS, Kind, Typed, Words
from checker.tla.tree import Atom, Word
from model.message import terms

FLAGS = frozenset(
    {
        "up",
        "unclean",
        "outdated",
        "pending_stale",
        "disowned",
        "entry_lost",
        "stray_stale",
        "booking_stale",
        "booking_void",
        "misread",
        "base",
    }
)
"""The fields that are 1 for yes and 0 for no."""

WORDS = {
    "role": ("NO_ROLE", "LEADER", "TRUNCATING", "FETCHING"),
    "fetch": (
        "IDLE",
        "REQUESTED",
        "ANSWERED",
        "OUT_OF_RANGE",
        "PARKED",
        "DIVERGING",
        "CHECKED",
    ),
    "answer": ("NO_ANSWER", "GRANTED", "REFUSED"),
    "replay": ("NOTHING_TO_REPLAY", "REPLAYS_SAME", "REPLAYS_OLDER"),
}
"""The fields whose numbers have names in `model.message.terms`, from 0 on."""

PARAMETERS: dict[str, Kind] = {"stale": TRUTHS}
"""Parameters of functions that are given a constant as well as a field: the kind of the field."""

SETS = {
    terms.contains: "contains",
    terms.with_member: "with_member",
    terms.without_member: "without_member",
}
"""The functions that sets are asked and changed by."""


def words_of(field: str) -> Words:
    """What the values of such a field are in the module: `NO_ROLE` is "no role"."""
    return Words(tuple(map(_word, WORDS[field])), Atom(f"{field}_words"))


def constants() -> dict[str, Typed]:
    """The same by the names of the constants."""
    return {
        name: Typed(Word(_word(name)), words_of(field))
        for field, names in WORDS.items()
        for name in names
    }


def _word(name: str) -> str:
    return name.lower().replace("_", " ")
