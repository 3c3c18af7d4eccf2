"""Two-phase commit for musil, as in examples/two_phase_commit.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from musil import Action, Model


@dataclass(frozen=True)
class State:
    """A transaction manager and its resource managers."""

    rm_state: tuple[str, ...]
    tm_prepared: tuple[bool, ...]
    prepared_sent: tuple[bool, ...]
    tm_state: str = "init"
    commit_sent: bool = False
    abort_sent: bool = False


def put(values: tuple[Any, ...], index: int, value: object) -> tuple[Any, ...]:
    """These values with another one in one place."""
    return (*values[:index], value, *values[index + 1 :])


def moved(to: str, rm: int, s: State) -> State:
    """The same with the resource manager in this state."""
    return replace(s, rm_state=put(s.rm_state, rm, to))


def of_one(name: str, rm: int, may: Callable[..., bool], does: Callable[..., State]) -> Action:
    """An action of one resource manager."""
    return Action(f"{name}({rm})", partial(may, rm), partial(does, rm))


def actions(rms: int) -> list[Action]:
    """What may happen."""
    found = [
        Action(
            "tm_commit",
            lambda s: s.tm_state == "init" and all(s.tm_prepared),
            lambda s: replace(s, tm_state="committed", commit_sent=True),
        ),
        Action(
            "tm_abort",
            lambda s: s.tm_state == "init",
            lambda s: replace(s, tm_state="aborted", abort_sent=True),
        ),
    ]
    for rm in range(rms):
        found += [
            of_one(
                "tm_receive_prepared",
                rm,
                lambda rm, s: s.tm_state == "init" and s.prepared_sent[rm],
                lambda rm, s: replace(s, tm_prepared=put(s.tm_prepared, rm, True)),
            ),
            of_one(
                "rm_prepare",
                rm,
                lambda rm, s: s.rm_state[rm] == "working",
                lambda rm, s: replace(
                    moved("prepared", rm, s), prepared_sent=put(s.prepared_sent, rm, True)
                ),
            ),
            of_one(
                "rm_choose_to_abort",
                rm,
                lambda rm, s: s.rm_state[rm] == "working",
                partial(moved, "aborted"),
            ),
            of_one(
                "rm_receive_commit", rm, lambda rm, s: s.commit_sent, partial(moved, "committed")
            ),
            of_one("rm_receive_abort", rm, lambda rm, s: s.abort_sent, partial(moved, "aborted")),
        ]
    return found


def consistent(s: State) -> bool:
    """No resource manager has committed while another has aborted."""
    return not ("committed" in s.rm_state and "aborted" in s.rm_state)


def model(rms: int) -> Model[State]:
    """One transaction. The end of it is no deadlock."""
    none = (False,) * rms
    return Model(
        init=State(("working",) * rms, none, none),
        actions=actions(rms),
        invariants={"consistent": consistent},
        terminal=lambda s: True,
    )
