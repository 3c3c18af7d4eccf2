"""Two-phase commit: a transaction commits at every resource manager, or at none.

After Gray and Lamport, "Consensus on Transaction Commit" (ACM TODS 2006). The transaction manager
never fails, and a message that was sent stays there to be received. `waterline prove` proves the
claim for any number of resource managers, by the lemmas at the end.
"""

from waterline import Choice, Fields, Flag, Names, Protocol, when


class State(Fields):
    """A transaction manager and so many resource managers."""

    rms = Names("rm", 3)

    rm_state = Choice("working", "prepared", "committed", "aborted", by=rms)
    tm_state = Choice("init", "committed", "aborted")
    tm_prepared = Flag(by=rms, doc="Who the transaction manager knows to be prepared.")
    prepared_sent = Flag(by=rms)
    commit_sent = Flag()
    abort_sent = Flag()


def two_phase_commit(state: type[State]) -> Protocol:
    """One transaction."""
    return Protocol(
        state=state,
        actions=[
            tm_receive_prepared,
            tm_commit,
            tm_abort,
            rm_prepare,
            rm_choose_to_abort,
            rm_receive_commit,
            rm_receive_abort,
        ],
        always=[consistent, decision_is_sent],
        every_step=[decides_once],
        sometimes=[commits, aborts, aborts_by_itself, gives_up],
        lemmas=[
            commit_was_sent,
            commit_needs_all,
            prepared_was_sent,
            prepared_waits,
        ],
    )


def tm_receive_prepared(s: State, rm: int) -> None:
    """The transaction manager hears that {rm} is prepared."""
    when(s.tm_state == "init" and s.prepared_sent[rm])
    s.tm_prepared[rm] = True


def tm_commit(s: State) -> None:
    """The transaction manager, having heard from all, commits."""
    when(s.tm_state == "init" and all(s.tm_prepared[rm] for rm in range(s.rms)))
    s.tm_state = "committed"
    s.commit_sent = True


def tm_abort(s: State) -> None:
    """The transaction manager aborts, for whatever reason."""
    when(s.tm_state == "init")
    s.tm_state = "aborted"
    s.abort_sent = True


def rm_prepare(s: State, rm: int) -> None:
    """{rm} is prepared to commit, and says so."""
    when(s.rm_state[rm] == "working")
    s.rm_state[rm] = "prepared"
    s.prepared_sent[rm] = True


def rm_choose_to_abort(s: State, rm: int) -> None:
    """{rm} aborts without being asked; it has not said that it is prepared."""
    when(s.rm_state[rm] == "working")
    s.rm_state[rm] = "aborted"


def rm_receive_commit(s: State, rm: int) -> None:
    """{rm} is told to commit."""
    when(s.commit_sent)
    s.rm_state[rm] = "committed"


def rm_receive_abort(s: State, rm: int) -> None:
    """{rm} is told to abort."""
    when(s.abort_sent)
    s.rm_state[rm] = "aborted"


def consistent(s: State) -> bool:
    """No resource manager has committed while another has aborted."""
    return not (commits(s) and aborts(s))


def decision_is_sent(s: State) -> bool:
    """The transaction manager has sent what it has decided, and nothing else."""
    return s.commit_sent == (s.tm_state == "committed") and s.abort_sent == (
        s.tm_state == "aborted"
    )


def decides_once(before: State, after: State) -> bool:
    """A resource manager that has committed or aborted stays so."""
    return all(
        before.rm_state[rm] == after.rm_state[rm]
        or before.rm_state[rm] == "working"
        or before.rm_state[rm] == "prepared"
        for rm in range(before.rms)
    )


def commits(s: State) -> bool:
    """Some resource manager commits."""
    return any(s.rm_state[rm] == "committed" for rm in range(s.rms))


def aborts(s: State) -> bool:
    """Some resource manager aborts."""
    return any(s.rm_state[rm] == "aborted" for rm in range(s.rms))


def commit_was_sent(s: State) -> bool:
    """A resource manager has committed only after the transaction manager sent that."""
    return s.commit_sent or not commits(s)


def commit_needs_all(s: State) -> bool:
    """A commit was sent only when all were known to be prepared."""
    return not s.commit_sent or all(s.tm_prepared[rm] for rm in range(s.rms))


def prepared_was_sent(s: State) -> bool:
    """A resource manager that is known to be prepared has sent that."""
    return all(s.prepared_sent[rm] or not s.tm_prepared[rm] for rm in range(s.rms))


def prepared_waits(s: State) -> bool:
    """A resource manager that has sent that it is prepared aborts only after an abort was sent."""
    return all(
        s.rm_state[rm] != "working" and (s.rm_state[rm] != "aborted" or s.abort_sent)
        for rm in range(s.rms)
        if s.prepared_sent[rm]
    )


def aborts_by_itself(s: State) -> bool:
    """Some resource manager aborts before anything is decided."""
    return s.tm_state == "init" and aborts(s)


def gives_up(before: State, after: State) -> bool:
    """A resource manager that was prepared aborts."""
    return any(
        before.rm_state[rm] == "prepared" and after.rm_state[rm] == "aborted"
        for rm in range(before.rms)
    )
