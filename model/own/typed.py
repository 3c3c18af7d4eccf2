"""Types of fields for a type checker: `s.token[client]` is a number, `s.holder` one or None.

Rules run on other objects (`waterline.state`) or are compiled; only `Size` is called at run time.
Type variables are None then, so that a view is generic through a builtin class: `tuple[V, ...]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypedDict, overload


class Size(int):
    """Number of names of a sort. A loop over it goes through all of them, as in a rule."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(self))


class OfState:
    """Object whose fields read as values: a class of fields is one."""

    __slots__ = ()


if TYPE_CHECKING:
    from typing import Self

    from typing_extensions import TypeVar as Defaulted

    class Counted:
        """A sort of a class: of a state it reads as how many names there are."""

        @overload
        def __get__(self, state: OfState, owner: type[Any]) -> Size: ...
        @overload
        def __get__(self, state: object, owner: type[Any]) -> Self: ...
        def __get__(self, state: object, owner: type[Any]) -> Any: ...

    Index = Counted | int
    By = Index | tuple[Index, ...]
    At = Defaulted("At", bound=By, default=tuple[()], covariant=True)  # noqa: PLC0105 - as in `Held`
    """Indices of a field."""
    Made = Defaulted("Made", default=Any)
    """Result of a struct's constructor."""
    Read = Defaulted("Read", default=Any)
    Written = Defaulted("Written", default=Any)
    V = Defaulted("V", default=int)
    Part = int | None
    """An index. None has no element, but no type checker knows that a `when` has excluded it."""

    class Said(TypedDict, Generic[At], total=False):
        """Options of any field."""

        by: At
        doc: str
        ghost: bool

    class Held(Generic[Read, Written, At]):
        """A field of a class: of a state it reads as a value, of the class as the field itself."""

        @overload
        def __get__(self: Held[Read, Written], state: OfState, owner: type[Any]) -> Read: ...
        @overload
        def __get__(
            self: Held[Read, Written, Index], state: OfState, owner: type[Any]
        ) -> Elements[Read, Written]: ...
        @overload
        def __get__(
            self: Held[Read, Written, tuple[Index, ...]], state: OfState, owner: type[Any]
        ) -> Table[Read, Written]: ...
        @overload
        def __get__(self, state: object, owner: type[Any]) -> Self: ...
        def __get__(self, state: object, owner: type[Any]) -> Any: ...
        def __set__(self: Held[Read, Written], state: object, value: Written) -> None: ...

    class Places(Held[Read, Written, At], Generic[Read, Written, V, At]):
        """A field that holds several values in places."""

    class Among(Generic[V]):
        """A domain, by the type of its values."""

        def _value(self) -> V: ...

    class Elements(Generic[Read, Written]):
        """`s.token[client]`"""

        def __getitem__(self, index: Part) -> Read: ...
        def __setitem__(self, index: Part, value: Written) -> None: ...
        def __iter__(self) -> Iterator[Read]: ...
        def __len__(self) -> int: ...

    class Table(Generic[Read, Written]):
        """`s.match[leader, follower]`"""

        def __getitem__(self, index: tuple[Part, ...]) -> Read: ...
        def __setitem__(self, index: tuple[Part, ...], value: Written) -> None: ...

else:
    At = Read = Written = V = Made = None  # A class is made with them, and nobody asks which.

    class Held:
        """A field of a class, or a domain of its values."""

        __slots__ = ()

        def __class_getitem__(cls, _: object) -> type:
            return cls

    Among = Places = Held

    class Counted:
        """A sort of a class."""

        __slots__ = ()
