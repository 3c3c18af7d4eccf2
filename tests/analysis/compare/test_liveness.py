"""Traces of recovery and liveness beside another version, as a user meets them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from checker.analysis.compare.comparison import Comparison, compared
from checker.analysis.compare.continuation import Outcome
from checker.analysis.compare.document import comparison_value
from checker.analysis.compare.rendering import render_comparison
from checker.analysis.compare.sentences import describe_ends
from checker.kafka.families import MESSAGE
from checker.report.pages.comparison_page import comparison_page
from checker.search.engines.prepare import prepare
from counterexamples import replay, trace_of
from model.core.claim import Behaviour, Temporal
from tests.support.commands import Commands
from tests.support.labelled_graph import BACK, BEYOND, FAIR, LEADS_TO, Edges, labelled_problem
from tests.support.recorded_traces import TRACES, entry_trace, problem_of, replayed_in

SCENARIOS = TRACES / "scenarios"
DOOR = '''"""A door that may jam."""

from waterline import Choice, Flag, Protocol, when


def door(jams: bool = True) -> Protocol:
    """One that jams stays so; another one can be freed."""
    return Protocol(
        fields=[Choice("state", "closed", "open", "jammed"), Flag("somebody_waits")],
        actions=[ring, slam, enter, unlatch, *([] if jams else [free])],
        fair=[enter, unlatch, *([] if jams else [free])],
        recoverable=[is_open],
        leads_to=[(waits, waits_no_more)],
    )


def ring(s):
    """Somebody rings."""
    when(not s.somebody_waits)
    s.somebody_waits = True


def slam(s):
    """The wind slams the door."""
    when(s.state != "jammed")
    s.state = "jammed"


def enter(s):
    """Who waits comes in."""
    when(s.somebody_waits and s.state == "open")
    s.somebody_waits = False


def unlatch(s):
    """The door opens."""
    when(s.state == "closed")
    s.state = "open"


def free(s):
    """The door is freed."""
    when(s.state == "jammed")
    s.state = "closed"


def is_open(s):
    """The door is open."""
    return s.state == "open"


def waits(s):
    """Somebody waits."""
    return s.somebody_waits


def waits_no_more(s):
    """Nobody waits."""
    return not s.somebody_waits
'''


def beside(name: str, version: str) -> Comparison:
    """A trace of the catalogue beside its choices under another version."""
    trace = entry_trace(name)
    left = problem_of(trace)
    right = MESSAGE.problem_of(version, trace.environment, [trace.invariant])
    prepare(right)
    return compared(left, replayed_in(left, trace), right)


def steps(comparison: Comparison) -> list[str]:
    """The actions of the way that is shown."""
    assert comparison.ends.following is not None
    return [moment.action for moment in comparison.ends.following.way]


def test_c38_has_a_way_back_where_the_last_known_leader_may_lead() -> None:
    comparison = beside("no-way-to-a-leader", "elr-with-last-known-leader")
    left, right = comparison.ends.left, comparison.ends.right

    assert (comparison.parting, comparison.ends.repeats_after) == (None, None)
    assert (left.broken_at, right.broken_at) == (2, None)
    assert steps(comparison) == ["Fence", "Fence", "Restart", "Learn"]


@pytest.fixture(scope="module")
def asks_again() -> Comparison:
    """C42 beside the rule that repairs it."""
    return beside("never-in-sync-again", "kip320-code-with-truncation-clears-epochs")


def test_c42_is_broken_open_by_the_question_that_fairness_obliges(asks_again: Comparison) -> None:
    following = asks_again.ends.following

    assert following is not None
    assert following.round is not None
    assert (following.outcome, following.is_waiting) == (Outcome.COMES, True)
    assert [str(each.action) for each in following.round.obliged] == ["OffsetForLeaderEpoch"]
    assert steps(asks_again)[:3] == ["OffsetForLeaderEpoch", "OffsetForLeaderEpoch", "SendFetch"]
    assert len(following.way) == 7


def test_a_page_has_the_way_that_follows(asks_again: Comparison) -> None:
    text = comparison_page(asks_again)

    assert '<p class="good"><b>kip320-code +truncation-clears-epochs</b> live_broker_' in text
    assert "<li>21. r1 asks r0 where epoch 2 ends" in text
    assert '<p class="quiet">Looked at: 15 states, ' in text


def test_c44_goes_round_under_one_version_and_ends_under_another() -> None:
    round_again = beside("divergence-for-good", "epoch").ends
    ended = beside("divergence-for-good", "truncate-on-fetch")
    following = ended.ends.following

    assert round_again.following is not None
    assert round_again.following.stays_by_itself
    # On the right a question comes before step 11.
    assert (round_again.left.broken_at, round_again.right.broken_at) == (13, 13)
    assert following is not None
    assert following.round is not None
    assert (following.outcome, following.is_waiting) == (Outcome.COMES, False)
    assert following.round.obstacle == "step 14 is not possible"
    assert "what it promises came " in describe_ends(ended)[1].sentence


def of_graphs(
    claim: Behaviour, ours: Edges, theirs: Edges, calls: list[tuple[str, int]], **marked: Any
) -> Comparison:
    """A walk in one graph, the whole of which repeats, beside what another does."""
    left, right = (labelled_problem(e, claims=(claim,), **marked) for e in (ours, theirs))
    cycle = 0 if isinstance(claim, Temporal) else None
    named = [(action, (label,)) for action, label in calls]
    trace = trace_of(left.model, claim.name, named, cycle=cycle)
    return compared(left, replay(trace, left.model), right)


ROUND: Edges = {(0, 0): 1, (1, FAIR): 0}
GOING = [("Fair", 0), ("Free", 0)]
ANOTHER = {**ROUND, (0, 1): 2, (1, 1): 2, (2, 2): 4, (4, 2): 2}


@pytest.mark.parametrize(
    ("claim", "theirs", "says"),
    [
        (LEADS_TO, {**ROUND, (2, 0): 3}, "leads_to is broken, too. node 0. Steps 1 and 2 repeat"),
        (LEADS_TO, ANOTHER, "But a fair behaviour can go on for ever: node 2."),
        (LEADS_TO, {(0, 0): 3}, "leads_to holds on this way: what it promises came at step 1"),
        (LEADS_TO, {(0, 1): 3}, "Steps 1 and 2 cannot repeat there: step 1 is not possible. Every"),
        (LEADS_TO, {**ROUND, (0, 1): 3, (1, 1): 3}, "fairness obliges Fair(label=1). Every fair"),
        (
            LEADS_TO,
            {**ROUND, (0, 1): BEYOND, (1, 1): BEYOND},
            "leads_to is left open: a bound cuts what might help in 2 states. Steps 1 and 2 cannot "
            "repeat for ever there: fairness obliges Fair(label=1) (beyond the bound on beyond).",
        ),
        (BACK, {}, "back is broken, too. node 0. None of these steps is enabled there: Fair."),
        (BACK, {(0, 0): BEYOND}, "back is left open: no way back was found, and a bound cuts"),
        (BACK, {(0, 0): 3}, "back holds on this way: it ends in a good state."),
        (BACK, {(0, 1): 3}, "back holds on this way: the shortest way back takes 1 step:"),
    ],
)
def test_every_outcome_has_its_sentence(claim: Behaviour, theirs: Edges, says: str) -> None:
    ours = {(0, 0): 1} if claim is BACK else ROUND
    comparison = of_graphs(claim, ours, theirs, GOING if claim is LEADS_TO else GOING[:1], q=[3])

    assert says in describe_ends(comparison)[1].sentence


def test_what_it_says_nothing_of_is_told_as_that() -> None:
    nothing = of_graphs(LEADS_TO, ROUND, {(0, 0): 4}, GOING, p=[1], q=[])
    not_there = of_graphs(BACK, {(0, 0): 1}, {(0, 1): 2}, GOING[:1], p=[1], q=[])

    assert describe_ends(nothing)[1].sentence.endswith("on this way: it promises nothing there.")
    assert describe_ends(not_there)[1].sentence == "back says nothing of where it ends."


@pytest.mark.parametrize("columns", [80, 160])
def test_what_repeats_stands_before_its_first_step_on_either_side(columns: int) -> None:
    comparison = of_graphs(LEADS_TO, ROUND, ANOTHER, GOING, q=[3])
    screen = Console(file=StringIO(), width=columns)
    screen.print(render_comparison(comparison))
    assert isinstance(screen.file, StringIO)
    lines = [line.strip() for line in screen.file.getvalue().splitlines()]
    repeats = [i for i, line in enumerate(lines) if "repeat for ever:" in line]

    assert "Steps 1 and 2 repeat for ever:" in lines[repeats[0]]
    assert lines[repeats[0] + 1].startswith("1.  0 to 1" if columns == 160 else "1. 0 to 1")
    assert lines[repeats[1] - 1] == "3. 0 to 2"
    assert lines[repeats[1] :][:2] == ["Steps 4 and 5 repeat for ever:", "4. 2 to 4"]


def test_json_has_what_follows() -> None:
    found = comparison_value(of_graphs(LEADS_TO, ROUND, ANOTHER, GOING, q=[3]))
    follows = found["follows"]

    assert (found["repeats_after"], found["left"]["broken_at"], found["right"]["broken_at"]) == (
        (0, 0, 2)
    )
    assert {key: follows[key] for key in ("outcome", "repeats_after", "is_waiting", "came_at")} == {
        "outcome": "stays",
        "repeats_after": 1,
        "is_waiting": True,
        "came_at": None,
    }
    assert [step["arguments"] for step in follows["way"]] == [{"label": n} for n in (1, 2, 2)]
    assert follows["round"] == {
        "is_possible": True,
        "why_not": None,
        "steps": 2,
        "obliged": [{"action": "Fair", "arguments": {"label": 1}, "beyond": None}],
    }
    json.dumps(found)


@pytest.fixture
def door(cli: Commands, tmp_path: Path) -> dict[str, Path]:
    """A model of one's own, in the folder of the test, and its traces by claim."""
    (tmp_path / "door.py").write_text(DOOR)
    cli("--model", "door.py", "--engine", "local", "--trace-dir", "traces")
    return {path.name.split("-")[1]: path for path in (tmp_path / "traces").glob("*.json")}


