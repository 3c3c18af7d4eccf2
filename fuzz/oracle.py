"""The checker and a plain oracle on random protocols: verdicts, depths, states left open, traces.

    python -m fuzz.oracle [--from SEED] [--models N] [--ways WAY,...] [--seconds S]

Each is searched whole, with `--reduce`, with `--symmetry`, in parts and by threads; and of some
elements it is asked one by one, reduced, what they ever are. Each counterexample is gone through
step by step in the oracle's own lists. Ends with 1 at any difference.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from checker.checking.run import Run, run
from checker.problem.problem import Problem
from checker.reduction.generated import made
from checker.reduction.plan import CannotReduce
from checker.reduction.planning import decided
from checker.reduction.reduction import reduced_as_analysed
from checker.reduction.smaller import smaller_model
from checker.search.engines.choice import EngineChoice
from checker.search.result import Verdict
from checker.search.rule_errors import Raised as ModelRaised
from checker.traces.finding import Finding
from checker.user_models.family import own_family
from checker.user_models.vetting import vetted
from fuzz.plain_oracle import Call, Declared, Frozen, Oracle, Raised, Told, TooLarge
from fuzz.random_models import verdicts
from fuzz.random_protocols import PROTOCOL, is_alike, random_protocol
from model.core.claim import Invariant
from model.core.errors import BadEnvironment

WAYS = ("whole", "threads", "parts", "reduced", "symmetry", "both", "probes")
PAIRS = 3
"""So many claims about two elements are asked of a protocol, beside one of each field."""
STATES_MAX = 1500


_Probe = tuple[Declared, Any, Any, str]
"""An element, a value, and the condition that it has that."""


@dataclass
class Compared:
    """What was compared, and what differs."""

    seen: Counter[str] = field(default_factory=Counter)
    differ: list[str] = field(default_factory=list)


class Difference(Exception):
    """The checker says something else than the oracle."""


def require(described: bool, what: object) -> None:
    """Raise `Difference` unless it is so."""
    if not described:
        raise Difference(what)


def problem_of(text: str, symmetry: str = "none") -> Problem:
    """As the command makes it; claims about what follows are left out under a symmetry."""
    family = own_family(text, "drawn.py")
    if symmetry == "none":
        return vetted(family.problem_of(PROTOCOL, {}))
    plain = family.problem_of(PROTOCOL, {})
    asked = [claim.name for claim in plain.judged]
    return vetted(family.problem_of(PROTOCOL, {}, asked, symmetry=family.symmetry_asked(symmetry)))


def done_by(problem: Problem, way: str) -> Run:
    """The run that is asked for."""
    threads = 2 if way == "threads" else 1
    return run(problem, EngineChoice(name="local", threads=threads, in_parts=way == "parts"))


def compare(seed: int, ways: tuple[str, ...], noted: Counter[str]) -> None:
    """One protocol in every way that it can be searched. Raises `Difference`."""
    text = random_protocol(seed)
    compare_text(text, ways, noted, alike=is_alike(seed))


def compare_text(
    text: str, ways: tuple[str, ...], noted: Counter[str], *, alike: bool = False
) -> None:
    """The same of a text."""
    try:
        oracle = Oracle(text, states_max=STATES_MAX)
        # What raises must be found by all; a probe asks of no claim that the file has.
        is_probed = ways == ("probes",)
        judged = {} if is_probed else oracle.judged()
        behaviours = {} if is_probed else oracle.behaviours()
        happened = {} if is_probed else oracle.happened()
    except TooLarge:
        noted["too large"] += 1
        return
    except Raised:
        noted["raising"] += 1
        _require_raises(text)
        return
    noted["compared"] += 1
    noted["states"] += len(oracle.depth)
    for way in ways:
        if way in {"whole", "threads", "parts"}:
            done = done_by(problem_of(text), way)
            require(
                done.result.distinct == len(oracle.depth), (way, "states", done.result.distinct)
            )
            _same(way, oracle, done, {**judged, **behaviours}, happened, noted)
            continue
        if way in {"symmetry", "both"} and not alike:
            continue
        if way == "probes":
            _probe(oracle, problem_of(text), text, noted)
            continue
        try:
            problem = problem_of(text, "none" if way == "reduced" else "node")
            less = problem if way == "symmetry" else _reduced(problem, noted)
        except CannotReduce as why:
            noted[f"refused: {str(why).partition(' ')[2][:50]}"] += 1
            continue
        except BadEnvironment as why:
            noted[f"refused: {str(why)[:60]}"] += 1
            continue
        noted[way] += 1
        if less.reduction is not None:
            described = less.reduction
            for what in ("fields", "actions", "postponed", "at_once", "dead"):
                noted[f"{way} {what}"] += bool(getattr(described, what))
        done = done_by(less, "whole")
        if way == "symmetry":
            orbits = len({_least_named(oracle, state) for state in oracle.depth})
            require(done.result.distinct == orbits, (way, "states", done.result.distinct, orbits))
        asked_too = {name: described for name, described in judged.items() if name in less.checked}
        _same(way, oracle, done, asked_too, happened, noted)


def _probe(oracle: Oracle, problem: Problem, text: str, noted: Counter[str]) -> None:
    """Whether an element ever has some value, by the model that is left where only that is asked.

    It is interpreted: nothing is compiled, and what is read of one claim leaves most fields out.
    """
    for asked in _probes(oracle, random.Random(text)):
        described = " and ".join(each[-1] for each in asked)
        holds = made(f"def holds(s, c):\n    return not ({described})\n", {})["holds"]
        claim = Invariant(name="probe", sentence="", holds=holds, explain=lambda *given: "")
        alone = Problem(problem.model, (claim,))
        try:
            less = replace(alone, model=smaller_model(problem.model, decided(alone)))
        except CannotReduce:
            noted["probes refused"] += 1
            continue
        found = verdicts(less)
        if found is None:
            continue
        noted["probes"] += 1
        expected = any(
            all(oracle.element(state, each, index) == value for each, index, value, _ in asked)
            for state in oracle.depth
        )
        noted["probes that are reached"] += expected
        require(found[0]["probe"] == expected, ("probe", described, "reached", expected))


def _probes(oracle: Oracle, dice: random.Random) -> Iterator[list[_Probe]]:
    """Of an element of each field each value, and a few pairs."""
    elements = [(each, index) for each in oracle.fields for index in each.indices]
    for declared in oracle.fields:
        index = dice.choice(declared.indices)
        for value in declared.values:
            yield [_asked(declared, index, value)]
    for _ in range(PAIRS):
        yield [
            _asked(declared, index, dice.choice(declared.values))
            for declared, index in dice.sample(elements, 2)
        ]


def _asked(declared: Declared, index: Any, value: Any) -> _Probe:
    at = "" if declared.by == () else str(list(index if isinstance(index, tuple) else [index]))
    return declared, index, value, f"s.{declared.name}{at} == {_kept(declared, value)}"


def _kept(declared: Declared, value: Any) -> int:
    """The number that the model keeps a value as."""
    if isinstance(value, str):
        return declared.values.index(value)
    return -1 if value is None else int(value)


def _reduced(problem: Problem, noted: Counter[str]) -> Problem:
    """The reduced form, without claims about steps where these are refused."""
    asked = frozenset(claim.name for claim in problem.judged)
    try:
        return reduced_as_analysed(replace(problem, asked=asked))
    except CannotReduce as why:
        noted[f"refused: {str(why).partition(' ')[2][:50]}"] += 1
    asked = frozenset(claim.name for claim in problem.invariants)
    return reduced_as_analysed(replace(problem, asked=asked, reachable=()))


def _require_raises(text: str) -> None:
    try:
        done_by(problem_of(text), "whole")
    except ModelRaised:
        return
    except BadEnvironment:
        return
    raise Difference("the oracle raises, the checker does not")


def _same(
    way: str,
    oracle: Oracle,
    done: Run,
    expected: dict[str, Told],
    happened: dict[str, int | None],
    noted: Counter[str],
) -> None:
    is_reduced = done.result.problem.reduction is not None
    checked = done.result.problem.checked
    found = {each.name: each for each in done.result.invariants if each.name in checked}
    require(set(found) == set(expected), (way, "claims", sorted(found), sorted(expected)))
    for name, described in expected.items():
        verdict = found[name].verdict
        require(
            verdict is (Verdict.VIOLATED if described.violated else Verdict.HOLDS),
            (way, name, verdict),
        )
        if not is_reduced:
            require(
                found[name].depth == described.depth,
                (way, name, found[name].depth, described.depth),
            )
        if name in oracle.claims:
            require(found[name].unjudged == described.unjudged, (way, name, found[name], described))
            kind = oracle.claims[name][0]
            noted[f"{kind} {'violated' if described.violated else 'holds'}"] += way == "whole"
            noted[f"{kind} left open"] += way == "whole" and described.unjudged > 0
    for each in done.result.reachable:
        depth = happened[each.name]
        require((each.depth is None) == (depth is None), (way, each, depth))
        if not is_reduced:
            require(each.depth == depth, (way, each, depth))
    shown = {finding.invariant: finding for finding in done.findings}
    require(
        set(shown) == {name for name, described in expected.items() if described.violated},
        (way, "findings", sorted(shown)),
    )
    for name, finding in shown.items():
        _read(way, oracle, name, expected[name], finding, is_reduced=is_reduced, noted=noted)


# --- counterexamples ------------------------------------------------------------------------------


def _read(
    way: str,
    oracle: Oracle,
    name: str,
    described: Told,
    finding: Finding,
    *,
    is_reduced: bool,
    noted: Counter[str],
) -> None:
    """Go through a counterexample in the oracle's lists, and see that it is one."""
    trace = finding.replayed.trace
    calls = [(step.action, tuple(value for _, value in step.arguments)) for step in trace.steps]
    states = [oracle.initial[trace.initial]]
    for call in calls:
        after = dict(oracle.steps[states[-1]]).get(call)
        require(after is not None, (way, name, "no such step", call))
        assert after is not None
        states.append(after)
    if name not in oracle.claims:
        if not is_reduced:
            require(len(calls) == described.depth, (way, name, len(calls), described.depth))
        return
    pattern, when, then = oracle.claims[name]
    if pattern == "recoverable":
        require(len(calls) == described.depth, (way, name, "length", len(calls)))
        require(oracle.is_stuck(states[-1], then), (way, name, "there is a way back"))
        return
    begins = trace.cycle if trace.cycle is not None else len(calls)
    require(begins == described.depth, (way, name, "cycle begins", begins))
    cycle = states[begins:]
    require(cycle[0] == cycle[-1], (way, name, "no cycle"))
    require(not any(map(then, cycle)), (way, name, "fulfilled on the cycle"))
    _require_fair(oracle, (way, name), cycle, calls[begins:])
    noted["cycles"] += len(cycle) > 1
    noted["staying"] += len(cycle) == 1
    last = max((i + 1 for i, state in enumerate(states) if then(state)), default=0)
    if pattern == "eventually":
        require(last == 0, (way, name, "fulfilled on the way"))
    elif pattern == "leads_to":
        require(any(map(when, states[last:])), (way, name, "never asked for"))
    _require_chosen(oracle, name, states[begins], finding, len(cycle))


