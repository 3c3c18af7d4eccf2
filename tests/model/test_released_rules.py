"""Every released Kafka against the rules that its source has, feature by feature.

The rows were written down from Kafka's source at the tags, and from its later releases' source jars
and byte code, and not from `model.message.releases`: the first release with a rule, and the first
without it again.
"""

from __future__ import annotations

import pytest

from lab.bench.rules.released import RELEASED, number_of
from tests.model.test_versions import NEVER_IN_KAFKA, OF_FLUSS
from waterline.model.message.features import FEATURES, TRUNCATIONS
from waterline.model.message.releases import NEWEST_RELEASE, release_named
from waterline.model.message.versions import version_of

ZOOKEEPER, KRAFT, ELR = "zookeeper", "kraft", "elr"
NEVER = "5.0.0"
"""No release up to the newest."""

Row = tuple[str, str]
"""The first release with a rule, and the first without it again."""

OF_BROKERS: dict[str, Row] = {
    "truncate-to-hw": ("0.8.0", "0.11.0.0"),
    "truncate-by-epoch": ("0.11.0.0", "2.0.0"),
    "truncate-by-epochs-2.0": ("2.0.0", "2.0.1"),
    "truncate-by-epochs": ("2.0.1", "2.8.0"),
    "truncate-on-fetch": ("2.8.0", NEVER),
    "fresh-remote-leo": ("0.8.0", "0.9.0.0"),
    "keeps-waiting-producers": ("0.8.0", "0.10.0.0"),
    "epoch-on-leading": ("2.0.1", NEVER),
    "truncate-after-gap": ("2.0.1", "2.1.0"),
    "isr-from-epoch-start": ("2.0.1", NEVER),
    "truncate-out-of-range": ("2.0.1", NEVER),
    "fencing": ("2.1.0", NEVER),
    "truncate-every-epoch": ("2.1.0", NEVER),
    "consumer-validation": ("2.1.0", NEVER),
    "shrink-only-lagging": ("2.1.0", NEVER),
    "truncation-lowers-hw": ("2.4.0", NEVER),
    "refusal-tells-nothing": ("2.4.0", NEVER),
    "moved-fetch-tries-hw": ("2.4.0", NEVER),
    "changeable-reassignment": ("2.4.0", NEVER),
    "session-fencing": ("2.5.0", NEVER),
    "truncation-clears-epochs": ("2.6.1", NEVER),
    "alter-partition": ("2.7.0", NEVER),
    "maximal-isr": ("2.7.0", NEVER),
    "diverging-guard": ("2.8.1", NEVER),
    "fenced-check": ("3.3.0", NEVER),
    "hw-needs-min-isr": ("3.7.0", NEVER),
    "append-checks-epoch": ("3.9.1", NEVER),
}
"""Rules of brokers and of either controller; with KRaft from 2.8 on. `consumer-validation` is the
client's, first 2.3.0, and is counted here from what brokers answer."""
OF_KRAFT: dict[str, Row] = {
    "kraft": ("2.8.0", NEVER),
    "shrink-raises-epoch": ("2.8.0", "3.6.0"),
    "steps-down": ("3.3.0", NEVER),
    "partition-epoch-check": ("3.3.0", NEVER),
    "broker-epoch": ("3.5.0", NEVER),
    "stale-fetch-check": ("3.7.0", NEVER),
    "registration-removes": ("4.0.0", NEVER),
    "completes-when-added": ("2.8.0", "3.8.0"),
    "shrink-waits-for-targets": ("4.3.0", NEVER),
    "recovers-future-log": ("3.7.1", NEVER),
}
AGAIN: dict[str, Row] = {"completes-when-added": ("4.3.0", NEVER)}
"""Rules that came back."""
OF_ELR: dict[str, Row] = {
    "elr": ("4.0.0", NEVER),
    "last-known-leader": ("4.0.0", NEVER),
    "last-known-leader-fenced": ("4.0.0", "4.1.0"),
    "unclean-mark-kept": ("4.0.0", NEVER),
    "new-directory-empties-elr": ("4.0.0", "4.3.0"),
}
"""Where eligible.leader.replicas.version is 1; the last is asked about there alone."""
WITHOUT_ALL_THE_SAME = {("append-checks-epoch", "4.0.0")}
"""4.0.0 is older than 3.9.1, which had the repair first."""
MANNERS = {
    ZOOKEEPER: ("0.8.0", "4.0.0", (OF_BROKERS,)),
    KRAFT: ("2.8.0", NEVER, (OF_BROKERS, OF_KRAFT, AGAIN)),
    ELR: ("4.0.0", NEVER, (OF_BROKERS, OF_KRAFT, OF_ELR, AGAIN)),
}
"""From which release on brokers run in this manner, and until which."""


def is_within(release: str, since: str, until: str) -> bool:
    return number_of(since) <= number_of(release) < number_of(until)


def expected(release: str, manner: str) -> set[str]:
    return {
        rule
        for table in MANNERS[manner][2]
        for rule, (since, until) in table.items()
        if is_within(release, since, until) and (rule, release) not in WITHOUT_ALL_THE_SAME
    }


@pytest.mark.parametrize(
    ("release", "manner"),
    [
        (release, manner)
        for release in RELEASED
        for manner, (since, until, _) in MANNERS.items()
        if is_within(release, since, until)
    ],
)
def test_a_released_kafka_has_the_rules_that_its_source_has(release: str, manner: str) -> None:
    declared = version_of(release_named(f"{release}:{manner}")[0].version)

    assert set(declared.feature_names) == expected(release, manner)


def test_every_rule_has_a_row_but_those_that_were_in_no_release() -> None:
    rows = [rule for table in (OF_BROKERS, OF_KRAFT, OF_ELR) for rule in table]

    assert len(rows) == len(set(rows))
    assert {*TRUNCATIONS, *(feature.name for feature in FEATURES)} - set(
        rows
    ) == NEVER_IN_KAFKA | OF_FLUSS


def test_a_row_begins_and_ends_with_a_release() -> None:
    ends = {
        end for table in (OF_BROKERS, OF_KRAFT, OF_ELR) for row in table.values() for end in row
    }

    assert ends - {NEVER} <= set(RELEASED)


def test_the_newest_release_that_is_declared_is_listed() -> None:
    assert number_of(RELEASED[-1])[:2] == NEWEST_RELEASE
