"""The versions of the protocol, each a way to truncate and a set of features.

A version that loses data stays here next to its repair. Every feature can be switched alone:
`version_of("kip320-without-fencing")`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from waterline.model.core.errors import did_you_mean
from waterline.model.message.features import FEATURES, TRUNCATIONS, Feature
from waterline.model.message.terms import (
    TRUNCATE_BY_EPOCH,
    TRUNCATE_BY_EPOCHS,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATE_ON_FETCH,
    TRUNCATE_TO_HIGH_WATERMARK,
)

KAFKA = "Kafka"
FLUSS = "Fluss"
"""The systems whose rules are known, as reports call them."""

_SWITCHES = re.compile(r"-(with|without)-")
_BY_NAME = {feature.name: feature for feature in FEATURES}


class BadVersion(ValueError):
    """A version or a feature that there is not, or features that contradict each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One member of the family: its name, the system that has it, and its rules."""

    name: str
    sentence: str
    truncation: int
    features: int = 0
    system: str = KAFKA

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of its way to truncate and its features, as in `--with` and `--without`."""
        truncation = next(n for n, value in TRUNCATIONS.items() if value == self.truncation)
        return (truncation, *(f.name for f in FEATURES if self.features & f.bit))


def _bits(names: str) -> int:
    """The features of these names."""
    return sum(_BY_NAME[name].bit for name in names.split())


_KIP_320_CODE = _bits(
    "fencing epoch-on-leading truncate-every-epoch isr-from-epoch-start truncate-out-of-range "
    "consumer-validation shrink-only-lagging"
)
_KIP_320 = _KIP_320_CODE | _bits(
    "truncation-lowers-hw refusal-tells-nothing moved-fetch-tries-hw changeable-reassignment "
    "session-fencing truncation-clears-epochs"
)
_ON_FETCH = _KIP_320 | _bits("diverging-guard")
_KRAFT = _ON_FETCH | _bits(
    "alter-partition maximal-isr kraft steps-down partition-epoch-check shrink-raises-epoch "
    "fenced-check completes-when-added"
)

HW = Version(
    name="hw",
    sentence="Kafka up to 0.10.2: a new follower truncates to its own high watermark. "
    "Loses a committed record and diverges with 2 replicas, 2 records, 2 restarts.",
    truncation=TRUNCATE_TO_HIGH_WATERMARK,
)
EPOCH = Version(
    name="epoch",
    sentence="Kafka 0.11 (KIP-101): a new follower asks the leader where its last epoch ends. "
    "Diverges with 3 replicas (KAFKA-7164), and with 2 when leadership moves (KIP-279).",
    truncation=TRUNCATE_BY_EPOCH,
)
KIP_279 = Version(
    name="kip279",
    sentence="KIP-279 as proposed: it asks again until both know the epoch. Loses a committed "
    "record with 2 replicas when leadership moves (KAFKA-7415).",
    truncation=TRUNCATE_BY_EPOCHS,
)
KIP_279_CODE = Version(
    name="kip279-code",
    sentence="Kafka 2.0.0: KIP-279 as first released. Diverges with 2 replicas when leadership "
    "moves and the logs have no epoch in common.",
    truncation=TRUNCATE_BY_EPOCHS_2_0,
)
KIP_320_CODE = Version(
    name="kip320-code",
    sentence="Kafka 2.1: fencing by leader epoch (KIP-320) as first released, void within a fetch "
    "session (KAFKA-9338). A follower may ask for an epoch for ever (KAFKA-10706).",
    truncation=TRUNCATE_BY_EPOCHS,
    features=_KIP_320_CODE,
)
KIP_320 = Version(
    name="kip320",
    sentence="KIP-320 as proposed, in Kafka 2.6.1: fencing by leader epoch and what came with it. "
    "Takes a follower that has lost its disk for what it was, if its old fetch arrives late.",
    truncation=TRUNCATE_BY_EPOCHS,
    features=_KIP_320,
)
ON_FETCH = Version(
    name="truncate-on-fetch",
    sentence="KIP-595 in Kafka 2.8 (inter.broker.protocol.version 2.7-IV1): the fetch itself says "
    "where the logs part. From 2.7-IV2 on the ISR is changed by AlterPartition as well.",
    truncation=TRUNCATE_ON_FETCH,
    features=_ON_FETCH,
)
KRAFT_3_3 = Version(
    name="kraft",
    sentence="Kafka 3.3 under KRaft: the controller changes the ISR (KIP-497, KIP-841). Takes back "
    "a follower that has lost its disk meanwhile (KAFKA-14139).",
    truncation=TRUNCATE_ON_FETCH,
    features=_KRAFT,
)
KIP_903 = Version(
    name="kip903",
    sentence="Kafka 3.5 (KIP-903 as in 3.7): the controller also checks the broker epoch. The last "
    "replica in sync may come back without its records.",
    truncation=TRUNCATE_ON_FETCH,
    features=_KRAFT | _bits("broker-epoch stale-fetch-check"),
)
ELR_4_0 = Version(
    name="elr",
    sentence="Kafka 4.0, as in 4.1: eligible leader replicas (KIP-966), no last known leader. With "
    "min.insync.replicas=2 one power loss takes nothing that was acknowledged.",
    truncation=TRUNCATE_ON_FETCH,
    features=(_KRAFT & ~_bits("shrink-raises-epoch completes-when-added"))
    | _bits(
        "broker-epoch stale-fetch-check hw-needs-min-isr elr registration-removes "
        "unclean-mark-kept append-checks-epoch new-directory-empties-elr recovers-future-log"
    ),
)