def _require_fair(
    oracle: Oracle, where: tuple[str, str], cycle: list[Frozen], taken: list[Call]
) -> None:
    steps = {call for call, before, after in zip(taken, cycle, cycle[1:], strict=False)}
    for call, before, after in zip(taken, cycle, cycle[1:], strict=False):
        require(before != after, (where, "a step that changes nothing", call))
    for call, _ in oracle.calls:
        if call[0] in oracle.fair and call not in steps:
            require(
                any(not oracle.is_enabled(state, call) for state in cycle),
                (where, "not fair to", call),
            )


def _require_chosen(
    oracle: Oracle, name: str, begins: Frozen, finding: Finding, states: int
) -> None:
    """Of several states at that depth one in which a behaviour stays; then the least words."""
    _, _, then = oracle.claims[name]
    arrived = oracle.arrived(name)
    nearest = {s for s in oracle.staying(then) if arrived.get(s) == arrived[begins]}
    still = {state for state in nearest if oracle.is_fair([state])}
    require((states == 1) == bool(still), (name, "stays", states, len(still)))
    words = {state: _words(oracle, finding, state) for state in still or nearest}
    require(words[begins] == min(words.values()), (name, "not the least words"))


def _words(oracle: Oracle, finding: Finding, state: Frozen) -> Any:
    draft = finding.model.initial[0].draft()
    for declared in oracle.fields:
        for index in declared.indices:
            value = _kept(declared, oracle.element(state, declared, index))
            if declared.by == ():
                setattr(draft, declared.name, value)
            else:
                getattr(draft, declared.name)[index] = value
    return draft.freeze().words


