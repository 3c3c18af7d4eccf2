"""Entries C25 on: single tickets of Kafka about single releases, each rule a feature.

Tickets that break no claim are included: their entry says so, at its bounds.
"""

from __future__ import annotations

from waterline.checker.kafka.scenarios.scenario import (
    SINCE_2_1,
    THREE,
    THREE_ONE_RECORD,
    TWO,
    TWO_ONE_RECORD,
    Scenario,
)

TICKETS = (
    Scenario(
        number="C25",
        name="unfenced-sessions",
        title="Within a fetch session fetches carry no leader epoch, and are not fenced",
        source="KAFKA-9338 (2.1 to 2.4)",
        story="A leader of the past takes a fetch of a follower that has gone on to a later epoch: "
        "the session, which all but the first fetches belong to, does not keep the epoch that KIP-"
        "320 put into them. The leader commits by it, and acknowledges what the next one has not.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "moves": 2, "late-metadata": True},
        falls=("kip320-code", "kip320-without-session-fencing"),
        stands=SINCE_2_1[1:],
    ),
    Scenario(
        number="C26",
        name="all-logs",
        title="Two replicas part although each agrees with the leader that it knows",
        source="KIP-320; found by a claim about all logs",
        story="Unfenced, a follower that has not heard of the new leader goes by the old one, and "
        "their high watermarks cover records that the new one does not have. The current leader "
        "agrees with its own followers all the while.",
        claim="log_matching",
        options={**THREE, "restarts": 0, "moves": 2},
        falls=("kip320-without-fencing", "hw"),
        stands=("kip320", "truncate-on-fetch"),
    ),
    Scenario(
        number="C27",
        name="endless-epoch-question",
        title="A follower asks for an epoch's end for ever",
        source="KAFKA-10706 (2.0.1 to 2.6.0)",
        story="A broker led and wrote nothing: the epoch is in its cache, at its log end. As a "
        "follower it is told to cut there, which removes no record, and until 2.6.1 nothing of "
        "the cache either. So it asks the same again, and never fetches.",
        claim="no_endless_question",
        options={"epochs": 4, "restarts": 0, "moves": 4},
        falls=("kip320-code", "kip320-without-truncation-clears-epochs"),
        stands=("kip279", "kip279-code", "kip320"),
        remark="It ends when leadership moves. No record is lost by it, and nothing acknowledged; "
        "the broker is out of the ISR until then.",
    ),
    Scenario(
        number="C28",
        name="unheard-answer",
        title="The controller has granted a member that the leader does not count yet (a mutant)",
        source="KIP-497; replication_quorum of KIP-966",
        story="As C8, seen earlier: while the answer to AlterPartition is on its way, the ISR has "
        "a candidate that a leader without the maximal ISR does not wait for.",
        claim="replication_quorum",
        options={**TWO, "restarts": 2, "late-answers": True},
        falls=("kraft-without-maximal-isr", "kip903-without-maximal-isr"),
        stands=("kraft", "kip903", "elr"),
    ),
    Scenario(
        number="C29",
        name="unfenced-registration",
        title="A broker registers after a crash before it was fenced, and stays in the ISR",
        source="KAFKA-18106, KAFKA-18635 (before 4.0)",
        story="The session of a broker that crashed is over, but it is not fenced yet; or a new "
        "controller knows of no session. It registers anew, in the ISR as before, and has lost "
        "what was not on its disk. Since 4.0 a registration takes it out.",
        claim="acknowledged_durable",
        options={
            **TWO_ONE_RECORD,
            "restarts": 1,
            "power-losses": 1,
            "min-insync-replicas": 2,
            "unfenced-registration": True,
        },
        falls=("elr-without-registration-removes", "kip903", "kraft"),
        stands=("elr",),
    ),
    Scenario(
        number="C30",
        name="wrong-clean-mark",
        title="A broker that ends while it recovers is taken for shut down properly",
        source="KAFKA-15375 (before 3.5.2 and 3.6)",
        story="A machine loses power and records. The broker starts, and ends before its log is "
        "recovered; on its way out it writes the mark of a clean shutdown. So it stays eligible, "
        "and leads without what it lost.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "power-losses": 1, "min-insync-replicas": 2},
        falls=("elr-without-unclean-mark-kept",),
        stands=("elr",),
        remark="Eligible leader replicas, which go by the mark, came in 4.0: no release had both.",
    ),
    Scenario(
        number="C31",
        name="fenced-last-leader",
        title="Kafka 4.0 elects a last known leader that is down",
        source="KAFKA-19522 (4.0)",
        story="ISR and ELR are empty, and the last leader is fenced. 4.0 elects it all the same: "
        "the ISR is a broker that is not there, and others that are back wait for it.",
        claim="valid_isr",
        options={
            "records": 1,
            "epochs": 4,
            "restarts": 3,
            "min-insync-replicas": 2,
        },
        falls=("elr-with-last-known-leader-with-last-known-leader-fenced",),
        stands=("elr-with-last-known-leader",),
    ),
    Scenario(
        number="C32",
        name="two-min-isrs",
        title="Controller and brokers have different min.insync.replicas",
        source="KAFKA-16540",
        story="The controller's is the larger one. It keeps as eligible who left an ISR that is "
        "large enough for the leader, which commits without it. A crash later it is elected.",
        claim="acknowledged_durable",
        options={
            "replicas": 3,
            "records": 1,
            "restarts": 1,
            "min-insync-replicas": 2,
            "controller-min-insync-replicas": 3,
        },
        falls=("elr", "elr-with-last-known-leader"),
        stands=("kip903",),
        remark="4.0 takes min.insync.replicas of brokers away where ELR is enabled. It clears the "
        "ELRs of a topic whose value is written, and all of them where the cluster's is, also the "
        "same value. With equal ones elr stands.",
    ),
    Scenario(
        number="C33",
        name="late-read",
        title="A fetch answer brings records that were written after it",
        source="KAFKA-18723 (up to 3.9.0, and 4.0.0)",
        story="An answer refers to its records by their place in the leader's file. Before they "
        "are sent that broker has lost leadership, truncated, and appended what the next leader "
        "wrote. A slow follower appends them on top of a record that the next leader does not "
        "have, and its last epoch is right: it never truncates.",
        claim="no_divergence_below_hw",
        options={
            "replicas": 3,
            "records": 4,
            "epochs": 1,
            "restarts": 0,
            "moves": 1,
            "late-reads": True,
        },
        falls=("kip320",),
        stands=("kip320-with-append-checks-epoch",),
        remark="Every release up to 3.9.0 reads late, and 4.0.0. A space of 23 million states. "
        "With append-checks-epoch it holds for one move of leadership, and not for two: C45.",
    ),
    Scenario(
        number="C34",
        name="stale-fetch-after-reboot",
        title="An old fetch overwrites what the leader knows of a broker that is back",
        source="KAFKA-15221 (3.5, 3.6)",
        story="A broker has come back with an empty disk, registered, and fetched. Its fetch of "
        "before arrives last, and the leader takes the old offset for what it has. The request to "
        "add it carries the epoch of the new fetch, so the controller agrees.",
        claim="candidates_complete",
        options={
            "records": 1,
            "restarts": 1,
            "lost-disks": 1,
            "disk-loss": "out-of-sync",
            "requests-survive": True,
        },
        falls=("kip903-without-stale-fetch-check",),
        stands=("kip903", "elr"),
        remark="The race that the ticket tells is another of the same cause: there the new fetch "
        "comes while the old one is being handled, between the check of its broker epoch and the "
        "request, which then carries the new epoch. Here a fetch is handled in one step.",
    ),
    Scenario(
        number="C35",
        name="hw-above-log",
        title="Until 2.4 the high watermark outlives truncation, and falls to 0",
        source="KAFKA-8457 (2.4.0), Replica.convertHWToLocalOffsetMetadata",
        story="A follower that truncates keeps a high watermark above its log end until it is told "
        "another. If it is elected before that, it looks for that offset in its log, finds none, "
        "and begins at 0: consumers see nothing of what they have read.",
        claim="hw_monotone",
        options={**TWO, "restarts": 2, "unclean-leader-election": True},
        falls=("kip320-code", "kip320-without-truncation-lowers-hw", "epoch", "hw"),
        stands=SINCE_2_1[1:],
    ),
    Scenario(
        number="C36",
        name="shrunk-although-caught-up",
        title="Until 2.1 a follower that has everything may leave the ISR (nothing is lost by it)",
        source="KAFKA-7152",
        story="Where nothing is written a follower that fetches too rarely is taken out although "
        "it has all. That is availability: no record is lost by it at these bounds.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "moves": 2},
        falls=(),
        stands=("kip320-without-shrink-only-lagging", "kip320"),
    ),
    Scenario(
        number="C37",
        name="refused-fetch",
        title="Until 2.4 a fetch that is refused makes the leader forget (nothing is lost by it)",
        source="KAFKA-8400",
        story="A leader that refuses a fetch, out of range, takes the log end of its follower for "
        "unknown. That keeps its high watermark where it is: no record is lost at these bounds.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "moves": 2},
        falls=(),
        stands=("kip320-without-refusal-tells-nothing", "kip320"),
    ),
    Scenario(
        number="C45",
        name="late-read-older-epoch",
        title="A fetch answer brings records of an older epoch, which KAFKA-18723 lets through",
        source="found by this model; UnifiedLog.hasHigherPartitionLeaderEpoch (3.9.1 to 4.4.0)",
        story="As C33, and the answering broker has truncated to follow a leader of before, whose "
        "records are older than the follower's last one. They are of no higher epoch than the "
        "follower's own, and so it appends them. Their entry in its epoch cache takes the place "
        "of the newer one: its last epoch is the leader's, and it never truncates.",
        claim="no_divergence_below_hw",
        options={
            "replicas": 3,
            "records": 4,
            "epochs": 2,
            "restarts": 0,
            "moves": 2,
            "min-insync-replicas": 3,
            "late-reads": True,
        },
        falls=("kip320-with-append-checks-epoch-with-hw-needs-min-isr",),
        remark="It takes 3 replicas, 4 records and 2 moves. With a third move the follower is "
        "elected, and an acknowledged record is lost, under truncate-on-fetch in 29 steps at the "
        "least; examples/scripts/late-read-older-epoch.steps does it in the rules of 4.2. No "
        "broker fails, and no election is unclean. append-checks-older-epoch, the other half of "
        "the check, makes it hold at these bounds, explored once without Checkpoint, which "
        "nothing reads where no broker restarts: 17,835,263 states. With three moves it does not: "
        "records of an epoch between the follower's last and the one that it knows pass both "
        "checks (examples/scripts/late-read-between-epochs.steps). A follower cannot tell those "
        "from its leader's. Only the broker that answers can, which has truncated since. A trace "
        "of 34 steps was seen on 4.2.0 and 4.3.1: a consumer read m3 where m1 had been "
        "acknowledged (docs/confirm.md).",
    ),
    Scenario(
        number="C48b",
        name="directory-move-loss",
        title="A log is moved to another directory, and a follower truncates what was acknowledged",
        source="KAFKA-20961, KAFKA-15608 (open; 2.0.1 to 2.7); the loss found by this model",
        story="The leader's log is moved before it has written in its epoch. The copy's epoch "
        "cache lacks that epoch. A follower that led in between, and wrote nothing, asks for the "
        "end of its last epoch; the leader knows none so late and answers undefined. The follower "
        "falls back on its high watermark, which lags, and is elected next.",
        claim="acknowledged_durable",
        options={**TWO_ONE_RECORD, "restarts": 0, "moves": 3, "directory-moves": 1},
        falls=("kip320", "kip320-code"),
        stands=(
            "kip279",
            "kip320-with-moved-log-keeps-epochs",
            "truncate-on-fetch",
            "kraft",
            "kip903",
            "elr",
        ),
        remark="Until 2.0 a leader makes no entry before it writes. Since 2.8 the follower learns "
        "it by its fetches and keeps its log: what is left is C48. Seen on 2.1.1: m1 was "
        "acknowledged, the follower truncated it, and a consumer of that one, which led then, read "
        "nothing.",
    ),
    Scenario(
        number="C46",
        name="producers-kept-waiting",
        title="Up to 0.9 a producer is acknowledged by another record at its offset",
        source="KAFKA-2960 (up to 0.9.0.1)",
        story="A leader appends a record, and becomes a follower, which truncates it. Its producer "
        "gets no answer: the request stays, and needs the high watermark to reach an offset. The "
        "broker leads again within the request's timeout, takes another record at this offset, "
        "and commits that. The first producer has its acknowledgement too.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 0, "moves": 2},
        falls=(
            "hw-with-keeps-waiting-producers",
            "hw-with-fresh-remote-leo-with-keeps-waiting-producers",
        ),
        stands=("hw", "hw-with-fresh-remote-leo"),
        remark="No broker fails. 0.10.0.0 answers the waiting producers with an error.",
    ),
    Scenario(
        number="C47",
        name="late-booking",
        title="A fetch that was checked in one epoch is noted in a later one",
        source="Partition.fetchRecords, updateFollowerFetchState; no ticket is known",
        story="A leader checks a fetch under one lock, and notes its offset under another. In "
        "between the follower truncates under another leader, and the first leads again without "
        "having heard of that. It has forgotten what its followers had, as the repairs of C21 say. "
        "Then the offset of before is noted, and a record counts as replicated that only the "
        "leader has.",
        claim="acknowledged_durable",
        options={**THREE_ONE_RECORD, "restarts": 0, "moves": 3, "late-booking": "by-replica"},
        falls=(
            "elr-with-fresh-remote-leo",
            "elr-with-fresh-remote-leo-after-gap",
            "elr-with-fresh-replicas",
        ),
        remark="With fresh-replicas the offset goes to an object that was replaced. No high "
        "watermark is made of it, but the follower is proposed for the ISR by it. With "
        "--late-booking by-epoch all three hold. docs/losses.md has the verdicts.",
    ),
    Scenario(
        number="C50",
        name="record-after-its-answer",
        title="A leader that replays a record after its answer forgets whom it has asked to add",
        source="found by this model; KRaft, KAFKA-13790 closed a neighbour (3.3.0)",
        story="A leader hears of a granted change of its ISR by the answer and by the metadata "
        "log. It asks for a follower to be added, and replays the record of the change before. It "
        "takes that for the state of now, and counts the follower no more. The request is on its "
        "way and is granted. What the leader commits until it hears of that, the follower lacks; "
        "the leader dies, and the follower is elected.",
        claim="no_committed_loss",
        options={"restarts": 1, "late-replay": True, "caught-up-wait": True},
        falls=("elr", "kip903-without-shrink-raises-epoch"),
        stands=(
            "elr-with-pending-survives-replay",
            "kip903-without-shrink-raises-epoch-with-pending-survives-replay",
        ),
        remark="One crash, no unclean election. All KRaft releases have the code, up to 4.4.0; "
        "until 3.5 it takes three replicas. Seen on 4.4.0, with the harness as the controller "
        "(docs/losses.md).",
    ),
)
