"""Layout of a user model's states: bounds, names and fields as the checker packs them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from waterline.model.core.layout import Field, Layout, TooLargeToPack
from waterline.model.core.renaming import Digit, Holds, Naming
from waterline.model.core.state import Draft
from waterline.model.own.data_sorts import held_by
from waterline.model.own.declared import Protocol
from waterline.model.own.fields import (
    AnyField,
    BadProtocol,
    Choice,
    Container,
    Name,
    Names,
    PlacedField,
    SequenceField,
    Set,
    Struct,
    Value,
)


def layout_of(
    protocol: Protocol,
    sorts: Mapping[str, Names],
    bounds: Mapping[str, int],
    ranges: Mapping[str, int] | None = None,
) -> Layout:
    """Return the layout within these bounds; `ranges` are further sizes. Raises `BadProtocol`."""
    sizes = dict(bounds)
    for sort in sorts.values():
        if sizes.setdefault(sort.plural, sort.count) != sort.count:
            raise BadProtocol(
                f"{sort.plural} would be the bound, {sizes[sort.plural]}, and the number of names, "
                f"{sort.count}; call one of them otherwise, as Names({sort.name!r}, ..., "
                f'plural="all_{sort.plural}")'
            )
    for epochs in protocol.epochs:
        if sizes.setdefault(epochs.plural, epochs.highest) != epochs.highest:
            raise BadProtocol(
                f"{epochs.plural} would be the bound, {sizes[epochs.plural]}, and the highest "
                f"{epochs.name}, {epochs.highest}; make them the same, as "
                f"Epochs({epochs.name!r}, {epochs.plural}), or call the sort otherwise"
            )
    for name in (*(declared.name for declared in protocol.fields), *sizes):
        if hasattr(Draft, name):
            raise BadProtocol(f"{name} is what a state has of its own; call it otherwise")
    for declared in protocol.fields:
        if declared.name in sizes:
            raise BadProtocol(
                f"field {declared.name} has the name of a bound or of a sort; rename one of them"
            )
    try:
        fields = [field_of(declared) for declared in protocol.fields]
        return Layout(fields, sizes={**sizes, **(ranges or {})})
    except TooLargeToPack as problem:
        raise BadProtocol(f"the state is too large: {problem}; lower a bound") from None


def limits_of(protocol: Protocol, bounds: Mapping[str, int]) -> tuple[str, ...]:
    """Return the names of what cuts steps: bounds, full queues and logs, highest epochs."""
    placed = [each.name for each in protocol.fields if isinstance(each, PlacedField)]
    highest = [each.plural for each in protocol.epochs if each.plural not in bounds]
    return ("within", *bounds, *placed, *highest)


def field_of(declared: AnyField) -> Field:
    """A declared field as one of a layout."""
    lo, hi = declared.range
    *leading, last = declared.extents or (0,)
    # A layout has two dimensions: of more, all but the last are one.
    shape = (math.prod(leading), last) if len(leading) > 1 else declared.extents
    doc = declared.doc
    element = declared.element if isinstance(declared, Container) else declared
    if isinstance(element, Choice):
        first = 0 if element is declared or isinstance(declared, Set) else element.range[0]
        words = ", ".join(f"{i}: {word}" for i, word in enumerate(element.values, start=first))
        is_counted = isinstance(declared, PlacedField) and declared.holds is None
        doc = f"{doc} Places: {words}." if is_counted else f"{doc} {words}."
    if isinstance(element, Value):
        digits = zip(element.of.parts, element.of.sizes, strict=True)
        doc = f"{doc} Digits: {', '.join(f'{name} of {size}' for (name, _), size in digits)}."
    if isinstance(declared, SequenceField):
        doc = f"{doc} {declared.empty}: no value."
    return Field(
        name=declared.name,
        doc=doc.strip(),
        lo=lo,
        hi=hi,
        shape=shape,
        naming=_naming(declared),
        held=held_by(declared),
    )


def _naming(declared: AnyField) -> Naming | None:
    """Return the effect of renamings on a field, None if names cannot be renamed in it: one index
    stands for two, or one bit of a set for several names.
    """
    indices: list[Any] = [*declared.indices]
    if isinstance(declared, PlacedField):
        indices.append(declared.named_by)
    sorts = [index.sort if isinstance(index, Names) else None for index in indices]
    if len(declared.extents) > 2:
        if any(sorts):
            return None
        sorts = []
    rows, columns = (*sorts, None, None)[:2]
    is_sorted = isinstance(declared, PlacedField) and declared.is_sorted
    of = declared.of if isinstance(declared, Name | Set | Value) else None
    if isinstance(declared, PlacedField):
        of = declared.holds
    if isinstance(of, Struct) and any(digit.of is not None for digit in digits_of(of)):
        if isinstance(declared, Set):
            return None
        return Naming(rows, columns, Holds.DIGITS, None, digits_of(of), is_sorted)
    if not isinstance(of, Names):
        return Naming(rows, columns)
    holds = Holds.REPLICAS if isinstance(declared, Set) else Holds.REPLICA
    return Naming(rows, columns, holds, of.sort, is_sorted=is_sorted)


def digits_of(struct: Struct[Any]) -> tuple[Digit, ...]:
    """The digits of the number that a struct is kept as."""
    return tuple(
        Digit(size, part.range[0], part.of.sort if isinstance(part, Name) else None)
        for (_, part), size in zip(struct.parts, struct.sizes, strict=True)
    )
