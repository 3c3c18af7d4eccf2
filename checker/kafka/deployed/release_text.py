"""Releases as people and tools write them: `kafka_2.13-3.9.0`, `3.9-IV0`, `7.6.1-ccs`, images."""

from __future__ import annotations

import re

_WRITTEN = re.compile(
    r"""(?:kafka[_-])?
    (?:2\.(?:8|9|1\d)-)?                          # Scala's, of a tarball
    (?P<confluent>cp[-\ ])?v?
    (?P<number>\d{1,3}(?:\.\d{1,3}){1,3})
    (?:\.x|-iv\d{1,3}[a-z]?|-rc\d{1,2}|\.tiered|[.-]redhat-\d{1,6}
       |(?P<suffix>(?:-\d{1,5})?-(?:ccs|ce|cp\d*)(?:-[\w.]{1,20})?))?
    (?:\ \(commit:\w{1,40}\))?""",
    re.VERBOSE | re.IGNORECASE,
)
_IMAGE = re.compile(r"(?:.*/)?(?P<owner>[\w.-]+)/(?P<name>[\w.-]+):(?P<tag>[\w.-]+)(?:@.*)?")
_OWNERS = ("apache", "bitnami", "bitnamilegacy", "wurstmeister", "ubuntu")
_CONFLUENT_NAMES = re.compile(r"cp-(?:enterprise-)?(?:kafka|server).*|confluent-local")
_TAG = re.compile(r"v?((?:2\.(?:8|9|1\d)-)?\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)(?:[-.].*)?")
_CONFLUENT_FIRST = {3: (0, 10, 0), 4: (1, 0), 5: (2, 0), 6: (2, 6), 7: (3, 0), 8: (4, 0)}
"""Confluent Platform 5.0 has Kafka 2.0, 6.0 has 2.6, 7.0 has 3.0, and each minor the next."""


def release_written(text: str) -> str | None:
    """The number of Kafka's release, `3.9.0`; of Confluent's the one that is in it, `3.6`."""
    matched = _WRITTEN.fullmatch(text.strip())
    if matched is None:
        return None
    if matched["confluent"] or matched["suffix"]:
        return kafka_of_confluent(matched["number"])
    return matched["number"]


def kafka_of_confluent(platform: str) -> str | None:
    """Return `3.6` for `7.6.1`; None if Confluent Platform has no such release."""
    major, minor = map(int, platform.split(".")[:2])
    first = _CONFLUENT_FIRST.get(major)
    if first is None:
        return None
    return ".".join(map(str, (*first[:-1], first[-1] + minor)))


def release_of_image(image: str) -> str | None:
    """Return the release of an image: `3.9.0` of `apache/kafka:3.9.0`, `cp-7.6.1` of Confluent's.

    None for other vendors' images, whose tags are versions of their own.
    """
    matched = _IMAGE.fullmatch(image.strip())
    tag = _TAG.fullmatch(matched["tag"]) if matched else None
    if matched is None or tag is None:
        return None
    if matched["owner"] == "confluentinc" and _CONFLUENT_NAMES.fullmatch(matched["name"]):
        return f"cp-{tag[1]}"
    is_kafka = matched["owner"] in _OWNERS and matched["name"].startswith("kafka")
    return tag[1] if is_kafka else None


def is_broker_image(image: str) -> bool:
    """True if containers of this image are brokers, whatever their tag is."""
    repository = re.sub(r"[:@][^/]*$", "", image.strip())
    return release_of_image(f"{repository}:1.0") is not None


_LEVELS = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0"),
    *("3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1"),
    *("3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2"),
    *("4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0", "4.4-IV0", "4.4-IV1"),
    "4.4-IV2",
)
"""Names of the levels, from level 1 on."""


def metadata_version(level: int) -> str | None:
    """`4.1-IV1` for 27; None for a level that is not known here."""
    return _LEVELS[level - 1] if 1 <= level <= len(_LEVELS) else None
