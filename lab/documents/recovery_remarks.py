"""The text of docs/results/recovery.md: why the surprising cells are as they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A cell whose trace is shown, and why it is as it is."""

    title: str
    claim: str
    version: str
    circumstance: str
    why: str


HEAD = """\
# Recovery and liveness of Kafka

Two questions that no claim about single states answers. *Recovery*: when the faults stop, can the
partition come back by itself? *Liveness*: does it? `waterline check --recovery --liveness` judges
all of these claims; [language.md](../language.md#liveness) defines them, and fairness.
`python -m lab.documents.recovery > docs/results/recovery.md` makes this page.

A cell says *holds*, or after how many steps at the least there is no way back, or a cycle begins
that need never be left: **13**. In brackets where Kafka does not promise it with these settings. A
dash: the claim does not apply. *holds\\**: some states are not judged, because the bound on
leader epochs cuts what might lead back. For liveness a broker that is down may stay down; recovery
starts it again.

## The claims
"""

SHOWN = (
    Shown(
        title="A refused AlterPartition leaves the high watermark where it is",
        claim="producers_answered",
        version="kraft",
        circumstance="documented",
        why="From KIP-497 on the high watermark waits for a follower that the leader has asked to "
        "add (the maximal ISR). When the controller refuses, because the follower is fenced or "
        "shutting down by then (KIP-841), the leader goes back to the ISR of before and does not "
        "try the high watermark again: Kafka does so where AlterPartition is granted "
        "(KAFKA-13091), where it appends, and where a fetch moves a follower's log end "
        "(Partition.submitAlterPartition, updateFollowerFetchState). So the last record of a quiet "
        "partition is late; nothing is lost. Brokers of six releases show it, and "
        "[confirm.md](../confirm.md#with-a-real-controller) says what it weighs. Here the "
        "request waits until its follower is fenced; one that crosses with the "
        "beginning of a controlled shutdown has the same end. `kraft-without-fenced-check` has "
        "nothing to refuse, and the claim holds. The shorter traces with a session expiry, a "
        "shutdown or requests that survive need a leader that asks for a broker which it knows to "
        "be fenced or stopping; Kafka's does not "
        "([model.md](../model.md#where-the-model-differs-from-the-code-on-purpose)).",
    ),
    Shown(
        title="A follower in sync fetches for ever, and its leader does not look",
        claim="producers_answered",
        version="elr",
        circumstance="three replicas",
        why="The same refusal, with a third replica that is in sync and has the record. Its "
        "fetches do not help: since KAFKA-8841 (2.4) only one from another offset than the last "
        "tries the high watermark (Partition.updateFollowerFetchState). With `--without "
        "moved-fetch-tries-hw` the claim holds. `kip903` breaks it as well `--without "
        "shrink-raises-epoch`, which is Kafka since 3.6. As long as a smaller ISR raised the "
        "epoch, a follower to be added had all that its leader had then (KAFKA-7128), here the "
        "only record.",
    ),
    Shown(
        title="The high watermark does not advance below min.insync.replicas",
        claim="high_watermark_catches_up",
        version="elr",
        circumstance="min.insync.replicas=2",
        why="Since KAFKA-15583 (3.7) it waits for an ISR that is large enough. What was appended "
        "while it was stays unanswered, neither acknowledged nor NOT_ENOUGH_REPLICAS_AFTER_APPEND, "
        "until a second broker is back: before, the leader alone committed it and answered with "
        "that error. That is as KIP-966 wants it, and it needs somebody to start the broker: "
        "`writes_again` holds. Seen on 3.9.1, and on 2.8.2 that error (docs/confirm.md).",
    ),
    Shown(
        title="With ELR a partition can be left without a leader",
        claim="leader_again",
        version="elr",
        circumstance="documented",
        why="Without ELR the last member stays in the ISR and leads again when it is back. With "
        "ELR it leaves, and a broker that comes back from a crash leaves the ELR as well. "
        "`elr-with-last-known-leader`, which is what Kafka does since 4.0, has a way back, and so "
        "has unclean.leader.election.enable=true.",
    ),
    Shown(
        title="A follower ends its process whenever it fetches",
        claim="isr_whole_again",
        version="hw",
        circumstance="documented",
        why="Up to 2.0.0 a broker whose log is longer than its leader's exits (KAFKA-7414). "
        "Started again it exits again, until the leader has written as much. "
        "After a power loss `epoch` to `kip279-code` do the same. From 2.0.1 on it truncates. "
        "Seen on 0.10.2.2 and 1.1.1, and on 2.0.1 that it truncates (docs/confirm.md).",
    ),
    Shown(
        title="A follower asks for ever where to cut its log",
        claim="truncation_ends",
        version="kip320-code",
        circumstance="leader moves",
        why="KAFKA-10706: it led and wrote nothing, and truncating to its log end leaves that "
        "epoch in its cache. So it asks the same again, and stays out of the ISR. "
        "In the model it stutters, since a question that changes nothing is no step; on a broker "
        "it loops: seen on 2.0.1 and 2.1.1, seven questions a second (docs/confirm.md). "
        "Repaired in 2.6.1, so that `kip320` has none.",
    ),
    Shown(
        title="A follower is out of range for ever after a log was moved",
        claim="live_broker_rejoins",
        version="truncate-on-fetch",
        circumstance="a log moved to another directory",
        why="The copy of the leader's log has no entry of the leader's epoch, of which there is no "
        "record (KAFKA-20961). A follower that led before, and wrote nothing, fetches with a last "
        "epoch that the leader cannot place. It is no longer than its leader, and truncates "
        "nothing. The next record ends it; no step that is relied on does.",
    ),
    Shown(
        title="Logs differ, and nobody notices",
        claim="divergence_ends",
        version="hw",
        circumstance="documented",
        why="Two logs of one length part below it: the follower fetches from its end and gets no "
        "hint. Only a question for epochs would show it. That the follower leaves the "
        "ISR in the cycle is fairness at work: until KAFKA-7152 any member may be found lagging. "
        "From 2.1 on every divergence ends, also after unclean elections and power losses. Seen on "
        "0.10.2.2 and 0.11.0.3 after an unclean election, and on 2.1.1 that it ends "
        "(docs/confirm.md).",
    ),
    Shown(
        title="With ZooKeeper no broker learns that nobody leads",
        claim="decisions_learned",
        version="kip320",
        circumstance="documented",
        why="There is no LeaderAndIsr without a leader. The follower keeps fetching from a "
        "broker that is down until somebody leads; nothing is lost by that. Under KRaft it learns "
        "of it, since KAFKA-13858.",
    ),
    Shown(
        title="Under KRaft 3.3 a follower that lost its disk is taken back as it was",
        claim="acknowledged_readable_again",
        version="kraft",
        circumstance="a lost disk",
        why="The controller grants the request of before the loss after it (KAFKA-14139). When "
        "the only other replica crashes, the one without the record is elected, and the other "
        "truncates: what was acknowledged is lost for good, though both brokers are back. "
        "min.insync.replicas is 1 here, so that it is within the contract; KIP-903 repairs it.",
    ),
)

