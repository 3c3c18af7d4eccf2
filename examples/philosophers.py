"""Dining philosophers: each needs the forks to its left and to its right, and takes one at a time.

After Dijkstra, EWD 310. If all take the left one first they can all wait for ever; if one of them
takes the right one first, some philosopher always comes to eat. That each does is not sure even
then: a fork may be there now and then, and always taken by the neighbour.
"""

from waterline import Choice, Fields, Name, Names, Protocol, when


class State(Fields):
    """So many seats; whether the last philosopher takes the right fork first."""

    seats = Names("seat", 3)
    tie_break: bool = True

    does = Choice("thinks", "hungers", "has_one", "eats", by=seats)
    held_by = Name(seats, by=seats, or_none=True, doc="Of the fork left of each seat.")


def philosophers(state: type[State]) -> Protocol:
    """A round table."""
    return Protocol(
        state=state,
        initial=start,
        actions=[
            hunger,
            *([take_first, take_second] if state.tie_break else [take_left, take_right]),
            put,
        ],
        # Nobody need ever hunger; who does takes forks where it can, and puts them down again.
        fair=[*([take_first, take_second] if state.tie_break else [take_left, take_right]), put],
        always=[eats_with_both_forks],
        every_step=[hungers_first],
        sometimes=[all_hunger],
        recoverable=[all_think],
        leads_to=[(someone_hungers, someone_eats), (hungers, eats)],
        lemmas=[has_its_first_fork],
    )


def start(s: State) -> None:
    """All think, and no fork is held."""
    for seat in range(s.seats):
        s.held_by[seat] = None


def hunger(s: State, seat: int) -> None:
    """{seat} is hungry."""
    when(s.does[seat] == "thinks")
    s.does[seat] = "hungers"


def take_left(s: State, seat: int) -> None:
    """{seat} takes the fork to its left."""
    when(s.does[seat] == "hungers" and s.held_by[seat] is None)
    s.held_by[seat] = seat
    s.does[seat] = "has_one"


def take_right(s: State, seat: int) -> None:
    """{seat} takes the fork to its right, and eats."""
    when(s.does[seat] == "has_one" and s.held_by[(seat + 1) % s.seats] is None)
    s.held_by[(seat + 1) % s.seats] = seat
    s.does[seat] = "eats"


def first_of(s: State, seat: int) -> int:
    """Which fork a philosopher takes first: the last seat the right one, others the left one."""
    return 0 if seat == s.seats - 1 else seat


def second_of(s: State, seat: int) -> int:
    """Which fork it takes then."""
    return seat if seat == s.seats - 1 else seat + 1


def take_first(s: State, seat: int) -> None:
    """{seat} takes its first fork."""
    when(s.does[seat] == "hungers" and s.held_by[first_of(s, seat)] is None)
    s.held_by[first_of(s, seat)] = seat
    s.does[seat] = "has_one"


def take_second(s: State, seat: int) -> None:
    """{seat} takes its second fork, and eats."""
    when(s.does[seat] == "has_one" and s.held_by[second_of(s, seat)] is None)
    s.held_by[second_of(s, seat)] = seat
    s.does[seat] = "eats"


def put(s: State, seat: int) -> None:
    """{seat} puts both forks down."""
    when(s.does[seat] == "eats")
    s.held_by[seat] = None
    s.held_by[(seat + 1) % s.seats] = None
    s.does[seat] = "thinks"


def eats_with_both_forks(s: State) -> bool:
    """A philosopher who eats has both forks, and no neighbour eats."""
    return all(
        s.does[seat] != "eats"
        or (s.held_by[seat] == seat and s.held_by[(seat + 1) % s.seats] == seat)
        for seat in range(s.seats)
    )


def hungers_first(before: State, after: State) -> bool:
    """Only who is hungry takes a first fork."""
    return all(
        after.does[seat] != "has_one"
        or before.does[seat] == "has_one"
        or before.does[seat] == "hungers"
        for seat in range(before.seats)
    )


def all_hunger(s: State) -> bool:
    """All are hungry at a time, or have one fork."""
    return all(s.does[seat] == "hungers" or s.does[seat] == "has_one" for seat in range(s.seats))


def all_think(s: State) -> bool:
    """All think."""
    return all(s.does[seat] == "thinks" for seat in range(s.seats))


def someone_hungers(s: State) -> bool:
    """Somebody is hungry, or has one fork."""
    return any(s.does[seat] == "hungers" or s.does[seat] == "has_one" for seat in range(s.seats))


def someone_eats(s: State) -> bool:
    """Somebody eats."""
    return any(s.does[seat] == "eats" for seat in range(s.seats))


def hungers(s: State, seat: int) -> bool:
    """{seat} is hungry."""
    return s.does[seat] == "hungers"


def eats(s: State, seat: int) -> bool:
    """{seat} eats."""
    return s.does[seat] == "eats"


def has_its_first_fork(s: State) -> bool:
    """A philosopher who has one fork has its first one."""
    return all(
        s.does[seat] != "has_one" or s.held_by[first_of(s, seat) if s.tie_break else seat] == seat
        for seat in s.seats
    )
