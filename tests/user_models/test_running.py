"""Rules as plain Python: states are values, and what an action may not do raises in words."""

from __future__ import annotations

import copy
import sys
from types import FrameType, ModuleType
from typing import Any

import pytest

import waterline
from tests.support.live import live
from tests.support.own import EXAMPLES

KINDS = """
from waterline import Choice, Flag, Name, Names, Number, Protocol, when, within


def kinds(nodes: int = 2, most: int = 3, fast: bool = True) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Flag("up", by=node),
            Number("count", -1, most),
            Choice("state", "idle", "busy", by=node),
            Name("holder", node, or_none=True),
            Name("first", node),
            Number("table", 0, 9, by=(node, 3)),
        ],
        actions=[act],
    )


def act(s, node):
    when(s.state[node] == "idle")
    within(s.count < s.most)
    s.state[node] = "busy"
    s.count += 1
"""


@pytest.fixture
def kinds(module_of: Any) -> ModuleType:
    found: ModuleType = module_of("kinds.py", KINDS)
    return found


# --- states ---------------------------------------------------------------------------------------


def test_values_are_those_that_rules_are_written_with(kinds: ModuleType) -> None:
    s = waterline.initial(kinds.kinds)

    assert s.up[0] is False
    assert s.count == -1
    assert s.state[1] == "idle"
    assert s.holder is None
    assert s.first == 0
    assert s.table[1, 2] == 0
    assert s.fast is True
    assert s.most == 3


def test_a_sort_is_a_number_and_its_members(kinds: ModuleType) -> None:
    s = waterline.initial(waterline.instance(kinds.kinds, nodes=3))

    assert s.nodes == 3
    assert s.nodes - 1 == 2
    assert list(s.nodes) == list(range(s.nodes)) == [0, 1, 2]
    with pytest.raises(TypeError):
        list(s.most)


def test_a_state_is_a_value(kinds: ModuleType) -> None:
    one = waterline.initial(kinds.kinds)
    other = waterline.initial(waterline.instance(kinds.kinds))
    larger = waterline.initial(waterline.instance(kinds.kinds, most=4))
    busy = waterline.step(one, kinds.act, node=1)

    assert one == other
    assert hash(one) == hash(other)
    assert one != larger
    assert one != busy
    assert {one: "a"}[other] == "a"
    assert copy.deepcopy(busy) == busy
    with pytest.raises(AttributeError, match=r"waterline\.replace\(state, count=\.\.\.\)"):
        one.count = 2
    with pytest.raises(AttributeError, match="a state is a value"):
        one.up[0] = True


def test_a_state_shows_its_values(kinds: ModuleType) -> None:
    s = waterline.step(waterline.initial(kinds.kinds), kinds.act, node=1)

    assert repr(s) == (
        "State(up=(False, False), count=0, state=('idle', 'busy'), holder=None, first=0, "
        "table=((0, 0, 0), (0, 0, 0)))"
    )
    assert str(s).startswith("up[node0] no, up[node1] no, count 0, state[node0] idle, state[node1]")


def test_elements_are_compared_and_looped_over_in_tests(kinds: ModuleType) -> None:
    s = waterline.replace(waterline.initial(kinds.kinds), table={(1, 2): 7}, up=[True, False])

    assert s.up == (True, False)
    assert list(s.table) == [(0, 0, 0), (0, 0, 7)]
    assert len(s.table) == 2
    assert s.up != waterline.initial(kinds.kinds).up


def test_a_state_offers_its_fields_to_be_completed(kinds: ModuleType) -> None:
    assert {"up", "table", "nodes", "most"} <= set(dir(waterline.initial(kinds.kinds)))


def test_several_initial_states_are_not_one(module_of: Any) -> None:
    made = module_of(
        "several.py",
        "from waterline import Action, Number, Protocol, when\n"
        "def several(most: int = 3) -> Protocol:\n"
        "    return Protocol(fields=[Number('n', 0, most)], actions=[act],\n"
        "                    initial=Action(start, at=4))\n"
        "def start(s, at):\n    when(at != 2)\n    s.n = at\n"
        "def act(s):\n    s.n = 0\n",
    )

    assert [s.n for s in waterline.initials(made.several)] == [0, 1, 3]
    with pytest.raises(ValueError, match="3 initial states; take one of"):
        waterline.initial(made.several)


