"""Two-phase commit: a transaction commits at every resource manager, or at none.

After Gray and Lamport, "Consensus on Transaction Commit" (ACM TODS 2006). The transaction manager
never fails, and a message that was sent stays there to be received.
"""

from waterline import Choice, Flag, Names, Protocol, when


def two_phase_commit(rms: int = 3) -> Protocol:
    """A transaction manager and so many resource managers."""
    rm = Names("rm", rms)
    return Protocol(
        fields=[
            Choice("rm_state", "working", "prepared", "committed", "aborted", by=rm),
            Choice("tm_state", "init", "committed", "aborted"),
            Flag("tm_prepared", by=rm, doc="Who the transaction manager knows to be prepared."),
            Flag("prepared_sent", by=rm),
            Flag("commit_sent"),
            Flag("abort_sent"),
        ],
        actions=[
            tm_receive_prepared,
            tm_commit,
            tm_abort,
            rm_prepare,
            rm_choose_to_abort,
            rm_receive_commit,
            rm_receive_abort,
        ],
        always=[consistent],
        sometimes=[commits, aborts],
    )


def tm_receive_prepared(s, rm):
    """The transaction manager hears that {rm} is prepared."""
    when(s.tm_state == "init" and s.prepared_sent[rm])
    s.tm_prepared[rm] = True


def tm_commit(s):
    """The transaction manager, having heard from all, commits."""
    when(s.tm_state == "init" and all(s.tm_prepared[rm] for rm in range(s.rms)))
    s.tm_state = "committed"
    s.commit_sent = True


def tm_abort(s):
    """The transaction manager aborts, for whatever reason."""
    when(s.tm_state == "init")
    s.tm_state = "aborted"
    s.abort_sent = True


def rm_prepare(s, rm):
    """{rm} is prepared to commit, and says so."""
    when(s.rm_state[rm] == "working")
    s.rm_state[rm] = "prepared"
    s.prepared_sent[rm] = True


def rm_choose_to_abort(s, rm):
    """{rm} aborts without being asked; it has not said that it is prepared."""
    when(s.rm_state[rm] == "working")
    s.rm_state[rm] = "aborted"


def rm_receive_commit(s, rm):
    """{rm} is told to commit."""
    when(s.commit_sent)
    s.rm_state[rm] = "committed"


def rm_receive_abort(s, rm):
    """{rm} is told to abort."""
    when(s.abort_sent)
    s.rm_state[rm] = "aborted"


def consistent(s):
    """No resource manager has committed while another has aborted."""
    return not (commits(s) and aborts(s))


def commits(s):
    """Some resource manager commits."""
    return any(s.rm_state[rm] == "committed" for rm in range(s.rms))


def aborts(s):
    """Some resource manager aborts."""
    return any(s.rm_state[rm] == "aborted" for rm in range(s.rms))
