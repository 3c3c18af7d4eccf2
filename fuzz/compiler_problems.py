"""Whole problems that the compiler is held against: see `fuzz.compiler_checks`.

Of each some states are worked out in Python, one by one: what they lead to, which claims they
break, whether anything raises. Kernels are asked of each state alone, and of all of them together.
"""

from __future__ import annotations

import importlib
import random
import re
from pathlib import Path
from typing import Any

from fuzz import compiler_checks as checks
from fuzz.compiler_checks import SOME_SECONDS, within
from fuzz.compiler_mutants import STORE

STATES = 90


def problems() -> dict[str, Any]:
    """Small problems by name; those of a graph share one kernel."""
    from dataclasses import replace

    from test_kernels import of_fewer, of_many_claims, of_pairs

    from tests.support.graph_model import NODES, graph_problem
    from waterline.checker.kafka.families import ATOMIC, problem_for
    from waterline.checker.problem.problem import Shared
    from waterline.model.atomic import AtomicEnvironment
    from waterline.model.message.environment import Environment

    draw = random.Random(3)

    def some(count: int) -> list[int]:
        return draw.sample(range(NODES), count)

    graphs = [
        graph_problem(
            [(draw.randrange(NODES), draw.randrange(NODES)) for _ in range(60)],
            bad=some(6),
            worse=some(6),
            beyond=some(9),
            breaks=some(2 * n),
            divides=some(n),
            poisons=some(2 * n),
            leads_to_goal=some(8),
            steep_from=some(9),
            steep_to=some(9),
            trips=some(n),
        )
        for n in (0, 2)
    ]
    found = {f"graph {n}": graph for n, graph in enumerate(graphs)}
    found["graph alone"] = replace(graphs[1], shared=None)
    found["action of many arguments"] = of_pairs(beyond=[5])
    found["many claims"] = of_many_claims()
    found["fewer than shared"] = of_fewer()
    found["atomic"] = ATOMIC.problem("kip320", AtomicEnvironment(records=1, epochs=1))
    found["hw"] = problem_for("hw", Environment(records=1, epochs=1))
    larger = problem_for("epoch", Environment(replicas=3, records=2, epochs=1, moves=1))
    names = frozenset(claim.name for claim in (*larger.invariants, *larger.properties))
    found["epoch"] = replace(
        larger,
        shared=Shared(
            settings=frozenset(larger.model.settings._fields[::2]),
            actions=frozenset(larger.model.contents),
            claims=names,
        ),
    )
    return found


def interpreted_problem(problem: Any) -> list[dict[str, Any]]:
    """What some states lead to and which claims they break; None where a rule raises."""
    from waterline.model.core.state import State

    random_ = random.Random(5)
    seen = {s.words: s for s in problem.model.initial}
    if problem.model.name == "graph":
        from tests.support.graph_model import NODES, node_state

        seen = {node_state(node).words: node_state(node) for node in range(NODES)}
    frontier = list(seen.values())
    while len(seen) < 12 * STATES and frontier and problem.model.name != "graph":
        state = frontier.pop(random_.randrange(len(frontier)))
        for step in problem.model.successors(state):
            if step.after.words not in seen:
                seen[step.after.words] = step.after
                frontier.append(step.after)
    chosen = random_.sample(sorted(seen), min(STATES, len(seen)))
    return [_case(problem, State(problem.model.layout, words)) for words in chosen]


def _case(problem: Any, state: Any) -> dict[str, Any]:
    model, c = problem.model, problem.model.settings
    case: dict[str, Any] = {"words": state.words, "steps": [], "cut": [0] * len(model.limits)}
    raising: tuple[type[Exception], ...] = (ValueError, ZeroDivisionError, IndexError)
    try:
        after = []
        for action in model.enabled_actions:
            for arguments in model.bindings(action):
                if not model.is_enabled(state, action, arguments):
                    continue
                if exceeded := model.exceeded(state, action, arguments):
                    case["cut"][exceeded] += 1
                    continue
                after.append(model.apply(state, action, arguments))
                case["steps"].append((action.name, tuple(arguments), after[-1].words))
        case["unkept"] = [
            problem.is_checked(p) and not all(p.keeps(state, t, c) for t in after)
            for p in problem.properties
        ]
        case["happened"] = [any(k.happens(state, t, c) for t in after) for k in problem.reachable]
    except raising:
        case["steps"] = None
    try:
        case["broken"] = [
            problem.is_checked(claim) and not claim.holds(state, c) for claim in problem.invariants
        ]
    except raising:
        case["broken"] = None
    return case


