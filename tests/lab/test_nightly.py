"""`make nightly` runs every attack there is; a round that goes wrong can be made again."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.fuzz import __main__ as nightly
from lab.fuzz import order_abstraction
from lab.fuzz.mutation import START, failure_in
from lab.fuzz.rounds import WRONG_MAX, Round, Wrong, attack

ROOT = Path(__file__).parents[2]


def test_each_program_with_rounds_has_a_share_of_the_night() -> None:
    attacks = {}
    for path in ROOT.glob("lab/fuzz/**/*.py"):
        if named := re.search(r'sys\.exit\(attack\("(.+)", rounds\)\)', path.read_text("utf-8")):
            place = path.parent if path.name == "__main__.py" else path.with_suffix("")
            attacks[named[1]] = ".".join(place.relative_to(ROOT).parts)

    assert attacks == {name: name for name in nightly.SHARES}
    described = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    assert [name for name in attacks if f"`{name}`" not in described] == []


@pytest.mark.parametrize(
    "name", ["lab.fuzz.oracle", "lab.fuzz.order_abstraction", "lab.fuzz.stale_keys"]
)
def test_a_round_sees_something_and_finds_nothing_wrong(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATERLINE_CACHE", os.environ["WATERLINE_CACHE"])  # put back afterwards
    monkeypatch.setattr("waterline.checker.compiler.sources.SETTLED_SECONDS", 0.0)
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)
    monkeypatch.setattr(order_abstraction, "STATES", 10)
    seen: Counter[str] = Counter()
    with importlib.import_module(name).rounds() as make_round:
        make_round(3, seen)

    assert seen.total() > 0


@contextmanager
def odd_ones_are_wrong() -> Iterator[Round]:
    def make_round(seed: int, seen: Counter[str]) -> None:
        seen["rounds"] += 1
        if seed % 2:
            raise Wrong(f"{seed} is odd")

    yield make_round


def test_a_round_that_goes_wrong_is_printed_with_what_repeats_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert attack("lab.fuzz.odd", odd_ones_are_wrong, ["--seed", "6", "--minutes", "1"]) == 1

    printed = capsys.readouterr().out
    assert "WRONG: 7 is odd\nagain: python -m lab.fuzz.odd --seed 7 --minutes 0\n" in printed
    assert f"lab.fuzz.odd --seed 6: {2 * WRONG_MAX} rounds, {WRONG_MAX} wrong" in printed


def test_without_minutes_there_is_one_round(capsys: pytest.CaptureFixture[str]) -> None:
    assert attack("lab.fuzz.odd", odd_ones_are_wrong, ["--seed", "6", "--minutes", "0"]) == 0
    assert "lab.fuzz.odd --seed 6: 1 rounds, 0 wrong" in capsys.readouterr().out


def test_any_error_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    @contextmanager
    def raising() -> Iterator[Round]:
        yield lambda seed, seen: seen.update(rounds=1 // 0)

    assert attack("lab.fuzz.raises", raising, ["--minutes", "0"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_a_night_runs_each_attack_for_its_share_and_fails_with_any(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {}

    def outcome_of(name: str, seed: int, minutes: float) -> str:
        asked[name] = (seed, round(minutes, 6))
        return "WRONG, exit code 1" if name == "lab.fuzz.sorts" else "ok"

    monkeypatch.setattr(nightly, "outcome_of", outcome_of)
    whole = sum(nightly.SHARES.values())

    assert nightly.main(["--seed", "20261128", "--minutes", str(2 * whole)]) == 1
    assert asked == {
        name: (20_261_128_000_000, 2 * share) for name, share in nightly.SHARES.items()
    }
    table = capsys.readouterr().out
    assert "python -m lab.fuzz --seed 20261128" in table
    assert re.search(r"fuzz\.sorts +0 s  WRONG, exit code 1\n", table)


@pytest.mark.parametrize(
    ("printed", "test"),
    [
        (
            "FAILED tests/a/test_b.py::test[x y] - assert 1 == 2\n",
            "tests/a/test_b.py::test[x y]",
        ),
        ("ERROR tests/a/test_b.py - KeyError: 1\n", "tests/a/test_b.py"),
        ("tests/a.py::b[1 2] PASSED [ 1%]\ntests/a.py::c Fatal Python error: x\n", "tests/a.py::c"),
        (
            "tests/a.py::b PASSED [ 1%]\ntests/a.py::c[1 2] Timeout (0:02:00)!\n",
            "tests/a.py::c[1 2]",
        ),
        ("tests/a.py::b PASSED [ 1%]\ntests/a.py::c ", "tests/a.py::c"),
        ("ImportError while loading conftest\n", START),
    ],
)
def test_the_test_that_finds_a_mutant_is_the_one_that_fails_or_does_not_end(
    printed: str, test: str
) -> None:
    assert failure_in(printed) == test
