"""The ABD register: one writer, readers that write back, a majority of servers.

After Attiya, Bar-Noy and Dolev, "Sharing Memory Robustly in Message-Passing Systems" (JACM 1995). A
request and its answer are one step. A reader asks a majority, takes the newest value, and writes it
back to a majority before it returns. Without that a later read may be older: `--set
write_back=false`. `waterline prove` proves the claims for any number of servers, readers and
writes, by the lemmas at the end.
"""

from waterline import Action, Choice, Fields, Flag, Names, Number, Protocol, Set, when, within


class State(Fields):
    """So many servers and readers, writes, reads of each reader, and crashes."""

    servers = Names("server", 3)
    readers = Names("reader", 2)
    writes: int = 1
    reads: int = 1
    crashes: int = 1
    write_back: bool = True

    stamp = Number(0, writes, by=servers, doc="The newest value that a server has.")
    down = Flag(by=servers)
    newest = Number(0, writes, doc="The last value that the writer has begun to write.")
    writing = Flag()
    acks = Set(of=servers, doc="Who has acknowledged the write.")
    phase = Choice("idle", "asking", "writing_back", by=readers)
    best = Number(0, writes, by=readers, doc="The newest value heard of.")
    heard = Set(of=servers, by=readers, doc="Who has answered in this phase.")
    made = Number(0, reads, by=readers)
    finished = Number(0, writes, ghost=True, doc="The newest value of a finished operation.")
    floor = Number(0, writes, by=readers, ghost=True, doc="`finished` when the read began.")


def abd_register(state: type[State]) -> Protocol:
    """A register that one writes and others read."""
    return Protocol(
        state=state,
        actions=[
            begin_write,
            store,
            end_write,
            begin_read,
            answer,
            end_query,
            store_back,
            end_read,
            Action(late, value=range(1, state.writes + 1)),
            crash,
        ],
        always=[stored_is_written, finished_is_on_majority, nothing_is_left],
        every_step=[atomic, stamps_grow, down_is_silent, ghosts_follow],
        sometimes=[
            overlap,
            reads_old,
            reads_new,
            arrives_late,
            ends_with_one_down,
            *([helped] if state.write_back else []),
        ],
        fair=[store, end_write, answer, end_query, store_back, end_read],
        leads_to=[(reading, done), (write_runs, write_done)],
        lemmas=[heard_is_written, acks_are_stored, written_back_is_stored, asks_on, returns_new],
    )


def majority(s: State, count: int) -> bool:
    """Whether so many servers are more than half."""
    return 2 * count > s.servers


def begin_write(s: State) -> None:
    """The writer begins its next write."""
    when(not s.writing)
    within(s.newest < s.writes)
    s.newest += 1
    s.writing = True
    s.acks.clear()


def store(s: State, server: int) -> None:
    """{server} stores the value being written, and acknowledges it."""
    when(s.writing and not s.down[server])
    when(server not in s.acks)
    s.stamp[server] = max(s.stamp[server], s.newest)
    s.acks.add(server)


def end_write(s: State) -> None:
    """The writer has heard a majority."""
    when(s.writing)
    when(majority(s, len(s.acks)))
    s.writing = False
    s.acks.clear()
    s.finished = max(s.finished, s.newest)


def begin_read(s: State, reader: int) -> None:
    """{reader} begins to read."""
    when(s.phase[reader] == "idle")
    within(s.made[reader] < s.reads)
    s.made[reader] += 1
    s.phase[reader] = "asking"
    s.floor[reader] = s.finished


def answer(s: State, server: int, reader: int) -> None:
    """{server} answers {reader} what it has."""
    when(s.phase[reader] == "asking" and not s.down[server])
    when(server not in s.heard[reader])
    s.heard[reader].add(server)
    s.best[reader] = max(s.best[reader], s.stamp[server])


def end_query(s: State, reader: int) -> None:
    """{reader} has heard a majority."""
    when(s.phase[reader] == "asking")
    when(majority(s, len(s.heard[reader])))
    s.heard[reader].clear()
    if s.write_back:
        s.phase[reader] = "writing_back"
    else:
        return_it(s, reader)


def store_back(s: State, server: int, reader: int) -> None:
    """{server} stores what {reader} writes back."""
    when(s.phase[reader] == "writing_back" and not s.down[server])
    when(server not in s.heard[reader])
    s.heard[reader] |= {server}
    s.stamp[server] = max(s.stamp[server], s.best[reader])


def end_read(s: State, reader: int) -> None:
    """A majority has what {reader} returns."""
    when(s.phase[reader] == "writing_back")
    when(majority(s, len(s.heard[reader])))
    return_it(s, reader)


def return_it(s: State, reader: int) -> None:
    """The read ends."""
    s.finished = max(s.finished, s.best[reader])
    s.phase[reader] = "idle"
    s.heard[reader] = set()
    s.best[reader] = 0
    s.floor[reader] = 0


def late(s: State, server: int, value: int) -> None:
    """{server} gets value {value} late: its acknowledgement matters to nobody."""
    when(value <= s.newest and value > s.stamp[server])
    when(not s.down[server])
    s.stamp[server] = value