_FLUSS = _bits(
    "truncate-every-epoch truncate-out-of-range shrink-only-lagging truncation-lowers-hw "
    "refusal-tells-nothing moved-fetch-tries-hw alter-partition maximal-isr fenced-check "
    "hw-needs-min-isr coordinator truncate-leaderless follower-hw-at-end"
)
FLUSS_0_9 = Version(
    name="fluss-0.9",
    sentence="Apache Fluss 0.9.1: truncates to a high watermark that a follower sets to its own "
    "log end. Loses an acknowledged record with one replica and one crash.",
    truncation=TRUNCATE_TO_HIGH_WATERMARK,
    features=_FLUSS | _bits("fresh-on-every-notice"),
    system=FLUSS,
)
FLUSS_MAIN = Version(
    name="fluss-main",
    sentence="Apache Fluss at 545c5539 (2026-08-22), after #3702: a leader that leads on keeps "
    "its followers' log ends, as Kafka's does (C21).",
    truncation=TRUNCATE_TO_HIGH_WATERMARK,
    features=_FLUSS,
    system=FLUSS,
)

VERSIONS = {
    version.name: version
    for version in (
        HW,
        EPOCH,
        KIP_279,
        KIP_279_CODE,
        KIP_320_CODE,
        KIP_320,
        ON_FETCH,
        KRAFT_3_3,
        KIP_903,
        ELR_4_0,
    )
}
"""Versions of Kafka, in the order of their release."""
FLUSS_VERSIONS = {version.name: version for version in (FLUSS_0_9, FLUSS_MAIN)}
"""Versions of Apache Fluss, which took over Kafka's replication from before KIP-101."""
NAMED = VERSIONS | FLUSS_VERSIONS
"""Every version that has a name."""


def version_of(text: str) -> Version:
    """The version that a name says, with features switched: `kip320-without-fencing-with-elr`.

    A combination that no Kafka had is a version all the same. Raises `BadVersion` for what there is
    not and for what contradicts itself.
    """
    name, *rest = _SWITCHES.split(text)
    if name not in NAMED:
        raise BadVersion(f"unknown protocol {name!r}{did_you_mean(name, NAMED)}")
    version = NAMED[name]
    for word, feature in zip(rest[::2], rest[1::2], strict=True):
        version = _with(version, feature) if word == "with" else _without(version, feature)
    _require_sense(version, text)
    return replace(version, name=text)


def base_of(text: str) -> str:
    """The name of the version that such a text begins with."""
    return _SWITCHES.split(text)[0]


def spell(name: str, added: tuple[str, ...], removed: tuple[str, ...]) -> str:
    """The text that `version_of` reads."""
    return "-".join([name, *(f"without-{f}" for f in removed), *(f"with-{f}" for f in added)])


def switches_of(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The inverse of `spell`: a name, what is added, what is taken out."""
    name, *rest = _SWITCHES.split(text)
    pairs = list(zip(rest[::2], rest[1::2], strict=True))
    added = tuple(feature for word, feature in pairs if word == "with")
    return name, added, tuple(feature for word, feature in pairs if word == "without")


def released_as(version: Version) -> str | None:
    """Return the name of the version with exactly these rules; None if there is none."""
    for known in NAMED.values():
        if (known.truncation, known.features) == (version.truncation, version.features):
            return known.name
    return None


def _with(version: Version, feature: str) -> Version:
    if feature in TRUNCATIONS:
        return replace(version, truncation=TRUNCATIONS[feature])
    bit = _feature(feature).bit
    if version.features & bit:
        raise BadVersion(f"--with {feature}: {version.name} has it already")
    return replace(version, features=version.features | bit)


def _without(version: Version, feature: str) -> Version:
    if feature in TRUNCATIONS:
        others = ", ".join(f"--with {name}" for name in TRUNCATIONS if name != feature)
        raise BadVersion(
            f"--without {feature}: a version truncates in one way; say which instead: {others}"
        )
    bit = _feature(feature).bit
    if not version.features & bit:
        raise BadVersion(
            f"--without {feature}: {version.name} does not have it; "
            f"it has {', '.join(version.feature_names[1:]) or 'none that can be switched'}"
        )
    return replace(version, features=version.features & ~bit)


def _feature(name: str) -> Feature:
    if name not in _BY_NAME:
        described = did_you_mean(name, [*TRUNCATIONS, *_BY_NAME])
        raise BadVersion(f"unknown feature {name!r}{described}")
    return _BY_NAME[name]


def _require_sense(version: Version, text: str) -> None:
    for feature in FEATURES:
        if not version.features & feature.bit:
            continue
        for needed in FEATURES:
            if feature.needs & needed.bit and not version.features & needed.bit:
                raise BadVersion(
                    f"{text} has {feature.name} without {needed.name}, and "
                    f"{feature.name} means nothing without it: {feature.sentence}"
                )
            if feature.excludes & needed.bit and version.features & needed.bit:
                raise BadVersion(
                    f"{text} has both {feature.name} and {needed.name}; a bucket has one of them"
                )
        if feature.needs_truncation and version.truncation not in feature.needs_truncation:
            names = [n for n, value in TRUNCATIONS.items() if value in feature.needs_truncation]
            raise BadVersion(
                f"{text} has {feature.name}, which only goes with {' or '.join(names)}"
            )