# --- what a rule may not do -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("count", 4, "count cannot be 4: it is a number, -1 to 3"),
        ("count", -2, "count cannot be -2: it is a number, -1 to 3"),
        ("count", 1.0, "count cannot be 1.0"),
        ("count", None, "count cannot be None"),
        ("count", "busy", "count cannot be 'busy'"),
        ("holder", 2, "holder cannot be 2: it is the number of a node, 0 to 1, or None"),
        ("holder", -1, "holder cannot be -1"),
        ("first", None, "first cannot be None: it is the number of a node, 0 to 1"),
        ("up", {1: 2}, r"up\[node1\] cannot be 2: it is True or False"),
        ("up", {0: "yes"}, r"up\[node0\] cannot be 'yes'"),
        ("state", {1: "bsuy"}, r"state\[node1\] cannot be 'bsuy': it is one of 'idle', 'busy'"),
        ("state", {1: 1}, r"state\[node1\] cannot be 1"),
        ("table", {(1, 2): 10}, r"table\[node1, 2\] cannot be 10: it is a number, 0 to 9"),
        ("up", {2: True}, r"up\[2\]: up has an element for each node, 0 to 1"),
        ("up", {-1: True}, r"up\[-1\]: up has an element for each node"),
        ("up", {None: True}, r"up\[None\]: up has an element for each node"),
        ("table", {1: 2}, r"table\[1\]: table has an element for each node, 0 to 1 and each"),
    ],
)
def test_a_value_outside_its_range_is_named_with_the_range(
    name: str, value: object, words: str, kinds: ModuleType
) -> None:
    with pytest.raises(waterline.OutOfRange, match=words):
        waterline.replace(waterline.initial(kinds.kinds), **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cuont", 1, "no field 'cuont'; did you mean count"),
        ("most", 4, "most is a bound or a number of names"),
        ("nodes", 4, "nodes is a bound or a number of names"),
    ],
)
def test_what_is_no_field_cannot_be_set(
    name: str, value: object, words: str, kinds: ModuleType
) -> None:
    with pytest.raises(AttributeError, match=words):
        setattr(waterline.copy(waterline.initial(kinds.kinds)), name, value)


def test_a_field_with_elements_is_not_set_whole_by_a_rule(kinds: ModuleType) -> None:
    draft = waterline.copy(waterline.initial(kinds.kinds))

    with pytest.raises(AttributeError, match=r"set one, as table\[i, i\] = \.\.\."):
        draft.table = 0
    with pytest.raises(AttributeError, match="has no field 'tabel'; did you mean table"):
        draft.tabel  # noqa: B018


@pytest.mark.parametrize("value", [(True,), (True, False, True), 5, "ab"])
def test_all_elements_are_given_or_some_by_index(value: object, kinds: ModuleType) -> None:
    with pytest.raises((ValueError, waterline.OutOfRange), match="up has an element for each"):
        waterline.replace(waterline.initial(kinds.kinds), up=value)


# --- steps ----------------------------------------------------------------------------------------


def test_a_step_leaves_the_state_before_as_it_is(lease: ModuleType) -> None:
    before = waterline.initial(lease.lease)
    after = waterline.step(before, lease.grant, client=1)

    assert (before.holder, before.token) == (None, (0, 0))
    assert (after.holder, after.token) == (1, (0, 1))


def test_a_guard_that_is_false_raises_with_its_line(lease: ModuleType) -> None:
    held = waterline.step(waterline.initial(lease.lease), lease.grant, client=1)

    with pytest.raises(
        waterline.NotEnabled, match=r"lease\.py:30: when\(s\.holder is None\) is False"
    ):
        waterline.step(held, lease.grant, client=0)


