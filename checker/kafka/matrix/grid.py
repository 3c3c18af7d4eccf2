"""The grid: axes of versions, settings and faults. A new axis value is an entry here.

`AXES` are the directions of the grid, `FAULTS` what may go wrong; `axes_of` says which values mean
something for Apache Fluss. Claims that are worth a verdict
say so themselves (`model.core.claim.Breach`). Versions are those of `model.message.versions`, or
any text that it reads; which of them a Kafka release follows is declared in
`model.message.releases`. All cells of a grid have one layout: one compilation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterline import invariants
from waterline.checker.kafka.deployed.keys import ACKS, MIN_INSYNC, UNCLEAN
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import quantity
from waterline.model.core.claim import ActionProperty, Invariant
from waterline.model.core.errors import BadEnvironment, did_you_mean
from waterline.model.message.declared import option_of
from waterline.model.message.environment import FAULTS as DECLARED_FAULTS
from waterline.model.message.environment import Environment, without_bounds
from waterline.model.message.versions import (
    FLUSS,
    FLUSS_VERSIONS,
    KAFKA,
    VERSIONS,
    Version,
    version_of,
)

VERSION = "version"
FAULT = "faults"

RECORDS = 2
"""Default number of records; with fewer, some losses need a record that cannot be written."""
EPOCHS = 3
"""Highest leader epoch to begin with: that of the named environments."""
EPOCHS_MAX_RAISED = 9
"""Highest leader epoch that a cell is raised to unless `--max-epochs` says otherwise."""
EPOCHS_STEP = 3
"""Increment of the bound on epochs. Each step is another shape to compile; once no epoch is cut, a
larger bound has the very same states."""
STATES_MAX = 20_000_000
"""Distinct states that a cell may have unless `--max-states` says otherwise: half a gigabyte."""
STATES_MAX_AT_FIRST = 5_000_000
"""States that a cell may have in a first look, which should take half a minute on two cores."""
STATES_MAX_OF_A_TRIAL = 2_000_000
"""The same for trials, and for a smaller size in place of another, where no loss proves nothing."""
STATES_MAX_UNBOUNDED = 5_000_000
"""Maximum number of states without bounds; a space that holds mostly has fewer."""
_MANY_REPLICAS = 3
"""Number of replicas that makes a cell with a second record about twenty times larger."""
_REASSIGNED_MAX = 2
"""Replicas of a partition that is reassigned: three, and a broker more, have over 20 million states
with one reassignment."""


@dataclass(frozen=True, slots=True)
class Size:
    """Replicas of a partition, and how many of them must be in sync."""

    replicas: int
    min_insync: int

    def representative(self, most: int) -> Size:
        """The size that stands for this one where at most so many replicas are explored.

        One in sync stays one, and all stay all. Of others at least one replica may be out of sync,
        as in this one. What the smaller says about the larger is in docs/matrix.md.
        """
        replicas = min(self.replicas, most)
        if replicas == self.replicas:
            return self
        if self.min_insync == self.replicas:
            return Size(replicas, replicas)
        return Size(replicas, max(1, min(self.min_insync, replicas - 1)))

    def instead_of(self, yours: Size) -> str:
        """`3 replicas with min.insync.replicas=2, of your 5 and 3`; "" for the same size."""
        return "" if self == yours else f"{self}, of your {yours.replicas} and {yours.min_insync}"

    def __str__(self) -> str:
        return f"{quantity(self.replicas, 'replica')} with {MIN_INSYNC}={self.min_insync}"


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an axis: its name, the options it stands for, and what an operator calls that.

    `sized` are options that go by the replicas of the grid, where they may be fewer.
    """

    name: str
    options: Mapping[str, object] = field(default_factory=dict)
    sentence: str = ""
    sized: Callable[[int], Mapping[str, object]] | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """A direction of the grid. `default` is its one value where a grid does not go over it."""

    name: str
    values: tuple[Value, ...]
    default: str

    def value(self, name: str) -> Value:
        """The value of this name. Raises `BadEnvironment`."""
        for value in self.values:
            if value.name == name:
                return value
        described = did_you_mean(name, [value.name for value in self.values])
        raise BadEnvironment(f"{self.name} is {name!r}{described}")

    def only(self, names: Sequence[str]) -> Axis:
        """Return the axis with these values alone, in its own order. Raises `BadEnvironment`."""
        for name in names:
            self.value(name)
        return Axis(self.name, tuple(v for v in self.values if v.name in names), self.default)


