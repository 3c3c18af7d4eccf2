"""Significance of steps for leaders, the ISR and what brokers believe."""

from __future__ import annotations

from waterline.checker.kafka.narrative.grain import brokers, members, records
from waterline.checker.kafka.narrative.message_grain import MessageGrain
from waterline.checker.kafka.narrative.turn import Turn
from waterline.invariants.remote_leo_honest import first_false_offset
from waterline.model.message.terms import FETCHING, LEADER, OUT_OF_RANGE


def elects_without(turn: Turn) -> str:
    """A new leader, or one that comes back, lacks what was promised: its log is the truth."""
    winner = turn.grain.elected_leader(turn.after)
    if winner is None:
        return ""
    stays = winner == turn.grain.elected_leader(turn.before)
    comes_back = turn.now.up[winner] and not turn.was.up[winner]
    lacking = turn.lacking(winner)
    if not lacking or (stays and not comes_back):
        return ""
    standing = turn.fates[lacking[0]].standing(turn.number)
    does = "comes back and is still leader" if stays else "is made leader"
    return (
        f"r{winner} {does} without {records(lacking)}, {standing} before: "
        "whoever follows it truncates to its log."
    )


def joins_without(turn: Turn) -> str:
    """A replica counts as in sync that lacks what was promised."""
    joined = turn.grain.in_sync(turn.after) & ~turn.grain.in_sync(turn.before)
    for replica in members(joined, len(turn.replicas)):
        if lacking := turn.lacking(replica):
            standing = turn.fates[lacking[0]].standing(turn.number)
            return (
                f"r{replica} joins the ISR without {records(lacking)}, {standing} before: "
                "it may be elected now."
            )
    return ""


def leads_alone(turn: Turn) -> str:
    """One replica is all of the ISR."""
    isr = turn.grain.in_sync(turn.after)
    if isr == turn.grain.in_sync(turn.before) or len(turn.replicas) == 1:
        return ""
    inside = members(isr, len(turn.replicas))
    if not inside:
        return "The ISR is empty: of its members nobody may lead any more."
    if len(inside) > 1:
        return ""
    return f"r{inside[0]} alone is in sync now: what it commits need be in no other log."


def nobody_runs_with_it(turn: Turn) -> str:
    """The last running broker that has a promised record stops."""
    stopped = [r for r in turn.replicas if turn.was.up[r] and not turn.now.up[r]]
    if not stopped:
        return ""
    for record in turn.promised:
        holders = turn.now.holders(record)
        if stopped[0] in holders and not any(turn.now.up[r] for r in holders):
            return (
                f"With r{stopped[0]} down no running broker has m{record}, {turn.standing(record)}."
            )
    return ""


def returns_below_its_log(turn: Turn) -> str:
    """A broker that crashes, or comes back, has a HW below promised records that it will lose."""
    if not isinstance(turn.grain, MessageGrain):
        return ""
    for replica in turn.replicas:
        if turn.was.up[replica] == turn.now.up[replica]:
            continue
        comes_back = turn.now.up[replica]
        hw = turn.after.hw[replica] if comes_back else turn.after.checkpoint[replica]
        log = turn.now.logs[replica]
        below = [r for r in turn.will_lose(replica) if log.index(r) >= hw and r in turn.promised]
        if not below:
            continue
        standing = turn.standing(below[0])
        if comes_back:
            return (
                f"r{replica} comes back with HW {hw}, below {records(below)}, {standing}, which "
                "its log has."
            )
        return (
            f"What r{replica} knew of the HW is gone: it will come back with its checkpoint {hw}, "
            f"below {records(below)}, {standing}."
        )
    return ""


def begins_behind(turn: Turn) -> str:
    """A broker begins to lead with a HW below what consumers were shown."""
    for replica in turn.replicas:
        if turn.grain.leader(turn.after) != replica or turn.grain.leader(turn.before) == replica:
            continue
        shown, hw = len(turn.now.committed), turn.after.hw[replica]
        if isinstance(turn.grain, MessageGrain) and hw < shown:
            return f"r{replica} begins to lead with HW {hw}; consumers were shown {shown} before."
    return ""


def wrongly_believed(turn: Turn) -> str:
    """A leader takes a follower to have what it does not have, from this step on."""
    if not isinstance(turn.grain, MessageGrain):
        return ""
    for leader in turn.replicas:
        if turn.after.role[leader] != LEADER:
            continue
        for follower in turn.replicas:
            if follower == leader or turn.after.remote_leo[leader, follower] <= 0:
                continue
            offset = first_false_offset(turn.after, leader, follower)
            if offset < 0:
                continue
            was_leader = turn.before.role[leader] == LEADER
            if was_leader and first_false_offset(turn.before, leader, follower) >= 0:
                continue
            record, leo = turn.now.logs[leader][offset], turn.after.remote_leo[leader, follower]
            return (
                f"From here on r{leader} is wrong to take r{follower} to have m{record}: its "
                f"remote LEO for r{follower} is {leo}."
            )
    return ""


