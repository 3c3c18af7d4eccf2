"""`check --certificate` and `certify`: what they print, refuse, and leave behind."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.support.certificates import header_in, keys_in, put_digest, put_header, put_keys
from tests.support.commands import Commands
from tests.support.planted import COUNTER
from waterline.checker.analysis.certificate import writing
from waterline.checker.analysis.certificate.certifying import Question, _judge_part
from waterline.checker.analysis.certificate.header import HEADER, STATES
from waterline.checker.analysis.certificate.writing import write_certificate
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.search import search
from waterline.checker.user_models.loading import digest_of
from waterline.checker.user_models.start import start_of
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment

HERE = ("--engine", "local")
SMALL = (*HERE, "--records", 1, "--epochs", 1, "--restarts", 1, "--moves", 0)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run in a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def folder(cli: Commands) -> Path:
    """A certificate in the folder where commands are run."""
    code, _, err = cli("--protocol", "epoch", *SMALL, "--certificate", "certificate")
    assert code == 0
    assert err.endswith("judge it with waterline certify certificate\n")
    return Path("certificate")


def certified(cli: Commands, *more: object, folder: str = "certificate") -> tuple[int, str, str]:
    code, out, err = cli("certify", folder, *HERE, *more, name="waterline")
    return code, " ".join(out.split()), err


def test_a_verdict_is_certified_in_its_own_words(folder: Path, cli: Commands) -> None:
    _, shown, _ = cli("--protocol", "epoch", *SMALL, "--format", "json")
    code, out, err = certified(cli, "--jobs", 1)
    result = json.loads(shown)

    assert (code, err) == (0, "")
    assert "CERTIFIED epoch: HOLDS no_committed_loss, acknowledged_durable, " in out
    assert f"{result['distinct']} states in the set, within 2 replicas, 1 record" in out
    assert f"{result['distinct']} states and {result['generated'] - 1:,} steps; " in out
    assert f"restarts: {result['cut']['restarts']:,} cut" in out
    assert "Not certified (the header says NOT APPLICABLE): consumer_in_order" in out


def test_processes_find_the_same(folder: Path, cli: Commands) -> None:
    put_keys(folder, [key for number, key in enumerate(keys_in(folder)) if number != 500])
    alone, side_by_side = (certified(cli, "--jobs", jobs) for jobs in (1, 2))

    assert alone[0] == side_by_side[0] == 13
    assert alone[1].partition(" states and ")[0] == side_by_side[1].partition(" states and ")[0]


def test_what_fails_is_shown_as_states_and_a_step(folder: Path, cli: Commands) -> None:
    put_keys(folder, keys_in(folder)[:-1])
    code, out, _ = certified(cli, "--jobs", 1)

    assert code == 13
    assert "NOT CERTIFIED epoch: " in out
    assert " leads out of the set, taken in the state" in out
    assert "It leads to" in out
    assert "* changed in this step" in out


def test_a_claim_that_breaks_is_explained(cli: Commands) -> None:
    code, _, err = cli("--protocol", "hw", *HERE, "--moves", 0, "--certificate", "hw")
    header = header_in(Path("hw"))
    assert (code, header["claims"]["no_committed_loss"]["verdict"]) == (12, "violated")
    header["claims"]["no_committed_loss"] = {"verdict": "holds", "depth": None}
    put_header(Path("hw"), header)

    code, out, _ = certified(cli, folder="hw")

    assert "wrote a certificate of" in err
    assert code == 13
    assert "NOT CERTIFIED hw: a state breaks no_committed_loss" in out
    assert "was committed at offset 0" in out


def test_violated_claims_are_listed_and_not_certified(cli: Commands) -> None:
    claims = ("--invariant", "no_committed_loss", "--invariant", "log_matching")
    fewer = ("--moves", 0, "--records", 1, "--epochs", 1, *claims)
    cli("--protocol", "hw", *HERE, *fewer, "--certificate", "hw")
    code, out, _ = certified(cli, folder="hw")

    assert code == 0
    assert "CERTIFIED hw: HOLDS log_matching; " in out
    assert "Not certified (the header says VIOLATED after 12 steps): no_committed_loss" in out


def test_a_state_that_is_forged_is_shown_as_it_can_be(folder: Path, cli: Commands) -> None:
    put_keys(folder, [*keys_in(folder), b"\xff" * len(keys_in(folder)[0])])
    code, out, err = certified(cli, "--jobs", 1)

    assert (code, err) == (13, "")
    assert "NOT CERTIFIED epoch: a state has " in out
    assert "Its words are ffffffffffffffff " in out


def test_recovery_is_not_certified_and_said_so(cli: Commands) -> None:
    cli("--protocol", "kip320", *SMALL, "--recovery", "--certificate", "certificate")
    code, out, _ = certified(cli)

    assert code == 0
    assert "Not certified, because no set of states can show it: " in out


def test_a_condition_is_certified(cli: Commands) -> None:
    where = ("--where", "s.epoch > 1")
    cli("--protocol", "epoch", *SMALL, *where, "--certificate", "certificate")
    code, out, _ = certified(cli)

    assert code == 0
    assert "CERTIFIED epoch: HOLDS nowhere; " in out


def test_a_model_of_ones_own_is_certified_by_its_file(cli: Commands) -> None:
    Path("lock.py").write_text(start_of("lock"))
    cli("--model", "lock.py", *HERE, "--certificate", "certificate")
    unnamed = certified(cli)
    code, out, _ = certified(cli, "--model", "lock.py")
    Path("lock.py").write_text(start_of("lock") + "\n# other\n")
    other = certified(cli, "--model", "lock.py")

    assert (code, unnamed[0], other[0]) == (0, 2, 2)
    assert "CERTIFIED lock: HOLDS " in out
    assert "not loaded unasked" in unnamed[2]
    assert "another content" in other[2]


def test_a_claim_that_is_no_function_of_the_state_is_refused(cli: Commands) -> None:
    """It would hold as often as it is judged, and not the next time."""
    model = COUNTER.replace("return s.count <= 3", "return len_of_calls() < 1000")
    counting = "CALLS = []\n\ndef len_of_calls():\n    CALLS.append(1)\n    return len(CALLS)\n"
    Path("m.py").write_text(COUNTER)
    cli("--model", "m.py", *HERE, "--certificate", "certificate")
    Path("m.py").write_text(model + counting)
    header = header_in(Path("certificate"))
    header["problem"]["bounds"]["sha256"] = digest_of(model + counting)
    put_header(Path("certificate"), header)
    code, out, err = certified(cli, "--model", "m.py")

    assert (code, out) == (2, "")
    assert "len_of_calls cannot be compiled: `CALLS` is list" in err


def test_a_run_that_was_stopped_has_no_certificate(cli: Commands) -> None:
    stopped = ("--max-depth", 3, "--certificate", "certificate")
    code, _, err = cli("--protocol", "epoch", *SMALL, *stopped)

    assert code == 20
    assert "no certificate was written to certificate: the run was stopped by max-depth 3" in err
    assert not list(Path().iterdir())


def test_where_nothing_holds_there_is_no_certificate(cli: Commands) -> None:
    claim = ("--invariant", "no_committed_loss", "--certificate", "certificate")
    code, _, err = cli("--protocol", "hw", *HERE, "--moves", 0, *claim)

    assert code == 12
    assert "no claim about states or steps holds for sure" in err
    assert not list(Path().iterdir())


def test_a_certificate_is_written_whole_or_not_at_all(
    cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> str:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(writing, "digest_of", full)
    code, _, err = cli("--protocol", "epoch", *SMALL, "--certificate", "certificate")

    assert code == 2
    assert "No space left" in err
    assert not list(Path().iterdir())


@pytest.mark.parametrize("states", [1, 70, 5000])
def test_states_are_sorted_a_range_at_a_time(
    states: int, folder: Path, cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "RANGE_STATES", max(states, 70))
    monkeypatch.setattr(writing, "SAMPLES_A_RANGE", states)
    cli("--protocol", "epoch", *SMALL, "--certificate", "again")

    assert keys_in(Path("again")) == keys_in(folder) == sorted(keys_in(folder))


def test_states_that_are_on_disk_are_written_as_well(folder: Path) -> None:
    problem = problem_for("epoch", Environment(records=1, epochs=1, restarts=1, moves=0))
    choice = EngineChoice(name="local", threads=1, partitions=3)
    with closing(engine_for(problem, choice, memory_bytes=1)) as engine:
        result = search(problem, engine)
        write_certificate(engine, result, out=Path("again"))

    assert {level.on for level in result.levels} == {"local", "disk"}
    assert keys_in(Path("again")) == keys_in(folder)
    assert header_in(Path("again")) == header_in(folder)


def test_a_resumed_run_has_the_certificate_of_a_whole_one(folder: Path, cli: Commands) -> None:
    cli("--protocol", "epoch", *SMALL, "--run-dir", "kept", "--max-depth", 4)
    cli("--resume", "kept", *HERE, "--certificate", "again")

    assert keys_in(Path("again")) == keys_in(folder)


@pytest.mark.parametrize(
    ("given", "described"),
    [
        (("--certificate", "taken"), "taken is not empty"),
        (("--certificate", "file"), "file is a file"),
        (("--certificate", ""), "is no directory of this machine"),
        (("--certificate", "s3://bucket/c"), "is no directory of this machine"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_run(
    given: tuple[str, ...], described: str, cli: Commands
) -> None:
    Path("taken").mkdir()
    Path("taken", "mine").touch()
    Path("file").touch()
    code, out, err = cli("--protocol", "epoch", *SMALL, *given)

    assert (code, out) == (2, "")
    assert described in err
    assert err.count("\n") == 1


def damaged_states(folder: Path) -> None:
    (folder / STATES).write_bytes((folder / STATES).read_bytes()[:-9])


def no_parquet(folder: Path) -> None:
    (folder / STATES).write_bytes(b"no parquet")
    put_digest(folder)


def half_a_footer(folder: Path) -> None:
    damaged_states(folder)
    put_digest(folder)


def other_columns(folder: Path) -> None:
    parquet.write_table(pa.table({"state": ["a"], "more": [1]}), folder / STATES)
    put_digest(folder)


def nulls(folder: Path) -> None:
    kind = pa.binary(len(keys_in(folder)[0]))
    parquet.write_table(pa.table({"state": pa.array([None], kind)}), folder / STATES)
    put_digest(folder)


def with_header(**changed: Any) -> Any:
    return lambda folder: put_header(folder, header_in(folder) | changed)


def with_problem(**changed: Any) -> Any:
    def change(folder: Path) -> None:
        header = header_in(folder)
        put_header(folder, header | {"problem": header["problem"] | changed})

    return change


def with_text(text: str) -> Any:
    return lambda folder: (folder / HEADER).write_text(text)


def header_is_a_pipe(folder: Path) -> None:
    (folder / HEADER).unlink()
    os.mkfifo(folder / HEADER)


def states_are_a_pipe(folder: Path) -> None:
    (folder / STATES).unlink()
    os.mkfifo(folder / STATES)


BAD = {
    "states cut off": (damaged_states, "SHA-256"),
    "no Parquet": (no_parquet, "is damaged"),
    "half a footer": (half_a_footer, "is damaged"),
    "other columns": (other_columns, "other columns"),
    "nulls": (nulls, "other columns"),
    "no states": (lambda folder: (folder / STATES).unlink(), "cannot be read"),
    "no header": (lambda folder: (folder / HEADER).unlink(), "there is no certificate.json"),
    "a pipe for a header": (header_is_a_pipe, "is a pipe"),
    "a pipe for states": (states_are_a_pipe, "is a pipe"),
    "no JSON": (with_text("{"), "is no header"),
    "no object": (with_text("[]"), "is no header"),
    "nested": (with_text("[" * 100_000), "is no header"),
    "no UTF-8": (lambda folder: (folder / HEADER).write_bytes(b'{"format": "\xff"}'), "is no head"),
    "another format": (with_header(format="waterline-certificate/9"), "reads 'waterline-cert"),
    "another number of states": (with_header(states=7), "and the header says 7"),
    "no number of states": (with_header(states=-1), "is no header"),
    "an unknown key": (with_header(evil="x"), "is no header"),
    "an unknown verdict": (
        with_header(claims={"sane": {"verdict": "proved", "depth": 0}}),
        "is no",
    ),
    "other claims": (
        with_header(claims={"sane": {"verdict": "holds", "depth": None}}),
        "contradic",
    ),
    "an unknown model": (with_problem(model="kafka-tales"), "unknown model"),
    "an unknown version": (with_problem(protocol="raft"), "raft"),
    "bounds out of range": (with_problem(bounds={"replicas": 99}), "replicas"),
    "an unknown symmetry": (with_problem(symmetry="everything"), "symmetry"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_certificate_is_one_line(name: str, folder: Path, cli: Commands) -> None:
    spoil, described = BAD[name]
    spoil(folder)
    code, out, err = certified(cli, "--jobs", 1)

    assert (code, out) == (2, "")
    assert described in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_no_certificate_at_all_is_one_line(cli: Commands) -> None:
    code, out, err = certified(cli, folder="nothing")

    assert (code, out) == (2, "")
    assert "nothing holds no certificate" in err


@pytest.mark.parametrize(
    "options", [("--engine", "spark", "--jobs", 2), ("--engine", "local", "--master", "local[2]")]
)
def test_an_option_of_the_other_engine_is_refused(
    options: tuple[object, ...], folder: Path, cli: Commands
) -> None:
    code, _, err = cli("certify", folder, *options, name="waterline")

    assert code == 2
    assert "leave it out" in err


def test_a_claim_without_a_subject_cannot_be_said_to_hold(folder: Path, cli: Commands) -> None:
    header = header_in(folder)
    header["claims"]["consumer_in_order"] = {"verdict": "holds", "depth": None}
    put_header(folder, header)
    code, _, err = certified(cli)

    assert code == 2
    assert "consumer_in_order holds; epoch has nothing that it is about" in err


def test_a_machine_that_does_not_see_the_folder_says_so(tmp_path: Path) -> None:
    """A task of Spark maps the keys from the certificate's folder."""
    question = Question(problem_for("hw", Environment()), ())

    with pytest.raises(BadEnvironment, match=f"has no {tmp_path}/keys; put the certificate where"):
        _judge_part(question, tmp_path / "keys", 8, (0, 8))
