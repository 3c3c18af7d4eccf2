from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waterline.counterexamples import (
    BadTrace,
    Trace,
    TraceStep,
    from_json,
    read_trace,
    to_json,
    write_trace,
)
from waterline.counterexamples.named_file import BadFile
from waterline.counterexamples.trace_file import STEPS_MAX

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,20}", fullmatch=True)
NUMBERS = st.integers(-(2**63) + 1, 2**63 - 1)
STEPS = st.builds(
    lambda action, arguments: TraceStep(action, tuple(arguments.items())),
    NAMES,
    st.dictionaries(NAMES, NUMBERS, max_size=3),
)
TRACES = st.builds(
    Trace,
    model=NAMES,
    version=NAMES,
    environment=st.dictionaries(NAMES, st.booleans() | NUMBERS | NAMES, max_size=4),
    invariant=NAMES,
    initial=st.integers(0, 2**63 - 1),
    steps=st.lists(STEPS, max_size=5).map(tuple),
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def document(**changed: object) -> dict[str, object]:
    return {
        "format": "waterline-trace/1",
        "model": "kafka-message",
        "version": "hw",
        "environment": {"replicas": 2},
        "invariant": "no_committed_loss",
        "initial": 0,
        "steps": [{"action": "Produce", "arguments": {"leader": 0}}],
    } | changed


@settings(max_examples=30)
@given(TRACES)
def test_a_trace_survives_being_written(trace: Trace) -> None:
    assert from_json(to_json(trace)) == trace


def test_the_same_trace_gives_the_same_bytes(loss: Trace) -> None:
    reordered = dict(reversed(loss.environment.items()))
    text = to_json(loss)

    assert to_json(dataclasses.replace(loss, environment=reordered)) == text
    assert text.isascii()
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")


def test_a_step_is_a_line(loss: Trace) -> None:
    lines = to_json(loss).splitlines()

    assert '    {"action": "Produce", "arguments": {"leader": 0}},' in lines
    assert list(json.loads(to_json(loss))) == list(document())


def test_a_trace_without_steps_is_one(loss: Trace) -> None:
    empty = dataclasses.replace(loss, steps=())

    assert from_json(to_json(empty)) == empty


def assert_read_or_refused(content: dict[str, object]) -> None:
    message = ""
    try:
        from_json(json.dumps(content))
    except BadTrace as problem:
        message = str(problem)

    assert len(message.splitlines()) <= 1


@given(VALUES)
def test_no_json_value_raises_anything_but_bad_trace(value: object) -> None:
    with pytest.raises(BadTrace):
        from_json(json.dumps(value))


@given(st.text())
def test_no_text_raises_anything_but_bad_trace(text: str) -> None:
    with pytest.raises(BadTrace):
        from_json(text)


@given(st.sampled_from(list(document())), VALUES)
def test_no_member_raises_anything_but_bad_trace(name: str, value: object) -> None:
    assert_read_or_refused(document(**{name: value}))


@given(st.sampled_from(["action", "arguments"]), VALUES)
def test_no_member_of_a_step_raises_anything_but_bad_trace(name: str, value: object) -> None:
    step = {"action": "Produce", "arguments": {"leader": 0}, name: value}
    assert_read_or_refused(document(steps=[step]))


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"format": "waterline-trace/2"}, "format is 'waterline-trace/2'"),
        ({"host": "here"}, r"a trace has \['host'\], which is unknown"),
        ({"initial": True}, "initial is True; it must be a whole number"),
        ({"initial": -1}, "initial is -1"),
        ({"initial": 2**64}, "at most 64 bits"),
        ({"invariant": "a b"}, "invariant is 'a b'; it must be a name"),
        ({"version": "\x1b[2J"}, r"version is '\\x1b\[2J'"),
        ({"environment": {"acks": None}}, "environment.acks is None"),
        ({"environment": {"acks": "\n"}}, "environment.acks is"),
        ({"environment": []}, r"environment is \[\]"),
        ({"steps": {}}, r"steps is \{\}; it must be a list"),
        ({"steps": [7]}, r"steps\[0\] is 7; it must be an object with action, arguments"),
        ({"steps": [{"action": "Produce"}]}, r"steps\[0\] lacks arguments"),
        ({"steps": [{"action": 7, "arguments": {}}]}, r"steps\[0\].action is 7"),
        ({"steps": [{"action": "A", "arguments": {"r": 1.0}}]}, r"steps\[0\].arguments.r is 1.0"),
        (
            {"steps": [{"action": "A", "arguments": {"r": False}}]},
            r"steps\[0\].arguments.r is False",
        ),
    ],
)
def test_the_message_names_thing_and_value(changed: dict[str, object], complaint: str) -> None:
    with pytest.raises(BadTrace, match=complaint):
        from_json(json.dumps(document(**changed)))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not JSON"),
        ('{"format": NaN}', "NaN is no JSON"),
        ('{"format": 1, "format": 1}', "a name twice"),
        ("[" * 100_000, "nested too deeply"),
        ("[" * 33 + "]" * 33, "nested too deeply"),
        ("9" * 5_000, "a number of 5000 digits"),
    ],
)
def test_what_is_no_json_is_no_trace(text: str, complaint: str) -> None:
    with pytest.raises(BadTrace, match=complaint):
        from_json(text)


def test_absurd_sizes_are_refused(monkeypatch: pytest.MonkeyPatch, loss: Trace) -> None:
    text = to_json(loss)
    monkeypatch.setattr("waterline.counterexamples.trace.STEPS_MAX", 3)
    with pytest.raises(BadTrace, match="steps are 12; at most 3"):
        from_json(text)
    monkeypatch.setattr("waterline.counterexamples.trace_file.BYTES_MAX", 10)
    with pytest.raises(BadTrace, match="at most 10"):
        from_json(text)


def test_a_written_trace_is_read_back(tmp_path: Path, loss: Trace) -> None:
    path = tmp_path / "loss.json"
    write_trace(path, loss)
    write_trace(path, loss)

    assert read_trace(path) == loss
    assert [entry.name for entry in tmp_path.iterdir()] == ["loss.json"]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, loss: Trace) -> None:
    path = tmp_path / "taken"
    path.mkdir()
    with pytest.raises(BadFile, match="taken is a folder"):
        write_trace(path, loss)

    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\x80\x04K\x01.", b"import os"])
def test_a_file_that_is_no_trace_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(BadTrace, match="other: not a trace"):
        read_trace(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadTrace, match="missing cannot be read: No such file"):
        read_trace(tmp_path / "missing")
    with pytest.raises(BadTrace, match="is a folder; name a regular file"):
        read_trace(tmp_path)


def test_a_file_too_large_for_a_trace_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large"
    path.write_bytes(b" " * 2000)
    monkeypatch.setattr("waterline.counterexamples.trace_file.BYTES_MAX", 1000)

    with pytest.raises(BadTrace, match="larger than 1,000 bytes"):
        read_trace(path)


def test_a_trace_that_could_not_be_shown_in_time_is_refused_with_its_length(
    loss: Trace, tmp_path: Path
) -> None:
    path = tmp_path / "long.json"
    step = loss.steps[0]
    write_trace(path, dataclasses.replace(loss, steps=(step,) * (STEPS_MAX + 1)))

    with pytest.raises(BadTrace, match=r"long.json: a trace of 100,001 steps; at most 100,000"):
        read_trace(path)
