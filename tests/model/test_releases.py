"""Which rules a Kafka release has, release by release, and which releases are refused."""

from __future__ import annotations

import itertools

import pytest

from waterline.model.message.features import FEATURES
from waterline.model.message.release_names import is_released
from waterline.model.message.releases import (
    NEWEST_RELEASE,
    RELEASES,
    Release,
    UnknownRelease,
    release_followed,
    release_named,
)
from waterline.model.message.versions import VERSIONS, version_of

ALTER_ISR = "with-alter-partition-with-maximal-isr"
SINCE_2_4 = (
    "with-truncation-lowers-hw-with-refusal-tells-nothing-with-moved-fetch-tries-hw"
    "-with-changeable-reassignment"
)
ZOOKEEPER_3_7 = f"truncate-on-fetch-{ALTER_ISR}-with-fenced-check-with-hw-needs-min-isr"
KRAFT_3_7 = "kip903-without-shrink-raises-epoch-with-hw-needs-min-isr"
NO_EPOCH_NO_HASTE = "without-shrink-raises-epoch-without-completes-when-added"
RECOVERS = "with-recovers-future-log"
KRAFT_3_8 = f"kip903-{NO_EPOCH_NO_HASTE}-with-hw-needs-min-isr-{RECOVERS}"
KRAFT_3_9_1 = f"{KRAFT_3_8}-with-append-checks-epoch"
KRAFT_4_0 = f"{KRAFT_3_8}-with-registration-removes"
KRAFT_4_1 = f"{KRAFT_4_0}-with-append-checks-epoch"
SHRINK_WAITS = "with-shrink-waits-for-targets"
KRAFT_4_3 = (
    f"{KRAFT_3_7}-{RECOVERS}-with-registration-removes-with-append-checks-epoch-{SHRINK_WAITS}"
)
KEEPS_ELR = "elr-without-new-directory-empties-elr-with-last-known-leader"
ELR_4_3 = f"{KEEPS_ELR}-with-completes-when-added-{SHRINK_WAITS}"
PATCHES_WITH_4_1_RULES = ("4.0.1", "4.0.2", "4.1.1", "4.1.2", "4.2.1")
BEFORE_3_3 = "kraft-without-fenced-check-without-partition-epoch-check-without-steps-down"


def followed(text: str, *, is_kraft: bool = False, elr: bool = False) -> Release:
    number = tuple(int(part) for part in text.split("."))
    return release_followed(number, is_kraft=is_kraft, eligible_leader_replicas=elr)


def rules(text: str, *, is_kraft: bool = False, elr: bool = False) -> set[str]:
    """How it truncates, and its features, as `waterline versions` calls them."""
    release = followed(text, is_kraft=is_kraft, elr=elr)
    return set(version_of(release.version).feature_names)


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ("0.8.2", "hw-with-fresh-remote-leo-with-keeps-waiting-producers"),
        ("0.9", "hw-with-keeps-waiting-producers"),
        ("0.9.0", "hw-with-keeps-waiting-producers"),
        ("0.10", "hw"),
        ("0.10.2", "hw"),
        ("0.11", "epoch"),
        ("0.11.0", "epoch"),
        ("1.0", "epoch"),
        ("1.1", "epoch"),
        ("2.0", "kip279-code"),
        ("2.0.0", "kip279-code"),
        ("2.1", "kip320-code"),
        ("2.2", "kip320-code"),
        ("2.3", "kip320-code"),
        ("2.4", f"kip320-code-{SINCE_2_4}"),
        ("2.5", f"kip320-code-{SINCE_2_4}-with-session-fencing"),
        ("2.6", f"kip320-code-{SINCE_2_4}-with-session-fencing"),
        ("2.6.1", "kip320"),
        ("2.7", f"kip320-{ALTER_ISR}"),
        ("2.7.1", f"kip320-{ALTER_ISR}"),
        ("2.7.2", f"kip320-{ALTER_ISR}"),
        ("2.8", f"truncate-on-fetch-without-diverging-guard-{ALTER_ISR}"),
        ("2.8.1", f"truncate-on-fetch-{ALTER_ISR}"),
        ("3.0", f"truncate-on-fetch-{ALTER_ISR}"),
        ("3.1", f"truncate-on-fetch-{ALTER_ISR}"),
        ("3.2", f"truncate-on-fetch-{ALTER_ISR}"),
        ("3.3", f"truncate-on-fetch-{ALTER_ISR}-with-fenced-check"),
        ("3.4", f"truncate-on-fetch-{ALTER_ISR}-with-fenced-check"),
        ("3.5", f"truncate-on-fetch-{ALTER_ISR}-with-fenced-check"),
        ("3.6", f"truncate-on-fetch-{ALTER_ISR}-with-fenced-check"),
        ("3.7", ZOOKEEPER_3_7),
        ("3.8", ZOOKEEPER_3_7),
        ("3.9", ZOOKEEPER_3_7),
        ("3.9.1", f"{ZOOKEEPER_3_7}-with-append-checks-epoch"),
    ],
)
def test_a_release_with_zookeeper_follows(release: str, version: str) -> None:
    assert followed(release).version == version


