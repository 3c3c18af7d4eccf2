"""A trace in another tool's format is read back, by that tool's library or ours, as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import itf_py
import jsonschema
import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.confirmed_traces import FOLDER, ROOT, TRACES, confirmed_in
from tests.support.tla_text import states_of, value_of
from waterline.checker.report.pages.formats import FORMATS, Converted
from waterline.checker.report.pages.surroundings import TooLargeForGraph, surroundings, to_dot
from waterline.checker.traces.recording import record_trace
from waterline.counterexamples import BadTrace, from_json
from waterline.counterexamples.formats import Recording, from_itf, to_itf, to_tlc
from waterline.counterexamples.formats.itf import ACTION, PICKS
from waterline.counterexamples.formats.tlc import describe
from waterline.counterexamples.trace import Trace, TraceStep

SCHEMA = json.loads((ROOT / "docs" / "schemas" / "trace.schema.json").read_text())
MANY = [f"a{number}" for number in range(101)]
LOSS = "hw-no_committed_loss-2r2n2e.json"


def recording_of(name: str) -> Recording:
    found = confirmed_in(name)
    replayed = found.finding.replayed
    return record_trace(found.problem.model, replayed.trace, replayed.states)


def read_by_itf_py(text: str) -> itf_py.Trace:
    """The trace as itf_py reads it, whose version 0.5 takes what a variant holds for a record."""
    return itf_py.trace_from_json(json.loads(text, object_hook=without_variants))


def without_variants(found: dict[str, Any]) -> dict[str, Any]:
    """An option as a tuple, of what it holds or of nothing."""
    if set(found) == {"tag", "value"}:
        assert found["tag"] == "Some" or found == {"tag": "None", "value": {"#tup": []}}
        return {"#tup": [found["value"]] if found["tag"] == "Some" else []}
    return found


def plain(value: Any) -> Any:
    """Without the types that a library has of its own; a record is a function from its names."""
    if isinstance(value, Mapping):
        return {plain(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, frozenset | set):
        return frozenset(plain(member) for member in value)
    if hasattr(value, "_asdict"):
        return {name: plain(inner) for name, inner in value._asdict().items()}
    if isinstance(value, tuple):
        return tuple(plain(inner) for inner in value)
    return [plain(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", TRACES)
def test_itf_py_reads_every_state_as_it_is(name: str) -> None:
    recording = recording_of(name)
    read = read_by_itf_py(to_itf(recording))
    taken = [state.values.pop(ACTION) for state in read.states]
    picks = [plain(state.values.pop(PICKS)) for state in read.states]
    rest = [plain(state.values) for state in read.states]

    assert taken == ["init", *(step.action for step in recording.trace.steps)]
    assert picks == [{}, *({n: (v,) for n, v in step.arguments} for step in recording.trace.steps)]
    assert rest == [plain(state) for state in recording.states]
    assert read.vars == [ACTION, PICKS, *recording.states[0]]


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_survives_itf(name: str) -> None:
    recording = recording_of(name)

    assert from_itf(to_itf(recording)) == recording.trace


@pytest.mark.parametrize("name", [LOSS, "scenarios/stale-remote-leo.json"])
def test_what_tlc_would_print_says_every_state(name: str) -> None:
    recording = recording_of(name)
    describe_states = states_of(to_tlc(recording))

    assert [state for _, state in describe_states] == [plain(state) for state in recording.states]
    assert describe_states[0][0] == "Initial predicate"
    for (led, _), step in zip(describe_states[1:], recording.trace.steps, strict=True):
        arguments = ",".join(str(value) for _, value in step.arguments)
        assert led.startswith(f"{step.action}({arguments}) line 0")


class Vote(NamedTuple):
    """A struct."""

    to: Any
    term: Any


NUMBERS = st.integers(-(2**62), 2**62)
WORDS = st.text("ab\"\\ '")
VALUES = st.recursive(
    NUMBERS | st.booleans() | WORDS | st.frozensets(NUMBERS, max_size=4) | st.frozensets(WORDS),
    lambda inner: (
        st.dictionaries(NUMBERS | st.sampled_from([1, 2, 3]), inner, max_size=3)
        | st.lists(inner, max_size=3)
        | st.builds(Vote, inner, inner)
        | st.builds(lambda held: (held,), inner)
    ),
    max_leaves=8,
)


def as_function(value: Any) -> Any:
    """As TLA+ has it: a sequence is a function, and an option what it holds."""
    match plain(value):
        case dict() as held:
            return {key: as_function(inner) for key, inner in held.items()}
        case list() as held:
            return {number: as_function(inner) for number, inner in enumerate(held, 1)}
        case (held,):
            return as_function(held)
        case held:
            return held


@given(VALUES)
def test_any_value_is_told_in_tla(value: Any) -> None:
    assert value_of(describe(value)) == as_function(value)


@given(VALUES)
def test_any_value_survives_itf(value: Any) -> None:
    trace = Trace(model="m", version="v", environment={}, invariant="i", initial=0, steps=())
    read = read_by_itf_py(to_itf(Recording(trace, ({"x": value},), ())))

    assert plain(read.states[0].values["x"]) == plain(value)


def test_an_absent_value_is_the_variant_of_quint_and_a_model_value_of_tla() -> None:
    trace = Trace(model="m", version="v", environment={}, invariant="i", initial=0, steps=())
    [state] = json.loads(to_itf(Recording(trace, ({"x": ()},), ())))["states"]

    assert state["x"] == {"tag": "None", "value": {"#tup": []}}
    assert describe(()) == "None"


def itf_with(**changed: object) -> dict[str, Any]:
    step = TraceStep("Produce", (("leader", 0),))
    trace = Trace(model="m", version="v", environment={}, invariant="i", initial=0, steps=(step,))
    recording = Recording(trace, ({"x": 1}, {"x": 2}), ({"leader": "r0"},))
    return json.loads(to_itf(recording)) | changed


def in_1_0(*pairs: object) -> dict[str, Any]:
    """The same trace as version 1.0 wrote it, with these arguments of its step."""
    document = itf_with()
    document["#meta"]["waterline"] = {
        name: value
        for name, value in json.loads(document["#meta"]["waterline"]).items()
        if name != "steps"
    }
    for state, action, listed in zip(
        document["states"], ("init", "Produce"), ([], list(pairs)), strict=True
    ):
        del state[ACTION], state[PICKS]
        state |= {"action_taken": action, "nondet_picks": {"#map": listed}}
    return document


def test_what_version_1_0_wrote_is_read() -> None:
    old = in_1_0(["leader", {"#bigint": "0"}])

    assert from_itf(json.dumps(old)) == from_itf(json.dumps(itf_with()))


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        (itf_with(**{"#meta": {"format": "ITF"}}), "#meta is .*without waterline"),
        (itf_with(**{"#meta": {"waterline": 7}}), "#meta.waterline is 7"),
        (itf_with(**{"#meta": {"waterline": "x"}}), "not JSON"),
        (itf_with(**{"#meta": {"waterline": "{}"}}), "not a trace: format is None"),
        (in_1_0() | {"states": []}, "states is \\[\\]"),
        (in_1_0() | {"states": {}}, "states is \\{\\}"),
        (in_1_0() | {"states": [7, 7]}, r"states\[0\] is 7, without action_taken"),
        (in_1_0("leader"), r"states\[1\].nondet_picks.#map\[0\] is 'leader'"),
        (in_1_0(["leader", 0]), r"#map\[0\]\[1\] is 0, without #bigint"),
        (in_1_0(["a", {"#bigint": "x"}]), r"\[1\].#bigint is 'x'"),
        (in_1_0(["a", {"#bigint": "9" * 21}]), r"\[1\].#bigint is"),
        (in_1_0(["a", {"#bigint": "1"}], ["a", {"#bigint": "1"}]), r"#map\[1\] is .*already"),
    ],
)
def test_what_is_wrong_in_itf_is_named_by_its_path(document: object, complaint: str) -> None:
    with pytest.raises(BadTrace, match=complaint) as refused:
        from_itf(json.dumps(document))

    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("name", TRACES)
def test_a_recorded_trace_fits_the_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)

    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(_document(name))) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"format": "waterline-trace/2"},
        {"host": "here"},
        {"initial": True},
        {"initial": -1},
        {"initial": 2**64},
        {"invariant": "a b"},
        {"version": "\x1b[2J"},
        {"environment": {"acks": None}},
        {"environment": {"acks": "\t"}},
        {"environment": []},
        {"environment": dict.fromkeys(MANY, 1)},
        {"steps": {}},
        {"steps": [7]},
        {"steps": [{"action": "Produce"}]},
        {"steps": [{"action": 7, "arguments": {}}]},
        {"steps": [{"action": "A", "arguments": {"r": 1.5}}]},
        {"steps": [{"action": "A", "arguments": {"r": False}}]},
        {"steps": [{"action": "A", "arguments": dict.fromkeys(MANY, 1)}]},
    ],
    ids=lambda changed: str(changed)[:60],
)
def test_schema_and_reader_refuse_the_same(changed: dict[str, Any]) -> None:
    document = _document(LOSS) | changed
    with pytest.raises(BadTrace):
        from_json(json.dumps(document))

    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(document)


def test_a_state_has_sets_and_only_rows_that_mean_something() -> None:
    last = recording_of(LOSS).states[-1]

    assert last["isr"] == {1}
    assert last["acked"] == {1}
    assert last["remote_leo"] == {1: {0: -1, 1: -1}}
    assert last["known_leader"] == {}
    assert last["record_epoch"] == {1: 0, 2: 0}


def test_the_graph_around_a_trace_is_what_the_model_offers() -> None:
    loss = confirmed_in(LOSS)
    model, replayed = loss.problem.model, loss.finding.replayed
    graph = surroundings(replayed, model, distance=0)
    wider = surroundings(replayed, model)
    offered = sum(1 for state in set(replayed.states) for _ in model.successors(state))

    on_it = sorted(told["step"] for _, told in wider.nodes(data=True) if told["step"] >= 0)
    assert on_it == list(range(13))
    assert len(graph) == 13
    assert wider.number_of_edges() > offered
    taken = [told for _, _, told in wider.edges(data=True) if told["step"] >= 0]
    assert sorted(told["step"] for told in taken) == list(range(1, 13))
    with pytest.raises(TooLargeForGraph, match="more than 14 states within 1 steps"):
        surroundings(replayed, model, states_max=14)


def test_graphml_is_read_back() -> None:
    loss = confirmed_in(LOSS)
    text = FORMATS["graphml"](Converted(problem=loss.problem, finding=loss.finding))
    read = nx.parse_graphml(text)
    graph = surroundings(loss.finding.replayed, loss.problem.model)

    assert set(read.nodes) == set(graph.nodes)
    assert read.number_of_edges() == graph.number_of_edges()
    assert {told["step"] for _, told in read.nodes(data=True)} == {-1, *range(13)}


def test_dot_has_every_node_and_edge_and_nothing_escapes_its_quotes() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node('a"; b [label="x', step=0, distance=0)
    graph.add_edge('a"; b [label="x', 'a"; b [label="x', action='go\\"', step=1)
    nasty = to_dot(graph)

    assert '"a\\"; b [label=\\"x" -> "a\\"; b [label=\\"x" [label="go\\\\\\""' in nasty


def _document(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / name).read_text())  # type: ignore[no-any-return]
