"""Mutation of the rules: alter each guard, limit and effect of `model/` in turn; see if it shows.

A mutant is a copy of `model/` with one expression or statement changed. It is searched, in a
process of its own, in a list of environments; what a run counts and concludes is compared with
what the unaltered rules give there. The first difference kills the mutant. One without any is a
survivor: either nothing can tell it apart, or the environments show too little.

    python -m bench.mutation [--module NAME] [--limit N] [--json FILE]

Cheap environments come first, interpreted ones: they kill most. Only what is left is compiled. All
environments of two replicas have one shape, so that a mutant is compiled once for them.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import invariants
import invariants.reachable
from checker.budgets import Budgets
from checker.engines.engine import Arrivals, Engine, Expansion, Words
from checker.engines.memory import MemoryEngine
from checker.problems.problem import Problem
from checker.result import Result
from checker.rows import Rows
from checker.search import search
from model.kit.state import State
from model.message import terms
from model.message.environment import Environment
from model.message.model import message_model

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    "produce",
    "fetch",
    "isr",
    "process",
    "controller",
    "metadata",
    "truncation",
    "roles",
    "high_watermark",
    "epochs",
    "normal_form",
    "terms",
)
"""The modules of `model/` that hold rules; the others are tables, ranges and words."""

SECONDS_MAX = {"interpreted": 20, "compiled": 150}
"""A search that takes longer than this, compilation included, is in a loop without end."""

KILLED, SURVIVED, INVALID = "killed", "SURVIVED", "invalid"
_IGNORED = shutil.ignore_patterns("__pycache__", "peers")


# Environments, and what is compared.


@dataclass(frozen=True, slots=True)
class Setting:
    """A version in an environment, and how it is searched: interpreted or compiled."""

    version: str
    options: dict[str, Any]
    engine: str

    @property
    def name(self) -> str:
        """`hw acks=1 (compiled)`"""
        words = [f"{option}={value}" for option, value in self.options.items()]
        return " ".join([self.version, *words, f"({self.engine})"])


def _stage(engine: str, *environments: dict[str, Any]) -> tuple[Setting, ...]:
    return tuple(Setting(v, e, engine) for e in environments for v in ("hw", "epoch"))


STAGES = (
    _stage(
        "interpreted",
        {"records": 1, "epochs": 1, "restarts": 1},
        {"records": 1, "epochs": 1, "restarts": 2},
        {"records": 2, "epochs": 1, "restarts": 0, "moves": 1},
        {"records": 1, "restarts": 1, "restart_detection": "none", "acks": "1"},
        {"records": 1, "restarts": 1, "restart_detection": "any", "acks": "0"},
        {"records": 1, "restarts": 1, "hw_in_response": "pre", "min_insync_replicas": 2},
        {"records": 2, "epochs": 1, "restarts": 1, "unclean_leader_election": True},
        {"records": 1, "restarts": 1, "moves": 1, "parked_fetches": True},
    ),
    _stage(
        "compiled",
        {"epochs": 3},
        {"epochs": 3, "unclean_leader_election": True},
        {"epochs": 3, "restarts": 0, "moves": 3},
        {"epochs": 3, "acks": "1"},
        {"epochs": 3, "acks": "1", "min_insync_replicas": 2},
        {"epochs": 3, "acks": "0"},
        {"epochs": 3, "hw_in_response": "pre"},
        {"epochs": 3, "parked_fetches": True},
        {"epochs": 3, "min_insync_replicas": 2},
        {"epochs": 3, "restart_detection": "none"},
        {"epochs": 3, "restart_detection": "any"},
        {"epochs": 3, "moves": 1, "unclean_leader_election": True, "parked_fetches": True},
    ),
    _stage("compiled", {"records": 3, "epochs": 3, "moves": 1, "unclean_leader_election": True}),
    _stage("compiled", {"replicas": 3, "records": 1, "restarts": 1, "moves": 1}),
)
"""Every stage costs more than the one before it: interpreting, then compiling for each shape."""


class Interpreted:
    """An engine for small bounds: the rules run as Python, with every access checked."""

    name = "interpreted"
    can_shed = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = model = problem.model
        self.calls = [
            (number, action, arguments)
            for number, action in enumerate(model.actions)
            if action.name in model.contents
            for arguments in model.bindings(action)
        ]
        self.depth = -1
        self.frontier: list[State] = []
        self.pending = list(model.initial)
        self.seen = set(self.pending)

    def absorb(self) -> Arrivals:
        """Make the pending states the level, and check them."""
        self.depth += 1
        self.frontier, self.pending = self.pending, []
        broken = {}
        for number, claim in enumerate(self.problem.invariants):
            if claim.applies(self.model.settings):
                bad = [s.words for s in self.frontier if not claim.holds(s, self.model.settings)]
                if bad:
                    broken[number] = min(bad)
        return Arrivals(depth=self.depth, new=len(self.frontier), broken=broken)

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Every successor of every state of the level."""
        fired = np.zeros(len(self.model.actions), np.int64)
        cut = np.zeros((len(self.model.actions), len(self.model.limits)), np.int64)
        happened = happened.copy()
        broken: dict[int, Words] = {}
        for state, (number, action, arguments) in itertools.product(self.frontier, self.calls):
            if self.model.is_enabled(state, action, arguments):
                if bound := self.model.exceeded(state, action, arguments):
                    cut[number, bound] += 1
                    continue
                fired[number] += 1
                after = self.model.apply(state, action, arguments)
                for claim in np.flatnonzero(~happened):
                    happens = self.problem.reachable[claim].happens
                    happened[claim] = happens(state, after, self.model.settings)
                for claim, kept in enumerate(self.problem.properties):
                    if self.problem.is_checked(kept) and not kept.keeps(
                        state, after, self.model.settings
                    ):
                        broken[claim] = min(broken.get(claim, state.words), state.words)
                if after not in self.seen:
                    self.seen.add(after)
                    self.pending.append(after)
        return Expansion(fired=fired, cut=cut, happened=happened, broken=broken)

    def level(self, depth: int) -> Iterator[Rows]:
        """The states of the last level; earlier ones are not kept."""
        yield np.array([state.words for state in self.frontier], np.uint64)

    def close(self) -> None:
        """Nothing is held."""