@pytest.mark.parametrize(
    ("release", "version", "heeds_unclean_election"),
    [
        (
            "2.8",
            "kraft-without-fenced-check-without-diverging-guard-without-partition-epoch-check"
            "-without-steps-down",
            False,
        ),
        ("2.8.1", BEFORE_3_3, False),
        ("3.0", BEFORE_3_3, False),
        ("3.1", BEFORE_3_3, False),
        ("3.2", BEFORE_3_3, False),
        ("3.3", "kraft", False),
        ("3.4", "kraft", False),
        ("3.5", "kip903-without-stale-fetch-check", False),
        ("3.5.2", "kip903-without-stale-fetch-check", False),
        ("3.6", "kip903-without-shrink-raises-epoch-without-stale-fetch-check", False),
        ("3.7", KRAFT_3_7, False),
        ("3.7.1", f"{KRAFT_3_7}-{RECOVERS}", False),
        ("3.8", KRAFT_3_8, False),
        ("3.9", KRAFT_3_8, True),
        ("3.9.1", KRAFT_3_9_1, True),
        ("4.0", KRAFT_4_0, True),
        ("4.1", KRAFT_4_1, True),
        ("4.2", KRAFT_4_1, True),
        ("3.9.2", KRAFT_3_9_1, True),
        *((patch, KRAFT_4_1, True) for patch in PATCHES_WITH_4_1_RULES),
        *((release, KRAFT_4_3, True) for release in ("4.3", "4.3.0", "4.3.1", "4.4.0")),
    ],
)
def test_a_release_with_kraft_follows(
    release: str, version: str, heeds_unclean_election: bool
) -> None:
    found = followed(release, is_kraft=True)

    assert found.version == version
    assert found.heeds_unclean_election is heeds_unclean_election


@pytest.mark.parametrize(
    ("release", "version"),
    [
        (
            "4.0",
            "elr-without-append-checks-epoch-with-last-known-leader-with-last-known-leader-fenced",
        ),
        ("4.0.1", "elr-with-last-known-leader-with-last-known-leader-fenced"),
        ("4.0.2", "elr-with-last-known-leader-with-last-known-leader-fenced"),
        ("4.1", "elr-with-last-known-leader"),
        ("4.2", "elr-with-last-known-leader"),
        ("4.3.1", ELR_4_3),
        ("4.4.0", ELR_4_3),
    ],
)
def test_eligible_leader_replicas_are_a_matter_of_their_own_switch(
    release: str, version: str
) -> None:
    assert followed(release, is_kraft=True, elr=True).version == version
    assert "elr" not in rules(release, is_kraft=True)


def test_2_0_1_has_what_repairs_truncation_in_2_1_but_for_the_next_epoch_of_a_leader() -> None:
    """Consumers check what they read since 2.1 here; in truth since client 2.3."""
    assert rules("2.1") - rules("2.0.1") == {
        "fencing",
        "consumer-validation",
        "shrink-only-lagging",
        "truncate-every-epoch",
    }
    assert rules("2.0.1") - rules("2.1") == {"truncate-after-gap"}


@pytest.mark.parametrize(
    ("rule", "absent", "present"),
    [
        ("shrink-raises-epoch", "3.6", "3.5"),
        ("hw-needs-min-isr", "3.6", "3.7"),
        ("broker-epoch", "3.4", "3.5"),
        ("fenced-check", "3.2", "3.3"),
    ],
)
def test_a_rule_of_kraft_is_there_from_one_release_to_another(
    rule: str, absent: str, present: str
) -> None:
    assert rule not in rules(absent, is_kraft=True)
    assert rule in rules(present, is_kraft=True)


@pytest.mark.parametrize("rule", ["hw-needs-min-isr", "fenced-check"])
def test_what_a_broker_or_either_controller_does_came_with_zookeeper_as_well(rule: str) -> None:
    since = {"hw-needs-min-isr": "3.7", "fenced-check": "3.3"}[rule]

    assert rule in rules(since)
    assert rule in rules(since, is_kraft=True)


def test_the_source_of_a_rule_names_each_release_that_it_begins_with() -> None:
    """KAFKA-18723: 4.0.0 lacks what 3.9.1 has."""
    [rule] = [feature for feature in FEATURES if feature.name == "append-checks-epoch"]
    begins = set()
    for before, after in itertools.pairwise(RELEASES):
        having = [rule.name in version_of(r.version).feature_names for r in (before, after)]
        if before.is_kraft == after.is_kraft and having == [False, True]:
            begins.add(".".join(map(str, after.since)))

    assert begins == {"3.9.1", "4.0.1"}
    assert all(number in rule.source for number in begins)


def test_with_elr_every_release_has_the_last_known_leader() -> None:
    """So that no release shows C38."""
    having = [r for r in RELEASES if r.with_eligible_leader_replicas]

    assert having
    assert all("last-known-leader" in r.added for r in having)


def test_only_the_controller_of_kraft_checks_broker_epochs() -> None:
    assert "broker-epoch" in rules("3.9", is_kraft=True)
    assert "broker-epoch" not in rules("3.9")


