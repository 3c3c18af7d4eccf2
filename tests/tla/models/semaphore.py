"""Mutual exclusion by a semaphore: that each process enters takes strong fairness."""

from waterline import Choice, Fields, Names, Number, Protocol, when, within


class State(Fields):
    """`rounds` is how often one may enter in all, 0 for any number."""

    processes = Names("process", 2)
    strong: bool = True
    rounds: int = 0

    at = Choice("outside", "waits", "inside", by=processes)
    entered = Number(0, rounds)


def semaphore(state: type[State]) -> Protocol:
    enters = enter_counted if state.rounds else enter
    return Protocol(
        state=state,
        actions=[arrive, enters, leave],
        fair=[leave] if state.strong else [leave, enters],
        strongly_fair=[enters] if state.strong else [],
        always=[one_inside],
        leads_to=[(waits, is_inside)],
    )


def arrive(s: State, process: int) -> None:
    """{process} wants to enter."""
    when(s.at[process] == "outside")
    s.at[process] = "waits"


def enter(s: State, process: int) -> None:
    """{process} takes the semaphore."""
    when(s.at[process] == "waits")
    when(not any(s.at[other] == "inside" for other in s.processes))
    s.at[process] = "inside"


def enter_counted(s: State, process: int) -> None:
    """{process} takes the semaphore, while there are rounds."""
    when(s.at[process] == "waits")
    when(not any(s.at[other] == "inside" for other in s.processes))
    within(s.entered < s.rounds)
    s.entered += 1
    s.at[process] = "inside"


def leave(s: State, process: int) -> None:
    """{process} gives it back."""
    when(s.at[process] == "inside")
    s.at[process] = "outside"


def one_inside(s: State) -> bool:
    """At most one is inside."""
    return sum(s.at[process] == "inside" for process in s.processes) <= 1


def waits(s: State, process: int) -> bool:
    """{process} waits."""
    return s.at[process] == "waits"


def is_inside(s: State, process: int) -> bool:
    """{process} is inside."""
    return s.at[process] == "inside"
