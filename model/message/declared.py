"""Declaration of sizes, settings and faults: name, range and words at one place each.

The declarations themselves are the fields of `model.message.environment.Environment`. Options and
their help, settings that rules read, limits, fields of the state, a report's names of faults, rows
of the matrix and the tables in docs/ follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from waterline.model.core.errors import BadEnvironment

_KEY = "declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Declaration of one option of the circumstances. `sentence` is its help.

    A number is within `least` and `most`; a word is a key of `values`, whose values rules read;
    without either it is on or off. `shapes` says that it shapes the layout and no rule reads it.
    `steps` are the steps that exist only if it is on, or more than 0, or equal to `steps_where`.
    `setting` is its name in rules, by default the field's own. `only_with` is the fault that gives
    it a meaning.
    """

    sentence: str
    least: int = 0
    most: int | None = None
    values: Mapping[str, int] | None = None
    shapes: bool = False
    steps: tuple[str, ...] = ()
    steps_where: str | None = None
    setting: str = ""
    only_with: str = ""
    fault: Fault | None = None

    def require(self, name: str, value: Any) -> None:
        """Raises `BadEnvironment` for a value that is not allowed."""
        if self.most is not None and not self.least <= value <= self.most:
            raise BadEnvironment(f"{name} is {value}; allowed is {self.least} to {self.most}")
        if self.values is not None and value not in self.values:
            raise BadEnvironment(f"{name} is {value!r}; allowed is {', '.join(self.values)}")

    def number(self, value: Any) -> int:
        """Return the number that rules read for this value."""
        return int(value) if self.values is None else self.values[value]

    def has_steps(self, number: int) -> bool:
        """True if its steps can be taken, given the number that a rule reads."""
        if self.steps_where is not None and self.values is not None:
            return number == self.values[self.steps_where]
        return number > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Fault that occurs a limited number of times in a run; the first of its steps uses one up.

    `so_far` says what is counted, `one` and `many` are the units of a report. `description`
    narrates its step (`model.message.narration.cluster_events`), "" if it has a sentence of its
    own; `never` says what it means that the step was never taken. `always`: it is counted, and its
    step listed, also with a budget of 0. `takes_down`: the broker's process ends. `takes_records`:
    the machine loses records, so Kafka promises nothing about those that no other machine has.
    `loses` and `who_knows` are for the table of faults in docs/model.md. `row`: the matrix's name
    for a single such fault, and a sentence.
    """

    so_far: str
    one: str
    many: str
    never: str
    loses: str
    who_knows: str
    description: str = ""
    always: bool = False
    takes_down: bool = False
    takes_records: bool = False
    row: tuple[str, str] | None = None


def size(default: int, least: int, most: int, sentence: str, **more: Any) -> Any:
    """A bound of the cluster, which shapes the state."""
    return _field(default, Declared(sentence=sentence, least=least, most=most, shapes=True, **more))


def number(default: int, least: int, most: int, sentence: str, **more: Any) -> Any:
    """A number that rules read."""
    return _field(default, Declared(sentence=sentence, least=least, most=most, **more))


def choice(default: str, values: Mapping[str, int], sentence: str, **more: Any) -> Any:
    """Return a field for one of several words."""
    return _field(default, Declared(sentence=sentence, values=values, **more))


def abstraction(default: bool, sentence: str) -> Any:
    """Return a field that says, on or off, which states are distinct; no rule reads it."""
    return _field(default, Declared(sentence=sentence, shapes=True))


def switch(sentence: str, *steps: str, only_with: str = "") -> Any:
    """Return a field for an option that is off by default."""
    return _field(False, Declared(sentence=sentence, steps=steps, only_with=only_with))


def budget(default: int, most: int, sentence: str, *steps: str, **fault: Any) -> Any:
    """A fault, and how often it may happen."""
    declared = Declared(sentence=sentence, most=most, steps=steps, fault=Fault(**fault))
    return _field(default, declared)


def _field(default: Any, declared: Declared) -> Any:
    return field(default=default, metadata={_KEY: declared})


def declared_in(environment: type) -> dict[str, Declared]:
    """All that a class declares, by field name, in order."""
    return {f.name: f.metadata[_KEY] for f in fields(environment)}


def option_of(name: str) -> str:
    """A field's name as an option, without dashes in front."""
    return name.replace("_", "-")
