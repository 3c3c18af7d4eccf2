"""Permutations of replicas and names of records, as loops that canonical forms call.

A replica's signature is a number that no renaming changes. Only orders with non-decreasing
signatures have to be tried: of replicas that differ in it, one always comes first.
"""

from __future__ import annotations

from typing import Any


def sort_by_signature(order: Any, signature: Any, count: int) -> bool:
    """Make `order` the replicas by signature, then number; whether two have the same one."""
    tied = False
    for i in range(count):
        at = i
        while at > 0 and signature[order[at - 1]] > signature[i]:
            order[at] = order[at - 1]
            at -= 1
        if at > 0 and signature[order[at - 1]] == signature[i]:
            tied = True
        order[at] = i
    return tied


def next_order(order: Any, signature: Any, count: int) -> bool:
    """Advance to the next order with non-decreasing signatures; return False after the last one.

    From the order that `sort_by_signature` makes, each comes once.
    """
    end = count
    while end > 0:
        start = end - 1
        while start > 0 and signature[order[start - 1]] == signature[order[end - 1]]:
            start -= 1
        if next_permutation(order, start, end):
            return True
        end = start
    return False


def next_permutation(order: Any, start: int, end: int) -> bool:
    """Advance order[start:end]; after the greatest arrangement the least again, and False."""
    i = end - 2
    while i >= start and order[i] > order[i + 1]:
        i -= 1
    left, right = i + 1, end - 1
    if i >= start:
        j = end - 1
        while order[j] < order[i]:
            j -= 1
        order[i], order[j] = order[j], order[i]
    while left < right:
        order[left], order[right] = order[right], order[left]
        left += 1
        right -= 1
    return i >= start


def name_rest(name: Any, key: Any, given: int, born: int) -> None:
    """Name the records that have none yet, greatest key first; those of equal keys are alike."""
    for next_name in range(given, born + 1):
        chosen = 0
        for record in range(1, born + 1):
            if name[record] == 0 and (chosen == 0 or key[record] > key[chosen]):
                chosen = record
        name[chosen] = next_name
