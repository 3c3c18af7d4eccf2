"""Rules that a release of Apache Fluss follows, and its words in place of Kafka's.

Read at the tags v0.9.0-incubating and v0.9.1-incubating, whose replication does not differ, and at
commit 545c5539 of 2026-08-22. `NOT_MODELLED` lists behaviour that no feature expresses.
"""

from __future__ import annotations

import re

from waterline.model.message.releases import UnknownRelease
from waterline.model.message.versions import FLUSS_0_9, FLUSS_MAIN, Version

RELEASES: dict[str, Version] = {"0.9.0": FLUSS_0_9, "0.9.1": FLUSS_0_9, "main": FLUSS_MAIN}
"""Versions by the number of the release, without `-incubating`."""

NOT_MODELLED = (
    "A follower that is sent a batch which its writer has written before, or out of order, "
    "truncates to where its leader's log ended when it became leader (#731).",
    "A follower that is sent to the tiered log begins there, and forgets its own log.",
    "A first notice to a tablet server that comes back may be lost, or overtaken by the second.",
    "An answer that was under way when its follower began to follow the same leader anew is taken.",
    "The pre-write buffer and the snapshots of a table with a primary key.",
)


def fluss_release(text: str) -> Version:
    """The version that `0.9.1`, `0.9.1-incubating` or `main` follows. Raises `UnknownRelease`."""
    known = RELEASES.get(text.removesuffix("-incubating"))
    if known is None:
        raise UnknownRelease(
            f"the rules of Fluss {text!r} were not looked up; those of {', '.join(RELEASES)} were"
        )
    return known


_WORDS = {
    "controller": "coordinator",
    "broker": "tablet server",
    "partition": "bucket",
    "replication-offset-checkpoint": "high-watermark-checkpoint",
    "min.insync.replicas": "log.replica.min-in-sync-replicas-number",
    "replica.lag.time.max.ms": "log.replica.max-lag-time",
    "AlterPartition": "AdjustIsr",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
}
_ANY = re.compile("|".join(map(re.escape, sorted(_WORDS, key=len, reverse=True))), re.IGNORECASE)


def in_words_of_fluss(text: str) -> str:
    """Return the sentence in the words of Fluss."""
    return _ANY.sub(_translate, text)


def _translate(found: re.Match[str]) -> str:
    said = found[0]
    meant = _WORDS.get(said) or _WORDS[said.lower()]
    return meant.capitalize() if said[0].isupper() and meant.islower() else meant
