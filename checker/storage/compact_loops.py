"""The loops of a compact table of visited states, to be compiled: see `checker.storage.compact`.

A table is an array of lines of eight entries. An entry is 0, or what `checker.storage.entry_layout`
describes. A state is looked for in the line that its hash names and then in others, until it or an
empty entry is found; nothing is ever taken out. So a thread that finds an empty entry and claims it
is the only one that adds the state.
"""

from __future__ import annotations

from typing import Any

from waterline.checker.compiler.machine_words import (
    claim,
    divided,
    halves_at,
    prefetch,
    publish,
    room,
    rows_at,
    seen,
    shifted,
    words_at,
)
from waterline.checker.storage.blocks import first_word, hash_row, owner_of

LINE_BITS = 3
LINE = 1 << LINE_BITS
"""Entries of a line: what the processor reads from memory at once."""
UNIT_BITS = 16
HALF_BITS = 32
_HALF = (1 << HALF_BITS) - 1
_UNIT = (1 << UNIT_BITS) - 1
_WORDS_MAX = 8

TABLE, LINES, LOW_MASK, UPPER_SHIFT, UPPER_MASK, COMPARED, UNITS, PROBES = range(8)
PROBE_BITS, BUSY, OTHER_MASK, OTHER_SHIFT, OTHER_BITS, UPPER_BITS, TAIL, ARRIVED = range(8, 16)
DEPTH, DEPTH_IN_HEAD, DEPTH_SHIFT, DEPTH_UNITS = range(16, 20)
UNITS_OF = 24
WIDTHS = UNITS_OF + _WORDS_MAX
CELLS = WIDTHS + _WORDS_MAX
"""Cells of an owner: where its table, the tails and the new states are; the depth of what is added
now; and the layout of entries. `UNITS_OF` and `WIDTHS` begin a cell for each word: units of the
tail, and bits that can be other than zero, less one.
"""
NEXT, LIMIT, CRAMPED, ROOM = 0, 1, 2, 3
"""Cells of a thread's room with an owner: where its next new state goes, where it has to stop, and
whether a state found no entry in its lines.
"""
STRAY = -1
"""The answer to a state that has bits where its layout has none."""
_FAR = 16
_RING = _FAR - 1
"""Mask for the ring of hashes whose rows are prefetched."""
WIDENING = 15
"""Number of steps from line to line that grow by one each; later steps are by one."""
_WIDENED = WIDENING * (WIDENING + 1) // 2


def _home(h: int, lines: int) -> int:
    """The line of a hash in a table of so many: its lower half, scaled."""
    line: int = shifted((h & _HALF) * lines, HALF_BITS)
    return line


def _distance(probe: int) -> int:
    """How far from its home an entry of this probe stands, the first being 0."""
    if probe <= WIDENING:
        near: int = shifted(probe * (probe + 1), 1)
        return near
    return _WIDENED + probe - WIDENING


def add_states(
    cells: Any, mine: Any, owners: int, rows: Any, row: int, end: int, words: int, alone: bool
) -> int:
    """Add rows[row:end] to their owners' tables and arrivals where they are new.

    Returns `end`, or the first row without room, or `STRAY`. `mine` is this thread's room with each
    owner; `alone` means that no other thread adds meanwhile. Memory is prefetched well before use.
    """
    ahead = room(_FAR)
    for far in range(row, min(row + _FAR, end)):
        h = hash_row(rows, far, words)
        ahead[far & _RING] = h
        owner = owner_of(h, owners)
        prefetch(words_at(cells[owner, TABLE]), _home(h, cells[owner, LINES]) * LINE)
    while row < end:
        h = ahead[row & _RING]
        if row + _FAR < end:
            later = hash_row(rows, row + _FAR, words)
            ahead[row & _RING] = later
            of = owner_of(later, owners)
            line = _home(later, cells[of, LINES])
            prefetch(words_at(cells[of, TABLE]), line * LINE)
            if words > 1:
                prefetch(halves_at(cells[of, TAIL]), line * LINE * cells[of, UNITS])
        if words > 1:
            for w in range(1, words):
                if shifted(rows[row, w], cells[0, WIDTHS + w]) & ~1 != 0:
                    return STRAY
        if not _add(cells, mine, owner_of(h, owners), h, rows, row, words, alone):
            return row
        row += 1
    return end


