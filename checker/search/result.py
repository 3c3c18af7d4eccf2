"""Result of a search: verdicts, levels, counts; its budgets."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from waterline.checker.problem.wording import quantity
from waterline.model.core.claim import Temporal

if TYPE_CHECKING:
    from waterline.checker.problem.packed_rows import StateWords
    from waterline.checker.problem.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """When to stop early; each acts at the end of a level. None means no limit.

    `max_states` distinct states, `max_seconds` since the start or the resumption, `max_depth`
    transitions: states at that depth are checked and not expanded. `memory_bytes` that cannot be
    kept even with the states on disk. `stop_at_first`: end after the first level with a violation,
    in its states or in the steps to them. `enough`: the same for one of these claims alone.
    """

    max_states: int | None = None
    max_seconds: float | None = None
    max_depth: int | None = None
    memory_bytes: int | None = None
    stop_at_first: bool = False
    enough: frozenset[str] = frozenset()


NO_BUDGETS = Budgets()

INTERRUPTED = "interrupt (Ctrl-C)"
"""`stopped_by` of a run that its user ended."""
STOPPED_BY_ERROR = "an error of a rule"
"""`stopped_by` of a run that ended because an action or a claim raised."""


class Verdict(enum.Enum):
    """Verdict on one claim after a run: the one vocabulary, on every screen and in files.

    A violated claim may be one that Kafka does not promise with these settings
    (`Invariant.contract`): then "within the contract of acks=1" stands next to the verdict. In the
    cells of a matrix a word says what breaks, "loses 14" or "contract 4", because an operator looks
    for that there (`model.core.claim.Breach`); the page and the files have the verdict too.
    """

    HOLDS = "holds"
    """Every reachable state within the bounds, and every step out of one, was checked."""
    VIOLATED = "violated"
    """A reachable state, or a step out of one, breaks it; the shortest way there is known."""
    INCOMPLETE = "incomplete"
    """The run stopped early without finding a violation: nothing may be concluded."""
    NOT_APPLICABLE = "not applicable"
    """The version has nothing that the claim is about."""


@dataclass(frozen=True, slots=True)
class InvariantResult:
    """The verdict of one claim; for a violation the least state of the least depth.

    Of a property that is the state `before`, and the `depth` that of the step out of it: one more.
    Of a claim about whole behaviours it is where the cycle begins, and the `depth` how many steps
    lead there. `unjudged` are states that break a claim about behaviours unless what a bound cuts
    would help. `why` says what kept a claim from being judged, where that was not the search.
    """

    name: str
    verdict: Verdict
    depth: int | None = None
    words: StateWords | None = None
    unjudged: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class ReachableResult:
    """Depth where something first happened: the depth of the state before it, plus one.

    0 if an initial state is enough.
    """

    name: str
    depth: int | None

    @property
    def description(self) -> str:
        """When it first happened, if it did."""
        return f"first in step {self.depth}" if self.depth else "at the start"


@dataclass(frozen=True, slots=True)
class LevelSummary:
    """One level of the search: how many states it has, its engine, and how long that took."""

    depth: int
    states: int
    on: str
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Result:
    """Everything a run found out.

    `complete` is whether every reachable state within the bounds was checked; `stopped_by` says
    what ended the run otherwise. `generated` counts transitions plus one for each initial state.
    `inexact` says why the abstraction was not exact, if so: then no claim holds.
    """

    problem: Problem
    engine: str
    complete: bool
    stopped_by: str | None
    invariants: list[InvariantResult]
    reachable: list[ReachableResult]
    levels: list[LevelSummary]
    generated: int
    fired: dict[str, int]
    cut: dict[str, int]
    always_cut: list[str]
    deadlock: tuple[int, StateWords] | None
    seconds: float
    peak_rss: int = 0
    inexact: str = ""

    @property
    def interrupted(self) -> bool:
        """True if the user ended it."""
        return self.stopped_by == INTERRUPTED

    @property
    def distinct(self) -> int:
        """How many different states were reached."""
        return sum(level.states for level in self.levels)

    @property
    def depth(self) -> int:
        """The depth of the deepest level: transitions from an initial state."""
        return self.levels[-1].depth if self.levels else 0

    @property
    def is_judged(self) -> bool:
        """True if every claim requested has a verdict that stands."""
        return self.complete and not any(r.verdict is Verdict.INCOMPLETE for r in self.invariants)

    @property
    def violated(self) -> list[InvariantResult]:
        """The claims that a reachable state, or a step out of one, breaks."""
        return [r for r in self.invariants if r.verdict is Verdict.VIOLATED]

    def contract_of(self, name: str) -> str | None:
        """Why Kafka does not promise a claim in these circumstances, the setting first; or None.

        A violation within the contract is one all the same: see `Verdict`.
        """
        problem = self.problem
        contracts = {claim.name: claim.contract for claim in problem.claims}
        return contracts[name](problem.model.settings)

    def describe_after(self, found: InvariantResult) -> str:
        """` after 12 steps`: when a claim breaks; "" where nothing breaks it."""
        if found.depth is None:
            return ""
        lasting = {c.name for c in self.problem.behaviours if isinstance(c, Temporal)}
        for_ever = ", for ever" if found.name in lasting else ""
        return f" after {quantity(found.depth, 'step')}{for_ever}"

    def describe_cut(self) -> str:
        """How many steps each bound has cut."""
        cut = [f"{name}: {count:,} cut" for name, count in self.cut.items() if count]
        return ", ".join(cut) or "nothing cut"

    @property
    def never_enabled(self) -> list[str]:
        """Actions of the version that no state within the bounds enables."""
        never = [name for name, count in self.fired.items() if count == 0]
        return [name for name in never if name not in self.always_cut]

    def spent_budget(self, action: str) -> str | None:
        """The option whose 0 is why the action is never taken; None where it is something else."""
        model = self.problem.model
        budget = model.action(action).budget
        return budget.name if budget and model.options.get(budget.name) == 0 else None
