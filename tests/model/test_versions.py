"""The versions by name, features switched one by one, and the steps that each takes part in."""

from __future__ import annotations

import re
from typing import Any

import pytest

from waterline.model.message.contents import ACTIONS, contents
from waterline.model.message.environment import Environment
from waterline.model.message.features import FEATURES, TRUNCATIONS
from waterline.model.message.settings import settings_of
from waterline.model.message.versions import VERSIONS, BadVersion, released_as, spell, version_of

NEVER_IN_KAFKA = {
    "longest-log",
    "fresh-remote-leo-after-gap",
    "refusal-tries-hw",
    "departure-tries-hw",
    "append-checks-older-epoch",
    "fresh-replicas",
    "pending-survives-replay",
    "moved-log-keeps-epochs",
    "elr-only-replicas",
    "lost-directory-is-unclean",
    "truncation-marks-future-log",
    "promotion-compares-epochs",
    "recovery-compares-ends",
}
"""Features that no version has: they are there to be asked about."""
SWITCHED_ON_BY_RELEASES = {
    "fresh-remote-leo",
    "keeps-waiting-producers",
    "truncate-after-gap",
    "last-known-leader",
    "last-known-leader-fenced",
    "shrink-waits-for-targets",
}
"""What Kafka has, or had, and none of the named versions: see `model.message.releases`."""
OF_FLUSS = {
    "coordinator",
    "truncate-leaderless",
    "follower-hw-at-end",
    "fresh-on-every-notice",
}
KIP_320_CODE = {
    "fencing",
    "epoch-on-leading",
    "truncate-every-epoch",
    "isr-from-epoch-start",
    "truncate-out-of-range",
    "consumer-validation",
    "shrink-only-lagging",
}
KIP_320 = KIP_320_CODE | {
    "truncation-lowers-hw",
    "refusal-tells-nothing",
    "moved-fetch-tries-hw",
    "changeable-reassignment",
    "session-fencing",
    "truncation-clears-epochs",
}
ON_FETCH = KIP_320 | {"diverging-guard"}
KRAFT = ON_FETCH | {
    "alter-partition",
    "maximal-isr",
    "kraft",
    "steps-down",
    "partition-epoch-check",
    "shrink-raises-epoch",
    "fenced-check",
    "completes-when-added",
}
KIP_903 = KRAFT | {"broker-epoch", "stale-fetch-check"}

RELEASED: dict[str, tuple[str, set[str]]] = {
    "hw": ("truncate-to-hw", set()),
    "epoch": ("truncate-by-epoch", set()),
    "kip279": ("truncate-by-epochs", set()),
    "kip279-code": ("truncate-by-epochs-2.0", set()),
    "kip320-code": ("truncate-by-epochs", KIP_320_CODE),
    "kip320": ("truncate-by-epochs", KIP_320),
    "truncate-on-fetch": ("truncate-on-fetch", ON_FETCH),
    "kraft": ("truncate-on-fetch", KRAFT),
    "kip903": ("truncate-on-fetch", KIP_903),
    "elr": (
        "truncate-on-fetch",
        KIP_903 - {"shrink-raises-epoch", "completes-when-added"}
        | {
            "hw-needs-min-isr",
            "elr",
            "registration-removes",
            "unclean-mark-kept",
            "append-checks-epoch",
            "new-directory-empties-elr",
            "recovers-future-log",
        },
    ),
}


def test_there_are_ten_versions_in_the_order_of_their_release() -> None:
    assert list(VERSIONS) == list(RELEASED)


@pytest.mark.parametrize("name", VERSIONS)
def test_a_version_truncates_in_one_way_and_has_the_features_of_its_release(name: str) -> None:
    truncation, features = RELEASED[name]

    assert VERSIONS[name].feature_names[0] == truncation
    assert set(VERSIONS[name].feature_names[1:]) == features
    assert version_of(name) == VERSIONS[name]
    assert released_as(version_of(name)) == name


@pytest.mark.parametrize("name", VERSIONS)
def test_a_version_says_what_it_is_and_which_kafka(name: str) -> None:
    assert VERSIONS[name].sentence.endswith(".")
    assert re.search(r"Kafka \w|KIP-\d", VERSIONS[name].sentence)


def test_every_feature_is_some_versions_or_never_was_in_kafka() -> None:
    used = set().union(*(features for _, features in RELEASED.values())) | OF_FLUSS

    assert {f.name for f in FEATURES} - used == NEVER_IN_KAFKA | SWITCHED_ON_BY_RELEASES
    assert {f.name for f in FEATURES if "Fluss" in f.source} == OF_FLUSS
    assert {f.name for f in FEATURES if "never in Kafka" in f.source} == NEVER_IN_KAFKA
    assert set(TRUNCATIONS) == {truncation for truncation, _ in RELEASED.values()}


