"""`--unbounded` for models of one's own: what is refused, counterexamples, certificates."""

from __future__ import annotations

import pathlib
import pickle
from typing import Any

import pytest

import waterline
from tests.support.commands import Commands
from tests.support.live import live
from tests.support.own import EXAMPLES, own_problem
from waterline.checker.analysis.simulate.shortening import with_steps_left_out
from waterline.checker.checking.run import RunRaised, run
from waterline.checker.cli.shared import exit_codes
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.sorts.check import require_well_sorted, violations
from waterline.checker.sorts.interpretation import IllSorted
from waterline.checker.traces.finding import confirm_raising
from waterline.checker.traces.violating_states import Path
from waterline.checker.user_models.family import family_in, own_family
from waterline.checker.user_models.vetting import vet
from waterline.counterexamples import replay
from waterline.model.core.errors import BadEnvironment

LEASE = EXAMPLES / "fenced_lease.py"
LOCAL = EngineChoice(name="local", threads=1)
HEAD = """\
from waterline import (
    Action, Bag, Epoch, Epochs, Flag, Log, Name, Names, Number, Opaque, Protocol, Queue, Set,
    Struct, Value, when, within,
)
"""
USES = (
    HEAD
    + """
def m(nodes: int = 2, terms: int = 3, records: int = 2) -> Protocol:
    node = Names("node", nodes)
    term = Epochs("term", terms)
    record = Opaque("record", records)
    return Protocol(
        fields=[
            Epoch("term", term, by=node),
            Epoch("top", term),
            Number("n", 0, 5),
            Flag("f", by=8),
            Name("held", record, by=node, or_none=True),
            Name("last", record),
            Log("log", of=term, room=2, by=node),
            Queue("wire", of=record, room=2),
        ],
        actions=[elect, copy, Action(misuse, x=4), Action(ask, x=4), bounded],
        always=[fits, even],
        every_step=[grows],
        sometimes=[third],
        initial=start,
    )


def start(s):
    s.f[0] = s.terms > 3  #!


def elect(s, node, term):
    when(term > s.term[node] and term != 0)
    s.term[node] = term
    s.top = max(s.top, term)
    s.log[node].append(s.term[node])


def copy(s, node, record):
    when(s.held[node] is None or s.held[node] == s.last or s.last in s.wire)
    s.held[node] = record
    s.wire.send(record)
    s.log[node] = s.log[1 - node][:1]
    s.n = sum(each <= s.top for each in s.log[node])
    s.top = s.log[node][-1] if s.log[node] else 0


def ask(s, node, x):
    when(s.term[node] == 3)  #!
    when(s.term[0] - s.term[1] == 1)  #!
    when(s.top % 2 == 0)  #!
    when(s.top)  #!
    when(s.top > x or s.held[node] == x)  #! #!
    within(s.top < s.terms)  #!
    s.n = 1


def misuse(s, node, x, term):
    s.term[node] += 1  #!
    s.n = s.top  #!
    s.top = 1  #!
    s.top = x  #!
    s.f[s.top] = True  #!
    s.held[node] = 1  #!
    s.f[0] = s.held[node] < s.last  #!
    s.f[0] = s.held[node] == s.term[node]  #!
    s.n = s.records  #!
    s.n = distance(term, s.top)
    s.log[node].append(2)  #!
    s.wire.send(x)  #!
    s.log[node].truncate(s.top)  #!
    s.n = sum(s.term[each] for each in s.nodes)  #!
    for each in range(s.top):  #!
        s.n = 2
    for each in s.records:  #!
        s.n = 2
    s.f[0] = 1 <= s.top  #!
    s.f[0] = s.top in (1, 2)  #!
    s.n = min(s.top, 3)  #!
    both = s.top if x == 1 else 2  #!


def distance(one, other):
    return one - other  #!


def bounded(s, node):
    s.n = min(s.n + 1, s.nodes)


def fits(s):
    return s.top <= s.terms  #!


def even(s):
    return s.n < 6 and s.top & 1 == 0  #!


def grows(before, after):
    return after.top == before.top or after.top == before.top + 1  #!


def third(s):
    return s.top == 3  #!
"""
)


def problem_of(text: str, *names: str, symmetry: str = "none", **bounds: Any) -> Problem:
    family = own_family(text, "m.py")
    options = {**bounds, "unbounded": True}
    return vet(family.problem("m", options, names, symmetry=symmetry))


