"""Clients take a lock."""

from waterline import Choice, Name, Names, Number, Protocol, when, within


def lock(clients: int = 2, turns: int = 2, fair_turns: bool = True) -> Protocol:
    client = Names("client", clients)
    return Protocol(
        fields=[
            Choice("state", "idle", "waiting", "works", by=client, doc="What each does."),
            Name("holder", client, or_none=True),
            Number("taken", 0, turns, doc="How often it was taken."),
        ],
        actions=[ask, take, give_back],
        always=[one_works],
        sometimes=[two_wait],
        fair=[give_back],
        leads_to=[(works, is_idle)],
    )


def ask(s, client):
    """{client} asks for the lock."""
    when(s.state[client] == "idle")
    s.state[client] = "waiting"


def take(s, client):
    """{client} takes it."""
    when(s.holder is None and s.state[client] == "waiting")
    within(s.taken < s.turns)
    s.holder = client
    s.state[client] = "works"
    s.taken += 1


def give_back(s, client):
    """{client} gives it back."""
    when(s.holder == client)
    s.holder = None
    s.state[client] = "idle" if s.fair_turns else "waiting"


def one_works(s):
    """At most one works."""
    return sum(s.state[client] == "works" for client in range(s.clients)) <= 1


def two_wait(s):
    """Two wait."""
    return all(s.state[client] == "waiting" for client in range(s.clients))


def works(s, client):
    """{client} works."""
    return s.state[client] == "works"


def is_idle(s, client):
    """{client} is idle."""
    return s.state[client] == "idle"
