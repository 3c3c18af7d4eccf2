"""Equivalent cells: those with the same states under two versions are explored once.

Some rules change nothing before a certain action (`model.message.features.Feature.begins_with`): a
broker epoch is only of the past once a broker has registered anew. Where a search has never taken
that action, its answer is also that of the version which differs in such rules alone. Whether it
was taken is counted, not assumed; where it was, the other cell is explored as well.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from waterline.checker.batch.answer import Answer
from waterline.checker.batch.question import Explorer, Question, Watch, ask
from waterline.checker.search.result import INTERRUPTED
from waterline.model.message.declared import option_of
from waterline.model.message.environment import FAULTS
from waterline.model.message.release_names import active_rules, idle_rules
from waterline.model.message.versions import version_of

_TAKES_BROKERS_DOWN = [option_of(name) for name, fault in FAULTS.items() if fault.takes_down]
"""Options that let brokers go down. With one of them brokers do restart, so sharing is pointless.
"""


def asking_once(explorer: Explorer) -> Explorer:
    """Return an explorer that searches once for all cells with the same states."""

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        first = _first_of_its_kind(questions)
        asked = [place for place, other in enumerate(first) if place == other]
        answers = ask(explorer, questions, asked, watch)
        others = [
            place
            for place, other in enumerate(first)
            if questions[place].key != questions[other].key and not _is_for_both(answers[other])
        ]
        if others:
            answers |= ask(explorer, questions, others, watch, before=len(asked))
        found = [answers.get(place, answers[other]) for place, other in enumerate(first)]
        if not any(answer.stopped_by == INTERRUPTED for answer in found):
            watch.progress(len(questions), None)
        return found

    return explore


def _first_of_its_kind(questions: Sequence[Question]) -> list[int]:
    """Return, for each question, the place of the first that may have the same answer."""
    places: dict[Hashable, int] = {}
    return [places.setdefault(_kind(q), place) for place, q in enumerate(questions)]


def _kind(question: Question) -> Hashable:
    """All that its answer depends on while no rule that waits has begun."""
    problem = question.problem
    model = problem.model
    settings = model.settings
    if not any(model.options[name] for name in _TAKES_BROKERS_DOWN):
        _, features = active_rules(version_of(model.version), ())
        settings = settings._replace(features=features)
    layout, contents = model.layout, tuple(model.contents)
    return settings, layout, contents, problem.checked, question.budgets, problem.shared


def _is_for_both(answer: Answer) -> bool:
    """True if the explored space has nothing that a rule waits for, or nothing was explored."""
    if answer.stopped_by == INTERRUPTED:
        return True
    fired = [name for name, number in answer.fired if number]
    # A search that raised has counted nothing.
    return answer.raised_in is None and idle_rules(fired) == idle_rules(())
