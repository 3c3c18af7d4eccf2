"""The water jugs of "Die Hard 3": with a jug of three gallons and one of five, measure four."""

from waterline import Fields, Number, Protocol


class State(Fields):
    """Two jugs, of so many gallons each, and the amount that is wanted in the big one."""

    small: int = 3
    big: int = 5
    wanted: int = 4

    in_small = Number(0, small, doc="Gallons in the small jug.")
    in_big = Number(0, big, doc="Gallons in the big jug.")


def die_hard(state: type[State]) -> Protocol:
    """Both are empty at first."""
    return Protocol(
        state=state,
        actions=[fill_small, fill_big, empty_small, empty_big, small_to_big, big_to_small],
        always=[not_yet_measured],
        every_step=[nothing_is_spilt],
    )


def fill_small(s: State) -> None:
    """The small jug is filled."""
    s.in_small = s.small


def fill_big(s: State) -> None:
    """The big jug is filled."""
    s.in_big = s.big


def empty_small(s: State) -> None:
    """The small jug is emptied."""
    s.in_small = 0


def empty_big(s: State) -> None:
    """The big jug is emptied."""
    s.in_big = 0


def small_to_big(s: State) -> None:
    """The small jug is poured into the big one, until that is full."""
    poured = min(s.in_small, s.big - s.in_big)
    s.in_small -= poured
    s.in_big += poured


def big_to_small(s: State) -> None:
    """The big jug is poured into the small one, until that is full."""
    poured = min(s.in_big, s.small - s.in_small)
    s.in_big -= poured
    s.in_small += poured


def not_yet_measured(s: State) -> bool:
    """The big jug does not hold the amount that is wanted: its counterexample measures it."""
    return s.in_big != s.wanted


def nothing_is_spilt(before: State, after: State) -> bool:
    """Either a jug becomes full or empty and the other one stays, or all water is kept."""
    return (
        before.in_small + before.in_big == after.in_small + after.in_big
        or (after.in_big == before.in_big and after.in_small in (0, after.small))
        or (after.in_small == before.in_small and after.in_big in (0, after.big))
    )
