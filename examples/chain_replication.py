"""Chain replication over FIFO channels, with servers that fail.

After van Renesse and Schneider, "Chain Replication for Supporting High Throughput and Availability"
(OSDI 2004). Writes enter at the head, each server passes them on, the tail acknowledges. A master
takes a server that has failed out of the chain, and its neighbours connect. Without `resend` the
successor never gets what was on its way: `--set resend=false`. `waterline prove` proves the claims
for any number of servers, by the lemmas at the end.
"""

from waterline import Fields, Flag, Log, Names, Protocol, Queue, Set, when, within


class State(Fields):
    """So many servers, updates and failures; whether a new successor is sent what it lacks."""

    servers = Names("server", 3)
    updates = Names("update", 2)
    failures: int = 2
    resend: bool = True

    down = Flag(by=servers)
    removed = Flag(by=servers, doc="The master has taken it out of the chain.")
    log = Log(of=updates, room=updates.count, by=servers)
    wire = Queue(of=updates, room=updates.count, by=servers, doc="From its predecessor.")
    submitted = Set(of=updates)
    acked = Set(of=updates)


def chain_replication(state: type[State]) -> Protocol:
    """A chain of servers, and a master."""
    return Protocol(
        state=state,
        actions=[write, deliver, acknowledge, fail, remove],
        always=[acked_everywhere, prefixes, once_in_a_log, none_has_what_it_cannot],
        every_step=[ack_is_for_good, logs_grow, nothing_is_dropped],
        sometimes=[acked_after_removal, new_head_writes, two_down_one_removed, differ],
        fair=[deliver, acknowledge, remove],
        leads_to=[(behind, level)],
        lemmas=[
            removed_are_down,
            once_on_the_way,
            had_before_the_next,
            logs_continue,
            all_is_on_the_way,
            were_submitted,
        ],
    )


def before_it(s: State, server: int) -> int:
    """The predecessor in the chain, or -1."""
    for i in range(server - 1, -1, -1):
        if not s.removed[i]:
            return i
    return -1


def after_it(s: State, server: int) -> int:
    """The successor in the chain, or -1."""
    for i in range(server + 1, s.servers):
        if not s.removed[i]:
            return i
    return -1


def write(s: State, server: int, update: int) -> None:
    """A client writes {update} at the head {server}."""
    when(not s.down[server] and not s.removed[server])
    when(before_it(s, server) == -1)
    when(update not in s.submitted)
    s.submitted |= {update}
    s.log[server].append(update)
    pass_on(s, server, update)


def pass_on(s: State, server: int, update: int) -> None:
    """To the successor, if there is one."""
    successor = after_it(s, server)
    if successor != -1:
        s.wire[successor].send(update)


def deliver(s: State, server: int) -> None:
    """{server} takes an update from its predecessor and passes it on."""
    when(not s.down[server])
    when(s.wire[server])
    update = s.wire[server].receive()
    s.log[server].append(update)
    pass_on(s, server, update)


def acknowledge(s: State, server: int) -> None:
    """The tail {server} acknowledges its next update."""
    when(not s.down[server] and after_it(s, server) == -1)
    when(any(update not in s.acked for update in s.log[server]))
    for i in range(len(s.log[server])):
        if s.log[server][i] not in s.acked:
            s.acked.add(s.log[server][i])
            return


def fail(s: State, server: int) -> None:
    """{server} fails, and what it had is lost."""
    when(not s.down[server])
    when(sum(not s.down[i] for i in s.servers) > 1)
    within(sum(s.down[i] for i in s.servers) < s.failures)
    s.down[server] = True
    s.log[server].clear()


def remove(s: State, server: int) -> None:
    """The master takes {server} out of the chain; its neighbours connect."""
    when(s.down[server] and not s.removed[server])
    predecessor = before_it(s, server)
    successor = after_it(s, server)
    s.removed[server] = True
    s.wire[server].clear()
    if successor != -1:
        s.wire[successor].clear()
        if s.resend and predecessor != -1 and not s.down[predecessor] and not s.down[successor]:
            for i in range(len(s.log[successor]), len(s.log[predecessor])):
                s.wire[successor].send(s.log[predecessor][i])


def acked_everywhere(s: State) -> bool:
    """What is acknowledged is in the log of every live server."""
    return all(update in s.log[i] for i in s.servers if not s.down[i] for update in s.acked)


def prefixes(s: State) -> bool:
    """The log of a live server is a prefix of those before it in the chain."""
    return all(
        len(s.log[b]) <= len(s.log[a]) and s.log[a][: len(s.log[b])] == s.log[b]
        for a in s.servers
        for b in s.servers
        if a < b and not s.down[a] and not s.down[b]
    )


