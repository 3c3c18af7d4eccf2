"""Answers on disk, next to the machine code, and in memory: a question is explored once.

The name of an answer covers the question with its budgets, the functions that a search calls, and
this program. A record next to it lists all that the rules read by name; the answer counts only if
they read the same now (`docs/checker.md`). It is trusted under the conditions of
`checker.compiler.cache`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from waterline.checker.batch.question import (
    Answer,
    Explorer,
    Question,
    Watch,
    ask,
    from_json,
    to_json,
)
from waterline.checker.compiler.cache import (
    cache_directory,
    read_sealed,
    trusted_cache,
    write_sealed,
)
from waterline.checker.compiler.problem_digest import question_digest, reads_the_same, what_it_read
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.problem.program_digest import program_digest
from waterline.checker.search.result import INTERRUPTED, Verdict
from waterline.counterexamples import BadTrace

STATES_MIN = 20_000
"""Minimum size of an answer of many that is kept: smaller spaces are explored faster than read."""
_BYTES_MAX = 1 << 24
_LASTING = ("max-states", "max-depth", "stop-at-first")
"""Reasons to stop that do not prevent keeping: another run would stop there too."""
_MAX_STATES = "max-states"


def answers_folder() -> Path:
    """Where answers are kept."""
    return cache_directory() / "answers"


def keeping(explorer: Explorer, *, states_min: int = 0, uses_kept: bool = True) -> Explorer:
    """Return an explorer of what no earlier run has answered, which keeps what is new.

    Without `uses_kept` it explores all.
    """

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        if trusted_cache() is None:
            return explorer(questions, watch)
        names = list(map(name_of, questions))
        known: dict[int, Answer] = {}
        for place, (name, question) in enumerate(zip(names, questions, strict=True)):
            answer = kept_answer(name, question) if name and uses_kept else None
            if answer is not None:
                known[place] = answer
                watch.found(place, answer)

        def keep_new(place: int, answer: Answer) -> None:
            name = names[place]
            if name and answer.distinct >= states_min:
                keep(name, questions[place], answer)

        rest = [place for place in range(len(questions)) if place not in known]
        fresh = ask(explorer, questions, rest, watch, before=len(known), found=keep_new)
        return [answer for _, answer in sorted((known | fresh).items())]

    return explore


def name_of(question: Question) -> str | None:
    """A name for the question, the functions that it calls, and the program that answers it.

    None if the text of a function cannot be read.
    """
    enough = sorted(question.budgets.enough)
    budgets = f"{replace(question.budgets, enough=frozenset())!r}\n{enough!r}"
    try:
        made_of = f"{program_digest()}\n{question_digest(question.problem)}\n{budgets}"
    except NotCompilable:
        return None
    return hashlib.sha256(made_of.encode()).hexdigest()[:32]


def kept_answer(name: str, question: Question) -> Answer | None:
    """The answer that is kept under this name; None where there is none that can be trusted."""
    body = read_sealed(_file(name), bytes_max=_BYTES_MAX)
    if body is None:
        return None
    problem = question.problem
    try:
        values: dict[str, Any] = json.loads(body)
        if values["name"] != name or not reads_the_same(problem, values["read"]):
            return None
        answer = from_json(values["answer"])
        answer.result(problem)
        answer.traces(problem)
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, BadTrace):
        return None
    return answer


def keep(name: str, question: Question, answer: Answer) -> None:
    """Keep an answer that another run would repeat; do without where that cannot be."""
    if answer.trouble is not None or answer.raised_in is not None or not answer.is_ours:
        return
    if not answer.complete and not str(answer.stopped_by).startswith(_LASTING):
        return
    verdicts = {verdict for _, verdict, _ in answer.verdicts}
    if answer.complete and Verdict.INCOMPLETE.value in verdicts:
        # A claim was not judged for want of memory, of which there may be more the next time.
        return
    read = what_it_read(question.problem)
    values = {"name": name, "read": read, "answer": to_json(answer)}
    write_sealed(_file(name), json.dumps(values, separators=(",", ":")).encode())


def _file(name: str) -> Path:
    return answers_folder() / f"{name}.json"


def remembering(explorer: Explorer) -> Explorer:
    """Return an explorer that explores a question once in this process.

    Classes of topics that differ in nothing that the model has, a first look and the one after it,
    and a change that is tried for several reasons ask the same. An answer does not depend on the
    budget of states where the search ended before it.
    """
    known: dict[Hashable, list[tuple[int | None, Answer]]] = {}

    def recall(question: Question) -> Answer | None:
        asked = question.budgets.max_states
        for budget, answer in known.get(_without_states(question), ()):
            was_cut = (answer.stopped_by or "").startswith(_MAX_STATES)
            if budget == asked or (not was_cut and (asked is None or answer.distinct < asked)):
                return answer
        return None

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        recalled = [recall(question) for question in questions]
        rest = [place for place, answer in enumerate(recalled) if answer is None]
        fresh = ask(explorer, questions, rest, watch, before=len(questions) - len(rest))
        for place, answer in fresh.items():
            if answer.stopped_by != INTERRUPTED and answer.raised_in is None:
                budget = questions[place].budgets.max_states
                known.setdefault(_without_states(questions[place]), []).append((budget, answer))
        return [answer or fresh[place] for place, answer in enumerate(recalled)]

    return explore


def _without_states(question: Question) -> Hashable:
    return replace(question, budgets=replace(question.budgets, max_states=None)).key
