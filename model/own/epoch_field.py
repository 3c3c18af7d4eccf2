"""Fields of a user model that hold an epoch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Never, Unpack, overload

from waterline.model.own.names import BadProtocol, Epochs, Index
from waterline.model.own.plain_fields import By, DeclaredField, Number, Said
from waterline.model.own.typed import Read, Written

if TYPE_CHECKING:
    from waterline.model.own.typed import Elements, Table


@dataclass(frozen=True, slots=True, init=False)
class Epoch(Number[Read, Written]):
    """A field that holds an epoch of a sort of `Epochs`; 0, before all of them, at first.

    `term = Epoch(terms, by=nodes)` is copied, and compared with epochs and 0:
    `s.term[a] < s.term[b]`. A new one is an argument: `when(term > s.term[node])`.
    """

    of: Epochs

    @overload
    def __init__(self: Epoch[int, int], of: Epochs, **said: Unpack[Said]) -> None: ...
    @overload
    def __init__(
        self: Epoch[Elements[int, int], Never], of: Epochs, *, by: Index, **said: Unpack[Said]
    ) -> None: ...
    @overload
    def __init__(
        self: Epoch[Table[int, int], Never],
        of: Epochs,
        *,
        by: tuple[Index, ...],
        **said: Unpack[Said],
    ) -> None: ...
    @overload
    def __init__(
        self: Epoch[Any, Any],
        name: str,
        /,
        of: Epochs,
        *,
        least: int = 0,
        by: By = (),
        **said: Unpack[Said],
    ) -> None: ...

    def __init__(
        self,
        *given: Any,
        of: Any = None,
        least: int = 0,
        by: By = (),
        doc: str = "",
        ghost: bool = False,
    ) -> None:
        rest = {"lo": least, "hi": least, "by": by, "doc": doc, "ghost": ghost}
        self._take(given, {"of": of}, rest)

    def require(self) -> None:
        """Raises `BadProtocol`."""
        DeclaredField.require(self)
        if not isinstance(self.of, Epochs):
            raise BadProtocol(f"field {self.name} holds epochs of {self.of!r}; give Epochs")
        object.__setattr__(self, "hi", self.of._last)
