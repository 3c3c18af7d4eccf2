"""A model as a value: the function that declares a protocol, and the bounds that it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from waterline.model.core.errors import did_you_mean
from waterline.model.own import Action, BadProtocol, Epochs, Names, Protocol
from waterline.model.own.fields import Domain, Struct
from waterline.model.own.state_class import bounds_of, call_within
from waterline.model.own.typed import Size
from waterline.shape import Shape

BOUND_MAX = 1 << 20
Declares = Callable[..., Protocol]
"""A function that returns a `Protocol`; its arguments are the bounds."""


@dataclass(frozen=True, slots=True)
class Runnable:
    """An action that can be run: the function, and what each of its arguments ranges over."""

    name: str
    function: Callable[..., object]
    over: tuple[tuple[str, Domain], ...]


@dataclass(frozen=True, repr=False)
class Model:
    """A protocol within bounds, made by `waterline.instance`. Equal if function and bounds are."""

    function: Declares
    bounds: Mapping[str, int | bool]
    protocol: Protocol = field(repr=False, compare=False)

    def __hash__(self) -> int:
        return hash((self.function, tuple(self.bounds.items())))

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in self.bounds.items())
        return f"{self.function.__name__}({bounds})"

    def __reduce__(self) -> tuple[Any, ...]:
        # What the function returned is made again: a class within other bounds has no place where
        # it could be found by its name.
        return _again, (self.function, self.bounds)

    @cached_property
    def shape(self) -> Shape:
        """The shape of its states. Raises `BadProtocol`."""
        sizes: dict[str, int] = dict(self.bounds)
        for sort in self.protocol.sorts:
            if sizes.get(sort.plural, sort.count) != sort.count:
                raise BadProtocol(
                    f"{sort.plural} would be the bound, {sizes[sort.plural]}, and the number of "
                    f"names, {sort.count}; call one of them otherwise"
                )
            sizes[sort.plural] = Size(sort.count)
        for epochs in self.protocol.epochs:
            if sizes.setdefault(epochs.plural, epochs.highest) != epochs.highest:
                raise BadProtocol(
                    f"{epochs.plural} would be the bound, {sizes[epochs.plural]}, and the highest "
                    f"{epochs.name}, {epochs.highest}; call one of them otherwise"
                )
        fields = {declared.name: declared for declared in self.protocol.fields}
        for name in fields:
            if name in sizes:
                raise BadProtocol(
                    f"field {name} has the name of a bound or of a sort; rename one of them"
                )
        return Shape(fields, sizes, self.bounds)

    @cached_property
    def actions(self) -> tuple[Runnable, ...]:
        """Its actions, in their order. Raises `BadProtocol`."""
        return tuple(map(self.runnable, self.protocol.actions))

    def runnable(self, declared: Callable[..., object] | Action) -> Runnable:
        """An action, or the function that makes initial states. Raises `BadProtocol`."""
        function = declared.function if isinstance(declared, Action) else declared
        return Runnable(function.__name__, function, tuple(self.protocol.takes(declared).items()))


def instance(function: Declares, /, **bounds: int | bool) -> Model:
    """The protocol that a function declares, within these bounds; others have their defaults.

        lease2 = waterline.instance(lease, clients=2, fenced=True)

    Raises `BadProtocol`, and whatever the function raises.
    """
    if not callable(function):
        raise TypeError(f"{function!r} is no function that returns a Protocol; {_REMEDY}")
    known = bounds_of(function)
    for name, value in bounds.items():
        if name not in known:
            raise BadProtocol(
                f"{function.__name__} has no bound {name!r}{did_you_mean(name, known)}"
            )
        wanted = type(known[name])
        if type(value) is not wanted or abs(value) > BOUND_MAX:
            kind = "True or False" if wanted is bool else "a whole number"
            raise BadProtocol(f"bound {name} is {value!r}; it must be {kind}")
    given = {name: bounds.get(name, default) for name, default in known.items()}
    protocol = call_within(function, given)
    if not isinstance(protocol, Protocol):
        raise BadProtocol(f"{function.__name__} returns no Protocol but {protocol!r}")
    return Model(function, given, protocol)


def _again(function: Declares, bounds: Mapping[str, int | bool]) -> Model:
    return instance(function, **bounds)


_REMEDY = "write waterline.instance(function, bound=3)"


def model_of(given: Model | Declares) -> Model:
    """A model, or that of a function with the default of each bound.

    Raises `TypeError` for a bare `Protocol`: it does not know the bounds that it was made with.
    """
    if isinstance(given, Protocol):
        raise TypeError(
            "a Protocol does not know the bounds that it was made with; give the function that "
            f"returns it: {_REMEDY}"
        )
    return given if isinstance(given, Model) else instance(given)


def values_of(domain: Domain) -> Iterable[Any]:
    """The values of an argument, in the checker's order."""
    match domain:
        case Names():
            return range(domain.count)
        case int():
            return range(domain)
        case Epochs():
            return range(1, domain.highest + 1)
        case Struct():
            return [domain.value.decode(number) for number in range(domain.size)]
    return domain


def value_of(domain: Domain, number: int) -> Any:
    """The value that the checker counts as this one. It counts epochs by themselves."""
    return number if isinstance(domain, Epochs) else list(values_of(domain))[number]


def number_of(domain: Domain, value: Any) -> int:
    """The other way."""
    return int(value) if isinstance(domain, Epochs) else list(values_of(domain)).index(value)
