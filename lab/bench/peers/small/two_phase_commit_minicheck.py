"""Two-phase commit for minicheck, as in examples/two_phase_commit.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minicheck import Protocol

State = tuple[Any, ...]


def put(values: tuple[Any, ...], index: int, value: object) -> tuple[Any, ...]:
    """These values with another one in one place."""
    return (*values[:index], value, *values[index + 1 :])


def steps(state: State) -> Iterator[tuple[str, State]]:
    """What may happen next."""
    rm_state, tm_state, prepared, sent, commit_sent, abort_sent = state
    if tm_state == "init":
        yield "tm_abort", (rm_state, "aborted", prepared, sent, commit_sent, True)
        if all(prepared):
            yield "tm_commit", (rm_state, "committed", prepared, sent, True, abort_sent)
    for rm, at in enumerate(rm_state):
        if tm_state == "init" and sent[rm]:
            heard = put(prepared, rm, True)
            yield f"tm_receive_prepared({rm})", (rm_state, tm_state, heard, *state[3:])
        if at == "working":
            begun = put(rm_state, rm, "prepared"), tm_state, prepared, put(sent, rm, True)
            yield f"rm_prepare({rm})", (*begun, *state[4:])
            yield f"rm_choose_to_abort({rm})", (put(rm_state, rm, "aborted"), *state[1:])
        if commit_sent:
            yield f"rm_receive_commit({rm})", (put(rm_state, rm, "committed"), *state[1:])
        if abort_sent:
            yield f"rm_receive_abort({rm})", (put(rm_state, rm, "aborted"), *state[1:])


def consistent(state: dict[str, Any]) -> bool:
    """No resource manager has committed while another has aborted."""
    return not ("committed" in state["rm_state"] and "aborted" in state["rm_state"])


def model(rms: int) -> Protocol:
    """One transaction."""
    none = (False,) * rms
    return Protocol(
        name="two_phase_commit",
        candidate=False,
        fields=(
            "rm_state",
            "tm_state",
            "tm_prepared",
            "prepared_sent",
            "commit_sent",
            "abort_sent",
        ),
        initial=(("working",) * rms, "init", none, none, False, False),
        transitions=lambda state: list(steps(state)),
        invariants={"consistent": consistent},
    )
