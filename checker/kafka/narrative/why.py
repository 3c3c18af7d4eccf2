"""Significance of a step: at most one sentence, derived from the states around it.

Each rule looks at one step and returns its sentence, or "". The first sentence is used; the claim
decides which rules come first. The last step needs no rule: the claim's own `explain` describes it.
"""

from __future__ import annotations

from collections.abc import Callable

from waterline.checker.kafka.narrative.grain import brokers, members, records
from waterline.checker.kafka.narrative.turn import Turn
from waterline.checker.kafka.narrative.why_of_brokers import (
    answered_out_of_range,
    appends_on_what_differs,
    begins_behind,
    consumes,
    distrusts,
    elects_without,
    follows_beside,
    joins_without,
    leads_alone,
    leads_in_the_past,
    nobody_runs_with_it,
    returns_below_its_log,
    written_by_a_stale_leader,
    wrongly_believed,
)

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
            waited_for = members(counted, len(turn.replicas))
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
