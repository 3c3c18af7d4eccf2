"""KRaft's own log: Raft as Kafka's controllers and brokers use it, where followers fetch.

After KIP-595, "A Raft Protocol for the Metadata Quorum". A leader begins its epoch with a record of
its own (LeaderChange). A follower asks for what comes after its log, and says the offset and the
epoch of its last record; a leader whose log does not go through there answers where its own log of
that epoch ends, and the follower truncates to that. What a follower asks for is also what the
leader knows of its log, and so moves the high watermark.

A request and its answer are one step; the answer to a fetch brings one record, or is lost. There
are no observers, no snapshots (KIP-630), no changes of the voters (KIP-853) and no pre-votes
(KIP-996), and no leader resigns (EndQuorumEpoch) but by a restart. A new leader goes on telling the
high watermark it knows; Kafka's tells none before it has committed a record of its epoch.

Two rules can be taken out, to see what they are for: `--set voters_compare_logs=false` and, with
`--set epochs=4`, `--set waits_for_own_epoch=false`.
"""

from waterline import Action, Choice, Fields, Log, Name, Names, Number, Protocol, Set, when, within


class State(Fields):
    """So many voters, epochs 0 to `epochs`, and logs of so many records."""

    voters = Names("voter", 3)
    epochs: int = 2
    records: int = 2
    voters_compare_logs: bool = True
    waits_for_own_epoch: bool = True

    role = Choice("unattached", "voted", "follower", "candidate", "leader", "resigned", by=voters)
    epoch = Number(0, epochs, by=voters)
    voted_for = Name(voters, by=voters, or_none=True, doc="In the voter's epoch.")
    leader = Name(voters, by=voters, or_none=True, doc="In the voter's epoch, if known.")
    votes = Set(of=voters, by=voters, doc="Of a candidate: who has voted for it.")
    log = Log(of=range(1, epochs + 1), room=records, by=voters, doc="Epochs of records.")
    high_watermark = Number(0, records, by=voters)
    end_offset = Number(-1, records, by=(voters, voters), doc="Of a leader; -1: not heard.")


def kraft_log(state: type[State]) -> Protocol:
    """Voters that elect leaders and fetch from them."""
    return Protocol(
        state=state,
        actions=[
            time_out,
            Action(vote_for, candidate=state.voters),
            become_leader,
            append,
            Action(begin_epoch, leader=state.voters),
            fetch,
            fetch_in_vain,
            Action(see_higher_epoch, other=state.voters),
            restart,
        ],
        always=[
            one_leader_an_epoch,
            logs_match,
            committed_records_agree,
            leaders_have_what_is_committed,
            no_record_of_a_later_epoch,
            votes_are_of_their_epoch,
            leaders_are_of_their_epoch,
            end_offsets_are_of_leaders,
        ],
        every_step=[
            nothing_committed_is_truncated,
            leaders_only_append,
            leaders_commit_more,
            *([commits_its_own_epoch] if state.waits_for_own_epoch else []),
            epochs_grow,
            votes_once_an_epoch,
            begins_with_a_record,
        ],
        sometimes=[
            commits,
            commits_in_two_epochs,
            commits_without_one,
            truncates,
            truncates_within_an_epoch,
            appends,
            votes_in_its_epoch,
            votes_in_a_later_epoch,
            votes_again,
            leaves_its_leader,
            follows_in_its_epoch,
            follows_in_a_later_epoch,
            follower_commits,
            fetches,
            fetches_in_vain,
            forgets_its_high_watermark,
        ],
    )


def time_out(s: State, voter: int) -> None:
    """{voter} has heard of no leader, and stands for election."""
    when(s.role[voter] != "leader")
    within(s.epoch[voter] < s.epochs)
    enter_epoch(s, voter, s.epoch[voter] + 1)
    s.role[voter] = "candidate"
    s.voted_for[voter] = voter
    s.votes[voter] = {voter}


