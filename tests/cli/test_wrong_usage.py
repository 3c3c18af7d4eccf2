"""Names that there are not, and options that contradict each other: what was meant is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--protocol", "KIP-320"], "'--protocol': there is no 'KIP-320'; did you mean kip320?"),
        (["--protocol", "hw", "--with", "fencng"], "no 'fencng'; did you mean fencing?"),
        (
            ["--protocol", "hw", "--invariant", "no_commited_loss"],
            "invariant is 'no_commited_loss'; did you mean no_committed_loss?",
        ),
        (["--scenario", "kip279"], "unknown scenario 'kip279'; did you mean kip-279?"),
        (["--scenario", "c99"], "unknown scenario 'c99'; `waterline scenarios` lists them"),
        (["--kafka", ""], "--kafka: '' is no release"),
        (
            ["--protocol", "kip320", "--with", "fencing", "--without", "fencing"],
            "--with fencing and --without fencing: leave one of them out",
        ),
        (["--protocol", "kip320-first-try"], "is not one of --grain message"),
        (["--protocol", "hw", "--log-size", "3"], "no option of --grain message, but of atomic"),
        (["--protocol", "hw", "--engine", "local", "--master", "local"], "is for --engine spark"),
        (["--protocol", "hw", "--engine", "local", "--driver-levels", "0"], "for --engine spark"),
        (["--protocol", "hw", "--run-dir", ""], "--run-dir names no directory"),
        (
            ["--protocol", "hw", "--max-time", "soon"],
            "'--max-time': 'soon' is no number of seconds",
        ),
        (["--resume", ""], "--resume names no directory"),
        (["--protocol", "hw", "--html", ""], "'--html': it names no file"),
    ],
)
def test_what_was_meant_is_told_in_one_line(arguments: list[str], says: str, cli: Commands) -> None:
    code, out, err = cli(*arguments)

    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_command_that_is_not_is_told_with_the_nearest(cli: Commands) -> None:
    code, _, err = cli("scenario", name="waterline")

    assert code == 2
    assert "No such command 'scenario'. Did you mean 'scenarios'?" in err


def test_a_run_that_is_refused_leaves_no_directory(cli: Commands, tmp_path: Path) -> None:
    kept = tmp_path / "run"
    code, _, err = cli("--protocol", "hw", "--symmetry", "pets", "--run-dir", str(kept))

    assert code == 2
    assert "symmetry is 'pets'; message has none, replicas, records, all" in err
    assert not kept.exists()


def test_a_release_may_follow_an_entry_of_the_catalogue(cli: Commands) -> None:
    """The entry's own version is for those who name none."""
    entry = ("--scenario", "kip-279", "--engine", "local", "--max-depth", "1")
    code, out, _ = cli(*entry, "--kafka", "2.3.1")

    assert code == 20
    assert out.startswith("kip320-code ")
    assert "records 3, epochs 3" in out


def test_so_little_memory_is_told_in_its_own_unit_and_one_state_as_one(cli: Commands) -> None:
    small = ("--records", 1, "--epochs", 1, "--restarts", 0)
    code, out, _ = cli("--protocol", "hw", "--engine", "local", "--memory", "1k", *small)

    assert code == 20
    assert "stopped by memory 1 kB" in out
    assert "0 to 0 on local: 1 state\n" in out
