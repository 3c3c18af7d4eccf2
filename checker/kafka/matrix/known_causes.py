"""Known causes: the catalogue entry whose repair also repairs a lost cell.

An entry of `checker.kafka.scenarios.catalogue` says how records are lost; `_REPAIRS` says which
rule, or which setting, keeps that from happening. A cell whose loss is gone with one such change,
all else as it is, is reported as an instance of that entry; resemblance does not count. Rules are
put in that no Kafka had, or that this one has not: it is an experiment, and no advice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from checker.kafka.matrix.answering import Answer, Question, question_of
from checker.kafka.matrix.grid import FAULT, Grid
from checker.kafka.matrix.outcome import Outcome
from checker.kafka.matrix.running import Explorer, unwatched
from checker.kafka.scenarios.catalogue import find_scenario
from checker.kafka.scenarios.scenario import Scenario
from checker.problem.wording import describe_option
from checker.search.result import INTERRUPTED, Verdict
from model.message.features import FEATURES
from model.message.versions import BadVersion, base_of, version_of

_ON_DISK = "acknowledged_on_disk"
STATES_MAX = 5_000_000
"""Most states of such an experiment. One that is not finished is taken only if it came beyond the
steps that the loss takes."""


@dataclass(frozen=True, slots=True)
class Repair:
    """What keeps an entry from happening: a rule put in, one taken out, or options."""

    entry: str
    added: str = ""
    removed: str = ""
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """`the rule elr put in (--with elr)`"""
        if self.added:
            return f"the rule {self.added} put in (--with {self.added})"
        if self.removed:
            return f"the rule {self.removed} taken out (--without {self.removed})"
        return ", ".join(f"{name} {describe_option(value)}" for name, value in self.options.items())


_REPAIRS = (
    Repair("C12", options={"acks": "all"}),
    Repair("C11", options={"unclean-leader-election": False}),
    Repair("C22", removed="last-known-leader"),
    Repair("C23", added="last-known-leader"),
    Repair("C21", added="fresh-remote-leo"),
    Repair("C18", added="diverging-guard"),
    Repair("C9", added="broker-epoch"),
    Repair("C10", added="elr"),
    Repair("C13", added="hw-needs-min-isr"),
    Repair("C8", added="maximal-isr"),
    Repair("C7", added="isr-from-epoch-start"),
    Repair("C5", added="truncate-every-epoch"),
    Repair("C6b", added="fencing"),
    Repair("C25", added="session-fencing"),
    Repair("C6", added="epoch-on-leading"),
    Repair("C46", removed="keeps-waiting-producers"),
    Repair("C4", added="truncate-by-epochs"),
    Repair("C1", added="truncate-by-epoch"),
)
"""What is nearest to the settings first, then what is newest: a change that repairs much comes
after those that repair one thing."""


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
    """For each fault that breaks a claim the entries that its cell is like.

    Raises `KeyboardInterrupt` where that was interrupted: what was not finished is like nothing.
    """
    trials = [trial for outcome in outcomes for trial in _trials(grid, outcome)]
    answers = explorer([trial.question for trial in trials], unwatched)
    if any(answer.stopped_by == INTERRUPTED for answer in answers):
        raise KeyboardInterrupt
    kin: dict[str, list[Kin]] = {}
    for trial, answer in zip(trials, answers, strict=True):
        if _closes(trial.outcome, answer):
            steps = None if answer.complete else answer.depth
            found = Kin(find_scenario(trial.repair.entry), trial.repair, steps)
            kin.setdefault(trial.outcome.cell.coordinates[FAULT], []).append(found)
    return kin


def _closes(outcome: Outcome, answer: Answer) -> bool:
    """Whether the loss is gone: it is nowhere, or at least not within the steps that it took."""
    worst = outcome.worst
    is_broken = any(verdict == Verdict.VIOLATED.value for _, verdict, _ in answer.verdicts)
    if is_broken or worst is None or worst.depth is None:
        return False
    return answer.complete or answer.depth > worst.depth


def _trials(grid: Grid, outcome: Outcome) -> Iterator[_Trial]:
    """Every repair of an entry under which this version falls, and that it does not have yet."""
    worst = outcome.worst
    if worst is None:
        return
    environment = outcome.cell.environment
    sized = grid.within(environment.records, environment.epochs)
    asked = question_of(outcome.cell, sized, stop_at_first=True)
    claims = _asked(worst.name)
    before = replace(asked.spec, claims=frozenset(claims))
    asked = replace(
        asked,
        spec=before,
        invariants=claims,
        max_states=min(grid.max_states, STATES_MAX),
    )
    for repair in _REPAIRS:
        falls = {base_of(version) for version in find_scenario(repair.entry).falls}
        if base_of(before.version) not in falls:
            continue
        version = _repaired(before.version, repair)
        if version is None:
            continue
        options = tuple({**dict(before.options), **repair.options}.items())
        spec = replace(before, version=version, options=options)
        if spec != before:
            yield _Trial(outcome, repair, replace(asked, spec=spec))


def _asked(claim: str) -> tuple[str, ...]:
    """The claim, and of one about acknowledged records that they are in some log.

    Where a repair leaves nobody to lead, whatever is claimed of the leader holds: the record may be
    gone all the same.
    """
    is_durability = claim.startswith("acknowledged_") and claim != _ON_DISK
    return (claim, _ON_DISK) if is_durability else (claim,)


def _repaired(version: str, repair: Repair) -> str | None:
    """The version with a repair and what that needs; None where they do not go together."""
    text = version
    for added in _needed(repair.added) if repair.added else ():
        changed = f"{text}-with-{added}"
        if _is_version(changed):
            text = changed
    if repair.removed:
        text = f"{version}-without-{repair.removed}"
        return text if _is_version(text) else None
    if repair.added and repair.added not in version_of(text).feature_names:
        return None
    return text if text != version or repair.options else None


def _needed(name: str) -> list[str]:
    """A rule, after those without which it means nothing."""
    feature = next((known for known in FEATURES if known.name == name), None)
    if feature is None:
        return [name]
    needed = [known.name for known in FEATURES if feature.needs & known.bit]
    return [*needed, name]


def _is_version(text: str) -> bool:
    try:
        version_of(text)
    except BadVersion:
        return False
    return True
