"""What is typed is answered, and nothing that is typed ends it but q."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.walks import LOSS, said, walk_of
from waterline.checker.user_models.interactive.session import Session
from waterline.counterexamples import read_trace


@pytest.fixture
def session() -> Session:
    return Session(walk_of("hw"))


def test_a_number_takes_the_step_of_the_list(session: Session) -> None:
    listed = said(session, "")
    answer = said(session, "2")

    assert " 2." in listed or "2.   SendFetch(follower=1)" in listed
    assert answer.startswith("1. SendFetch(follower=1)  r1 sends r0 a fetch from offset 0.\n")
    assert "After step 1" in answer


def test_undo_and_the_beginning(session: Session) -> None:
    for line in ("Produce", "SendFetch"):
        said(session, line)

    assert said(session, "u").startswith("undone: 1 step\nAfter step 1")
    said(session, "SendFetch")
    assert said(session, "g").startswith("Initial state")
    assert said(session, "u").startswith("undone: 0 steps")


def test_a_claim_that_breaks_is_told_by_itself() -> None:
    session = Session(walk_of("hw", *LOSS[:-1]))
    answer = said(session, LOSS[-1])
    claims = said(session, "c")

    assert "BROKEN no_committed_loss: m1 was committed at offset 0; the log of leader r1" in answer
    assert "BROKEN acknowledged_somewhere" not in answer
    assert "acknowledged_somewhere  BROKEN (not for the first time)" in claims
    assert "sane                    holds here" in claims


def test_what_is_sought_is_found_in_what_was_and_what_may_be(session: Session) -> None:
    said(session, "Produce")
    found = said(session, "/M1")

    assert found.startswith("1. Produce(leader=0)  A producer's record m1")
    assert "3.   ShrinkIsr(leader=0, follower=1)" in found
    assert "SendFetch" not in found
    assert said(session, "/no such thing").strip() == "nothing is told of no such thing"


def test_the_full_state_has_every_field(session: Session) -> None:
    shown = said(session, "s")

    assert "s.leo" in shown
    assert "[0, 0]" in shown
    assert "Log end offset: where the next record goes." in shown
    assert all(f"s.{field.name}" in shown for field in session.walk.model.layout.fields)


def test_a_condition_is_watched_after_each_step(session: Session) -> None:
    assert "where s.leo[0] > 0: not true (s.leo[0] is 0)" in said(session, "where s.leo[0] > 0")
    assert "where s.leo[0] > 0: true (s.leo[0] is 1)" in said(session, "Produce")
    assert "no condition" in said(session, "where")
    assert "where" not in said(session, "l")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("99", "99 is no step of the list; there are 1 to "),
        ("where s.leos[0]", "column 3: the state has no field 'leos'; did you mean leo?"),
        ("expect r1 LO 1", "expect r1 LO: did you mean LEO?"),
        ("expect", "expect what?"),
        ("u x", "u x: x is no number"),
        ("g 1", "the initial states are 0 to 0"),
        ("w", "w FILE saves the steps"),
        ("w 'x", "No closing quotation"),
        ("w trace.json sane", "sane does not break here for the first time"),
        ("w /no/such/folder/x.json", "cannot be written"),
        ("/", "write it behind"),
        ("\x1b[2J", "is no step"),
    ],
)
def test_what_means_nothing_is_told_and_changes_nothing(
    session: Session, line: str, answer: str
) -> None:
    assert answer in said(session, line)
    assert session.walk.moments == []
    assert not session.answer(line).ended


def test_the_steps_are_saved_against_the_claim_that_breaks(tmp_path: Path) -> None:
    session, path = Session(walk_of("hw", *LOSS)), tmp_path / "loss.json"
    answer = said(session, f"w {path} acknowledged_durable")

    assert answer.strip() == f"wrote {path}: 12 steps, against acknowledged_durable"
    assert read_trace(path).invariant == "acknowledged_durable"


def test_q_ends_it(session: Session) -> None:
    assert session.answer("q").ended


def test_from_a_pipe_each_line_is_shown_before_its_answer(
    cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = b"Produce\r\nexpect r0 LEO 1\n\x1b[2J\xff\nq\nProduce\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    code, out, err = cli("run", "--protocol", "hw", "--records", 1, name="waterline")

    assert (code, err) == (0, "")
    headline = "hw (Kafka 0.10): 2 replicas, 1 record, epochs 0 to 2, up to 2 crashes"
    assert out.startswith(f"{headline}\nreplicas 2, records 1, ")
    assert "\nInitial state\n" in out
    assert "\n> Produce\n1. Produce(leader=0)  A producer's record m1" in out
    assert "\n> expect r0 LEO 1\nas expected\n> \\x1b[2J\\xff\n" in out
    assert out.endswith("\n> q\n")
    assert "\x1b" not in out


def test_an_input_that_is_closed_ends_it(cli: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `<&-` has it: Python then has no standard input at all."""
    monkeypatch.setattr("sys.stdin", None)
    code, out, err = cli("run", "--protocol", "hw", "--records", 1, name="waterline")

    assert (code, err) == (0, "")
    assert "SendFetch" in out


def test_a_pipe_that_ends_ends_it(cli: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Produce")))
    code, out, _ = cli("run", "--protocol", "hw", "--records", 1, name="waterline")

    assert code == 0
    assert "After step 1" in out


def test_on_a_terminal_it_asks_until_ctrl_d() -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", "from waterline.checker.cli.cli import main; main()"]
    run = subprocess.Popen(
        [*command, "run", "--protocol", "hw", "--records", "1"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "dumb"},
        start_new_session=True,
    )
    os.close(theirs)
    shown = ""
    try:
        for wanted, typed in (("\n> ", b"Prod\n"), ("After step 1", b"\x04")):
            while wanted not in shown:
                shown += os.read(ours, 65536).decode()
            while not shown.endswith("> "):
                shown += os.read(ours, 65536).decode()
            os.write(ours, typed)
        code = run.wait(timeout=20)
    finally:
        run.kill()
        run.wait()
        os.close(ours)

    assert code == 0
    assert "1. Produce(leader=0)" in shown
