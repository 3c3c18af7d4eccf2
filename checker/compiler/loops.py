"""Generated loops of a kernel: expand a block of states, check a block of states.

`expand` makes the successors of a block of states and looks at each step, `inspect` evaluates the
invariants. Both are only loops and calls: guards, limits, effects and predicates are the functions
of `model/` and `invariants/` themselves, by the names in `Loops.names`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler.origins import ACTION_SHIFT, ROW_SHIFT
from waterline.model.core.transition_system import Action

Pure = Callable[..., Any]

FINISHED, FULL, FAULT = 0, 1, 2
"""How `expand` ended: every row done, no room for another row, an access out of range."""


BLOCK = 64
"""Number of states whose guards are evaluated together."""
FAULT_BIT = 62
HOLDS, KEEPS, HAPPENS = 1 << 16, 1 << 17, 1 << 18
"""First numbers of claims, as guards are numbered from 0, in code without branches."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a guard's answers in a state's masks: the word, and the first bit in it."""

    word: int
    bit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Functions that the loops call, each with its number in the model or in the problem.

    `limits` are all by name, `claims` is how many there are at most. `raising` are the numbers of
    those of `happens` that may fault. `renames` means that steps are judged before their states are
    put into normal form. `shared` means that several problems use the loops: then the version's
    actions and the claims checked are masks, `actions` and `claims`, that are read as the loops
    run.
    """

    words: int
    sizes: tuple[tuple[str, int], ...]
    limits: tuple[str, ...]
    claims: int
    actions: tuple[tuple[int, Action], ...]
    holds: tuple[tuple[int, Pure], ...]
    keeps: tuple[tuple[int, Pure], ...]
    happens: tuple[tuple[int, Pure], ...]
    raising: frozenset[int] = frozenset()
    normalise: Pure | None = None
    renames: bool = False
    shared: bool = False

    @property
    def successors_max(self) -> int:
        """The most successors that a state can have."""
        return sum(self.bindings(action) for _, action in self.actions)

    @property
    def places(self) -> dict[int, Place | None]:
        """Places by an action's number; None for one with more arguments than a mask has bits."""
        found: dict[int, Place | None] = {}
        word = bit = 0
        for number, action in self.actions:
            count = self.bindings(action)
            if bit + count > FAULT_BIT and count <= FAULT_BIT:
                word, bit = word + 1, 0
            found[number] = Place(word, bit) if bit + count <= FAULT_BIT else None
            bit += count if found[number] else 0
        return found

    @property
    def mask_words(self) -> int:
        """How many masks a state has."""
        return 1 + max((place.word for place in self.places.values() if place), default=0)

    def bindings(self, action: Action) -> int:
        """How many combinations of arguments an action has."""
        return math.prod(self.extents(action))

    def extents(self, action: Action) -> list[int]:
        """How many values each argument of an action has."""
        return [dict(self.sizes)[parameter.over] for parameter in action.parameters]


@dataclass(frozen=True, slots=True)
class Loops:
    """The text, and what its names stand for."""

    text: str
    names: dict[str, Pure]


_SIGN = -(1 << 63)
"""Flipped in both, it makes a comparison of signed words one of words without a sign."""


def keep_least(rows: Any, row: int, words: int, broken: Any, least: Any, i: int) -> None:
    """Lower least[i] to rows[row] if that is smaller, words compared from the first."""
    smaller = broken[i] == 0
    if broken[i] != 0:
        for w in range(words):
            if rows[row, w] != least[i, w]:
                smaller = (rows[row, w] ^ _SIGN) < (least[i, w] ^ _SIGN)
                break
    if smaller:
        broken[i] = 1
        for w in range(words):
            least[i, w] = rows[row, w]


def loops_of(parts: Parts) -> Loops:
    """The loops for these parts."""
    names: dict[str, Pure] = {}
    functions = [_guard_pass(parts, names), _property_pass(parts, names), _expand(parts, names)]
    functions += [_doubtful(parts, names), _inspect(parts, names)]
    texts = ["\n".join(lines) for lines in functions]
    return Loops("\n\n\n".join(texts) + "\n", names)


