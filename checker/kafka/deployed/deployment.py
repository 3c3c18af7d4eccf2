"""A deployed cluster as far as it was read: settings with their origin, topics, notes, mistakes.

Unknown parts stay empty. `checker.kafka.matrix.properties` supplies Kafka's defaults when it
prepares the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from waterline.checker.problem.errors import Refused


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line and column of a file, both from 1; `file` as it was named."""

    file: str
    line: int
    column: int = 1


def whole_number(text: str | None) -> int | None:
    """A number of at most nine digits after its zeros; None for any other text."""
    matched = re.fullmatch(r"\+?0*([0-9]{1,9})", text or "")
    return int(matched[1]) if matched else None


class BadConfig(Refused, ValueError):
    """Unusable configuration. Each of `mistakes` is a line with place, value and remedy."""

    def __init__(self, *mistakes: str) -> None:
        super().__init__("; ".join(mistakes))
        self.mistakes = mistakes

    @property
    def lines(self) -> tuple[str, ...]:
        """A line for each mistake."""
        return self.mistakes


@dataclass(frozen=True, slots=True)
class Setting:
    """A key, its value, and its source: a file, an option, a broker, or a default.

    `source` is a name in words. `place` is the place in a file, if there is one.
    """

    key: str
    value: str
    source: str
    place: Place | None = None

    @property
    def origin(self) -> str:
        """`server.properties:12`, `--acks`, `default`"""
        return f"{self.source}:{self.place.line}" if self.place else self.source

    def mistake(self, remedy: str) -> str:
        """Return a line that rejects the value."""
        return f"{self.origin}: {self.key} is {self.value!r}; {remedy}"

    def refusal(self, remedy: str) -> BadConfig:
        """Return an error that rejects the value."""
        return BadConfig(self.mistake(remedy))


class Mistakes:
    """Mistakes of one reading, collected so that all are reported at once."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, line: str) -> None:
        """Note a mistake; of two about one key in one place the first is noted."""
        self._lines.setdefault(line.split(" is ", 1)[0], line)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def extend(self, problem: BadConfig) -> None:
        """Note all that an error names."""
        for line in problem.mistakes:
            self.add(line)

    def all(self) -> Iterable[str]:
        """Lines in the order of their discovery."""
        return tuple(self._lines.values())

    def require_none(self) -> None:
        """Raise `BadConfig` with all of them, if there is any."""
        if self._lines:
            raise BadConfig(*self._lines.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition as the controller has it now; `leader` is None for none.

    `replicas` are the brokers in their order of assignment, less the `adding` ones. `elr` and
    `adding` are None if unknown. `place` is where a file says so.
    """

    number: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None = ()
    adding: tuple[int, ...] | None = ()
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A broker that is up, and its rack, if it has one."""

    number: int
    rack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic with its own settings; `now` are its partitions, as far as they were read."""

    name: str
    settings: Mapping[str, Setting] = field(default_factory=dict)
    now: tuple[Partition, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """Everything read about a cluster.

    `brokers` are the settings of all brokers. `topics` are the named topics, and all there are if
    `has_all_topics`. `broker_count` is None if unknown. `of_controllers` is the lowest
    min.insync.replicas of the controller-only nodes. `unused` are settings that affect durability
    and are not modelled. `notes` report surprises of the reading, `sources` are its inputs,
    `clusters` the clusters' names, if any. `nodes` are the brokers that are up; none if unknown.
    `racks` are the values of broker.rack in files.
    """

    brokers: Mapping[str, Setting] = field(default_factory=dict)
    topics: tuple[Topic, ...] = ()
    has_all_topics: bool = False
    broker_count: Setting | None = None
    of_controllers: Setting | None = None
    unused: tuple[Setting, ...] = ()
    notes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    racks: tuple[str, ...] = ()

    @property
    def zones(self) -> list[str]:
        """The racks of the brokers, each once; none if some broker that is up has none."""
        of_nodes = [node.rack for node in self.nodes]
        return [] if None in of_nodes else sorted({*filter(None, of_nodes), *self.racks})


def join(known: Topic | None, found: Topic) -> Topic:
    """Both together; of what both say, that of `found`."""
    if known is None:
        return found
    return replace(found, settings={**known.settings, **found.settings}, now=found.now or known.now)
