"""Entries C38 to C44 and C48: partitions that do not come back by themselves, stuck brokers.

Their claims are about recovery and about whole behaviours. No record need be lost.
"""

from __future__ import annotations

from waterline.checker.kafka.scenarios.scenario import (
    BEFORE_2_1,
    SINCE_2_1,
    TWO,
    TWO_ONE_RECORD,
    Scenario,
)

COMEBACKS = (
    Scenario(
        number="C38",
        name="no-way-to-a-leader",
        title="The last replicas in sync crash, and nobody can lead again",
        source="KIP-966; KAFKA-15584",
        story="With ELR the last member leaves the ISR like any other, and who comes back from a "
        "crash leaves the ELR. When all of both have crashed nobody is left to be elected, though "
        "every broker runs again and has all of its records.",
        claim="leader_again",
        options={**TWO_ONE_RECORD, "restarts": 2},
        falls=("elr",),
        stands=("elr-with-last-known-leader", "kip903", "kraft", "kip320", "hw"),
        remark="Kafka has the last known leader since 4.0, so that no release shows it; known from "
        "the text of KIP-966. Without ELR the last member stays in the ISR, and leads again.",
    ),
    Scenario(
        number="C39",
        name="unclean-way-to-a-leader",
        title="An unclean election always has a way back to a leader",
        source="KIP-966, unclean.leader.election.enable",
        story="As C38, where the topic allows unclean elections: whoever is back first leads.",
        claim="leader_again",
        options={**TWO_ONE_RECORD, "restarts": 2, "unclean-leader-election": True},
        falls=(),
        stands=("elr", "kip903", "kip320", "hw"),
        remark="What that leader lacks is lost: C11. There is nothing to replay on brokers, whose "
        "controller is the harness.",
    ),
    Scenario(
        number="C40",
        name="stuck-below-min-isr",
        title="A record that was appended in time is not answered below min.insync.replicas",
        source="KAFKA-15583 (3.7.0), KIP-966",
        story="The leader has appended a record while its ISR was large enough, as far as it knew. "
        "Then the other broker is gone. Before 3.7 the leader committed it alone and answered "
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND; now its high watermark waits for somebody to come back, "
        "and so does the producer.",
        claim="producers_answered",
        options={**TWO_ONE_RECORD, "restarts": 1, "min-insync-replicas": 2},
        falls=("elr", "kip903-with-hw-needs-min-isr"),
        stands=("elr-without-hw-needs-min-isr", "kip903", "kip320"),
        remark="As KIP-966 wants it. A producer learns of it by a timeout. Seen on 3.9.1 with "
        "ZooKeeper, where m1 waited for as long as anybody looked, 20 s; 2.8.2 answers "
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND at once (docs/confirm.md).",
    ),
    Scenario(
        number="C41",
        name="exit-again-and-again",
        title="A follower exits whenever it fetches, however often it is started",
        source="KAFKA-7414 (2.0.1)",
        story="The leader has lost its log in a power loss and leads all the same. Its follower "
        "has more, finds its offset out of range, and ends its process; started again it does the "
        "same, until the leader has written as much.",
        claim="isr_whole_again",
        options={**TWO_ONE_RECORD, "restarts": 1, "power-losses": 1},
        falls=("hw", *BEFORE_2_1),
        stands=("kip279-with-truncate-out-of-range", *SINCE_2_1),
        remark="Seen on 0.10.2.2 and 1.1.1: started three times in 20 s, and gone each time. 2.0.1 "
        "truncates, and is in sync a second later (docs/confirm.md).",
    ),
    Scenario(
        number="C42",
        name="never-in-sync-again",
        title="A follower that asks for an epoch for ever never comes back into the ISR",
        source="KAFKA-10706 (2.0.1 to 2.6.0)",
        story="As C27, of which this is what an operator sees: the broker runs, its leader stays, "
        "and it is not in sync until leadership moves.",
        claim="live_broker_rejoins",
        options={**TWO, "restarts": 1, "moves": 2},
        falls=("kip320-code", "kip320-without-truncation-clears-epochs"),
        stands=("kip279", "kip320"),
        remark="Seen on 2.0.1 and 2.1.1: 140 questions in 20 s, and no fetch. On 2.8.2 it is in "
        "sync within a second (docs/confirm.md).",
    ),
    Scenario(
        number="C43",
        name="refused-expansion",
        title="A refused AlterPartition leaves the high watermark where it is",
        source="found by this model; KIP-497, KIP-841, KAFKA-13091",
        story="The high watermark waits for a follower that the leader has asked to add. The "
        "follower dies, and the controller refuses. The leader alone is in sync again, and nobody "
        "tries the high watermark: what was produced meanwhile is not acknowledged before "
        "something is appended, or a fetch moves a follower's log end.",
        claim="producers_answered",
        options={**TWO_ONE_RECORD, "restarts": 2},
        falls=("kraft", "kip903", "elr"),
        stands=("kraft-without-fenced-check", "kip320"),
        remark="Seen on six releases under KRaft, 3.3.2 to 4.2.0, with AlterPartition held until "
        "the follower was fenced: m1 waited for as long as anybody looked, 20 and 40 s, with three "
        "brokers also while a follower in sync that had it went on fetching, for since KAFKA-8841 "
        "(2.4) a fetch from the same offset does not try the high watermark (with three replicas "
        "too, docs/results/recovery.md). It ends when a record is appended or the follower is "
        "back; or when the producer sends m1 again, which by default it does after "
        "request.timeout.ms, 30 s. So the last record of a quiet partition is late, and nothing is "
        "lost. AlterPartition has to be "
        "on its way, milliseconds as a rule, when its follower is fenced or begins to shut down. "
        "KAFKA-13091 is the same after a request that was granted (docs/confirm.md).",
    ),
    Scenario(
        number="C49",
        name="waits-for-the-departed",
        title="A high watermark that waits for who caught up is not tried when that one is gone",
        source="found by this model; KAFKA-4485 (0.10.2), KAFKA-15021 (3.6.0), KIP-903 (3.5.0)",
        story="Outside the ISR a leader waits as well for a replica that caught up lately and that "
        "its metadata has as alive: it will join in a moment. It dies instead, without having "
        "been proposed. The lag time passes, and the leader hears that the broker is fenced: "
        "neither tries the high watermark.",
        claim="producers_answered",
        options={**TWO_ONE_RECORD, "restarts": 2, "caught-up-wait": True},
        falls=("kraft", "kip903", "elr", "elr-with-refusal-tries-hw"),
        stands=("kip320", "elr-with-refusal-tries-hw-with-departure-tries-hw"),
        remark="The sibling of C43 without a refusal. To try the high watermark at a refusal alone "
        "repairs C43 only where this wait is left out; with both tries nothing is left. With "
        "ZooKeeper the controller raises the epoch with each member that it takes out of the ISR, "
        "and in a new epoch nobody outside the ISR has ever caught up. Seen on 4.4.0 under KRaft: "
        "m1 waited for as long as anybody looked, and was acknowledged within a second of the next "
        "record.",
    ),
    Scenario(
        number="C44",
        name="divergence-for-good",
        title="Logs that have diverged stay so, and nobody notices",
        source="KIP-101, KIP-279; KAFKA-3919",
        story="Two replicas lead in turn by unclean elections. The follower's log is as long as "
        "its leader's and has another record: it fetches from its end, and is told nothing.",
        claim="divergence_ends",
        options={
            **TWO,
            "restarts": 1,
            "restart-detection": "none",
            "unclean-leader-election": True,
        },
        falls=("hw", "epoch", "kip279", "kip279-code"),
        stands=SINCE_2_1,
        remark="Seen on 0.10.2.2 and 0.11.0.3: over 140 fetches in 20 s, and the logs differ "
        "still. On 2.1.1 the follower truncates within a second (docs/confirm.md).",
    ),
    Scenario(
        number="C48",
        name="directory-move",
        title="A log is moved to another directory, and a follower is out of range for ever",
        source="KAFKA-20961, KAFKA-15608 (open; 2.8 on)",
        story="The leader's log is moved before it has written in its epoch. The copy's epoch "
        "cache lacks that epoch. A follower that has led before, and wrote nothing, fetches with "
        "that last epoch, which the leader cannot place: OFFSET_OUT_OF_RANGE. The follower is no "
        "longer than its leader, truncates nothing, and asks the same again.",
        claim="live_broker_rejoins",
        options={**TWO_ONE_RECORD, "restarts": 0, "moves": 2, "directory-moves": 1},
        falls=("truncate-on-fetch", "kraft", "kip903", "elr"),
        stands=("kip279", "kip320", "elr-with-moved-log-keeps-epochs"),
        remark="It ends when a record is appended or leadership moves. No record is lost by it. "
        "Until 2.7 the follower asks where its epoch ends, and truncates to its high watermark: "
        "C48b. Found by an operator (KAFKA-15608), not by this model. Seen on 4.4.0 under KRaft: "
        "the follower asked 486 times in 20 s, and was in sync within a second of the next record.",
    ),
)