def follows_beside(turn: Turn) -> str:
    """A follower is done with truncating, and its log is still no beginning of its leader's."""
    if not isinstance(turn.grain, MessageGrain):
        return ""
    for follower in turn.replicas:
        if turn.after.role[follower] != FETCHING or (
            turn.before.role[follower] == FETCHING
            and turn.before.known_leader[follower] == turn.after.known_leader[follower]
        ):
            continue
        leader = turn.after.known_leader[follower]
        theirs, own = turn.now.logs[leader], turn.now.logs[follower]
        for offset, record in enumerate(own):
            if offset >= len(theirs):
                return (
                    f"r{follower} goes on with m{record} at offset {offset}, where the log of its "
                    f"leader r{leader} has nothing: truncation has not removed it."
                )
            if theirs[offset] != record:
                return (
                    f"r{follower} goes on with m{record} at offset {offset}, where its leader "
                    f"r{leader} has m{theirs[offset]}: truncation has not removed it."
                )
    return ""


def appends_on_what_differs(turn: Turn) -> str:
    """A follower appends, from an old answer, what its leader has not, or has not there."""
    if not isinstance(turn.grain, MessageGrain) or turn.action != "RecvFetch":
        return ""
    follower = dict(turn.moment.arguments)["follower"]
    leader = turn.before.known_leader[follower]
    was, now, theirs = (
        turn.was.logs[follower],
        turn.now.logs[follower],
        turn.now.logs[leader],
    )
    gained = now[len(was) :]
    if gone := tuple(record for record in gained if record not in theirs):
        return f"r{follower} appends {records(gone)}, which r{leader} does not have any more."
    for offset, (own, other) in enumerate(zip(was, theirs, strict=False)):
        if gained and own != other:
            return (
                f"r{follower} appends {records(gained)} to a log that is not r{leader}'s: at "
                f"offset {offset} it has m{own}, r{leader} has m{other}."
            )
    return ""


def distrusts(turn: Turn) -> str:
    """With ELR, a broker that comes back from a crash leaves ISR and ELR, whatever its log has."""
    if not isinstance(turn.grain, MessageGrain):
        return ""
    left = turn.grain.eligible(turn.before) & ~turn.grain.eligible(turn.after)
    for replica in members(left, len(turn.replicas)):
        if turn.was.up[replica] or not turn.now.up[replica]:
            continue
        has = tuple(r for r in turn.promised if r in turn.now.logs[replica])
        although = f", although it has {records(has)}" if has else ""
        return (
            f"r{replica} did not stop properly, so it may not be elected any more{although}: "
            "Kafka does not trust its log."
        )
    return ""


def leads_in_the_past(turn: Turn) -> str:
    """A broker takes up leadership that is over."""
    epoch = turn.grain.epoch(turn.after)
    for replica in turn.replicas:
        if not turn.grain.leads(turn.after, replica):
            continue
        known = turn.after.known_epoch[replica]
        is_new = known != turn.before.known_epoch[replica]
        if is_new and known < epoch:
            return f"r{replica} begins to lead in epoch {known}, and epoch {epoch} has begun."
    return ""


def written_by_a_stale_leader(turn: Turn) -> str:
    """A leader that has been replaced, and does not know it, appends a record."""
    if turn.action != "Produce":
        return ""
    leader = dict(turn.moment.arguments)["leader"]
    current = turn.grain.elected_leader(turn.after)
    if turn.grain.leader(turn.after) == leader:
        return ""
    record = turn.now.logs[leader][-1]
    appends = f"r{leader} appends m{record} in epoch {turn.after.known_epoch[leader]}"
    if current is None:
        return f"{appends}, which is over: nobody leads, and it does not know."
    if current == leader:
        return f"{appends}, which is over, and it does not know yet."
    return f"{appends} and does not know that r{current} is leader now."


def answered_out_of_range(turn: Turn) -> str:
    """A follower's log is longer than its leader's."""
    if not isinstance(turn.grain, MessageGrain) or turn.action not in {"LeaderFetch", "WakeParked"}:
        return ""
    follower = dict(turn.moment.arguments)["follower"]
    if turn.after.fetch[follower] != OUT_OF_RANGE:
        return ""
    leader = turn.after.known_leader[follower]
    return (
        f"r{follower}'s log ends at {turn.after.leo[follower]}, that of its leader r{leader} at "
        f"{turn.after.leo[leader]}: what it has beyond that has no place in r{leader}'s log."
    )


def consumes(turn: Turn) -> str:
    """A consumer reads a record that some log will lose."""
    if turn.action != "Consume" or turn.after.consumed <= turn.before.consumed:
        return ""
    record = turn.after.last_consumed
    losers = [copy.replica for copy in turn.fates[record].copies if copy.gone is not None]
    if not losers and not turn.fates[record].ending.is_bad:
        return ""
    where = f": {brokers(sorted(set(losers)))} will not keep it" if losers else ""
    return f"A consumer has read m{record} at offset {turn.after.consumed - 1}{where}."
