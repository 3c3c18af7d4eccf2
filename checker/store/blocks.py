"""Blocks of packed states: hashing, splitting by owner, and the table of what has been visited.

A block is a C-contiguous (n, W) array of uint64. Functions take `width`, a tuple of W zeros, so
that Numba sees W as a constant. The packed state itself is the key everywhere: a hash only says
where to look, so nothing is ever taken for visited that is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.core.typing import signature
from numba.extending import intrinsic
from numpy.typing import NDArray

Rows = NDArray[np.uint64]
"""A block of states, one a row."""
Width = tuple[int, ...]

_M1 = np.uint64(0x9E3779B97F4A7C15)
_M2 = np.uint64(0xBF58476D1CE4E5B9)
_M3 = np.uint64(0x94D049BB133111EB)
_S29 = np.uint64(29)
_S32 = np.uint64(32)
_LOW32 = np.uint64(0xFFFFFFFF)
_LOW8 = np.uint64(0xFF)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)

INDEX_BITS = 24
INDEX_MASK = np.uint32((1 << INDEX_BITS) - 1)
OWNED_MAX = (1 << INDEX_BITS) - 2
"""Most states that one owner's table can hold."""
_TAG_SHIFT = np.uint32(INDEX_BITS)
_EMPTY = np.uint32(0)
_FAR = 16
_NEAR = 8
_RING = _FAR - 1
"""How many children ahead memory is asked for."""


def width_of(words: int) -> Width:
    """The `width` argument for states of this many words."""
    return (0,) * words


@njit(nogil=True, inline="always")
def hash_row(width: Any, rows: Any, row: int) -> Any:
    """64 mixed bits of one state, the same on every machine."""
    h = _M1
    for w in range(len(width)):
        h = (h ^ rows[row, w]) * _M2
        h ^= h >> _S32
        h *= _M3
        h ^= h >> _S29
    return h


@njit(nogil=True, inline="always")
def owner_of(h: Any, owners: int) -> Any:
    """Which of `owners` a hash belongs to: equal, contiguous ranges of the top half of the hash."""
    return np.int64(((h >> _S32) * np.uint64(owners)) >> _S32)


@njit(nogil=True, cache=True)
def owner_of_each(width: Any, rows: Any, owners: int) -> Any:
    """The owner of every row."""
    out = np.empty(rows.shape[0], np.int64)
    for row in range(rows.shape[0]):
        out[row] = owner_of(hash_row(width, rows, row), owners)
    return out


@intrinsic
def _prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask the processor to bring array[index] (or the row of a block) into its cache."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        struct = context.make_array(sig.args[0])(context, builder, value=args[0])
        stride = cgutils.unpack_tuple(builder, struct.strides)[0]
        byte = ir.IntType(8).as_pointer()
        start = builder.bitcast(struct.data, byte)
        address = builder.gep(start, [builder.mul(args[1], stride)])
        i32 = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        name = f"llvm.prefetch.p0{'i8' if not address.type.is_opaque else ''}"
        prefetch = cgutils.get_or_insert_function(builder.module, kind, name)
        builder.call(prefetch, [address, i32(0), i32(3), i32(1)])
        return context.get_dummy_value()

    return signature(types.none, array, types.int64), codegen


@njit(nogil=True, inline="always")
def _home(h: Any, slots: Any) -> Any:
    """Where in a table of this many slots a hash belongs: its lower half, scaled."""
    return ((h & _LOW32) * slots) >> _S32


@njit(nogil=True, inline="always")
def _tag(h: Any) -> Any:
    """Eight bits of a hash that say nothing of its slot and little of its owner."""
    return np.uint32((h >> _S32) & _LOW8)


@njit(nogil=True)
def same_row(width: Any, left: Any, i: int, right: Any, j: int) -> bool:
    """Whether two states are equal, word for word."""
    for w in range(len(width)):
        if left[i, w] != right[j, w]:
            return False
    return True


@njit(nogil=True)
def keep_least(rows: Any, row: int, broken: Any, least: Any, i: int) -> None:
    """Lower least[i] to rows[row] if that is smaller, words compared from the first."""
    smaller = not broken[i]
    if broken[i]:
        for w in range(rows.shape[1]):
            if rows[row, w] != least[i, w]:
                smaller = rows[row, w] < least[i, w]
                break
    if smaller:
        broken[i] = True
        for w in range(rows.shape[1]):
            least[i, w] = rows[row, w]


@njit(nogil=True, cache=True)
def hashes(width: Any, rows: Any) -> Any:
    """The hash of every row."""
    out = np.empty(rows.shape[0], np.uint64)
    for row in range(rows.shape[0]):
        out[row] = hash_row(width, rows, row)
    return out


