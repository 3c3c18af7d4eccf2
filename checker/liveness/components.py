"""Strongly connected components of a graph, by Pearce's form of Tarjan's algorithm.

The loop is compiled; there arrays hold no negative numbers. One search, depth first: edge by edge,
without recursion. A state's label is at first when it was met, lowered to the least label that can
be reached from it among states that are in no component yet; once it is in one, the component's
number, which is greater than all these (Pearce 2016, "A space-efficient algorithm for finding
strongly connected components").
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue
from waterline.checker.graph.adjacency import Numbers, Places
from waterline.checker.problem.packed_rows import address
from waterline.checker.storage.blocks import NUMBER, NUMBERS


def label_states(
    first: Any, target: Any, states: int, label: Any, looked_at: Any, stack: Any, alone: Any
) -> int:
    """label[i], 0 before, becomes `states` less the number of the component of i.

    Returns how many components there are. The others are room for a number of each state, or a
    byte. `looked_at`: how many of its edges were followed. `stack`: the path at its start, at its
    end the states that were left and are in no component yet. `alone`: whether it reaches no state
    that was met before it and is in none.
    """
    found = 0
    waiting = states
    for start in range(states):
        if label[start] != 0:
            continue
        # All that was met before is in components.
        label[start] = 1
        looked_at[start] = 0
        alone[start] = 1
        stack[0] = start
        path = 1
        met = 2
        while path != 0:
            state = stack[path - 1]
            at = first[state] + looked_at[state]
            end = first[state + 1]
            least = label[state]
            other = 0
            while at < end:
                other = target[at]
                if label[other] == 0:
                    break
                least = min(least, label[other])
                at += 1
            if least != label[state]:
                label[state] = least
                alone[state] = 0
            if at < end:
                # The edge is looked at again once all that can be reached from there is labelled.
                looked_at[state] = at - first[state]
                label[other] = met
                looked_at[other] = 0
                alone[other] = 1
                stack[path] = other
                path += 1
                met += 1
                continue
            path -= 1
            if alone[state] == 0:
                waiting -= 1
                stack[waiting] = state
                continue
            number = states - found
            while waiting < states and label[stack[waiting]] >= least:
                label[stack[waiting]] = number
                waiting += 1
                met -= 1
            label[state] = number
            met -= 1
            found += 1
    return found


@functools.cache
def recipe() -> Recipe:
    """The loop as a program."""
    numbers, flags = ArrayValue("%", "i32"), ArrayValue("%", "i8")
    given = (NUMBERS, numbers, NUMBER, numbers, numbers, numbers, flags)
    return own_recipe((label_states, given))


def components(first: Places, target: Numbers) -> Numbers:
    """The number of each state's strongly connected component, from 0 on without a gap.

    The edges of state i lead to target[first[i]:first[i + 1]].
    """
    states = len(first) - 1
    label: Numbers = np.zeros(states, np.int32)
    looked_at: Numbers = np.empty(states, np.int32)
    stack: Numbers = np.empty(states, np.int32)
    alone: NDArray[np.bool_] = np.empty(states, np.bool_)
    load_program(recipe())["label_states"](
        address(first),
        address(target),
        states,
        address(label),
        address(looked_at),
        address(stack),
        address(alone),
    )
    number: Numbers = states - label
    return number
