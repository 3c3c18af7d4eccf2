"""Fields of a user model: what a state is made of, and the finite domains of their values."""

from __future__ import annotations

from waterline.model.own.containers import AnyField, Bag, Log, Queue, Sequenced
from waterline.model.own.domains import Domain, PlainField, Struct, Value, plain_field
from waterline.model.own.epoch_field import Epoch
from waterline.model.own.names import (
    BadProtocol,
    Epochs,
    Index,
    Names,
    Opaque,
    extent,
    plural_of,
    require_index,
    require_name,
)
from waterline.model.own.plain_fields import (
    NONE,
    By,
    Choice,
    DeclaredField,
    Flag,
    Name,
    Number,
)
from waterline.model.own.sets import MEMBERS_MAX, Set

__all__ = [
    "MEMBERS_MAX",
    "NONE",
    "AnyField",
    "BadProtocol",
    "Bag",
    "By",
    "Choice",
    "DeclaredField",
    "Domain",
    "Epoch",
    "Epochs",
    "Flag",
    "Index",
    "Log",
    "Name",
    "Names",
    "Number",
    "Opaque",
    "PlainField",
    "Queue",
    "Sequenced",
    "Set",
    "Struct",
    "Value",
    "extent",
    "plain_field",
    "plural_of",
    "require_index",
    "require_name",
]