REPORTED = (
    (
        "KAFKA-10706",
        "truncation that goes on for ever, 2.0.1 to 2.6.0",
        "found: `truncation_ends`, `live_broker_rejoins`, `isr_whole_again` break under "
        "`kip320-code`",
    ),
    (
        "KAFKA-7414",
        "a follower exits on out of range, again and again",
        "found: `isr_whole_again` breaks up to `kip279-code`",
    ),
    (
        "KAFKA-3919, KAFKA-6361",
        "logs that have diverged stay so",
        "found: `divergence_ends` breaks up to `kip279-code`",
    ),
    (
        "KAFKA-15583",
        "the HW waits below min.insync.replicas",
        "found, and meant: `producers_answered` breaks under `elr` with min.insync.replicas=2",
    ),
    (
        "KAFKA-13091",
        "the HW was not tried when AlterIsr had been granted",
        "no version here has it; its sibling, after a refusal, is found, and seen on brokers",
    ),
    (
        "KAFKA-12686",
        "AlterIsrManager forgets a request in flight, and the ISR is stuck",
        "outside: the model has one request at a time, and nobody resends it",
    ),
    (
        "KAFKA-14154",
        "a stale controller refuses, and the leader is stuck",
        "outside: the controller of the model never fails",
    ),
    (
        "KAFKA-7165",
        "a broker cannot register while ZooKeeper has its former session",
        "outside: here a registration succeeds, with `--session-expiries` in the end",
    ),
)
"""Tickets about partitions and followers that are stuck, and what the model finds of each."""

FAIRNESS = (
    "Fairness is weak. In no cell of two replicas does a claim break by a behaviour that only "
    "strong fairness would exclude, in which a step is enabled again and again and never taken: "
    "what disables a step of the protocol, such as a new leader, costs an epoch, and epochs are "
    "bounded. ShrinkIsr is weakly fair although it stands for a timeout: a follower that stays "
    "behind leaves in the end. That it may come at any time has a price with three replicas up "
    "to `kip279-code`: two followers that have all are found lagging in turn, so that "
    "`live_broker_rejoins` breaks, by a behaviour that no replica.lag.time.max.ms of a living "
    "cluster allows."
)
