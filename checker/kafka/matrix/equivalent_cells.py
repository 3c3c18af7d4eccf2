"""Equivalent cells: those with the same states under two versions are explored once.

Some rules change nothing before a certain action (`model.message.features.Feature.begins_with`): a
broker epoch is only of the past once a broker has registered anew. Where a search has never taken
that action, its answer is also that of the version which differs in such rules alone. Whether it
was taken is counted, not assumed; where it was, the other cell is explored as well.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from waterline.checker.kafka.matrix.answering import Answer, Question, problem_of
from waterline.checker.kafka.matrix.running import Explorer, Watch
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
        answers = _ask(explorer, questions, asked, watch)
        others = [
            place
            for place, other in enumerate(first)
            if questions[place] != questions[other] and not _is_for_both(answers[other])
        ]
        if others:
            answers |= _ask(explorer, questions, others, watch, before=len(asked))
        found = [answers.get(place, answers[other]) for place, other in enumerate(first)]
        if not any(answer.stopped_by == INTERRUPTED for answer in found):
            watch(len(questions), None)
        return found

    return explore


def _ask(
    explorer: Explorer,
    questions: Sequence[Question],
    places: Sequence[int],
    watch: Watch,
    *,
    before: int = 0,
) -> dict[int, Answer]:
    """The answers to the questions at these places; `watch` receives places among all."""

    def describe(done: int, under_way: Collection[int] | None) -> None:
        now = None if under_way is None else [places[place] for place in under_way]
        watch(before + done, now)

    found = explorer([questions[place] for place in places], describe)
    return dict(zip(places, found, strict=True))


def _first_of_its_kind(questions: Sequence[Question]) -> list[int]:
    """Return, for each question, the place of the first that may have the same answer."""
    places: dict[Hashable, int] = {}
    return [places.setdefault(_kind(q), place) for place, q in enumerate(questions)]


def _kind(question: Question) -> Hashable:
    """All that its answer depends on while no rule that waits has begun."""
    problem = problem_of(question)
    settings = problem.model.settings
    options = dict(question.spec.options)
    if not any(options[name] for name in _TAKES_BROKERS_DOWN):
        _, features = active_rules(version_of(question.spec.version), ())
        settings = settings._replace(features=features)
    limits = (question.invariants, question.max_states, question.stop_at_first, question.enough)
    model = problem.model
    return (settings, model.layout, tuple(model.contents), problem.checked, limits, question.shared)


def _is_for_both(answer: Answer) -> bool:
    """True if the explored space has nothing that a rule waits for, or nothing was explored."""
    if answer.stopped_by == INTERRUPTED:
        return True
    fired = [name for name, number in answer.fired if number]
    # A search that raised has counted nothing.
    return answer.raised_in is None and idle_rules(fired) == idle_rules(())