def _guard_pass(parts: Parts, names: dict[str, Pure]) -> Iterator[str]:
    """Yield a pass over a block that evaluates every guard in every state, without branches."""
    yield "def enabled(c, actions, rows, first, last, masks):"
    yield '    """Bit by bit which actions each state has; returns whether a guard faults."""'
    yield "    f = 0"
    yield "    for row in range(first, last):"
    yield "        s = state_at(rows, row)"
    for word in range(parts.mask_words):
        yield f"        m{word} = 0"
    for number, action in parts.actions:
        names[f"guard_{number}"] = action.guard
        place = parts.places[number]
        if place is None:
            continue
        for bit, values in enumerate(itertools.product(*map(range, parts.extents(action)))):
            given = "".join(f", {value}" for value in values)
            yield (
                f"        m{place.word} |= flat({number}, guard_{number}, s, c{given})"
                f" << {place.bit + bit}"
            )
            asked = f" & actions >> {number}" if parts.shared else ""
            yield f"        f |= raised(){asked} & 1"
    for word in range(parts.mask_words):
        yield f"        masks[{word * BLOCK} + row - first] = m{word}"
    yield "    return f"


def column(masks: Any, offset: int, bit: int) -> int:
    """The states of a block, as bits, in whose masks from `offset` on a bit is set."""
    members = 0
    for r in range(64):
        members |= (masks[offset + r] >> bit & 1) << r
    return members


def _expand(parts: Parts, names: dict[str, Pure]) -> Iterator[str]:
    most = max(1, parts.successors_max)
    yield from (
        "def expand(c, actions, claims, rows, start, stop, out, size, origin, fired, cut,",
        "           happened, dead, broken, least, ended):",
        '    """Write the successors of rows[start:stop] to `out`, whence they came to `origin`.',
        "",
        "    Returns how it ended; ended[0] is the next row, ended[1] how many successors are",
        "    there. fired[a] counts transitions of action a, cut[a, b] those that bound b cut;",
        "    happened[k] is set once claim k happened; dead[row] where a state has no transition",
        "    at all. Where a step breaks property k, broken[k] is set and least[k] lowered to the",
        "    least such row.",
        '    """',
        "    n = 0",
        f"    masks = room({parts.mask_words * BLOCK})",
        f"    together = {BLOCK}",
        "    first = start",
        f"    how = {FINISHED}",
        "    while first < stop:",
        f"        last = min(first + together, stop, first + (size - n) // {most})",
        "        if last == first:",
        f"            how = {FULL}",
        "            break",
        "        before = n",
        f"        for r in range({parts.mask_words * BLOCK}):",
        "            masks[r] = 0",
        "        for row in range(first, last):",
        "            dead[row] = 1",
        "        if enabled(c, actions, rows, first, last, masks):",
        "            raise_fault()",
    )
    for number, action in parts.actions:
        yield from _of_action(parts, number, action, names)
    yield from (
        "        if faulted():",
        "            # Some state of the block faults: one by one they tell which.",
        "            lower_fault()",
        "            n = before",
        "            if last == first + 1:",
        f"                how = {FAULT}",
        "                break",
        "            together = 1",
        "        else:",
        "            first = last",
        "    ended[0] = first",
        "    ended[1] = n",
    )
    yield from _of_steps(parts)
    if parts.renames:
        yield from _normal_form_pass(parts, names)
    yield "    return how"


def _of_action(parts: Parts, number: int, action: Action, names: dict[str, Pure]) -> Iterator[str]:
    """For each argument of an action, the states of the block that have it, one after the other.

    So that what is done is the same many times running.
    """
    names[f"effect_{number}"] = action.effect
    pad = " " * 8
    yield f"{pad}# {action.name}"
    if parts.shared:
        yield f"{pad}if actions >> {number} & 1:"
        pad += "    "
    arguments = [f"a{number}_{i}" for i in range(len(action.parameters))]
    extents = parts.extents(action)
    packed = "0"
    for argument, extent in zip(arguments, extents, strict=True):
        yield f"{pad}for {argument} in range({extent}):"
        pad += "    "
        packed = f"({packed}) * {extent} + {argument}"
    given = "".join(f", {argument}" for argument in arguments)
    asked = f"guard_{number}(s_{number}, c{given})"
    if (place := parts.places[number]) is None:
        yield f"{pad}members = -1 if last - first == {BLOCK} else (1 << last - first) - 1"
    else:
        yield f"{pad}members = column(masks, {place.word * BLOCK}, {place.bit} + {packed})"
        asked = f"sure({number}) or {asked}"
    yield f"{pad}while members != 0:"
    pad += "    "
    yield f"{pad}row_{number} = first + lowest(members)"
    yield f"{pad}members &= members - 1"
    yield f"{pad}s_{number} = state_at(rows, row_{number})"
    yield f"{pad}if {asked}:"
    yield from _step(parts, number, action, arguments, names, f"{pad}    ", packed)