NO_FAULTS: Mapping[str, object] = {option_of(name): 0 for name in DECLARED_FAULTS}
"""No budget at all. A fault starts from these."""


def _rows() -> Iterator[tuple[str, Value]]:
    """Each fault that has a row of its own, once (`model.message.declared.Fault.row`)."""
    for name, fault in DECLARED_FAULTS.items():
        if fault.row is not None:
            row, sentence = fault.row
            yield name, Value(row, {option_of(name): 1}, sentence)


NO_FAULT = "none"
_ALONE = dict(_rows())
_DESCRIBED_FIRST = (
    Value(NO_FAULT, {}, "Nothing fails, and leadership stays where it is."),
    Value("one crash", {"restarts": 1}, "One broker process crashes and may come back."),
    Value("two crashes", {"restarts": 2}, "Broker processes crash twice, and may come back."),
    Value("leader moves", {"moves": 2}, "Leadership moves twice, as in a rolling reassignment."),
    Value("crash and move", {"restarts": 1, "moves": 1}, "One crash, and leadership moves once."),
    Value(
        "rolling restart",
        {"shutdowns": 2, "moves": 1},
        "Two brokers restart, perhaps at the same time, and leadership moves once.",
    ),
    Value(
        "zombie",
        {"session-expiries": 2, "moves": 1, "requests-survive": True, "late-metadata": True},
        "The controller believes that a live broker is dead; old requests still arrive.",
    ),
    _ALONE["power_losses"],
    Value(
        "disk out of sync",
        {"lost-disks": 1, "disk-loss": "out-of-sync", "restarts": 1, "requests-survive": True},
        "A broker out of sync loses its disk, and one process crashes.",
    ),
    _ALONE["lost_disks"],
)


def _beside_a_broker(replicas: int) -> Mapping[str, object]:
    """Return options with one broker more than replicas; the operator may reassign to it."""
    assigned = min(replicas, _REASSIGNED_MAX)
    return {"replicas": assigned + 1, "assigned": assigned}


def _beside_partition_0(replicas: int) -> Mapping[str, object]:
    """A partition whose topic has another one with all its replicas."""
    few = min(replicas, _REASSIGNED_MAX)
    return {"replicas": few, "first-partition-replicas": few}


OF_OPERATORS = (
    Value(
        "reassignment",
        {"reassignments": 1, "restarts": 1},
        "Replicas are reassigned, which ends or is cancelled; one process crashes.",
        _beside_a_broker,
    ),
    Value(
        "reassigned again",
        {"reassignments": 2, "restarts": 1},
        "A reassignment ends or is cancelled, another begins, and one process crashes.",
        _beside_a_broker,
    ),
    Value(
        "replication factor",
        {"reassignments": 2, "shutdowns": 1},
        "Fewer replicas, then more, one partition after another; one broker restarts.",
        _beside_partition_0,
    ),
    Value(
        "taken directory",
        {"taken-directories": 1, "shutdowns": 2},
        "Two brokers restart, one of them with a log directory fewer.",
    ),
)
"""Operators' actions on replicas and directories; the model of Fluss has none."""
FAULTS = (
    *_DESCRIBED_FIRST,
    *(value for value in _ALONE.values() if value not in _DESCRIBED_FIRST),
    *OF_OPERATORS,
)
COMMON = (NO_FAULT, "one crash", "two crashes", "power loss", "rolling restart")
BY_FREQUENCY = tuple(
    sorted(FAULTS, key=lambda v: COMMON.index(v.name) if v.name in COMMON else len(COMMON))
)
"""Faults of one cluster, the most common first, so that an interrupted run has those."""


def _of_versions(versions: Mapping[str, Version]) -> Axis:
    values = tuple(Value(version.name, {}, version.sentence) for version in versions.values())
    return Axis(VERSION, values, default=list(versions)[-1])


AXES = (
    _of_versions(VERSIONS),
    Axis(
        ACKS,
        (
            Value("0", {"acks": "0"}, "Producers wait for nothing."),
            Value("1", {"acks": "1"}, "Producers wait for the leader alone."),
            Value("all", {"acks": "all"}, "Producers wait for every replica in sync."),
        ),
        default="all",
    ),
    Axis(
        MIN_INSYNC,
        (
            Value("1", {"min-insync-replicas": 1}, "A leader alone still accepts acks=all."),
            Value("2", {"min-insync-replicas": 2}, "acks=all needs one more replica in sync."),
        ),
        default="1",
    ),
    Axis(
        UNCLEAN,
        (
            Value("false", {"unclean-leader-election": False}, "Only a replica in sync may lead."),
            Value("true", {"unclean-leader-election": True}, "If none is in sync, any may lead."),
        ),
        default="false",
    ),
    Axis(FAULT, FAULTS, default="crash and move"),
)
_FLUSS_VALUES = {
    UNCLEAN: ["false"],
    FAULT: [fault.name for fault in FAULTS if fault not in OF_OPERATORS],
}
_FLUSS_AXES = tuple(
    _of_versions(FLUSS_VERSIONS)
    if axis.name == VERSION
    else axis.only(_FLUSS_VALUES[axis.name])
    if axis.name in _FLUSS_VALUES
    else axis
    for axis in AXES
)