def _entry_head(cells: Any, owner: int, h: int, rows: Any, row: int, words: int) -> int:
    """The head of a state's entry in its home line, but for the depth."""
    low = h & cells[owner, LOW_MASK]
    upper = shifted(h, HALF_BITS) & cells[owner, UPPER_MASK]
    wanted: int = 1 | low << cells[owner, PROBE_BITS] | upper << cells[owner, UPPER_SHIFT]
    if words > 1:
        wanted |= (rows[row, 1] & cells[owner, OTHER_MASK]) << cells[owner, OTHER_SHIFT]
    return wanted


def _add(
    cells: Any, mine: Any, owner: int, h: int, rows: Any, row: int, words: int, alone: bool
) -> bool:
    """Add one row to its owner's states if it is new; return False where it has no room."""
    table = words_at(cells[owner, TABLE])
    lines = cells[owner, LINES]
    line = _home(h, lines)
    wanted = _entry_head(cells, owner, h, rows, row, words)
    compared = cells[owner, COMPARED]
    probe = 0
    while probe < cells[owner, PROBES]:
        turn = 0
        while turn < LINE:
            slot = line * LINE + ((h + turn) & (LINE - 1))
            head = table[slot] if alone else seen(table, slot)
            if head == 0:
                if mine[owner, NEXT] >= mine[owner, LIMIT]:
                    return False
                if _enter(cells, mine, owner, slot, wanted, rows, row, words, alone):
                    return True
                head = seen(table, slot)
            if not alone:
                while head == cells[owner, BUSY]:
                    head = seen(table, slot)
            if head & compared == wanted and _has_tail(cells, owner, slot, rows, row, words):
                return True
            turn += 1
        line += probe + 1 if probe < WIDENING else 1
        if line >= lines:
            line -= lines
        wanted += 1
        probe += 1
    mine[owner, CRAMPED] = 1
    return False


def _enter(
    cells: Any,
    mine: Any,
    owner: int,
    slot: int,
    wanted: int,
    rows: Any,
    row: int,
    words: int,
    alone: bool,
) -> bool:
    """Write a state to an entry that was empty; false if another thread was there first."""
    table = words_at(cells[owner, TABLE])
    has_tail = cells[owner, UNITS] != 0
    head = wanted | cells[owner, DEPTH_IN_HEAD]
    if not alone and not claim(table, slot, 0, cells[owner, BUSY] if has_tail else head):
        return False
    index = mine[owner, NEXT]
    mine[owner, NEXT] = index + 1
    arrived = rows_at(cells[owner, ARRIVED], words)
    for w in range(words):
        arrived[index, w] = rows[row, w]
    if has_tail:
        _write_tail(cells, owner, slot, rows, row, cells[owner, DEPTH], words)
    if alone:
        table[slot] = head
    elif has_tail:
        publish(table, slot, head)
    return True


def _has_tail(cells: Any, owner: int, slot: int, rows: Any, row: int, words: int) -> bool:
    """True if the tail of an entry is that of a state."""
    if words == 1 or cells[owner, UNITS] == 0:
        return True
    tail = halves_at(cells[owner, TAIL])
    at = slot * cells[owner, UNITS] + cells[owner, DEPTH_UNITS]
    for w in range(1, words):
        rest = rows[row, w]
        if w == 1:
            rest = shifted(rest, cells[owner, OTHER_BITS])
        unit = cells[owner, UNITS_OF + w]
        while unit > 0:
            if tail[at] != rest & _UNIT:
                return False
            rest = shifted(rest, UNIT_BITS)
            at += 1
            unit -= 1
    return True


def _write_tail(
    cells: Any, owner: int, slot: int, rows: Any, row: int, depth: int, words: int
) -> int:
    tail = halves_at(cells[owner, TAIL])
    at = slot * cells[owner, UNITS]
    if cells[owner, DEPTH_UNITS] != 0:
        tail[at] = depth & _UNIT
        tail[at + 1] = shifted(depth, UNIT_BITS)
        at += 2
    for w in range(1, words):
        rest = rows[row, w]
        if w == 1:
            rest = shifted(rest, cells[owner, OTHER_BITS])
        unit = cells[owner, UNITS_OF + w]
        while unit > 0:
            tail[at] = rest & _UNIT
            rest = shifted(rest, UNIT_BITS)
            at += 1
            unit -= 1
    return 0


# --- from entries back to states -----------------------------------------------------------------


def _least(line: int, lines: int) -> int:
    """The least lower half of a hash whose home is a line."""
    least: int = divided((line << HALF_BITS) + lines - 1, lines)
    return least