def _least_named(oracle: Oracle, state: Frozen) -> Frozen:
    """The least of all states that differ from it in the names of nodes alone."""
    return min(_renamed(oracle, state), key=repr)


def _renamed(oracle: Oracle, state: Frozen) -> Iterator[Frozen]:
    nodes = oracle.sizes["nodes"]
    for order in itertools.permutations(range(nodes)):
        made = []
        for declared, value in zip(oracle.fields, state, strict=True):
            if declared.by == ():
                holds_name = declared.is_name and value is not None
                made.append(order[value] if holds_name else value)
                continue
            by_index = dict(zip(declared.indices, value, strict=True))
            to = {}
            for index, each in by_index.items():
                place = index if isinstance(index, tuple) else (index,)
                named = declared.by if isinstance(declared.by, tuple) else (declared.by,)
                moved = tuple(
                    at if isinstance(extent, int) else order[at]
                    for at, extent in zip(place, named, strict=True)
                )
                to[moved if isinstance(index, tuple) else moved[0]] = each
            made.append(tuple(to[index] for index in declared.indices))
        yield tuple(made)


def main(argv: list[str] | None = None) -> int:
    """Compare, and say what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="SEED")
    parser.add_argument("--models", type=int, default=300)
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args(argv)
    began, found = time.monotonic(), Compared()
    for seed in range(asked.first, asked.first + asked.models):
        if time.monotonic() - began > asked.seconds:
            break
        found.seen["models"] += 1
        try:
            compare(seed, tuple(asked.ways.split(",")), found.seen)
        except Exception as error:  # Whatever goes wrong is a difference.
            print(f"{seed}: {type(error).__name__}: {error}", flush=True)
            found.differ.append(str(seed))
    for what, count in sorted(found.seen.items()):
        print(f"{count:8} {what}")
    print(
        f"{len(found.differ)} differ: {', '.join(found.differ)}; {time.monotonic() - began:.0f} s"
    )
    return 1 if found.differ else 0


if __name__ == "__main__":
    sys.exit(main())
