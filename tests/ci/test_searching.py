"""Answers are searched side by side, shared where they can be, and kept until a rule changes."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Commands
from tests.support.edited_rules import EDITS, RULES, with_rules
from tests.support.gate_texts import SMALL, entry, read
from waterline.checker.batch import keeping
from waterline.checker.batch.keeping import name_of
from waterline.checker.batch.processes import Processes, processes_wanted
from waterline.checker.batch.question import Question, compiled_together
from waterline.checker.ci.document import parse
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.reading import expectations_of
from waterline.checker.ci.searching import Manner, judge_all, searches_of, shard
from waterline.checker.cli.gate_options import asking
from waterline.checker.compiler.cache import read_sealed, write_sealed
from waterline.checker.compiler.lookup_record import Record
from waterline.checker.compiler.problem_digest import what_it_read
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineFailed
from waterline.checker.search.result import Budgets

ROOT = Path(__file__).parents[2]
TWO = entry("sane") + entry("kept", verdicts='no_committed_loss = "holds"')
OTHERS = entry("two", SMALL.replace("restarts = 1", "restarts = 2"))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Answers of nobody else's; machine code is looked up where it always is."""
    folder = tmp_path / "answers"
    monkeypatch.setattr(keeping, "answers_folder", lambda: folder)
    return folder


def facts(outcomes: list[Outcome]) -> list[Any]:
    return [
        (o.expectation.name, o.is_met, o.answer.result.distinct, dict(o.answer.traces))
        for o in outcomes
        if o.answer is not None
    ]


def test_expectations_that_differ_in_claims_share_a_search() -> None:
    [shared, alone] = searches_of(read(TWO + OTHERS))

    assert shared[1] == (0, 1)
    assert alone[1] == (2,)


def test_where_the_first_violation_ends_it_claims_are_not_put_together() -> None:
    first = f"{SMALL}stop-at-first = true\ninvariant = "
    text = entry("a", f"{first}['sane']\n") + entry("b", f"{first}['visible_hw', 'sane']\n")

    assert len(searches_of(read(text))) == 2


def test_many_of_one_shape_are_compiled_together() -> None:
    texts = [entry(f"n{n}", SMALL.replace("restarts = 1", f"restarts = {n}")) for n in range(3)]
    questions = [question for question, _ in searches_of(read("".join(texts)))]
    together, few = compiled_together(questions), compiled_together(questions[:2])

    assert all(question.problem.shared is not None for question in together)
    assert all(question.problem.shared is None for question in few)


def test_an_answer_is_kept_and_looked_up(cache: Path) -> None:
    expectations = read(TWO)
    first = judge_all(expectations, Manner(processes=1))
    second = judge_all(expectations, Manner(processes=1))

    assert [o.answer and o.answer.is_kept for o in first + second] == [False, False, True, True]
    assert facts(first) == facts(second)


@pytest.mark.parametrize(
    "damage", ["cut", "changed", "open", "forged", "a FIFO", "of another question"]
)
def test_an_answer_that_cannot_be_trusted_is_none(damage: str, cache: Path) -> None:
    expectations = read(entry())
    judge_all(expectations, Manner(processes=1))
    [path] = cache.iterdir()
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-3])
    elif damage == "changed":
        path.write_bytes(content.replace(b'"holds"', b'"violated"'))
    elif damage == "open":
        path.chmod(0o666)
    elif damage == "a FIFO":
        path.unlink()
        os.mkfifo(path, 0o600)
    elif damage == "of another question":
        judge_all(read(entry(more="moves = 1\n")), Manner(processes=1))
        [other] = [each for each in cache.iterdir() if each != path]
        values = json.loads(read_sealed(other, bytes_max=1 << 20) or b"")
        path.write_bytes(other.read_bytes())
        assert read_sealed(path, bytes_max=1 << 20) is None
        write_sealed(path, json.dumps(values).encode())
    else:
        head, _, _ = content.partition(b"\n")
        path.write_bytes(head + b"\n{}")
    [again] = judge_all(expectations, Manner(processes=1))

    assert again.answer is not None
    assert not again.answer.is_kept


def test_what_time_has_ended_is_not_kept(cache: Path) -> None:
    [ended] = judge_all(read(entry(more="max-time = 1e-6\n")), Manner(processes=1))

    assert not ended.is_met
    assert not cache.exists()


def test_the_name_of_an_answer_goes_by_rules_bounds_and_claims() -> None:
    [first, other] = [e.problem for e in read(entry("a") + entry("b", SMALL + "moves = 1\n"))]
    names = [
        name_of(Question(first)),
        name_of(Question(other)),
        name_of(Question(first.asking_too(["leader_possible"]))),
        name_of(Question(first, Budgets(max_depth=3))),
    ]
    action = first.model.enabled_actions[0]
    odd = replace(action, guard=first.model.enabled_actions[1].guard)
    actions = tuple(odd if each is action else each for each in first.model.actions)
    ruled = replace(first, model=replace(first.model, actions=actions))

    assert len({*names, name_of(Question(ruled))}) == 5
    assert name_of(Question(first)) == names[0]


def found_by(problem: Problem) -> tuple[str | None, Record]:
    """What a kept answer is found by."""
    return name_of(Question(problem)), what_it_read(problem)