def axes_of(system: str) -> tuple[Axis, ...]:
    """The axes of a grid about one system.

    Fluss has no unclean election: that one is `false`; and nothing that its operators do.
    """
    return _FLUSS_AXES if system == FLUSS else AXES


OVER = (VERSION, MIN_INSYNC, UNCLEAN, FAULT)
"""Default axes of a grid. acks=all is the setting that a promise exists for."""
SETTINGS = (ACKS, MIN_INSYNC, UNCLEAN)
"""The axes that an operator sets."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim an operator cares about, and the word a cell has for breaking it."""

    name: str
    word: str
    sentence: str


def _cared_about() -> Iterator[Claim]:
    asked: tuple[Invariant | ActionProperty, ...] = (*invariants.ALL, *invariants.PROPERTIES)
    breaches = [(claim.breach, claim.name) for claim in asked if claim.breach is not None]
    for breach, name in sorted(breaches, key=lambda found: found[0].severity):
        yield Claim(name, breach.word, breach.sentence)


CLAIMS = tuple(_cared_about())
"""Claims, worst first. Any other requested claim comes after them."""

OTHER_WORD = "breaks"


Place = tuple[str, ...]
"""Coordinates in the order of `AXES`, to look a cell up by."""


def place(coordinates: Mapping[str, str]) -> Place:
    """Return the place of the cell with these coordinates."""
    return tuple(coordinates[axis.name] for axis in AXES)


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the grid: a version in an environment; `coordinates` name both."""

    coordinates: Mapping[str, str]
    environment: Environment

    @property
    def version(self) -> str:
        """The version of the protocol."""
        return self.coordinates[VERSION]

    @property
    def size(self) -> Size:
        """The replicas of the partition, which may be fewer than brokers."""
        found = self.environment
        return Size(found.assigned or found.replicas, found.min_insync_replicas)

    def problem(self, invariants: Sequence[str]) -> Problem:
        """Return the problem of the cell."""
        return MESSAGE.problem(self.version, self.environment, invariants)

    def at(self, changed: Mapping[str, str] | None = None) -> Place:
        """Return the place of the cell, or of the one with some coordinates `changed`."""
        return place({**self.coordinates, **(changed or {})})


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Axes with the chosen values, the sizes of the cells, and the claims.

    Every cell begins with `records` and `epochs`. A cell without a loss is raised to `records_max`
    and `epochs_max` (`checker.kafka.matrix.deepening`); 0 means not at all. With `worst_is_enough`
    a cell ends at the first level that breaks the worst claim, if Kafka promises that claim; other
    violations are not sought. With `tries_unbounded` a cell without a loss is first explored
    without bounds (`checker.kafka.matrix.without_bounds`); the cells of a grid that `is_unbounded`
    have none. A `first_look` is within small bounds. Cells begin in the order of their work, unless
    `in_order_given`. A cell with more brokers than replicas begins with fewer
    records, unless the grid `is_raised`.
    """

    axes: tuple[Axis, ...]
    replicas: int = 2
    records: int = RECORDS
    epochs: int = EPOCHS
    records_max: int = 0
    epochs_max: int = 0
    invariants: tuple[str, ...] = tuple(claim.name for claim in CLAIMS)
    max_states: int = STATES_MAX
    worst_is_enough: bool = False
    in_order_given: bool = False
    tries_unbounded: bool = False
    is_unbounded: bool = False
    first_look: bool = False
    is_raised: bool = False

    @property
    def system(self) -> str:
        """System of the versions in its columns: `Kafka` or `Fluss`."""
        return version_of(self.axis(VERSION).values[0].name).system

    def axis(self, name: str) -> Axis:
        """The axis of this name."""
        return next(axis for axis in self.axes if axis.name == name)

    @property
    def varied(self) -> tuple[Axis, ...]:
        """The axes that have more than one value."""
        return tuple(axis for axis in self.axes if len(axis.values) > 1)

    def within(self, records: int, epochs: int) -> Grid:
        """Return the grid with cells of these sizes."""
        return replace(self, records=records, epochs=epochs, is_unbounded=False, is_raised=True)

    def size_asked(self, cell: Cell) -> Size:
        """Return the size that a cell stands for; the cell may be smaller."""
        return Size(self.replicas, int(cell.coordinates[MIN_INSYNC]))

    def at_first(self, states_max: int = STATES_MAX_AT_FIRST) -> Grid:
        """Return the grid for a first look: no bound is raised, and states are fewer."""
        return replace(
            self,
            records_max=self.records,
            epochs_max=self.epochs,
            max_states=min(self.max_states, states_max),
            tries_unbounded=False,
            first_look=True,
        )

    def without_bounds(self, records: int) -> Grid:
        """Return the grid without bounds, with at most `records` in a log at one time."""
        most = min(self.max_states, STATES_MAX_UNBOUNDED)
        return replace(self, records=records, is_unbounded=True, is_raised=True, max_states=most)

    def cells(self) -> Iterator[Cell]:
        """Every combination, the last axis fastest. Raises `BadEnvironment`."""
        for values in itertools.product(*(axis.values for axis in self.axes)):
            yield self._cell(values)

    def cell(self, coordinates: Mapping[str, str]) -> Cell:
        """The combination of these values. Raises `BadEnvironment`."""
        return self._cell([axis.value(coordinates[axis.name]) for axis in self.axes])

    def _cell(self, values: Sequence[Value]) -> Cell:
        coordinates = {a.name: v.name for a, v in zip(self.axes, values, strict=True)}
        sizes = {"replicas": self.replicas, "records": self.records, "epochs": self.epochs}
        options = {**Environment().options(), **NO_FAULTS, **sizes}
        for value in values:
            options |= value.options
        for value in values:
            if value.sized is not None:
                options |= self._size_options(value.sized(self.replicas), options)
        if self.is_unbounded:
            options = without_bounds({**options, "epochs": 0})
        try:
            return Cell(coordinates, Environment.from_options(options))
        except BadEnvironment as problem:
            raise BadEnvironment(f"{problem}; --only leaves values out") from None

    def _size_options(
        self, options: Mapping[str, object], before: Mapping[str, object]
    ) -> dict[str, object]:
        """The options of a cell that has a size of its own."""
        brokers, in_sync = (
            int(str(o)) for o in (options["replicas"], before["min-insync-replicas"])
        )
        replicas = int(str(options.get("assigned", brokers)))
        records = self.records if self.is_raised else first_records(brokers, self.records)
        return {**options, "records": records, "min-insync-replicas": min(in_sync, replicas)}


