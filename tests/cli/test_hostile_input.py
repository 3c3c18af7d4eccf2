"""Files, names, numbers and screens that nobody expects, and commands that bear them."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.commands import Commands
from waterline.checker.cli.shared.exit_codes import READER_GONE
from waterline.checker.cli.shared.screen import Screen
from waterline.checker.problem.wording import printable

ENTRY = '[[expect]]\nname="{name}"\nprotocol="epoch"\nengine="local"\n{more}\n'
VERDICTS = 'verdicts={no_committed_loss="holds"}'
NASTY = "a\\u001b[31mred\\u0000\\u0007\\u202e[/x] [bold]"
"""As TOML has it: a colour, a NUL, a bell, text that turns round, and what looks like markup."""


def gate_file(folder: Path, more: str = "", name: str = "n", verdicts: str = VERDICTS) -> Path:
    path = folder / "gate.toml"
    path.write_text(ENTRY.format(name=name, more=f"{more}\n{verdicts}"))
    return path


def one_line(told: tuple[int, str, str]) -> str:
    """The error, seen to be one line with exit code 2."""
    code, out, err = told
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err


@pytest.mark.parametrize("command", [("gate",), ("view",), ("matrix", "--config")])
def test_pipes_devices_and_folders_are_not_read(
    command: tuple[str, ...], cli: Commands, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    assert "pipe is a pipe; name" in one_line(cli(*command, pipe, name="waterline"))
    assert "is a device; name" in one_line(cli(*command, "/dev/zero", name="waterline"))
    folder = "has no file that ends in" if "matrix" in command else "is a folder; name"
    assert folder in one_line(cli(*command, tmp_path, name="waterline"))


def test_a_large_gate_file_is_not_read_to_its_end(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(1 << 40)

    assert "larger than 1,048,576 bytes" in one_line(cli("gate", path, name="waterline"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = " + "[" * 100_000, "nested too deeply"),
        (ENTRY.format(name="n", more=f"records{'.a' * 5000} = 1\n{VERDICTS}"), "nested too deeply"),
        (ENTRY.format(name="n", more=f"environment{'.a' * 5000} = 1"), "nested too deeply"),
        (ENTRY.format(name="n", more="environment = []"), "environment is []; known: documented"),
        (ENTRY.format(name="n", more="symmetry = {}"), "symmetry is {}; it must be text"),
        (ENTRY.format(name="n", more="grain = [1]"), "grain is [1]; known: message"),
        (ENTRY.format(name="n", more=f"engine = 'tlc'\n{VERDICTS}").replace('engine="local"\n', ""),
         "engine is 'tlc'; known: spark, local"),
        (ENTRY.format(name="n", more="verdicts = { sane = [] }"), "sane is []; known: holds"),
        (f"x = {'9' * 5000}", "is no TOML"),
    ],
    ids=range(9),
)  # fmt: skip
def test_a_gate_file_of_any_nesting_and_types_is_one_line(
    text: str, says: str, cli: Commands, tmp_path: Path
) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(text)

    assert says in one_line(cli("gate", path, name="waterline"))


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "1e400", "0", "-1"])
def test_a_time_that_never_ends_is_none(seconds: str, cli: Commands, tmp_path: Path) -> None:
    gate = gate_file(tmp_path, f"max-time = {seconds}")

    says = "is no number of seconds; it must be more than 0"
    assert says in one_line(cli("--protocol", "hw", f"--max-time={seconds}"))
    assert says in one_line(cli("gate", gate, name="waterline"))


@pytest.mark.parametrize("option", ["threads = 5000", "partitions = 0", "master = 'nowhere'"])
def test_a_gate_takes_no_value_that_check_refuses(
    option: str, cli: Commands, tmp_path: Path
) -> None:
    name, _, value = option.partition(" = ")

    assert name in one_line(cli("gate", gate_file(tmp_path, option), name="waterline"))
    assert name in one_line(cli("--protocol", "hw", f"--{name}", value.strip("'")))


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("check", "--protocol", "epoch"), "--graph"),
        (("matrix",), "--json"),
        (("matrix",), "--csv"),
        (("matrix",), "--html"),
        (("matrix",), "--svg"),
        (("scenarios", "--run"), "--json"),
        (("scenarios", "--run"), "--markdown"),
        (("gate", "GATE"), "--junit"),
    ],
)
def test_only_regular_files_are_written_over(
    command: tuple[str, ...], option: str, cli: Commands, tmp_path: Path
) -> None:
    gate = str(gate_file(tmp_path))
    arguments = [gate if part == "GATE" else part for part in command]
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(gate)
    before = Path(gate).read_text()

    for path, kind in ((pipe, "a pipe"), (link, "a symbolic link"), ("/dev/null", "a device")):
        err = one_line(cli(*arguments, option, path, name="waterline"))
        assert f"'{option}': {path} is {kind}; name a regular file" in err
    assert Path(gate).read_text() == before
    assert pipe.is_fifo()
    assert link.is_symlink()


def test_two_options_do_not_write_one_file(cli: Commands, tmp_path: Path) -> None:
    both = ("--json", tmp_path / "a", "--csv", tmp_path / "." / "a")

    err = one_line(cli("matrix", *both, name="waterline"))
    assert "a is what --json writes; name another file" in err


def test_a_full_disk_keeps_back_no_verdict_and_leaves_no_file(
    cli: Commands, small_disk: Path, tmp_path: Path
) -> None:
    (small_disk / "filler").write_bytes(bytes(560 << 10))
    graph = small_disk / "space.graphml"
    few = ("--engine", "local", "--protocol", "epoch", "--restarts", 0)
    code, out, err = cli(*few, "--graph", graph)

    assert code == 2
    assert "HOLDS" in out
    assert f"{graph} cannot be written: No space left on device; free room" in err
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_trace_that_cannot_be_written_keeps_back_no_other(cli: Commands, tmp_path: Path) -> None:
    taken = tmp_path / "hw-no_committed_loss-2r2n2e.json"
    os.mkfifo(taken)
    code, out, err = cli("--protocol", "hw", "--engine", "local", "--trace-dir", tmp_path)

    assert code == 2
    assert "VIOLATED no_committed_loss" in out
    assert f"error: {taken} is a pipe; name a regular file" in err
    assert taken.is_fifo()
    assert len(list(tmp_path.glob("hw-*.json"))) == 11


def test_names_from_a_file_do_nothing_to_the_screen_or_to_xml(
    cli: Commands, tmp_path: Path
) -> None:
    junit = tmp_path / "junit.xml"
    gate = gate_file(tmp_path, name=NASTY)
    code, out, err = cli("gate", gate, "--no-cache", "--junit", junit, name="waterline")
    [case] = ET.parse(junit).getroot().iter("testcase")

    shown = "a\\x1b[31mred\\x00\\x07\\u202e[/x] [bold]"
    assert code == 0
    assert case.attrib["name"] == shown
    for text in (out, err):
        assert shown in text.replace("\n", "")
        assert all(c.isprintable() or c == "\n" for c in text)


def test_a_configuration_with_control_characters_is_refused(cli: Commands, tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("process.roles=\\u001b[31mbroker\nmetadata.version=4.0\n")

    err = one_line(cli("matrix", "--config", path, name="waterline"))
    assert "process.roles is '\\x1b[31mbroker'; it has control characters" in err


def test_a_path_is_told_as_it_is_and_does_nothing(cli: Commands, tmp_path: Path) -> None:
    err = one_line(cli("gate", tmp_path / "[bold]\x1b[2J", name="waterline"))

    assert "[bold]\\x1b[2J cannot be read" in err


def test_whatever_a_screen_prints_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().print("one\x1b]0;title\x9c\ntwo", markup=False)

    assert printable("é ✓ a\tb") == "é ✓ a\\tb"
    assert capsys.readouterr().out == "one\\x1b]0;title\\x9c\ntwo\n"


@pytest.mark.parametrize("columns", ["0", "²", "-1", "wide"])
def test_a_size_that_is_none_is_not_heard(
    columns: str, cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("LINES", columns)
    code, out, _ = cli("versions", name="waterline")

    assert code == 0
    assert "KIP-966" in out


@pytest.mark.parametrize(
    "command",
    ["versions", "--help", "check --list", "layout --protocol hw", "check --protocol raft 2>&1"],
)
def test_a_command_whose_reader_has_gone_ends_quietly(command: str, tmp_path: Path) -> None:
    """As `| head` goes. Its end is closed before anything is printed, so that it always is."""
    told = tmp_path / "stderr"
    main = "import sys; from waterline.checker.cli.cli import main; sys.stdin.read(); main()"
    name = command.removesuffix(" 2>&1")
    reading, writing = os.pipe()
    with told.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", main, *name.split()],
            stdin=subprocess.PIPE,
            stdout=writing,
            stderr=writing if name != command else stderr,
        )
    os.close(writing)
    os.close(reading)
    process.communicate(timeout=60)

    assert process.returncode == READER_GONE == 141
    assert told.read_text() == ""


def test_an_end_of_file_inside_is_no_interrupt(
    cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Click takes every EOFError for a user who typed Ctrl-D, and the run for interrupted."""

    def broken(*_: object, **__: object) -> None:
        raise EOFError("of a file of ours")

    monkeypatch.setattr("waterline.checker.cli.checking.run", broken)

    with pytest.raises(EOFError, match="of ours"):
        cli("--protocol", "hw")
