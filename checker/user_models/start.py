"""First model file, as `waterline new NAME` writes it."""

from __future__ import annotations

_START = '''\
"""{name}: clients take a lock and give it back; any of them may crash while it holds it.

    waterline check --model {name}.py --engine local
"""

from waterline import Choice, Fields, Name, Names, Number, Protocol, when, within


class State(Fields):
    """A lock, and so many clients."""

    # The bounds, each with a default: `--set clients=4` sets another. Every state that can be
    # reached within them is checked.
    clients = Names("client", 3)
    crashes: int = 1

    # What a state is made of. At first each field has its first value.
    client_state = Choice("idle", "working", "crashed", by=clients)
    holder = Name(clients, or_none=True, doc="Who has the lock.")
    crashed = Number(0, crashes, doc="How many have crashed so far.")


def {name}(state: type[State]) -> Protocol:
    """Clients that take a lock, and what must be so."""
    return Protocol(
        state=state,
        # What can happen, in any order. An argument called `client` is any of the names.
        actions=[take, give_back, crash, expire],
        # What must be so in every state, and what must happen at all.
        always=[one_works],
        sometimes=[somebody_works, lock_outlives_holder],
    )


def take(s: State, client: int) -> None:
    """{{client}} takes the lock, which is free."""
    when(s.holder is None and s.client_state[client] == "idle")
    s.holder = client
    s.client_state[client] = "working"


def give_back(s: State, client: int) -> None:
    """{{client}} is done and gives the lock back."""
    when(s.holder == client and s.client_state[client] == "working")
    s.holder = None
    s.client_state[client] = "idle"


def crash(s: State, client: int) -> None:
    """{{client}} crashes while it works."""
    when(s.client_state[client] == "working")
    # A step beyond a bound is not taken, and the report says how many there were.
    within(s.crashed < s.crashes)
    s.crashed += 1
    s.client_state[client] = "crashed"


def expire(s: State) -> None:
    """The lock is taken from its holder, who has crashed."""
    # Without the second line below, the lock also expires while its holder works: try it.
    when(s.holder is not None)
    when(s.client_state[s.holder] == "crashed")
    s.holder = None


def one_works(s: State) -> bool:
    """No two clients work at a time."""
    return sum(s.client_state[client] == "working" for client in s.clients) <= 1


def somebody_works(s: State) -> bool:
    """A client works."""
    return any(s.client_state[client] == "working" for client in s.clients)


def lock_outlives_holder(s: State) -> bool:
    """A lock is held by a client that has crashed."""
    return s.holder is not None and s.client_state[s.holder] == "crashed"
'''


def start_of(name: str) -> str:
    """The text of a file that declares a protocol of this name."""
    return _START.format(name=name)