def observe(setting: Setting, states_max: int | None = None) -> dict[str, Any]:
    """What a run of the setting counts and concludes; a run past `states_max` is cut short."""
    model = message_model(setting.version, Environment(**setting.options))
    properties = invariants.PROPERTIES
    problem = Problem(model, invariants.ALL, invariants.reachable.ALL, properties=properties)
    compiled = setting.engine == "compiled"
    engine: Engine = MemoryEngine(problem, threads=1) if compiled else Interpreted(problem)
    try:
        return summary(search(problem, engine, budgets=Budgets(max_states=states_max)))
    finally:
        engine.close()


def summary(result: Result) -> dict[str, Any]:
    """The part of a result that is compared, as plain values."""
    return {
        "complete": result.complete,
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
        **{f"fired {name}": count for name, count in result.fired.items()},
        **{f"cut by {name}": count for name, count in result.cut.items()},
        **{i.name: [i.verdict.value, i.depth] for i in result.invariants},
        **{claim.name: claim.depth for claim in result.reachable},
    }


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str | None:
    """The first thing in which two runs differ, or None."""
    if not found["complete"]:
        return f"distinct {expected['distinct']} -> more"
    for name, value in expected.items():
        if found[name] != value:
            return f"{name} {value} -> {found[name]}"
    return None