def test_a_model_of_ones_own_comes_back_by_the_rule_that_it_lacked(
    cli: Commands, door: dict[str, Path]
) -> None:
    back, promised = door["recoverable_is_open"], door["waits_leads_to_waits_no_more"]
    other = ("--model", "door.py", "--set", "jams=false")
    code, out, err = cli("compare", back, *other, name="waterline")
    _, promise, _ = cli("compare", promised, *other, name="waterline")

    assert code == 0, err
    out, promise = (" ".join(text.split()) for text in (out, promise))
    assert "door: recoverable_is_open is broken at step 1." in out
    assert "the shortest way back takes 2 steps: 2. The door is freed" in out
    assert "every state is the same; what can follow is not." in out
    assert "door: For ever: no step is enabled that is sure" in promise
    assert "It cannot stand still there: fairness obliges free()." in promise
    assert "the shortest way takes 3 steps: 3. The door is freed" in promise


def test_a_budget_that_ended_the_search_has_an_exit_code_of_its_own(cli: Commands) -> None:
    trace = SCENARIOS / "divergence-for-good.json"
    arguments = ("--protocol", "truncate-on-fetch", "--max-states", "1")
    code, out, _ = cli("compare", trace, *arguments, name="waterline")

    assert code == 20
    assert "what follows was not found out; raise\n--max-states or --max-time." in out
    assert "so far" in out


def test_a_claim_that_the_other_version_knows_nothing_of_is_one_line(
    cli: Commands, door: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "door.py").write_text(DOOR.replace("recoverable=[is_open],", ""))
    trace = door["recoverable_is_open"]
    code, out, err = cli("compare", trace, "--model", "door.py", name="waterline")

    assert (code, out, err.count("\n")) == (2, "", 1)
