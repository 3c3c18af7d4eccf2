"""Processes share a semaphore."""

from waterline import Choice, Names, Protocol, when


def semaphore(processes: int = 2, strongly: bool = True) -> Protocol:
    process = Names("process", processes)
    return Protocol(
        fields=[Choice("at", "idle", "waits", "inside", by=process)],
        actions=[ask, enter, leave],
        always=[one_inside],
        fair=[leave] if strongly else [enter, leave],
        strongly_fair=[enter] if strongly else [],
        leads_to=[(waits, is_inside)],
    )


def ask(s, process):
    """{process} asks for the semaphore."""
    when(s.at[process] == "idle")
    s.at[process] = "waits"


def enter(s, process):
    """{process} takes the semaphore."""
    when(s.at[process] == "waits")
    when(not any(s.at[p] == "inside" for p in range(s.processes)))
    s.at[process] = "inside"


def leave(s, process):
    """{process} gives the semaphore back."""
    when(s.at[process] == "inside")
    s.at[process] = "idle"


def one_inside(s):
    """At most one is inside."""
    return sum(s.at[p] == "inside" for p in range(s.processes)) <= 1


def waits(s, process):
    """{process} waits."""
    return s.at[process] == "waits"


def is_inside(s, process):
    """{process} is inside."""
    return s.at[process] == "inside"
