"""Shared parts of the exported rules of one version: fields, bounds, named constants, operators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from waterline.checker.tla.kinds import Kind, Typed, truth, whole
from waterline.checker.tla.program import Program
from waterline.checker.tla.tree import Atom, Local, Number, Tree


@dataclass(slots=True)
class StateOperator:
    """A function of the model as an operator.

    `kinds` are those of all its parameters, None for a state; `kept` says which of them it has in
    the module: no more than it reads. `reads` are the fields that it reads.
    """

    atom: Atom
    parameters: tuple[Local, ...]
    kinds: tuple[Kind | None, ...]
    kept: tuple[bool, ...]
    value: Tree
    kind: Kind
    reads: set[str]
    comment: str
    title: str


@dataclass(slots=True)
class KafkaProgram(Program):
    """A version in its circumstances.

    `fixed` are the fields that are taken never to change their value; what is found to give one
    another is put into `varying`. `words` are constants that are words, by name; `parameter_kinds`
    those of parameters of these names. `parameters` are those of operators, and of actions. `made`
    are the operators, by function; `numbers` the constants that were read, by name.
    """

    fixed: dict[str, Typed] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)
    words: dict[str, Typed] = field(default_factory=dict)
    parameter_kinds: dict[str, Kind] = field(default_factory=dict)
    parameters: set[Local] = field(default_factory=set)
    made: dict[Any, StateOperator] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def constant(self, name: str, thing: Any) -> Typed | None:
        """Return a constant of the model as the module writes it; None unless it is a number."""
        if isinstance(thing, bool):
            return truth(thing)
        if not isinstance(thing, int):
            return None
        if name in self.words:
            return self.words[name]
        if not name.isupper() or self.numbers.setdefault(name, int(thing)) != int(thing):
            return whole(thing)
        return Typed(Number(int(thing), name), whole(0).kind)
