"""The loops of a batch of walks, to be compiled: see `checker.analysis.simulate.walker`.

All walks of a batch take their steps together: their states are rows that the problem's kernel
expands, of each row's successors one is chosen, and it takes the row's place. Every number that
chance gives is a function of the seed, the walk's number and the step, and of nothing else.
"""

from __future__ import annotations

from typing import Any

from waterline.checker.analysis.simulate.hyperloglog import count_row, mix
from waterline.checker.compiler.loops import FAULT
from waterline.checker.compiler.machine_words import (
    address_of,
    below,
    bytes_at,
    call_at,
    rows_at,
    shifted,
    slots_at,
)
from waterline.checker.compiler.origins import action_of, row_of, step_of

EXPAND, INSPECT, SETTINGS, ACTIONS, INVARIANTS, PROPERTIES = 0, 1, 2, 3, 4, 5
INVARIANTS_ALL, PROPERTIES_ALL = 6, 7
INITIAL, INITIALS = 8, 9
SEED, FIRST, LIVE, DEPTH_MAX, WAY, IS_OUTSIDE = 10, 11, 12, 13, 14, 15
ROWS, OUT, SIZE, ORIGIN, DEAD = 16, 17, 18, 19, 20
FIRED, CUT, HAPPENED, TAKEN = 21, 22, 23, 24
BROKEN, LEAST = 25, 26
SPARE_OUT, SPARE_SIZE, SPARE_ORIGIN, SPARE_COUNTS, SPARE_HAPPENED = 27, 28, 29, 30, 31
LANES, SEEN, ENDED, LENGTHS, SKETCH, RECORD = 32, 33, 34, 35, 36, 37
DEPTH, NEXT, WRITTEN, SPARE_NEXT, SPARE_WRITTEN, WHERE, FAULTY = 38, 39, 40, 41, 42, 43, 44
JOB = 45
"""Size of a job. Its cells begin with the kernel: addresses of `expand`, `inspect` and the
settings, masks of the version's actions and of the claims that are checked, and how many claims
there are. Then the walks: the initial states, the seed, the number of the first walk, how many
walks are under way, the most steps of one, and how it chooses (`choose`), with the actions that are
from outside. Then arrays, by address. Last the progress: steps taken, the two numbers that `expand`
returns, twice, and the place of a state whose claims or actions cannot be evaluated.
"""
DONE, FAULTY_STATE = 0, 2
"""Results: all walks have ended; or the state at `FAULTY` of the block at `WHERE` faults. A result
of 0 or 1 would be compiled to a truth, which a caller from outside cannot read as a number.
"""

STEPS, ACTIONS_FIRST, PACES, RARE, MIXED = 0, 1, 2, 3, 4
"""Ways for a walk to choose; `MIXED` is each of the others in turn."""
PACES_MAX = 8
"""In a walk with paces an action weighs up to two to this power times as much as another."""
OFTEN = 8
"""Where faults are rare, how much more a step of the protocol weighs."""

KEY, NUMBER, OPEN, KEPT, HOW, BASE, TOTAL, LAST, COUNT, CHOSEN = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
LANE = 10
"""Size of a walk's lane: its random key, its number, masks of the invariants and properties that it
has not broken, its way to choose, and the scratch cells of choosing.
"""
SEEN_DEPTH, SEEN_WALK, SEEN_STEP, SEEN_WALKS = 0, 1, 2, 3
SEEN_WIDTH = 4
"""Where a claim broke first (steps, number of the walk, the last step), and in how many walks."""
NO_STEP = -1

_GAMMA = 0x9E3779B97F4A7C15 - (1 << 64)
_DELTA = 0xD1B54A32D192ED03 - (1 << 64)
_HALF = 1 << 32


def begin(job: Any, words: int) -> int:
    """Put every walk where it begins, and look at these states."""
    rows = rows_at(job[ROWS], words)
    initial = rows_at(job[INITIAL], words)
    lanes = rows_at(job[LANES], LANE)
    for r in range(job[LIVE]):
        number = job[FIRST] + r
        key = mix(mix(job[SEED] + _GAMMA) + number * _GAMMA)
        lanes[r, KEY] = key
        lanes[r, NUMBER] = number
        lanes[r, OPEN] = job[INVARIANTS]
        lanes[r, KEPT] = job[PROPERTIES]
        lanes[r, HOW] = job[WAY]
        if job[WAY] == MIXED:
            lanes[r, HOW] = number & 3
        which = shifted(shifted(mix(key), 32) * job[INITIALS], 32)
        for w in range(words):
            rows[r, w] = initial[which, w]
        count_row(slots_at(job[SKETCH]), rows, r, words)
    fault = judge_block(job, job[ROWS], job[LIVE], 0, True)
    if fault >= 0:
        job[WHERE] = job[ROWS]
        job[FAULTY] = fault
        return FAULTY_STATE
    return DONE


