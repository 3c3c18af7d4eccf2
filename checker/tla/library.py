r"""Operators that a module has where a rule needs them, since TLA+ has none.

They go by `\div`, which rounds down, and `%` of a positive divisor: bits of negative numbers are
those of two's complement, as Python's are.
"""

from __future__ import annotations

from collections.abc import Set
from string import Template

_NEEDS = {
    "Sum": ("SumOver",),
    "BitOr": ("BitAnd",),
    "BitXor": ("BitAnd",),
    "BitCount": ("Abs",),
}
_TEXTS = {
    "Min": "Min($a, $b) == IF $a <= $b THEN $a ELSE $b",
    "Max": "Max($a, $b) == IF $a >= $b THEN $a ELSE $b",
    "MinOf": r"MinOf($s) == CHOOSE $a \in $s : \A $b \in $s : $a <= $b",
    "MaxOf": r"MaxOf($s) == CHOOSE $a \in $s : \A $b \in $s : $a >= $b",
    "Abs": "Abs($a) == IF $a < 0 THEN -$a ELSE $a",
    "Modulo": r"""
\* The remainder, which has the sign of the divisor.
Modulo($a, $b) == $a - $b * ($a \div $b)
""",
    "SumOver": r"""
\* The sum of a function's values over some of its arguments.
RECURSIVE SumOver(_, _)
SumOver($f, $domain) ==
  IF $domain = {} THEN 0
  ELSE LET $each == CHOOSE $x \in $domain : TRUE IN $f[$each] + SumOver($f, $domain \ {$each})
""",
    "Sum": "Sum($f) == SumOver($f, DOMAIN $f)",
    "SequencesUpTo": r"""
\* The sequences of at most so many values.
SequencesUpTo($values, $room) == {$q \in Seq($values) : Len($q) <= $room}
""",
    "PlaceIn": r"""
\* A place of a sequence that is counted from 0, or below 0 from the end.
PlaceIn($q, $k) == IF $k < 0 THEN Len($q) + $k + 1 ELSE $k + 1
""",
    "First": r"""
\* The first values of a sequence, so many as there are.
First($q, $n) == SubSeq($q, 1, IF $n < Len($q) THEN $n ELSE Len($q))
""",
    "Itself": "Itself($x) == $x",
    "Inserted": r"""
\* A bag and one value more. It is the sequence of its values, the greatest first.
Inserted($order(_), $q, $value) ==
  SelectSeq($q, LAMBDA $each : $order($each) >= $order($value))
    \o <<$value>> \o SelectSeq($q, LAMBDA $each : $order($each) < $order($value))
""",
    "Without": r"""
\* A bag and one value less.
Without($q, $value) ==
  LET $place == CHOOSE $i \in DOMAIN $q : $q[$i] = $value
  IN SubSeq($q, 1, $place - 1) \o SubSeq($q, $place + 1, Len($q))
""",
    "CountOf": r"""
\* How often a bag has a value.
CountOf($q, $value) == Cardinality({$i \in DOMAIN $q : $q[$i] = $value})
""",
    "BitsOf": r"""
\* A set of numbers as one number, with a bit for each.
RECURSIVE BitsOf(_)
BitsOf($members) ==
  IF $members = {} THEN 0
  ELSE LET $each == CHOOSE $x \in $members : TRUE IN 2 ^ $each + BitsOf($members \ {$each})
""",
    "MembersOf": r"""
\* The places of the bits of a number. TLC's numbers have no more than these.
MembersOf($n) == {$i \in 0..30 : ($n \div 2 ^ $i) % 2 = 1}
""",
    "PlaceOf": r"""
\* The place of a word among the words of a field, from 0.
PlaceOf($word, $words) == (CHOOSE $i \in DOMAIN $words : $words[$i] = $word) - 1
""",
    "BitAnd": r"""
\* Bits are those of two's complement.
RECURSIVE BitAnd(_, _)
BitAnd($a, $b) ==
  IF $a = 0 \/ $b = 0 THEN 0
  ELSE IF $a = -1 THEN $b
  ELSE IF $b = -1 THEN $a
  ELSE 2 * BitAnd($a \div 2, $b \div 2) + ($a % 2) * ($b % 2)
""",
    "BitOr": "BitOr($a, $b) == $a + $b - BitAnd($a, $b)",
    "BitXor": "BitXor($a, $b) == $a + $b - 2 * BitAnd($a, $b)",
    "BitCount": r"""
RECURSIVE BitCount(_)
BitCount($a) == IF $a = 0 THEN 0 ELSE (Abs($a) % 2) + BitCount(Abs($a) \div 2)
""",
}
NAMES = frozenset(_TEXTS)


def lines_of(used: Set[str], taken: Set[str]) -> list[str]:
    """The operators of these names, and those that they need.

    What they bind, written with a $ here, gets names that are not `taken`.
    """
    wanted = set(used)
    while more := {need for name in wanted for need in _NEEDS.get(name, ())} - wanted:
        wanted |= more
    found = []
    for name, text in _TEXTS.items():
        if name in wanted:
            named = Template(text).substitute(_Bound(taken))
            found += [*named.strip().splitlines(), ""]
    return found


class _Bound(dict[str, str]):
    """A free name for each name requested."""

    def __init__(self, taken: Set[str]) -> None:
        super().__init__()
        self._taken = taken

    def __missing__(self, name: str) -> str:
        found = name
        while found in self._taken:
            found += "_"
        return found
