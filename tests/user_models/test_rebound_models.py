"""`waterline.check` twice in one process, with names of the model's module rebound in between."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import waterline
from waterline import BadProtocol
from waterline.checker.user_models.family import OwnFamily, own_family

LIMITS = """\
MOST = 3


class Bounds:
    MOST = 3
"""
MODEL = '''\
import limits
from waterline import Fields, Number, Protocol, when

MOST = 3
TABLE = (0, 1, 2, 3, 3, 3)
WIDE = 7


def counting(top: int = 7) -> Protocol:
    class State(Fields):
        at = Number(0, WIDE)

    return Protocol(state=State, actions=[up], always=[low], sometimes=[there])


def up(s):
    """On."""
    when({guard})
    s.at += 1


def below(n):
    return n < 3


def far_below(n):
    return n < 5


def low(s):
    return s.at < 9


def never_four(s):
    return s.at != 4


def there(s):
    return s.at == 5
'''
Change = Callable[[Any], None]


def set_on(owner: str, name: str, value: Any) -> Change:
    """Binds a name of the module, or of what it names, to something else."""
    return lambda module: setattr(getattr(module, owner) if owner else module, name, value)


CHANGES: dict[str, tuple[str, Change]] = {
    "a constant": ("s.at < MOST", set_on("", "MOST", 5)),
    "a table": ("s.at < TABLE[3]", set_on("", "TABLE", (0, 1, 2, 5))),
    "a constant of another module": ("s.at < limits.MOST", set_on("limits", "MOST", 5)),
    "a class": (
        "s.at < limits.Bounds.MOST",
        lambda module: setattr(module.limits.Bounds, "MOST", 5),
    ),
    "a helper": ("below(s.at)", lambda module: setattr(module, "below", module.far_below)),
}


@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Imports the model with this guard, as a program of one's own would."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def made(guard: str) -> Any:
        (tmp_path / "limits.py").write_text(LIMITS)
        (tmp_path / "counting.py").write_text(MODEL.format(guard=guard))
        importlib.invalidate_caches()
        return importlib.import_module("counting")

    yield made
    for name in ("counting", "limits"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("kind", CHANGES)
def test_the_second_check_is_of_what_the_names_stand_for_by_then(
    kind: str, imported: Callable[[str], Any]
) -> None:
    guard, change = CHANGES[kind]
    module = imported(guard)
    model = waterline.instance(module.counting)
    before = waterline.check(model)
    change(module)

    after = waterline.check(model)

    assert (before.distinct, after.distinct) == (4, 6)
    assert (before.sometimes, after.sometimes) == ({"there": None}, {"there": 5})


def test_a_helper_with_the_code_of_another_is_refused(imported: Callable[[str], Any]) -> None:
    module = imported("below(s.at)")
    waterline.check(module.counting)
    module.below.__code__ = module.far_below.__code__

    with pytest.raises(BadProtocol, match="below is a function of line 26 now"):
        waterline.check(module.counting)


def test_a_claim_that_is_replaced_on_the_module_is_judged(imported: Callable[[str], Any]) -> None:
    module = imported("s.at < 6")
    before = waterline.check(module.counting)
    module.low = module.never_four
    after = waterline.check(module.counting)

    assert before.holds
    assert not after.holds
    assert after.claims["never_four"].depth == 4


def test_fields_are_those_that_are_declared_by_then(imported: Callable[[str], Any]) -> None:
    module = imported("s.at < WIDE")
    module.low = module.never_four
    model = waterline.instance(module.counting)
    before = waterline.check(model)
    module.WIDE = 40
    after = waterline.check(model)

    assert (before.distinct, after.distinct) == (8, 41)
    trace = after.claims["never_four"].trace
    assert trace is not None
    assert trace.states[-1].at == 4


def test_a_file_runs_again_where_a_module_that_it_imports_has_changed() -> None:
    imported = types.ModuleType("limits_of_it")
    imported.MOST = 3  # type: ignore[attr-defined]
    sys.modules["limits_of_it"] = imported
    text = MODEL.format(guard="s.at < MOST").replace("MOST = 3\n", "")
    text = text.replace("import limits", "from limits_of_it import MOST")
    try:
        before = own_family(text, "counting.py")
        again = own_family(text, "counting.py")
        imported.MOST = 5  # type: ignore[attr-defined]
        after = own_family(text, "counting.py")
    finally:
        del sys.modules["limits_of_it"]

    assert before is again
    assert after is not before
    assert cast(OwnFamily, after).own.names["MOST"] == 5
