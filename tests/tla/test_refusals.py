"""What has no TLA+ is refused, with its name, place and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.tla_modules import module_of
from waterline.model.core.errors import BadEnvironment


def test_a_word_that_is_no_ascii_is_refused() -> None:
    text = """
from waterline import *
def mine() -> Protocol:
    return Protocol(fields=[Choice("mode", "a", "\\u00e9")], actions=[act])
def act(s):
    s.mode = "a"
"""

    with pytest.raises(BadEnvironment, match=r"choice 'é' of field mode has no form in TLA\+"):
        module_of(text)


def test_a_function_that_calls_itself_is_refused() -> None:
    text = """
from waterline import *
def mine() -> Protocol:
    return Protocol(fields=[Number("x", 0, 9)], actions=[act])
def act(s):
    s.x = down(s, 3)
def down(s, n):
    return 0 if n == 0 else down(s, n - 1)
"""

    with pytest.raises(BadEnvironment, match=r"mine\.py:8: down cannot be exported: .* a loop"):
        module_of(text)


def test_a_model_must_be_named(run: Commands) -> None:
    code, _, error = run("export", "--to", "tla", name="waterline")

    assert code == 2
    assert "--protocol is missing" in error
    assert "--model FILE" in error


def test_a_bad_bound_is_refused_and_nothing_is_written(tmp_path: Path, run: Commands) -> None:
    model = Path(__file__).parent / "models" / "lock.py"
    options = ("--to", "tla", "--set", "clients=true", "--out", tmp_path / "out")
    code, _, error = run("export", "--model", model, *options, name="waterline")

    assert code == 2
    assert "clients is True; it must be a whole number" in error
    assert not (tmp_path / "out").exists()
