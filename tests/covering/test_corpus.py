"""`waterline paths`: a corpus that another program can replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import waterline
import waterline.testing
from tests.counterexamples.formats.test_own_values import BALLOT
from tests.support.commands import Commands
from tests.support.live import lease_text, live
from tests.support.own import EXAMPLES, example
from waterline.counterexamples import replay
from waterline.counterexamples.formats import from_itf


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)


CORPUS = EXAMPLES / "drivers" / "lease.paths.jsonl"
LEASE = str(EXAMPLES / "fenced_lease.py")


def written(run: Commands, tmp_path: Path, *options: str) -> list[dict[str, Any]]:
    file = tmp_path / "corpus.jsonl"
    code, _, err = run("paths", *options, "--output", file, name="waterline")
    assert code == 0, err
    return [json.loads(line) for line in file.read_text().splitlines()]


def require_replays(
    run: Commands, tmp_path: Path, name: str, *options: str, **bounds: int
) -> tuple[int, int]:
    """Replay an example's corpus in plain Python; the number of its paths and of their steps.

    Steps come from the compiled graph, fields from the interpreted rules.
    """
    file = EXAMPLES / f"{name}.py"
    given = [text for bound, value in bounds.items() for text in ("--set", f"{bound}={value}")]
    head, *paths = written(run, tmp_path, "--model", str(file), *given, *options)
    model = live(file, **bounds)
    actions = {action.name: action.function for action in model.actions}
    starts = {in_json(state): state for state in waterline.initials(model)}
    for path in paths:
        fields = path["initial"]
        state = starts[json.dumps(fields)]
        for step in path["steps"]:
            state = waterline.step(state, actions[step["action"]], **step["arguments"])
            fields |= step["after"]
            assert in_json(state) == json.dumps(fields)

    assert head["protocol"] == name
    return len(paths), sum(len(path["steps"]) for path in paths)


def in_json(state: waterline.State) -> str:
    return json.dumps(waterline.testing._fields(state))


LARGE = {"abd_register", "kraft_log", "raft"}
"""Examples with more than 300,000 transitions: tests/verify/covering/test_replays.py."""


@pytest.mark.parametrize("name", sorted({file.stem for file in EXAMPLES.glob("*.py")} - LARGE))
def test_every_transition_of_an_example_replays_in_plain_python(
    run: Commands, tmp_path: Path, name: str
) -> None:
    paths, steps = require_replays(run, tmp_path, name)

    assert steps >= paths > 0


@pytest.mark.parametrize("name", sorted(LARGE))
def test_every_call_of_a_large_example_replays_in_plain_python(
    run: Commands, tmp_path: Path, name: str
) -> None:
    paths, steps = require_replays(run, tmp_path, name, "--cover", "calls")

    assert steps >= paths > 0


def test_words_none_sets_and_structs_are_data(run: Commands, tmp_path: Path) -> None:
    _, *paths = written(
        run, tmp_path, "--model", str(EXAMPLES / "two_phase_commit.py"), "--cover", "calls"
    )

    first = paths[0]["initial"]
    assert first["tm_state"] == "init"
    assert all(state == "working" for state in first["rm_state"])


def test_a_set_of_structs_is_a_list_of_their_parts(run: Commands, tmp_path: Path) -> None:
    (tmp_path / "ballots.py").write_text(BALLOT)

    _, path = written(run, tmp_path, "--model", str(tmp_path / "ballots.py"), "--cover", "states")[
        :2
    ]

    [step] = path["steps"]
    assert step["arguments"]["word"] == "yes"
    assert {"to": None, "term": 2} in step["after"]["seen"]


def test_refused_calls_are_those_that_a_when_forbids(run: Commands, tmp_path: Path) -> None:
    model = live(EXAMPLES / "fenced_lease.py", leases=2)
    actions = {action.name: action.function for action in model.actions}

    _, *paths = written(
        run, tmp_path, "--model", LEASE, "--set", "leases=2", "--cover", "calls", "--refused"
    )

    for path in paths:
        state = waterline.initial(model)
        names = tuple(actions)
        assert path["refused"] == as_data(waterline.testing.requests_refused(state, names))
        for step in path["steps"]:
            state = waterline.step(state, actions[step["action"]], **step["arguments"])
            assert step["refused"] == as_data(waterline.testing.requests_refused(state, names))


def as_data(calls: tuple[waterline.testing.Call, ...]) -> list[dict[str, Any]]:
    return [{"action": call.action, "arguments": call.arguments} for call in calls]


def test_itf_is_a_file_for_each_path_and_leaves_none_of_an_earlier_corpus(
    run: Commands, tmp_path: Path
) -> None:
    folder = tmp_path / "paths"
    asked = ["paths", "--model", LEASE, "--set", "leases=2", "--to", "itf", "--output", folder]
    covers = [["--cover", "states"], ["--cover", "calls"]]

    codes = [run(*asked, *cover, name="waterline")[0] for cover in covers]
    traces = [from_itf(file.read_text()) for file in sorted(folder.iterdir())]
    same, old = (run(*asked, *cover, "--check", name="waterline")[0] for cover in covers[::-1])

    assert [file.name for file in sorted(folder.iterdir())] == [
        f"path_0000{number}.itf.json" for number in range(1, 5)
    ]
    assert (codes, same, old) == ([0, 0], 0, 3)
    for trace in traces:
        assert len(replay(trace, example("fenced_lease", leases=2).model).moments) == len(
            trace.steps
        )


def test_the_corpus_of_the_drivers_is_the_tutorials(run: Commands, tmp_path: Path) -> None:
    (tmp_path / "lease.py").write_text(lease_text())
    options = ["--model", tmp_path / "lease.py", "--set", "fenced=true", "--refused", "--check"]

    code, _, err = run("paths", *options, "--output", CORPUS, name="waterline")

    assert (code, "120 transitions: 44 paths, 310 steps" in " ".join(err.split())) == (0, True)


def test_kafkas_paths_are_real_within_bounds(run: Commands, tmp_path: Path) -> None:
    small = "--protocol hw --records 1 --epochs 1 --restarts 0 --moves 0 --cover calls"

    head, *paths = written(run, tmp_path, *small.split())

    assert head["protocol"] == "hw"
    assert {step["action"] for path in paths for step in path["steps"]} >= {"Produce", "SendFetch"}


def test_check_compares_and_says_which_file_is_old(run: Commands, tmp_path: Path) -> None:
    file = tmp_path / "lease.py"
    file.write_text(lease_text())
    corpus = tmp_path / "corpus.jsonl"
    asked = ["paths", "--model", str(file), "--output", str(corpus)]

    missing = run(*asked, "--check", name="waterline")
    assert run(*asked, name="waterline")[0] == 0
    same = run(*asked, "--check", name="waterline")
    file.write_text(lease_text().replace("when(s.holder is None)", "when(s.granted < 2)"))
    old = run(*asked, "--check", name="waterline")

    assert (missing[0], same[0], old[0]) == (2, 0, 3)
    assert "cannot be read" in missing[2]
    assert "covers the model" in same[2]
    assert "is old: the model or an option has changed" in old[2]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--up-to", "clients"], "fenced_lease has no sort 'clients'; did you mean client?"),
        (["--longest", "0"], "0 is not in the range"),
        (["--symmetry", "client"], "so paths has no --symmetry; --up-to client covers one of"),
        (["--optimal", "--cover", "states"], "the fewest steps are known for all transitions"),
        (["--to", "itf", "--refused"], "--refused is for --to jsonl; ITF has no place"),
        (["--to", "itf", "--output", LEASE], "fenced_lease.py cannot be made: File exists"),
        (["--output", str(EXAMPLES)], "examples is a folder"),
        (["--output", str(EXAMPLES / "none" / "x")], "cannot be written"),
    ],
)
def test_a_wrong_option_is_one_line(
    run: Commands, tmp_path: Path, options: list[str], error: str
) -> None:
    code, _, err = run(
        "paths", "--model", LEASE, "--output", tmp_path / "x", *options, name="waterline"
    )

    assert code == 2
    assert error in " ".join(err.split())


DRAWS = '''
from waterline import Fields, Protocol, Set, when


class Urn(Fields):
    """Numbered balls."""

    left = Set(of=12)


def draws(state: type[Urn]) -> Protocol:
    """The last ball is drawn first."""
    return Protocol(state=state, actions=[draw], initial=full)


def full(s: Urn) -> None:
    """Two balls, of one and of two digits."""
    s.left = {2, 11}


def draw(s: Urn) -> None:
    """A ball is drawn."""
    when(11 in s.left)
    s.left.discard(11)
'''


def test_a_set_that_is_there_at_first_is_read_back(run: Commands, tmp_path: Path) -> None:
    (tmp_path / "draws.py").write_text(DRAWS)
    model = live(tmp_path / "draws.py")

    _, path = written(run, tmp_path, "--model", str(tmp_path / "draws.py"))
    [read] = waterline.testing.read_corpus(model, tmp_path / "corpus.jsonl")

    assert path["initial"] == {"left": [2, 11]}
    assert read.initial == waterline.initial(model)
