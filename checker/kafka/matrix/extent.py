"""Extent of a cell's exploration in words: bounds, cuts, deeper attempts.

And whether what it is about happened at all there, without which that it holds would say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from waterline.checker.kafka.matrix.grid import EPOCHS_STEP
from waterline.checker.kafka.matrix.outcome import Outcome, Standing, Unfinished
from waterline.checker.kafka.matrix.without_bounds import Unbounded
from waterline.checker.problem.wording import quantity, roughly
from waterline.checker.search.result import INTERRUPTED
from waterline.model.message.environment import EPOCHS_MAX, Environment


def describe_sizes(environment: Environment) -> str:
    """`2 records, epochs 0 to 3`"""
    return f"{quantity(environment.records, 'record')}, epochs 0 to {environment.epochs}"


def describe_extent(outcome: Outcome) -> Iterator[str]:
    """Describe the evidence of a cell that holds, or how far a stopped search came."""
    environment = outcome.cell.environment
    if outcome.standing is Standing.INCOMPLETE:
        yield from _describe_stopped(outcome)
        return
    records = quantity(environment.records, "record")
    if outcome.unbounded is not None:
        yield from _describe_unbounded(outcome.unbounded)
        if not outcome.is_bounded:
            if outcome.unfinished is not None:
                yield _describe_unfinished(outcome.unfinished)
            return
    if outcome.is_cut_by_epochs:
        more = min(environment.epochs + EPOCHS_STEP, EPOCHS_MAX)
        yield (
            f"Explored with {describe_sizes(environment)}. Later epochs were cut: one of them may "
            f"still break it (--max-epochs {more})."
        )
    else:
        yield f"Explored with {records}; the bound of epochs 0 to {environment.epochs} cut nothing."
    if outcome.unfinished is not None:
        yield _describe_unfinished(outcome.unfinished)


def _describe_unbounded(found: Unbounded) -> Iterator[str]:
    """Describe the result without bounds."""
    if found.confirms:
        assert found.answer is not None
        states = quantity(found.answer.distinct, "state")
        yield f"Holds {found.scope} ({states})."
    elif found.answer is None:
        yield f"Explored within bounds alone: {found.why}."
    elif found.breaks:
        name, depth = found.breaks[0]
        how = "Without bounds" if found.raise_to else "With more faults than these"
        yield f"{how} {name} breaks after {quantity(depth, 'step')} (--unbounded)."
    elif found.answer.distinct:
        states = roughly(found.answer.distinct)
        yield f"The unlimited search was given up after {states} states."


def _describe_unfinished(larger: Unfinished) -> str:
    sizes = f"{quantity(larger.records, 'record')}, epochs 0 to {larger.epochs}"
    if not larger.distinct:
        return f"Not yet checked with {quantity(larger.records, 'record')}."
    steps = quantity(larger.depth, "step")
    return (
        f"With {sizes} it was stopped after {steps} and {roughly(larger.distinct)} states "
        f"({larger.stopped_by}); nothing more is broken until there."
    )


def _describe_stopped(outcome: Outcome) -> Iterator[str]:
    answer = outcome.answer
    if not answer.distinct:
        yield f"Not explored: {answer.stopped_by}."
        return
    if outcome.stand_in:
        yield (
            f"Explored as {outcome.stand_in}: no loss there, from which nothing follows for yours."
        )
    if answer.complete:
        return
    yield (
        f"Stopped by {answer.stopped_by} after {roughly(answer.distinct)} states with "
        f"{describe_sizes(outcome.cell.environment)}: nothing may be concluded."
    )
    broken = [claim for claim in outcome.claims if claim.is_violated]
    if not broken:
        yield f"Nothing is broken within the first {quantity(answer.depth, 'step')}."
    if answer.stopped_by != INTERRUPTED:
        yield "A larger --max-states, or fewer --replicas, may finish it."
