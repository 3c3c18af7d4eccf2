"""The core of Raft: leader election and log replication.

After Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014), figure 2.
A request and its answer are one step, between servers as they are then: nothing is in flight. There
are no snapshots and no changes of the configuration. Votes, next and match indices of a server that
has no use for them are forgotten, so that they do not tell equal states apart.

Two rules can be taken out, to see what they are for: `--set voters_compare_logs=false`, and with
`--set terms=4 --set entries=1` also `--set commits_own_term_only=false` (figure 8 of the paper).
"""

from waterline import Action, Choice, Fields, Log, Name, Names, Number, Protocol, Set, when, within


class State(Fields):
    """So many servers, terms 0 to `terms`, and logs of so many entries."""

    servers = Names("server", 3)
    terms: int = 2
    entries: int = 2
    voters_compare_logs: bool = True
    commits_own_term_only: bool = True

    role = Choice("follower", "candidate", "leader", by=servers)
    term = Number(0, terms, by=servers)
    voted_for = Name(servers, by=servers, or_none=True, doc="In the server's term.")
    votes = Set(of=servers, by=servers, doc="Of a candidate: who has voted for it.")
    log = Log(of=range(1, terms + 1), room=entries, by=servers, doc="Terms of entries.")
    commit = Number(0, entries, by=servers, doc="How many entries it knows committed.")
    next = Number(0, entries, by=(servers, servers), doc="Of a leader: what it sends next.")
    match = Number(0, entries, by=(servers, servers), doc="Of a leader: who has how many.")


def raft(state: type[State]) -> Protocol:
    """Servers that elect leaders, which replicate their logs."""
    return Protocol(
        state=state,
        actions=[
            time_out,
            Action(vote_for, candidate=state.servers),
            become_leader,
            append,
            Action(replicate, leader=state.servers, follower=state.servers),
            commit_more,
            Action(see_higher_term, other=state.servers),
            restart,
        ],
        always=[
            one_leader_a_term,
            logs_match,
            committed_entries_agree,
            leaders_have_what_is_committed,
            no_entry_of_a_later_term,
            votes_are_of_their_term,
            indices_are_of_leaders,
        ],
        every_step=[
            leaders_only_append,
            leaders_commit_more,
            *([commits_its_own_term] if state.commits_own_term_only else []),
            terms_grow,
            votes_once_a_term,
            votes_anew,
            begins_with_its_next_entry,
            cuts_for_another_entry,
        ],
        sometimes=[
            commits,
            commits_in_two_terms,
            cuts_its_log,
            votes_in_its_term,
            votes_in_a_later_term,
            follows_in_its_term,
            sends_an_earlier_entry,
            follower_commits,
            forgets_what_is_committed,
        ],
    )


def time_out(s: State, server: int) -> None:
    """{server} has heard of no leader, and stands for election."""
    when(s.role[server] != "leader")
    within(s.term[server] < s.terms)
    follow(s, server)
    s.role[server] = "candidate"
    s.term[server] += 1
    s.voted_for[server] = server
    s.votes[server] = {server}


def vote_for(s: State, server: int, candidate: int) -> None:
    """{server} votes for {candidate}."""
    when(s.role[candidate] == "candidate" and s.term[server] <= s.term[candidate])
    when(s.term[server] < s.term[candidate] or s.voted_for[server] is None)
    when(not s.voters_compare_logs or is_up_to_date(s, candidate, server))
    if s.term[server] < s.term[candidate]:
        follow(s, server)
    s.term[server] = s.term[candidate]
    s.voted_for[server] = candidate
    s.votes[candidate].add(server)


def become_leader(s: State, server: int) -> None:
    """{server} has the votes of more than half."""
    when(s.role[server] == "candidate")
    when(2 * len(s.votes[server]) > s.servers)
    follow(s, server)
    s.role[server] = "leader"
    for other in s.servers:
        if other != server:
            s.next[server, other] = len(s.log[server])


def append(s: State, server: int) -> None:
    """{server}, which leads, appends an entry for a client."""
    when(s.role[server] == "leader")
    s.log[server].append(s.term[server])


