"""Fields that hold several values: what sets, queues, bags and logs have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from waterline.model.own.domains import Domain, Value, plain_field
from waterline.model.own.plain_fields import Choice, DeclaredField, Name, Number
from waterline.model.own.typed import At, Places, Read, V, Written

Given = Literal["nothing", "value", "number"]


class Method(NamedTuple):
    """A method of a container: its argument, its result, and whether it changes the container.

    A `value` is one of those that the container can have.
    """

    takes: Given = "nothing"
    gives: Given = "nothing"
    changes: bool = True


CLEAR = Method()


@dataclass(frozen=True, slots=True, init=False)
class Container(DeclaredField, Places[Read, Written, V, At]):
    """A field that holds several values of a domain.

    `methods` are what a rule can call. `remedies` say what to write for methods of other libraries;
    `Q` is the field.
    """

    methods: ClassVar[Mapping[str, Method]]
    remedies: ClassVar[Mapping[str, str]]
    of: Domain

    @property
    def element(self) -> Number | Choice | Name | Value:
        """The field that holds one of its values."""
        return plain_field(self.name, self.of)