def test_every_feature_is_a_bit_of_its_own_and_is_called_by_one_name() -> None:
    bits = [f.bit for f in FEATURES]
    names = [*TRUNCATIONS, *(f.name for f in FEATURES)]

    assert all(bit.bit_count() == 1 for bit in bits)
    assert len(set(bits)) == len(FEATURES)
    assert len(set(names)) == len(names)
    assert not [name for name in names if "-with-" in name or "-without-" in name]


def names(text: str) -> set[str]:
    return set(version_of(text).feature_names)


@pytest.mark.parametrize("feature", sorted(KIP_320))
def test_a_feature_is_switched_off_alone(feature: str) -> None:
    assert names("kip320") - names(f"kip320-without-{feature}") == {feature}
    assert names(f"kip320-without-{feature}") < names("kip320")


def test_features_and_ways_to_truncate_are_switched_in_the_order_told() -> None:
    assert names("kip279-with-fencing") == {"truncate-by-epochs", "fencing"}
    assert names("kip279-with-truncate-to-hw") == {"truncate-to-hw"}
    assert names("kip320-without-fencing-with-fencing") == names("kip320")
    assert names("kraft-without-diverging-guard-with-truncate-by-epochs") == (
        names("kraft") - {"diverging-guard", "truncate-on-fetch"} | {"truncate-by-epochs"}
    )
    assert names("kip279-code-with-longest-log") == {"truncate-by-epochs-2.0", "longest-log"}


def test_the_rules_of_a_release_are_recognised_however_they_are_spelled() -> None:
    assert released_as(version_of("kip320-without-fencing")) is None
    assert released_as(version_of("kip320-without-fencing-with-fencing")) == "kip320"
    newer = "broker-epoch-without-stale-fetch-check"
    assert released_as(version_of(f"kip903-without-{newer}")) == "kraft"
    assert released_as(version_of("kip279-with-truncate-by-epoch")) == "epoch"


BOTH = "kip320-without-fencing-without-truncate-every-epoch"


@pytest.mark.parametrize(
    ("added", "removed", "text"),
    [
        ((), (), "kip320"),
        (("longest-log",), (), "kip320-with-longest-log"),
        ((), ("fencing", "truncate-every-epoch"), BOTH),
        (("longest-log",), ("fencing",), "kip320-without-fencing-with-longest-log"),
    ],
)
def test_what_is_spelled_is_read_back(
    added: tuple[str, ...], removed: tuple[str, ...], text: str
) -> None:
    assert spell("kip320", added, removed) == text
    assert version_of(text).name == text
    assert names(text) == names("kip320") - set(removed) | set(added)


REFUSED = {
    "kip321": "unknown protocol 'kip321'; did you mean kip320",
    "": "unknown protocol ''",
    "paxos": "unknown protocol 'paxos'; known: hw, epoch, kip279, ",
    "kip320-with-speed": "unknown feature 'speed'; known: truncate-to-hw, .*, fencing, ",
    "kip320-without-speed": "unknown feature 'speed'",
    "kip320-with-fencing": "--with fencing: kip320 has it already",
    "kip320-without-elr": "--without elr: kip320 does not have it; it has fencing, ",
    "epoch-without-fencing": "it has none that can be switched",
    "epoch-without-truncate-by-epoch": (
        "a version truncates in one way; say which instead: --with truncate-to-hw, "
    ),
    "kip320-with-diverging-guard": ("has diverging-guard, which only goes with truncate-on-fetch"),
    "kraft-with-truncate-by-epochs": "diverging-guard, which only goes with truncate-on-fetch",
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.items())
def test_what_there_is_not_is_refused_with_what_there_is(text: str, reason: str) -> None:
    with pytest.raises(BadVersion, match=reason):
        version_of(text)


