"""Peterson's lock for minicheck, as in examples/peterson.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minicheck import Protocol

State = tuple[Any, ...]


def put(values: tuple[Any, ...], index: int, value: object) -> tuple[Any, ...]:
    """These values with another one in one place."""
    return (*values[:index], value, *values[index + 1 :])


def steps(state: State, *, gives_way: bool) -> Iterator[tuple[str, State]]:
    """What may happen next."""
    at, wants, turn = state
    for p in range(2):
        if at[p] == "outside":
            yield f"ask({p})", (put(at, p, "asking"), put(wants, p, True), turn)
        elif at[p] == "asking":
            given = 1 - p if gives_way else turn
            yield f"let_the_other_first({p})", (put(at, p, "waiting"), wants, given)
        elif at[p] == "inside":
            yield f"leave({p})", (put(at, p, "outside"), put(wants, p, False), turn)
        elif not wants[1 - p] or (gives_way and turn == p):
            yield f"enter({p})", (put(at, p, "inside"), wants, turn)


def one_inside(state: dict[str, Any]) -> bool:
    """At most one process is inside."""
    return bool(state["at"] != ("inside", "inside"))


def nobody_inside(state: dict[str, Any]) -> bool:
    """Nobody is inside, or on the way."""
    return not any(state["wants"])


def model(gives_way: int = 1) -> Protocol:
    """A lock for the two. `goal`: from every state there is a way to one in which it is true."""
    return Protocol(
        name="peterson",
        candidate=False,
        fields=("at", "wants", "turn"),
        initial=(("outside", "outside"), (False, False), 0),
        transitions=lambda state: list(steps(state, gives_way=bool(gives_way))),
        invariants={"one_inside": one_inside},
        goal=nobody_inside,
    )
