"""All that rules can say."""

from enum import IntEnum

from waterline import Action, Choice, Flag, Name, Names, Number, Protocol, when, within

LIMIT = 3
ODD = (1, 3)
SOME = frozenset({0, 2})


class Kind(IntEnum):
    SMALL = 1
    LARGE = 2


def constructs(
    nodes: int = 2, top: int = 4, low: int = -3, strict: bool = True, depth: int = 3
) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Number("IF", low, top, by=node, doc="A word of TLA+."),
            Number("x", low, top),
            Flag("flag", by=node),
            Choice("phase", "a b", 'say "hi"', "back\\slash", by=node),
            Choice("mode", "a b", 'say "hi"', "back\\slash"),
            Name("owner", node, or_none=True),
            Number("table", 0, 3, by=(node, 3)),
            Number("Next", 0, 15),
            Number("count", 0, 3),
            Number("turns", 0, depth),
        ],
        actions=[
            divide,
            modulo,
            bits,
            Action(conditional, k=3),
            early,
            nested,
            words,
            truths,
            while_loop,
            fold,
            chains,
            named,
            descending,
            pairs,
            transpose,
            self_reading,
            Action(returns_in_loop, k=4),
            breaks,
        ],
        initial=start,
        always=[in_order, sums],
        every_step=[one_at_a_time],
        sometimes=[far, jumps],
    )


def start(s, node):
    """Any node begins."""
    s.owner = node
    s.x = node - 1
    for n in range(s.nodes):
        s.flag[n] = n == node
    if node == 0:
        s.mode = "back\\slash"


def clamp(s, n):
    """Into the range."""
    return max(s.low, min(s.top, n))