def test_what_only_numbers_can_do_is_refused_at_its_line() -> None:
    marked = {n for n, line in enumerate(USES.splitlines(), start=1) if "#!" in line}

    found = violations(problem_of(USES))

    assert {each.line for each in found} == marked
    assert len(marked) == 31


def test_a_refusal_names_the_line_as_it_is_written_and_how_to_begin_an_epoch() -> None:
    found = {each.line: str(each) for each in violations(problem_of(USES))}

    told = found[_line_of("s.term[node] += 1")]
    assert told.startswith(f"m.py:{_line_of('+= 1')}: misuse, of the effect of misuse: ")
    assert "`s.term[node] += 1` computes `+` with a term and 1; " in told
    assert "take a new one as an argument, as in when(term > ...), or leave out" in told
    # Of what is made of a part of the line, the line is shown.
    assert "the effect of misuse: `s.log[node].append(2)" in found[_line_of("append(2)")]
    with pytest.raises(IllSorted, match="more"):
        require_well_sorted(problem_of(USES))


def test_a_refusal_shows_the_line_of_its_own_file(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a file of the same name lies in the working folder."""
    (tmp_path / "m.py").write_text("0\n" * 99)
    monkeypatch.chdir(tmp_path)
    problem = own_family(USES, "elsewhere/m.py").problem("m", {"unbounded": True})
    found = {each.line: str(each) for each in violations(problem)}

    assert "the effect of misuse: `s.log[node].append(2)" in found[_line_of("append(2)")]


def _line_of(part: str) -> int:
    return next(n for n, line in enumerate(USES.splitlines(), start=1) if part in line)


SMALL = (
    HEAD
    + """
def m(nodes: int = 2, terms: int = 3, records: int = 2) -> Protocol:
    node = Names("node", nodes)
    term = Epochs("term", terms)
    record = Opaque("record", records)
    return Protocol(
        fields=[
            Epoch("term", term, by=node),
            Name("held", record, by=node),
            # more
        ],
        actions=[elect, put],
        always=[fine],
        # also
    )


def elect(s, node, term):
    when(term > s.term[node])
    s.term[node] = term


def put(s, node, record):
    s.held[node] = record


def fine(s):
    return s.term[0] >= 0


def also(s):
    return s.term[0] > 0


def start(s):
    s.term[0] = s.terms


def begin(s, term):
    s.term[0] = term
"""
)


@pytest.mark.parametrize(
    ("instead", "words"),
    [
        (
            ("# more", 'Number("n", 0, terms),'),
            "m.py:14: --unbounded: field n goes up to any number of terms; give what stands here",
        ),
        (("# more", 'Log("log", of=term, room=terms),'), "has room for any number of terms values"),
        (("# more", 'Log("log", of=range(1, terms + 1), room=2),'), "terms is any number without"),
        (("# also", "sometimes=[also] if terms > 2 else [],"), "terms is any number without"),
        (('"term", terms)', '"term", 3)'), r"write terms = Epochs\('term', 3\)"),
        (("terms: int = 3, ", ""), "has no bound terms"),
        (("# more", 'Set("seen", of=record),'), "set seen has records, which are numbered anew"),
        (
            ("# more", 'Bag("seen", of=term, room=2),'),
            "bag seen has terms, which are",
        ),
        (("# also", "initial=start,"), "an initial state has epochs or values already"),
        (("# also", "initial=begin,"), "initial states are made with a term"),
        (("nodes: int", "unbounded: int = 1, nodes: int"), "has a bound of that name"),
    ],
)
def test_what_would_depend_on_the_number_is_refused(instead: tuple[str, str], words: str) -> None:
    text = SMALL.replace(*instead)
    if not instead[1]:
        text = text.replace('"term", terms)', '"term", 3)')

    with pytest.raises(BadEnvironment, match=words):
        problem_of(text)


def test_how_many_there_are_is_no_number_where_only_an_argument_is_one_of_them() -> None:
    text = SMALL.replace(
        '            Name("held", record, by=node),\n', '            Number("n", 0, 9),\n'
    )
    text = text.replace("actions=[elect, put]", "actions=[elect, Action(put, record=record)]")
    fine = text.replace("s.held[node] = record", "s.n = 1")
    wrong = text.replace("s.held[node] = record", "s.n = s.records")

    assert not violations(problem_of(fine))
    assert "stores the highest record that there is room for" in str(
        violations(problem_of(wrong))[0]
    )


def test_a_check_is_kept_for_these_declarations_alone() -> None:
    """The rules are the same: what they compare is a number first, and an epoch then."""
    text = SMALL.replace("# more", 'Number("n", 0, 10),').replace(">= 0", ">= 0 or s.n == 1")
    require_well_sorted(problem_of(text))

    with pytest.raises(IllSorted, match="compares a term with 1"):
        require_well_sorted(problem_of(text.replace('Number("n", 0, 10)', 'Epoch("n", term)')))


def test_a_bound_that_there_is_not_cannot_be_set() -> None:
    with pytest.raises(BadEnvironment, match="any number of terms; leave out --set terms=4"):
        problem_of(SMALL, terms=4)
    with pytest.raises(BadEnvironment, match="--unbounded is for Epochs and Opaque"):
        vet(own_family(*_read("die_hard")).problem("die_hard", {"unbounded": True}))


CLASS = """\
from waterline import Epoch, Epochs, Fields, Number, Protocol, when


class State(Fields):
    terms = Epochs("term", 3)
    top = Epoch(terms)
    # more


def m(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[go], always=[fine])


def go(s: State, term: int) -> None:
    when(term > s.top)
    s.top = term


def fine(s: State) -> bool:
    return s.top >= 0
"""


@pytest.mark.parametrize("more", ["n = Number(0, terms.highest)", "_n = 2 * terms.highest"])
def test_a_class_of_fields_hands_the_bound_on_and_no_more(more: str) -> None:
    assert not violations(problem_of(CLASS))

    with pytest.raises(BadEnvironment, match=r"m.py:7: --unbounded: .*any number"):
        problem_of(CLASS.replace("# more", more))


def test_a_part_of_a_struct_has_a_bound() -> None:
    text = CLASS.replace("# more", "last = Value(of=Struct(Vote, term=terms))").replace(
        "import Epoch,", "import Epoch, Struct, Value,"
    )
    text = f"from typing import NamedTuple\n{text}".replace(
        "class State", "class Vote(NamedTuple):\n    term: int\n\n\nclass State"
    )

    with pytest.raises(BadEnvironment, match="part term of Vote is a term"):
        problem_of(text)


def _read(name: str) -> tuple[str, str]:
    return (EXAMPLES / f"{name}.py").read_text(), f"{name}.py"


def test_values_are_numbered_by_where_they_are_so_that_names_are_not_alike() -> None:
    with pytest.raises(BadEnvironment, match="leave --symmetry out"):
        problem_of(SMALL, symmetry="node")


@pytest.mark.parametrize(
    ("instead", "words"),
    [
        (("# more", 'Set("seen", of=term),'), "set seen has a bit for each term"),
        (("# more", 'Flag("f", by=record),'), "record.*which are Opaque; make them Names"),
        (("# more", 'Epoch("who", node),'), "holds epochs of Names"),
        (('"term", terms)', '"term", 0)'), "the highest term is 0"),
        (('"term", terms)', '"term", 4)'), "terms would be the bound, 3, and the highest term, 4"),
    ],
)
def test_declarations_that_mean_nothing_are_refused_within_bounds_too(
    instead: tuple[str, str], words: str
) -> None:
    with pytest.raises(BadEnvironment, match=words):
        own_family(SMALL.replace(*instead), "m.py").problem("m", {})


def test_without_the_fence_a_trace_within_bounds_shows_the_old_write() -> None:
    problem = own_problem(LEASE, unbounded=True, fenced=False)

    (finding,) = run(problem, LOCAL).findings

    trace = finding.replayed.trace
    assert len(trace.steps) == 7
    assert trace.environment["leases"] == 2
    assert "unbounded" not in trace.environment
    family = own_family(LEASE.read_text(), LEASE.name)
    again = family.problem(trace.version, dict(trace.environment))
    last = replay(trace, again.model).moments[-1]
    assert (last.before.written_under, last.after.written_under) == (2, 1)
    assert len(run(again, LOCAL).findings[0].replayed.trace.steps) == 7


def test_another_process_makes_the_same_model_of_the_text() -> None:
    problem = own_problem(LEASE, unbounded=True, fenced=False)

    sent = pickle.loads(pickle.dumps(problem))

    assert sent.model.options == problem.model.options
    assert sent.model.layout == problem.model.layout
    assert [str(step) for step in sent.model.successors(sent.model.initial[0])] == [
        "grant(client=0, lease=1)",
        "grant(client=1, lease=1)",
    ]
    assert sent.model.concretise is not None


def test_a_walk_is_shortened_within_the_bounds_that_it_needs() -> None:
    problem = own_problem(LEASE, unbounded=True, fenced=False)
    claim = next(each for each in problem.properties if each.name == "no_old_write")
    steps = [("grant", (0, 1)), ("expire", ()), ("grant", (1, 3)), ("expire", ())]
    steps += [("prepare", (1, 0)), ("write", (1,)), ("prepare", (0, 1))]

    found = with_steps_left_out(problem, claim, Path(0, tuple(steps)))

    kept = [step.action for step in found.replayed.trace.steps]
    assert kept == ["grant", "expire", "grant", "prepare", "write", "prepare", "write"]


def test_an_error_of_a_rule_has_a_trace_within_bounds() -> None:
    """The second of two epochs is below the first, with another one between."""
    text = SMALL.replace("# more", 'Number("n", 0, 1),').replace(
        "    s.term[node] = term\n\n\ndef put",
        "    if term < s.term[1 - node]:\n        s.n += 1\n    s.term[node] = term\n\n\ndef put",
    )

    with pytest.raises(RunRaised) as caught:
        run(problem_of(text), LOCAL)

    error = caught.value.run.error
    trace = error.finding.replayed.trace
    assert [dict(step.arguments)["term"] for step in trace.steps] == [3, 1]
    assert dict(trace.raises.arguments)["term"] == 2
    within = own_family(text, "m.py").problem("m", dict(trace.environment))
    assert "s.n cannot be 2" in confirm_raising(trace, within).explanation


def test_plain_python_takes_an_epoch_as_an_argument(module_of: Any) -> None:
    model = module_of(LEASE.name, LEASE.read_text())
    state = waterline.initial(model.fenced_lease)

    granted = waterline.step(state, model.grant, client=1, lease=3)

    assert (granted.granted, granted.token) == (3, (0, 3))
    assert len(waterline.enabled(state)) == 6
    with pytest.raises(ValueError, match="lease of grant cannot be 4: it is one of 1, 2, 3"):
        waterline.step(state, model.grant, client=1, lease=4)


def test_a_trace_in_plain_python_has_the_epochs_of_the_checkers(module_of: Any) -> None:
    model = module_of(LEASE.name, LEASE.read_text())

    trace = waterline.check(waterline.instance(model.fenced_lease, fenced=False)).trace

    state = trace.initial
    for step in trace.steps:
        state = waterline.step(state, step.action, **step.arguments)
        assert state == step.after
    assert [step.arguments.get("lease") for step in trace.steps][:3] == [1, None, 2]


def test_claims_about_behaviours_are_left_open_and_the_rest_is_judged(cli: Commands) -> None:
    text = LEASE.read_text()
    assert "always=" in text or "every_step=" in text
    pathlib.Path("lease.py").write_text(
        text.replace("    return Protocol(", "    return Protocol(eventually=[any_state],", 1)
        + "\n\ndef any_state(s: State) -> bool:\n    return s.clients > 0\n"
    )
    code, out, _ = cli("--model", "lease.py", "--unbounded", "--engine", "local")
    said = " ".join(out.split())

    assert code == exit_codes.INCOMPLETE
    assert "claims about whole behaviours are not judged with --unbounded" in said
    assert "INCOMPLETE eventually_any_state; HOLDS tokens_were_granted" in said


def test_python_judges_without_bounds_too() -> None:
    lease = live(LEASE)
    holds = waterline.check(lease, unbounded=True)
    broken = waterline.check(live(LEASE, fenced=False, leases=1), unbounded=True)

    assert (holds.holds, holds.distinct) == (True, 136)
    assert broken.trace is not None
    assert (len(broken.trace), broken.distinct) == (7, 139)
    assert [each.granted for each in broken.trace.states][-1] == 2
    assert broken.trace.steps[0].sentence.startswith("client")


def test_an_initial_state_with_an_epoch_is_named_alone(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(
        "from waterline import Epoch, Epochs, Fields, Names, Number, Protocol\n"
        "class State(Fields):\n"
        "    nodes = Names('node', 4)\n"
        "    views = Epochs('view', 2)\n"
        "    n = Number(0, 3, by=nodes)\n"
        "    view = Epoch(views, by=nodes)\n"
        "def m(state: type[State]) -> Protocol:\n"
        "    return Protocol(state=state, actions=[go], initial=start)\n"
        "def start(s):\n    s.n[0] = 1\n    s.view[2] = 1\n"
        "def go(s, view):\n    s.view[0] = view\n"
    )
    family = family_in(file)
    with pytest.raises(BadEnvironment) as refused:
        family.problem("m", {"unbounded": True})

    assert "has epochs or values already, as view[node2] 1; leave" in str(refused.value)
