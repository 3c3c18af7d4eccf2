"""Settings, topics and node pools of all files of one reading, put together as one deployment.

Of a setting that several arguments say the last counts. The files of one argument, a folder, are of
brokers side by side: none of them wins over another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from waterline.checker.kafka.deployed.deployment import (
    Deployment,
    Mistakes,
    Node,
    Setting,
    Topic,
    join,
    whole_number,
)
from waterline.checker.kafka.deployed.keys import (
    ACKS,
    ELIGIBLE,
    MIN_INSYNC,
    REPLICATION,
    ROLES,
    UNCLEAN,
    ZOOKEEPER,
)
from waterline.checker.problem.wording import list_of, quantity

_DEFAULTS = {REPLICATION: "1", MIN_INSYNC: "1", UNCLEAN: "false"}


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes of a kind: how many, and whether they are brokers; `cluster` is that of their label."""

    replicas: Setting
    are_brokers: bool
    cluster: str | None


@dataclass(slots=True)
class Collection:
    """Everything read so far. `others` counts the ignored kinds of resources by file."""

    mistakes: Mistakes
    sources: list[str] = field(default_factory=list)
    brokers: dict[str, Setting] = field(default_factory=dict)
    fallbacks: dict[str, Setting] = field(default_factory=dict)
    clusters: dict[str, None] = field(default_factory=dict)
    topics: list[tuple[Topic, str | None]] = field(default_factory=list)
    has_all_topics: bool = False
    nodes: tuple[Node, ...] = ()
    racks: dict[str, str] = field(default_factory=dict)
    pools: list[Pool] = field(default_factory=list)
    replicas: Setting | None = None
    eligible: tuple[Setting, str] | None = None
    acks: Setting | None = None
    controllers: list[Setting] = field(default_factory=list)
    servers: list[Setting] = field(default_factory=list)
    unused: dict[str, Setting] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    maps: set[str] = field(default_factory=set)
    wanted_maps: list[tuple[str, str]] = field(default_factory=list)
    _side_by_side: dict[str, Setting] = field(default_factory=dict)
    _manners: dict[str, Setting] = field(default_factory=dict)
    _servers: list[tuple[str, Set[str]]] = field(default_factory=list)
    _seen: dict[tuple[str, str], str] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin with another argument, whose files win over those before."""
        self._require_all_say()
        for known in (self._side_by_side, self._manners, self._seen):
            known.clear()
        self._servers.clear()

    def _require_all_say(self) -> None:
        """Brokers that do not set what others of the argument set have Kafka's default."""
        for key, default in _DEFAULTS.items():
            silent = [name for name, keys in self._servers if key not in keys]
            said = self._side_by_side.get(key)
            if said is None or said.value == default or not 0 < len(silent) < len(self._servers):
                continue
            text = f"{said.origin}: {key} is {said.value!r}, and not set by {list_of(silent)}"
            if key == UNCLEAN:
                self.note(f"{text}; it is taken for all.")
            else:
                self.mistakes.add(
                    f"{text}, which then has Kafka's default, {default}; brokers must agree, or "
                    "name the files that run"
                )

    def note(self, text: str) -> None:
        """Note what was assumed, or left out, once."""
        self.notes[text] = None

    def see(self, kind: str, name: str, origin: str) -> None:
        """Note a mistake where a thing of this kind and name was described before."""
        before = self._seen.setdefault((kind, name), origin)
        if before is not origin:
            self.mistakes.add(
                f"{origin}: {kind} {name} stands twice ({before} as well); keep one of them, "
                "or give what `kustomize build` prints"
            )

    def add_broker(self, settings: Iterable[Setting]) -> None:
        """Settings of brokers; those that others of this argument say must be the same."""
        found = {setting.key: setting for setting in settings}
        manner = found.get(ROLES) or found.get(ZOOKEEPER)
        if manner is not None:
            self._manners.setdefault(manner.key, manner)
            other = ZOOKEEPER if manner.key == ROLES else ROLES
            if other not in found:
                self.brokers.pop(other, None)
        if len(self._manners) > 1:
            kraft, zookeeper = self._manners[ROLES], self._manners[ZOOKEEPER]
            self.mistakes.add(
                f"{zookeeper.origin} has ZooKeeper ({ZOOKEEPER}) and {kraft.origin} has KRaft "
                f"({ROLES}); name the files that run"
            )
        for setting in found.values():
            self._add(setting)

    def add_server(self, settings: Iterable[Setting], name: str) -> None:
        """Settings of one broker of several. Those that the others say, and it does not, differ."""
        found = {setting.key: setting for setting in settings}
        self.add_broker(found.values())
        roles = found.get(ROLES)
        if roles is None or "broker" in roles.value:
            self._servers.append((name, found.keys()))
        else:
            usual = Setting(MIN_INSYNC, _DEFAULTS[MIN_INSYNC], f"default of {name}")
            self.controllers.append(found.get(MIN_INSYNC, usual))

    def _add(self, setting: Setting) -> None:
        before = self._side_by_side.setdefault(setting.key, setting)
        if setting.key == ROLES and setting.value == "controller" != before.value:
            return
        if before.value != setting.value and setting.key not in (ROLES, ZOOKEEPER):
            self.mistakes.add(
                f"{setting.origin}: {setting.key} is {setting.value!r}, and {before.value!r} at "
                f"{before.origin}; brokers must agree, or name the files in their order"
            )
        self.brokers[setting.key] = setting

    def add_unused(self, settings: Iterable[Setting]) -> None:
        """Settings that touch durability and that the model has not."""
        for setting in settings:
            self.unused.setdefault(setting.key, setting)

    def add_saved(self, saved: Deployment) -> None:
        """Add a deployment that was saved earlier."""
        self.brokers |= saved.brokers
        self.topics += [(topic, None) for topic in saved.topics]
        self.has_all_topics |= saved.has_all_topics
        self.nodes = saved.nodes or self.nodes
        self.racks |= dict(zip(saved.racks, saved.racks, strict=True))
        self.replicas = saved.broker_count or self.replicas
        self.add_unused(saved.unused)
        self.notes |= dict.fromkeys(saved.notes)
        self.sources += saved.sources
        self.clusters |= dict.fromkeys(saved.clusters)

    def deployment(self) -> Deployment:
        """All of it together. What contradicts itself is noted among the mistakes."""
        self._require_all_say()
        known = self.clusters or dict.fromkeys(self._labels())
        if len(known) > 1:
            self.mistakes.add(
                f"{len(known)} clusters are described ({', '.join(known)}); give the files of one"
            )
        for name, origin in self.wanted_maps:
            if name not in self.maps:
                self.mistakes.add(
                    f"{origin}: a broker takes its environment from the ConfigMap {name}, too; "
                    "give that as well"
                )
        brokers = dict(self.brokers)
        if ROLES not in brokers and ZOOKEEPER not in brokers:
            brokers |= self.fallbacks
        if self.acks is not None and (brokers or self.topics):
            brokers[ACKS] = self.acks
        if self.eligible is not None and ELIGIBLE not in brokers:
            brokers[ELIGIBLE], how = self.eligible
            self.note(how)
        topics: dict[str, Topic] = {}
        for topic in self._of_the_cluster(known):
            topics[topic.name] = join(topics.get(topic.name), topic)
        return Deployment(
            brokers=brokers,
            topics=tuple(topics.values()),
            has_all_topics=self.has_all_topics,
            broker_count=self._broker_count(known, brokers, topics),
            of_controllers=min(
                self.controllers, key=lambda each: whole_number(each.value) or 0, default=None
            ),
            unused=tuple(self.unused.values()),
            notes=tuple(self.notes),
            sources=tuple(self.sources),
            clusters=tuple(self.clusters),
            nodes=self.nodes,
            racks=tuple(self.racks.values()),
        )

    def _labels(self) -> list[str]:
        labels = [cluster for _, cluster in self.topics] + [pool.cluster for pool in self.pools]
        return [label for label in labels if label is not None]

    def _of_the_cluster(self, known: Mapping[str, None]) -> list[Topic]:
        """The topics but those whose label names another cluster than the one described."""
        away = [topic.name for topic, label in self.topics if label and label not in known]
        if away:
            others = dict.fromkeys(label for _, label in self.topics if label not in known)
            others.pop(None, None)
            self.note(
                f"Left out, as of another cluster ({list_of(list(filter(None, others)))}): "
                f"{quantity(len(away), 'topic')}, {list_of(away)}."
            )
        return [topic for topic, label in self.topics if label is None or label in known]

    def _broker_count(
        self, known: Mapping[str, None], brokers: Mapping[str, Setting], topics: object
    ) -> Setting | None:
        """Return the number of brokers: from pools, the resource itself, or containers.

        A file of containers may be one of several, so it does not limit a replication factor.
        """
        pools = [
            pool.replicas
            for pool in self.pools
            if pool.are_brokers and (pool.cluster is None or pool.cluster in known)
        ]
        if not pools and self.replicas is not None:
            return self.replicas
        if not pools and REPLICATION not in brokers and not topics:
            pools = self.servers
        numbers = [whole_number(replicas.value) for replicas in pools]
        if not pools or None in numbers:
            return None
        total = sum(number for number in numbers if number is not None)
        needed = brokers.get(MIN_INSYNC)
        if pools is self.servers and needed and (whole_number(needed.value) or 0) > total:
            return None
        return Setting("brokers", str(total), pools[0].source, pools[0].place)