def _hash_at(cells: Any, owner: int, line: int, least: int, head: int) -> int:
    """Return the hash of an entry's state, from its line and the line's least lower half."""
    probe = (head & cells[owner, BUSY]) - 1
    if probe != 0:
        lines = cells[owner, LINES]
        home = line - _distance(probe)
        while home < 0:
            home += lines
        least = _least(home, lines)
    low = least + ((shifted(head, cells[owner, PROBE_BITS]) - least) & cells[owner, LOW_MASK])
    upper = shifted(head, cells[owner, UPPER_SHIFT]) & cells[owner, UPPER_MASK]
    h: int = (owner << cells[owner, UPPER_BITS] | upper) << HALF_BITS | low
    return h


def _depth_at(cells: Any, owner: int, slot: int, head: int) -> int:
    """The depth of the state of an entry."""
    if cells[owner, DEPTH_UNITS] == 0:
        in_head: int = shifted(head, cells[owner, DEPTH_SHIFT])
        return in_head
    tail = halves_at(cells[owner, TAIL])
    at = slot * cells[owner, UNITS]
    in_tail: int = tail[at] | tail[at + 1] << UNIT_BITS
    return in_tail


def _others_at(cells: Any, owner: int, slot: int, head: int, out: Any, row: int, words: int) -> int:
    """Set the words of the state of an entry but the first."""
    tail = halves_at(cells[owner, TAIL])
    at = slot * cells[owner, UNITS] + cells[owner, DEPTH_UNITS]
    for w in range(1, words):
        word = 0
        bits = 0
        if w == 1:
            word = shifted(head, cells[owner, OTHER_SHIFT]) & cells[owner, OTHER_MASK]
            bits = cells[owner, OTHER_BITS]
        unit = cells[owner, UNITS_OF + w]
        while unit > 0:
            word |= tail[at] << bits
            bits += UNIT_BITS
            at += 1
            unit -= 1
        out[row, w] = word
    return 0


def move(was: Any, cells: Any, owner: int, line: int, end: int, key: Any, words: int) -> int:
    """Move the lines of an owner's table up to `end` into its new one, which is not yet in use.

    `was` are the cells of the old table. Returns `end`, or the first line with an entry that does
    not fit; that line's moves are undone.
    """
    old = words_at(was[owner, TABLE])
    while line < end:
        least = _least(line, was[owner, LINES])
        slot = line * LINE
        while slot < line * LINE + LINE:
            head = old[slot]
            if head != 0:
                h = _hash_at(was, owner, line, least, head)
                if words > 1:
                    _others_at(was, owner, slot, head, key, 0, words)
                if not _place(cells, owner, h, key, _depth_at(was, owner, slot, head), words):
                    return line
                old[slot] = 0
            slot += 1
        line += 1
    return end


def _place(cells: Any, owner: int, h: int, key: Any, depth: int, words: int) -> bool:
    """Add a state to a table that it is not in; false where it finds no place."""
    table = words_at(cells[owner, TABLE])
    lines = cells[owner, LINES]
    line = _home(h, lines)
    head = _entry_head(cells, owner, h, key, 0, words)
    if cells[owner, DEPTH_UNITS] == 0:
        head |= depth << cells[owner, DEPTH_SHIFT]
    probe = 0
    while probe < cells[owner, PROBES]:
        turn = 0
        while turn < LINE:
            slot = line * LINE + ((h + turn) & (LINE - 1))
            if table[slot] == 0:
                table[slot] = head
                if cells[owner, UNITS] != 0:
                    _write_tail(cells, owner, slot, key, 0, depth, words)
                return True
            turn += 1
        line += probe + 1 if probe < WIDENING else 1
        if line >= lines:
            line -= lines
        head += 1
        probe += 1
    return False


def states_at(
    cells: Any,
    owner: int,
    slot: int,
    first: int,
    last: int,
    out: Any,
    depths: Any,
    size: int,
    found: Any,
    words: int,
) -> int:
    """Write states of depths first to last to `out`, and their depths, from an entry on.

    Returns the entry to go on from, the number of entries at the end; found[0] is how many there
    are, at most `size`.
    """
    table = words_at(cells[owner, TABLE])
    end = cells[owner, LINES] * LINE
    count = 0
    while slot < end and count < size:
        head = table[slot]
        if head != 0:
            depth = _depth_at(cells, owner, slot, head)
            if first <= depth <= last:
                _others_at(cells, owner, slot, head, out, count, words)
                line = shifted(slot, LINE_BITS)
                h = _hash_at(cells, owner, line, _least(line, cells[owner, LINES]), head)
                out[count, 0] = first_word(h, out, count, words)
                depths[count] = depth
                count += 1
        slot += 1
    found[0] = count
    return slot
