"""What a cell's answer means: how it stands, and which claim is the worst that is broken."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from checker.engine import ModelFault
from checker.faults import explain_fault
from checker.finding import finding_at
from checker.matrix.answering import Answer
from checker.matrix.contract import contract, emptiness
from checker.matrix.grid import CLAIMS, OTHER_WORD, UNCLEAN, Cell, Grid, Place
from checker.result import Verdict
from counterexamples import Replayed

_SEVERITY = [claim.name for claim in CLAIMS]
_WORDS = {claim.name: claim.word for claim in CLAIMS}


class Standing(enum.Enum):
    """How a cell stands, at a glance."""

    HOLDS = "holds"
    """Every claim holds in every reachable state within the bounds, or does not apply."""
    CONTRACT = "contract"
    """All that is broken is what Kafka does not promise with these settings."""
    BROKEN = "broken"
    """A claim is broken that Kafka promises."""
    INCOMPLETE = "incomplete"
    """Stopped early, with nothing broken that is promised: nothing may be concluded."""


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """The verdict of one claim. `contract` is why Kafka does not promise it, where it is broken.

    `depth_clean` is after how many steps it also breaks with unclean elections off, if that is why
    these are no excuse.
    """

    name: str
    verdict: Verdict
    depth: int | None
    contract: str | None = None
    depth_clean: int | None = None

    @property
    def is_violated(self) -> bool:
        """Whether a reachable state breaks it."""
        return self.verdict is Verdict.VIOLATED

    @property
    def word(self) -> str:
        """What breaking it is called in a cell."""
        return _WORDS.get(self.name, OTHER_WORD)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A cell with its verdicts; for a broken one the counterexample of the worst claim."""

    cell: Cell
    answer: Answer
    claims: tuple[ClaimOutcome, ...]
    replayed: Replayed | None = None
    explanation: str = ""

    @property
    def standing(self) -> Standing:
        """How the cell stands."""
        broken = [claim for claim in self.claims if claim.is_violated]
        if any(claim.contract is None for claim in broken):
            return Standing.BROKEN
        if not self.answer.complete:
            return Standing.INCOMPLETE
        return Standing.CONTRACT if broken else Standing.HOLDS

    @property
    def worst(self) -> ClaimOutcome | None:
        """The worst claim that is broken: one that Kafka promises, if any."""
        broken = [claim for claim in self.claims if claim.is_violated]
        return min(broken, key=_badness, default=None)

    @property
    def emptiness(self) -> str | None:
        """Why that the claims hold says little, if so."""
        if self.standing is not Standing.HOLDS:
            return None
        return emptiness(self.cell.environment, self.answer.never)

    @property
    def label(self) -> str:
        """What stands in the cell: `holds`, `loses 12`, `contract 4`, `?`."""
        standing = self.standing
        if standing is Standing.INCOMPLETE:
            return "?"
        worst = self.worst
        if worst is None:
            return "holds" + ("*" if self.emptiness else "")
        return f"{worst.word if standing is Standing.BROKEN else 'contract'} {worst.depth}"


def judged(grid: Grid, cells: Sequence[Cell], answers: Sequence[Answer]) -> list[Outcome]:
    """What the answers mean, in the order of the cells, with replayed counterexamples.

    A loss that also happens with unclean elections off is not excused by having them on; that cell
    is looked at if it was explored as well. Raises what an action or invariant raised.
    """
    for cell, answer in zip(cells, answers, strict=True):
        if answer.raised_in is not None:
            raise explain_fault(cell.problem(grid.invariants), ModelFault(answer.raised_in))
    explored = {cell.at(): answer for cell, answer in zip(cells, answers, strict=True)}
    return [
        _with_counterexample(grid, Outcome(cell, answer, _claims(cell, answer, explored)))
        for cell, answer in zip(cells, answers, strict=True)
    ]


def _badness(claim: ClaimOutcome) -> tuple[bool, int]:
    """The worst is the least: promised before not promised, then as `CLAIMS` has them."""
    rank = _SEVERITY.index(claim.name) if claim.name in _SEVERITY else len(_SEVERITY)
    return claim.contract is not None, rank


def _claims(
    cell: Cell, answer: Answer, explored: Mapping[Place, Answer]
) -> tuple[ClaimOutcome, ...]:
    environment = cell.environment
    is_unclean = environment.unclean_leader_election
    clean_environment = replace(environment, unclean_leader_election=False)
    clean_cell = cell.at({UNCLEAN: "false"})
    clean = explored.get(clean_cell) if is_unclean else None
    depths_clean = {name: depth for name, _, depth in clean.verdicts} if clean else {}
    claims = []
    for name, told, depth in answer.verdicts:
        verdict = Verdict(told)
        if verdict is not Verdict.VIOLATED:
            claims.append(ClaimOutcome(name, verdict, depth))
            continue
        depth_clean = depths_clean.get(name) if not contract(name, clean_environment) else None
        reason = contract(name, environment) if depth_clean is None else None
        claims.append(ClaimOutcome(name, verdict, depth, reason, depth_clean))
    return tuple(claims)


def _with_counterexample(grid: Grid, outcome: Outcome) -> Outcome:
    """The same with the trace of its worst claim replayed and confirmed, if anything is broken."""
    worst = outcome.worst
    if worst is None:
        return outcome
    problem = outcome.cell.problem([worst.name])
    claim = next(known for known in problem.claims if known.name == worst.name)
    found = finding_at(problem.model, claim, outcome.answer.paths[worst.name])
    return replace(outcome, replayed=found.replayed, explanation=found.explanation)