def test_a_bound_that_is_reached_raises_with_its_name(lease: ModuleType) -> None:
    last = waterline.replace(waterline.initial(lease.lease), granted=3)

    with pytest.raises(waterline.BeyondBound, match="beyond the bound leases") as caught:
        waterline.step(last, lease.grant, client=0)
    assert caught.value.bound == "leases"


def test_questions_over_several_lines_are_shown_on_one(module_of: Any) -> None:
    made = module_of(
        "lines.py",
        "from waterline import Number, Protocol, when, within\n"
        "def lines(most: int = 1) -> Protocol:\n"
        "    return Protocol(fields=[Number('n', 0, 9)], actions=[act])\n"
        "def act(s):\n    within(\n        s.n\n        < s.most\n    )\n    s.n = 1\n",
    )
    beyond = waterline.replace(waterline.initial(made.lines), n=2)

    with pytest.raises(waterline.BeyondBound, match=r"within\( s\.n < s\.most \) is False"):
        waterline.step(beyond, made.act)


def test_an_action_can_be_called_on_a_copy(lease: ModuleType) -> None:
    draft = waterline.copy(waterline.initial(lease.lease))
    lease.grant(draft, client=1)
    state = waterline.freeze(draft)
    with pytest.raises(waterline.NotEnabled):
        lease.grant(draft, client=0)
    lease.expire(draft)

    assert draft.holder is None
    assert state.holder == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(draft)


def test_questions_can_be_asked_of_anything() -> None:
    """Also outside of an action, and of what is no state."""
    waterline.when(True)
    waterline.within(len([0]) < 2)

    with pytest.raises(waterline.NotEnabled, match=r"when\(False\) is False"):
        waterline.when(False)
    with pytest.raises(waterline.BeyondBound, match="beyond a bound"):
        waterline.within(len([0]) > 2)
    with pytest.raises(TypeError, match="a condition is True or False"):
        waterline.when("idle")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, TypeError, "write needs the argument 'client'"),
        ({"client": 2}, ValueError, "client of write cannot be 2: it is one of 0, 1"),
        ({"client": None}, ValueError, "client of write cannot be None"),
        ({"cleint": 1}, TypeError, "no argument 'cleint'; did you mean client"),
    ],
)
def test_arguments_are_looked_at(
    arguments: dict[str, Any], error: type[Exception], words: str, lease: ModuleType
) -> None:
    with pytest.raises(error, match=words):
        waterline.step(waterline.initial(lease.lease), lease.write, **arguments)


def test_an_action_of_another_model_is_refused(lease: ModuleType, kinds: ModuleType) -> None:
    s = waterline.initial(lease.lease)
    before = lease.write
    made = waterline.instance(lease.lease)
    lease.write = kinds.act

    with pytest.raises(ValueError, match="act is no action of lease"):
        waterline.step(s, kinds.act, node=0)
    assert before in [action.function for action in made.actions]


def test_an_action_that_was_defined_again_is_refused(module_of: Any) -> None:
    first = module_of("twice.py", KINDS)
    s = waterline.initial(first.kinds)
    second = module_of("twice.py", KINDS)

    with pytest.raises(ValueError, match="perhaps defined again; make the model"):
        waterline.step(s, second.act, node=0)


def test_a_variable_that_has_the_name_of_a_claim_is_refused(lease: ModuleType) -> None:
    """As it happens in a notebook: held = waterline.step(...)."""
    start = waterline.initial(lease.lease)
    lease.held = waterline.step(start, lease.grant, client=1)

    with pytest.raises(waterline.BadProtocol, match="is no function; write one with def"):
        waterline.initial(lease.lease)


def test_an_action_that_asks_after_it_has_written_is_refused(module_of: Any) -> None:
    made = module_of("late.py", KINDS + "    when(s.count < 0)\n")

    with pytest.raises(waterline.BadProtocol, match="ask first, then write"):
        waterline.step(waterline.initial(made.kinds), made.act, node=0)


