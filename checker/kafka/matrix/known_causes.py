"""Known causes: the catalogue entry whose repair also repairs a lost cell.

A cell whose loss is gone with one of `checker.kafka.scenarios.repairs`, all else as it is, is
reported as an instance of the entry that this repairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from waterline.checker.batch.question import UNWATCHED, Answer, Explorer, Question
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.grid import STATES_MAX_OF_A_TRIAL, Grid
from waterline.checker.kafka.matrix.outcome import Outcome
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.kafka.scenarios.repairs import REPAIRS, Repair, repair_version
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.search.result import INTERRUPTED, Verdict

_ON_DISK = "acknowledged_on_disk"
STATES_MAX = 5_000_000
"""Most states of such an experiment. One that is not finished is taken only if it came beyond the
steps that the loss takes."""


@dataclass(frozen=True, slots=True)
class Kin:
    """An entry whose repair closes a cell. `steps`: so many were explored then, None: all."""

    scenario: Scenario
    repair: Repair
    steps: int | None


@dataclass(frozen=True, slots=True)
class _Trial:
    """A cell with a repair."""

    outcome: Outcome
    repair: Repair
    question: Question


def kin_of(grid: Grid, outcomes: Sequence[Outcome], explorer: Explorer) -> dict[str, list[Kin]]:
    """Return the catalogue entries behind each fault that breaks a claim.

    Raises `KeyboardInterrupt` if that was interrupted: an unfinished trial proves no cause.
    """
    trials = [trial for outcome in outcomes for trial in _trials(grid, outcome)]
    answers = explorer([trial.question for trial in trials], UNWATCHED)
    if any(answer.stopped_by == INTERRUPTED for answer in answers):
        raise KeyboardInterrupt
    kin: dict[str, list[Kin]] = {}
    for trial, answer in zip(trials, answers, strict=True):
        if _closes(trial.outcome, answer):
            steps = None if answer.complete else answer.depth
            found = Kin(find_scenario(trial.repair.entry), trial.repair, steps)
            kin.setdefault(trial.outcome.fault, []).append(found)
    return kin


def _closes(outcome: Outcome, answer: Answer) -> bool:
    """True if the loss is gone: it is nowhere, or at least not within the steps that it took."""
    worst = outcome.worst
    is_broken = any(verdict == Verdict.VIOLATED.value for _, verdict, _ in answer.verdicts)
    if is_broken or worst is None or worst.depth is None:
        return False
    return answer.complete or answer.depth > worst.depth


def _trials(grid: Grid, outcome: Outcome) -> Iterator[_Trial]:
    """Yield the repairs, not in this version yet, of every entry that violates a claim under it."""
    worst = outcome.worst
    if worst is None:
        return
    environment = outcome.cell.environment
    sized = grid.within(environment.records, environment.epochs)
    asked = question_of(outcome.cell, sized, stop_at_first=True)
    before = replace(asked.problem.spec, claims=frozenset(_claims_to_ask(worst.name)))
    few = min(grid.max_states, STATES_MAX_OF_A_TRIAL if grid.first_look else STATES_MAX)
    if grid.first_look and outcome.answer.distinct > few:
        return
    asked = replace(asked, budgets=replace(asked.budgets, max_states=few))
    for repair in REPAIRS:
        version = repair_version(before.version, repair)
        needs = repair.only_with
        if version is None or (needs and not environment.options().get(needs)):
            continue
        options = tuple({**dict(before.options), **repair.options}.items())
        spec = replace(before, version=version, options=options)
        if spec != before:
            problem = replace(MESSAGE.make(spec), shared=asked.problem.shared)
            yield _Trial(outcome, repair, replace(asked, problem=problem))


def _claims_to_ask(claim: str) -> tuple[str, ...]:
    """Return the claim; with one about acknowledged records, also that some log has them.

    If a repair leaves no possible leader, every claim about the leader holds, even with the record
    gone.
    """
    is_durability = claim.startswith("acknowledged_") and claim != _ON_DISK
    return (claim, _ON_DISK) if is_durability else (claim,)
