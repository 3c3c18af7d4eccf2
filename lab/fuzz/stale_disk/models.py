"""The model that every attack is on: a number that rises to a limit, and the claim that it is low.

`VALUE` in a text is the value that changes: 3 before, where x comes to 3 and the claim holds, and 5
after, where x comes to 5 and it is violated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.fuzz.stale_disk.attempt import DOORS, Case

COUNTER = """\
from waterline import Action, Choice, Flag, Names, Number, Protocol, when
{preface}


def counter({bounds}) -> Protocol:
    return Protocol(fields=[Number("x", 0, 9)], actions=[rise], always=[low])


def rise(s):
    {guard}
    {effect}


def low(s):
    return {claim}
{more}"""


def counter(
    limit: str = "9",
    preface: str = "",
    *,
    guard: str = "",
    effect: str = "s.x += 1",
    claim: str = "s.x <= 3",
    bounds: str = "",
    more: str = "",
) -> str:
    """The text of a model whose number rises while it is less than `limit`, an expression."""
    return COUNTER.format(
        preface=preface,
        bounds=bounds,
        guard=guard or f"when(s.x < ({limit}))",
        effect=effect,
        claim=claim,
        more=more,
    )


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of lookup: texts with `VALUE` where it stands, by file; `m.py` is the model."""

    name: str
    files: Mapping[str, str]
    values: tuple[str, str] = ("3", "5")
    environment: Mapping[str, str] = field(default_factory=dict)
    group: str = ""
    doors: tuple[str, ...] = DOORS

    def case(self) -> Case:
        """The attack."""
        old, new = self.values
        return Case(
            self.name,
            {file: text.replace("VALUE", old) for file, text in self.files.items()},
            {file: text.replace("VALUE", new) for file, text in self.files.items()},
            environment={name: v.replace("VALUE", old) for name, v in self.environment.items()},
            environment_after={
                name: v.replace("VALUE", new) for name, v in self.environment.items()
            },
        )