def vote_for(s: State, voter: int, candidate: int) -> None:
    """{voter} votes for {candidate}."""
    when(s.role[candidate] == "candidate" and s.epoch[voter] <= s.epoch[candidate])
    when(s.epoch[voter] < s.epoch[candidate] or has_a_vote_for(s, voter, candidate))
    when(not s.voters_compare_logs or is_up_to_date(s, candidate, voter))
    enter_epoch(s, voter, s.epoch[candidate])
    s.role[voter] = "voted"
    s.voted_for[voter] = candidate
    s.votes[candidate].add(voter)


def become_leader(s: State, voter: int) -> None:
    """{voter} has the votes of more than half, and begins its epoch with a record."""
    when(s.role[voter] == "candidate")
    when(2 * len(s.votes[voter]) > s.voters)
    s.role[voter] = "leader"
    s.leader[voter] = voter
    s.votes[voter] = set()
    append_record(s, voter)


def append(s: State, voter: int) -> None:
    """{voter}, which leads, appends a record."""
    when(s.role[voter] == "leader")
    append_record(s, voter)


def begin_epoch(s: State, voter: int, leader: int) -> None:
    """{voter} hears from {leader} that it leads (BeginQuorumEpoch)."""
    when(voter != leader and s.role[leader] == "leader" and s.epoch[voter] <= s.epoch[leader])
    when(s.epoch[voter] < s.epoch[leader] or s.leader[voter] is None)
    enter_epoch(s, voter, s.epoch[leader])
    s.role[voter] = "follower"
    s.leader[voter] = leader


def fetch(s: State, voter: int) -> None:
    """{voter} fetches from its leader."""
    when(can_fetch(s, voter))
    leader, offset = s.leader[voter], len(s.log[voter])
    end = end_of_epoch(s, leader, epoch_before(s, voter, offset))
    if diverges(s, leader, voter):
        truncate(s, voter, epoch_before(s, leader, end), end)
        return
    note_fetch(s, leader, voter)
    if offset < len(s.log[leader]):
        s.log[voter].append(s.log[leader][offset])
    known = min(s.high_watermark[leader], len(s.log[voter]))
    s.high_watermark[voter] = max(s.high_watermark[voter], known)


def fetch_in_vain(s: State, voter: int) -> None:
    """{voter} fetches from its leader, and the answer is lost."""
    when(can_fetch(s, voter) and not diverges(s, s.leader[voter], voter))
    note_fetch(s, s.leader[voter], voter)


def see_higher_epoch(s: State, voter: int, other: int) -> None:
    """{voter} hears of the epoch of {other}."""
    when(s.epoch[voter] < s.epoch[other])
    enter_epoch(s, voter, s.epoch[other])


def restart(s: State, voter: int) -> None:
    """{voter} stops, and starts with its log, and its epoch, vote and leader (quorum-state)."""
    s.votes[voter] = {voter} if s.role[voter] == "candidate" else set()
    for other in s.voters:
        s.end_offset[voter, other] = -1
    s.high_watermark[voter] = 0
    if s.role[voter] == "leader":
        s.role[voter] = "resigned"


def enter_epoch(s: State, voter: int, epoch: int) -> None:
    """It gives up whatever it was in its epoch; in a new one nobody has its vote."""
    if s.epoch[voter] < epoch:
        s.voted_for[voter] = None
    s.epoch[voter] = epoch
    s.role[voter] = "unattached"
    s.leader[voter] = None
    s.votes[voter] = set()
    for other in s.voters:
        s.end_offset[voter, other] = -1


def has_a_vote_for(s: State, voter: int, candidate: int) -> bool:
    """Whether it may vote for the candidate in its epoch: again, if a restart made that forget."""
    if s.role[voter] == "voted":
        return s.voted_for[voter] == candidate and voter not in s.votes[candidate]
    return s.role[voter] == "unattached"


def append_record(s: State, leader: int) -> None:
    """A record of the leader's epoch, committed at once where there is no other voter."""
    s.log[leader].append(s.epoch[leader])
    advance_high_watermark(s, leader)


