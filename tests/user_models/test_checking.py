"""`waterline.check` makes the search of the command line, with its verdicts, counts and traces."""

from __future__ import annotations

import json
import linecache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import waterline
from tests.support.commands import Commands
from tests.support.live import lease_text, live
from tests.support.own import EXAMPLES, own_problem
from waterline.checker.checking.run import run
from waterline.checker.cli.run_json import summary
from waterline.checker.search.engines.engine import EngineChoice

SMALL: dict[str, dict[str, int]] = {
    "raft": {"terms": 1, "entries": 1},
    "kraft_log": {"epochs": 1, "records": 1},
    "abd_register": {"readers": 1},
}
VIOLATED: list[tuple[str, dict[str, Any]]] = [
    ("philosophers", {"tie_break": False}),
    ("token_ring", {"greedy": True}),
    ("raft", {"terms": 2, "entries": 1, "voters_compare_logs": False}),
]
"""Bounds within which a claim of an example breaks, beside those that break by themselves."""


def facts(result: waterline.Result) -> dict[str, Any]:
    """What the JSON of the command line has, of a result."""
    return {
        "invariants": {
            name: (claim.verdict, claim.depth, _steps(claim.trace), _explained(claim))
            for name, claim in result.claims.items()
        },
        "reachable": dict(result.sometimes),
        "bounds": dict(result.bounds),
        "cut": dict(result.cut),
        "actions": dict(result.actions),
        "counts": (result.distinct, result.generated, result.depth, result.complete),
        "stopped_by": result.stopped_by,
        "deadlock": result.deadlock,
    }


def facts_of_summary(found: dict[str, Any]) -> dict[str, Any]:
    bounds = {name: value for name, value in found["bounds"].items() if name != "sha256"}
    return {
        "invariants": {
            name: (
                claim["verdict"],
                claim["depth"],
                _steps_in(claim["trace"]),
                claim["explanation"] or claim["why"] or "",
            )
            for name, claim in found["invariants"].items()
        },
        "reachable": found["reachable"],
        "bounds": bounds,
        "cut": found["cut"],
        "actions": found["actions"],
        "counts": (found["distinct"], found["generated"], found["depth"], found["complete"]),
        "stopped_by": found["stopped_by"],
        "deadlock": found["deadlock_depth"],
    }


def _explained(claim: waterline.Claim) -> str:
    return claim.explanation


def _steps(trace: waterline.Trace | None) -> list[object] | None:
    return trace and [(step.name, dict(step.arguments)) for step in trace]


def _steps_in(trace: dict[str, Any] | None) -> list[object] | None:
    return trace and [(step["action"], step["arguments"]) for step in trace["steps"]]


CASES = [
    *((path.stem, SMALL.get(path.stem, {})) for path in sorted(EXAMPLES.glob("*.py"))),
    *VIOLATED,
]


@pytest.mark.parametrize(("name", "bounds"), [("die_hard", {}), VIOLATED[0]], ids=str)
def test_an_example_comes_to_the_same(name: str, bounds: dict[str, Any]) -> None:
    assert_comes_to_the_same(name, bounds)


def assert_comes_to_the_same(name: str, bounds: dict[str, Any]) -> None:
    """An example that is called from Python, and its file."""
    file = EXAMPLES / f"{name}.py"
    result = waterline.check(live(file, **bounds))
    done = run(own_problem(file, **bounds), EngineChoice(name="local"))

    assert facts(result) == facts_of_summary(summary(done))


@pytest.mark.parametrize(("name", "bounds"), VIOLATED[:2], ids=str)
def test_these_bounds_break_a_claim(name: str, bounds: dict[str, Any]) -> None:
    assert_breaks(name, bounds)


def assert_breaks(name: str, bounds: dict[str, Any]) -> None:
    """A claim of an example breaks within these bounds."""
    result = waterline.check(live(EXAMPLES / f"{name}.py", **bounds))

    assert not result.holds
    assert result.trace is not None


