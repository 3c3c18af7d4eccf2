"""Random protocols whose rules and claims raise errors: every engine says what plain Python says.

    python -m lab.fuzz.raising [--seed N] [--minutes M]

Of each protocol so many are made that differ in where they raise; they share a kernel. The rule
that is compared is that of docs/checker.md: a claim is asked in every state, or on every step, of
every level that is checked, and an error anywhere in a level ends the run there. Python explores
twice: `lab.fuzz.plain_oracle` runs the text of the file and shares nothing with the checker,
`lab.fuzz.interpreted` says in which states something raises. Beside verdicts, depths, counts,
traces and the error that is named, what goes through levels again is run: resuming, the profile,
the export of states, certificates, random walks. One protocol in ten is searched on Spark as well.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from lab.fuzz.interpreted import Interpreted
from lab.fuzz.oracle import require
from lab.fuzz.plain_oracle import Frozen, Oracle, TooLarge
from lab.fuzz.plain_oracle import Raised as RaisedInPython
from lab.fuzz.random_protocols import PROTOCOL, random_protocol
from lab.fuzz.rounds import Round, attack
from tests.support.alike import alike
from tests.support.engines import engine_for
from waterline.checker.analysis.certificate.certificate import open_certificate
from waterline.checker.analysis.certificate.certifying import certify
from waterline.checker.analysis.certificate.writing import write_certificate
from waterline.checker.analysis.export import export
from waterline.checker.analysis.simulate.simulation import Wanted, simulate
from waterline.checker.analysis.simulate.walker import Choosing, Plan
from waterline.checker.checking import run as running
from waterline.checker.checking.run import Run, RunRaised, run
from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Engine, EngineChoice
from waterline.checker.search.identity import identity_of
from waterline.checker.search.result import NO_BUDGETS, Budgets, Result, Verdict
from waterline.checker.search.rule_errors import Raised
from waterline.checker.search.search import SearchFault, search
from waterline.checker.storage.run_directory import begin, resume
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.vetting import vet
from waterline.model.core.claim import predicates_of

LOCAL = ("one thread", "two threads", "over files", "handed over", "resumed")
SPARK = ("spark", "spark after two levels")
STATES_MAX = 200
RAISES_AT = (-2, -1, 0, 1, 2, 3, 4, 5)
WALKS = 50
BOUNDS = 5
"""Of each text so many problems."""


@dataclass(frozen=True)
class Drawn:
    """A problem, and what running its file as plain Python came to."""

    problem: Problem
    python: Raising


def drawn(seed: int, bounds: int) -> list[Drawn]:
    """At most so many problems of one text that differ in where they raise: first those that do.

    None where there are too many states, or no first state.
    """
    text = random_protocol(seed, risky=True)
    family = own_family(text, "drawn.py")
    ran: dict[int, Raising] = {}
    for at in random.Random(f"raises at {seed}").sample(RAISES_AT, len(RAISES_AT)):
        with suppress(TooLarge, RaisedInPython, ArithmeticError):  # What begins may raise, too.
            ran[at] = Raising(text.replace("at: int = 0", f"at: int = {at}"), STATES_MAX)
    chosen = sorted(ran, key=lambda at: ran[at].raises_at is None)[:bounds]
    problems = {at: vet(family.problem(PROTOCOL, {"at": at})) for at in chosen}
    return [Drawn(problem, ran[at]) for at, problem in alike(problems).items()]


# --- plain Python ---------------------------------------------------------------------------------


@dataclass
class Raising(Oracle):
    """The text of a file run as Python, level by level, up to the first in which anything raises.

    `raises_at` is the depth of that, None if there is none.
    """

    raises_at: int | None = None
    levels: list[list[Frozen]] = field(default_factory=list)

    def _explore(self) -> None:
        level, depth = self.initial, 0
        self.depth = dict.fromkeys(level, 0)
        while level:
            self.levels.append(level)
            if self._in_states(level, depth) or (following := self._out_of(level, depth)) is None:
                self.raises_at = depth
                return
            if len(self.depth) > self.states_max:
                raise TooLarge
            level, depth = following, depth + 1
        predicates = [each for _, *pair in self.claims.values() for each in pair]
        for depth, level in enumerate(self.levels):
            if _fails((each, (state,)) for state in level for each in predicates):
                self.raises_at = depth
                return

    def _in_states(self, level: list[Frozen], depth: int) -> bool:
        """True if a claim about states raises in one of these."""
        asked = [*self.declared.get("always", ())]
        if depth == 0:
            asked += [each for each in self.declared.get("sometimes", ()) if not _is_of_steps(each)]
        claims = [self.sees(each, {}) for each in asked]
        return _fails((claim, (state,)) for state in level for claim in claims)

    def _out_of(self, level: list[Frozen], depth: int) -> list[Frozen] | None:
        """The next level; None where an action raises, or a claim on a step."""
        following, fails = list[Frozen](), False
        for state in level:
            self.steps[state], self.cut[state] = [], set()
            for call, function in self.calls:
                try:
                    after, is_cut = self._taken(state, call, function)
                except Exception:
                    fails = True
                    continue
                if is_cut:
                    self.cut[state].add(call)
                if after is None:
                    continue
                self.steps[state].append((call, after))
                if after not in self.depth:
                    self.depth[after] = depth + 1
                    following.append(after)
        pairs = [(state, after) for state in level for _, after in self.steps[state]]
        asked = [(each, True) for each in self.declared.get("every_step", ())]
        asked += [(each, _is_of_steps(each)) for each in self.declared.get("sometimes", ())]
        fails |= _fails(
            (self.on(function), pair if of_steps else pair[1:])
            for pair in pairs
            for function, of_steps in asked
        )
        return None if fails else following


def _is_of_steps(function: Any) -> bool:
    return bool(function.__code__.co_argcount == 2)


def _fails(asked: Iterator[tuple[Any, tuple[Any, ...]]]) -> bool:
    for function, given in asked:
        try:
            function(*given)
        except Exception:  # Whatever it raises is an error of the run.
            return True
    return False


def raised_in_python(problem: Problem) -> tuple[Result, int | None, tuple[StateWords, ...]]:
    """What the rules interpreted come to: verdicts, and the states in which something raises."""
    with closing(engine := Interpreted(problem)):
        try:
            result = search(problem, engine)
        except SearchFault as fault:
            return fault.result, fault.depth, fault.states
    for depth, level in enumerate(engine.levels):
        claims = problem.applicable_behaviours
        asked = [predicate for claim in claims for predicate in predicates_of(claim)]
        settings = problem.model.settings
        states = [s for s in level if _fails((each, (s, settings)) for each in asked)]
        if states:
            return result, depth, tuple(sorted(state.words for state in states))
    return result, None, ()


# --- the checker ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What one way of searching says: all of it is compared, but for the state itself."""

    said: Mapping[str, Any]
    error: str
    depth: int | None
    words: StateWords | None
    traces: tuple[Any, ...]


