"""Comparison of what the classes show with a state of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from waterline.model.message.terms import LEADER, NO_EPOCH, NO_ROLE

_OF_A_REPLICA = ("leo", "checkpoint", "role")
_OF_ONE_WITH_A_ROLE = ("known_epoch", "hw")
_OF_A_FOLLOWER = ("fetch", "known_leader")


SILENT = (
    "a follower that is refused with FENCED_LEADER_EPOCH is silent until it learns of an epoch "
    "(AbstractFetcherThread.onPartitionFenced, since 2.1); the model lets it ask, and be refused, "
    "again"
)
"""A known difference: these steps of the model change nothing."""


def known_reason(state: Mapping[str, Any], seen: Mapping[str, Any], found: list[str]) -> str:
    """The known difference that is all that differs; "" if there is more."""
    silent = [
        f"role[{replica}] is {NO_ROLE}; the model has {state['role'][str(replica)]}"
        for replica, broker in enumerate(seen["brokers"])
        if broker is not None and broker.get("refusal") == "FENCED_LEADER_EPOCH"
    ]
    return SILENT if silent and found == silent else ""


def differences(
    state: Mapping[str, Any], seen: Mapping[str, Any], *, epoch_on_leading: bool = True
) -> list[str]:
    """All that differs, a sentence each; none if the classes agree with the model.

    `epoch_on_leading`: the model's leader enters its epoch into the cache before its first record.
    """
    if "problem" in seen:
        return [f"the step fails: {seen['problem']}"]
    return list(_differences(state, seen, epoch_on_leading))


def _differences(
    state: Mapping[str, Any], seen: Mapping[str, Any], epoch_on_leading: bool
) -> Iterator[str]:
    yield from _unless_equal("isr", seen["isr"], state["isr"])
    yield from _unless_equal("acked", seen["acked"], sorted(state["acked"]))
    for replica, broker in enumerate(seen["brokers"]):
        number = str(replica)
        if broker is None:
            yield from _unless_equal(f"up[{number}]", 0, int(state["up"][number]))
            continue
        expected = expected_of(state, number, epoch_on_leading=epoch_on_leading)
        for field, value in expected.items():
            yield from _unless_equal(f"{field}[{number}]", broker.get(field), value)


def _unless_equal(name: str, found: Any, expected: Any) -> Iterator[str]:
    if found != expected:
        yield f"{name} is {found}; the model has {expected}"


def expected_of(
    state: Mapping[str, Any], number: str, *, epoch_on_leading: bool = True
) -> dict[str, Any]:
    """Return the fields that a running broker must show, by the names of the harness.

    What a broker without a role has in memory is not there before it learns what it is.
    """
    names = [field for field in _OF_A_REPLICA if field in state]
    role = state["role"][number]
    if role != NO_ROLE:
        names += _OF_ONE_WITH_A_ROLE
    if role == LEADER:
        names.append("known_isr")
    elif role != NO_ROLE:
        names += _OF_A_FOLLOWER
    expected = {name: state[name][number] for name in names}
    expected["log"] = [
        {"offset": offset, "epoch": state["record_epoch"][str(record)], "record": record}
        for offset in range(state["leo"][number])
        if (record := state["log"][number][str(offset)])
    ]
    if role == LEADER:
        others = state["remote_leo"][number].items()
        expected["remote_leo"] = {other: end for other, end in others if other != number}
    if role != NO_ROLE:
        expected["epochs"] = epoch_cache(state, number, expected["log"], epoch_on_leading)
    return expected


def epoch_cache(
    state: Mapping[str, Any], number: str, log: list[dict[str, int]], epoch_on_leading: bool
) -> list[Any]:
    """The leader epoch cache as the model has it: first offsets, and an entry without a record."""
    entries: list[list[int]] = []
    for record in log:
        if not entries or entries[-1][0] != record["epoch"]:
            entries.append([record["epoch"], record["offset"]])
    if state["role"][number] != LEADER:
        last = state["cached_epoch"][number]
    else:
        last = state["known_epoch"][number] if epoch_on_leading else NO_EPOCH
    if last != NO_EPOCH and (not entries or entries[-1][0] < last):
        entries.append([last, state["leo"][number]])
    return entries
