"""Peterson's lock for two processes: never both inside, and whoever waits comes in.

After Peterson, "Myths about the mutual exclusion problem" (Information Processing Letters, 1981).
"""

from waterline import Choice, Fields, Flag, Name, Names, Protocol, when


class State(Fields):
    """Two processes; whether each lets the other go first, as it must."""

    processes = Names("process", 2, fixed=True)
    gives_way: bool = True

    at = Choice("outside", "asking", "waiting", "inside", by=processes)
    wants = Flag(by=processes, doc="That it is not outside, as the other reads it.")
    turn = Name(processes, doc="Who goes first where both want.")


def peterson(state: type[State]) -> Protocol:
    """A lock for the two."""
    return Protocol(
        state=state,
        actions=[ask, let_the_other_first, enter, leave],
        # A process need not ask; one that has asked goes on, and leaves again.
        fair=[let_the_other_first, enter, leave],
        always=[one_inside],
        sometimes=[both_wait],
        leads_to=[(waits, is_inside)],
        recoverable=[nobody_inside],
    )


def ask(s: State, process: int) -> None:
    """{process} raises its flag."""
    when(s.at[process] == "outside")
    s.wants[process] = True
    s.at[process] = "asking"


def let_the_other_first(s: State, process: int) -> None:
    """{process} gives the turn to the other, or should."""
    when(s.at[process] == "asking")
    if s.gives_way:
        s.turn = 1 - process
    s.at[process] = "waiting"


def enter(s: State, process: int) -> None:
    """{process} sees that it may, and goes in."""
    when(s.at[process] == "waiting")
    when(not s.wants[1 - process] or (s.gives_way and s.turn == process))
    s.at[process] = "inside"


def leave(s: State, process: int) -> None:
    """{process} lowers its flag."""
    when(s.at[process] == "inside")
    s.wants[process] = False
    s.at[process] = "outside"


def one_inside(s: State) -> bool:
    """At most one process is inside."""
    return not (s.at[0] == "inside" and s.at[1] == "inside")


def both_wait(s: State) -> bool:
    """Both wait at a time."""
    return s.at[0] == "waiting" and s.at[1] == "waiting"


def waits(s: State, process: int) -> bool:
    """{process} waits."""
    return s.at[process] == "waiting"


def is_inside(s: State, process: int) -> bool:
    """{process} is inside."""
    return s.at[process] == "inside"


def nobody_inside(s: State) -> bool:
    """Nobody is inside, or on the way."""
    return not any(s.wants[process] for process in range(s.processes))