def seen_of(problem: Problem, way: str, folder: Path, session: Any = None) -> Seen:
    """The problem searched in this way."""
    try:
        done = _done(problem, way, folder, session)
    except RunRaised as raised:
        error = raised.run.error
        assert error is not None
        return _seen(raised.run, str(raised), error.depth, raised.state.words)
    return _seen(done, "", None, None)


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


def _seen(done: Run, error: str, depth: int | None, words: StateWords | None) -> Seen:
    result = done.result
    said = {
        **summary(result),
        "deadlock": result.deadlock,
        "levels": [s.states for s in result.levels],
    }
    traces = tuple(finding.replayed.trace for finding in done.shown)
    return Seen(said, error, depth, words, traces)


def _done(problem: Problem, way: str, folder: Path, session: Any) -> Run:
    if way in SPARK:
        levels = 0 if way == "spark" else 2
        return run(problem, EngineChoice(driver_levels=levels, session=session))
    if way == "resumed":
        return _resumed(problem, folder)
    if way in {"over files", "handed over"}:

        def made(problem: Problem, *given: Any, **options: Any) -> Engine:
            return engine_for(problem, way)

        with mock.patch.object(running, "engine_for", made):
            return run(problem, EngineChoice(name="local"))
    threads = 1 if way == "one thread" else 2
    choice = EngineChoice(name="local", threads=threads)
    return run(problem, choice, profiled=way == "two threads")


def _resumed(problem: Problem, folder: Path) -> Run:
    """Kept in a folder, stopped after two levels, and continued; then what is kept is exported."""
    where, out, levels = str(folder / "kept"), folder / "exported", 0
    choice = EngineChoice(name="local", threads=1)
    try:
        for budgets in (Budgets(max_depth=1), NO_BUDGETS):
            kept = (
                begin(where, identity_of(problem), problem.model.layout.words)
                if budgets.max_depth
                else resume(where)
            )
            with closing(kept):
                try:
                    done = run(problem, choice, budgets=budgets, directory=kept)
                finally:
                    levels = len(kept.manifest.levels)
        return done
    finally:
        if levels:
            export(where, out, _finding(problem), steps=True, threads=1)