def check_kernels(expected: Any, is_other: Any) -> None:
    """Whole problems, in states that Python has worked out."""
    from waterline.checker.compiler.kernel import plan_of, program_of

    for name, problem in problems().items():
        within(SOME_SECONDS)
        if is_other(name, program_of(plan_of(problem)).text):
            _compare_kernel(name, problem, expected.kernels[name])


def _compare_kernel(name: str, problem: Any, cases: list[dict[str, Any]]) -> None:
    import numpy as np

    from waterline.checker.compiler.origins import ACTION_SHIFT, ROW_SHIFT
    from waterline.checker.problem.packed_rows import state_words
    from waterline.checker.search.engines.expander import Expander, Findings, Tally

    model = problem.model

    def decoded(origin: int) -> tuple[str, tuple[int, ...]]:
        action = model.actions[origin >> ACTION_SHIFT]
        digits = origin & ((1 << ACTION_SHIFT) - 1)
        arguments: list[int] = []
        for parameter in reversed(action.parameters):
            digits, value = divmod(digits, model.layout.sizes[parameter.over])
            arguments.insert(0, value)
        return action.name, tuple(arguments)

    order = [action.name for action in model.actions]

    def explored(given: list[dict[str, Any]], expander: Any) -> dict[str, Any]:
        rows = np.array([case["words"] for case in given], np.uint64)
        tally, findings = Tally(problem), Findings(problem)
        steps: list[list[Any]] = [[] for _ in given]
        for count in expander.expand(rows, tally):
            pairs = zip(expander.origin[:count], expander.out[:count], strict=True)
            for origin, row in pairs:
                at, code = divmod(int(origin), 1 << ROW_SHIFT)
                steps[at].append((*decoded(code), state_words(row)))
        expander.inspect(rows, findings)
        return {
            "steps": [sorted(each, key=lambda s: (order.index(s[0]), s[1])) for each in steps],
            "fired": tally.fired.tolist(),
            "cut": tally.cut.sum(axis=0).tolist(),
            "happened": tally.happened.tolist(),
            "unkept": {i: tuple(w) for i, w in tally.breaches.as_dict().items()},
            "dead": tally.deadlock,
            "faults": sorted(tally.faults),
            "broken": {i: tuple(w) for i, w in findings.as_dict().items()},
            "poisoned": sorted(findings.faults),
        }

    def wanted(given: list[dict[str, Any]]) -> dict[str, Any]:
        fine = [case for case in given if case["steps"] is not None]
        judged = [case for case in given if case["broken"] is not None]
        fired = [step[0] for case in fine for step in case["steps"]]
        dead = [case["words"] for case in fine if not case["steps"] and not any(case["cut"])]
        return {
            "steps": [case["steps"] or [] for case in given],
            "fired": [fired.count(name) for name in order],
            "cut": [sum(column) for column in zip(*(case["cut"] for case in fine), strict=True)],
            "happened": [any(k) for k in zip(*(case["happened"] for case in fine), strict=True)],
            "unkept": _least(fine, "unkept"),
            "dead": min(dead, default=None),
            "faults": sorted(case["words"] for case in given if case["steps"] is None),
            "broken": _least(judged, "broken"),
            "poisoned": sorted(case["words"] for case in given if case["broken"] is None),
        }

    def compare(given: list[dict[str, Any]], expander: Any) -> None:
        found, want = explored(given, expander), wanted(given)
        faults = want["faults"] or want["poisoned"]
        alone = len(given) == 1
        for key, value in want.items():
            if faults and not (alone or key in {"steps", "faults", "poisoned"}):
                continue  # what a block with faults adds up to is never used
            if faults and alone and key in {"fired", "cut", "happened", "unkept", "dead", "broken"}:
                continue
            assert found[key] == value, f"{name}: {key} {found[key]} instead of {value}"[:300]

    one_by_one = Expander(problem, chunk_rows=1)
    for case in cases:
        compare([case], one_by_one)
    together = Expander(problem)
    compare(cases, together)
    compare([c for c in cases if c["steps"] is not None and c["broken"] is not None], together)


def _least(cases: list[dict[str, Any]], what: str) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    for case in cases:
        for number, is_broken in enumerate(case[what]):
            if is_broken:
                found[number] = min(found.get(number, case["words"]), case["words"])
    return found


# --- representatives -----------------------------------------------------------------------------