NEEDS: list[tuple[str, str, tuple[str, ...]]] = [
    ("maximal-isr", "alter-partition", ()),
    ("kraft", "alter-partition", ()),
    ("shrink-raises-epoch", "kraft", ("alter-partition",)),
    ("fenced-check", "alter-partition", ()),
    ("broker-epoch", "alter-partition", ()),
    ("broker-epoch", "kraft", ("alter-partition",)),
    ("elr", "alter-partition", ()),
    ("elr", "kraft", ("alter-partition",)),
    ("last-known-leader", "elr", ("alter-partition", "kraft")),
    ("steps-down", "kraft", ("alter-partition",)),
    ("partition-epoch-check", "kraft", ("alter-partition",)),
    ("pending-survives-replay", "kraft", ("alter-partition",)),
    ("stale-fetch-check", "broker-epoch", ("alter-partition", "kraft")),
    ("last-known-leader-fenced", "last-known-leader", ("alter-partition", "kraft", "elr")),
    ("registration-removes", "kraft", ("alter-partition",)),
    ("unclean-mark-kept", "elr", ("alter-partition", "kraft")),
    ("refusal-tries-hw", "alter-partition", ()),
    ("departure-tries-hw", "alter-partition", ()),
    ("moved-log-keeps-epochs", "epoch-on-leading", ()),
    ("completes-when-added", "kraft", ("alter-partition",)),
    ("shrink-waits-for-targets", "completes-when-added", ("alter-partition", "kraft")),
    ("new-directory-empties-elr", "elr", ("alter-partition", "kraft")),
    ("recovers-future-log", "kraft", ("alter-partition",)),
    ("truncation-marks-future-log", "epoch-on-leading", ()),
    ("promotion-compares-epochs", "epoch-on-leading", ()),
    ("recovery-compares-ends", "recovers-future-log", ("alter-partition", "kraft")),
    ("elr-only-replicas", "elr", ("alter-partition", "kraft")),
    ("lost-directory-is-unclean", "elr", ("alter-partition", "kraft")),
    ("coordinator", "alter-partition", ()),
    ("truncate-leaderless", "coordinator", ("alter-partition",)),
]
"""What means nothing without what, and what else that one needs."""


def test_every_need_of_a_feature_has_a_case() -> None:
    needed = {
        (feature.name, needed.name)
        for feature in FEATURES
        for needed in FEATURES
        if feature.needs & needed.bit
    }

    assert {(feature, needed) for feature, needed, _ in NEEDS} == needed


@pytest.mark.parametrize(("feature", "needed", "others"), NEEDS)
def test_a_feature_is_refused_without_what_it_needs(
    feature: str, needed: str, others: tuple[str, ...]
) -> None:
    lacking = spell("hw", (feature, *others), ())

    with pytest.raises(BadVersion, match=rf"(has \S+ without {needed}, and \S+ means nothing)"):
        version_of(lacking)


def with_needs(feature: Any) -> set[str]:
    """Its name, and of all that it needs, directly or not."""
    needed = (each for each in FEATURES if feature.needs & each.bit)
    return {feature.name}.union(*map(with_needs, needed))


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_a_feature_goes_with_all_that_it_needs(feature: Any) -> None:
    truncation = next(
        (name for name, value in TRUNCATIONS.items() if value in feature.needs_truncation),
        "truncate-to-hw",
    )
    added = sorted({truncation} | with_needs(feature))

    assert names(spell("epoch", tuple(added), ())) == set(added)


@pytest.mark.parametrize("removed", ["alter-partition", "kraft"])
def test_what_others_need_is_not_removed_alone(removed: str) -> None:
    with pytest.raises(BadVersion, match=f"without {removed}, and"):
        version_of(f"elr-without-{removed}")


def table(version: str, **options: Any) -> set[str]:
    return set(contents(settings_of(Environment(**options), version_of(version))))


