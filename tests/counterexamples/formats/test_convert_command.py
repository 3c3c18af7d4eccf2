"""`waterline convert`: every format from the command line, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.confirmed_traces import FOLDER
from waterline.checker.cli.convert import convert_command
from waterline.checker.report.pages.formats import FORMATS
from waterline.counterexamples import BadTrace, TraceError

LOSS = FOLDER / "hw-no_committed_loss-2r2n2e.json"


def converted(*arguments: object) -> str:
    done = CliRunner().invoke(convert_command, [str(a) for a in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_is_the_same_in_a_file_and_in_a_pipe(name: str, tmp_path: Path) -> None:
    target = tmp_path / "converted"
    printed = converted(LOSS, "--to", name)
    converted(LOSS, "--to", name, "--output", target)

    assert printed
    assert target.read_text(encoding="utf-8") == printed


def test_json_is_the_file_itself_also_by_way_of_itf(tmp_path: Path) -> None:
    itf = tmp_path / "trace.itf.json"
    converted(LOSS, "--to", "itf", "--output", itf)

    assert converted(LOSS, "--to", "json") == LOSS.read_text()
    assert converted(itf, "--to", "json") == LOSS.read_text()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{}", "not a trace: format is None"),
        ('{"#meta": {}}', "without waterline"),
        ("\x1b[2J", "not JSON"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(BadTrace, match=complaint):
        converted(path, "--to", "itf")


def test_a_trace_that_shows_nothing_is_not_converted(tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    document = json.loads(LOSS.read_text())
    path.write_text(json.dumps(document | {"steps": document["steps"][:3]}))
    with pytest.raises(TraceError, match="holds after step 3"):
        converted(path, "--to", "itf")
