"""An interrupt spoils nothing that is kept. tests/verify/faults interrupts whole commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from waterline.checker.compiler.cache import read_sealed, write_sealed


def test_an_interrupt_leaves_no_half_of_a_kept_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kernels" / "name.o"
    write_sealed(kept, b"before")
    monkeypatch.setattr(Path, "replace", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_sealed(kept, b"after")

    assert list(kept.parent.iterdir()) == [kept]
    assert read_sealed(kept, bytes_max=1000) == b"before"


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