def replicate(s: State, leader: int, follower: int) -> None:
    """{leader} sends {follower} the next entry, or none, and has its answer."""
    when(leader != follower and s.role[leader] == "leader" and s.term[follower] <= s.term[leader])
    if s.term[follower] < s.term[leader]:
        s.term[follower] = s.term[leader]
        s.voted_for[follower] = None
    follow(s, follower)
    before = s.next[leader, follower]
    if not has_the_entry_before(s, leader, follower, before):
        s.next[leader, follower] = before - 1
        return
    known = min(before + 1, len(s.log[leader]))
    if s.log[follower][:known] != s.log[leader][:known]:
        s.log[follower] = s.log[leader][:known]
    s.commit[follower] = max(s.commit[follower], min(s.commit[leader], known))
    s.next[leader, follower] = known
    s.match[leader, follower] = max(s.match[leader, follower], known)


def commit_more(s: State, server: int) -> None:
    """{server}, which leads, finds its next entries on more than half."""
    when(s.role[server] == "leader")
    when(can_commit(s, server) > s.commit[server])
    s.commit[server] = can_commit(s, server)


def see_higher_term(s: State, server: int, other: int) -> None:
    """{server} hears of the term of {other}."""
    when(s.term[server] < s.term[other])
    follow(s, server)
    s.term[server] = s.term[other]
    s.voted_for[server] = None


def restart(s: State, server: int) -> None:
    """{server} stops, and starts with its term, its vote and its log."""
    follow(s, server)
    s.commit[server] = 0


def follow(s: State, server: int) -> None:
    """It neither leads nor stands for election any more."""
    s.role[server] = "follower"
    s.votes[server] = set()
    for other in s.servers:
        s.next[server, other] = 0
        s.match[server, other] = 0


def last_term(s: State, server: int) -> int:
    """The term of its last entry; 0 if it has none."""
    return s.log[server][-1] if s.log[server] else 0


def is_up_to_date(s: State, candidate: int, voter: int) -> bool:
    """Whether the candidate's log is at least as far as the voter's."""
    if last_term(s, candidate) != last_term(s, voter):
        return last_term(s, candidate) > last_term(s, voter)
    return len(s.log[candidate]) >= len(s.log[voter])


def has_the_entry_before(s: State, leader: int, follower: int, before: int) -> bool:
    """Whether the logs agree on the entry before, if there is one."""
    return s.log[leader][:before] == s.log[follower][:before]


def can_commit(s: State, leader: int) -> int:
    """How many entries more than half have, up to one of the leader's own term."""
    most = 0
    for index in range(len(s.log[leader])):
        have = 1 + sum(s.match[leader, other] > index for other in s.servers)
        is_own = s.log[leader][index] == s.term[leader]
        if 2 * have > s.servers and (is_own or not s.commits_own_term_only):
            most = index + 1
    return most


def one_leader_a_term(s: State) -> bool:
    """No two servers lead in one term."""
    return all(
        left == right
        or s.role[left] != "leader"
        or s.role[right] != "leader"
        or s.term[left] != s.term[right]
        for left in s.servers
        for right in s.servers
    )


def logs_match(s: State) -> bool:
    """Two logs with an entry of the same term at the same index are the same up to there."""
    return all(
        s.log[left][index] != s.log[right][index] or s.log[left][:index] == s.log[right][:index]
        for left in s.servers
        for right in s.servers
        for index in range(min(len(s.log[left]), len(s.log[right])))
    )


def committed_entries_agree(s: State) -> bool:
    """What two servers know to be committed is the same, as far as both know it."""
    return all(
        s.log[left][: s.commit[left]] == s.log[right][: s.commit[left]]
        for left in s.servers
        for right in s.servers
        if s.commit[left] <= s.commit[right]
    )


def leaders_have_what_is_committed(s: State) -> bool:
    """A leader has every entry that a server of its term or an earlier one knows committed."""
    return all(
        s.role[leader] != "leader"
        or s.term[leader] < s.term[other]
        or s.log[leader][: s.commit[other]] == s.log[other][: s.commit[other]]
        for leader in s.servers
        for other in s.servers
    )


def no_entry_of_a_later_term(s: State) -> bool:
    """No server has an entry of a term after its own."""
    return all(term <= s.term[server] for server in s.servers for term in s.log[server])


def votes_are_of_their_term(s: State) -> bool:
    """Who has a vote stood in that term, or in a later one; only a candidate has votes."""
    return all(
        (s.role[server] == "candidate" or len(s.votes[server]) == 0)
        and all(
            s.voted_for[server] != other or s.term[other] >= s.term[server] for other in s.servers
        )
        for server in s.servers
    )