def symmetric_problems() -> dict[str, Any]:
    """Small problems whose states are replaced by representatives."""
    from waterline.checker.kafka.families import problem_for
    from waterline.checker.problem.symmetry import Symmetry
    from waterline.model.atomic import AtomicEnvironment
    from waterline.model.message.environment import Environment

    few = {"records": 2, "epochs": 1, "restarts": 1, "election_order": "any"}
    three = AtomicEnvironment(replicas=3, log_size=2, records=2, epochs=1)
    return {
        "replicas": problem_for("hw", Environment(**few), symmetry=Symmetry.REPLICAS),
        "records": problem_for("hw", Environment(**few), symmetry=Symmetry.RECORDS),
        "all": problem_for("kip320", three, symmetry=Symmetry.ALL),
        "three": problem_for(
            "epoch",
            Environment(replicas=3, records=1, epochs=1, moves=1, election_order="any"),
            symmetry=Symmetry.ALL,
        ),
    }


def orbits_of(problem: Any) -> list[list[tuple[int, ...]]]:
    """Of some reachable states all those that differ in names alone, by brute force."""
    from tests.support.renamed import orbit

    random_ = random.Random(7)
    seen = {s.words: s for s in problem.model.initial}
    frontier = list(seen.values())
    while len(seen) < 6 * STATES and frontier:
        state = frontier.pop(random_.randrange(len(frontier)))
        for step in problem.model.successors(state):
            if step.after.words not in seen:
                seen[step.after.words] = step.after
                frontier.append(step.after)
    chosen = random_.sample(sorted(seen), min(STATES, len(seen)))
    return [[s.words for s in orbit(seen[words], problem.symmetry.sorts)] for words in chosen]


def check_representatives(expected: Any, is_other: Any) -> None:
    """All states that differ in names alone have one representative, which is one of them."""
    import numpy as np

    from waterline.checker.compiler.kernel import canonical_program, canonicalise

    for name, problem in symmetric_problems().items():
        within(SOME_SECONDS)
        program = canonical_program(problem.model.layout, problem.symmetry)
        if is_other(name, program.text):
            for orbit in expected.orbits[name]:
                rows = np.array(orbit, np.uint64)
                canonicalise(problem, rows)
                found = {tuple(map(int, row)) for row in rows}
                assert len(found) == 1, f"{name}: {len(found)} representatives"
                assert found <= set(orbit), f"{name}: the representative is another state"


def prepared(programs: int, folder: Path) -> checks.Expected:
    """Everything that mutants are compared with, from Python and the unaltered compiler."""
    from test_refused import NAMES, REFUSED

    from tests.support.compiling import ALL_STATES, Both, module_from, module_of
    from waterline.checker.compiler import machine
    from waterline.checker.compiler.kernel import canonical_program, plan_of, program_of

    expected = checks.Expected()
    checks.in_haste(machine)
    for name, file, varying in checks.drawn_programs(programs, folder):
        function = module_from(Path(file)).f
        with checks.noticing(expected.reached.setdefault(name, set())):
            both = Both(function, ALL_STATES[0].layout, varying=varying)
        expected.texts[name] = checks.digest(both.text)
        if both.flat(ALL_STATES[0], 0) is not None:
            expected.flat.add(name)
        expected.programs.append((name, file, varying, checks.interpreted_program(file)))
    for body, said in REFUSED:
        text = NAMES + "".join(f"    {line}\n" for line in body.splitlines())
        expected.refused.append((str(module_of(text, folder).__file__), said))
    for name, problem in problems().items():
        expected.texts[name] = checks.digest(program_of(plan_of(problem)).text)
        expected.kernels[name] = interpreted_problem(problem)
    for name, problem in symmetric_problems().items():
        program = canonical_program(problem.model.layout, problem.symmetry)
        expected.texts[name] = checks.digest(program.text)
        expected.orbits[name] = orbits_of(problem)
    texts = checks.store_texts()
    expected.texts |= {name: checks.digest(text) for name, text in texts.items()}
    compiled = {n for text in texts.values() for n in re.findall(r"@(\w+\.\w+)", text)}
    roots = {n for text in texts.values() for n in re.findall(r"define i64 @(\w+)\(", text)}
    for module in STORE:
        there = vars(importlib.import_module(f"waterline.checker.storage.{module}"))
        own = {n for n in roots if getattr(there.get(n), "__module__", "").endswith(f".{module}")}
        compiled |= {f"{module}.{name}" for name in own}
    expected.compiled = frozenset(compiled)
    return expected