def divide(s, node):
    """Floor division."""
    within(s.x > s.low)
    within(s.turns < s.depth)
    s.turns += 1
    s.x = clamp(s, (s.x * 3 - 4) // 2 if s.x < 0 else -s.x // 2)
    s.IF[node] = -7 // (node + 2) + 2


def modulo(s, node):
    """Modulo of negative numbers, by negative ones too."""
    within(s.turns < s.depth)
    s.turns += 1
    s.x = (s.x - 5) % 3
    s.IF[node] = s.IF[node] % -3
    s.count = (s.x - 7) % (s.nodes + 1)


def bits(s):
    """Bits of numbers."""
    within(s.turns < s.depth)
    s.turns += 1
    s.Next = (s.Next ^ 5) & 15 | (1 << s.count)
    s.count = (~s.Next & 7).bit_count()
    s.x = clamp(s, (s.x >> 1) + (s.Next >> 3))


def conditional(s, node, k):
    """Choices of three."""
    when(s.x < LIMIT)
    within(s.turns < s.depth)
    s.turns += 1
    s.count = k if s.flag[node] else 2 if s.owner is None else s.count
    s.flag[node] = not s.flag[node]
    s.table[node, k] = (
        min(3, k + s.count, Kind.LARGE)
        if s.x in ODD or s.count not in SOME
        else max(0, abs(s.x) - 2)
    )


def early(s, node):
    """Returns early."""
    when(s.count > 0)
    within(s.turns < s.depth)
    s.turns += 1
    if s.flag[node]:
        s.x = 0
        if s.IF[node] > 0:
            s.IF[node] -= 1
            return
        s.owner = None
    elif s.owner == node:
        return
    s.count -= 1
    clear(s, node, s.count)


def clear(s, node, k):
    """Writes and may end early."""
    if k == 0:
        s.table[node, 0] = 0
        return
    for i in range(3):
        if s.table[node, i] > 1:
            s.table[node, i] -= 1
            return
    s.flag[node] = False


def nested(s):
    """Loops in loops."""
    within(s.turns < s.depth)
    s.turns += 1
    for n in range(s.nodes):
        for i in range(3):
            if i < 2:
                s.table[n, i] = s.table[n, i + 1]
            else:
                s.table[n, i] = (s.table[n, i] + n) % 4


def words(s, node):
    """Words."""
    within(s.turns < s.depth)
    s.turns += 1
    if s.phase[node] == "a b":
        s.phase[node] = s.mode
    elif s.phase[node] in ('say "hi"', "a b"):
        s.phase[node] = "back\\slash"
    else:
        s.phase[node] = "a b" if s.mode != "a b" else 'say "hi"'
        s.mode = s.phase[node]


def truths(s, node):
    """Truths as numbers."""
    within(s.turns < s.depth)
    s.turns += 1
    s.count = s.flag[node] + (s.x > 0) + (s.flag[0] == 1)
    s.flag[node] = s.count > 1 and s.strict
    s.Next = sum(s.flag[n] for n in range(s.nodes)) * 2 + (s.owner == node)


def while_loop(s):
    """A loop that waits."""
    within(s.turns < s.depth)
    s.turns += 1
    a = s.Next
    steps = 0
    while a != 0 and steps < 5:
        a = a // 2
        if a == 3:
            continue
        steps += 1
    s.count = min(3, steps)


def fold(s):
    """The greatest."""
    within(s.turns < s.depth)
    s.turns += 1
    best = -1
    at = 0
    for n in range(s.nodes):
        if s.IF[n] > best:
            best = s.IF[n]
            at = n
    s.owner = at
    s.x = max(best, s.low)


def chains(s):
    """A chain of comparisons."""
    when(0 <= s.x < s.top and s.IF[0] != s.x != s.count)
    within(s.turns < s.depth)
    s.turns += 1
    s.x += 1


def named(s):
    """Behind a guard only."""
    when(s.owner is not None and s.flag[s.owner])
    within(s.turns < s.depth)
    s.turns += 1
    s.flag[s.owner] = False
    s.owner = None


def descending(s):
    """Downwards, to the first."""
    within(s.turns < s.depth)
    s.turns += 1
    for n in range(s.nodes - 1, -1, -1):
        if s.flag[n]:
            s.flag[n] = False
            break
    else_ = 1
    s.count = else_


def pair_of(s, node):
    """Two numbers."""
    if s.flag[node]:
        return s.x, 1
    return s.count, 0


def pairs(s, node):
    """Several at once."""
    within(s.turns < s.depth)
    s.turns += 1
    a, b = pair_of(s, node)
    s.x, s.count = s.count, min(3, max(0, a + b))


def transpose(s):
    """A column."""
    within(s.turns < s.depth)
    s.turns += 1
    for n in range(s.nodes):
        s.table[n, 1] = s.table[n, 0]
    for n in range(1, s.nodes):
        s.IF[n] = s.IF[n - 1]


def self_reading(s):
    """Each from the one before."""
    within(s.turns < s.depth)
    s.turns += 1
    for n in range(s.nodes):
        s.IF[n] = s.IF[(n + 1) % s.nodes]


def first_above(s, k):
    """The first node above."""
    for n in range(s.nodes):
        if s.IF[n] > k:
            return n
    return -1


def returns_in_loop(s, k):
    """An effect that ends in a loop."""
    within(s.turns < s.depth)
    s.turns += 1
    found = first_above(s, k)
    for i in range(3):
        if s.table[0, i] == k:
            s.table[0, i] = 0
            s.count = i
            return
        s.Next = (s.Next + i) % 16
    if found >= 0:
        s.owner = found


def breaks(s):
    """A loop that breaks."""
    within(s.turns < s.depth)
    s.turns += 1
    total = 0
    for n in range(s.nodes):
        for i in range(3):
            if s.table[n, i] == 3:
                break
            total += 1
    s.Next = total


def in_order(s):
    """Never so."""
    return s.count <= 3 and (s.owner is None or s.owner < s.nodes)


def sums(s):
    """A sum of products."""
    return sum(s.table[n, i] * (i + 1) for n in range(s.nodes) for i in range(3) if i != 1) <= 20


def one_at_a_time(before, after):
    """Not two flags at a time."""
    return sum(before.flag[n] != after.flag[n] for n in range(before.nodes)) <= 1


def is_far(s, k):
    return s.x > k


def far(s):
    """Far."""
    return is_far(s, 2) and not is_far(s, 3)


def jumps(before, after):
    """A jump."""
    return abs(after.x - before.x) > 3 and is_far(after, before.count) and is_far(after, 1)