@pytest.mark.parametrize(("old", "new"), EDITS.values(), ids=EDITS)
def test_an_edit_of_a_rule_gives_an_answer_another_name(old: str, new: str, tmp_path: Path) -> None:
    before, after = with_rules(RULES, tmp_path), with_rules(RULES.replace(old, new), tmp_path)

    assert old in RULES
    assert found_by(before) != found_by(after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 3\n", "# The limit.\nLIMIT = 3\n\n"),
        ("def effect(s, c, target):\n", 'def effect(s, c, target):\n    """Go there."""\n'),
        ("def inner", "def unused(s):\n    return 1\n\n\ndef inner"),
    ],
    ids=["a comment", "a docstring", "a function that nothing calls"],
)
def test_what_changes_no_rule_that_is_reached_changes_no_name(
    old: str, new: str, tmp_path: Path
) -> None:
    before, after = with_rules(RULES, tmp_path), with_rules(RULES.replace(old, new), tmp_path)

    assert found_by(before) == found_by(after)


def test_shares_are_all_and_do_not_overlap() -> None:
    expectations = read(TWO + OTHERS + entry("more", SMALL + "moves = 1\n"))
    shares = [[e.name for e in shard(expectations, n, 3)] for n in (1, 2, 3)]

    assert sorted(name for names in shares for name in names) == sorted(
        each.name for each in expectations
    )
    assert ["sane", "kept"] in shares


def dies(item: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stays(item: str) -> None:
    time.sleep(60)


@pytest.fixture
def found_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that another process finds this module by the name that it has here."""
    monkeypatch.setitem(sys.modules, "test_searching", sys.modules[__name__])
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent), *sys.path])
    for function in (dies, stays):
        monkeypatch.setattr(function, "__module__", "test_searching")


@pytest.mark.usefixtures("found_there")
def test_a_process_that_dies_costs_its_search_alone() -> None:
    with Processes(1, dies) as started:
        started.give(7, "")
        [(number, failed)] = started.answers()

    assert number == 7
    assert isinstance(failed, EngineFailed)
    assert "SIGKILL" in str(failed)


@pytest.mark.usefixtures("found_there")
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux shows what is blocked"
)
def test_ctrl_c_never_reaches_a_process_not_even_while_it_starts() -> None:
    with Processes(1, stays) as started:
        started.give(1, "")
        [worker] = started._workers
        status = Path(f"/proc/{worker.child.process.pid}/status").read_text(encoding="ascii")
        ours = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    blocked, ignored = (
        int(line.split()[1], 16)
        for name in ("SigBlk:", "SigIgn:")
        for line in status.splitlines()
        if line.startswith(name)
    )
    assert (blocked | ignored) & 1 << signal.SIGINT - 1
    assert signal.SIGINT not in ours


@pytest.mark.usefixtures("found_there")
def test_processes_end_with_the_block() -> None:
    with suppress(KeyboardInterrupt), Processes(2, stays) as started:
        started.give(1, "")
        started.give(2, "")
        had_room = started.has_room
        children = [worker.child.process for worker in started._workers]
        raise KeyboardInterrupt

    assert len(children) == 2
    assert not had_room
    assert all(child.returncode is not None for child in children)


def test_no_more_processes_than_there_is_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("waterline.checker.batch.processes.free_bytes", lambda: 3 << 30)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)

    assert [processes_wanted(n) for n in (0, 1, 2, 9)] == [1, 1, 2, 3]
    assert processes_wanted(9, asked=5) == 5


def test_cache_is_shown_and_cleared(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "gate.toml").write_text(entry("jugs"))
    cli("gate", "gate.toml", "--jobs", 1, name="waterline")
    (tmp_path / "cache" / "kernels").mkdir(exist_ok=True)
    (tmp_path / "cache" / "kernels" / "code.o").write_bytes(b"code")
    _, shown, _ = cli("cache", name="waterline")
    code, _, _ = cli("cache", "--clear", "answers", name="waterline")
    _, after, _ = cli("cache", "--format", "json", name="waterline")
    kinds = {each["kind"]: each["files"] for each in json.loads(after)["kept"]}

    assert code == 0
    assert str(tmp_path / "cache") in shown
    assert kinds["answers"] == 0
    assert kinds["kernels"] > 0


def test_shares_on_the_command_line_are_all_together(cli: Commands, tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_text(TWO + OTHERS)
    printed = [
        cli("gate", "gate.toml", "--jobs", 1, "--shard", f"{n}/2", name="waterline")[:2]
        for n in (1, 2)
    ]
    wrong, _, err = cli("gate", "gate.toml", "--shard", "3/2", name="waterline")

    assert [code for code, _ in printed] == [0, 0]
    assert [out.count("as expected") for _, out in printed] == [2, 1]
    assert wrong == 2
    assert "'3/2' is no share; write 1/3, 2/3 or 3/3" in err


def test_an_engine_is_of_entries_that_name_none() -> None:
    unnamed = entry("unnamed").replace('engine = "local"\n', "")
    document = parse(unnamed + entry("named"), "gate.toml")
    given = {"engine": "spark", "master": "local[3]"}
    usual, named = expectations_of(
        document, asking(), folder=Path(), allow_models=False, given=given
    )

    assert (usual.choice.name, usual.choice.master) == ("spark", "local[3]")
    assert named.choice.name == "local"
