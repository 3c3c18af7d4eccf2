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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from checker.engines.choice import EngineChoice
from checker.grains import GRAINS
from checker.problem import Problem
from checker.result import Verdict
from checker.run import Run
from checker.search import Budgets
from checker.symmetry import Symmetry
from checker.wording import told_option
from model.environment import BadEnvironment

FILE_BYTES_MAX = 1 << 20
_VERDICTS = [verdict.value for verdict in (Verdict.HOLDS, Verdict.VIOLATED, Verdict.NOT_APPLICABLE)]
_ENGINE_KEYS = {
    "engine": str,
    "threads": int,
    "master": str,
    "partitions": int,
    "driver-levels": int,
}
_BUDGET_KEYS = {
    "max-states": int,
    "max-time": (int, float),
    "max-depth": int,
    "stop-at-first": bool,
}
_MAY_BE_ZERO = {"threads", "driver-levels", "max-depth"}


class BadGate(ValueError):
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


def read_gate(path: Path) -> list[Expectation]:
    """The expectations of a file, all checked. Raises `BadGate`."""
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise BadGate(f"{path} is larger than {FILE_BYTES_MAX:,} bytes; it is no gate file")
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise BadGate(f"{path} cannot be read: {problem.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise BadGate(f"{path} is no TOML: {problem}") from None
    entries = content.pop("expect", None)
    if content or not isinstance(entries, list) or not entries:
        raise BadGate(f"{path} must consist of [[expect]] entries, at least one, and nothing else")
    expectations = [_expectation(f"{path}, entry {n}", e) for n, e in enumerate(entries, start=1)]
    names = [e.name for e in expectations]
    if len(set(names)) < len(names):
        raise BadGate(f"{path} has two entries of one name; names must differ")
    return expectations


def _expectation(where: str, entry: object) -> Expectation:
    if not isinstance(entry, dict):
        raise BadGate(f"{where} is no table")
    entry = dict(entry)
    name = entry.pop("name", None)
    if not isinstance(name, str) or not name:
        raise BadGate(f"{where} has no name")
    where = f"{where} ({name})"
    protocol = entry.pop("protocol", None)
    if not isinstance(protocol, str):
        raise BadGate(f'{where} has no protocol; name one, as protocol = "hw"')
    verdicts = entry.pop("verdicts", None)
    grain = GRAINS.get(str(entry.pop("grain", "message")))
    if grain is None:
        raise BadGate(f"{where}: unknown grain; known: {', '.join(GRAINS)}")
    base = entry.pop("environment", next(iter(grain.environments)))
    if base not in grain.environments:
        known = ", ".join(grain.environments)
        raise BadGate(f"{where}: environment is {base!r}; known: {known}")
    symmetry = entry.pop("symmetry", Symmetry.NONE.value)
    if symmetry not in [known.value for known in Symmetry]:
        known = ", ".join(known.value for known in Symmetry)
        raise BadGate(f"{where}: symmetry is {symmetry!r}; known: {known}")
    engine = _take(where, entry, _ENGINE_KEYS)
    budgets = _take(where, entry, _BUDGET_KEYS)
    try:
        options = {**grain.environments[base].options(), **entry}
        environment = grain.environment.from_options(options)
        problem = grain.problem(protocol, environment, symmetry=Symmetry(symmetry))
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


def _take(where: str, entry: dict[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    taken = {key: entry.pop(key) for key in keys if key in entry}
    for key, value in taken.items():
        if not isinstance(value, keys[key]) or (isinstance(value, bool) and keys[key] is not bool):
            raise BadGate(f"{where}: {key} is {value!r}, which is of the wrong type")
        if isinstance(value, (str, bool)):
            continue
        if value < 0 or (value == 0 and key not in _MAY_BE_ZERO):
            raise BadGate(f"{where}: {key} is {value!r}; it must be greater")
    return taken


def _engine(where: str, engine: Mapping[str, Any]) -> EngineChoice:
    name = engine.get("engine", "spark")
    if name not in ("spark", "local"):
        raise BadGate(f"{where}: engine is {name!r}; known: spark, local")
    return EngineChoice(
        name=name,
        threads=engine.get("threads", 0),
        master=engine.get("master", "local[*]"),
        partitions=engine.get("partitions"),
        driver_levels=engine.get("driver-levels"),
    )


def _verdicts(where: str, verdicts: object, problem: Problem) -> dict[str, str]:
    known = [claim.name for claim in problem.claims]
    if not isinstance(verdicts, dict) or not verdicts:
        raise BadGate(f"{where} has no verdicts; name an invariant and what is expected of it")
    for name, verdict in verdicts.items():
        if name not in known:
            raise BadGate(f"{where}: unknown invariant {name!r}; known: {', '.join(known)}")
        if verdict not in _VERDICTS:
            raise BadGate(f"{where}: {name} is {verdict!r}; allowed is {', '.join(_VERDICTS)}")
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


def junit(outcomes: list[Outcome]) -> str:
    """The outcomes as JUnit XML, a test case an expectation, which CI systems show in place."""
    failures = sum(1 for outcome in outcomes if outcome.complaints)
    suite = ET.Element(
        "testsuite",
        name="waterline gate",
        tests=str(len(outcomes)),
        failures=str(failures),
        errors="0",
        time=f"{sum(o.run.result.seconds for o in outcomes):.3f}",
    )
    for outcome in outcomes:
        model = outcome.run.result.problem.model
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"{model.name}.{model.version}",
            name=outcome.expectation.name,
            time=f"{outcome.run.result.seconds:.3f}",
        )
        if outcome.complaints:
            failure = ET.SubElement(case, "failure", message="; ".join(outcome.complaints))
            failure.text = "\n".join(outcome.complaints)
        out = ET.SubElement(case, "system-out")
        options = ", ".join(f"{name} {told_option(value)}" for name, value in model.options.items())
        out.text = f"{outcome.run.result.distinct} states; {options}"
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
