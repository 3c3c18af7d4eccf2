"""Traces that TLC writes here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.counterexamples.formats.test_tlc_traces import shown, trace_in
from tests.support.tla_modules import tlc
from waterline.checker.kafka.confirm.processes import find_java


@pytest.mark.tlc
def test_what_tlc_prints_is_read(tmp_path: Path) -> None:
    (tmp_path / "M.tla").write_text(
        "---- MODULE M ----\nEXTENDS Integers\nVARIABLES x\nInit == x = 0\n"
        "Next == x < 3 /\\ x' = x + 1\nSpec == Init /\\ [][Next]_x\nInv == x < 2\n====\n"
    )
    (tmp_path / "M.cfg").write_text("SPECIFICATION Spec\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n")
    command = [str(find_java()), "-cp", str(tlc()), "tlc2.TLC", "-workers", "1", "M"]

    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    trace = trace_in(tmp_path, said.stdout)

    assert shown(trace) == [{"x": "0"}, {"x": "1"}, {"x": "2"}]
    assert [each.taken for each in trace.states] == ["", "Next", "Next"]
