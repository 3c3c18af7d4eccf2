"""Answers for all expectations; those that differ only in their claims share one search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from waterline.checker.batch.checks import checking
from waterline.checker.batch.keeping import keeping
from waterline.checker.batch.question import Answer, Question, Watch
from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome, judge
from waterline.checker.search.search import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the answers are got.

    `processes` side by side, None for as many as the machine has room for. With `uses_kept` answers
    of earlier runs count. `begin` receives the names of what is searched next, `watch` how a
    search in this process comes on, `done` each outcome as it is known.
    """

    processes: int | None = None
    uses_kept: bool = True
    begin: Callable[[str], None] = lambda name: None
    watch: Callable[[Snapshot], None] = lambda snapshot: None
    announce: Callable[[str], None] = lambda message: None
    done: Callable[[Outcome], None] = lambda outcome: None


def judge_all(expectations: Sequence[Expectation], manner: Manner) -> list[Outcome]:
    """How each came out, in their order; Ctrl-C leaves out those that were not judged by then."""
    outcomes: dict[int, Outcome] = {}
    searches = searches_of(expectations)

    def settle(place: int, answer: Answer) -> None:
        for number in searches[place][1]:
            outcomes[number] = judge(expectations[number], answer)
            manner.done(outcomes[number])

    explorer = checking(
        processes=manner.processes,
        begin=manner.begin,
        snapshot=manner.watch,
        announce=manner.announce,
    )
    explorer = keeping(explorer, uses_kept=manner.uses_kept)
    with suppress(KeyboardInterrupt):
        explorer([question for question, _ in searches], Watch(settle))
    return [outcomes[number] for number in sorted(outcomes)]


def shard(expectations: Sequence[Expectation], number: int, of: int) -> list[Expectation]:
    """Shard `number`, from 1, of so many; expectations that share a search stay together."""
    chosen = {n for _, numbers in searches_of(expectations)[number - 1 :: of] for n in numbers}
    return [each for place, each in enumerate(expectations) if place in chosen]


def searches_of(expectations: Sequence[Expectation]) -> list[tuple[Question, tuple[int, ...]]]:
    """All searches, in the order of the expectations, with the numbers of those they answer."""
    together: dict[Hashable, list[int]] = defaultdict(list)
    for number, each in enumerate(expectations):
        together[_key(each)].append(number)
    return [(_question(expectations, numbers), tuple(numbers)) for numbers in together.values()]


def _question(expectations: Sequence[Expectation], numbers: Sequence[int]) -> Question:
    first = expectations[numbers[0]]
    problem = first.problem
    for number in numbers[1:]:
        other = expectations[number].problem
        problem = problem.asking_too(c.name for c in other.claims if other.is_asked(c))
    size = max(expectations[number].counts.get("distinct", 0) for number in numbers)
    return Question(problem, first.budgets, first.choice, first.name, size)


def _key(each: Expectation) -> Hashable:
    """Return a key that is equal for expectations that one search can answer."""
    problem = each.problem
    question = (problem.spec.space, each.choice, each.budgets)
    # Where the first violation ends the search, it goes by the claims which one that is.
    return (*question, problem.asked) if each.budgets.stop_at_first else question
