"""Examples whose verdicts about recovery and whole behaviours are known.

Those about whole behaviours are Spin's too, on Promela models: `python -m
lab.bench.liveness_peers`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own import EXAMPLES, example, own_problem
from waterline.checker.checking.run import Run, run
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.checker.traces.finding import Finding, confirm_trace
from waterline.checker.traces.recording import record_trace
from waterline.counterexamples import BadTrace, NotACounterexample, from_json, to_json
from waterline.counterexamples.formats import Recording, from_itf, to_itf, to_tlc
from waterline.model.core.errors import BadEnvironment

LOCAL = EngineChoice(name="local", threads=1)
Bounds = dict[str, int | bool]
SEMAPHORE = EXAMPLES.parent / "tests" / "tla" / "models" / "semaphore.py"
#: The claims that break: after how many steps, or after how many the cycle begins, and its length.
KNOWN: list[tuple[str, Bounds, dict[str, tuple[int, int | None]]]] = [
    # Without starvation; without giving way both wait for ever.
    ("peterson", {}, {}),
    (
        "peterson",
        {"gives_way": False},
        {
            "recoverable_nobody_inside": (2, None),
            "waits_leads_to_is_inside.process0": (4, 0),
            "waits_leads_to_is_inside.process1": (4, 0),
        },
    ),
    ("token_ring", {}, {}),
    (
        "token_ring",
        {"greedy": True, "nodes": 2},
        {
            "always_eventually_holds_it.node0": (3, 2),
            "always_eventually_holds_it.node1": (2, 2),
            "wants_it_leads_to_has_used_it.node0": (4, 2),
            "wants_it_leads_to_has_used_it.node1": (3, 2),
        },
    ),
    # That each eats takes more than weak fairness, tie-break or not.
    ("philosophers", {}, {f"hungers_leads_to_eats.seat{n}": (1, 4) for n in range(3)}),
    (
        "philosophers",
        {"tie_break": False},
        {
            "recoverable_all_think": (6, None),
            "someone_hungers_leads_to_someone_eats": (6, 0),
            **{f"hungers_leads_to_eats.seat{n}": (1, 4) for n in range(3)},
        },
    ),
    ("alternating_bit", {}, {}),
    (
        "alternating_bit",
        {"endless": True},
        {
            "always_eventually_sends_the_first": (3, 2),
            "always_eventually_sends_the_second": (0, 2),
        },
    ),
    (
        "alternating_bit",
        {"goes_on": False},
        {
            "always_eventually_sends_the_first": (3, 0),
            "always_eventually_sends_the_second": (0, 0),
        },
    ),
]


def checked(name: str, bounds: Bounds) -> Run:
    return run(example(name, **bounds), LOCAL)


def shape(finding: Finding) -> tuple[int, int | None]:
    trace = finding.replayed.trace
    if trace.cycle is None:
        return len(trace.steps), None
    return trace.cycle, len(trace.steps) - trace.cycle


@pytest.mark.parametrize(("name", "bounds", "broken"), KNOWN, ids=map(str, range(len(KNOWN))))
def test_the_verdicts_are_those_that_are_known(
    name: str, bounds: Bounds, broken: dict[str, tuple[int, int | None]]
) -> None:
    done = checked(name, bounds)

    verdicts = {found.name: found.verdict for found in done.result.invariants}
    assert {shown.invariant: shape(shown) for shown in done.findings} == broken
    assert {name for name, verdict in verdicts.items() if verdict is Verdict.VIOLATED} == {*broken}
    assert {*verdicts.values()} <= {Verdict.HOLDS, Verdict.VIOLATED}
    assert verdicts


def the_lasso(claim: str = "wants_it_leads_to_has_used_it.node1") -> Finding:
    done = checked("token_ring", {"greedy": True, "nodes": 2})
    return next(finding for finding in done.findings if finding.invariant == claim)


def test_a_lasso_in_a_file_says_where_its_cycle_begins() -> None:
    trace = the_lasso().replayed.trace
    text = to_json(trace)

    assert '"cycle": 3,' in text
    assert from_json(text) == trace
    for wrong in ("6", "-1", "null", "true"):
        with pytest.raises(BadTrace, match="cycle is"):
            from_json(text.replace('"cycle": 3', f'"cycle": {wrong}'))


def test_what_a_lasso_shows_is_looked_at_when_it_is_read() -> None:
    finding = the_lasso()
    trace, model = finding.replayed.trace, finding.model
    claims = {claim.name: claim for claim in example("token_ring", greedy=True, nodes=2).claims}
    claim = claims[trace.invariant]
    text = to_json(trace)

    assert confirm_trace(trace, model, claim).explanation == finding.explanation
    for cycle, why in (
        (None, "the trace has no cycle"),
        (1, "does not return to the state after 1"),
        (5, "pass_greedily\\(node=0\\) could always be taken, and never is"),
    ):
        told = "" if cycle is None else f'\n  "cycle": {cycle},'
        changed = from_json(text.replace('\n  "cycle": 3,', told))
        with pytest.raises(NotACounterexample, match=why):
            confirm_trace(changed, model, claim)
    with pytest.raises(NotACounterexample, match="holds of what the trace shows"):
        confirm_trace(trace, model, claims["wants_it_leads_to_has_used_it.node0"])


def test_a_way_back_is_looked_for_when_such_a_trace_is_read() -> None:
    problem = example("peterson", gives_way=False)
    done = run(problem, LOCAL)
    finding = next(f for f in done.findings if f.invariant == "recoverable_nobody_inside")
    trace, model = finding.replayed.trace, finding.model
    claim = next(c for c in problem.claims if c.name == trace.invariant)

    assert "which enables enter, leave" in finding.explanation
    assert confirm_trace(trace, model, claim).explanation == finding.explanation
    text = to_json(trace)
    shorter = from_json(text[: text.rindex(",\n    {")] + "\n  ]\n}\n")
    with pytest.raises(NotACounterexample, match="there is a way back"):
        confirm_trace(shorter, model, claim)


def recording_of(finding: Finding) -> Recording:
    return record_trace(finding.model, finding.replayed.trace, finding.replayed.states)


def test_other_tools_are_told_of_the_loop() -> None:
    recording = recording_of(the_lasso())
    itf, tlc = to_itf(recording), to_tlc(recording)

    assert '"loop": 4' in itf  # states 4 and 5 repeat; state 5 is state 3 once more
    assert from_itf(itf) == recording.trace
    assert tlc.splitlines()[-1].startswith("Back to state 4: <use_greedily(0)")
    assert tlc.count("\nState ") == 5


def test_other_tools_are_told_of_stuttering() -> None:
    finding = checked("peterson", {"gives_way": False}).findings[-1]
    recording = recording_of(finding)

    assert '"loop": 4' in to_itf(recording)
    assert to_tlc(recording).splitlines()[-1] == "State 6: Stuttering"


MISTAKES = [
    ("fair=[wait]", "fair has wait, which is none of the actions; those are go"),
    ("leads_to=[is_on]", "give pairs of functions, as \\(waits, is_served\\)"),
    ("eventually=[stays]", "argument 'lamp', which is the name of no sort"),
    ("recoverable=[nothing]", "nothing takes no state"),
    ("always_eventually=[number]", "it returns no boolean"),
    ("eventually=[is_on, is_on]", "there are two eventually claims called 'is_on'"),
]
_FILE = """
from waterline import Flag, Protocol
def lamps() -> Protocol:
    return Protocol(fields=[Flag("on")], actions=[go], {})
