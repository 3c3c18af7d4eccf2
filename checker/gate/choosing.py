"""Which expectations of a gate are run: all, a share of them, or those that a change can reach."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from checker.compiled.rules import called_by, without_words
from checker.compiled.source import NotCompilable, source_of
from checker.errors import Refused
from checker.gate.expectation import Expectation
from checker.gate.fingerprint import PACKAGES, reached
from checker.gate.reading import DEFAULTS, ENTRIES
from checker.gate.searches import searches_of
from checker.problems.problem import Problem
from model.kit.claim import predicates_of

_PROGRAMS = ("model/", "invariants/", "checker/", "counterexamples/", "waterline/")
"""The folders of this project's own programs. Any other file reaches who names it."""
_RULES = ("model/", "invariants/")
"""Those with rules. On a program that is none everything depends."""
_HARMLESS = ("checker/console/", "checker/gate/reports/", "checker/confirm/")
"""What only shows what was found, or has its own way to find it."""


class BadChoice(Refused, ValueError):
    """What was asked to be run cannot be told apart; the message says why, and the remedy."""


def share(expectations: Sequence[Expectation], number: int, of: int) -> list[Expectation]:
    """The share `number`, from 1, of so many; expectations that share a search stay together."""
    chosen = {n for search in searches_of(expectations)[number - 1 :: of] for n in search.answers}
    return [each for place, each in enumerate(expectations) if place in chosen]


@dataclass(slots=True)
class _Changes:
    """What differs: definitions of rules by file, and whether there is more than rules."""

    everything: str | None = None
    definitions: dict[str, set[str]] = field(default_factory=dict)
    files: set[Path] = field(default_factory=set)


def changed_since(
    expectations: Sequence[Expectation], reference: str, gates: Sequence[Path]
) -> tuple[list[Expectation], str]:
    """Those that a change since a commit can reach, and a sentence about it.

    What is not yet committed counts. A rule reaches the expectations that call it; anything that is
    no rule, or may be more, reaches all. Raises `BadChoice`.
    """
    commit = _commit(reference)
    changes = _changes(commit, expectations)
    if changes.everything:
        return list(expectations), f"{changes.everything} has changed: all are run"
    entries = {gate.resolve(): _changed_entries(gate, commit) for gate in gates}
    chosen = []
    for each in expectations:
        of_gate = entries.get(Path(each.place.file).resolve())
        name = each.name.partition(" [")[0]
        if of_gate is None or name in of_gate or each.name in of_gate or _meets(each, changes):
            chosen.append(each)
    return chosen, f"{len(chosen)} of {len(expectations)} depend on what changed since {reference}"


def _meets(expectation: Expectation, changes: _Changes) -> bool:
    if any(file.resolve() in changes.files for file in expectation.files):
        return True
    for function in _functions(expectation.problem):
        source = source_of(function)
        path = Path(source.file).resolve()
        if path in changes.files:
            return True
        if function.__name__ in changes.definitions.get(_named(path), ()):
            return True
    return False


def _functions(problem: Problem) -> Iterator[Any]:
    for _, function in called_by(problem):
        yield from reached(function)


def _changes(reference: str, expectations: Sequence[Expectation]) -> _Changes:
    """The files that differ, each looked into as far as it has rules."""
    root = Path(_git(Path.cwd(), "rev-parse", "--show-toplevel").strip())
    told = _git(root, "diff", "--name-only", "-z", reference, "--")
    new = _git(root, "ls-files", "--others", "--exclude-standard", "-z")
    changes = _Changes()
    of_rules = _rules_of(expectations)
    for name in sorted({*told.split("\0"), *new.split("\0")} - {""}):
        path = root / name
        is_ours = root.resolve() == PACKAGES.resolve() and name.startswith(_PROGRAMS)
        if name == "pyproject.toml":
            changes.everything = name
        elif not (is_ours and name.endswith(".py")):
            changes.files.add(path.resolve())
        elif name.startswith(_RULES):
            differing = _differing(root, name, reference)
            if not differing <= of_rules.get(name, set()):
                changes.everything = name
            changes.definitions[name] = differing
        elif not name.startswith(_HARMLESS):
            changes.everything = name
    return changes


def _rules_of(expectations: Sequence[Expectation]) -> dict[str, set[str]]:
    """Every function that a rule or a claim of any version may call, by file."""
    found: dict[str, set[str]] = {}
    seen: set[object] = set()
    for each in expectations:
        model, problem = each.problem.model, each.problem
        roots = [f for a in model.actions for f in (a.guard, a.effect, a.limit) if f is not None]
        roots += [claim.holds for claim in problem.invariants]
        roots += [claim.keeps for claim in problem.properties]
        roots += [asked for claim in problem.behaviours for asked in predicates_of(claim)]
        roots += [claim.happens for claim in problem.reachable]
        for root in roots:
            if root in seen:
                continue
            seen.add(root)
            try:
                functions = reached(root)
            except NotCompilable:
                continue
            for function in functions:
                path = _named(Path(source_of(function).file).resolve())
                found.setdefault(path, set()).add(function.__name__)
    return found


def _named(path: Path) -> str:
    top = PACKAGES.resolve()
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else str(path)


def _differing(root: Path, name: str, reference: str) -> set[str]:
    """The definitions of a module that differ; "" for what is no function."""
    before, after = _definitions(_shown(root, name, reference)), {"": "?"}
    path = root / name
    if path.is_file():
        after = _definitions(path.read_text(encoding="utf-8"))
    return {each for each in {*before, *after} if before.get(each) != after.get(each)}


def _definitions(text: str) -> dict[str, str]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {"": text}
    found = {"": ""}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = ast.unparse(without_words(node))
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            found[""] += ast.unparse(node) + "\n"
    return found


def _changed_entries(gate: Path, reference: str) -> set[str] | None:
    """The names of entries that differ; None where all do."""
    root = Path(_git(gate.parent, "rev-parse", "--show-toplevel").strip())
    name = gate.resolve().relative_to(root.resolve()).as_posix()
    try:
        before = tomllib.loads(_shown(root, name, reference))
    except tomllib.TOMLDecodeError:
        return None
    after = tomllib.loads(gate.read_text(encoding="utf-8-sig"))
    if before.get(DEFAULTS) != after.get(DEFAULTS):
        return None
    was = {entry.get("name"): entry for entry in before.get(ENTRIES, [])}
    return {e["name"] for e in after[ENTRIES] if was.get(e["name"]) != e}


def _shown(root: Path, name: str, reference: str) -> str:
    """A file as it was; nothing where there was none."""
    try:
        return _git(root, "show", f"{reference}:{name}")
    except BadChoice:
        return ""


def _git(folder: Path, *arguments: str) -> str:
    """What git says. Raises `BadChoice`."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, encoding="utf-8", check=False
        )
    except OSError as problem:
        raise BadChoice(f"--changed-since needs git, which {problem.strerror}") from None
    if done.returncode != 0:
        told = (done.stderr.strip().splitlines() or ["it failed"])[-1]
        raise BadChoice(f"--changed-since: git {arguments[0]}: {told}")
    return done.stdout


def _commit(reference: str) -> str:
    """The commit that is meant. Raises `BadChoice`."""
    if reference.startswith("-"):
        raise BadChoice(f"--changed-since: {reference!r} is no commit")
    return _git(Path.cwd(), "rev-parse", "--verify", f"{reference}^{{commit}}").strip()