def judge(expected_file: str) -> None:
    """Search this process's model, setting by setting, and print what came of it as JSON lines.

    The last line is the outcome; a line before it names the setting that was begun.
    """
    expected = json.loads(Path(expected_file).read_text())
    for stage in STAGES:
        for setting in sorted(stage, key=lambda s: int(expected[s.name]["distinct"])):
            print(json.dumps({"by": setting.name}), flush=True)
            signal.alarm(SECONDS_MAX[setting.engine])
            wanted = expected[setting.name]
            try:
                found = observe(setting, states_max=wanted["distinct"] + 1)
            except Exception as fault:
                words = f"{type(fault).__name__}: {fault}".splitlines()[0]
                print(json.dumps({"outcome": INVALID, "how": words[:160]}), flush=True)
                return
            if how := difference(wanted, found):
                print(json.dumps({"outcome": KILLED, "how": how}), flush=True)
                return
    print(json.dumps({"outcome": SURVIVED, "by": "", "how": ""}), flush=True)


def measure(expected_file: str) -> None:
    """Write what the unaltered rules give in every setting."""
    expected = {s.name: observe(s) for stage in STAGES for s in stage}
    Path(expected_file).write_text(json.dumps(expected, indent=1))


# Mutants: one place in the text, and what is put there.


@dataclass(slots=True)
class Mutant:
    """One alteration: where it is, what it does, the altered text of its module; what became of it.

    `by` names the setting that decided it, `how` what it counted there.
    """

    number: int
    module: str
    line: int
    column: int
    rule: str
    change: str
    text: str
    outcome: str = ""
    by: str = ""
    how: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        where = f"model/{self.module}.py:{self.line}:{self.column}"
        return f"{self.number} {where} {self.rule}: {self.change}"