def truncate(s: State, voter: int, epoch: int, end: int) -> None:
    """To where both logs of that epoch end, or to the end of an earlier one."""
    keep = end_of_epoch(s, voter, epoch)
    if epoch_before(s, voter, keep) == epoch:
        keep = min(keep, end)
    s.log[voter].truncate(keep)


def can_fetch(s: State, voter: int) -> bool:
    """Whether it follows somebody who leads in the same epoch."""
    if s.role[voter] != "follower":
        return False
    leader = s.leader[voter]
    return s.role[leader] == "leader" and s.epoch[leader] == s.epoch[voter]


def diverges(s: State, leader: int | None, voter: int) -> bool:
    """Whether the leader's log does not go through where the voter's ends."""
    last = epoch_before(s, voter, len(s.log[voter]))
    end = end_of_epoch(s, leader, last)
    return epoch_before(s, leader, end) != last or end < len(s.log[voter])


def note_fetch(s: State, leader: int | None, voter: int) -> None:
    """The leader learns what the voter has."""
    s.end_offset[leader, voter] = len(s.log[voter])
    advance_high_watermark(s, leader)


def advance_high_watermark(s: State, leader: int | None) -> None:
    """To the end of what more than half have, once that is beyond the start of its epoch."""
    for end in range(1, len(s.log[leader]) + 1):
        have = sum(other == leader or s.end_offset[leader, other] >= end for other in s.voters)
        counts = s.log[leader][end - 1] == s.epoch[leader] or not s.waits_for_own_epoch
        if 2 * have > s.voters and counts:
            s.high_watermark[leader] = max(s.high_watermark[leader], end)


def epoch_before(s: State, voter: int | None, offset: int) -> int:
    """The epoch of the record before an offset; 0 if there is none."""
    return s.log[voter][offset - 1] if offset > 0 else 0


def end_of_epoch(s: State, voter: int | None, epoch: int) -> int:
    """The offset after the last record of an epoch, or of the greatest one before it."""
    return sum(of_record <= epoch for of_record in s.log[voter])


def is_up_to_date(s: State, candidate: int, voter: int) -> bool:
    """Whether the candidate's log is at least as far as the voter's."""
    candidate_epoch = epoch_before(s, candidate, len(s.log[candidate]))
    voter_epoch = epoch_before(s, voter, len(s.log[voter]))
    if candidate_epoch != voter_epoch:
        return candidate_epoch > voter_epoch
    return len(s.log[candidate]) >= len(s.log[voter])


def one_leader_an_epoch(s: State) -> bool:
    """No two voters lead in one epoch."""
    return all(
        left == right
        or s.role[left] != "leader"
        or s.role[right] != "leader"
        or s.epoch[left] != s.epoch[right]
        for left in s.voters
        for right in s.voters
    )


def logs_match(s: State) -> bool:
    """Two logs with a record of the same epoch at the same offset are the same up to there."""
    return all(
        s.log[left][offset] != s.log[right][offset] or s.log[left][:offset] == s.log[right][:offset]
        for left in s.voters
        for right in s.voters
        for offset in range(min(len(s.log[left]), len(s.log[right])))
    )


def committed_records_agree(s: State) -> bool:
    """Two logs are the same below the lesser high watermark."""
    return all(
        s.log[left][: s.high_watermark[left]] == s.log[right][: s.high_watermark[left]]
        for left in s.voters
        for right in s.voters
        if s.high_watermark[left] <= s.high_watermark[right]
    )


def leaders_have_what_is_committed(s: State) -> bool:
    """A leader has every record below the high watermark of a voter of no later epoch."""
    return all(
        s.role[leader] != "leader"
        or s.epoch[leader] < s.epoch[voter]
        or s.log[leader][: s.high_watermark[voter]] == s.log[voter][: s.high_watermark[voter]]
        for leader in s.voters
        for voter in s.voters
    )


def no_record_of_a_later_epoch(s: State) -> bool:
    """No voter has a record of an epoch after its own."""
    return all(epoch <= s.epoch[voter] for voter in s.voters for epoch in s.log[voter])


