"""A gate for continuous integration: named expectations, each a run, and whether all came out so.

    [[expect]]
    name = "hw loses a committed record"
    protocol = "hw"
    replicas = 2
    verdicts = { no_committed_loss = "violated", sane = "holds" }

Options are those of `check`, by the same names, but for what is written where. Every invariant or
property named must have exactly the verdict expected: INCOMPLETE or NOT APPLICABLE never passes for
HOLDS. One that is checked only where it is asked for is asked for by being named. One that is
checked, not named, and comes out VIOLATED fails the gate too, and so does a reachability claim that
was not reached.
"""

from __future__ import annotations

import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from checker.budgets import Budgets
from checker.console.options import (
    DRIVER_LEVELS,
    ENGINES,
    MAX_DEPTH,
    MAX_STATES,
    PARTITIONS,
    THREADS,
    Seconds,
    SparkMaster,
)
from checker.console.own_options import vetted_problem
from checker.engines.choice import EngineChoice
from checker.errors import Refused
from checker.kafka.families import GRAINS
from checker.problems.problem import Problem
from checker.problems.symmetry import Symmetry
from checker.problems.wording import printable, told_option
from checker.result import Verdict
from counterexamples import BadFile, read_named, shown
from model.kit.errors import BadEnvironment

if TYPE_CHECKING:
    from checker.run import Run

FILE_BYTES_MAX = 1 << 20
_VERDICTS = [verdict.value for verdict in (Verdict.HOLDS, Verdict.VIOLATED, Verdict.NOT_APPLICABLE)]
_Key = tuple[type | tuple[type, ...], click.ParamType[Any]]
"""What TOML must have there, and what the option of that name takes."""
_ENGINE_KEYS: dict[str, _Key] = {
    "engine": (str, click.STRING),
    "threads": (int, THREADS),
    "master": (str, SparkMaster()),
    "partitions": (int, PARTITIONS),
    "driver-levels": (int, DRIVER_LEVELS),
}
_BUDGET_KEYS: dict[str, _Key] = {
    "max-states": (int, MAX_STATES),
    "max-time": ((int, float), Seconds()),
    "max-depth": (int, MAX_DEPTH),
    "stop-at-first": (bool, click.BOOL),
}


