"""A command's options are in one dataclass, which has a field for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from waterline.checker.cli.commands import COMMANDS, command_of
from waterline.checker.cli.run import RunOptions
from waterline.checker.cli.shared.options import EngineOptions, fill


def kind_of(name: str) -> type[Any] | None:
    """The dataclass that a command's function takes; None if it takes parameters."""
    if name == "run":
        return RunOptions  # a script adds to what the command line says
    function = getattr(command_of(name).callback, "__wrapped__", None)
    kind: type[Any] | None = get_type_hints(function).get("options") if function else None
    return kind


def parameters_of(kind: type[Any]) -> Iterator[str]:
    """The parameters of click that are in a dataclass."""
    kinds = get_type_hints(kind)
    for each in fields(kind):
        if is_dataclass(kinds[each.name]):
            yield from parameters_of(kinds[each.name])
        else:
            gathers = each.metadata.get("gathers", [each.name])
            yield from (name.replace("-", "_") for name in gathers)


WITH_A_DATACLASS = [name for name in COMMANDS if kind_of(name) is not None]


@pytest.mark.parametrize("name", WITH_A_DATACLASS)
def test_no_option_is_left_out(name: str) -> None:
    kind = kind_of(name)
    assert kind is not None
    given = {each.name for each in command_of(name).params if each.expose_value}

    assert given - {"script"} <= set(parameters_of(kind))


def test_most_commands_about_a_problem_have_one() -> None:
    assert {"check", "simulate", "compare", "export", "kernel", "layout"} <= set(WITH_A_DATACLASS)


@dataclass(frozen=True, kw_only=True)
class Small:
    """A dataclass of each kind of field."""

    file: Path
    engine: EngineOptions
    settings: dict[str, Any] = field(metadata={"gathers": ("log-size", "acks")})
    depth: int = 3


def test_fields_are_filled_by_their_names() -> None:
    given = {"file": Path("x"), "threads": 2, "log_size": 4, "acks": None, "another": 1}
    engine = EngineOptions(threads=2)

    assert fill(Small, given) == Small(file=Path("x"), engine=engine, settings={"log-size": 4})
