"""Attack on the sort check: rules with a defect, judged by the check and by walks.

    python -m lab.fuzz.sorts [--seed N] [--minutes M]

A mutant is a rule with one place altered, so that it computes with a field that holds an epoch or a
record. `checker.sorts` refuses it in some version, or not.
`lab.fuzz.order_abstraction` walks through the bounded model with the same defect, beside the
unbounded one: where they differ the mutant is not data independent. A mutant that differs and is
not refused is a hole in the check, unless it stands in a function that is trusted.
"""

from __future__ import annotations

import ast
import importlib
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import Any

from lab.fuzz.mutants import MODULES, ROOT, Mutant
from lab.fuzz.order_abstraction import CASES, Pair, compare
from lab.fuzz.rounds import Round, Wrong, attack
from waterline import invariants
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.mutants.edits import places, short
from waterline.checker.problem.problem import Problem
from waterline.checker.sorts.check import violations
from waterline.model.core.claim import Temporal
from waterline.model.core.transition_system import Model
from waterline.model.message.declared import option_of
from waterline.model.message.model import message_model
from waterline.model.message.trusted import TRUSTED

ASIDE = ("normal_form", "order_abstraction", "terms", "features", "cluster")
"""Not rules: the normal form, words, tables."""
STATES = 24
"""Of each walk of a mutant."""
HOLE = "a hole"
TRUSTED_NAMES = {each.function.__name__ for each in TRUSTED}
WALKS = tuple(
    (version, {**circumstances, "settled": False})
    for version, circumstances in CASES
    if "replicas" not in circumstances
)


# --- mutants -------------------------------------------------------------------------------------


def sorted_mutants(module: str) -> Iterator[Mutant]:
    """Rules that compute with an epoch or a record before they use it."""
    tree = ast.parse((ROOT / "model" / "message" / f"{module}.py").read_text())
    fields = {f.name for f in message_model(*_usual()).layout.fields if f.held is not None}
    for rule in tree.body:
        if not isinstance(rule, ast.FunctionDef):
            continue
        for node, _, put in places(rule):
            named = node.value if isinstance(node, ast.Subscript) else node
            loaded = isinstance(getattr(node, "ctx", None), ast.Load)
            if not loaded or not isinstance(named, ast.Attribute) or named.attr not in fields:
                continue
            if named is node and _has_rows(named.attr):
                continue
            for text in ("{} + 1", "{} - 1", "{} * 2", "{} % 2", "min({}, 1)", "1 if {} else 0"):
                other = ast.parse(text.format(ast.unparse(node)), mode="eval").body
                put(other)
                altered = ast.unparse(ast.fix_missing_locations(tree))
                put(node)
                change = f"{short(node)} -> {short(other)}"
                yield Mutant(
                    0, module, node.lineno, node.col_offset + 1, rule.name, change, altered
                )


def _has_rows(field: str) -> bool:
    return bool(message_model(*_usual()).layout.places[field].shape)


def _usual() -> tuple[str, Any]:
    return "kip320", MESSAGE.usual


@contextmanager
def in_place(mutant: Mutant, folder: Path) -> Iterator[dict[FunctionType, FunctionType]]:
    """The functions of a mutant by those that they stand for, in all modules meanwhile."""
    module = importlib.import_module(f"waterline.model.message.{mutant.module}")
    file = Path(tempfile.mkdtemp(dir=folder)) / f"{mutant.module}.py"
    file.write_text(mutant.text)
    names: dict[str, Any] = {"__name__": module.__name__, "__file__": str(file)}
    exec(compile(mutant.text, str(file), "exec"), names)
    instead = {
        thing: names[name]
        for name, thing in vars(module).items()
        if isinstance(thing, FunctionType) and thing.__module__ == module.__name__
    }
    patched = []
    ours = [
        there
        for name, there in sys.modules.items()
        if name.startswith(("waterline.model.message", "waterline.invariants"))
        and name.rpartition(".")[2] not in ASIDE  # a normal form with a defect is not the question
    ]
    for each in ours:
        for name, thing in list(vars(each).items()):
            if isinstance(thing, FunctionType) and thing in instead:
                patched.append((each, name, thing))
                setattr(each, name, instead[thing])
    try:
        yield instead
    finally:
        for each, name, thing in patched:
            setattr(each, name, thing)


def altered(model: Model, instead: dict[FunctionType, FunctionType]) -> Model:
    """The model with the rules of a mutant."""

    def by(function: Any) -> Any:
        return instead.get(function, function)

    return replace(
        model,
        actions=tuple(
            replace(a, guard=by(a.guard), effect=by(a.effect), limit=by(a.limit))
            for a in model.actions
        ),
        trusted=tuple(replace(each, function=by(each.function)) for each in model.trusted),
    )


# --- judges --------------------------------------------------------------------------------------


def problems() -> list[Problem]:
    """The unbounded problem of each walk, with every claim that is judged."""
    claims = (*invariants.ALL, *invariants.PROPERTIES, *invariants.BEHAVIOURS)
    names = tuple(claim.name for claim in claims if not isinstance(claim, Temporal))
    usual = {**MESSAGE.usual.options(), "unbounded": True, "records": 2, "moves": 1}
    return [
        MESSAGE.problem(version, usual | {option_of(n): v for n, v in given.items()}, names)
        for version, given in WALKS
    ]


def refused(known: list[Problem], instead: dict[FunctionType, FunctionType]) -> str:
    """The first violation in some version; "" where there is none."""
    for problem in known:
        if found := violations(replace(problem, model=altered(problem.model, instead))):
            return str(found[0])
    return ""


def differs(
    pairs: list[Pair], instead: dict[FunctionType, FunctionType], states: int, seed: int
) -> str:
    """The first difference that a walk sees, by version; "" where none, "raises" for no rule."""
    for pair in pairs:
        both = Pair(altered(pair.bounded, instead), altered(pair.unbounded, instead))
        try:
            found = compare(both, states, seed)[1]
        except Exception as fault:
            return f"raises {type(fault).__name__}"
        if found:
            return f"{pair.bounded.version}: {found[0]}"
    return ""


def _outcome(mutant: Mutant, why: str, how: str) -> str:
    if why:
        return "refused" if not how or how.startswith("raises") else "refused and differs"
    if not how or how.startswith("raises"):
        return "passed"
    return "trusted" if mutant.rule in TRUSTED_NAMES else HOLE


@contextmanager
def rounds() -> Iterator[Round]:
    """A mutant a round."""
    known = problems()
    pairs = [Pair.of(version, circumstances) for version, circumstances in WALKS]
    mutants = [m for name in MODULES if name not in ASIDE for m in sorted_mutants(name)]
    with tempfile.TemporaryDirectory(prefix="waterline-sorts-") as folder:

        def make_round(seed: int, seen: Counter[str]) -> None:
            mutant = random.Random(seed).choice(mutants)
            with in_place(mutant, Path(folder)) as instead:
                why = refused(known, instead)
                how = differs(pairs, instead, STATES, seed)
            outcome = _outcome(mutant, why, how)
            seen[outcome] += 1
            if outcome == HOLE:
                raise Wrong(f"not refused: {mutant}: {how}")

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.sorts", rounds))