class BadGate(Refused, ValueError):
    """The gate file cannot be used; the message names the file, the entry and the remedy."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One run and the verdicts it must have."""

    name: str
    problem: Problem
    choice: EngineChoice
    budgets: Budgets
    verdicts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an expectation came out: `complaints` is empty when it was met."""

    expectation: Expectation
    run: Run
    complaints: tuple[str, ...]


def read_gate(path: Path, *, allow_models: bool = False) -> list[Expectation]:
    """The expectations of a file, all checked. Raises `BadGate`.

    With `allow_models` an entry may name a model of somebody's own, which is code: it is run.
    """
    try:
        return _read(path, allow_models)
    except RecursionError:
        raise BadGate(f"{path} is no gate file: it is nested too deeply") from None


def _read(path: Path, allow_models: bool) -> list[Expectation]:
    try:
        content = tomllib.loads(read_named(path, bytes_max=FILE_BYTES_MAX).decode("utf-8"))
    except BadFile as problem:
        raise BadGate(str(problem)) from None
    except ValueError as problem:
        # No TOML, no UTF-8, or a number of more digits than Python reads.
        raise BadGate(f"{path} is no TOML: {problem}") from None
    entries = content.pop("expect", None)
    if content or not isinstance(entries, list) or not entries:
        raise BadGate(f"{path} must consist of [[expect]] entries, at least one, and nothing else")
    models = path.parent if allow_models else None
    expectations = [
        _expectation(f"{path}, entry {n}", e, models) for n, e in enumerate(entries, start=1)
    ]
    names = [e.name for e in expectations]
    if len(set(names)) < len(names):
        raise BadGate(f"{path} has two entries of one name; names must differ")
    return expectations


def _expectation(where: str, entry: object, models: Path | None) -> Expectation:
    """One entry. Files of models are looked for in the folder `models`, None for: not allowed."""
    if not isinstance(entry, dict):
        raise BadGate(f"{where} is no table")
    entry = dict(entry)
    name = entry.pop("name", None)
    if not isinstance(name, str) or not name:
        raise BadGate(f"{where} has no name")
    # It is printed, and written as XML, which has no control characters.
    name = printable(name)
    where = f"{where} ({name})"
    verdicts = entry.pop("verdicts", None)
    engine = _take(where, entry, _ENGINE_KEYS)
    budgets = _take(where, entry, _BUDGET_KEYS)
    try:
        problem = _own(where, entry, models) if "model" in entry else _of_kafka(where, entry)
    except BadEnvironment as trouble:
        raise BadGate(f"{where}: {trouble}") from None
    expected = _verdicts(where, verdicts, problem)
    return Expectation(
        name=name,
        problem=problem.asking_too(expected),
        choice=_engine(where, engine),
        budgets=Budgets(
            max_states=budgets.get("max-states"),
            max_seconds=budgets.get("max-time"),
            max_depth=budgets.get("max-depth"),
            stop_at_first=budgets.get("stop-at-first", False),
        ),
        verdicts=expected,
    )


def _of_kafka(where: str, entry: dict[str, Any]) -> Problem:
    protocol = entry.pop("protocol", None)
    if not isinstance(protocol, str):
        raise BadGate(f'{where} has no protocol; name one, as protocol = "hw"')
    grain = GRAINS[_one_of(where, "grain", entry.pop("grain", "message"), GRAINS)]
    named = entry.pop("environment", next(iter(grain.environments)))
    base = _one_of(where, "environment", named, grain.environments)
    known = list(grain.symmetries)
    symmetry = _one_of(where, "symmetry", entry.pop("symmetry", Symmetry.NONE.value), known)
    options = {**grain.environments[base].options(), **entry}
    return grain.problem_of(protocol, options, symmetry=symmetry)


def _own(where: str, entry: dict[str, Any], models: Path | None) -> Problem:
    """A model of somebody's own, its file named from the gate's folder on."""
    file, symmetry = entry.pop("model"), entry.pop("symmetry", Symmetry.NONE.value)
    for key, value in (("model", file), ("symmetry", symmetry)):
        if not isinstance(value, str):
            raise BadGate(f"{where}: {key} is {shown(value)}, which is of the wrong type")
    if models is None:
        raise BadGate(
            f"{where} names the model {shown(file)}, which is code and would be run; "
            "if you trust it, allow it with --allow-models"
        )
    return vetted_problem(str(models / file), entry, symmetry=symmetry)


def _one_of(where: str, key: str, value: object, known: Iterable[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise BadGate(f"{where}: {key} is {shown(value)}; known: {', '.join(known)}")
    return value


def _take(where: str, entry: dict[str, Any], keys: Mapping[str, _Key]) -> dict[str, Any]:
    """Take out these keys, read as the option of `check` by the same name is."""
    taken = {key: entry.pop(key) for key in keys if key in entry}
    for key, value in taken.items():
        written, as_option = keys[key]
        if not isinstance(value, written) or (isinstance(value, bool) and written is not bool):
            raise BadGate(f"{where}: {key} is {shown(value)}, which is of the wrong type")
        try:
            taken[key] = as_option.convert(value, None, None)
        except click.BadParameter as refused:
            raise BadGate(f"{where}: {key}: {refused.message}") from None
    return taken


def _engine(where: str, engine: Mapping[str, Any]) -> EngineChoice:
    return EngineChoice(
        name=_one_of(where, "engine", engine.get("engine", "spark"), ENGINES),
        threads=engine.get("threads", 0),
        master=engine.get("master"),
        partitions=engine.get("partitions"),
        driver_levels=engine.get("driver-levels"),
    )


def _verdicts(where: str, verdicts: object, problem: Problem) -> dict[str, str]:
    known = [claim.name for claim in problem.claims]
    if not isinstance(verdicts, dict) or not verdicts:
        raise BadGate(f"{where} has no verdicts; name an invariant and what is expected of it")
    for name, verdict in verdicts.items():
        if name not in known:
            raise BadGate(f"{where}: unknown invariant {shown(name)}; known: {', '.join(known)}")
        _one_of(where, name, verdict, _VERDICTS)
    return {str(name): str(verdict) for name, verdict in verdicts.items()}


def judge(expectation: Expectation, run: Run) -> Outcome:
    """Compare what came out with what was expected."""
    complaints = []
    for found in run.result.invariants:
        expected = expectation.verdicts.get(found.name)
        got = found.verdict.value
        if expected is not None and got != expected:
            complaints.append(f"{found.name}: expected {expected}, got {got}")
        elif expected is None and found.verdict is Verdict.VIOLATED:
            complaints.append(f"{found.name}: violated after {found.depth} steps, nothing expected")
    complaints += [
        f"{claim.name} was never reached"
        for claim in run.result.reachable
        if claim.depth is None and run.result.complete
    ]
    return Outcome(expectation, run, tuple(complaints))


def outcome_table(outcomes: list[Outcome]) -> Table:
    """A line an expectation."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Expectation", overflow="fold")
    table.add_column("Came out", no_wrap=True)
    table.add_column("States", justify="right", no_wrap=True)
    table.add_column("Seconds", justify="right", no_wrap=True)
    for outcome in outcomes:
        name = Text(outcome.expectation.name)
        for complaint in outcome.complaints:
            name.append(f"\n{complaint}", style="red")
        met = Text("NO", "bold red") if outcome.complaints else Text("as expected", "green")
        result = outcome.run.result
        table.add_row(name, met, f"{result.distinct:,}", f"{result.seconds:.1f}")
    return table


def junit(outcomes: Sequence[Outcome], left: Sequence[Expectation] = ()) -> str:
    """The outcomes as JUnit XML, a test case an expectation, which CI systems show in place.

    What is `left`, because the gate was interrupted, is an error: nobody is to take it for passed.
    """
    failures = sum(1 for outcome in outcomes if outcome.complaints)
    suite = ET.Element(
        "testsuite",
        name="waterline gate",
        tests=str(len(outcomes) + len(left)),
        failures=str(failures),
        errors=str(len(left)),
        time=f"{sum(o.run.result.seconds for o in outcomes):.3f}",
    )
    for outcome in outcomes:
        model = outcome.run.result.problem.model
        case = _case(suite, outcome.expectation, outcome.run.result.seconds)
        if outcome.complaints:
            failure = ET.SubElement(case, "failure", message="; ".join(outcome.complaints))
            failure.text = "\n".join(outcome.complaints)
        out = ET.SubElement(case, "system-out")
        options = ", ".join(f"{name} {told_option(value)}" for name, value in model.options.items())
        out.text = f"{outcome.run.result.distinct} states; {options}"
    for expectation in left:
        ET.SubElement(_case(suite, expectation, 0.0), "error", message="interrupted, not judged")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, expectation: Expectation, seconds: float) -> ET.Element:
    model = expectation.problem.model
    return ET.SubElement(
        suite,
        "testcase",
        classname=f"{model.name}.{model.version}",
        name=expectation.name,
        time=f"{seconds:.3f}",
    )
