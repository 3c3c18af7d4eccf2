"""Outcome of a cell: its standing, and the worst violated claim."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from waterline import invariants
from waterline.checker.batch.question import Answer
from waterline.checker.kafka.deployed.keys import UNCLEAN
from waterline.checker.kafka.matrix.grid import CLAIMS, FAULT, OTHER_WORD, Cell, Grid, Place
from waterline.checker.kafka.matrix.without_bounds import Unbounded
from waterline.checker.kafka.words import protocol_options
from waterline.checker.problem.wording import as_option
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.result import Verdict
from waterline.checker.search.rule_errors import explain_fault
from waterline.checker.traces.finding import finding_at
from waterline.counterexamples import Replayed
from waterline.model.core.claim import ActionProperty, Invariant
from waterline.model.message.environment import DECLARED, DOCUMENTED, FAULTS, Environment
from waterline.model.message.settings import settings_of
from waterline.model.message.versions import version_of

EPOCHS_BOUND = "epochs"
"""The model's name for the bound on leader epochs, in its counts of cut steps."""
_OUT_OF_REACH, _LEADERLESS = "acknowledged_somewhere", "leader_possible"
_SEVERITY = [claim.name for claim in CLAIMS]
_WORDS = {claim.name: claim.word for claim in CLAIMS}


class Standing(enum.Enum):
    """Standing of a cell, at a glance."""

    HOLDS = "holds"
    """Every claim holds in every reachable state within the bounds, or does not apply."""
    CONTRACT = "contract"
    """All that is violated is what Kafka does not promise with these settings."""
    VIOLATED = "violated"
    """A claim is violated that Kafka promises."""
    INCOMPLETE = "incomplete"
    """Stopped early, or explored in another size, with nothing broken that is promised: nothing may
    be concluded."""


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """The verdict of one claim. `contract` says why Kafka does not promise a broken claim.

    `depth_clean` is the number of steps to a violation with unclean elections off, if it makes them
    no excuse.
    """

    name: str
    verdict: Verdict
    depth: int | None
    contract: str | None = None
    depth_clean: int | None = None

    @property
    def is_violated(self) -> bool:
        """True if a reachable state breaks it."""
        return self.verdict is Verdict.VIOLATED

    @property
    def word(self) -> str:
        """Word for the broken claim in a cell."""
        return _WORDS.get(self.name, OTHER_WORD)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Larger bounds that were begun, and not finished, with nothing worse found until then."""

    records: int
    epochs: int
    stopped_by: str
    distinct: int
    depth: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """A cell with its verdicts, and for a broken one the counterexample of the worst claim.

    `cell` has the largest bounds with a result. `unfinished` is the attempt beyond them,
    `unbounded` the result without bounds, if that was tried. `stand_in` names the smaller size that
    was explored in place of the requested one: if it breaks nothing, nothing follows.
    """

    cell: Cell
    answer: Answer
    claims: tuple[ClaimOutcome, ...]
    replayed: Replayed | None = None
    explanation: str = ""
    unfinished: Unfinished | None = None
    unbounded: Unbounded | None = None
    stand_in: str = ""

    def instead_of(self, stand_in: str) -> Outcome:
        """Return the outcome of the size that stood in for another: "holds" becomes unknown."""
        if not stand_in:
            return self
        claims = (
            replace(c, verdict=Verdict.INCOMPLETE) if c.verdict is Verdict.HOLDS else c
            for c in self.claims
        )
        return replace(self, claims=tuple(claims), stand_in=stand_in)

    @property
    def fault(self) -> str:
        """Name of the cell's fault."""
        return self.cell.coordinates[FAULT]

    @property
    def is_bounded(self) -> bool:
        """True if its verdicts are about no more than its bounds."""
        found = self.unbounded
        return found is None or not found.confirms or found.records < self.cell.environment.records

    @property
    def is_cut_by_epochs(self) -> bool:
        """True if there was more to come in a later leader epoch than the bound allows.

        A bound on records always cuts, for one more could always be produced; a fault's own budget
        is what the cell is about.
        """
        return dict(self.answer.cut).get(EPOCHS_BOUND, 0) > 0

    @property
    def lacks_records(self) -> bool:
        """True if one more record was begun, and not finished."""
        larger = self.unfinished
        return larger is not None and larger.records > self.cell.environment.records

    @property
    def is_bound_by_records(self) -> bool:
        """True if the verdict covers only as many records as were tried: `holds r2`."""
        was_tried = self.is_bounded and self.unbounded is not None and not self.emptiness
        return self.lacks_records or was_tried

    @property
    def standing(self) -> Standing:
        """Standing of the cell."""
        broken = [claim for claim in self.claims if claim.is_violated]
        if any(claim.contract is None for claim in broken):
            return Standing.VIOLATED
        if not self.answer.complete:
            return Standing.INCOMPLETE
        if broken:
            return Standing.CONTRACT
        return Standing.INCOMPLETE if self.stand_in else Standing.HOLDS

    @property
    def worst(self) -> ClaimOutcome | None:
        """The worst broken claim: one that Kafka promises, if any.

        A record is not lost yet if it is out of reach only because no replica can lead: then that
        claim counts.
        """
        broken = [claim for claim in self.claims if claim.is_violated]
        return min((c for c in broken if not _follows(c, broken)), key=badness, default=None)

    @property
    def emptiness(self) -> str | None:
        """Why that the claims hold says little, if so."""
        if self.standing is not Standing.HOLDS:
            return None
        answer = self.answer
        return vacuity(self.cell.environment, answer.never, dict(answer.fired))

    @property
    def label(self) -> str:
        """Text of the cell: `holds`, `holds e3 r1`, `loses 12`, `contract 4`, `?`."""
        standing = self.standing
        if standing is Standing.INCOMPLETE:
            return "?"
        worst = self.worst
        if worst is None:
            environment, emptiness = self.cell.environment, self.emptiness
            is_cut = self.is_bounded and self.is_cut_by_epochs
            within = f" e{environment.epochs}" if is_cut else ""
            within += f" r{environment.records}" if self.is_bound_by_records else ""
            return f"holds{'*' if emptiness else ''}{within}"
        return f"{worst.word if standing is Standing.VIOLATED else 'contract'} {worst.depth}"


