"""A model's file run by Python as it stands: sets are sets, queues are lists, `when` raises.

It shares nothing with the lowering of rules: a search through the states that it finds is a second
opinion on a model with sets, queues and logs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from waterline.model.own.fields import (
    Bag,
    Choice,
    Epochs,
    Flag,
    Log,
    Name,
    Names,
    Number,
    Queue,
    Set,
    Struct,
    Value,
    extent,
)


class NotEnabledHere(Exception):
    """A `when` was not so."""


class CutHere(Exception):
    """A `within` was not so, or a sequence was full; `args` has what stands for it."""


class Values(list[Any]):
    """A queue or a log."""

    def __init__(self, name: str, room: int, values: Any = ()) -> None:
        super().__init__(values)
        self.name, self.room = name, room

    def append(self, value: Any) -> None:
        """At the end, where there is room."""
        if len(self) >= self.room:
            raise CutHere(self.name)
        super().append(value)

    send = append

    def receive(self) -> Any:
        """The first one."""
        return self.pop(0)

    def truncate(self, count: int) -> None:
        """Keep so many."""
        assert count >= 0
        del self[count:]


class Multiset(Values):
    """A bag: equal to another one whatever the order is."""

    __hash__ = None  # type: ignore[assignment]

    def frozen(self) -> Any:
        """How often it has each value."""
        return frozenset(Counter(self).items())


class Members(int):
    """How many names a sort has, and these names."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(self))


class Table(dict[Any, Any]):
    """The elements of a field; a sequence is assigned by its values."""

    def __setitem__(self, index: Any, value: Any) -> None:
        old = self.get(index)
        if isinstance(old, Values):
            assert len(value) <= old.room
            value = type(old)(old.name, old.room, value)
        elif isinstance(value, set):
            value = set(value)
        super().__setitem__(index, value)


class PlainState:
    """A state with a Python value for each field, and the sizes."""

    def __init__(self, fields: Any, sizes: Mapping[str, int]) -> None:
        for name, size in sizes.items():
            object.__setattr__(self, name, Members(size))
        object.__setattr__(self, "fields", fields)
        for field in fields:
            first = _first(field)
            if not field.indices:
                object.__setattr__(self, field.name, first)
                continue
            ranges = [range(extent(index)) for index in field.indices]
            elements = itertools.product(*ranges)
            table = Table()
            for index in elements:
                dict.__setitem__(table, index[0] if len(index) == 1 else index, _copied(first))
            object.__setattr__(self, field.name, table)

    def __setattr__(self, name: str, value: Any) -> None:
        old = getattr(self, name)
        if isinstance(old, Values):
            value = type(old)(old.name, old.room, value)
        elif isinstance(value, set):
            value = set(value)
        object.__setattr__(self, name, value)

    def copied(self) -> PlainState:
        """Another state with the same values."""
        other = object.__new__(PlainState)
        other.__dict__.update(self.__dict__)
        for field in self.fields:  # type: ignore[attr-defined]
            other.__dict__[field.name] = _copied(getattr(self, field.name))
        return other

    def frozen(self) -> tuple[Any, ...]:
        """All of it, to be compared."""
        return tuple(_frozen(getattr(self, field.name)) for field in self.fields)  # type: ignore[attr-defined]


def decoded(fields: Any, state: Any) -> tuple[Any, ...]:
    """What `PlainState.frozen` says of the same state, read off the numbers of the checker's."""
    found = []
    for field in fields:
        kept = getattr(state, field.name)
        shape = list(field.extents)
        flat = [int(kept)] if not shape else _numbers(kept, shape)
        if isinstance(field, Queue | Log | Bag):
            rows = [flat[i : i + field.room] for i in range(0, len(flat), field.room)]
            values: list[Any] = []
            for row in rows:
                held = [each for each in row if each != field.empty]
                assert row == held + [field.empty] * (field.room - len(held))
                whole = [_value(field.element, each) for each in held]
                is_bag = isinstance(field, Bag)
                assert not is_bag or held == sorted(held, reverse=True)
                values.append(frozenset(Counter(whole).items()) if is_bag else tuple(whole))
        elif isinstance(field, Set):
            values = [
                frozenset(
                    _value(field.element, bit)
                    for bit in range(number.bit_length())
                    if number >> bit & 1
                )
                for number in flat
            ]
        else:
            values = [_value(field, number) for number in flat]
        found.append(values[0] if not field.indices else tuple(values))
    return tuple(found)


