"""Models at random: a value is put into things that are put into things, in one file or in several.

From a seed comes one case: how the limit is looked up and how the claim's number is, whether that
is in the rule or in a function that it calls, and one change. A change that matters makes the value
another one; one that does not is a remark, a constant that nobody reads, or none at all.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.fuzz.stale_disk.attempt import Case
from lab.fuzz.stale_disk.models import counter

LEAVES = {
    "number": "{name} = {value}\n",
    "sum": "{name} = {value} + 0\n",
    "hidden int": "class I{name}(int):\n    def __repr__(self):\n        return 'I'\n"
    "{name} = I{name}({value})\n",
    "int enum": "import enum\nclass E{name}(enum.IntEnum):\n    TOP = {value}\n"
    "{name} = E{name}.TOP\n",
    "int flag": "import enum\nclass E{name}(enum.IntFlag):\n    TOP = {value}\n"
    "{name} = E{name}.TOP\n",
    "truths": "{name} = 3 + ({value} == 5) + ({value} == 5) - ({value} == 2)\n",
}
"""What the value is itself: a statement that gives it a name."""
HOLDERS = {
    "class": ("class {name}:\n    top = {thing}\n", ".top"),
    "nested class": ("class {name}:\n    class inner:\n        top = {thing}\n", ".inner.top"),
    "inherited": ("class B{name}:\n    top = {thing}\nclass {name}(B{name}):\n    pass\n", ".top"),
    "tuple": ("{name} = (0, {thing})\n", "[1]"),
    "named tuple": (
        "import collections\n{name} = collections.namedtuple('{name}', 'low top')(0, {thing})\n",
        ".top",
    ),
    "tuple subclass": (
        "class K{name}(tuple):\n    top = {thing}\n{name} = K{name}((1,))\n",
        ".top",
    ),
    "function": ("def {name}():\n    return 0\n{name}.top = {thing}\n", ".top"),
}
"""What holds a thing: statements, and how the thing is got from it."""
CHANGES = ("limit", "claim", "nothing", "remark", "unread constant")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A case; what its changed value lies in, innermost first; and the kind of its change."""

    case: Case
    lookup: tuple[str, ...]
    change: str


@dataclass(slots=True)
class _Files:
    """Texts under way: that of the model's head, and of its helpers."""

    random: random.Random
    texts: dict[str, str] = field(default_factory=dict)

    def placed(self, prefix: str, token: str) -> tuple[str, str, tuple[str, ...]]:
        """Statements for the model, an expression for the token's value, and what it is in."""
        leaf = self.random.choice(list(LEAVES))
        thing, lookup = f"{prefix}0", [leaf]
        text = LEAVES[leaf].format(name=thing, value=token)
        path = ""
        for number in range(1, self.random.choice([1, 2, 2, 3, 4])):
            text, thing, path = self._moved(f"{prefix}_file{number}", text, thing, path, lookup)
            holder = self.random.choice(list(HOLDERS))
            made, way = HOLDERS[holder]
            text += made.format(name=f"{prefix}{number}", thing=thing)
            thing, path = f"{prefix}{number}", way + path
            lookup.append(holder)
        text, thing, path = self._moved(f"{prefix}_file", text, thing, path, lookup, always=True)
        return text, thing + path, tuple(lookup)

    def _moved(
        self,
        file: str,
        text: str,
        thing: str,
        path: str,
        lookup: list[str],
        *,
        always: bool = False,
    ) -> tuple[str, str, str]:
        """Perhaps put what there is into a file of its own, which what follows imports."""
        how = self.random.choice(["from", "module", "package", "here"])
        if always and how == "here":
            how = "package"
        if how == "here":
            return text, thing, path
        lookup.append(how)
        if how == "from":
            self.texts[f"{file}.py"] = text
            return f"from {file} import {thing}\n", thing, path
        if how == "module":
            self.texts[f"{file}.py"] = text
            return f"import {file}\n", file, f".{thing}{path}"
        self.texts[f"{file}/inside.py"] = text
        return f"import {file}.inside\n", file, f".inside.{thing}{path}"


def drawn(seed: int) -> Drawn:
    """The case of a seed."""
    chance = random.Random(seed)
    files = _Files(chance)
    limit_text, limit, limit_lookup = files.placed("L", "LIMIT")
    claim_text, number, claim_lookup = files.placed("N", "CLAIMED")
    guard, more = f"when(s.x < {limit})", ""
    if chance.random() < 0.5:
        depth = chance.choice([1, 2])
        guard = "when(own1(s))"
        calls = "".join(f"\n\ndef own{n}(s):\n    return own{n + 1}(s)\n" for n in range(1, depth))
        more = f"{calls}\n\ndef own{depth}(s):\n    return s.x < {limit}\n"
    claim = f"s.x <= {number}"
    files.texts["m.py"] = counter(
        preface=limit_text + claim_text, guard=guard, claim=claim, more=more
    )
    change = chance.choice(CHANGES)
    before = {"LIMIT": "3", "CLAIMED": "3"}
    after = {
        **before,
        **({"LIMIT": "5"} if change == "limit" else {}),
        **({"CLAIMED": "2"} if change == "claim" else {}),
    }
    old, new = _filled(files.texts, before), _filled(files.texts, after)
    if change in {"remark", "unread constant"}:
        file = chance.choice([name for name in new if name != "m.py"])
        new[file] += "# Read once more.\n" if change == "remark" else "UNREAD = 77\n"
    matters = change in {"limit", "claim"}
    case = Case(f"seed {seed}", old, new, still_holds=not matters)
    if matters and chance.random() < 0.5:
        case = case.reversed()
    return Drawn(case, claim_lookup if change == "claim" else limit_lookup, change)


def _filled(texts: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    filled = {}
    for name, text in texts.items():
        filled[name] = text
        for token, value in values.items():
            filled[name] = filled[name].replace(token, value)
    return filled
