"""Entries C51 to C54: what goes wrong in Apache Fluss, whose rules are older than KIP-101."""

from __future__ import annotations

from waterline.checker.kafka.scenarios.scenario import (
    ALL,
    ONE,
    SINCE_2_1,
    THREE,
    TWO,
    TWO_ONE_RECORD,
    Scenario,
)
from waterline.model.message.versions import spell

_FLUSS = ("fluss-0.9", "fluss-main")
_OWN_HW = ("follower-hw-at-end",)

OF_FLUSS = (
    Scenario(
        number="C51",
        name="leaderless-truncation",
        title="The last tablet server in sync comes back and truncates what it had acknowledged",
        source="found by this model; ReplicaManager.makeFollowers",
        story="The coordinator cannot elect anybody once the last member of the ISR has crashed: "
        "it writes that nobody leads. The tablet server registers again, is sent that state first, "
        "takes it for an order to follow, and truncates to its high watermark of the last "
        "checkpoint. Then it is elected, and its log lacks what it had acknowledged.",
        claim="acknowledged_durable",
        options={**ONE, "restarts": 1},
        falls=_FLUSS,
        stands=(*(spell(version, (), ("truncate-leaderless",)) for version in _FLUSS), *ALL[:-1]),
        remark="One replica is the default of Fluss. With more of them the last in the ISR has to "
        "crash. Kafka does not truncate where no leader is known. Seen on 0.9.1 "
        "(docs/results/fluss.md).",
    ),
    Scenario(
        number="C52",
        name="clean-reassignment",
        title="After a clean reassignment of leadership a follower in sync has another record",
        source="Fluss #4269, #673, #674",
        story="A follower takes the end of its own log for the high watermark. It has a record of "
        "the former leader that nobody else has, and truncates nothing as it follows the next one, "
        "which has written another record at that offset. It fetches from its end, and counts as "
        "in sync.",
        claim="no_divergence_below_hw",
        options={**THREE, "restarts": 0, "moves": 1},
        falls=_FLUSS,
        stands=(spell("fluss-0.9", (), _OWN_HW), "hw", "kip320"),
        remark="In the shortest way the new leader shuts both others out of the ISR. Where the "
        "ISR keeps all three it takes 16 steps. Seen on 0.9.1, both of them "
        "(docs/results/fluss.md).",
    ),
    Scenario(
        number="C53",
        name="loss-by-moves-alone",
        title="An acknowledged record is lost by leader moves alone",
        source="found by this model; Fluss #4269, KIP-320",
        story="Leadership moves away and back before a follower has heard of either. An answer of "
        "the first term brings it a record that its leader has truncated meanwhile. Its next fetch "
        "names no epoch: the leader takes it for an acknowledgement of the record that it has "
        "written at that offset since, and acknowledges that to the producer. The follower leads "
        "next, without it.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 0, "moves": 3},
        falls=_FLUSS,
        stands=SINCE_2_1,
        remark="No crash, acks=all. Kafka before 2.1 loses by moves alone as well, by the ways of "
        "C1b and C6. With fencing alone Fluss still does, after 14 steps; with KIP-279 too it does "
        "not. Seen on 0.9.1 (docs/results/fluss.md).",
    ),
    Scenario(
        number="C54",
        name="new-leader-shows-its-end",
        title="A new leader shows consumers what nobody else has, and the next one lacks it",
        source="found by this model; Fluss #676 for #674",
        story="A follower takes the end of its own log for the high watermark. As it becomes "
        "leader consumers may read all that it has, also a record that no other replica has "
        "fetched from it. Leadership moves on, and the record is gone.",
        claim="no_committed_loss",
        options={**TWO_ONE_RECORD, "restarts": 0, "moves": 2},
        falls=_FLUSS,
        stands=(spell("fluss-0.9", (), _OWN_HW), "hw", "epoch", "kip320"),
        remark="Nothing acknowledged is lost by it: a consumer has read what no log keeps. Seen on "
        "0.9.1 (docs/results/fluss.md).",
    ),
)
