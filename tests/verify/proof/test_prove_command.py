"""`waterline prove` for the broken versions: a step leads out of the lemmas."""

from __future__ import annotations

import pytest

from tests.support.commands import Commands

pytest.importorskip("z3")


@pytest.mark.parametrize("version", ["hw", "epoch", "kip279", "kip320-first-try"])
def test_a_broken_version_leads_out_of_the_lemmas(version: str, cli: Commands) -> None:
    code, out, _ = cli("prove", "--no-search", "--protocol", version, name="waterline")

    assert code == 14
    assert f"{version}: NOT PROVED" in out
    assert "leads out of the lemmas" in out
    assert "The state before need not be reachable." in out
    assert "VIOLATED" not in out


def test_the_search_shows_a_violation_before_the_solver_is_asked(cli: Commands) -> None:
    code, out, _ = cli("prove", "--protocol", "hw", name="waterline")

    assert code == 12
    assert "hw: VIOLATED weak_isr, strong_isr, found by the search" in out
    assert "obligations" not in out
