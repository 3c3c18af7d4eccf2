"""Remedies of a loss: neighbouring configurations that were explored and hold.

No advice is given by rule. First every single change is tried for every fault that breaks a claim:
acks, min.insync.replicas, unclean elections, an upgrade. Faults that no single change prevents are
tried with several at a time. The recommendation is the change that prevents most of them.

If cells begin with fewer records than requested, so do the trials. The candidate for the
recommendation is then explored with as many records as the configuration itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterline.checker.batch.question import Explorer, unexplored_answer
from waterline.checker.kafka.deployed.keys import ACKS, MIN_INSYNC, UNCLEAN
from waterline.checker.kafka.matrix.deepening import Follow, Raised, explore_raised, ignore_progress
from waterline.checker.kafka.matrix.grid import (
    AXES,
    STATES_MAX_OF_A_TRIAL,
    VERSION,
    Axis,
    Grid,
    Value,
)
from waterline.checker.kafka.matrix.outcome import Outcome, Standing, Unfinished, judge
from waterline.checker.kafka.matrix.properties import Config, min_insync
from waterline.checker.kafka.matrix.questions import question_of
from waterline.model.message.release_names import active_rules
from waterline.model.message.releases import (
    ELIGIBLE_LEADER_REPLICAS_FIRST,
    NEWEST_RELEASE,
    ZOOKEEPER_LAST,
    ReleaseNumber,
    release_followed,
)
from waterline.model.message.versions import version_of

ELIGIBLE_ON = "set eligible.leader.replicas.version=1 (kafka-features.sh)"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A release with other rules: its version, what is to be done, and what that takes."""

    version: str
    description: str
    cost: str


def upgrades(config: Config) -> Iterator[Upgrade]:
    """The releases ahead whose rules differ from each other and from those there are.

    They are the last with ZooKeeper and the newest with KRaft. Not every release between: what one
    changed the last has too.
    """
    seen = [_rules(config.version)]
    for upgrade in _ahead(config):
        if _rules(upgrade.version) not in seen:
            seen.append(_rules(upgrade.version))
            yield upgrade


def _rules(version: str) -> tuple[int, int]:
    """The rules that change something where none of the rare steps is taken."""
    return active_rules(version_of(version), ("Restart", "Replay"))


def _ahead(config: Config) -> Iterator[Upgrade]:
    number, is_kraft = config.number, config.is_kraft
    if not is_kraft and number[:2] < ZOOKEEPER_LAST:
        yield _to(ZOOKEEPER_LAST, "ZooKeeper", "All brokers are upgraded.")
    moved = "All brokers are upgraded."
    if not is_kraft:
        moved = "All brokers are upgraded, to 3.9 first, where ZooKeeper is left for KRaft."
    newest = _to(NEWEST_RELEASE, "KRaft", moved)
    with_elr = release_followed(NEWEST_RELEASE, is_kraft=True, eligible_leader_replicas=True)
    if config.has_eligible_leader_replicas:
        yield Upgrade(with_elr.version, newest.description, newest.cost)
        return
    yield newest
    if is_kraft and number >= ELIGIBLE_LEADER_REPLICAS_FIRST:
        yield Upgrade(with_elr.version, ELIGIBLE_ON, "Only the feature is upgraded, no broker.")
    else:
        yield Upgrade(with_elr.version, f"{newest.description}, then {ELIGIBLE_ON}", moved)


def _to(number: ReleaseNumber, manner: str, cost: str) -> Upgrade:
    followed = release_followed(number, is_kraft=manner == "KRaft")
    text = f"upgrade to Kafka {'.'.join(map(str, number))} with {manner}"
    return Upgrade(followed.version, text, cost)


