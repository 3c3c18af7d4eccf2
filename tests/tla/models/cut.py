"""A fair step that a bound cuts."""

from waterline import Flag, Name, Names, Number, Protocol, when, within


def cut(clients: int = 2, leases: int = 3) -> Protocol:
    client = Names("client", clients)
    return Protocol(
        fields=[Name("holder", client, or_none=True), Number("granted", 0, leases), Flag("done")],
        actions=[grant, expire, finish],
        fair=[grant, expire],
        leads_to=[(held, free), (free, held)],
        always_eventually=[held],
        eventually=[finished],
    )


def grant(s, client):
    when(s.holder is None)
    within(s.granted < s.leases)
    s.granted += 1
    s.holder = client


def expire(s):
    when(s.holder is not None)
    s.holder = None


def finish(s):
    when(not s.done)
    s.done = True


def held(s):
    """Held."""
    return s.holder is not None


def free(s):
    """Free."""
    return s.holder is None


def finished(s):
    """Done."""
    return s.done
