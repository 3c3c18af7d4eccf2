"""Questions of a job, and what answers them: an explorer.

Questions of one shape of state share their machine code, where they are many: to compile a small
space takes longer than to explore it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterline.checker.batch.answer import Answer
from waterline.checker.problem.problem import Problem, sharing
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import INTERRUPTED, NO_BUDGETS, Budgets, Verdict

_MANY = 3
"""From so many questions of one shape on they are compiled together."""
_CLAIMS_MAX = 60
"""Most claims and actions of problems that share machine code."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A problem to explore within budgets.

    `choice` is the engine of a whole check; an explorer of spaces in memory needs none. `name` is
    for display. `size` is about how many states it has, where that is known.
    """

    problem: Problem
    budgets: Budgets = NO_BUDGETS
    choice: EngineChoice = field(default_factory=lambda: EngineChoice(name="local"))
    name: str = ""
    size: int = 0

    @property
    def key(self) -> Hashable:
        """Equal for questions with the same answer."""
        return self.problem.spec, self.problem.shared, self.budgets

    @property
    def shape(self) -> Hashable:
        """Equal for questions that can share machine code."""
        model, family = self.problem.model, self.problem.family
        own = model.version if family is None or family.is_read_at_run_time else None
        return model.name, model.layout, own


@dataclass(frozen=True, slots=True)
class Watch:
    """Receivers of what becomes known, in one thread: each answer as it comes, with its place.

    `progress` receives how many are answered, and the places under way, where these are known.
    """

    found: Callable[[int, Answer], None] = lambda place, answer: None
    progress: Callable[[int, Collection[int] | None], None] = lambda done, under_way: None


UNWATCHED = Watch()
Explorer = Callable[[Sequence[Question], Watch], list[Answer]]
"""Answers questions, in their order. Ctrl-C leaves the rest unexplored (`unexplored_answer`)."""


def unexplored_answer(question: Question, stopped_by: str = INTERRUPTED) -> Answer:
    """The answer where there was no time for one."""
    names = question.problem.asked_names
    verdicts = tuple((name, Verdict.INCOMPLETE.value, None) for name in names)
    return Answer(verdicts=verdicts, stopped_by=stopped_by)


def ask(
    explorer: Explorer,
    questions: Sequence[Question] | Mapping[int, Question],
    places: Sequence[int],
    watch: Watch,
    *,
    before: int = 0,
    found: Callable[[int, Answer], None] = lambda place, answer: None,
) -> dict[int, Answer]:
    """Return the explorer's answers to the questions at these places, by place.

    `watch` receives places among all questions; so many were answered `before`. `found`
    receives each answer before `watch` does.
    """

    def report(place: int, answer: Answer) -> None:
        found(places[place], answer)
        watch.found(places[place], answer)

    def progress(done: int, under_way: Collection[int] | None) -> None:
        now = None if under_way is None else [places[place] for place in under_way]
        watch.progress(before + done, now)

    answers = explorer([questions[place] for place in places], Watch(report, progress))
    return dict(zip(places, answers, strict=True))


def compiled_together(questions: Sequence[Question]) -> list[Question]:
    """Return the same questions; those of one shape get their common parts."""
    shapes: dict[Hashable, list[Problem]] = defaultdict(list)
    for question in questions:
        shapes[question.shape].append(question.problem)
    shared = {
        shape: sharing(problems)
        for shape, problems in shapes.items()
        if len(problems) >= _MANY and _can_share(problems[0])
    }
    return [
        replace(each, problem=replace(each.problem, shared=shared[each.shape]))
        if each.shape in shared
        else each
        for each in questions
    ]


def _can_share(problem: Problem) -> bool:
    return max(len(problem.model.actions), len(problem.claims)) <= _CLAIMS_MAX
