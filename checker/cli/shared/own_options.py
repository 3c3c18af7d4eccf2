"""`--model FILE` and `--set NAME=VALUE`: a user model in place of Kafka's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from waterline.checker.kafka import families
from waterline.checker.problem.family import Family, FindFamily
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.model.core.errors import BadEnvironment

_BOUND = re.compile(r"(\w+)=(-?\d+|true|false)", re.ASCII)


class BoundSetting(click.ParamType[tuple[str, int | bool]]):
    """A bound of a model and its value."""

    name = "NAME=VALUE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int | bool]:
        """Name and value."""
        if isinstance(value, tuple):
            return value
        found = _BOUND.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} sets no bound; write NAME=3, NAME=true or NAME=false", param, ctx)
        known = {"true": True, "false": False}
        return found[1], known[found[2]] if found[2] in known else int(found[2])


model_option = click.option(
    "--model",
    "own_model",
    metavar="FILE[:NAME]",
    help="A model of your own: a Python file, which is run (docs/own-models.md). NAME is one of "
    "its protocols, if it has several.",
)
bound_option = click.option(
    "--set",
    "bounds",
    type=BoundSetting(),
    multiple=True,
    metavar="NAME=VALUE",
    help="A bound of --model; repeatable.",
)


def file_and_name(given: str) -> tuple[Path, str | None]:
    """`file.py:name` in its parts; without a name None."""
    file, colon, name = given.rpartition(":")
    return (Path(file), name) if colon and file.endswith(".py") else (Path(given), None)


def finder(own_model: str | None) -> FindFamily:
    """Finds a family by the name of its models: Kafka's, or that of the file that was given."""

    def find(model: str) -> Family:
        if own_model is not None:
            # Only a model of one's own needs what reads one.
            from waterline.checker.user_models.family import family_in  # noqa: PLC0415

            own = family_in(file_and_name(own_model)[0])
            if own.model == model:
                return own
            is_own = model.endswith(".py")
            remedy = f"give the file, with --model {model}" if is_own else "leave --model out"
            raise BadEnvironment(f"it is of {model}, and --model names {own.model}; {remedy}")
        if model.endswith(".py"):
            raise BadEnvironment(
                f"it is of {model}, a model of somebody's own, which is code and not loaded "
                f"unasked; give the file, with --model {model}"
            )
        return families.family_of(model)

    return find


def vetted_problem(
    own_model: str,
    bounds: Mapping[str, object],
    names: tuple[str, ...] = (),
    *,
    symmetry: str = Symmetry.NONE.value,
    unbounded: bool = False,
) -> Problem:
    """The problem of checking a model of the user's own, seen to make sense.

    With `unbounded` its epochs and values have no bound.
    Raises `BadEnvironment`.
    """
    from waterline.checker.user_models.family import family_in  # noqa: PLC0415
    from waterline.checker.user_models.vetting import vet  # noqa: PLC0415 - with the compiler

    file, name = file_and_name(own_model)
    family = family_in(file)
    if name is None:
        if len(family.versions) > 1:
            known = ", ".join(f"{file}:{each}" for each in family.versions)
            raise BadEnvironment(f"{file} has several protocols; name one: {known}")
        (name,) = family.versions
    asked = family.symmetry_asked(symmetry)
    options = {**bounds, "unbounded": True} if unbounded else bounds
    return vet(family.problem(name, options, names, symmetry=asked))