def walk(job: Any, words: int) -> int:
    """Take steps until every walk has ended, or a state faults."""
    while job[LIVE] > 0 and job[DEPTH] < job[DEPTH_MAX]:
        ended = call_at(
            job[EXPAND],
            job[SETTINGS],
            job[ACTIONS],
            job[PROPERTIES],
            job[ROWS],
            0,
            job[LIVE],
            job[OUT],
            job[SIZE],
            job[ORIGIN],
            job[FIRED],
            job[CUT],
            job[HAPPENED],
            job[DEAD],
            job[BROKEN],
            job[LEAST],
            address_of(job, NEXT),
        )
        if ended == FAULT:
            job[WHERE] = job[ROWS]
            job[FAULTY] = job[NEXT]
            return FAULTY_STATE
        note_steps(job)
        fault = judge_block(job, job[OUT], job[WRITTEN], job[DEPTH] + 1, False)
        if fault >= 0:
            job[WHERE] = job[OUT]
            job[FAULTY] = fault
            return FAULTY_STATE
        choose(job, job[WRITTEN])
        move(job, words)
        job[DEPTH] += 1
    return DONE


def judge_block(job: Any, block: int, n: int, depth: int, is_initial: bool) -> int:
    """Note the invariants that break in a block, by walk; return the row of a fault, or -1.

    The block holds the walks' own states, or all their successors: every state one step away
    counts, whether the walk goes there or not.
    """
    fault: int = call_at(
        job[INSPECT], job[SETTINGS], job[INVARIANTS], block, 0, n, job[BROKEN], job[LEAST]
    )
    if fault >= 0:
        return fault
    broken = bytes_at(job[BROKEN])
    if not clear_flags(job, job[INVARIANTS_ALL]):
        return -1
    origin = rows_at(job[ORIGIN], 1)
    lanes = rows_at(job[LANES], LANE)
    for j in range(n):
        r = j
        step = NO_STEP
        if not is_initial:
            r = row_of(origin[j, 0])
            step = step_of(origin[j, 0])
        if lanes[r, OPEN] == 0:
            continue
        call_at(
            job[INSPECT], job[SETTINGS], job[INVARIANTS], block, j, j + 1, job[BROKEN], job[LEAST]
        )
        for k in range(job[INVARIANTS_ALL]):
            if broken[k] != 0 and (lanes[r, OPEN] >> k) & 1 == 1:
                lanes[r, OPEN] = lanes[r, OPEN] & ~(1 << k)
                note(job, k, depth, lanes[r, NUMBER], step)
        clear_flags(job, job[INVARIANTS_ALL])
    return -1


def note_steps(job: Any) -> int:
    """Note the properties that some step out of the walks' states breaks, by walk.

    The kernel only reports that one does, so every walk's state is expanded once more by itself.
    """
    broken = bytes_at(job[BROKEN])
    if not clear_flags(job, job[PROPERTIES_ALL]):
        return 0
    lanes = rows_at(job[LANES], LANE)
    for r in range(job[LIVE]):
        if lanes[r, KEPT] != 0:
            call_at(
                job[EXPAND],
                job[SETTINGS],
                job[ACTIONS],
                job[PROPERTIES],
                job[ROWS],
                r,
                r + 1,
                job[SPARE_OUT],
                job[SPARE_SIZE],
                job[SPARE_ORIGIN],
                job[SPARE_COUNTS],
                job[SPARE_COUNTS],
                job[SPARE_HAPPENED],
                job[DEAD],
                job[BROKEN],
                job[LEAST],
                address_of(job, SPARE_NEXT),
            )
            for k in range(job[PROPERTIES_ALL]):
                if broken[k] != 0 and (lanes[r, KEPT] >> k) & 1 == 1:
                    lanes[r, KEPT] = lanes[r, KEPT] & ~(1 << k)
                    note(job, job[INVARIANTS_ALL] + k, job[DEPTH] + 1, lanes[r, NUMBER], NO_STEP)
            clear_flags(job, job[PROPERTIES_ALL])
    return 0