Change = tuple[str, ast.AST]
"""What an alteration does, in words, and the node that it puts in place."""
Place = tuple[Any, ast.AST, Callable[[ast.AST], None]]
"""A node, its parent, and what lets another node, or the same again, hang in its place."""

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitXor,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_FAMILIES = (
    ("NO_ROLE", "LEADER", "TRUNCATING", "FETCHING"),
    ("IDLE", "REQUESTED", "ANSWERED", "OUT_OF_RANGE", "PARKED"),
    ("ACKS_NONE", "ACKS_LEADER", "ACKS_ALL"),
    ("UNNOTICED_NONE", "UNNOTICED_FOLLOWER", "UNNOTICED_ANY"),
    ("TRUNCATE_TO_HIGH_WATERMARK", "TRUNCATE_BY_EPOCH"),
)
_KIN = {name: tuple(o for o in family if o != name) for family in _FAMILIES for name in family}
_NOTHING = ("NO_REPLICA", "NO_EPOCH", "NO_RECORD", "UNKNOWN_OFFSET")
_REPLICAS = {"leader": "follower", "follower": "leader"}


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its text; no two of them read the same."""
    tree = ast.parse((ROOT / "model" / "message" / f"{module}.py").read_text())
    seen = {ast.unparse(tree)}
    for rule in tree.body:
        if not isinstance(rule, ast.FunctionDef):
            continue
        for node, parent, put in places(rule):
            for change, other in alterations(node, parent, rule):
                put(other)
                text = ast.unparse(ast.fix_missing_locations(tree))
                put(node)
                if text not in seen:
                    seen.add(text)
                    line, column = node.lineno, node.col_offset + 1
                    yield Mutant(0, module, line, column, rule.name, change, text)


def places(parent: ast.AST) -> Iterator[Place]:
    """Every node below, parents first."""
    for field, value in ast.iter_fields(parent):
        if isinstance(value, ast.AST):
            yield value, parent, partial(setattr, parent, field)
            yield from places(value)
        for index, node in enumerate(value) if isinstance(value, list) else ():
            if not isinstance(node, ast.AST):
                continue
            yield node, parent, partial(value.__setitem__, index)
            yield from places(node)


def alterations(node: Any, parent: ast.AST, rule: ast.FunctionDef) -> Iterator[Change]:
    """Everything that can be put in place of a node."""
    answers = isinstance(rule.returns, ast.Name) and rule.returns.id == "bool"
    if node is getattr(parent, "test", None) or (answers and isinstance(parent, ast.Return)):
        yield from decided(node)
    match node:
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr(value=ast.Call()):
            yield f"drop {_short(node)}", ast.Pass()
        case ast.BoolOp():
            yield from without_operands(node)
        case ast.UnaryOp(op=ast.Not()):
            yield _said(node, node.operand)
        case ast.Call(func=ast.Name(id="min" | "max" | "range")):
            yield from other_calls(node)
        case ast.Name(ctx=ast.Load()):
            for name in other_names(node, rule):
                yield f"{node.id} -> {_short(name)} in {_short(parent)}", name
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            for number in (value - 1, value + 1):
                yield f"{value} -> {number} in {_short(parent)}", ast.Constant(number)
    yield from (_said(node, other) for other in other_operators(node))


def decided(condition: Any) -> Iterator[Change]:
    """A condition negated, and decided once and for all; `other_operators` negates comparisons."""
    if isinstance(condition, ast.BoolOp | ast.Call):
        yield f"negate {_short(condition)}", ast.UnaryOp(ast.Not(), condition)
    for answer in (True, False):
        yield f"{_short(condition)} -> {answer}", ast.Constant(answer)


def without_operands(node: ast.BoolOp) -> Iterator[Change]:
    """An `and` or `or` with each of its operands left out."""
    word = "and" if isinstance(node.op, ast.And) else "or"
    for left_out in node.values:
        kept = [value for value in node.values if value is not left_out]
        shorter = kept[0] if len(kept) == 1 else ast.BoolOp(node.op, kept)
        yield f"drop {_short(left_out)} of `{word}`", shorter


def other_operators(node: ast.AST) -> Iterator[ast.AST]:
    """Another comparison or another operation on the same operands; another limit."""
    match node:
        case ast.Compare(ops=[op]):
            for other in _COMPARISONS.get(type(op), ()):
                yield ast.Compare(node.left, [other()], node.comparators)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right)
        case ast.AugAssign() if type(node.op) in _OPERATORS:
            yield ast.AugAssign(node.target, _OPERATORS[type(node.op)](), node.value)
        case ast.Attribute(value=ast.Name(id="limits")):
            for name in ("WITHIN", "RECORDS", "EPOCHS"):
                yield ast.Attribute(node.value, name, ast.Load())


def other_names(node: ast.Name, rule: ast.FunctionDef) -> Iterator[ast.expr]:
    """One constant for another of its family, something for nothing, one replica for another."""
    for name in _KIN.get(node.id, ()):
        yield ast.Constant(getattr(terms, name))
    if node.id in _NOTHING:
        yield ast.Constant(getattr(terms, node.id) - 1)
        yield ast.Constant(getattr(terms, node.id) + 1)
    known = {n.id for n in ast.walk(rule) if isinstance(n, ast.Name)}
    if (other := _REPLICAS.get(node.id)) in known:
        yield ast.Name(str(other), ast.Load())


def other_calls(node: Any) -> Iterator[Change]:
    """`min` for `max`, one argument of them alone; a range that starts later or ends earlier."""
    if node.func.id == "range":
        start, end = node.args if len(node.args) == 2 else (ast.Constant(0), node.args[0])
        later = ast.BinOp(start, ast.Add(), ast.Constant(1))
        earlier = ast.BinOp(end, ast.Sub(), ast.Constant(1))
        yield _said(node, ast.Call(node.func, [later, end], []))
        yield _said(node, ast.Call(node.func, [start, earlier], []))
        return
    opposite = ast.Name("max" if node.func.id == "min" else "min", ast.Load())
    yield _said(node, ast.Call(opposite, node.args, []))
    yield from (_said(node, argument) for argument in node.args)


def _said(before: ast.AST, after: ast.AST) -> Change:
    return f"{_short(before)} -> {_short(after)}", after


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 72 else f"{text[:69]}..."


# Running them.


class Laboratory:
    """A frozen copy of the project in a temporary directory, so that it may be edited meanwhile."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.project = directory / "project"
        self.expected = directory / "expected.json"
        for package in ("model", "invariants", "checker", "counterexamples", "bench"):
            shutil.copytree(ROOT / package, self.project / package, ignore=_IGNORED)

    def measure(self) -> dict[str, Any]:
        """Establish what to compare with."""
        self._run("measure", self.project, self.directory / "said")
        expected: dict[str, Any] = json.loads(self.expected.read_text())
        return expected

    def judge(self, mutant: Mutant) -> None:
        """Search one mutant in a process of its own, and note what became of it."""
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.directory) as place:
            shutil.copytree(self.project / "model", Path(place, "model"), ignore=_IGNORED)
            Path(place, "model", "message", f"{mutant.module}.py").write_text(mutant.text)
            said = Path(place, "said")
            code = self._run("judge", Path(place), said)
            mutant.outcome, mutant.how = INVALID, f"exit code {code}"
            if code == -signal.SIGALRM:
                mutant.outcome, mutant.how = KILLED, "no end in sight"
            for line in said.read_text().splitlines():
                if line.startswith("{"):
                    for name, value in json.loads(line).items():
                        setattr(mutant, name, value)
        mutant.seconds = round(time.monotonic() - started, 1)

    def _run(self, function: str, first: Path, said: Path) -> int:
        """Call a function of this module in a process that looks for modules in `first`, first."""
        call = f"from bench import mutation; mutation.{function}({str(self.expected)!r})"
        command = [sys.executable, "-P", "-c", call]
        path = f"{first}{os.pathsep}{self.project}"
        environment = os.environ | {"PYTHONPATH": path, "WATERLINE_CACHE": str(first / "cache")}
        with said.open("w") as out:
            done = subprocess.run(command, env=environment, stdout=out, stderr=out, check=False)
        return done.returncode