def test_the_command_prints_the_same_counts_and_the_same_report(cli: Commands) -> None:
    Path("lease.py").write_text(lease_text())
    code, out, _ = cli("--model", "lease.py", "--engine", "local", "--format", "json")
    result = waterline.check(live(Path("lease.py")))
    _, told, _ = cli("--model", "lease.py", "--engine", "local")

    assert code == 12
    assert facts(result) == facts_of_summary(json.loads(out))
    assert [line for line in str(result).splitlines() if _is_the_same_again(line)] == [
        line for line in told.splitlines() if _is_the_same_again(line)
    ]


def _is_the_same_again(line: str) -> bool:
    """Not how long it took, and what the command says of its own options."""
    varies = ("Time ", "transitions/s)", "Peak memory", "add --")
    return bool(line.strip()) and not any(word in line for word in varies)


def test_a_result_says_what_was_found_out(lease: ModuleType) -> None:
    result = waterline.check(waterline.instance(lease.lease, clients=2))
    claim, trace = result["no_old_write"], result.trace

    assert result.verdicts == {
        "no_old_write": "violated",
        "one_lease_at_a_time": "holds",
        "writes_once": "holds",
        "held_leads_to_free": "holds",
    }
    assert (result.distinct, result.generated, result.depth) == (75, 145, 8)
    assert dict(result.cut) == {"clients": 0, "leases": 42, "fenced": 0}
    assert dict(result.sometimes) == {"token_outlives_lease": 3, "takes_two_writes": 5}
    assert dict(result.bounds) == {"clients": 2, "leases": 3, "fenced": False}
    assert result.complete
    assert not result.holds
    assert claim.depth == 5
    assert claim.trace is trace
    assert trace is not None
    assert list(map(str, trace)) == [
        "grant(client=1)",
        "expire()",
        "grant(client=0)",
        "write(client=0)",
        "write(client=1)",
    ]
    assert not lease.no_old_write(*trace.states[-2:])


def test_a_result_is_short_where_a_test_fails(lease: ModuleType) -> None:
    result = waterline.check(lease.lease)

    assert repr(result) == (
        "<lease(clients=2, leases=3, fenced=False): no_old_write VIOLATED after 5 steps, "
        "one_lease_at_a_time HOLDS, writes_once HOLDS, held_leads_to_free HOLDS, "
        "token_outlives_lease first in step 3, takes_two_writes first in step 5; 75 states in all>"
    )
    assert repr(result.trace) == (
        "<Trace: grant(client=1), expire(), grant(client=0), write(client=0), write(client=1)>"
    )


def test_every_step_of_a_counterexample_can_be_run(lease: ModuleType) -> None:
    trace = waterline.check(lease.lease)["no_old_write"].trace
    assert trace is not None
    for step in trace:
        after = waterline.step(step.before, step.action, **step.arguments)

        assert after == step.after


def test_a_behaviour_that_goes_on_for_ever_has_a_cycle() -> None:
    result = waterline.check(live(EXAMPLES / "token_ring.py", greedy=True))
    trace = result.trace
    assert trace is not None
    assert trace.cycle is not None

    assert trace.states[trace.cycle] == trace.states[-1]
    assert "These steps repeat for ever:" in str(trace)


def test_with_fencing_it_holds(lease: ModuleType) -> None:
    result = waterline.check(waterline.instance(lease.lease, fenced=True))

    assert result.holds
    assert result.trace is None


def test_a_result_is_neither_true_nor_false(lease: ModuleType) -> None:
    """`assert waterline.check(lease)` must not pass for a claim that is violated."""
    result = waterline.check(lease.lease)

    with pytest.raises(TypeError, match=r"ask result\.holds"):
        assert result