def votes_are_of_their_epoch(s: State) -> bool:
    """Who has a vote stood in that epoch, or in a later one; only a candidate has votes."""
    return all(
        (s.role[voter] == "candidate") == (voter in s.votes[voter])
        and (s.role[voter] == "candidate" or len(s.votes[voter]) == 0)
        and (s.role[voter] != "candidate" or s.voted_for[voter] == voter)
        and (s.role[voter] != "unattached" or s.voted_for[voter] is None)
        and all(
            s.voted_for[voter] != other or s.epoch[other] >= s.epoch[voter] for other in s.voters
        )
        for voter in s.voters
    )


def leaders_are_of_their_epoch(s: State) -> bool:
    """A leader leads itself, a follower one that has led in its epoch, and others nobody."""
    return all(
        (s.role[voter] in ("leader", "resigned")) == (s.leader[voter] == voter)
        and (s.role[voter] == "follower") == (s.leader[voter] not in (None, voter))
        and all(
            s.leader[voter] != other
            or s.epoch[other] > s.epoch[voter]
            or (s.epoch[other] == s.epoch[voter] and s.role[other] in ("leader", "resigned"))
            for other in s.voters
        )
        for voter in s.voters
    )


def end_offsets_are_of_leaders(s: State) -> bool:
    """A leader alone knows what others have, and its followers have it."""
    return all(
        s.end_offset[voter, other] == -1
        or (
            s.role[voter] == "leader"
            and voter != other
            and (s.leader[other] != voter or s.end_offset[voter, other] <= len(s.log[other]))
        )
        for voter in s.voters
        for other in s.voters
    )


def nothing_committed_is_truncated(before: State, after: State) -> bool:
    """No voter truncates below its high watermark."""
    return all(len(after.log[voter]) >= before.high_watermark[voter] for voter in before.voters)


def leaders_only_append(before: State, after: State) -> bool:
    """A voter that leads, and still does, has changed no record of its log."""
    return all(
        before.role[voter] != "leader"
        or after.role[voter] != "leader"
        or after.log[voter][: len(before.log[voter])] == before.log[voter]
        for voter in before.voters
    )


def leaders_commit_more(before: State, after: State) -> bool:
    """The high watermark of a voter that leads, and still does, never falls."""
    return all(
        before.role[voter] != "leader"
        or after.role[voter] != "leader"
        or after.high_watermark[voter] >= before.high_watermark[voter]
        for voter in before.voters
    )


def commits_its_own_epoch(before: State, after: State) -> bool:
    """A leader finds committed what ends in a record of its own epoch."""
    return all(
        after.role[voter] != "leader"
        or after.high_watermark[voter] <= before.high_watermark[voter]
        or after.log[voter][after.high_watermark[voter] - 1] == after.epoch[voter]
        for voter in before.voters
    )


def epochs_grow(before: State, after: State) -> bool:
    """No voter goes back to an earlier epoch."""
    return all(after.epoch[voter] >= before.epoch[voter] for voter in before.voters)


def votes_once_an_epoch(before: State, after: State) -> bool:
    """A voter keeps its vote as long as it is in the epoch."""
    return all(
        before.voted_for[voter] is None
        or after.epoch[voter] != before.epoch[voter]
        or after.voted_for[voter] == before.voted_for[voter]
        for voter in before.voters
    )


def begins_with_a_record(before: State, after: State) -> bool:
    """A new leader has appended a record of its epoch."""
    return all(
        before.role[voter] == "leader"
        or after.role[voter] != "leader"
        or after.log[voter][-1] == after.epoch[voter]
        for voter in before.voters
    )


def commits(s: State) -> bool:
    """A record is committed."""
    return any(s.high_watermark[voter] > 0 for voter in s.voters)


def commits_in_two_epochs(s: State) -> bool:
    """Records of two epochs are committed."""
    return any(
        s.high_watermark[voter] > 1 and len(s.log[voter]) > 1 and s.log[voter][0] != s.log[voter][1]
        for voter in s.voters
    )