@njit(nogil=True, cache=True)
def scatter(width: Any, rows: Any, n: int, recent: Any, out: Any, ends: Any, owned: Any) -> int:
    """Group rows[:n] by owner into `out`, leaving out most of what was scattered before.

    `recent` remembers rows by hash, one a slot, and drops a row that it still holds: it has been,
    or will be, absorbed anyway. Owner p's rows end at ends[p]. `owned` is room for n numbers.
    Returns how many rows there are in `out`.
    """
    owners = ends.shape[0]
    slots = np.uint64(recent.shape[0] - 1)
    ends[:] = 0
    for row in range(n):
        h = hash_row(width, rows, row)
        slot = np.int64(h & slots)
        if same_row(width, recent, slot, rows, row):
            owned[row] = -1
            continue
        for w in range(len(width)):
            recent[slot, w] = rows[row, w]
        owner = owner_of(h, owners)
        owned[row] = owner
        ends[owner] += 1
    total = 0
    for owner in range(owners):
        count = ends[owner]
        ends[owner] = total
        total += count
    for row in range(n):
        owner = owned[row]
        if owner >= 0:
            to = ends[owner]
            for w in range(len(width)):
                out[to, w] = rows[row, w]
            ends[owner] = to + 1
    return total


@njit(nogil=True, cache=True)
def absorb(
    width: Any, table: Any, states: Any, count: int, children: Any, ends: Any, owner: int
) -> int:
    """Add an owner's unseen children to its states; returns how many states it has then.

    children[k] is a scattered block with ends[k]. Each slot of `table` is 0 or a tag and the index
    of a state plus one; both arrays have room for every child. Memory is asked for well before it
    is needed: the slot of a child further on, then the state it names.
    """
    slots = np.uint64(table.shape[0])
    ahead = np.empty(_FAR, np.uint64)
    for k in range(ends.shape[0]):
        block = children[k]
        start = ends[k, owner - 1] if owner > 0 else 0
        end = ends[k, owner]
        for row in range(start, min(start + _FAR, end)):
            h = hash_row(width, block, row)
            ahead[row & _RING] = h
            _prefetch(table, np.int64(_home(h, slots)))
        for row in range(start, end):
            h = ahead[row & _RING]
            if row + _FAR < end:
                far = hash_row(width, block, row + _FAR)
                ahead[row & _RING] = far
                _prefetch(table, np.int64(_home(far, slots)))
            if row + _NEAR < end:
                near = table[_home(ahead[(row + _NEAR) & _RING], slots)]
                if near != _EMPTY:
                    _prefetch(states, np.int64(near & INDEX_MASK) - 1)
            slot = _home(h, slots)
            tag = _tag(h)
            while True:
                entry = table[slot]
                if entry == _EMPTY:
                    for w in range(len(width)):
                        states[count, w] = block[row, w]
                    count += 1
                    table[slot] = (tag << _TAG_SHIFT) | np.uint32(count)
                    break
                if entry >> _TAG_SHIFT == tag:
                    index = np.int64(entry & INDEX_MASK) - 1
                    if same_row(width, states, index, block, row):
                        break
                slot += _ONE
                if slot == slots:
                    slot = _ZERO
    return count


@njit(nogil=True, cache=True)
def rehash(width: Any, table: Any, states: Any, count: int) -> None:
    """Fill an empty table with the first `count` states, all different."""
    slots = np.uint64(table.shape[0])
    for index in range(count):
        h = hash_row(width, states, index)
        slot = _home(h, slots)
        tag = _tag(h)
        while table[slot] != _EMPTY:
            slot += _ONE
            if slot == slots:
                slot = _ZERO
        table[slot] = (tag << _TAG_SHIFT) | np.uint32(index + 1)


def nothing_recent(width: Width, slots: int) -> Rows:
    """A memory of recent rows that remembers none: no slot holds a row that belongs there."""
    recent: Rows = np.zeros((slots, len(width)), np.uint64)
    probe: Rows = np.zeros((1, len(width)), np.uint64)
    home = int(hashes(width, probe)[0]) % slots
    while int(hashes(width, probe)[0]) % slots == home:
        probe[0, 0] += np.uint64(1)
    recent[home] = probe[0]
    return recent


def warm_up(width: Width) -> None:
    """Compile, or load, everything above for states of this many words."""
    rows: Rows = np.zeros((1, len(width)), np.uint64)
    out = np.empty_like(rows)
    table: NDArray[np.uint32] = np.zeros(2, np.uint32)
    ends: NDArray[np.int64] = np.zeros((1, 1), np.int64)
    owned: NDArray[np.int64] = np.zeros(1, np.int64)
    scatter(width, rows, 1, nothing_recent(width, 2), out, ends[0], owned)
    count = absorb(width, table, rows, 0, out[None], ends, 0)
    rehash(width, np.zeros_like(table), rows, count)