def _step(
    parts: Parts,
    number: int,
    action: Action,
    arguments: Sequence[str],
    names: dict[str, Pure],
    pad: str,
    packed: str,
) -> Iterator[str]:
    """Limit, effect, successor."""
    given = "".join(f", {argument}" for argument in arguments)
    yield f"{pad}dead[row_{number}] = 0"
    if action.budget is not None:
        budget = action.budget
        yield f"{pad}if s_{number}.{budget.used} >= c.{budget.setting}:"
        yield f"{pad}    cut[{number}, {parts.limits.index(budget.name)}] += 1"
        yield f"{pad}else:"
        pad += "    "
    if action.limit is not None:
        names[f"limit_{number}"] = action.limit
        state = f"copy_of(s_{number})" if action.limit_writes else f"s_{number}"
        yield f"{pad}bound_{number} = limit_{number}({state}, c{given})"
        yield f"{pad}if bound_{number} < 0 or bound_{number} >= {len(parts.limits)}:"
        yield f"{pad}    raise_fault()"
        yield f"{pad}elif bound_{number} != 0:"
        yield f"{pad}    cut[{number}, bound_{number}] += 1"
        yield f"{pad}else:"
        pad += "    "
    yield f"{pad}t_{number} = copy_of(s_{number})"
    if action.budget is not None:
        yield f"{pad}t_{number}.{action.budget.used} = s_{number}.{action.budget.used} + 1"
    # Which arguments an effect is given is left open, so that it is compiled once for all of them.
    extents = parts.extents(action)
    open_ = [f", any_of({a}, {n})" for a, n in zip(arguments, extents, strict=True)]
    yield f"{pad}effect_{number}(t_{number}, c{''.join(open_)})"
    if parts.normalise is not None and not parts.renames and not action.stays_normal:
        names["normalise"] = parts.normalise
        yield f"{pad}normalise(t_{number}, c)"
    yield f"{pad}put(t_{number}, out, n)"
    code = f"{number} << {ACTION_SHIFT} | {packed}"
    yield f"{pad}origin[n] = row_{number} << {ROW_SHIFT} | {code}"
    yield f"{pad}n += 1"
    yield f"{pad}fired[{number}] += 1"


def _property_pass(parts: Parts, names: dict[str, Pure]) -> Iterator[str]:
    """Yield a pass over successors that evaluates every property on every step, without branches.

    Expectations are only checked for faults.
    """
    yield "def kept(c, claims, rows, out, origin, n):"
    yield '    """True if no step may break a property, and no claim may fault on one."""'
    yield "    bad = 0"
    yield "    for i in range(n):"
    yield f"        s = state_at(rows, origin[i] >> {ROW_SHIFT})"
    yield "        t = state_at(out, i)"
    for number, predicate in parts.keeps:
        names[f"keeps_{number}"] = predicate
        asked = f" & claims >> {number}" if parts.shared else ""
        flat_form = f"flat({KEEPS + number}, keeps_{number}, s, t, c)"
        yield f"        bad |= (not {flat_form}){asked} & 1"
        yield f"        bad |= (raised() | (not sure({KEEPS + number}))){asked} & 1"
    for number, predicate in parts.happens:
        names[f"happens_{number}"] = predicate
        if number in parts.raising:
            yield f"        flat({HAPPENS + number}, happens_{number}, s, t, c)"
            yield f"        bad |= raised() | (not sure({HAPPENS + number}))"
    yield "    return bad == 0"