def commits_without_one(before: State, after: State) -> bool:
    """A leader finds a record committed that a voter lacks."""
    return any(
        after.role[leader] == "leader"
        and after.high_watermark[leader] > before.high_watermark[leader]
        and after.high_watermark[leader] > len(after.log[voter])
        for leader in before.voters
        for voter in before.voters
    )


def truncates(before: State, after: State) -> bool:
    """A voter truncates its log."""
    return any(len(after.log[voter]) < len(before.log[voter]) for voter in before.voters)


def truncates_within_an_epoch(before: State, after: State) -> bool:
    """A voter gives up a record of an epoch, and keeps an earlier one of it."""
    return any(
        len(after.log[voter]) < len(before.log[voter])
        and len(after.log[voter]) > 0
        and before.log[voter][len(after.log[voter])] == after.log[voter][-1]
        for voter in before.voters
    )


def appends(before: State, after: State) -> bool:
    """A voter that leads appends a record."""
    return any(
        before.role[voter] == "leader" and len(after.log[voter]) > len(before.log[voter])
        for voter in before.voters
    )


def votes_in_its_epoch(before: State, after: State) -> bool:
    """A voter votes in the epoch that it is in."""
    return any(
        before.role[voter] == "unattached"
        and after.role[voter] == "voted"
        and after.epoch[voter] == before.epoch[voter]
        for voter in before.voters
    )


def votes_in_a_later_epoch(before: State, after: State) -> bool:
    """A voter that has voted votes in a later epoch."""
    return any(
        before.role[voter] == "voted"
        and after.role[voter] == "voted"
        and after.epoch[voter] > before.epoch[voter]
        for voter in before.voters
    )


def votes_again(before: State, after: State) -> bool:
    """A voter repeats its vote for a candidate that has started again."""
    return any(
        before.role[voter] == "voted"
        and before.voted_for[voter] == candidate
        and voter not in before.votes[candidate]
        and voter in after.votes[candidate]
        and after.epoch[voter] == before.epoch[voter]
        for voter in before.voters
        for candidate in before.voters
    )


def leaves_its_leader(before: State, after: State) -> bool:
    """A follower votes in a later epoch."""
    return any(
        before.role[voter] == "follower" and after.role[voter] == "voted" for voter in before.voters
    )


def follows_in_its_epoch(before: State, after: State) -> bool:
    """A voter hears who leads in the epoch that it is in."""
    return any(
        before.role[voter] != "follower"
        and after.role[voter] == "follower"
        and after.epoch[voter] == before.epoch[voter]
        for voter in before.voters
    )


def follows_in_a_later_epoch(before: State, after: State) -> bool:
    """A follower hears who leads in a later epoch."""
    return any(
        before.role[voter] == "follower"
        and after.role[voter] == "follower"
        and after.epoch[voter] > before.epoch[voter]
        for voter in before.voters
    )


def follower_commits(before: State, after: State) -> bool:
    """A follower learns that a record is committed."""
    return any(
        after.role[voter] == "follower"
        and after.high_watermark[voter] > before.high_watermark[voter]
        for voter in before.voters
    )


def fetches(before: State, after: State) -> bool:
    """A leader learns what a follower has, and the follower gets the next record."""
    return any(
        after.end_offset[leader, voter] > before.end_offset[leader, voter]
        and len(after.log[voter]) > len(before.log[voter])
        for leader in before.voters
        for voter in before.voters
    )


def fetches_in_vain(before: State, after: State) -> bool:
    """A leader learns what a follower has, and the follower does not get the next record."""
    return any(
        after.end_offset[leader, voter] > before.end_offset[leader, voter]
        and after.end_offset[leader, voter] < len(after.log[leader])
        and len(after.log[voter]) == len(before.log[voter])
        for leader in before.voters
        for voter in before.voters
    )


def forgets_its_high_watermark(before: State, after: State) -> bool:
    """A voter no longer knows what is committed."""
    return any(
        after.high_watermark[voter] < before.high_watermark[voter] for voter in before.voters
    )