def explored(
    protocol: Any, sizes: Mapping[str, int]
) -> tuple[dict[tuple[Any, ...], PlainState], Counter[str]]:
    """Every state that plain Python reaches, and how often each limit cut a step."""
    start = PlainState(protocol.fields, sizes)
    found: dict[tuple[Any, ...], PlainState] = {}
    cut: Counter[str] = Counter()
    sorts = {sort.name: sort for sort in protocol.all_sorts}
    first = [start]
    if protocol.initial is not None:
        first = [state for state, _ in _steps(protocol.initial, start, sorts, Counter())]
    waiting = [state for state in first if found.setdefault(state.frozen(), state) is state]
    while waiting:
        state = waiting.pop()
        for action in protocol.actions:
            for after, _ in _steps(action, state, sorts, cut):
                if found.setdefault(after.frozen(), after) is after:
                    waiting.append(after)
    return found, cut


def steps_of(protocol: Any, action: Any, state: PlainState) -> list[PlainState]:
    """Where the steps of one action lead, within the bounds."""
    sorts = {sort.name: sort for sort in protocol.all_sorts}
    return [after for after, _ in _steps(action, state, sorts, Counter())]


def asking(condition: object) -> None:
    """`when`"""
    if not condition:
        raise NotEnabledHere


def _steps(
    action: Any, state: PlainState, sorts: Mapping[str, Any], cut: Counter[str]
) -> Iterator[tuple[PlainState, tuple[Any, ...]]]:
    over = dict(getattr(action, "over", {}))
    function = getattr(action, "function", action)
    code = function.__code__
    names = code.co_varnames[1 : code.co_argcount]
    domains = [_values(over.get(name, sorts.get(name))) for name in names]
    for given in itertools.product(*domains):
        after = state.copied()
        try:
            function(after, *given)
            _cut_above(names, given, over, sorts)
        except NotEnabledHere:
            continue
        except CutHere as beyond:
            cut[str(beyond)] += 1
            continue
        yield after, given


def _cut_above(names: Any, given: Any, over: Any, sorts: Any) -> None:
    """A step with an epoch above the highest is enabled, and cut."""
    for name, value in zip(names, given, strict=True):
        domain = over.get(name, sorts.get(name))
        if isinstance(domain, Epochs) and value > domain.highest:
            raise CutHere(domain.plural)


def _values(domain: Any) -> list[Any]:
    match domain:
        case Names():
            return list(range(domain.count))
        case Epochs():
            # One above the highest is cut; see `_cut_above`.
            return list(range(1, domain.highest + 2))
        case int():
            return list(range(domain))
        case Struct():
            parts = [_part_values(part) for _, part in domain.parts]
            return [domain.kind(*each) for each in itertools.product(*parts)]
    return list(domain)


def _part_values(part: Any) -> list[Any]:
    match part:
        case Flag():
            return [False, True]
        case Choice():
            return list(part.values)
        case Name():
            return [*([None] if part.or_none else []), *range(part.of.count)]
    return list(range(part.lo, part.hi + 1))


def _first(field: Any) -> Any:  # noqa: PLR0911 - one for each kind
    match field:
        case Flag():
            return False
        case Choice():
            return field.values[0]
        case Name():
            return None if field.or_none else 0
        case Number():
            return field.lo
        case Set():
            return set()
        case Value():
            return _values(field.of)[0]
        case Bag():
            return Multiset(field.name, field.room)
    return Values(field.name, field.room)


def _value(field: Any, number: int) -> Any:
    match field:
        case Flag():
            return bool(number)
        case Choice():
            return field.values[number]
        case Name():
            return None if number < 0 else number
        case Value():
            # Values are counted in the order of their parts, the last one fastest.
            return _values(field.of)[number]
    return number


def _copied(value: Any) -> Any:
    match value:
        case Table():
            other = Table()
            for index, each in value.items():
                dict.__setitem__(other, index, _copied(each))
            return other
        case Values():
            return type(value)(value.name, value.room, value)
        case set():
            return set(value)
    return value


def _frozen(value: Any) -> Any:
    match value:
        case Table():
            return tuple(_frozen(each) for each in value.values())
        case set():
            return frozenset(value)
        case Multiset():
            return value.frozen()
        case list():
            return tuple(value)
    return value


def _numbers(kept: Any, shape: list[int]) -> list[int]:
    if len(shape) == 1:
        return [int(kept[i]) for i in range(shape[0])]
    *leading, last = shape
    rows = 1
    for extent_ in leading:
        rows *= extent_
    return [int(kept[i, j]) for i in range(rows) for j in range(last)]
