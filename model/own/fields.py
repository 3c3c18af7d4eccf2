"""Fields of a user model: what a state is made of, and the finite domains of their values."""

from __future__ import annotations

from model.own.containers import MEMBERS_MAX, AnyField, Log, Queue, Sequenced, Set
from model.own.names import (
    BadProtocol,
    Index,
    Names,
    extent,
    plural_of,
    require_index,
    require_name,
)
from model.own.plain_fields import (
    NONE,
    By,
    Choice,
    DeclaredField,
    Domain,
    Flag,
    Name,
    Number,
    PlainField,
    plain_field,
)

__all__ = [
    "MEMBERS_MAX",
    "NONE",
    "AnyField",
    "BadProtocol",
    "By",
    "Choice",
    "DeclaredField",
    "Domain",
    "Flag",
    "Index",
    "Log",
    "Name",
    "Names",
    "Number",
    "PlainField",
    "Queue",
    "Sequenced",
    "Set",
    "extent",
    "plain_field",
    "plural_of",
    "require_index",
    "require_name",
]
