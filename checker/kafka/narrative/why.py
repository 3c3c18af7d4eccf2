"""Significance of a step: at most one sentence, derived from the states around it.

Each rule looks at one step and returns its sentence, or "". The first sentence is used; the claim
decides which rules come first. The last step needs no rule: the claim's own `explain` describes it.
"""

from __future__ import annotations

from collections.abc import Callable

from waterline.checker.kafka.narrative.grain import Turn, brokers, records
from waterline.checker.kafka.narrative.message_grain import MessageGrain
from waterline.invariants.remote_leo_honest import first_false_offset
from waterline.model.message.narration.phrases import members_of
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
    for replica in members_of(joined, len(turn.replicas)):
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
    inside = members_of(isr, len(turn.replicas))
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
    for replica in members_of(left, len(turn.replicas)):
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


Rule = Callable[[Turn], str]


def vanishes(turn: Turn) -> str:
    """Promised records leave a log: who still has them."""
    for replica in turn.replicas:
        gone = tuple(r for r in turn.lost_records(replica) if turn.fates[r].standing(turn.number))
        if not gone:
            continue
        first = gone[0]
        cause = turn.grain.cause(turn.settings, turn.moment, replica)
        where = f" at offset {turn.was.logs[replica].index(first)}" if len(gone) == 1 else ""
        return (
            f"{cause}: {records(gone)}{where}, {turn.standing(first)}, "
            f"{_is(gone)} gone from r{replica}; {_left_with(turn, first)}."
        )
    return ""


def vanishes_rightly(turn: Turn) -> str:
    """Records leave a log without having been committed."""
    for replica in turn.replicas:
        if gone := turn.lost_records(replica):
            cause = turn.grain.cause(turn.settings, turn.moment, replica)
            return f"{cause}: {records(gone)} {_was(gone)} never committed, and may go."
    return ""


def _left_with(turn: Turn, record: int) -> str:
    holders = turn.now.holders(record)
    if not holders:
        return "no log has it any more"
    down = [r for r in holders if not turn.now.up[r]]
    text = f"only {brokers(holders)} still {'has' if len(holders) == 1 else 'have'} it"
    if len(down) == len(holders):
        text += f", and {'is' if len(holders) == 1 else 'are'} down"
    return text


def parts(turn: Turn) -> str:
    """Two logs differ at one offset from here on."""
    for parting in turn.partings:
        one, two = parting.replicas
        left, right = parting.records
        text = (
            f"From here on two logs part: at offset {parting.offset} r{one} has m{left}, "
            f"r{two} has m{right}"
        )
        for record in parting.records:
            standing = turn.fates[record].standing(turn.number)
            if standing:
                return f"{text}; m{record} was {standing} there."
        return f"{text}."
    return ""


def promised_falsely(turn: Turn) -> str:
    """A record counts as committed although a replica that the leader waits for lacks it."""
    for leader in turn.replicas:
        for record in _newly_promised(turn):
            if record not in turn.now.logs[leader]:
                continue
            counted = turn.grain.required_replicas(turn.settings, turn.after, leader)
            waited_for = members_of(counted, len(turn.replicas))
            without = [r for r in waited_for if record not in turn.now.logs[r]]
            if without and record in turn.now.committed:
                standing = turn.fates[record].standing(turn.number)
                return (
                    f"m{record} counts as {standing} although {brokers(without)}, whom r{leader} "
                    f"waits for, {'does' if len(without) == 1 else 'do'} not have it: r{leader} "
                    "goes by a remote LEO that is not true."
                )
    return ""


def promises(turn: Turn) -> str:
    """A record is committed or acknowledged: from here on Kafka owes it."""
    new = _newly_promised(turn)
    if not new:
        return ""
    record = new[0]
    text = f"{records(new)} {_is(new)} {turn.fates[record].standing(turn.number)} now"
    holders = turn.now.holders(record)
    if len(holders) == 1 and len(turn.replicas) > 1:
        return f"{text}, and in no log but that of r{holders[0]}."
    behind = [
        r for r in holders if turn.now.up[r] and turn.after.hw[r] <= turn.now.logs[r].index(record)
    ]
    if behind and record in turn.now.committed:
        first = behind[0]
        return (
            f"{text}; r{first} has {_it(new)} too, and does not know it is committed: its HW is "
            f"still {turn.after.hw[first]}."
        )
    return f"{text}: from here on Kafka may not lose {_it(new)}."


def _newly_promised(turn: Turn) -> tuple[int, ...]:
    return tuple(r for r, fate in sorted(turn.fates.items()) if fate.promised == turn.number)


def _is(ids: tuple[int, ...]) -> str:
    return "is" if len(ids) == 1 else "are"


def _was(ids: tuple[int, ...]) -> str:
    return "was" if len(ids) == 1 else "were"


def _it(ids: tuple[int, ...]) -> str:
    return "it" if len(ids) == 1 else "them"


RULES: tuple[Rule, ...] = (
    vanishes,
    parts,
    promised_falsely,
    promises,
    elects_without,
    joins_without,
    follows_beside,
    appends_on_what_differs,
    wrongly_believed,
    vanishes_rightly,
    returns_below_its_log,
    nobody_runs_with_it,
    begins_behind,
    distrusts,
    leads_in_the_past,
    leads_alone,
    written_by_a_stale_leader,
    answered_out_of_range,
    consumes,
)
"""Rules in order, unless the claim puts others first as its `reasons`."""
_RULE_OF: dict[str, Rule] = {rule.__name__: rule for rule in RULES}


def why(turn: Turn) -> str:
    """Why the step matters, "" where it is plain progress."""
    for rule in (*(_RULE_OF[name] for name in turn.reasons), *RULES):
        text = rule(turn)
        if text:
            return text
    return ""
