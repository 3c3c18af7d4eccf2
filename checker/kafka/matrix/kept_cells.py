"""Answers about cells on disk, so that a repeated question is answered at once.

The name of an answer covers the question with its budgets, the functions that a search calls, and
this program. A record next to it lists all that the rules read by name; the answer counts only if
they read the same now (`docs/kept.md`). A counterexample is replayed before it is shown, like a new
one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Any

from waterline.checker.compiler.cache import cache_directory, trusted_cache
from waterline.checker.compiler.kept_file import read_sealed, write_sealed
from waterline.checker.compiler.problem_digest import question_digest, reads_the_same, what_it_read
from waterline.checker.kafka.matrix.answering import Answer, Question, problem_of
from waterline.checker.kafka.matrix.running import Explorer, Found, Watch
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.program_digest import program_digest
from waterline.checker.search.result import Verdict
from waterline.checker.traces.predecessors import Path

STATES_MIN = 20_000
"""Minimum size of a kept answer: smaller ones are explored faster than they are read."""
_BYTES_MAX = 1 << 24
_LASTING = ("max-states", "stop-at-first")
"""Reasons for a stop that allow the answer to be kept: another run would stop there too."""


def keeping(explorer: Explorer, found: Found) -> Explorer:
    """Return an explorer of what no earlier run has answered; `found` receives kept answers."""

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        if trusted_cache() is None:
            return explorer(questions, watch)
        problems = [problem_of(question) for question in questions]
        names = [name_of(q, p) for q, p in zip(questions, problems, strict=True)]
        answers = dict(enumerate(map(kept_answer, names, questions, problems)))
        for place, answer in answers.items():
            if answer is not None:
                found(questions[place], answer)
        asked = [place for place, answer in answers.items() if answer is None]

        def describe(done: int, under_way: Collection[int] | None) -> None:
            now = None if under_way is None else [asked[place] for place in under_way]
            watch(len(questions) - len(asked) + done, now)

        fresh = explorer([questions[place] for place in asked], describe)
        for place, answer in zip(asked, fresh, strict=True):
            answers[place] = answer
            keep(names[place], answer, problems[place])
        return [answer for _, answer in sorted(answers.items()) if answer is not None]

    return explore


def name_of(question: Question, problem: Problem) -> str:
    """A name for the question, its budgets, the functions that answer it, and this program."""
    asked = (question.invariants, question.max_states, question.stop_at_first, question.enough)
    spec = json.dumps(question.spec.to_json(), sort_keys=True)
    made_of = f"{program_digest()}\n{question_digest(problem)}\n{spec}\n{asked!r}"
    return hashlib.sha256(made_of.encode()).hexdigest()[:32]


def keep(name: str, answer: Answer, problem: Problem) -> None:
    """Keep an answer that another run would repeat, if a cache is available."""
    is_lasting = answer.complete or str(answer.stopped_by).startswith(_LASTING)
    is_judged = not answer.complete or all(
        verdict != Verdict.INCOMPLETE.value for _, verdict, _ in answer.verdicts
    )
    if not (is_lasting and is_judged) or answer.raised_in is not None:
        return
    if answer.distinct < STATES_MIN:
        return
    values = {"name": name, "read": what_it_read(problem), "answer": _to_plain(answer)}
    path = cache_directory() / "answers" / f"cell-{name}.json"
    write_sealed(path, json.dumps(values, separators=(",", ":")).encode())


def kept_answer(name: str, question: Question, problem: Problem) -> Answer | None:
    """The answer that is kept under this name; None where there is none that can be trusted."""
    path = cache_directory() / "answers" / f"cell-{name}.json"
    body = read_sealed(path, bytes_max=_BYTES_MAX)
    if body is None:
        return None
    try:
        values = json.loads(body)
        if values["name"] != name or not reads_the_same(problem, values["read"]):
            return None
        answer = _from_plain(values["answer"])
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    asked = tuple(verdict[0] for verdict in answer.verdicts)
    return answer if set(asked) == set(question.invariants) else None


def _to_plain(answer: Answer) -> dict[str, Any]:
    return {
        "verdicts": answer.verdicts,
        "paths": {name: [path.initial, path.calls] for name, path in answer.paths.items()},
        "complete": answer.complete,
        "stopped_by": answer.stopped_by,
        "distinct": answer.distinct,
        "generated": answer.generated,
        "depth": answer.depth,
        "cut": answer.cut,
        "fired": answer.fired,
        "never": answer.never,
        "seconds": answer.seconds,
    }


def _from_plain(values: dict[str, Any]) -> Answer:
    """The answer; raises `ValueError`, `KeyError` or `TypeError` for what is none."""
    return Answer(
        verdicts=tuple((str(n), Verdict(v).value, _depth(d)) for n, v, d in values["verdicts"]),
        paths={
            name: Path(int(initial), tuple((str(a), tuple(map(int, args))) for a, args in calls))
            for name, (initial, calls) in values["paths"].items()
        },
        complete=values["complete"] is True,
        stopped_by=None if values["stopped_by"] is None else str(values["stopped_by"]),
        distinct=int(values["distinct"]),
        generated=int(values["generated"]),
        depth=int(values["depth"]),
        cut=tuple((str(name), int(count)) for name, count in values["cut"]),
        fired=tuple((str(name), int(count)) for name, count in values["fired"]),
        never=tuple(map(str, values["never"])),
        seconds=float(values["seconds"]),
    )


def _depth(value: Any) -> int | None:
    return None if value is None else int(value)