def crash(s: State, server: int) -> None:
    """{server} crashes for good."""
    when(not s.down[server])
    when(2 * (sum(s.down[i] for i in s.servers) + 1) < s.servers)
    within(sum(s.down[i] for i in s.servers) < s.crashes)
    s.down[server] = True


def stored_is_written(s: State) -> bool:
    """A server has only what the writer has begun to write."""
    return all(s.stamp[i] <= s.newest for i in s.servers)


def finished_is_on_majority(s: State) -> bool:
    """What a finished operation wrote or returned is at a majority of the servers."""
    return 2 * sum(s.stamp[i] >= s.finished for i in s.servers) > s.servers


def nothing_is_left(s: State) -> bool:
    """Who runs no operation has nothing left of the last one."""
    return (s.writing or len(s.acks) == 0) and all(
        s.phase[r] != "idle" or (len(s.heard[r]) == 0 and s.best[r] == 0 and s.floor[r] == 0)
        for r in s.readers
    )


def atomic(before: State, after: State) -> bool:
    """A read returns nothing older than an operation that ended before it began."""
    return all(
        before.best[r] >= before.floor[r]
        for r in before.readers
        if before.phase[r] != "idle" and after.phase[r] == "idle"
    )


def stamps_grow(before: State, after: State) -> bool:
    """A server's value only gets newer."""
    return all(after.stamp[i] >= before.stamp[i] for i in before.servers)


def down_is_silent(before: State, after: State) -> bool:
    """A server that is down stores nothing and answers nobody."""
    return all(
        after.stamp[i] == before.stamp[i]
        and (i in before.acks or i not in after.acks)
        and all(i in before.heard[r] or i not in after.heard[r] for r in before.readers)
        for i in before.servers
        if before.down[i]
    )


def ghosts_follow(before: State, after: State) -> bool:
    """`finished` counts each operation that ends, and `floor` is `finished` when a read begins."""
    return (not before.writing or after.writing or after.finished >= before.newest) and all(
        after.finished >= before.best[r]
        if after.phase[r] == "idle"
        else before.phase[r] != "idle" or after.floor[r] == before.finished
        for r in before.readers
    )


def overlap(s: State) -> bool:
    """A write and all reads run at a time."""
    return s.writing and all(s.phase[r] != "idle" for r in s.readers)


def reads_old(before: State, after: State) -> bool:
    """A read during a write returns the value before."""
    return before.writing and any(
        before.phase[r] != "idle" and after.phase[r] == "idle" and before.best[r] < before.newest
        for r in before.readers
    )


def reads_new(before: State, after: State) -> bool:
    """A read during a write returns the value being written."""
    return before.writing and any(
        before.phase[r] != "idle" and after.phase[r] == "idle" and before.best[r] == before.newest
        for r in before.readers
    )


def arrives_late(before: State, after: State) -> bool:
    """A server gets a value after all operations have ended."""
    return (
        not before.writing
        and all(before.phase[r] == "idle" for r in before.readers)
        and any(after.stamp[i] > before.stamp[i] for i in before.servers)
    )


def ends_with_one_down(before: State, after: State) -> bool:
    """A write ends while a server is down."""
    return any(before.down[i] for i in before.servers) and before.writing and not after.writing


def helped(before: State, after: State) -> bool:
    """A write back brings a value to a server that lacked it."""
    return before.newest == after.newest and any(
        before.phase[r] == "writing_back"
        and len(after.heard[r] - before.heard[r]) == 1
        and any(after.stamp[i] > before.stamp[i] for i in before.servers)
        for r in before.readers
    )


def reading(s: State, reader: int) -> bool:
    """{reader} reads."""
    return s.phase[reader] != "idle"


def done(s: State, reader: int) -> bool:
    """{reader} has read."""
    return s.phase[reader] == "idle"


def write_runs(s: State) -> bool:
    """A write runs."""
    return s.writing


def write_done(s: State) -> bool:
    """No write runs."""
    return not s.writing


def heard_is_written(s: State) -> bool:
    """No reader has heard of a value that the writer has not begun to write."""
    return all(s.best[r] <= s.newest for r in s.readers)


def acks_are_stored(s: State) -> bool:
    """A server that has acknowledged the write has its value."""
    return all(i not in s.acks or s.stamp[i] >= s.newest for i in s.servers)


def written_back_is_stored(s: State) -> bool:
    """A server that has answered a write back has its value, or a newer one."""
    return all(
        s.stamp[i] >= s.best[r]
        for r in s.readers
        if s.phase[r] == "writing_back"
        for i in s.servers
        if i in s.heard[r]
    )


def asks_on(s: State) -> bool:
    """A reader without a value as new as `floor` has not heard a majority that has one."""
    return all(
        s.phase[r] != "asking"
        or s.best[r] >= s.floor[r]
        or majority(s, sum(s.stamp[i] >= s.floor[r] and i not in s.heard[r] for i in s.servers))
        for r in s.readers
    )


def returns_new(s: State) -> bool:
    """No reader writes back a value that is older than `floor`."""
    return all(s.phase[r] != "writing_back" or s.best[r] >= s.floor[r] for r in s.readers)
