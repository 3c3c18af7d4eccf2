"""The checker and a plain oracle on random protocols: verdicts, depths, states left open, traces.

    python -m lab.fuzz.oracle [--seed N] [--minutes M]

Each is searched whole, with `--symmetry` and by threads. Each counterexample is followed
step by step in the oracle's own lists.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.fuzz.plain_oracle import Call, Declared, Frozen, Oracle, Raised, Told, TooLarge
from lab.fuzz.random_protocols import PROTOCOL, is_alike, random_protocol
from lab.fuzz.rounds import Round, Wrong, attack
from waterline.checker.checking.run import Run, run
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.checker.search.rule_errors import Raised as ModelRaised
from waterline.checker.traces.finding import Finding
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.vetting import vet
from waterline.model.core.errors import BadEnvironment

WAYS = ("whole", "threads", "symmetry")
STATES_MAX = 1500


def require(described: bool, what: object) -> None:
    """Raise `Wrong` unless it is so."""
    if not described:
        raise Wrong(what)


def problem_of(text: str, symmetry: str = "none") -> Problem:
    """As the command makes it; claims about what follows are left out under a symmetry."""
    family = own_family(text, "drawn.py")
    if symmetry == "none":
        return vet(family.problem(PROTOCOL, {}))
    plain = family.problem(PROTOCOL, {})
    asked = [claim.name for claim in plain.judged]
    return vet(family.problem(PROTOCOL, {}, asked, symmetry=family.symmetry_asked(symmetry)))


def done_by(problem: Problem, way: str) -> Run:
    """The run that is asked for."""
    threads = 2 if way == "threads" else 1
    return run(problem, EngineChoice(name="local", threads=threads))


def compare(seed: int, ways: tuple[str, ...], noted: Counter[str]) -> None:
    """One protocol in every way that it can be searched. Raises `Wrong`."""
    text = random_protocol(seed)
    compare_text(text, ways, noted, alike=is_alike(seed))


def compare_text(
    text: str, ways: tuple[str, ...], noted: Counter[str], *, alike: bool = False
) -> None:
    """The same of a text."""
    try:
        oracle = Oracle(text, states_max=STATES_MAX)
        judged, behaviours, happened = oracle.judged(), oracle.behaviours(), oracle.happened()
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
        if way in {"whole", "threads"}:
            done = done_by(problem_of(text), way)
            require(
                done.result.distinct == len(oracle.depth), (way, "states", done.result.distinct)
            )
            _same(way, oracle, done, {**judged, **behaviours}, happened, noted)
            continue
        if not alike:
            continue
        try:
            less = problem_of(text, "node")
        except BadEnvironment as why:
            noted[f"refused: {str(why)[:60]}"] += 1
            continue
        noted[way] += 1
        done = done_by(less, "whole")
        orbits = len({_least_named(oracle, state) for state in oracle.depth})
        require(done.result.distinct == orbits, (way, "states", done.result.distinct, orbits))
        asked_too = {name: described for name, described in judged.items() if name in less.checked}
        _same(way, oracle, done, asked_too, happened, noted)


def _kept(declared: Declared, value: Any) -> int:
    """The number that the model keeps a value as."""
    if isinstance(value, str):
        return declared.values.index(value)
    return -1 if value is None else int(value)


def _require_raises(text: str) -> None:
    try:
        done_by(problem_of(text), "whole")
    except ModelRaised:
        return
    except BadEnvironment:
        return
    raise Wrong("the oracle raises, the checker does not")


def _same(
    way: str,
    oracle: Oracle,
    done: Run,
    expected: dict[str, Told],
    happened: dict[str, int | None],
    noted: Counter[str],
) -> None:
    checked = done.result.problem.checked
    found = {each.name: each for each in done.result.invariants if each.name in checked}
    require(set(found) == set(expected), (way, "claims", sorted(found), sorted(expected)))
    for name, described in expected.items():
        verdict = found[name].verdict
        require(
            verdict is (Verdict.VIOLATED if described.violated else Verdict.HOLDS),
            (way, name, verdict),
        )
        require(
            found[name].depth == described.depth, (way, name, found[name].depth, described.depth)
        )
        if name in oracle.claims:
            require(found[name].unjudged == described.unjudged, (way, name, found[name], described))
            kind = oracle.claims[name][0]
            noted[f"{kind} {'violated' if described.violated else 'holds'}"] += way == "whole"
            noted[f"{kind} left open"] += way == "whole" and described.unjudged > 0
    for each in done.result.reachable:
        depth = happened[each.name]
        require((each.depth is None) == (depth is None), (way, each, depth))
        require(each.depth == depth, (way, each, depth))
    shown = {finding.invariant: finding for finding in done.findings}
    require(
        set(shown) == {name for name, described in expected.items() if described.violated},
        (way, "findings", sorted(shown)),
    )
    for name, finding in shown.items():
        _read(way, oracle, name, expected[name], finding, noted=noted)


# --- counterexamples ------------------------------------------------------------------------------


def _read(
    way: str,
    oracle: Oracle,
    name: str,
    described: Told,
    finding: Finding,
    *,
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
        if call[0] in oracle.strongly_fair and call not in steps:
            require(
                not any(oracle.is_enabled(state, call) for state in cycle),
                (where, "not strongly fair to", call),
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


@contextmanager
def rounds() -> Iterator[Round]:
    """A protocol a round."""
    yield lambda seed, seen: compare(seed, WAYS, seen)


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.oracle", rounds))
