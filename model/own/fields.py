"""Fields of a user model: what a state is made of, and the finite domains of their values.

A kind of field is a class: its domain, the values in plain Python and as the checker keeps them,
and their words. One that holds several values also has methods, and a view for plain Python.
"""

from __future__ import annotations

from waterline.model.own.domains import Domain, PlainField, Struct, Value, plain_field
from waterline.model.own.names import (
    BadProtocol,
    Epochs,
    Index,
    Names,
    Opaque,
    extent,
    require_name,
)
from waterline.model.own.placed import Container, Method, PlacedField
from waterline.model.own.plain_fields import (
    NONE,
    Choice,
    DeclaredField,
    Epoch,
    Flag,
    Name,
    Number,
)
from waterline.model.own.sequences import Bag, Log, Queue, SequenceField
from waterline.model.own.sets import MEMBERS_MAX, Set

__all__ = [
    "MEMBERS_MAX",
    "NONE",
    "AnyField",
    "BadProtocol",
    "Bag",
    "Choice",
    "Container",
    "DeclaredField",
    "Domain",
    "Epoch",
    "Epochs",
    "Flag",
    "Index",
    "Log",
    "Method",
    "Name",
    "Names",
    "Number",
    "Opaque",
    "PlacedField",
    "PlainField",
    "Queue",
    "SequenceField",
    "Set",
    "Struct",
    "Value",
    "extent",
    "plain_field",
    "require_name",
]

AnyField = PlainField | Container