def _finding(problem: Problem) -> Any:
    """What finds the family of a kept run or certificate: it is of this problem, made once."""
    return lambda name: SimpleNamespace(make=lambda spec: problem)


# --- comparison -----------------------------------------------------------------------------------


def compare(each: Drawn, ways: tuple[str, ...], noted: Counter[str], session: Any = None) -> None:
    """One problem in every way. Raises `Wrong`."""
    problem, oracle = each.problem, each.python
    result, depth, states = raised_in_python(problem)
    require(depth == oracle.raises_at, ("Python", depth, oracle.raises_at))
    sizes = [len(level) for level in oracle.levels]
    require([s.states for s in result.levels] == sizes[: len(result.levels)], ("levels", sizes))
    noted["compared"] += 1
    noted["raise an error"] += depth is not None
    first: Seen | None = None
    with tempfile.TemporaryDirectory() as temporary:
        for way in ways:
            found = seen_of(problem, way, Path(temporary), session)
            require(found.depth == depth, (way, "raises at", found.depth, depth, found.error))
            require(depth is None or found.words in states, (way, "no error in", found.words))
            expected = summary(result) | {"complete": depth is None}
            mine = {
                name: value
                for name, value in found.said.items()
                if name in expected and not _is_of_behaviours(problem, name)
            }
            for name, value in mine.items():
                wanted = _withdrawn(expected[name], depth)
                require(value == wanted, (way, name, value, wanted))
            first = first or found
            require(found == first, (way, found, first))
        noted[f"error of {_kind(problem, first)}"] += depth is not None
        _go_again(problem, depth, Path(temporary), noted)


def _withdrawn(value: Any, depth: int | None) -> Any:
    """A verdict as it is where the run ends in an error."""
    if depth is not None and isinstance(value, list) and value[0] == Verdict.HOLDS.value:
        return [Verdict.INCOMPLETE.value, None]
    return value


def _is_of_behaviours(problem: Problem, name: str) -> bool:
    return any(claim.name == name for claim in problem.behaviours)


def _kind(problem: Problem, seen: Seen | None) -> str:
    if seen is None or not seen.error:
        return "nothing"
    kinds = {
        "a claim about states": problem.invariants,
        "a claim about steps": problem.properties,
        "what must happen": problem.reachable,
        "a claim about behaviours": problem.behaviours,
    }
    said = seen.error.partition("claim ")[2].partition(":")[0].partition(" of ")[0]
    named = (kind for kind, claims in kinds.items() if any(c.name == said for c in claims))
    return next(named, "an action")


def _go_again(problem: Problem, depth: int | None, folder: Path, noted: Counter[str]) -> None:
    """What goes through the levels again, or walks: a certificate, and random walks."""
    walked = []
    for threads in (1, 2):
        plan = Plan(depth=8, seed=3, choosing=Choosing.STEPS)
        try:
            choice = EngineChoice(name="local", threads=threads)
            seen = simulate(problem, choice, plan, Wanted(walks=WALKS, shorten_states=0))
            walked.append(str(seen.coverage.happened.tolist()))
        except Raised as raised:
            require(depth is not None, ("walks raise", str(raised)))
            walked.append(str(raised))
    require(walked[0] == walked[1], ("walks", walked))
    noted["walks raise"] += depth is not None and not walked[0].startswith("[")
    if depth is None:
        out = folder / "certificate"

        def written(engine: Engine, result: Result) -> None:
            names = {claim.name for claim in problem.judged}
            if any(r.verdict is Verdict.HOLDS and r.name in names for r in result.invariants):
                write_certificate(engine, result, out=out)

        run(problem, EngineChoice(name="local", threads=1), finished=written)
        if out.exists():
            certified = certify(open_certificate(out, _finding(problem)), jobs=1)
            require(certified.failure is None, ("certificate", certified.failure))
            noted["certified"] += 1


@contextmanager
def rounds() -> Iterator[Round]:
    """The problems of one text a round."""
    session: Any = None

    def make_round(seed: int, seen: Counter[str]) -> None:
        nonlocal session
        if (is_on_spark := seed % 10 == 0) and session is None:
            session = _session()
        for each in drawn(seed, BOUNDS):
            compare(each, (*LOCAL, *SPARK) if is_on_spark else LOCAL, seen, session)

    try:
        yield make_round
    finally:
        if session is not None:
            session.stop()


def _session() -> Any:
    from waterline.checker.search.engines.spark_session import start_context  # noqa: PLC0415 - takes seconds

    return start_context("local[1]", log=Path(tempfile.mkdtemp()) / "spark.log")


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.raising", rounds))