@pytest.mark.parametrize(
    ("release", "options", "says"),
    [
        ("5.0", {"is_kraft": True}, "Kafka 5.0 is not modelled; the newest that is, is 4.4"),
        ("4.5.0", {"is_kraft": True}, "Kafka 4.5.0 is not modelled"),
        ("2.9", {"is_kraft": False}, "there was no Kafka 2.9; of 2.x the last is 2.8"),
        ("3.10", {"is_kraft": True}, "there was no Kafka 3.10; of 3.x the last is 3.9"),
        ("0.12", {"is_kraft": False}, "there was no Kafka 0.12"),
        ("4.0", {"is_kraft": False}, "Kafka 4.0 has no ZooKeeper any more"),
        ("2.7", {"is_kraft": True}, "Kafka 2.7 with KRaft is not modelled; the oldest that is, is"),
        ("0.7", {"is_kraft": False}, "Kafka 0.7 with ZooKeeper is not modelled"),
        ("3.9", {"is_kraft": True, "elr": True}, "Kafka 3.9 has no eligible leader replicas"),
    ],
)
def test_a_release_without_a_declaration_is_refused(
    release: str, options: dict[str, bool], says: str
) -> None:
    with pytest.raises(UnknownRelease, match=says):
        followed(release, **options)


def test_a_patch_of_the_newest_release_is_that_release() -> None:
    newest = release_followed((*NEWEST_RELEASE, 3), is_kraft=True)

    assert newest == release_followed(NEWEST_RELEASE, is_kraft=True)


@pytest.mark.parametrize(
    "release",
    RELEASES,
    ids=lambda r: f"{r.since} {r.is_kraft} {r.with_eligible_leader_replicas}",
)
def test_every_declaration_is_a_version_with_a_source(release: Release) -> None:
    assert version_of(release.version).name == release.version
    assert release.base in VERSIONS
    assert release.source


@pytest.mark.parametrize("is_kraft", [False, True])
def test_declarations_are_in_order_and_each_changes_something(is_kraft: bool) -> None:
    declared = [release for release in RELEASES if release.is_kraft == is_kraft]
    followed_since = [
        (release.version, release.heeds_unclean_election, release.unlike) for release in declared
    ]

    assert [release.since for release in declared] == sorted(r.since for r in declared)
    assert all(a != b for a, b in itertools.pairwise(followed_since))


@pytest.mark.parametrize(
    ("release", "difference", "known"),
    [
        ("0.8", "the ISR becomes empty", True),
        ("0.8", "it cannot be switched off", True),
        ("0.8", "until 0.8.1 always, in 0.8.2 in a controlled shutdown", True),
        ("0.9", "first in the list of the ISR in a controlled shutdown", True),
        ("0.10", "the list of the ISR", False),
        ("0.10", "the ISR becomes empty", True),
    ],
)
def test_a_release_says_what_its_controller_did_otherwise(
    release: str, difference: str, known: bool
) -> None:
    """Read in PartitionLeaderSelector and removeReplicaFromIsr of 0.8.0, 0.8.1.1, 0.8.2.2, 0.9.0.1,
    0.10.0.0."""
    assert (difference in followed(release).unlike) is known


def test_every_rule_that_kafka_ever_had_is_in_some_release() -> None:
    had = {name for r in RELEASES for name in version_of(r.version).feature_names}

    assert {feature.name for feature in FEATURES} - had == {
        "longest-log",
        "fresh-remote-leo-after-gap",
        "fresh-replicas",
        "pending-survives-replay",
        "append-checks-older-epoch",
        "moved-log-keeps-epochs",
        "refusal-tries-hw",
        "departure-tries-hw",
        "elr-only-replicas",
        "lost-directory-is-unclean",
        "truncation-marks-future-log",
        "promotion-compares-epochs",
        "recovery-compares-ends",
        # Of Fluss.
        "coordinator",
        "truncate-leaderless",
        "follower-hw-at-end",
        "fresh-on-every-notice",
    }


@pytest.mark.parametrize(
    ("text", "released"),
    [
        ("kip903", True),
        ("kip903-without-shrink-raises-epoch", False),
        ("elr-with-last-known-leader", True),
        ("kip903-with-hw-needs-min-isr", False),
        ("kip320-with-longest-log", False),
    ],
)
def test_rules_are_some_kafkas_or_nobodys(text: str, released: bool) -> None:
    assert is_released(version_of(text)) is released


@pytest.mark.parametrize(
    ("release", "high_watermark"),
    [
        ("0.8.0", "post"),
        ("0.8.1.1", "post"),
        ("0.8.2.2", "pre"),
        ("0.11.0.3", "pre"),
        ("1.0", "post"),
        ("1.0.1", "post"),
        ("1.0.2", "pre"),
        ("1.1.0", "post"),
        ("1.1.1", "pre"),
        ("4.0:elr", "pre"),
    ],
)
def test_an_answer_has_the_high_watermark_that_the_release_reads(
    release: str, high_watermark: str
) -> None:
    """KafkaApis up to 0.8.1, then ReplicaManager.updateFollowerLogReadResults."""
    assert release_named(release)[1] == high_watermark
