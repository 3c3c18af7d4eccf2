"""A matrix that is asked to end gives what it knows, and says that this is not all."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.commands import Commands
from waterline.checker.batch.question import Answer, Question, unexplored_answer
from waterline.checker.cli.shared.progress import Progress

COMMAND = [sys.executable, "-c", "from waterline.checker.cli.cli import main; main()"]
KRAFT_4_0 = """\
process.roles=broker,controller
metadata.version=4.0-IV3
default.replication.factor=3
min.insync.replicas=2
"""


def _usual_interrupt() -> None:
    """A test runner in the background may ignore the signal, and its children with it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("asked", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_a_table_of_what_is_known_and_exits_20(asked: int, tmp_path: Path) -> None:
    """With three replicas `none` is explored at once, and `zombie` in no time that a test has."""
    path = tmp_path / "server.properties"
    path.write_text(KRAFT_4_0)
    claim = "no_divergence_below_hw"
    options = [
        "--config",
        path,
        "--only",
        "faults=none,zombie",
        "--invariant",
        claim,
        "--details",
        "--no-cache",
    ]
    process = subprocess.Popen(
        [*COMMAND, "matrix", *map(str, options), "--json", str(tmp_path / "ended.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_usual_interrupt,  # noqa: PLW1509 - no threads run yet
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "1 of 2 cells explored; now zombie" in line:
            break
    process.send_signal(asked)
    out, _ = process.communicate(timeout=60)

    assert process.returncode == 20
    assert "none     holds" in out
    assert "zombie   ?" in out
    assert "Interrupted; this is what is known." in " ".join(out.split())
    assert (tmp_path / "ended.json").exists()


@pytest.mark.parametrize(
    "phase", ["0 of 2 remedies", "1 of 2 remedies", "looking for what is like it"]
)
def test_a_matrix_that_is_asked_to_end_while_changes_are_tried_is_interrupted(
    phase: str, cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "server.properties"
    path.write_text(KRAFT_4_0.replace("replicas=2", "replicas=1").replace("factor=3", "factor=2"))
    report, asked = Progress.report, []

    def report_and_ask(self: Progress, line: str) -> None:
        report(self, line)
        if not asked and re.search(phase, line):
            asked.append(line)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Progress, "report", report_and_ask)
    given = ["--config", path, "--records", 1, "--only", "faults=power loss"]
    given += ["--details", "--no-cache"]
    written = tmp_path / "ended.json"
    for _ in range(3):
        asked.clear()
        code, out, _ = cli("matrix", *given, "--threads", 1, "--json", written, name="waterline")
        ended = json.loads(written.read_text())
        if code == 20:
            break
        assert ended["complete"], "only what had ended before the signal was heard is whole"

    assert code == 20
    assert (ended["complete"], ended["interrupted"]) == (False, True)
    assert "Interrupted; this is what is known." in " ".join(out.split())
    assert (
        "No setting or upgrade that we tried prevents power loss" not in out or "looking" in phase
    )


def test_an_interrupt_ends_all_classes_of_topics_at_once(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next class was begun, and a second Ctrl-C needed."""
    asked: list[str] = []

    def interrupted(questions: Sequence[Question], *_: object, **__: object) -> list[Answer]:
        asked.extend(question.name for question in questions)
        return list(map(unexplored_answer, questions))

    monkeypatch.setattr("waterline.checker.batch.in_memory.explore_in_threads", interrupted)
    path = tmp_path / "topics.txt"
    line = "Topic: {0}\tPartitionCount: 1\tReplicationFactor: {1}\tConfigs: \n"
    path.write_text(line.format("one", 1) + line.format("two", 2))
    given = ("--config", path, "--kafka-version", "4.0:kraft", "--only", "faults=one crash")
    code, out, _ = cli("matrix", *given, name="waterline")

    assert code == 20
    assert asked == ["one crash"]
    assert " ".join(out.split()).count("1 fault not explored") == 2
    assert "Checked" not in out