def judge(grid: Grid, cells: Sequence[Cell], answers: Sequence[Answer]) -> list[Outcome]:
    """Return the outcomes of the answers, in the order of the cells.

    Enabled unclean elections do not excuse a loss that also happens with them off, if that cell was
    explored too. Raises what an action or invariant raised.
    """
    for cell, answer in zip(cells, answers, strict=True):
        if answer.raised_in is not None:
            raise explain_fault(cell.problem(grid.invariants), ModelFault(answer.raised_in))
    explored = {cell.at(): answer for cell, answer in zip(cells, answers, strict=True)}
    return [
        Outcome(cell, answer, _claims(cell, answer, explored))
        for cell, answer in zip(cells, answers, strict=True)
    ]


def _follows(claim: ClaimOutcome, broken: Sequence[ClaimOutcome]) -> bool:
    """True if a record is out of an election's reach where no election has a candidate at all."""
    if claim.name != _OUT_OF_REACH or claim.depth is None:
        return False
    leaderless = next((c.depth for c in broken if c.name == _LEADERLESS), None)
    return leaderless is not None and leaderless <= claim.depth


def badness(claim: ClaimOutcome) -> tuple[bool, int]:
    """The worst is the least: promised before not promised, then as `CLAIMS` has them."""
    rank = _SEVERITY.index(claim.name) if claim.name in _SEVERITY else len(_SEVERITY)
    return claim.contract is not None, rank


_ASKED: tuple[Invariant | ActionProperty, ...] = (*invariants.ALL, *invariants.PROPERTIES)
_CONTRACTS = {claim.name: claim.contract for claim in _ASKED}


def contract(claim: str, version: str, environment: Environment) -> str | None:
    """Why Kafka does not promise the claim in this environment; None: it does.

    This judges by the settings alone; `judge` also looks at the cell that has unclean elections
    off.
    """
    return _CONTRACTS[claim](settings_of(environment, version_of(version)))


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
    for name, text, depth in answer.verdicts:
        verdict = Verdict(text)
        if verdict is not Verdict.VIOLATED:
            claims.append(ClaimOutcome(name, verdict, depth))
            continue
        depth_clean = None
        if not contract(name, cell.version, clean_environment):
            depth_clean = depths_clean.get(name)
        reason = contract(name, cell.version, environment) if depth_clean is None else None
        claims.append(ClaimOutcome(name, verdict, depth, reason, depth_clean))
    return tuple(claims)


def with_counterexample(outcome: Outcome) -> Outcome:
    """Return the outcome with the trace of its worst broken claim, replayed and confirmed."""
    worst = outcome.worst
    if worst is None:
        return outcome
    problem = outcome.cell.problem([worst.name])
    claim = next(known for known in problem.judged if known.name == worst.name)
    found = finding_at(problem.model, claim, outcome.answer.paths[worst.name])
    return replace(outcome, replayed=found.replayed, explanation=found.explanation)


_IN_RESPONSE = "hw-in-response"


def describe_command(outcome: Outcome, release: str | None = None) -> str:
    """`waterline check --protocol kip903 --without shrink-raises-epoch --replicas 3 ...`

    With `release`, which follows the version of the cell, `waterline check --kafka 4.2:kraft ...`.
    """
    version = protocol_options(outcome.cell.version) if release is None else [f"--kafka {release}"]
    words = ["waterline check --engine local", *version]
    usual = DOCUMENTED.options()
    for name, value in outcome.cell.environment.options().items():
        # A release has a value of its own for this one.
        if value != usual[name] or (name == _IN_RESPONSE and release is not None):
            words.append(as_option(name, value))
    if outcome.worst is not None:
        words.append(f"--invariant {outcome.worst.name} --stop-at-first")
    return " ".join(words)


def fault_steps(environment: Environment) -> dict[str, str]:
    """The steps that the faults of these circumstances consist of, by what their absence means."""
    return {
        fault.never: DECLARED[name].steps[0]
        for name, fault in FAULTS.items()
        if getattr(environment, name)
    }


def emptiness(environment: Environment, never: tuple[str, ...]) -> str | None:
    """Why that the claims hold says less here than it seems; None where it says all."""
    if "record_commits" in never:
        return "no record is ever committed, so none can be lost"
    if environment.acks == "0":
        return "acks=0: nothing is acknowledged, so nothing acknowledged can be lost"
    return None


def vacuity(
    environment: Environment, never: tuple[str, ...], fired: Mapping[str, int]
) -> str | None:
    """Why that the claims hold says less here than it seems; None where it says all."""
    if text := emptiness(environment, never):
        return text
    if "record_acknowledged" in never:
        return "no record is ever acknowledged, so none that was can be lost"
    missing = [text for text, step in fault_steps(environment).items() if not fired.get(step)]
    return f"{', '.join(missing)}, so this fault is not met here" if missing else None