def test_what_never_happens_does_not_hold(lease: ModuleType) -> None:
    result = waterline.check(waterline.instance(lease.lease, clients=1, fenced=True))

    assert set(result.verdicts.values()) == {"holds"}
    assert dict(result.sometimes) == {"token_outlives_lease": None, "takes_two_writes": 5}
    assert not result.holds


def test_a_search_that_ends_early_holds_nothing(lease: ModuleType) -> None:
    result = waterline.check(waterline.instance(lease.lease, fenced=True), max_depth=2)

    assert set(result.verdicts.values()) == {"incomplete"}
    assert not result.complete
    assert result.stopped_by is not None
    assert not result.holds


def test_claims_are_chosen_by_name_or_by_function(lease: ModuleType) -> None:
    by_name = waterline.check(lease.lease, claims=["no_old_write"])
    by_function = waterline.check(lease.lease, claims=[lease.no_old_write])

    assert list(by_name.claims) == list(by_function.claims)
    assert by_name.verdicts["no_old_write"] == by_function.verdicts["no_old_write"] == "violated"


def test_symmetry_explores_one_of_those_that_are_alike(lease: ModuleType) -> None:
    whole = waterline.check(lease.lease, claims=["no_old_write"])
    alike = waterline.check(lease.lease, claims=["no_old_write"], symmetry="client")

    assert alike.distinct < whole.distinct
    assert alike.verdicts == whole.verdicts


# --- what cannot be checked -----------------------------------------------------------------------


def test_a_bare_protocol_is_refused_since_it_knows_no_bounds(lease: ModuleType) -> None:
    with pytest.raises(TypeError, match=r"waterline\.instance\(function, bound=3\)"):
        waterline.check(lease.lease(lease.State))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"claims": ["no_odl_write"]}, "no_old_write"),
        ({"symmetry": "node"}, "client"),
    ],
)
def test_what_is_asked_must_be_there(
    options: dict[str, Any], words: str, lease: ModuleType
) -> None:
    with pytest.raises(waterline.BadProtocol, match=words):
        waterline.check(lease.lease, **options)


def test_an_engine_has_a_name(lease: ModuleType) -> None:
    with pytest.raises(ValueError, match="'local' or 'spark'"):
        waterline.check(lease.lease, engine="flink")  # type: ignore[arg-type]


def test_a_mistake_is_reported_with_its_line(module_of: Any) -> None:
    made = module_of("bad.py", lease_text().replace("s.holder = client", "s.hodler = client"))

    with pytest.raises(waterline.BadProtocol, match=r"bad\.py:33:5: .*did you mean holder"):
        waterline.check(made.lease)


def test_a_rule_that_raises_says_in_which_state(module_of: Any) -> None:
    text = lease_text().replace("    within(s.granted < s.leases)\n", "")
    made = module_of("raises.py", text)
    with pytest.raises(waterline.RuleRaised, match="grant") as caught:
        waterline.check(made.lease)

    assert caught.value.state.granted == 3
    with pytest.raises(waterline.OutOfRange, match="granted cannot be 4"):
        waterline.enabled(caught.value.state)


def test_a_file_that_was_edited_since_is_refused(module_of: Any) -> None:
    made = module_of("edited.py", lease_text())
    file = Path(made.__file__)
    file.write_text(lease_text().replace("s.token[client] = 0", "s.token[client] = 1"))

    with pytest.raises(waterline.BadProtocol, match="has changed since Python has read it"):
        waterline.check(made.lease)


def test_a_remark_below_changes_no_rule(module_of: Any) -> None:
    made = module_of("remarked.py", lease_text())
    Path(made.__file__).write_text(lease_text() + "\n# Read once more.\n")

    assert waterline.check(made.lease).distinct == 75


def test_a_function_that_was_replaced_is_what_is_checked(module_of: Any) -> None:
    """What a test puts in the place of an action, a constant or a function runs in both ways."""
    text = lease_text() + "\n\ndef forgets(s, client):\n    when(s.token[client] > 0)\n"
    text += "    s.token[client] = 0\n"
    made = module_of("replaced.py", text)
    made.write = made.forgets
    result = waterline.check(made.lease)

    assert "forgets" in result.actions
    assert result.verdicts["no_old_write"] == "holds"


