"""Courses: what can happen with some events, against going through them one step at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from waterline.checker.analysis.explain.chain import own_actions
from waterline.checker.analysis.explain.executions import Allowance, CourseSearch, Event
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.counterexamples import Moment, Replayed
from waterline.model.core.state import State

PLENTY = Allowance(states=1_000_000, ends=time.monotonic() + 10_000)


def events_of(problem: Problem, replayed: Replayed) -> list[Moment]:
    return [m for m in replayed.moments if m.action in words_of(problem).outside]


def search_of(problem: Problem) -> CourseSearch:
    [claim] = problem.applicable
    return CourseSearch(problem, claim, own_actions(problem, claim))


def reached(problem: Problem, start: State, events: list[Moment]) -> set[State]:
    """Every state of a course, in Python: each with each number of events that were passed."""
    outside = words_of(problem).outside

    def following(state: State, taken: int) -> Iterator[tuple[State, int]]:
        for step in problem.model.successors(state):
            if step.action.name not in outside:
                yield step.after, taken
            for place in range(taken, len(events)):
                event = events[place]
                if (event.action, event.values[:1]) == (step.action.name, step.arguments[:1]):
                    yield step.after, place + 1

    seen = {(start, 0)}
    waiting = [(start, 0)]
    while waiting:
        for pair in following(*waiting.pop()):
            if pair not in seen:
                seen.add(pair)
                waiting.append(pair)
    return {state for state, _ in seen}


@pytest.mark.parametrize("left_out", [2, 7, 8])
def test_all_courses_are_gone_through(left_out: int, loss: tuple[Problem, Replayed]) -> None:
    problem, replayed = loss
    [claim] = problem.applicable
    events = [moment for moment in events_of(problem, replayed) if moment.number != left_out]
    asked = [Event(moment.action, moment.values[0]) for moment in events]
    states = reached(problem, replayed.initial, events)

    found = search_of(problem).search(replayed.initial.words, asked, PLENTY)

    assert found.states == len(states)
    assert found.breaks is False
    assert all(claim.holds(state, problem.model.settings) for state in states)


def test_with_all_events_a_course_breaks_the_claim(loss: tuple[Problem, Replayed]) -> None:
    problem, replayed = loss
    asked = [Event(moment.action, moment.values[0]) for moment in events_of(problem, replayed)]

    found = search_of(problem).search(replayed.initial.words, asked, PLENTY)

    assert found.breaks is True


def test_events_are_taken_in_their_order(loss: tuple[Problem, Replayed]) -> None:
    problem, replayed = loss
    asked = [Event(moment.action, moment.values[0]) for moment in events_of(problem, replayed)]
    search = search_of(problem)

    late = search.search(replayed.initial.words, [*asked[1:], asked[0]], PLENTY)

    assert late.breaks is False


def test_a_budget_that_ends_leaves_it_undecided(loss: tuple[Problem, Replayed]) -> None:
    problem, replayed = loss
    search = search_of(problem)
    asked = [Event(moment.action, moment.values[0]) for moment in events_of(problem, replayed)]

    few = search.search(replayed.initial.words, asked, Allowance(states=5, ends=PLENTY.ends))
    late = search.search(replayed.initial.words, asked, Allowance(states=10**6, ends=0.0))

    assert (few.breaks, late.breaks) == (None, None)


def test_without_a_word_of_what_is_outside_every_step_is_an_event(
    loss: tuple[Problem, Replayed],
) -> None:
    problem, replayed = loss
    whole = [Event(moment.action, next(iter(moment.values), None)) for moment in replayed.moments]
    search = CourseSearch(problem, problem.applicable[0], frozenset())

    with_all = search.search(replayed.initial.words, whole, PLENTY)
    without_one = [
        search.search(replayed.initial.words, [*whole[:at], *whole[at + 1 :]], PLENTY).breaks
        for at in range(len(whole))
    ]

    assert with_all.breaks is True
    assert without_one == [False] * len(whole)
