"""The tables of docs/results/unbounded.md: ten versions and the catalogue without bounds.

    python -m lab.documents.unbounded versions
    python -m lab.documents.unbounded catalogue

explores each version with 1, 2 and 3 records in a log, with and without leader moves, and each
entry of the catalogue under the versions in which it stands, and writes the table into the document
where that has its marks. `versions` also writes gates/unbounded.toml: each row of few enough states
to be explored each time. About ten minutes each on two cores.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.documents.gates import FOLDER, Entry, whole
from lab.documents.tables import in_markdown
from waterline.checker.checking.run import run
from waterline.checker.ci.judging import untaken_actions
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.problem.problem import Problem, sharing_by_shape
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import Budgets, Result, Verdict
from waterline.checker.search.search import search
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.renaming import CannotRename
from waterline.model.message.environment import DOCUMENTED, without_bounds
from waterline.model.message.versions import VERSIONS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "results" / "unbounded.md"
GATE = FOLDER / "unbounded.toml"
ABOUT = "Without bounds: any number of crashes, moves, epochs and produced records."
GATE_MAX = 100_000
"""States of a row that is in the gate."""
STATES_MAX = {"versions": 40_000_000, "catalogue": 5_000_000}
"""What a search may have; one that has more is said not to be finished."""
SIZES = [(records, moves) for records in (1, 2, 3) for moves in (0, 1)]
Options = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Question:
    """A version without bounds, and what it is called in the table."""

    title: str
    version: str
    problem: Problem


def question(title: str, version: str, options: Options, claims: Sequence[str] = ()) -> Question:
    """Raises `BadEnvironment` where it cannot be without bounds."""
    given = without_bounds({**DOCUMENTED.options(), **options})
    return Question(title, version, MESSAGE.problem(version, given, claims))


def explored(questions: Sequence[Question], states_max: int) -> Iterator[tuple[Question, Result]]:
    """The results, one after the other; those of one shape share a kernel."""
    shared = sharing_by_shape(each.problem for each in questions)
    for each in questions:
        problem = replace(each.problem, shared=shared[each.problem.model.layout])
        budgets = Budgets(max_states=states_max)
        if problem.applicable_behaviours:
            result = run(problem, EngineChoice(name="local", threads=2), budgets=budgets).result
        else:
            prepare(problem, threads=2)
            with closing(MemoryEngine(problem, threads=2)) as engine:
                result = search(problem, engine, budgets=budgets)
        print(each.version, each.title, result.distinct, result.depth, result.complete, flush=True)
        yield each, result


def versions() -> str:
    """States, depth and seconds of every version; below what is violated, after how many steps."""
    questions = [
        question(f"{records} {moves}", version, {"records": records, "restarts": 1, "moves": moves})
        for records, moves in SIZES
        for version in VERSIONS
    ]
    cells: dict[str, list[str]] = {version: [] for version in VERSIONS}
    broken: dict[str, dict[str, str]] = {version: {} for version in VERSIONS}
    rows = []
    for each, result in explored(questions, STATES_MAX["versions"]):
        found = {r.name: r.depth for r in result.violated}
        cells[each.version].append(describe(result))
        records, moves = each.title.split()
        broken[each.version][f"{records}{', moves' if moves == '1' else ''}"] = _named(found)
        if result.complete and result.distinct <= GATE_MAX:
            options = {"records": int(records), "moves": int(moves)}
            rows.append(_entry(each.version, options, result, found))
    text = whole(ABOUT, rows, "python -m lab.documents.unbounded versions")
    GATE.write_text(text, encoding="utf-8")
    titles = [f"{r} record{'s' * (r > 1)}{', moves' * m}" for r, m in SIZES]
    counts = in_markdown(("version", *titles), ((f"`{v}`", *c) for v, c in cells.items()))
    violated = in_markdown(
        ("version", "records", "violated, after how many steps"),
        (
            (f"`{version}`", " and ".join(sizes), text)
            for version, found_of in broken.items()
            for text, sizes in _alike(found_of).items()
            if text
        ),
    )
    return f"{counts}\n{violated}"


def _entry(version: str, options: Options, result: Result, found: Mapping[str, Any]) -> Entry:
    described = " ".join(f"{name}={value}" for name, value in options.items())
    return Entry(
        f"{version} {described}, without bounds",
        {
            "protocol": version,
            "environment": "documented",
            **options,
            "restarts": 1,
            "unbounded": True,
        },
        {each.name: each.verdict.value for each in result.invariants},
        ("distinct", "depth"),
        never=tuple(untaken_actions(result)),
        numbers={"distinct": result.distinct, "depth": result.depth, **found},
    )


def _named(found: Mapping[str, int | None]) -> str:
    return ", ".join(f"`{name}` {depth}" for name, depth in found.items())


def _alike(found: Mapping[str, str]) -> dict[str, list[str]]:
    """The sizes by what is violated there."""
    sizes: dict[str, list[str]] = {}
    for size, text in found.items():
        sizes.setdefault(text, []).append(size)
    return sizes


def describe(result: Result) -> str:
    """`38,918 / 40, 0.1 s`: states and depth; of one that was stopped how far it came."""
    counts = f"{result.distinct:,} / {result.depth}"
    return f"{counts}, {result.seconds:.1f} s" if result.complete else f"stopped at {counts}"


def catalogue() -> str:
    """Of each entry what comes of the versions in which it stands, without bounds."""
    questions, refused = [], {}
    for scenario in CATALOGUE:
        for version in scenario.stands:
            name = f"{scenario.number} {scenario.name}"
            options = scenario.environment.options()
            try:
                questions.append(question(name, version, options, [scenario.claim]))
            except (BadEnvironment, CannotRename) as reason:
                refused[name] = str(reason).partition(";")[0]
    rows: dict[str, dict[str, list[str]]] = {}
    for each, result in explored(questions, STATES_MAX["catalogue"]):
        [claim] = each.problem.asked or ()
        found = next(r for r in result.invariants if r.name == claim)
        at = rows.setdefault(each.title, {"holds": [], "falls": [], "left": []})
        if found.verdict is Verdict.VIOLATED:
            at["falls"].append(f"`{each.version}` {found.depth}")
        elif found.verdict is Verdict.HOLDS:
            at["holds"].append(f"`{each.version}` {result.distinct:,}")
        else:
            at["left"].append(f"`{each.version}`")
    table = in_markdown(
        (
            "entry",
            "holds without bounds (states)",
            "falls beyond its bounds (steps)",
            "not finished",
        ),
        (
            (name, *(", ".join(at[kind]) for kind in ("holds", "falls", "left")))
            for name, at in rows.items()
        ),
    )
    reasons = in_markdown(("entry", "why it has bounds"), refused.items())
    return f"{table}\n{reasons}"


def main() -> None:
    """Write a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("versions", "catalogue"))
    what = parser.parse_args().what
    made = versions() if what == "versions" else catalogue()
    marks = re.compile(rf"(<!-- table: {what} -->\n).*?(<!-- end of table -->)", re.DOTALL)
    text, count = marks.subn(
        lambda found: found[1] + made + found[2], DOCUMENT.read_text(encoding="utf-8")
    )
    if count != 1:
        raise SystemExit(f"{DOCUMENT} has no place for the table {what}")
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