def test_a_constant_is_what_it_is_now(module_of: Any) -> None:
    text = (
        lease_text()
        .replace("s.granted += 1", "s.granted += STEP")
        .replace("\n\ndef lease(", "\nSTEP = 1\n\n\ndef lease(")
    )
    made = module_of("constant.py", text)
    first = waterline.check(made.lease)
    made.STEP = 3

    assert first.distinct == 75
    assert waterline.check(made.lease).distinct < 75
    after = waterline.step(waterline.initial(made.lease), made.grant, client=0)
    assert after.granted == 3


def test_a_wrapped_action_is_refused(module_of: Any) -> None:
    """Its source is not what runs."""
    text = lease_text() + (
        "\n\ndef twice(action):\n    def both(s, client):\n        action(s, client)\n"
        "    both.__name__ = action.__name__\n    return both\n\n\nwrite = twice(write)\n"
    )
    made = module_of("wrapped.py", text)

    with pytest.raises(waterline.BadProtocol, match="write is a function of line"):
        waterline.check(made.lease)


def test_a_model_of_which_there_is_no_source_is_refused() -> None:
    names: dict[str, Any] = {"__name__": "gone"}
    code = compile(lease_text(), "<gone>", "exec")
    exec(code, names)

    with pytest.raises(waterline.BadProtocol, match="the source of <gone> is not known"):
        waterline.check(names["lease"])
    assert waterline.enabled(waterline.initial(names["lease"]))


def test_a_cell_of_a_notebook_is_a_file() -> None:
    """Notebooks put the source of a cell into linecache, under a name of their own."""
    name = "/tmp/ipykernel_1/1234.py"
    text = lease_text()
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), names)
    try:
        result = waterline.check(names["lease"])
    finally:
        del linecache.cache[name]

    assert (result.distinct, result["no_old_write"].depth) == (75, 5)


def test_checking_again_after_another_model_of_the_name(module_of: Any) -> None:
    """As in a notebook where a cell was run again."""
    first = module_of("again.py", lease_text())
    result = waterline.check(first.lease)
    second = module_of("again.py", lease_text().replace("> 0)", "> 1)"))

    assert waterline.check(second.lease).distinct != result.distinct
    with pytest.raises(waterline.BadProtocol, match="has changed since"):
        waterline.check(first.lease)


EVERY_ARGUMENT = '''\
from typing import NamedTuple

from waterline import Action, Choice, Epoch, Epochs, Fields, Names, Number, Protocol, Struct, when


class Vote(NamedTuple):
    to: int
    yes: bool


class State(Fields):
    nodes = Names("node", 2)
    views = Epochs("view", 2)
    view = Epoch(views)
    kind = Choice("ask", "no")
    n = Number(0, 9)
    vote = Struct(Vote, to=nodes)


def every(state: type[State]) -> Protocol:
    begin = Action(start, kind=("ask", "no"), amount=range(3, 5), vote=state.vote)
    return Protocol(state=state, actions=[begin], always=[never])


def start(s: State, node: int, view: int, kind: str, amount: int, vote: Vote) -> None:
    """{node} starts {view} with {kind}, {amount}, {vote}."""
    when(view > s.view and kind == "no" and amount == 4 and vote.yes)
    s.view = view


def never(s: State) -> bool:
    return s.view == 0
'''


def test_a_sentence_of_python_is_that_of_the_report(module_of: Any) -> None:
    result = waterline.check(module_of("every.py", EVERY_ARGUMENT).every)
    said = "node0 starts 1 with no, 4, Vote(to=node0, yes=yes): view 0 -> 1."

    assert result.trace is not None
    assert [step.sentence for step in result.trace] == [said]
    assert said in " ".join(str(result).split())