def indices_are_of_leaders(s: State) -> bool:
    """A leader sends an entry after those that it knows a follower has; others have no indices."""
    return all(
        s.match[server, other] <= s.next[server, other]
        and (s.next[server, other] == 0 or (s.role[server] == "leader" and server != other))
        for server in s.servers
        for other in s.servers
    )


def leaders_only_append(before: State, after: State) -> bool:
    """A server that leads, and still does, has changed no entry of its log."""
    return all(
        before.role[server] != "leader"
        or after.role[server] != "leader"
        or after.log[server][: len(before.log[server])] == before.log[server]
        for server in before.servers
    )


def leaders_commit_more(before: State, after: State) -> bool:
    """A server that leads, and still does, knows no less to be committed."""
    return all(
        before.role[server] != "leader"
        or after.role[server] != "leader"
        or after.commit[server] >= before.commit[server]
        for server in before.servers
    )


def commits_its_own_term(before: State, after: State) -> bool:
    """A leader finds committed what ends in an entry of its own term."""
    return all(
        after.role[server] != "leader"
        or after.commit[server] <= before.commit[server]
        or after.log[server][after.commit[server] - 1] == after.term[server]
        for server in before.servers
    )


def terms_grow(before: State, after: State) -> bool:
    """No server goes back to an earlier term."""
    return all(after.term[server] >= before.term[server] for server in before.servers)


def votes_once_a_term(before: State, after: State) -> bool:
    """A server keeps its vote as long as it is in the term."""
    return all(
        before.voted_for[server] is None
        or after.term[server] != before.term[server]
        or after.voted_for[server] == before.voted_for[server]
        for server in before.servers
    )


def votes_anew(before: State, after: State) -> bool:
    """A server takes no vote along into a later term."""
    return all(
        after.term[server] == before.term[server]
        or after.voted_for[server] != other
        or server in after.votes[other]
        for server in before.servers
        for other in before.servers
    )


def begins_with_its_next_entry(before: State, after: State) -> bool:
    """A new leader sends each other server first what comes after its own log."""
    return all(
        before.role[server] == "leader"
        or after.role[server] != "leader"
        or other == server
        or after.next[server, other] == len(after.log[server])
        for server in before.servers
        for other in before.servers
    )


def cuts_for_another_entry(before: State, after: State) -> bool:
    """A server gives up entries only for another one."""
    return all(
        len(after.log[server]) >= len(before.log[server])
        or after.log[server] != before.log[server][: len(after.log[server])]
        for server in before.servers
    )


def commits(s: State) -> bool:
    """An entry is committed."""
    return any(s.commit[server] > 0 for server in s.servers)


def commits_in_two_terms(s: State) -> bool:
    """Entries of two terms are committed."""
    return any(
        s.commit[server] > 1 and len(s.log[server]) > 1 and s.log[server][0] != s.log[server][1]
        for server in s.servers
    )


def cuts_its_log(before: State, after: State) -> bool:
    """A follower gives up an entry."""
    return any(
        after.log[server][: len(before.log[server])] != before.log[server]
        for server in before.servers
    )


def votes_in_its_term(before: State, after: State) -> bool:
    """A server votes in the term that it is in."""
    return any(
        before.voted_for[server] is None
        and after.voted_for[server] is not None
        and after.term[server] == before.term[server]
        for server in before.servers
    )


def votes_in_a_later_term(before: State, after: State) -> bool:
    """A server that has voted votes for another one of a later term."""
    return any(
        before.voted_for[server] is not None
        and after.voted_for[server] is not None
        and after.term[server] > before.term[server]
        and after.voted_for[server] != server
        for server in before.servers
    )


def follows_in_its_term(before: State, after: State) -> bool:
    """A follower takes an entry of the term that it is in."""
    return any(
        before.role[server] != "leader"
        and len(after.log[server]) > len(before.log[server])
        and after.term[server] == before.term[server]
        for server in before.servers
    )


def sends_an_earlier_entry(before: State, after: State) -> bool:
    """A leader goes back to an earlier entry, which a follower lacks."""
    return any(
        after.role[leader] == "leader" and after.next[leader, other] < before.next[leader, other]
        for leader in before.servers
        for other in before.servers
    )


def follower_commits(before: State, after: State) -> bool:
    """A follower learns that an entry is committed."""
    return any(
        after.role[server] == "follower" and after.commit[server] > before.commit[server]
        for server in before.servers
    )


def forgets_what_is_committed(before: State, after: State) -> bool:
    """A server no longer knows what is committed."""
    return any(after.commit[server] < before.commit[server] for server in before.servers)
