"""Peterson's lock for musil, as in examples/peterson.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from musil import Action, LivenessResult, Model, check_liveness


@dataclass(frozen=True)
class State:
    """Two processes and whose turn it is."""

    at: tuple[str, str] = ("outside", "outside")
    wants: tuple[bool, bool] = (False, False)
    turn: int = 0


def put(values: tuple[Any, ...], index: int, value: object) -> tuple[Any, ...]:
    """These values with another one in one place."""
    return (*values[:index], value, *values[index + 1 :])


def is_at(place: str, p: int, s: State) -> bool:
    """True if the process is there."""
    return s.at[p] == place


def goes(to: str, wants: bool, p: int, s: State) -> State:
    """The same with the process there."""
    return replace(s, at=put(s.at, p, to), wants=put(s.wants, p, wants))


def actions(gives_way: bool) -> list[Action]:
    """What may happen."""

    def lets_the_other_first(p: int, s: State) -> State:
        return replace(s, at=put(s.at, p, "waiting"), turn=1 - p if gives_way else s.turn)

    def may_enter(p: int, s: State) -> bool:
        return s.at[p] == "waiting" and (not s.wants[1 - p] or (gives_way and s.turn == p))

    found: list[Action] = []
    for p in range(2):
        found += [
            Action(f"ask({p})", partial(is_at, "outside", p), partial(goes, "asking", True, p)),
            Action(
                f"let_the_other_first({p})",
                partial(is_at, "asking", p),
                partial(lets_the_other_first, p),
            ),
            Action(f"enter({p})", partial(may_enter, p), partial(goes, "inside", True, p)),
            Action(f"leave({p})", partial(is_at, "inside", p), partial(goes, "outside", False, p)),
        ]
    return found


def model(gives_way: int = 1) -> Model[State]:
    """A lock for the two."""
    return Model(
        init=State(),
        actions=actions(bool(gives_way)),
        invariants={"one_inside": lambda s: s.at != ("inside", "inside")},
    )


def in_the_end(model: Model[State]) -> list[LivenessResult[State]]:
    """Who waits is inside in the end, for each process, as nobody stands still half-way."""
    fair = [f"{name}({p})" for p in range(2) for name in ("let_the_other_first", "enter", "leave")]
    return [
        check_liveness(
            model,
            goal=partial(is_at, "inside", p),
            leadsto_from=partial(is_at, "waiting", p),
            fair=fair,
        )
        for p in range(2)
    ]
