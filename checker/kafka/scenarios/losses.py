"""Entries C1 to C24: how truncation, elections, ISR and settings lose records or let logs part.

Oldest first. Bounds are the smallest known to show it; what stands is explored in full at the same.
"""

from __future__ import annotations

from waterline.checker.kafka.scenarios.scenario import (
    ALL,
    BEFORE_2_1,
    SINCE_0_11,
    SINCE_2_1,
    THREE,
    THREE_ONE_RECORD,
    TWO,
    TWO_ONE_RECORD,
    TWO_THREE_RECORDS,
    Scenario,
)

LOSSES = (
    Scenario(
        number="C1",
        name="kip-101-loss",
        title="A follower restarts and truncates what its leader has committed",
        source="KIP-101, scenario 1; KAFKA-1211",
        story="A record is on both replicas and committed, but the follower's high watermark lags "
        "by a round trip. It restarts quickly enough not to be noticed, and truncates to that high "
        "watermark before it fetches again. The leader crashes, the follower is still in the ISR "
        "and is elected: the record is gone from the one that leads.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 2},
        falls=("hw",),
        stands=SINCE_0_11,
    ),
    Scenario(
        number="C1b",
        name="kip-101-loss-by-moves",
        title="The same by moving leadership, without a restart",
        source="KIP-101",
        story="Leadership moves to the follower and back. On its way back the follower truncates "
        "to a high watermark that lags, and the leader then crashes.",
        claim="acknowledged_durable",
        options={
            **TWO_ONE_RECORD,
            "restarts": 1,
            "moves": 2,
            "restart-detection": "none",
        },
        falls=("hw",),
        stands=SINCE_0_11,
    ),
    Scenario(
        number="C1c",
        name="weak-period",
        title="The same with three replicas, where every crash is noticed",
        source="KAFKA-1211",
        story="The leader of three crashes. The other follower truncates to its high watermark to "
        "follow the new leader, which crashes before anything was fetched again. Whoever truncated "
        "is still in the ISR.",
        claim="acknowledged_durable",
        options={**THREE_ONE_RECORD, "restarts": 2, "restart-detection": "none"},
        falls=("hw",),
        stands=SINCE_0_11,
    ),
    Scenario(
        number="C2",
        name="kip-101-divergence",
        title="Logs diverge after a power loss",
        source="KIP-101, scenario 2; KAFKA-3919",
        story="A machine loses records that were not on its disk yet, leads all the same, and "
        "writes others at their offsets. A follower whose high watermark covers the old ones keeps "
        "them.",
        claim="no_divergence_below_hw",
        options={**TWO, "restarts": 1, "power-losses": 1},
        falls=("hw", *BEFORE_2_1),
        stands=SINCE_2_1,
        remark="epoch and kip279 diverge here too, not by how they truncate: a follower that has "
        "not learned of the new epoch has its old fetch taken (KAFKA-7164, KIP-320).",
    ),
    Scenario(
        number="C3",
        name="unclean-cover-up",
        title="After two unclean elections the answer to the epoch question covers up a difference",
        source="KIP-101, appendix; KIP-279",
        story="Two replicas lead in turn, each without the other's records. One question tells the "
        "follower where the leader's next larger epoch begins, which says nothing about records "
        "below that only one of them has.",
        claim="no_divergence_below_hw",
        options={**TWO, "restarts": 2, "unclean-leader-election": True},
        falls=(
            "epoch-with-epoch-on-leading",
            "epoch",
            "kip279-code-with-epoch-on-leading",
        ),
        stands=("kip279-with-epoch-on-leading", *SINCE_2_1),
        remark="kip279 alone falls at these bounds for another reason, C6u: so it is told apart "
        "with KAFKA-7415 repaired in both.",
    ),
    Scenario(
        number="C4",
        name="kip-279",
        title="Fast failover: the leader never saw the epoch it is asked about",
        source="KIP-279, KAFKA-6361",
        story="Leadership moves away and back before the old leader has noticed. It goes on in a "
        "later epoch with a record of its own. The other one asks where its epoch ends, of which "
        "the leader knows nothing: the answer is where the next larger begins, and that lets a "
        "record stand that the leader does not have.",
        claim="no_divergence_below_hw",
        options={**TWO_THREE_RECORDS, "restarts": 0, "moves": 2},
        falls=("epoch", "hw"),
        stands=("kip279", *SINCE_2_1),
    ),
    Scenario(
        number="C4b",
        name="kip-279-as-released",
        title="Kafka 2.0.0 keeps a log that has no epoch in common with its leader's",
        source="KIP-279 as in 2.0.0, AbstractFetcherThread.getOffsetTruncationState",
        story="As C4, but with nothing in common: the follower has no epoch as small as the one "
        "in the answer, and 2.0.0 then takes the leader's offset as safe. KIP-279 as written "
        "truncates to the start; 2.1 answers in a way that does.",
        claim="no_divergence_below_hw",
        options={**TWO_THREE_RECORDS, "restarts": 0, "moves": 2},
        falls=("kip279-code",),
        stands=("kip279", "kip320"),
    ),
    Scenario(
        number="C5",
        name="zombie-follower",
        title="A follower misses epochs under the same leader",
        source="KAFKA-6880, KAFKA-7164, KAFKA-7395",
        story="While another broker led for a while, the leader lost records and wrote others. A "
        "follower that never heard of it has the same leader as before: it truncates nothing, and "
        "its fetch offset is taken for an acknowledgement of records that it does not have.",
        claim="no_divergence_below_hw",
        options={**THREE, "restarts": 0, "moves": 2},
        falls=("epoch", "hw", "kip279", "kip279-code", "kip320-without-truncate-every-epoch"),
        stands=SINCE_2_1,
    ),
    Scenario(
        number="C6",
        name="undefined-epoch",
        title="An undefined answer sends the follower back to its high watermark",
        source="KAFKA-7415",
        story="The leader has written nothing in its epoch and so knows less than the follower "
        "that asks: its answer is undefined, and the follower falls back on its high watermark. "
        "What C1 does to hw then happens again.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "moves": 2},
        falls=("epoch", "kip279", "kip279-code", "kip320-without-epoch-on-leading"),
        stands=SINCE_2_1,
    ),
    Scenario(
        number="C6u",
        name="undefined-epoch-unclean",
        title="The same with unclean elections: logs diverge",
        source="KAFKA-7415",
        story="After an unclean election the high watermark covers records that the leader does "
        "not have, so that truncating to it does not help.",
        claim="no_divergence_below_hw",
        options={**TWO, "restarts": 2, "unclean-leader-election": True},
        falls=("kip279", "epoch"),
        stands=SINCE_2_1,
    ),
    Scenario(
        number="C6b",
        name="unfenced-epoch-question",
        title="A leader of the past answers the epoch question",
        source="KIP-320, KAFKA-7395",
        story="The follower has learned the new epoch, the leader has not: it answers as the "
        "leader that it was, that the epoch is unknown to it. Fenced, it refuses until it has "
        "caught up.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "moves": 2},
        falls=("kip320-without-fencing",),
        stands=("kip320",),
    ),
    Scenario(
        number="C7",
        name="early-isr-expansion",
        title="A replica joins the ISR of a new leader whose high watermark lags",
        source="KAFKA-7128",
        story="A new leader begins with a high watermark behind what was committed. A replica "
        "without the committed record has reached that high watermark, joins the ISR, and is "
        "elected next.",
        claim="no_committed_loss",
        options={**THREE, "restarts": 0, "moves": 2},
        falls=("epoch", "hw", "kip279", "kip279-code", "kip320-without-isr-from-epoch-start"),
        stands=SINCE_2_1,
    ),
    Scenario(
        number="C8",
        name="maximal-isr",
        title="The leader does not wait for whom it has proposed (a mutant)",
        source="KIP-497",
        story="Between asking the controller for a larger ISR and its answer, the controller may "
        "have agreed already. A leader that goes on with the smaller one commits records that a "
        "member, who may be elected, does not have. Kafka never did.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 2},
        falls=("kraft-without-maximal-isr", "elr-without-maximal-isr"),
        stands=("kraft", "kip903", "elr"),
    ),
    Scenario(
        number="C9",
        name="lost-disk-rejoins",
        title="A broker that has lost its disk is taken into the ISR for what it had",
        source="KIP-903, KAFKA-14139",
        story="A follower out of sync catches up, and its fetch, or the leader's request to add "
        "it, is on its way. It loses its disk, and comes back empty. Then it is taken into the "
        "ISR, and elected.",
        claim="acknowledged_durable",
        options={
            **TWO,
            "restarts": 1,
            "lost-disks": 1,
            "disk-loss": "out-of-sync",
            "requests-survive": True,
        },
        falls=("kraft", "hw", *BEFORE_2_1, "kip320", "truncate-on-fetch"),
        stands=("kip903", "elr"),
        remark="Within these epochs. With one more (--epochs 4) kip903 falls after 17 steps: until "
        "the broker registers anew, its broker epoch is the one of its fetch. That is C10 then, "
        "a member of the ISR without its records; acknowledged_somewhere sees it within three "
        "epochs.",
    ),
    Scenario(
        number="C10",
        name="last-replica-standing",
        title="The last replica in sync comes back without its records",
        source="KIP-966",
        story="With min.insync.replicas=2 a record is acknowledged by two. One leaves the ISR, the "
        "other, now alone in it, loses power and what it had not flushed. It is the only one that "
        "may lead, and does; the one that has the record truncates.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 0, "power-losses": 1, "min-insync-replicas": 2},
        falls=("kip903", *ALL[:-2]),
        stands=("elr",),
    ),
    Scenario(
        number="C11",
        name="unclean-election",
        title="An unclean election (within Kafka's contract)",
        source="Kafka's documentation of unclean.leader.election.enable",
        story="The ISR is the leader alone. It crashes, and a replica without its records is "
        "elected. That is what the setting says.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "unclean-leader-election": True},
        falls=("hw", *SINCE_0_11),
    ),
    Scenario(
        number="C12",
        name="acks-1",
        title="acks=1, and the leader dies before anybody fetched (within Kafka's contract)",
        source="Kafka's documentation of acks",
        story="The leader acknowledges on its own what nobody else has.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "acks": "1"},
        falls=("hw", *SINCE_0_11),
    ),
    Scenario(
        number="C13",
        name="hw-below-min-isr",
        title="A record is shown to consumers that fewer have than min.insync.replicas",
        source="KIP-966, KAFKA-15583",
        story="The ISR shrinks to the leader, and its high watermark passes a record that nobody "
        "else has and no producer was told of. Consumers read it; a power loss takes it.",
        claim="no_committed_loss",
        options={**TWO, "restarts": 0, "power-losses": 1, "min-insync-replicas": 2},
        falls=("kip903", *ALL[:-2], "elr-without-hw-needs-min-isr"),
        stands=("elr",),
    ),
    Scenario(
        number="C14",
        name="hw-regression",
        title="The high watermark that clients see goes back after a failover",
        source="KIP-207",
        story="A new leader begins with the high watermark that it had as a follower, which lags. "
        "Every version does; KIP-207 only hides it from those who ask for offsets, until the "
        "leader has reached the start of its epoch (claim visible_hw).",
        claim="hw_covers_committed",
        options={**TWO, "restarts": 0, "moves": 1},
        falls=ALL,
    ),
    Scenario(
        number="C15",
        name="lost-checkpoint",
        title="The file with the high watermarks is lost",
        source="KAFKA-1647",
        story="A follower that finds no high watermark on its disk begins with 0 and truncates "
        "everything, as C1 with more to lose.",
        claim="no_committed_loss",
        options={**TWO, "restarts": 2, "lost-checkpoints": 1},
        falls=("hw",),
        stands=SINCE_0_11,
        remark="The shortest trace does not need the loss: a checkpoint that lags is enough, C1. "
        "Where every restart is noticed hw stands at these bounds with the loss as without it.",
    ),
    Scenario(
        number="C16",
        name="out-of-range-exit",
        title="A follower with the longer log ends its process",
        source="ReplicaFetcherThread.handleOffsetOutOfRange, KAFKA-7414",
        story="A follower is ahead of its leader's log end. With unclean elections off it may not "
        "truncate, so its broker exits, for all partitions that it has.",
        claim="no_forced_exit",
        options={**TWO, "restarts": 1, "moves": 2},
        falls=("hw", "epoch", "kip279"),
        stands=SINCE_2_1,
    ),
    Scenario(
        number="C17",
        name="unfenced-truncate-on-fetch",
        title="Truncation by fetches alone, without the leader's epoch in them (a mutant)",
        source="hachikuji/kafka-specification, Kip320FirstTry",
        story="Several fast elections: a fetch that says where the follower's log ends, but not in "
        "which epoch it means its leader, is answered by a leader of the past.",
        claim="candidates_complete",
        options={**THREE_ONE_RECORD, "restarts": 0, "moves": 3},
        falls=("truncate-on-fetch-without-fencing-with-fresh-remote-leo",),
        stands=("truncate-on-fetch-with-fresh-remote-leo",),
        remark="Both forget remote LEOs in every new epoch: without that C21 breaks the claim with "
        "fencing as well.",
    ),
    Scenario(
        number="C18",
        name="diverging-fetch-counts",
        title="The leader counts what a diverging fetch says the follower has",
        source="KAFKA-13141 (2.8.0)",
        story="A fetch is answered that its log parts from the leader's, and yet its offset is "
        "taken for what the follower has.",
        claim="no_committed_loss",
        options={**TWO, "restarts": 1, "moves": 1},
        falls=("truncate-on-fetch-without-diverging-guard",),
        stands=("truncate-on-fetch",),
    ),
    Scenario(
        number="C19",
        name="consumer-misreads",
        title="A consumer reads on in a log that is not the one it read",
        source="KIP-320 (consumer part)",
        story="An unclean election takes away what a consumer has read, and the new leader writes "
        "past its position. The offset is valid again, and the consumer notices nothing.",
        claim="consumer_in_order",
        options={
            **TWO_THREE_RECORDS,
            "restarts": 2,
            "unclean-leader-election": True,
            "consumer": True,
        },
        falls=("epoch", "hw", "kip279", "kip320-without-consumer-validation"),
        stands=SINCE_2_1,
    ),
    Scenario(
        number="C20",
        name="longest-log",
        title="An unclean election that takes the longest log (a proposal)",
        source="ocadaruma/kafka-spec",
        story="To take the longest log among the brokers that are up does not make an unclean "
        "election safe: the longest that is up may lack what was committed, and a long log may "
        "consist of records that never were.",
        claim="no_committed_loss",
        options={
            **THREE_ONE_RECORD,
            "restarts": 2,
            "unclean-leader-election": True,
        },
        falls=("kip320-with-longest-log",),
    ),
    Scenario(
        number="C21",
        name="stale-remote-leo",
        title="A leader that missed an epoch still goes by what its followers had before",
        source="found by this model; Partition.makeLeader, Replica.resetReplicaState",
        story="Somebody else leads for an epoch that the old leader never hears of, and a follower "
        "truncates to follow it. The old leader is elected again: it still is leader in its own "
        "eyes, so it keeps the remote LEO from before, commits and acknowledges a record by it, "
        "and the follower, without that record, is elected next.",
        claim="acknowledged_durable",
        options={**THREE_ONE_RECORD, "restarts": 1, "moves": 2},
        falls=("kip320", "kip320-code", *SINCE_2_1[2:]),
        stands=("kip320-with-fresh-remote-leo", "elr-with-fresh-remote-leo"),
        remark="In no KIP or JIRA that we know of. The repair is a proposal: forget remote LEOs in "
        "every new epoch (--with fresh-remote-leo).",
        precaution="between two restarts or moves of leadership wait a minute, and until "
        "kafka-topics.sh --bootstrap-server HOST:PORT --describe --under-replicated-partitions "
        "lists none. Kafka moves leaders by itself with auto.leader.rebalance.enable=true. A crash "
        "meanwhile can still do it.",
        sign='the state change log of a broker has "starts at leader epoch", and as the previous '
        "leader itself, two epochs or more before. It took ten runs of ten, with a leader that "
        "was paused for 1 to 3 s.",
    ),
    Scenario(
        number="C22",
        name="last-known-leader",
        title="The last known leader leads again, without its records",
        source="KIP-966 (balanced recovery), PartitionChangeBuilder.canElectLastKnownLeader",
        story="With eligible leader replicas a broker that crashed leaves ISR and ELR as it comes "
        "back, whether it lost anything or not. Once both are empty, who led last is elected. One "
        "process crashes and keeps its log, one machine loses power and its log with it: if that "
        "one led last, it leads again, and the other truncates what was acknowledged.",
        claim="acknowledged_durable",
        options={**TWO, "restarts": 1, "power-losses": 1, "min-insync-replicas": 2},
        falls=("elr-with-last-known-leader",),
        stands=("elr",),
        remark="KIP-966 promises nothing once as many brokers as min.insync.replicas have not shut "
        "down properly, and a crash of the process alone counts. Without the rule nobody leads.",
    ),
    Scenario(
        number="C23",
        name="nobody-left-to-lead",
        title="All that might lead have crashed, and nobody leads any more",
        source="KIP-966; repaired by the last known leader, KAFKA-15584",
        story="As C22, but crashes of processes alone: every log is whole, and yet ISR and ELR are "
        "empty once all are back. Were it not for the last known leader, only an unclean election "
        "would end that.",
        claim="leader_possible",
        options={**TWO, "restarts": 2},
        falls=("elr",),
        stands=(*ALL[:-1], "elr-with-last-known-leader"),
    ),
    Scenario(
        number="C24",
        name="only-copy-lost",
        title="The only log that has a record is lost (within Kafka's contract)",
        source="Kafka's documentation of min.insync.replicas",
        story="With min.insync.replicas=1 a leader that is alone in the ISR acknowledges what no "
        "other log has. Its disk is lost. With one replica it is always so.",
        claim="acknowledged_on_disk",
        options={**TWO, "restarts": 0, "lost-disks": 1},
        falls=(*ALL, "elr-with-last-known-leader"),
        remark="Under elr nobody leads afterwards, so that no claim about the leader breaks.",
    ),
)