STATES_MAX = 8_000_000
"""Most states of a cell that is tried; what is to be recommended may have as many as the
configuration."""
_Key = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """Settings to be changed, and an upgrade that goes with them, if any."""

    values: Mapping[str, str]
    upgrade: Upgrade | None = None

    @property
    def key(self) -> _Key:
        """Identity of the changes."""
        return tuple(sorted(self.values.items()))

    @property
    def description(self) -> str:
        """`set min.insync.replicas=3; upgrade to Kafka 4.2 with KRaft`"""
        kept = [f"{name}={value}" for name, value in self.values.items() if name != VERSION]
        parts = [f"set {', '.join(kept)}"] if kept else []
        if self.upgrade is not None:
            parts.append(self.upgrade.description)
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Remedy:
    """Changes that were tried for a fault, and the resulting cell."""

    changes: Changes
    outcome: Outcome

    @property
    def closes(self) -> bool:
        """True if the fault does no harm any more, and could."""
        return self.outcome.standing is Standing.HOLDS and self.outcome.emptiness is None

    @property
    def is_known(self) -> bool:
        """True if it was seen to close the fault, or not to."""
        return self.outcome.worst is not None or self.outcome.standing is not Standing.INCOMPLETE

    @property
    def label(self) -> str:
        """Result of the trial. A search ends once a claim is broken: `contract 4+`."""
        worst = self.outcome.worst
        if self.outcome.standing is Standing.INCOMPLETE and worst is not None:
            return f"contract {worst.depth}+"
        return self.outcome.label


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The changes that close the most faults, and which these are."""

    changes: Changes
    closes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Advice:
    """All trials by fault that breaks a claim, and the recommendation, if any.

    `interrupted`: Ctrl-C ended the trials early, and nothing is recommended.
    """

    tried: Mapping[str, Sequence[Remedy]] = field(default_factory=dict)
    recommendation: Recommendation | None = None
    interrupted: bool = False

    @property
    def unclosed(self) -> list[str]:
        """The faults that nothing closes, all that was tried being known."""
        return [
            fault
            for fault, remedies in self.tried.items()
            if remedies
            and not self.interrupted
            and all(r.is_known and not r.closes for r in remedies)
        ]


def advice(
    config: Config,
    grid: Grid,
    outcomes: Sequence[Outcome],
    explorer: Explorer,
    *,
    follow: Follow = ignore_progress,
) -> Advice:
    """Return what prevents the faults that break a claim: single changes, or else several."""
    looked = _Looked(config, grid, outcomes, explorer, follow)
    for count in range(1, len(looked.stricter) + 1):
        still_open = [fault for fault in looked.broken if not looked.is_closed(fault)]
        if looked.interrupted or not still_open:
            break
        looked.explore(still_open, list(looked.changes(count)))
    best = looked.best()
    together = looked.together()
    if together is not None and (best is None or len(best.closes) < looked.closed):
        looked.explore(list(looked.broken), [together])
    recommended = looked.best_in_full()
    if looked.interrupted:
        return Advice(looked.tried, interrupted=True)
    return Advice(looked.tried, recommended)


class _Looked:
    """Trials so far around a configuration."""

    def __init__(
        self,
        config: Config,
        grid: Grid,
        outcomes: Sequence[Outcome],
        explorer: Explorer,
        follow: Follow,
    ) -> None:
        self._config = config
        self.upgrades = {upgrade.version: upgrade for upgrade in upgrades(config)}
        self.stricter = _stricter(config, grid, list(self.upgrades))
        self._around = replace(
            grid,
            axes=_around(grid, self.stricter),
            worst_is_enough=False,
        )
        self._states_max = STATES_MAX_OF_A_TRIAL if grid.first_look else STATES_MAX
        self._in_full: set[_Key] = set()
        self._explorer, self._follow = explorer, follow
        self.broken = {
            outcome.fault: outcome.cell.coordinates
            for outcome in outcomes
            if outcome.worst is not None
        }
        self._too_large = {
            outcome.fault
            for outcome in outcomes
            if grid.first_look and outcome.answer.distinct > self._states_max
        }
        self.tried: dict[str, list[Remedy]] = {fault: [] for fault in self.broken}
        self.interrupted = False

    @property
    def closed(self) -> int:
        """Number of faults that some trial prevents."""
        return sum(map(self.is_closed, self.broken))

    def is_closed(self, fault: str) -> bool:
        """True if a trial prevents the fault."""
        return any(remedy.closes for remedy in self.tried[fault])

    def changes(self, count: int) -> Iterator[Changes]:
        """Every choice of so many axes with a stricter value of each."""
        for axes in itertools.combinations(self.stricter, count):
            for chosen in itertools.product(*(self.stricter[axis] for axis in axes)):
                values = dict(zip(axes, chosen, strict=True))
                yield Changes(values, self.upgrades.get(values.get(VERSION, "")))

    def together(self) -> Changes | None:
        """All that closed something at once, with the newest of the upgrades."""
        values: dict[str, str] = {}
        if self._config.unclean == "true":
            values[UNCLEAN] = "false"
        for remedies in self.tried.values():
            for remedy in (r for r in remedies if r.closes):
                for axis, value in remedy.changes.values.items():
                    known = self.stricter[axis]
                    before = values.get(axis, value)
                    values[axis] = max(before, value, key=known.index)
        if not values.keys() - {UNCLEAN}:
            return None
        return Changes(values, self.upgrades.get(values.get(VERSION, "")))

    def explore(self, faults: Sequence[str], changes: Sequence[Changes]) -> None:
        """Try these for each of the faults, where that was not done; nothing once interrupted."""
        if self.interrupted:
            return
        wanted = [
            (fault, change)
            for fault in faults
            for change in changes
            if change.key not in {remedy.changes.key for remedy in self.tried[fault]}
        ]
        few = replace(
            self._around,
            records_max=self._around.records,
            max_states=min(self._around.max_states, self._states_max),
        )
        tried = [each for each in wanted if each[0] not in self._too_large]
        outcomes = iter(self._explore(few, tried).outcomes)
        for fault, change in wanted:
            if fault in self._too_large:
                outcome = self._unexplored_outcome(few, fault, change)
            else:
                outcome = self._describe_few(next(outcomes))
            self.tried[fault].append(Remedy(change, outcome))

    def _unexplored_outcome(self, grid: Grid, fault: str, change: Changes) -> Outcome:
        """The outcome where a loss took more states than a trial may have: it would not end."""
        cell = grid.cell({**self.broken[fault], **change.values})
        answer = unexplored_answer(question_of(cell, grid), f"max-states {grid.max_states}")
        return judge(grid, [cell], [answer])[0]

    def best_in_full(self) -> Recommendation | None:
        """Return the changes that prevent most faults, also with all records requested."""
        while (best := self.best()) is not None and best.changes.key not in self._in_full:
            if self.interrupted:
                return None
            wanted = [(fault, best.changes) for fault in best.closes]
            raised = self._explore(self._around, wanted)
            if raised.interrupted:
                return None
            self._in_full.add(best.changes.key)
            for (fault, change), outcome in zip(wanted, raised.outcomes, strict=True):
                places = [remedy.changes.key for remedy in self.tried[fault]]
                self.tried[fault][places.index(change.key)] = Remedy(change, outcome)
        return best

    def _explore(self, grid: Grid, wanted: Sequence[tuple[str, Changes]]) -> Raised:
        cells = [grid.cell({**self.broken[fault], **change.values}) for fault, change in wanted]
        raised = explore_raised(
            grid, cells, self._explorer, follow=self._follow, stop_at_first=True
        )
        self.interrupted = self.interrupted or raised.interrupted
        return raised

    def _describe_few(self, outcome: Outcome) -> Outcome:
        """Return the outcome with a note on the number of records not tried, if there is one."""
        records, epochs = self._around.records_max, outcome.cell.environment.epochs
        if outcome.cell.environment.records >= records or not outcome.answer.complete:
            return outcome
        return replace(outcome, unfinished=Unfinished(records, epochs, "not tried", 0, 0))

    def best(self) -> Recommendation | None:
        """Return the trial that prevents most faults.

        Among equals it prefers one that keeps taking records while a replica is down, then the
        fewest changes.
        """
        closing: dict[_Key, list[str]] = {}
        known: dict[_Key, Changes] = {}
        for fault, remedies in self.tried.items():
            for remedy in remedies:
                if not remedy.closes or not may_recommend(remedy.changes, self._config):
                    continue
                closing.setdefault(remedy.changes.key, []).append(fault)
                known.setdefault(remedy.changes.key, remedy.changes)
        if not closing:
            return None

        def rank(key: _Key) -> tuple[int, bool, int]:
            return len(closing[key]), _spare(known[key], self._config) > 0, -len(key)

        best = max(closing, key=rank)
        return Recommendation(known[best], tuple(closing[best]))


def may_recommend(changes: Changes, config: Config) -> bool:
    """True if to advise it: no upgrade while any replica may be elected, in sync or not."""
    return changes.upgrade is None or config.unclean != "true" or UNCLEAN in changes.values


def _stricter(config: Config, grid: Grid, newer: list[str]) -> dict[str, list[str]]:
    """Return the values that might help, by axis, newest or strictest last."""
    more = config.explored.min_insync + 1
    stricter = {
        ACKS: ["all"] if config.acks != "all" else [],
        # As many as there are replicas stop all writes with the first broker that is down.
        MIN_INSYNC: [str(more)] if more < grid.replicas else [],
        UNCLEAN: ["false"] if config.unclean == "true" else [],
        VERSION: newer,
    }
    return {axis: values for axis, values in stricter.items() if values}


def _around(grid: Grid, stricter: Mapping[str, list[str]]) -> tuple[Axis, ...]:
    """The axes of the grid, with the values that might help."""
    return tuple(
        replace(axis, values=(*axis.values, *(_value(axis.name, name) for name in added)))
        for axis, added in ((axis, stricter.get(axis.name, [])) for axis in grid.axes)
    )


def _value(axis: str, name: str) -> Value:
    if axis == MIN_INSYNC:
        return min_insync(int(name))
    if axis == VERSION:
        return Value(name)
    return next(known for known in AXES if known.name == axis).value(name)


def _spare(changes: Changes, config: Config) -> int:
    """Return how many replicas may be out of sync before producers with acks=all are refused."""
    needed = int(changes.values.get(MIN_INSYNC, config.yours.min_insync))
    return config.yours.replicas - needed


def cost(changes: Changes, config: Config) -> Iterator[str]:
    """Yield the costs of a change, in an operator's words."""
    if ACKS in changes.values:
        yield "Producers with acks=all wait for every replica in sync."
    if MIN_INSYNC in changes.values:
        spare = _spare(changes, config)
        down = "one broker" if spare == 0 else f"{spare + 1} brokers"
        yield f"With {down} down, or out of sync, producers with acks=all are refused."
    if UNCLEAN in changes.values:
        yield "A partition whose replicas in sync are all down waits for one of them, unavailable."
    if changes.upgrade is not None:
        yield changes.upgrade.cost