def test_enabled_steps_are_in_the_checkers_order(lease: ModuleType) -> None:
    s = waterline.initial(lease.lease)
    held = waterline.step(s, lease.grant, client=1)

    assert [str(step) for step in waterline.enabled(s)] == ["grant(client=0)", "grant(client=1)"]
    assert [str(step) for step in waterline.enabled(held)] == ["expire()", "write(client=1)"]
    assert all(step.before == held for step in waterline.enabled(held))
    assert waterline.enabled(s)[1].after == held
    assert waterline.enabled(s)[1].sentence == (
        "client1 gets the lease: holder none -> client1; granted 0 -> 1; token[client1] 0 -> 1."
    )


def test_an_error_of_a_rule_says_of_which_step_and_state(module_of: Any) -> None:
    made = module_of("error.py", KINDS.replace("s.count += 1", "s.count += 9"))
    with pytest.raises(waterline.OutOfRange) as caught:
        waterline.enabled(waterline.initial(made.kinds))

    assert caught.value.__notes__ == [
        "in act(node=node0), in the state up[node0] no, up[node1] no, count -1, "
        "state[node0] idle, state[node1] idle, holder none, first node0, table[node0, 0] 0, "
        "table[node0, 1] 0, table[node0, 2] 0, table[node1, 0] 0, table[node1, 1] 0, "
        "table[node1, 2] 0"
    ]


def test_a_debugger_stops_in_the_users_lines(lease: ModuleType) -> None:
    lines: list[tuple[str, int]] = []

    def trace(frame: FrameType, event: str, value: object) -> Any:
        if event == "line" and frame.f_code is lease.grant.__code__:
            lines.append((frame.f_code.co_name, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        waterline.step(waterline.initial(lease.lease), lease.grant, client=0)
    finally:
        sys.settrace(before)

    assert lines == [("grant", line) for line in range(30, 35)]


# --- models and walks -----------------------------------------------------------------------------


def test_a_model_shows_its_bounds_and_is_equal_by_them(lease: ModuleType) -> None:
    made = waterline.instance(lease.lease, clients=3)

    assert repr(made) == "lease(clients=3, leases=3, fenced=False)"
    assert made == waterline.instance(lease.lease, clients=3)
    assert made != waterline.instance(lease.lease)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"cleints": 3}, "lease has no bound 'cleints'; did you mean clients"),
        ({"fenced": 1}, "bound fenced is 1; it must be True or False"),
        ({"clients": True}, "bound clients is True; it must be a whole number"),
        ({"clients": 0}, "clients are 0; there must be one or more"),
    ],
)
def test_bounds_are_looked_at(bounds: dict[str, Any], words: str, lease: ModuleType) -> None:
    with pytest.raises(waterline.BadProtocol, match=words):
        waterline.instance(lease.lease, **bounds)


def test_a_walk_is_the_same_with_the_same_seed(lease: ModuleType) -> None:
    one = waterline.simulate(lease.lease, steps=8, seed=1)
    again = waterline.simulate(lease.lease, steps=8, seed=1)
    others = {str(waterline.simulate(lease.lease, steps=8, seed=seed)) for seed in range(9)}

    assert one == again
    assert len(one) == 8
    assert len(others) > 1
    assert one.states[0] == waterline.initial(lease.lease)
    assert all(step.after == after for step, after in zip(one, one.states[1:], strict=True))


def test_a_walk_ends_where_no_step_is_enabled() -> None:
    philosophers = live(EXAMPLES / "philosophers.py", seats=2, tie_break=False)
    walks = [waterline.simulate(philosophers, steps=400, seed=seed) for seed in range(9)]
    ended = [walk for walk in walks if len(walk) < 400]

    assert ended
    assert all(waterline.enabled(walk.states[-1]) == () for walk in ended)


def test_a_walk_begins_in_a_state_that_is_given(lease: ModuleType) -> None:
    held = waterline.step(waterline.initial(lease.lease), lease.grant, client=1)

    assert waterline.simulate(held, steps=3).initial == held
