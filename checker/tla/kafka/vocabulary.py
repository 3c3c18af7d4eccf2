"""Meaning of numbers in Kafka's models: flags, words, sets, and the things they count.

Rules compute with numbers alone. A field's form in the module follows from its declaration
(`model.core.renaming.Naming`), and from the two tables here.
"""

from __future__ import annotations

from waterline.checker.tla.kinds import TRUTHS, Kind, Typed, Words
from waterline.checker.tla.tree import Atom, Word
from waterline.model.message import terms

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

ABOUT = {
    "role": "What the broker does for the partition. One without a role is down, or has been told "
    "nothing yet. One that is truncating is a follower that does not know where to cut its log.",
    "fetch": "What became of its one outstanding fetch. One that is parked waits at the leader.",
    "answer": "The controller's answer to the change of the ISR that it has asked for, on its way.",
    "replay": "With late replay, the record of a granted change that it has still to replay: of "
    "the ISR that it goes by, or of one before.",
    "acked": "Records that were acknowledged to their producers.",
}
"""Descriptions of fields whose declaration describes their numbers."""

OF_BITS = (", one bit a replica", ", one bit each", "; bit id-1", ", at id-1")
"""Parts of declarations about how the model stores a set or a row."""

PARAMETERS: dict[str, Kind] = {"stale": TRUTHS}
"""Parameters of functions that are given a constant as well as a field: the kind of the field."""

REPLICA_PARAMETERS = frozenset({"replica", "follower"})
"""Parameters of the model's functions that are never NO_REPLICA: fields are indexed by them."""

SETS = {
    terms.contains: "contains",
    terms.with_member: "with_member",
    terms.without_member: "without_member",
}
"""Functions that query and change sets."""


def words_of(field: str) -> Words:
    """Return the words for such a field's values in the module: `NO_ROLE` is "no role"."""
    return Words(tuple(map(_word, WORDS[field])), Atom(f"{field}_words"))


def constants() -> dict[str, Typed]:
    """Return the words by the names of the constants."""
    return {
        name: Typed(Word(_word(name)), words_of(field))
        for field, names in WORDS.items()
        for name in names
    }


def _word(name: str) -> str:
    return name.lower().replace("_", " ")