ALWAYS = {
    "Produce",
    "SendFetch",
    "LeaderFetch",
    "RecvFetch",
    "RecvOutOfRange",
    "ShrinkIsr",
    "Checkpoint",
    "Crash",
    "Restart",
    "Fence",
    "Move",
    "Learn",
}
ASKS = {"OffsetForLeaderEpoch"}
OF_VERSION = {
    "hw": set(),
    "epoch": ASKS,
    "kip279": ASKS,
    "kip279-code": ASKS,
    "kip320-code": ASKS,
    "kip320": ASKS,
    "truncate-on-fetch": {"RecvDiverging"},
    "kraft": {"RecvDiverging", "AlterPartition", "ShrinkTogether"},
    "kip903": {"RecvDiverging", "AlterPartition", "ShrinkTogether"},
    "elr": {"RecvDiverging", "AlterPartition", "ShrinkTogether"},
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_takes_part_in_the_steps_that_its_rules_are_about(version: str) -> None:
    assert table(version) == ALWAYS | OF_VERSION[version]


def test_zookeeper_may_write_the_isr_through_the_controller_too() -> None:
    assert "AlterPartition" in table("kip320-with-alter-partition")
    assert "AlterPartition" not in table("truncate-on-fetch")


OPTIONS: list[tuple[dict[str, Any], set[str]]] = [
    ({"parked_fetches": True}, {"WakeParked"}),
    ({"requests_survive": True}, {"StrayFetch", "LoseStray"}),
    ({"late_metadata": True}, {"LearnLate"}),
    ({"consumer": True}, {"Consume"}),
    ({"election_order": "any"}, {"FenceAndElect"}),
    ({"power_losses": 1}, {"PowerLoss"}),
    ({"lost_disks": 1}, {"DiskLoss"}),
    ({"lost_checkpoints": 1}, {"CheckpointLoss"}),
    ({"directory_moves": 1}, {"DirectoryMove"}),
    (
        {"directory_moves": 1, "future_log": True},
        {"StartFutureLog", "CopyFutureLog", "TruncateFutureLog", "PromoteFutureLog"},
    ),
    ({"failed_directories": 1}, {"DirectoryFailure"}),
    ({"taken_directories": 1}, {"DirectoryTaken"}),
    ({"session_expiries": 1}, {"SessionExpiry", "Register"}),
    ({"shutdowns": 1}, {"BeginShutdown", "Stop"}),
    ({"late_reads": True}, {"ReadLate"}),
    ({"caught_up_wait": True}, {"LagTimePasses", "LearnBrokers"}),
    ({"late_booking": "by-replica"}, {"CheckFetch", "BookFetch"}),
    ({"unfenced_registration": True}, set()),
]


@pytest.mark.parametrize(("options", "added"), OPTIONS, ids=lambda value: "-".join(sorted(value)))
def test_an_environment_has_the_steps_that_it_lets_happen(
    options: dict[str, Any], added: set[str]
) -> None:
    for version in VERSIONS:
        more = table(version, **options) - table(version)
        assert more - {"AssignDirectory"} == added
        assert table(version) <= table(version, **options)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_reassignment_can_be_cancelled_since_2_4_and_is_completed_apart_with_zookeeper(
    version: str,
) -> None:
    expected = {"Reassign"}
    if "changeable-reassignment" in version_of(version).feature_names:
        expected |= {"CancelReassignment"}
    if "kraft" not in version_of(version).feature_names:
        expected |= {"CompleteReassignment"}

    assert table(version, reassignments=1) - table(version) == expected


CHOSEN = {"ReassignAndElect", "CancelAndElect", "AlterAndElect"}


def test_a_reassignment_leaves_a_choice_of_leader_only_in_any_order() -> None:
    both = table("elr", reassignments=1, election_order="any")

    assert both - table("elr", reassignments=1) == {"FenceAndElect", *CHOSEN}
    assert not table("elr", election_order="any") & CHOSEN


@pytest.mark.parametrize("version", VERSIONS)
def test_an_answer_is_heard_late_only_where_the_controller_is_asked(version: str) -> None:
    asks = "AlterPartition" in table(version)

    assert table(version, late_answers=True) - table(version) == ({"HearAnswer"} if asks else set())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_record_is_replayed_late_only_where_there_is_a_metadata_log(version: str) -> None:
    has_log = "kraft" in version_of(version).feature_names

    assert table(version, late_replay=True) - table(version) == ({"Replay"} if has_log else set())


def test_a_directory_is_assigned_and_an_elr_emptied_only_where_there_is_one() -> None:
    moves = {"directory_moves": 1, "future_log": True}

    assert [v for v in VERSIONS if "AssignDirectory" in table(v, **moves)] == ["elr"]
    assert [v for v in VERSIONS if "WriteMinIsr" in table(v, min_isr_writes=1)] == ["elr"]


def test_a_wrong_mark_is_left_only_where_it_is_looked_at_and_not_kept() -> None:
    assert table("elr-without-unclean-mark-kept") - table("elr") == {"MarkClean"}
    assert not [version for version in VERSIONS if "MarkClean" in table(version)]


def test_every_step_of_the_family_is_in_some_table_and_in_order() -> None:
    every = [action.name for action in ACTIONS]
    everything = {name: value for options, _ in OPTIONS[:4] for name, value in options.items()}
    of_all = contents(settings_of(Environment(**everything), version_of("elr")))
    possible = ALWAYS.union(*OF_VERSION.values(), *(added for _, added in OPTIONS))

    possible |= {"Reassign", "CancelReassignment", "CompleteReassignment"} | CHOSEN
    assert set(every) == possible | {
        *("HearAnswer", "Replay", "MarkClean", "AssignDirectory", "WriteMinIsr")
    }
    assert list(of_all) == [name for name in every if name in of_all]
