"""Second normal form of the order abstraction, in plain Python over dictionaries and lists.

It says what `check --unbounded` should make of a state of a bounded model, whose epochs, records
and counters are all there. It was written from the table in `docs/unbounded.md`, not from
`model.message.order_abstraction`, which `lab.fuzz.order_abstraction` and `lab.fuzz.whole_spaces`
compare with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from waterline.model.core.transition_system import Model
from waterline.model.message.environment import EPOCHS_MAX, UNCOUNTED
from waterline.model.message.features import FRESH_REMOTE_LEO_AFTER_GAP, TRUNCATE_AFTER_GAP, has

NOWHERE = 0
NO_EPOCH = -1
Plain = dict[str, Any]


def normal_form(bounded: Plain, unbounded: Model, cut: int = 0) -> Plain:
    """What a state of a bounded model becomes, as fields of the unbounded one by name.

    `cut` records are known to be settled already.
    """
    cut = max(cut, settled(bounded, unbounded))
    bounded = _without_first(bounded, cut)
    state, room = dict(bounded), unbounded.layout.sizes
    names = _records(state)
    ranks = _epochs(state, names, _sees_gaps(unbounded))
    state["acked"] = _acked(state["acked"], names, room["ids"])
    state["unanswered"] = [
        members if members is None else _set(members, names) for members in state["unanswered"]
    ]
    state["still_waiting"] = [
        [_acked(members, names, room["ids"]) for members in row][: room["records"]]
        for row in state["still_waiting"]
    ]
    state["last_consumed"] = names.get(state["last_consumed"], NOWHERE)
    state["exposed"] = [names.get(r, NOWHERE) for r in state["exposed"]][: room["records"]]
    for field in ("log", "answer_log"):
        state[field] = [
            [r if r is None else names.get(r, NOWHERE) for r in row][: room["records"]]
            for row in state[field]
        ]
    epoch_of = {names[r]: ranks[bounded["record_epoch"][r - 1]] for r in names}
    state["record_epoch"] = [epoch_of.get(name, 0) for name in range(1, room["ids"] + 1)]
    state["produced"] = len(names)
    for field in ("epoch", "stray_epoch", "stray_last_epoch"):
        if field == "epoch" or state["stray_from"] >= 0:
            state[field] = ranks[state[field]]
    for field in ("known_epoch", "cached_epoch"):
        state[field] = [e if e is None else ranks[e] for e in state[field]]
    state |= {f"{name}_used": 0 for name in UNCOUNTED}
    if unbounded.settings.power_losses == 0:
        state["durable"] = [0] * room["replicas"]
    for field in ("decided_leader", "decided_isr", "future_log"):
        del state[field]
    return state


def settled(state: Plain, unbounded: Model) -> int:
    """How many records all have for good, less the last of them."""
    c = unbounded.settings
    if not c.settled:
        return 0
    logs = [[record for record in row if record] for row in state["log"]]
    leaders = [r for r, members in enumerate(state["unanswered"]) if members is not None]
    offsets = [state["exposed_end"], *state["checkpoint"]]
    offsets += [hw for hw, up in zip(state["hw"], state["up"], strict=True) if up]
    offsets += [leo for r in leaders for leo in state["remote_leo"][r] if leo >= 0]
    answers = zip(state["fetch"], state["answer_offset"], strict=True)
    offsets += [offset for fetch, offset in answers if fetch in {2, 3, 5, 6}]
    offsets += [state["booking_offset"]] if state["booking_from"] >= 0 else []
    offsets += state["durable"] if c.power_losses else []
    offsets += [state["consumed"]] if c.consumer else []
    epochs = [state["known_epoch"][r] for r in leaders]
    epochs += [epoch for epoch in state["cached_epoch"] if epoch is not None and epoch >= 0]
    if state["stray_from"] >= 0:
        offsets.append(state["stray_offset"])
        epochs += [epoch for epoch in [state["stray_last_epoch"]] if epoch >= 0]
    order = [record for record, _ in sorted(_records(state).items(), key=lambda pair: pair[1])]
    waiting = {record for r in leaders for record in _members(state["unanswered"][r])}
    due = [offset for row in state["still_waiting"] for offset, due in enumerate(row) if due]
    most = 0
    for end in range(2, min(map(len, logs)) + 1):
        same = all(row[:end] == state["exposed"][:end] == order[:end] for row in logs)
        above = min(offsets) >= end and not waiting & set(order[:end])
        above = above and min(due, default=end) >= end
        if not (
            same and above and min(epochs, default=EPOCHS_MAX) >= _epoch_of(state, order[end - 1])
        ):
            break
        most = end - 1
    # The last record of all is never cut off, so that a room of one has nothing to cut.
    return most if unbounded.layout.sizes["records"] > 1 else 0


def _epoch_of(state: Plain, record: int) -> int:
    return int(state["record_epoch"][record - 1])


def _without_first(bounded: Plain, cut: int) -> Plain:
    """The state with all offsets less by so many, and without the records below."""
    state = dict(bounded)
    state["base"] = int(cut > 0 or bounded.get("base", 0))
    gone = {row[offset] for row in state["log"] for offset in range(cut)}
    state["acked"] = sum(1 << r - 1 for r in _members(state["acked"]) if r not in gone)
    for name in ("log", "still_waiting"):
        state[name] = [row[cut:] + [0] * cut for row in state[name]]
    state["exposed"] = state["exposed"][cut:] + [0] * cut
    for name in ("exposed_end", "consumed"):
        state[name] = max(0, state[name] - cut)
    if state["stray_from"] >= 0:
        state["stray_offset"] -= cut
    if state["booking_from"] >= 0:
        state["booking_offset"] -= cut
    for name in ("leo", "checkpoint", "durable"):
        state[name] = [max(0, offset - cut) for offset in state[name]]
    state["hw"] = [hw - cut if up else hw for hw, up in zip(state["hw"], state["up"], strict=True)]
    state["remote_leo"] = [
        [leo if leo is None or leo < 0 else leo - cut for leo in row] for row in state["remote_leo"]
    ]
    state["answer_offset"] = [
        offset - cut if fetch in {2, 3, 5, 6} else offset
        for fetch, offset in zip(state["fetch"], state["answer_offset"], strict=True)
    ]
    return state


def _records(state: Plain) -> dict[int, int]:
    """New names by old ones: those in some log or answer, by epoch, offset, where first seen."""
    seen: dict[int, tuple[int, ...]] = {}
    for kind, rows in enumerate((state["log"], state["answer_log"])):
        for replica, row in enumerate(rows):
            for i, record in enumerate(row):
                if record:
                    offset = i if kind == 0 else state["leo"][replica] + i
                    key = (state["record_epoch"][record - 1], offset, kind, i, replica)
                    seen[record] = min(key, seen.get(record, key), key=lambda k: k[2:])
    order = sorted(seen, key=lambda record: seen[record])
    return {record: name for name, record in enumerate(order, start=1)}


def _epochs(state: Plain, names: dict[int, int], sees_gaps: bool) -> dict[int, int]:
    """New epochs by old ones, in order."""
    found = {state["epoch"], *state["known_epoch"]}
    found |= {epoch for epoch in state["cached_epoch"] if epoch is not None}
    found |= {state["record_epoch"][record - 1] for record in names}
    if state["stray_from"] >= 0:
        found |= {state["stray_epoch"], state["stray_last_epoch"]}
    found.discard(NO_EPOCH)
    ranks = {epoch: rank for rank, epoch in enumerate(sorted(found))}
    if sees_gaps and len(found) > 1 and state["epoch"] - 1 not in found:
        ranks[state["epoch"]] += 1
    return ranks | {NO_EPOCH: NO_EPOCH}


def _sees_gaps(model: Model) -> bool:
    return has(model.settings, TRUNCATE_AFTER_GAP) or has(
        model.settings, FRESH_REMOTE_LEO_AFTER_GAP
    )


def _members(members: int) -> Iterator[int]:
    return (bit + 1 for bit in range(members.bit_length()) if members >> bit & 1)


def _set(members: int, names: dict[int, int]) -> int:
    return sum(1 << names[record] - 1 for record in _members(members) if record in names)


def _acked(members: int, names: dict[int, int], ids: int) -> int:
    lost = any(record not in names for record in _members(members))
    return _set(members, names) | lost << ids
