"""Random conditions and statements, in the language that models of one's own are written in.

`lab.fuzz.random_protocols` makes whole protocols of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

_Text = TypeVar("_Text", str, list[str])
LOOPED = "each"
"""What a loop or a comprehension calls the node that it is at."""


@dataclass(frozen=True, slots=True)
class Made:
    """A field: its kind, by what it has elements, the least and greatest number, its words."""

    name: str
    kind: str
    by: str
    lo: int = 0
    hi: int = 1
    words: tuple[str, ...] = ()
    or_none: bool = False

    @property
    def declared(self) -> str:
        """As a file declares it."""
        by = {"": "", "node": ", by=node", "two": ", by=2", "table": ", by=(node, 2)"}[self.by]
        match self.kind:
            case "flag":
                return f'Flag("{self.name}"{by})'
            case "number":
                return f'Number("{self.name}", {self.lo}, {self.hi}{by})'
            case "choice":
                return f'Choice("{self.name}", {", ".join(map(repr, self.words))}{by})'
        none = ", or_none=True" if self.or_none else ""
        return f'Name("{self.name}", node{none}{by})'


@dataclass(slots=True)
class Drawing:
    """What is drawn of one protocol. `names` are the arguments that name a node, where it stands.

    One that is `alike` tells no names apart. `plain`: conditions look at one element at a time.
    """

    dice: random.Random
    alike: bool
    raises: bool
    fields: list[Made] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    written: list[Made] = field(default_factory=list)
    """What statements write to; any of the fields, if there are none."""
    state: str = "s"
    plain: bool = False
    risky: float = 0.0
    """How many conditions may raise an error, by the value of the bound `at`."""
    tables: random.Random = field(default_factory=lambda: random.Random(0))
    """What decides whether constant tables are read, so that all else stays as it was drawn."""

    def chance(self, likely: float) -> bool:
        """True so often."""
        return self.dice.random() < likely

    # --- where and what -------------------------------------------------------------------------

    def place(self, made: Made) -> str | None:
        """An element of a field, None where nothing names one."""
        node, two = self._node(), self._two()
        at = {"": "", "node": f"[{node}]", "two": f"[{two}]", "table": f"[{node}, {two}]"}[made.by]
        if node is None and made.by in {"node", "table"}:
            return None
        return f"{self.state}.{made.name}{at}"

    def _node(self) -> str | None:
        found = list(self.names)
        if not self.alike:
            found += ["0", "1"] if self.chance(0.4) or not found else []
            if self.names and self.chance(0.15):
                found.append(f"({self.names[0]} + 1) % {self.state}.nodes")
        if not self.plain and self.chance(0.15):
            held = [f for f in self.fields if f.kind == "name" and not f.by and not f.or_none]
            found += [f"{self.state}.{made.name}" for made in held]
        return self.dice.choice(found) if found else None

    def _two(self) -> str:
        return self.dice.choice(["0", "1", *self.numbers])

    def some(self, kinds: Sequence[str] = ("flag", "number", "choice", "name")) -> tuple[Made, str]:
        """A field of these kinds and an element of it; the first field has one in any case."""
        for _ in range(20):
            # The first is there so that there always is one.
            made = self.dice.choice(self.fields if self.chance(0.2) else self.fields[1:])
            place = self.place(made)
            if made.kind in kinds and place is not None:
                return made, place
        return self.fields[0], f"{self.state}.{self.fields[0].name}"

    def number(self, deep: int = 1) -> str:
        """A whole number."""
        kind = self.dice.random()
        counted = [f for f in self.fields if f.kind == "number"]
        if kind < 0.3 or not counted:
            return str(self.dice.randint(0, 2))
        if kind < 0.4:
            return f"{self.state}.most"
        if kind < 0.5 and not self.plain:
            return self._looped(lambda: f"sum(1 for {LOOPED} in {self._all()} if {self.atom()})")
        if kind < 0.7 and deep:
            left, right = self.number(deep - 1), self.number(deep - 1)
            return self.dice.choice(
                (
                    f"min({left}, {right})",
                    f"max({left}, {right})",
                    f"abs({left} - {right})",
                    f"({left} + {right})",
                    f"({left} - {right})",
                    f"({left} if {self.atom()} else {right})",
                )
            )
        return self._of_table(self.some(("number",))[1])

    def _of_table(self, place: str) -> str:
        """A number, or what a constant table has for it, or for a word."""
        words = [f for f in self.fields if f.kind == "choice" and f.by in ("", "node")]
        words = [f for f in words if not f.by or self.names]
        if words and self.tables.random() < 0.2:
            made = self.tables.choice(words)
            at = f"[{self.names[0]}]" if made.by else ""
            return f"PRICE[{self.state}.{made.name}{at}]"
        return f"AHEAD[{place} % 3]" if self.tables.random() < 0.2 else place

    def _all(self) -> str:
        return f"range({self.state}.nodes)"

    def _looped(self, make: Callable[[], _Text]) -> _Text:
        self.names.append(LOOPED)
        made = make()
        self.names.remove(LOOPED)
        return made

    def atom(self) -> str:
        """A condition on one element, or on two."""
        made, place = self.some()
        match made.kind:
            case "flag":
                return self.dice.choice((place, f"not {place}"))
            case "choice":
                if self.chance(0.2) and len(made.words) == 3:
                    one, other = self.dice.sample(made.words, 2)
                    return f'{place} in ("{one}", "{other}")'
                same = self.place(made) if self.chance(0.2) else None
                same = same or place
                right = same if same != place else f'"{self.dice.choice(made.words)}"'
                return f"{place} {self.dice.choice(('==', '!='))} {right}"
            case "name":
                return f"{place} {self.dice.choice(('==', '!='))} {self._name_beside(made)}"
        sign = self.dice.choice(("==", "!=", "<", ">="))
        other = self.number(0) if self.chance(0.35) else place
        other = other if other != place else str(self.dice.randint(made.lo, made.hi))
        return f"{place} {sign} {other}"

    def _name_beside(self, made: Made) -> str:
        found = [*self.names, *(["None"] if made.or_none else [])]
        if not self.alike:
            found.append(str(self.dice.randint(0, 1)))
        # Where nothing else names a node: itself, which tells no names apart.
        return self.dice.choice(found or [f"{self.state}.{made.name}"])

    def condition(self) -> str:
        """A condition, perhaps of several parts, or about all nodes."""
        if self.risky and self.chance(self.risky):
            return self._risky()
        kind = self.dice.random()
        if kind < 0.5 or self.plain:
            return self.atom()
        if kind < 0.6:
            return f"({self.atom()} {self.dice.choice(('and', 'or'))} {self.atom()})"
        if kind < 0.74:
            return self._rarer()
        if LOOPED in self.names:
            return self.atom()
        which = self.dice.choice(("all", "any", "not any"))
        return self._looped(lambda: f"{which}({self.atom()} for {LOOPED} in {self._all()})")

    def _rarer(self) -> str:
        sign = self.dice.choice(("<", "==", ">="))
        return self.dice.choice(
            (
                f"not ({self.atom()} and {self.atom()})",
                f"{self.number()} {sign} {self.number()}",
                f"{self.state}.odd",
                f"not {self.state}.odd",
                f"is_busy({self.state}, {self.names[0]})" if self.names else self.atom(),
            )
        )

    def _risky(self) -> str:
        """A condition that raises in some states: it divides, or goes by a number as an index."""
        by_node = [made for made in self.fields if made.by == "node" and made.kind == "number"]
        if by_node and self.chance(0.4):
            name = self.dice.choice(by_node).name
            asked = f"{self.state}.{name}[{self.number()} - {self.state}.at] >= 1"
        else:
            sign, divided = self.dice.choice(("<", ">=")), f"({self.number()} - {self.state}.at)"
            asked = f"{self.dice.randint(1, 2)} {self.dice.choice(('//', '%'))} {divided} {sign} 1"
        return self.dice.choice(
            (asked, f"({self.atom()} and {asked})", f"({self.atom()} or {asked})")
        )

    # --- what is done ---------------------------------------------------------------------------

    def assignment(self, written: tuple[Made, str] | None = None) -> str:
        """A statement that writes one element."""
        made, place = written or self._target()
        match made.kind:
            case "flag":
                value = self.dice.choice(("True", "False", f"not {place}", self.condition()))
            case "choice":
                one, other = self.dice.choice(made.words), self.dice.choice(made.words)
                value = f'"{one}"'
                if self.chance(0.2):
                    value = f'"{one}" if {self.atom()} else "{other}"'
            case "name":
                names = list(self.names) + (["None"] if made.or_none else [])
                if not self.alike:
                    names.append(str(self.dice.randint(0, 1)))
                value = self.dice.choice(names or [place])
            case _:
                value = self._into(made, place)
        return f"{place} = {value}"

    def _target(self) -> tuple[Made, str]:
        for made in self.dice.sample(self.written, len(self.written)):
            if (place := self.place(made)) is not None:
                return made, place
        return self.some()

    def _into(self, made: Made, place: str) -> str:
        kind, span = self.dice.random(), made.hi - made.lo + 1
        if kind < 0.3:
            return str(self.dice.randint(made.lo, made.hi))
        if kind < 0.55:
            shifted = f"{place} + 1" if not made.lo else f"{place} + {1 - made.lo}"
            return f"({shifted}) % {span}" + (f" + ({made.lo})" if made.lo else "")
        if kind < 0.6 and self.raises:
            return f"{place} + 1"
        return f"max({made.lo}, min({made.hi}, {self.number()}))"

    def statements(self, deep: int = 1) -> list[str]:
        """One thing that an action does, line by line."""
        kind = self.dice.random()
        if deep and kind < 0.4:
            made = self.branching(kind)
            if made:
                return made
        if kind < 0.44 and (counted := [f for f in self.fields if f.kind == "number" and not f.by]):
            made_of = self.dice.choice(counted)
            place = f"{self.state}.{made_of.name}"
            return [f"if {place} < {made_of.hi}:", f"    {place} += 1"]
        return [self.assignment()]

    def branching(self, kind: float) -> list[str]:
        """Something that depends on a condition; by a number up to 0.4, which."""
        if kind < 0.07:
            return self._remembered()
        if kind < 0.17:
            lines = [f"if {self.condition()}:", *indented(self.statements(0))]
            if self.chance(0.5):
                lines += ["else:", *indented(self.statements(0))]
            return lines
        if kind < 0.28:
            return self._loop()
        if kind < 0.33:
            return [f"if {self.condition()}:", "    return"]
        return [f"settle({self.state}, {self.names[0]})"] if self.names else []

    def _remembered(self) -> list[str]:
        """Something is found out, kept in a variable, and used afterwards."""
        counted = [f for f in self.written or self.fields if f.kind == "number"]
        made = self.dice.choice(counted or self.fields[:1])
        place = self.place(made) or f"{self.state}.{self.fields[0].name}"
        made = made if place.startswith(f"{self.state}.{made.name}") else self.fields[0]
        lines = [f"found = {made.lo}", f"if {self.condition()}:", f"    found = {made.hi}"]
        if self.chance(0.5):
            asked = self._looped(self.atom)
            turn = [f"if {asked}:", f"    found = {made.hi}"]
            turn += ["    break"] if self.chance(0.3) else []
            lines = [f"found = {made.lo}", f"for {LOOPED} in {self._all()}:", *indented(turn)]
        if self.chance(0.5):
            return [*lines, f"{place} = found"]
        return [*lines, f"if found == {made.hi}:", *indented(self.statements(0))]

    def _loop(self) -> list[str]:
        """For every node; where names are alike, each by what is its own."""
        by = [f for f in self.fields if f.by == "node" and f.kind != "name"]
        if not by:
            return [self.assignment()]
        if not self.alike:
            return self._looped(
                lambda: [
                    f"for {LOOPED} in {self._all()}:",
                    f"    if {self.atom()}:",
                    f"        {self.assignment()}",
                ]
            )
        made = self.dice.choice(by)
        names, self.names, self.plain = self.names, [LOOPED], True
        asked = self.atom()
        if made.kind == "number":
            value = str(self.dice.randint(made.lo, made.hi))
        elif made.kind == "flag":
            value = self.dice.choice(("True", "False"))
        else:
            value = f'"{self.dice.choice(made.words)}"'
        self.names, self.plain = names, False
        return [
            f"for {LOOPED} in {self._all()}:",
            f"    if {asked}:",
            f"        {self.state}.{made.name}[{LOOPED}] = {value}",
        ]


def indented(lines: Sequence[str]) -> list[str]:
    """One level further in."""
    return [f"    {line}" for line in lines]
