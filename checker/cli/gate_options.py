"""Expectations of gate files, whose entries have the options of `check`.

`checker.ci` imports no options: they are declared for the command line and passed in.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from waterline.checker.ci.document import BadGate, Document, read_document
from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.keys import Asking, GateEntry, Key, gate_schema
from waterline.checker.ci.reading import read_gate
from waterline.checker.ci.strictness import losses
from waterline.checker.cli.check import check_command
from waterline.checker.cli.gate import GateOptions
from waterline.checker.cli.shared.grouped_help import GROUPS
from waterline.checker.cli.shared.options import EngineOptions, Seconds, fill
from waterline.checker.cli.shared.own_options import vetted_problem
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.engine import require_spark
from waterline.checker.search.result import Budgets
from waterline.model.core.errors import BadEnvironment, did_you_mean

_NOT_OF_A_GATE = {
    *GROUPS["What is shown"],
    *("help-all", "list", "model", "resume", "run-dir", "set", "where"),
}
"""Options that say what to print and to keep, and those that a gate has other keys for."""


@dataclass(frozen=True, slots=True)
class Gates:
    """Expectations to judge, of so many in the files, and what the files no longer cover."""

    expectations: Sequence[Expectation]
    whole: int
    lost: Sequence[str]


def read_gates(options: GateOptions) -> Gates:
    """Read the expectations of all files. Raises `BadGate`, and `BadEnvironment` for a profile."""
    expectations = _expectations(options)
    documents = [read_document(file) for file in options.files]
    lost: list[str] = []
    if options.since:
        lost = list(losses([read_document(file) for file in options.since], documents))
    whole = len(expectations)
    if options.profile is not None:
        expectations = _of_profile(options.profile, documents, expectations)
    return Gates(expectations, whole, lost)


def _of_profile(
    profile: str, documents: Sequence[Document], expectations: Sequence[Expectation]
) -> list[Expectation]:
    """Return the expectations of the profile. Raises `BadEnvironment` for an unknown one."""
    known = [
        name for each in documents for name in each.content.get("gate", {}).get("profiles", ())
    ]
    if profile not in known:
        raise BadEnvironment(
            f"--profile {profile}: no [gate] has that profile{did_you_mean(profile, known)}"
        )
    return [each for each in expectations if not each.profiles or profile in each.profiles]


def _expectations(options: GateOptions) -> list[Expectation]:
    if options.engine == "spark":
        require_spark()
    named = {"engine": options.engine, "master": options.master}
    expectations: list[Expectation] = []
    for file in options.files:
        read = read_gate(
            file,
            asking(),
            allow_models=options.allow_models,
            allow_spark=options.allow_spark,
            given={name: value for name, value in named.items() if value is not None},
        )
        names = {each.name for each in expectations}
        for each in read:
            if each.name in names:
                raise BadGate(each.place, f"{each.name!r} is a name in another file too")
        expectations += read
    return expectations


def schema_of_check() -> str:
    """Return the JSON Schema of a gate file."""
    return gate_schema(asking())


@functools.cache
def asking() -> Asking:
    """Asks as `check` does."""
    keys = {key.name: key for key in map(_key, _options())}
    return Asking(keys=keys, ask=_ask, command=command)


def _options() -> list[click.Option]:
    named = [option for option in check_command.params if isinstance(option, click.Option)]
    return [option for option in named if _name(option) not in _NOT_OF_A_GATE]


def _name(option: click.Option) -> str:
    return option.opts[0].removeprefix("--")


def _key(option: click.Option) -> Key:
    kind: click.ParamType[Any] = option.type
    words = tuple(kind.choices) if isinstance(kind, click.Choice) else None
    bounds = (kind.min, kind.max) if isinstance(kind, click.IntRange) else (None, None)
    return Key(
        name=_name(option),
        kind=_kind(option),
        help=option.help or "",
        convert=_converter(option),
        words=words,
        least=bounds[0],
        most=bounds[1],
        is_many=option.multiple,
    )


def _kind(option: click.Option) -> str:
    if isinstance(option.type, Seconds):
        return "a number"
    if isinstance(option.type, click.IntRange):
        return "a whole number"
    if option.is_flag:
        return "true or false"
    return "text"


def _converter(option: click.Option) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        try:
            return option.type.convert(value, None, None)
        except click.BadParameter as refused:
            raise ValueError(refused.message) from None

    return convert


def _ask(given: Mapping[str, Any], bounds: Mapping[str, Any]) -> GateEntry:
    """Raises `BadEnvironment`."""
    # What they are where nothing is given is click's to say.
    options = check_command.make_context("check", [], resilient_parsing=True).params
    for option in _options():
        assert option.name is not None
        if _name(option) in given:
            options[option.name] = given[_name(option)]
    choice, budgets = fill(EngineOptions, options).choice(), fill(Budgets, options)
    if "model" in given:
        names = options["names"] or ()
        symmetry = options["symmetry"] or Symmetry.NONE.value
        problem = vetted_problem(
            given["model"],
            bounds,
            names,
            symmetry=symmetry,
            unbounded=bool(given.get("unbounded")),
        )
    else:
        # The command line knows the versions that have a name, a gate any that can be spelled.
        problem = problem_from(fill(ProblemOptions, options))
    return GateEntry(problem=problem, choice=choice, budgets=budgets)


def command(problem: Problem, model: str | None) -> str:
    """`waterline check --engine local --protocol kip320 --without fencing --epochs 3 ...`"""
    return problem.to_command(engine="local", own_model=model or "")