def first_records(replicas: int, records: int) -> int:
    """Return the number of records to begin with, at most `records`: few if the cell is costly."""
    return 1 if replicas >= _MANY_REPLICAS else records


def grid_over(
    over: Sequence[str],
    only: Sequence[tuple[str, str]] = (),
    **asked: object,
) -> Grid:
    """A grid over these axes, with the values of `only` where an axis is in it.

    Any other axis has one value, its default. The versions that are named say whose grid it is.
    Raises `BadEnvironment` for what is unknown, and for versions of two systems.
    """
    axes = axes_of(_system_of([value for name, value in only if name == VERSION]))
    known = [axis.name for axis in axes]
    for name in (*over, *(axis for axis, _ in only)):
        if name not in known:
            raise BadEnvironment(f"axis is {name!r}{did_you_mean(name, known)}")
    chosen = []
    for axis in axes:
        names = [value for name, value in only if name == axis.name]
        everything = [value.name for value in axis.values]
        chosen.append(axis.only(names or (everything if axis.name in over else [axis.default])))
    return check_cells(Grid(axes=tuple(chosen), **asked))  # type: ignore[arg-type]  # its own fields


def _system_of(versions: Sequence[str]) -> str:
    """The system of the versions named, Kafka where none is. Raises `BadEnvironment`."""
    foreign = [name for name in versions if name in FLUSS_VERSIONS]
    if not foreign:
        return KAFKA
    if others := [name for name in versions if name in VERSIONS]:
        raise BadEnvironment(
            f"a grid is about one system: {foreign[0]} is of {FLUSS}, {others[0]} of {KAFKA}, and "
            "their settings are not the same"
        )
    return FLUSS


def check_cells(grid: Grid) -> Grid:
    """The grid, if every cell of it can be. Raises `BadEnvironment`."""
    for cell in grid.cells():
        cell.problem(grid.invariants)
    return grid
