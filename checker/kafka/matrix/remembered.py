"""Answers of this process, so that a question which several ask is explored once.

Classes of topics that differ in nothing that the model has, a first look and the one after it, and
a change that is tried for several reasons ask the same. An answer does not depend on the budget of
states where the search ended before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from waterline.checker.kafka.matrix.answering import Answer, Question
from waterline.checker.kafka.matrix.running import Explorer, Watch
from waterline.checker.search.result import INTERRUPTED

_NO_BUDGET = 0
_MAX_STATES = "max-states"


def remembering(explorer: Explorer) -> Explorer:
    """Return an explorer that asks each question once."""
    known: dict[Question, list[tuple[int, Answer]]] = {}

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        found = {place: _recall(known, question) for place, question in enumerate(questions)}
        asked = [place for place, answer in found.items() if answer is None]

        def describe(done: int, under_way: Collection[int] | None) -> None:
            now = None if under_way is None else [asked[place] for place in under_way]
            watch(len(questions) - len(asked) + done, now)

        for place, answer in zip(
            asked, explorer([questions[place] for place in asked], describe), strict=True
        ):
            found[place] = answer
            if answer.stopped_by != INTERRUPTED and answer.raised_in is None:
                question = questions[place]
                known.setdefault(_key(question), []).append((question.max_states, answer))
        return [answer for _, answer in sorted(found.items()) if answer is not None]

    return explore


def _recall(known: dict[Question, list[tuple[int, Answer]]], question: Question) -> Answer | None:
    for budget, answer in known.get(_key(question), ()):
        if budget == question.max_states:
            return answer
        was_cut = (answer.stopped_by or "").startswith(_MAX_STATES)
        if not was_cut and answer.distinct < question.max_states:
            return answer
    return None


def _key(question: Question) -> Question:
    return replace(question, max_states=_NO_BUDGET)