def report(mutants: list[Mutant]) -> None:
    """The table by module, then every survivor."""
    print(f"\n{'module':16}{'mutants':>8}{KILLED:>8}{INVALID:>8}{SURVIVED:>10}")
    for name in (*MODULES, "all"):
        counts = Counter(m.outcome for m in mutants if name in ("all", m.module))
        if counts:
            print(f"{name:16}{counts.total():8}", end="")
            print(f"{counts[KILLED]:8}{counts[INVALID]:8}{counts[SURVIVED]:10}")
    for mutant in mutants:
        if mutant.outcome == SURVIVED:
            print(f"{SURVIVED} {mutant}")


def select(module: str | None, limit: int | None) -> list[Mutant]:
    """The mutants asked for, numbered as in a full run."""
    mutants = [mutant for name in MODULES for mutant in mutants_of(name)]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    return [m for m in mutants if module in (None, m.module)][:limit]


def main() -> int:
    """Run the mutants one after the other; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--module", choices=MODULES, help="only this module of model/")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N mutants")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome there")
    asked = parser.parse_args()
    mutants = select(asked.module, asked.limit)
    with tempfile.TemporaryDirectory(prefix="waterline-mutation-") as directory:
        laboratory = Laboratory(Path(directory))
        for name, counts in laboratory.measure().items():
            print(f"baseline {name}: {counts['distinct']} states, depth {counts['depth']}")
        for mutant in mutants:
            laboratory.judge(mutant)
            how = f" by {mutant.by}: {mutant.how}" if mutant.by else ""
            print(f"{mutant}: {mutant.outcome}{how} [{mutant.seconds} s]", flush=True)
    report(mutants)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1))
    return int(any(mutant.outcome == SURVIVED for mutant in mutants))


if __name__ == "__main__":
    sys.exit(main())