def go(s):
    s.on = True
def wait(s):
    s.on = False
def is_on(s):
    return s.on
def stays(s, lamp):
    return s.on
def nothing():
    return True
def number(s):
    return 2
"""


@pytest.mark.parametrize(("declared", "told"), MISTAKES, ids=[name for name, _ in MISTAKES])
def test_a_mistake_is_told_in_one_line(declared: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "lamps.py"
    file.write_text(_FILE.replace("{}", declared))

    with pytest.raises(BadEnvironment, match=told):
        own_problem(file)


def test_the_examples_are_there() -> None:
    assert {name for name, _, _ in KNOWN} <= {path.stem for path in EXAMPLES.glob("*.py")}


def test_a_semaphore_takes_strong_fairness_and_the_lasso_without_it_is_refused() -> None:
    weak, strong = (own_problem(SEMAPHORE, strong=value) for value in (False, True))
    starves, enters = run(weak, LOCAL), run(strong, LOCAL)
    [first, _] = starves.findings

    assert first.replayed.trace.cycle == 1
    assert [step.action for step in first.replayed.trace.steps][1:] == ["arrive", "enter", "leave"]
    assert not enters.findings
    claim = next(each for each in strong.behaviours if each.name == first.invariant)
    with pytest.raises(NotACounterexample, match="could be taken again and again, and never is"):
        confirm_trace(first.replayed.trace, strong.model, claim)


def test_a_strongly_fair_step_that_a_bound_cuts_leaves_states_open() -> None:
    results = run(own_problem(SEMAPHORE, rounds=2), LOCAL).result.invariants

    assert {each.name: each.unjudged for each in results if each.unjudged} == {
        f"waits_leads_to_is_inside.process{number}": 2 for number in range(2)
    }
    assert all(each.verdict is Verdict.HOLDS for each in results)