def _of_steps(parts: Parts) -> Iterator[str]:
    """Yield the code that judges steps, once all of them are there.

    Expectations are judged until they have happened; those that may fault, in every step.
    """
    for number, _ in parts.happens:
        yield f"    if happened[{number}] == 0:"
        yield f"        for h{number} in range(n):"
        yield f"            z_{number} = state_at(rows, origin[h{number}] >> {ROW_SHIFT})"
        yield f"            if happens_{number}(z_{number}, state_at(out, h{number}), c):"
        yield f"                happened[{number}] = 1"
        yield "                break"
    if not parts.keeps and not parts.raising:
        return
    if parts.raising:
        yield "    lower_fault()"
    yield "    if not kept(c, claims, rows, out, origin, n):"
    yield "        worst = stop"
    yield "        for i in range(n):"
    yield f"            whence = origin[i] >> {ROW_SHIFT}"
    yield "            b = state_at(rows, whence)"
    yield "            t = state_at(out, i)"
    for number, _ in parts.keeps:
        asked = f"claims >> {number} & 1 and " if parts.shared else ""
        yield f"            if {asked}not keeps_{number}(b, t, c):"
        which = f"any_of({number}, {parts.claims})"
        yield f"                keep_least(rows, whence, {parts.words}, broken, least, {which})"
    for number in sorted(parts.raising):
        yield f"            if happens_{number}(b, t, c):"
        yield f"                happened[{number}] = 1"
    yield "            if faulted():"
    yield "                worst = min(worst, whence)"
    yield "                lower_fault()"
    yield "        if worst < stop:"
    yield "            ended[0] = worst"
    yield "            ended[1] = 0"
    yield f"            return {FAULT}"


def _normal_form_pass(parts: Parts, names: dict[str, Pure]) -> Iterator[str]:
    """Every successor in normal form, once all steps have been judged."""
    assert parts.normalise is not None
    names["normalise"] = parts.normalise
    yield "    faulty = stop"
    yield "    for i in range(n):"
    yield "        looked_at = state_at(out, i)"
    yield "        renamed = copy_of(looked_at)"
    yield "        normalise(renamed, c)"
    yield "        put(renamed, out, i)"
    yield "        if faulted():"
    yield f"            faulty = min(faulty, origin[i] >> {ROW_SHIFT})"
    yield "            lower_fault()"
    yield "    if faulty < stop:"
    yield "        ended[0] = faulty"
    yield "        ended[1] = 0"
    yield f"        return {FAULT}"


def _doubtful(parts: Parts, names: dict[str, Pure]) -> Iterator[str]:
    """Yield a pass over a block that evaluates every invariant in every state, without branches."""
    yield "def doubtful(c, claims, rows, first, last, masks):"
    yield '    """Bit by bit which invariants a state breaks; the last bit: one of them faults."""'
    yield "    for row in range(first, last):"
    yield "        s = state_at(rows, row)"
    yield "        m = 0"
    yield "        f = 0"
    for position, (number, predicate) in enumerate(parts.holds):
        names[f"holds_{number}"] = predicate
        if position >= FAULT_BIT:
            continue
        asked = f" & claims >> {number}" if parts.shared else ""
        flat_form = f"flat({HOLDS + number}, holds_{number}, s, c)"
        yield f"        m |= ((not {flat_form}){asked} & 1) << {position}"
        yield f"        f |= raised(){asked} & 1"
        yield f"        m |= (not sure({HOLDS + number})) << {position}"
    yield f"        masks[row - first] = m | f << {FAULT_BIT}"
    yield "    return 0"


def _inspect(parts: Parts, names: dict[str, Pure]) -> Iterator[str]:
    yield from (
        "def inspect(c, claims, rows, start, stop, broken, least):",
        '    """Set broken[i] and lower least[i] to the least of rows[start:stop] that breaks i.',
        "",
        "    Returns -1, or the first row in which an access was out of range.",
        '    """',
        f"    masks = room({BLOCK})",
        f"    for first in range(start, stop, {BLOCK}):",
        f"        last = min(first + {BLOCK}, stop)",
        "        doubtful(c, claims, rows, first, last, masks)",
        "        for row in range(first, last):",
        "            m = masks[row - first]",
        "            s = state_at(rows, row)",
        f"            if m >> {FAULT_BIT} & 1:",
        "                return row",
    )
    for position, (number, predicate) in enumerate(parts.holds):
        names[f"holds_{number}"] = predicate
        asked = f"claims >> {number} & 1 and " if parts.shared else ""
        if position < FAULT_BIT:
            asked = f"m >> {position} & 1 and {asked}"
            asked += f"(sure({HOLDS + number}) or not holds_{number}(s, c))"
        else:
            asked += f"not holds_{number}(s, c)"
        which = f"any_of({number}, {parts.claims})"
        yield f"            if {asked}:"
        yield f"                keep_least(rows, row, {parts.words}, broken, least, {which})"
    yield "            if faulted():"
    yield "                return row"
    yield "    return -1"