def clear_flags(job: Any, claims: int) -> bool:
    """Take back all flags; whether there were any."""
    broken = bytes_at(job[BROKEN])
    found = 0
    for k in range(claims):
        found |= broken[k]
        broken[k] = 0
    return found != 0


def note(job: Any, claim: int, depth: int, number: int, step: int) -> int:
    """A claim breaks in a walk: keep the one with the fewest steps, of these the first."""
    seen = rows_at(job[SEEN], SEEN_WIDTH)
    seen[claim, SEEN_WALKS] += 1
    first = seen[claim, SEEN_DEPTH]
    if first < 0 or depth < first or (depth == first and number < seen[claim, SEEN_WALK]):
        seen[claim, SEEN_DEPTH] = depth
        seen[claim, SEEN_WALK] = number
        seen[claim, SEEN_STEP] = step
    return 0


def choose(job: Any, n: int) -> int:
    """Choose one of each walk's successors at random, into the lane's `CHOSEN`; -1 if it has none.

    The successors of a row come in the order of their actions. They are dealt into groups, one for
    each step (`STEPS`) or one for each action. All groups weigh the same, or each has a pace for
    the whole walk (`PACES`), or the protocol's own also weigh more (`RARE`). A group replaces the
    one kept so far with its share of all weights until then, and a step likewise within its group:
    so each group is chosen by its weight, and the steps of a group are equally likely.
    """
    lanes = rows_at(job[LANES], LANE)
    origin = rows_at(job[ORIGIN], 1)
    is_outside = bytes_at(job[IS_OUTSIDE])
    for r in range(job[LIVE]):
        lanes[r, BASE] = mix(lanes[r, KEY] + (job[DEPTH] + 1) * _GAMMA)
        lanes[r, TOTAL] = 0
        lanes[r, LAST] = NO_STEP
        lanes[r, COUNT] = 0
        lanes[r, CHOSEN] = NO_STEP
    for j in range(n):
        r = row_of(origin[j, 0])
        step = step_of(origin[j, 0])
        action = action_of(step)
        how = lanes[r, HOW]
        group = step
        if how != STEPS:
            group = action
        if group != lanes[r, LAST]:
            lanes[r, LAST] = group
            weight = 1
            if how >= PACES:
                pace = mix(lanes[r, KEY] ^ ((group + 1) * _DELTA))
                weight = 1 << shifted(shifted(pace, 32) * (PACES_MAX + 1), 32)
            if how == RARE and is_outside[action] == 0:
                weight *= OFTEN
            lanes[r, TOTAL] += weight
            lanes[r, COUNT] = 0
            number = shifted(mix(lanes[r, BASE] + (group + 1) * _DELTA), 32)
            if below(number * lanes[r, TOTAL], weight * _HALF):
                lanes[r, COUNT] = 1
                lanes[r, CHOSEN] = j
        elif lanes[r, COUNT] > 0:
            lanes[r, COUNT] += 1
            another = shifted(mix(lanes[r, BASE] ^ ((step + 1) * _DELTA)), 32)
            if below(another * lanes[r, COUNT], _HALF):
                lanes[r, CHOSEN] = j
    return 0


def move(job: Any, words: int) -> int:
    """Every walk goes where it chose to; those that cannot end, and leave no gap."""
    rows = rows_at(job[ROWS], words)
    out = rows_at(job[OUT], words)
    ended = rows_at(job[ENDED], words)
    lanes = rows_at(job[LANES], LANE)
    origin = rows_at(job[ORIGIN], 1)
    taken = rows_at(job[TAKEN], 1)
    lengths = rows_at(job[LENGTHS], 1)
    recorded = rows_at(job[RECORD], 1)
    registers = slots_at(job[SKETCH])
    kept = 0
    for r in range(job[LIVE]):
        j = lanes[r, CHOSEN]
        if j < 0:
            place = lanes[r, NUMBER] - job[FIRST]
            lengths[place, 0] = job[DEPTH]
            for w in range(words):
                ended[place, w] = rows[r, w]
        else:
            step = step_of(origin[j, 0])
            taken[action_of(step), 0] += 1
            if job[RECORD] != 0:
                recorded[job[DEPTH], 0] = step
            for w in range(words):
                rows[kept, w] = out[j, w]
            for field in range(BASE):
                lanes[kept, field] = lanes[r, field]
            count_row(registers, rows, kept, words)
            kept += 1
    job[LIVE] = kept
    return 0
