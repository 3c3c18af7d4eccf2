"""Leases with fencing tokens: a store takes no write of a client whose lease another one has taken.

A client that holds a lease may be slow and not notice that it has expired. With each lease it gets
a token above all before; the store remembers the token of the last write, and refuses an older one.
Tokens and written values are only compared and copied. So `--unbounded` judges the claims for any
number of leases and of values.

The store's rule can be taken out, to see what it is for: `--set fenced=false`.
"""

from waterline import Epoch, Epochs, Fields, Name, Names, Opaque, Protocol, when


class State(Fields):
    """So many clients, leases 1 to `leases`, and different values."""

    clients = Names("client", 2)
    leases = Epochs("lease", 3)
    values = Opaque("value", 2)
    fenced: bool = True

    holder = Name(clients, or_none=True)
    granted = Epoch(leases, doc="The last lease that was granted.")
    token = Epoch(leases, by=clients, doc="The lease that a client has, or 0.")
    writes = Name(values, or_none=True, by=clients, doc="What a client is about to write.")
    written_under = Epoch(leases, doc="The lease of the last write that the store took.")
    stored = Name(values, or_none=True)


def fenced_lease(state: type[State]) -> Protocol:
    """Clients that write to a store while they hold a lease."""
    return Protocol(
        state=state,
        actions=[grant, expire, prepare, write],
        always=[tokens_were_granted, prepares_under_a_lease, stores_under_a_lease],
        every_step=[no_old_write, tokens_are_new, one_lease_at_a_time, prepares_once],
        sometimes=[token_outlives_lease, takes_two_writes],
    )


def grant(s: State, client: int, lease: int) -> None:
    """{client} gets a new lease."""
    when(s.holder is None and lease > s.granted)
    s.granted = lease
    s.holder = client
    s.token[client] = lease


def expire(s: State) -> None:
    """The lease expires, and its holder does not notice."""
    when(s.holder is not None)
    s.holder = None


def prepare(s: State, client: int, value: int) -> None:
    """{client}, which thinks that it holds the lease, is about to write."""
    when(s.token[client] > 0 and s.writes[client] is None)
    s.writes[client] = value


def write(s: State, client: int) -> None:
    """The write of {client} comes to the store, which takes it or refuses it."""
    when(s.writes[client] is not None)
    if not s.fenced or s.token[client] >= s.written_under:
        s.written_under = s.token[client]
        s.stored = s.writes[client]
    s.writes[client] = None
    s.token[client] = 0


def no_old_write(before: State, after: State) -> bool:
    """The store takes no write of an older lease after one of a newer."""
    return after.written_under >= before.written_under


def tokens_are_new(before: State, after: State) -> bool:
    """A client gets a token above all that were granted before."""
    return all(
        after.token[client] == before.token[client]
        or after.token[client] == 0
        or after.token[client] > before.granted
        for client in before.clients
    )


def one_lease_at_a_time(before: State, after: State) -> bool:
    """No lease is granted before the last one has expired."""
    return before.granted == after.granted or before.holder is None


def prepares_once(before: State, after: State) -> bool:
    """A value that a client has prepared does not change until it is written."""
    return all(
        before.writes[client] is None
        or after.writes[client] is None
        or before.writes[client] == after.writes[client]
        for client in before.clients
    )


def tokens_were_granted(s: State) -> bool:
    """No client has a token above the last one granted."""
    return all(s.token[client] <= s.granted for client in s.clients)


def prepares_under_a_lease(s: State) -> bool:
    """A client that is about to write has a token."""
    return all(s.writes[client] is None or s.token[client] > 0 for client in s.clients)


def stores_under_a_lease(s: State) -> bool:
    """The store has a value if and only if it has taken a write of some lease."""
    return (s.stored is None) == (s.written_under == 0)


def token_outlives_lease(s: State) -> bool:
    """A client has a token, and another client the lease."""
    return s.holder is not None and any(
        s.token[client] > 0 and s.holder != client for client in s.clients
    )


def takes_two_writes(before: State, after: State) -> bool:
    """The store replaces a value by another one."""
    return before.stored is not None and after.stored != before.stored
