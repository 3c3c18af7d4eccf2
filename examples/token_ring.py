"""A token goes round a ring; who holds it may do what only one may do at a time."""

from waterline import Fields, Flag, Name, Names, Protocol, when


class State(Fields):
    """So many nodes; a greedy one keeps the token as long as it finds something to do."""

    nodes = Names("node", 3)
    greedy: bool = False

    token = Name(nodes, doc="Who holds it.")
    wants = Flag(by=nodes)
    served = Flag(doc="Whether the holder has used the token since it came.")


def token_ring(state: type[State]) -> Protocol:
    """A ring."""
    return Protocol(
        state=state,
        actions=[
            want,
            use_greedily if state.greedy else use,
            pass_greedily if state.greedy else pass_on,
        ],
        every_step=[its_holder_uses_it, *([] if state.greedy else [used_once])],
        sometimes=[another_wants_it],
        # Nobody need ever want it; the holder uses it if it does, and passes it on.
        fair=[use_greedily, pass_greedily] if state.greedy else [use, pass_on],
        leads_to=[(wants_it, has_used_it)],
        always_eventually=[holds_it],
    )


def want(s: State, node: int) -> None:
    """{node} wants the token."""
    when(not s.wants[node])
    s.wants[node] = True


def use(s: State, node: int) -> None:
    """{node} uses the token, once."""
    when(s.token == node and s.wants[node] and not s.served)
    s.wants[node] = False
    s.served = True


def pass_on(s: State, node: int) -> None:
    """{node} passes the token on, having used it if it wanted to."""
    when(s.token == node and (s.served or not s.wants[node]))
    give_to_next(s, node)


def use_greedily(s: State, node: int) -> None:
    """{node} uses the token, perhaps once more."""
    when(s.token == node and s.wants[node])
    s.wants[node] = False
    s.served = True


def pass_greedily(s: State, node: int) -> None:
    """{node} passes the token on, wanting nothing more."""
    when(s.token == node and not s.wants[node])
    give_to_next(s, node)


def give_to_next(s: State, node: int) -> None:
    """The next node holds it, and has not used it."""
    s.token = (node + 1) % s.nodes
    s.served = False


def wants_it(s: State, node: int) -> bool:
    """{node} wants the token."""
    return s.wants[node]


def has_used_it(s: State, node: int) -> bool:
    """{node} wants it no more: it has used it."""
    return not s.wants[node]


def holds_it(s: State, node: int) -> bool:
    """{node} holds the token."""
    return s.token == node


def its_holder_uses_it(before: State, after: State) -> bool:
    """Only the holder uses the token, and the token counts as used only then."""
    return all(
        not before.wants[node] or after.wants[node] or before.token == node for node in before.nodes
    ) and (
        before.served
        or not after.served
        or any(before.wants[node] and not after.wants[node] for node in before.nodes)
    )


def used_once(before: State, after: State) -> bool:
    """The holder uses the token once until it passes it on."""
    return not before.served or all(
        not before.wants[node] or after.wants[node] for node in before.nodes
    )


def another_wants_it(s: State) -> bool:
    """A node wants the token, and another one holds it."""
    return any(s.wants[node] and s.token != node for node in s.nodes)
