"""HyperLogLog (Flajolet et al. 2007): estimate of distinct states in fixed space.

A HyperLogLog: each state's hash names a register, and the register keeps the longest run of zeros
that it has seen in the rest of the hash, plus one. Equal states count once, in whatever order and
in however many sketches; two sketches are joined register by register. The estimate is Otmar
Ertl's ("New cardinality estimation algorithms for HyperLogLog sketches", 2017, algorithm 6), which
needs no tables and no case for few states. Its standard error is 1.04 divided by the square root of
the number of registers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine_words import lowest, shifted
from waterline.checker.storage.blocks import hash_row

SKETCH_BITS = 14
REGISTERS = 1 << SKETCH_BITS
STANDARD_ERROR = 1.04 / math.sqrt(REGISTERS)
_RUN_MAX = 64 - SKETCH_BITS + 1
_M1 = 0xBF58476D1CE4E5B9 - (1 << 64)
_M2 = 0x94D049BB133111EB - (1 << 64)


def mix(z: int) -> int:
    """64 bits that look independent of those given: the finalizer of SplitMix64."""
    x: int = (z ^ shifted(z, 30)) * _M1
    y: int = (x ^ shifted(x, 27)) * _M2
    last: int = y ^ shifted(y, 31)
    return last


def count_row(registers: Any, rows: Any, row: int, words: int) -> int:
    """Count one state: its register keeps the longest run of zeros, plus one."""
    h = mix(hash_row(rows, row, words))
    register = shifted(h, 64 - SKETCH_BITS)
    # The bit that is set keeps the run from being longer than there are bits.
    run = lowest(h | (1 << (64 - SKETCH_BITS))) + 1
    registers[register] = max(registers[register], run)
    return 0


def empty_sketch() -> NDArray[np.int32]:
    """Return a sketch with nothing counted."""
    return np.zeros(REGISTERS, np.int32)


def estimate(registers: NDArray[np.int32]) -> float:
    """About how many different states have been counted."""
    counts = np.bincount(registers, minlength=_RUN_MAX + 1).tolist()
    if counts[0] == REGISTERS:
        return 0.0
    total = REGISTERS * _tau(1 - counts[_RUN_MAX] / REGISTERS)
    for run in range(_RUN_MAX - 1, 0, -1):
        total = 0.5 * (total + counts[run])
    total += REGISTERS * _sigma(counts[0] / REGISTERS)
    return REGISTERS * REGISTERS / (2 * math.log(2) * total)


def _sigma(x: float) -> float:
    """Return the contribution of registers with nothing counted; x is their share, below 1."""
    power, weight, total = x, 1.0, x
    while True:
        power *= power
        before, total = total, total + power * weight
        weight += weight
        if total == before:
            return total


def _tau(x: float) -> float:
    """Return the contribution of registers at the largest run; x is the share of all others."""
    if x in (0.0, 1.0):
        return 0.0
    root, weight, total = x, 1.0, 1 - x
    while True:
        root = math.sqrt(root)
        weight *= 0.5
        before, total = total, total - (1 - root) ** 2 * weight
        if total == before:
            return total / 3
