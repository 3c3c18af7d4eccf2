"""Leases with fencing tokens: a store takes no write of a client whose lease another one has taken.

A client that holds a lease may be slow and not notice that it has expired. With each lease it gets
a token above all before; the store remembers the token of the last write, and refuses an older one.
Tokens and written values are only compared and copied. So `--unbounded` judges the claims for any
number of leases and of values.

The store's rule can be taken out, to see what it is for: `--set fenced=false`.
"""

from waterline import Epoch, Epochs, Name, Names, Protocol, Value, Values, when


def fenced_lease(
    clients: int = 2, leases: int = 3, values: int = 2, fenced: bool = True
) -> Protocol:
    """So many clients, leases 1 to `leases`, and different values."""
    client = Names("client", clients)
    lease = Epochs("lease", leases)
    value = Values("value", values)
    return Protocol(
        fields=[
            Name("holder", client, or_none=True),
            Epoch("granted", lease, doc="The last lease that was granted."),
            Epoch("token", lease, by=client, doc="The lease that a client has, or 0."),
            Value("writes", value, or_none=True, by=client, doc="What a client is about to write."),
            Epoch("written_under", lease, doc="The lease of the last write that the store took."),
            Value("stored", value, or_none=True),
        ],
        actions=[grant, expire, prepare, write],
        every_step=[no_old_write],
        sometimes=[token_outlives_lease, takes_two_writes],
    )


def grant(s, client, lease):
    """{client} gets a new lease."""
    when(s.holder is None and lease > s.granted)
    s.granted = lease
    s.holder = client
    s.token[client] = lease


def expire(s):
    """The lease expires, and its holder does not notice."""
    when(s.holder is not None)
    s.holder = None


def prepare(s, client, value):
    """{client}, which thinks that it holds the lease, is about to write."""
    when(s.token[client] > 0 and s.writes[client] is None)
    s.writes[client] = value


def write(s, client):
    """The write of {client} comes to the store, which takes it or refuses it."""
    when(s.writes[client] is not None)
    if not s.fenced or s.token[client] >= s.written_under:
        s.written_under = s.token[client]
        s.stored = s.writes[client]
    s.writes[client] = None
    s.token[client] = 0


def no_old_write(before, after):
    """The store takes no write of an older lease after one of a newer."""
    return after.written_under >= before.written_under


def token_outlives_lease(s):
    """A client has a token, and another client the lease."""
    return s.holder is not None and any(
        s.token[client] > 0 and s.holder != client for client in s.clients
    )


def takes_two_writes(before, after):
    """The store replaces a value by another one."""
    return before.stored is not None and after.stored != before.stored