def once_in_a_log(s: State) -> bool:
    """No update is twice in a log."""
    return all(
        s.log[i][a] != s.log[i][b]
        for i in s.servers
        for b in range(len(s.log[i]))
        for a in range(b)
    )


def none_has_what_it_cannot(s: State) -> bool:
    """A server that is down has no log, and nothing is on its way to one out of the chain."""
    return all(
        (not s.down[i] or len(s.log[i]) == 0) and (not s.removed[i] or len(s.wire[i]) == 0)
        for i in s.servers
    )


def ack_is_for_good(before: State, after: State) -> bool:
    """Nothing acknowledged is forgotten."""
    return before.acked <= after.acked


def logs_grow(before: State, after: State) -> bool:
    """A live server's log only grows at its end."""
    return all(
        after.log[i][: len(before.log[i])] == before.log[i]
        for i in before.servers
        if not after.down[i]
    )


def nothing_is_dropped(before: State, after: State) -> bool:
    """An update leaves a wire only into the server's log, unless a server is being removed."""
    return any(before.removed[i] != after.removed[i] for i in before.servers) or all(
        len(after.wire[i]) + len(after.log[i]) >= len(before.wire[i]) + len(before.log[i])
        for i in before.servers
        if before.down[i] == after.down[i]
    )


def acked_after_removal(before: State, after: State) -> bool:
    """An update is acknowledged after a server was removed."""
    return len(after.acked) > len(before.acked) and any(before.removed[i] for i in before.servers)


def new_head_writes(before: State, after: State) -> bool:
    """A client writes after the first head was removed."""
    return before.removed[0] and len(after.submitted) > len(before.submitted)


def two_down_one_removed(s: State) -> bool:
    """Two are down, and one of them is still in the chain."""
    return sum(s.down[i] for i in s.servers) == 2 and sum(s.removed[i] for i in s.servers) == 1


def differ(s: State) -> bool:
    """A live server has more than a live one after it."""
    return any(
        len(s.log[a]) > len(s.log[b]) + 1
        for a in s.servers
        for b in s.servers
        if a < b and not s.down[a] and not s.down[b]
    )


def behind(s: State, server: int) -> bool:
    """{server} lives and has an update that is not acknowledged."""
    return not s.down[server] and any(update not in s.acked for update in s.log[server])


def level(s: State, server: int) -> bool:
    """All that {server} has is acknowledged, or it is down."""
    return s.down[server] or all(update in s.acked for update in s.log[server])


def coming(s: State, server: int) -> int:
    """How many updates {server} has or is being sent."""
    return len(s.log[server]) + len(s.wire[server])


def update_of(s: State, server: int, place: int) -> int:
    """The update at this place of the log of {server}, once it has taken what is on its way."""
    if place < len(s.log[server]):
        return s.log[server][place]
    return s.wire[server][place - len(s.log[server])]


def removed_are_down(s: State) -> bool:
    """Only servers that are down are out of the chain."""
    return all(s.down[i] or not s.removed[i] for i in s.servers)


def once_on_the_way(s: State) -> bool:
    """No update is twice on its way to a server, or on its way to one that has it."""
    return all(
        s.wire[i][b] not in s.log[i] and all(s.wire[i][a] != s.wire[i][b] for a in range(b))
        for i in s.servers
        for b in range(len(s.wire[i]))
    )


def had_before_the_next(s: State) -> bool:
    """A live server has each update that is on its way to a server after it."""
    return all(
        update in s.log[a]
        for a in s.servers
        for b in s.servers
        if a < b and not s.down[a]
        for update in s.wire[b]
    )


def logs_continue(s: State) -> bool:
    """The updates that a live server has and is being sent begin each live log before it."""
    return all(
        coming(s, b) <= len(s.log[a])
        and all(update_of(s, b, k) == s.log[a][k] for k in range(coming(s, b)))
        for a in s.servers
        for b in s.servers
        if a < b and not s.down[a] and not s.down[b]
    )


def all_is_on_the_way(s: State) -> bool:
    """A live server has or is being sent all that its live predecessor has."""
    return all(
        coming(s, after_it(s, i)) == len(s.log[i])
        for i in s.servers
        if not s.down[i] and after_it(s, i) != -1 and not s.down[after_it(s, i)]
    )


def were_submitted(s: State) -> bool:
    """Each update that a server has, or is being sent, was submitted."""
    return all(
        update in s.submitted or (update not in s.log[i] and update not in s.wire[i])
        for i in s.servers
        for update in s.updates
    )
