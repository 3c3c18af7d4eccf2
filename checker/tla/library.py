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
    """A name that is free for each that is asked for."""

    def __init__(self, taken: Set[str]) -> None:
        super().__init__()
        self._taken = taken

    def __missing__(self, name: str) -> str:
        found = name
        while found in self._taken:
            found += "_"
        return found
