"""The numbers under which Kafka was released, and which of them comes before another."""

from __future__ import annotations

import re

RELEASED = (
    *("0.8.0", "0.8.1", "0.8.1.1", "0.8.2.0", "0.8.2.1", "0.8.2.2", "0.9.0.0", "0.9.0.1"),
    *("0.10.0.0", "0.10.0.1", "0.10.1.0", "0.10.1.1", "0.10.2.0", "0.10.2.1", "0.10.2.2"),
    *("0.11.0.0", "0.11.0.1", "0.11.0.2", "0.11.0.3", "1.0.0", "1.0.1", "1.0.2", "1.1.0", "1.1.1"),
    *("2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.2.0", "2.2.1", "2.2.2", "2.3.0", "2.3.1"),
    *("2.4.0", "2.4.1", "2.5.0", "2.5.1", "2.6.0", "2.6.1", "2.6.2", "2.6.3"),
    *("2.7.0", "2.7.1", "2.7.2", "2.8.0", "2.8.1", "2.8.2", "3.0.0", "3.0.1", "3.0.2"),
    *("3.1.0", "3.1.1", "3.1.2", "3.2.0", "3.2.1", "3.2.2", "3.2.3", "3.3.0", "3.3.1", "3.3.2"),
    *("3.4.0", "3.4.1", "3.5.0", "3.5.1", "3.5.2", "3.6.0", "3.6.1", "3.6.2"),
    *("3.7.0", "3.7.1", "3.7.2", "3.8.0", "3.8.1", "3.9.0", "3.9.1", "3.9.2"),
    *("4.0.0", "4.0.1", "4.0.2", "4.1.0", "4.1.1", "4.1.2", "4.2.0", "4.2.1", "4.2.2"),
    *("4.3.0", "4.3.1", "4.4.0"),
)
"""All of them up to the newest that is declared, by number. A new one is added here."""


class NoRelease(ValueError):
    """A text that is no release, or one with none before it; the message has the remedy."""


def number_of(release: str) -> tuple[int, ...]:
    """(4, 3, 1) for `4.3.1`. Raises `NoRelease`."""
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){2,3}", release):
        raise NoRelease(f"{release!r} is no release of Kafka; write it as 4.3.1 or 0.10.2.2")
    return tuple(map(int, release.split(".")))


def release_before(release: str) -> str:
    """The released one with the greatest number below that of `release`. Raises `NoRelease`.

    For the first release of a minor version this is the last patch of the minor version before.
    """
    number = number_of(release)
    earlier = [each for each in RELEASED if number_of(each) < number]
    if not earlier:
        raise NoRelease(f"no release is known before {release}; name one with --since")
    return earlier[-1]
