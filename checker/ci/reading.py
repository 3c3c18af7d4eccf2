"""Reads a gate file: every entry becomes one expectation, or several where it names several.

    [[expect]]
    name = "hw loses a committed record"
    protocol = "hw"
    replicas = 2
    verdicts = { no_committed_loss = { verdict = "violated", depth = 12 }, sane = "holds" }

Options are those of `check`, by the same names. `[defaults]` has options of every entry that does
not say otherwise. All is checked before anything is run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from waterline.checker.ci.document import BadGate, Document, Table, did_you_mean, read_document
from waterline.checker.ci.expectation import COUNTS, MUTANTS, VERDICTS, Expectation, Expected
from waterline.checker.ci.keys import (
    BESIDE_CONFIG,
    BESIDE_MODEL,
    NAMING_VERSIONS,
    OWN_KEYS,
    WITH_CONFIG,
    Asking,
    GateEntry,
    Key,
)
from waterline.checker.ci.positions import Place, Spot
from waterline.checker.ci.spark_settings import needs_leave
from waterline.checker.ci.strictness import GATE, GateSettings, gate_settings, lacks
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import printable
from waterline.counterexamples import show
from waterline.model.core.errors import BadEnvironment

DEFAULTS, ENTRIES = "defaults", "expect"
_SWITCH = re.compile(r"-with(?:out)?-.*")


@dataclass(frozen=True, slots=True)
class _Question:
    """One check of an entry; `part` distinguishes it from the entry's other checks."""

    part: str
    asked: GateEntry
    is_partial: bool = False
    files: tuple[Path, ...] = ()


def read_gate(
    path: Path,
    asking: Asking,
    *,
    allow_models: bool = False,
    allow_spark: bool = False,
    given: Mapping[str, Any] | None = None,
) -> list[Expectation]:
    """Return the expectations of a file, all checked. Raises `BadGate`.

    With `allow_models` an entry may name a user model, which is code: it is run. With `allow_spark`
    it may name any master and any of Spark's settings, which can run code, too. `given` are options
    for entries that the file gives none.
    """
    document, folder = read_document(path), path.parent
    return expectations_of(
        document,
        asking,
        folder=folder,
        allow_models=allow_models,
        allow_spark=allow_spark,
        given=given,
    )


def expectations_of(
    document: Document,
    asking: Asking,
    *,
    folder: Path,
    allow_models: bool,
    allow_spark: bool = False,
    given: Mapping[str, Any] | None = None,
) -> list[Expectation]:
    """Return the expectations of a document whose files lie in `folder`. Raises `BadGate`."""
    content = dict(document.content)
    entries = content.pop(ENTRIES, None)
    settings = gate_settings(Table(document, (), content).table(GATE))
    if not isinstance(entries, list) or not entries:
        raise BadGate(
            document.place((ENTRIES,)), "a gate consists of [[expect]] entries, at least one"
        )
    defaults = Table(document, (), content).table(DEFAULTS)
    for key in content:
        if key != DEFAULTS:
            described = f"unknown key {show(key)}{did_you_mean(key, (ENTRIES, DEFAULTS, GATE))}"
            raise BadGate(document.place((key,)), described)
    if defaults is not None:
        for key in defaults.left:
            if key not in asking.keys:
                described = f"unknown key {show(key)}{did_you_mean(key, asking.keys)}"
                raise defaults.refuse(described, key)
    found: list[Expectation] = []
    for number, entry in enumerate(entries):
        table = Table(document, (ENTRIES, number), {})
        if not isinstance(entry, dict):
            raise table.refuse(f"{show(entry)} is no entry; begin it with [[expect]]")
        usual = {**(given or {}), **(defaults.left if defaults else {})}
        table.left = {**_fitting(usual, entry), **entry}
        # What the command line gives is its user's own.
        of_file = entry.keys() | (defaults.left.keys() if defaults else set())
        leave = Leave(
            allow_models, frozenset(table.left.keys() - (set() if allow_spark else of_file))
        )
        found += Entry(table, asking, folder, leave, settings).expectations()
    _require_names(found)
    return found


def _require_names(expectations: Sequence[Expectation]) -> None:
    known: dict[str, Place] = {}
    for each in expectations:
        if each.name in known:
            raise BadGate(
                each.place,
                f"{show(each.name)} is the name of the entry at line {known[each.name].line} "
                "too; names must differ",
            )
        known[each.name] = each.place


@dataclass(frozen=True, slots=True)
class Leave:
    """Permissions of an entry: user models, and any of Spark's settings with these keys."""

    models: bool
    of_spark: frozenset[str]


class Entry:
    """One entry, read key by key."""

    def __init__(
        self, table: Table, asking: Asking, folder: Path, leave: Leave, settings: GateSettings
    ) -> None:
        self._table = table
        self._settings = settings
        self._asking = asking
        self._folder = folder
        self._leave = leave

    def expectations(self) -> Iterator[Expectation]:
        """All that it expects. Raises `BadGate`."""
        table, settings = self._table, self._settings
        keys = frozenset(table.left)
        name = table.take("name", "text")
        if not name:
            raise table.refuse("the entry has no name", "name")
        # It is printed, and written as XML, which has no control characters.
        table.of = name = printable(name)
        verdicts, counts = table.table("verdicts"), self._counts()
        never = table.texts("never")
        profiles = table.texts("profiles", settings.profiles)
        model = table.take("model", "text")
        ties = table.take("ties", "true or false") if model is not None else False
        proved = table.take("proved", "true or false")
        mutants = self._kind_of_mutants() if model is not None else ""
        questions = list(self._questions(model))
        expected, spots = self._verdicts(verdicts, questions[0].asked)
        if len(questions) > 1 and (counts or spots):
            raise table.refuse(
                f"it is {len(questions)} checks, each with counts and depths of its own; "
                "write an entry for each, or leave the numbers out",
                "counts" if counts else "verdicts",
            )
        spots |= {("counts", key): self._spot("counts", key) for key in counts}
        for question in questions:
            problem = question.asked.problem
            happening = [claim.name for claim in problem.reachable]
            happening += [action.name for action in problem.model.actions]
            self._require_reachable(never, happening)
            problem = _asking(problem, expected, alone=question.is_partial)
            if settings.strict:
                budgets = question.asked.budgets
                for lacking in lacks(problem, budgets, keys=keys, verdicts=expected, counts=counts):
                    raise table.refuse(f"[gate] strict: {lacking}")
            yield Expectation(
                name=f"{name} [{question.part}]" if question.part else name,
                problem=problem,
                choice=question.asked.choice,
                budgets=question.asked.budgets,
                verdicts=expected,
                place=table.place(),
                counts=counts,
                never=never,
                is_partial=question.is_partial,
                spots=spots,
                files=question.files,
                ties=bool(ties),
                profiles=profiles,
                strict=settings.strict,
                proved=bool(proved),
                mutants=mutants,
                command=self._asking.command(problem, model and str(self._folder / model)),
            )

    def _kind_of_mutants(self) -> str:
        kind = self._table.take("mutants", "text") or ""
        if kind and kind not in MUTANTS:
            raise self._table.refuse(
                f"mutants is {show(kind)}; it is one of {', '.join(MUTANTS)}", "mutants"
            )
        return str(kind)

    def _questions(self, model: str | None) -> Iterator[_Question]:
        table = self._table
        if "config" in table.left:
            yield from self._of_config()
        elif model is not None:
            given = self._options(BESIDE_MODEL)
            yield _Question("", self._own(model, given))
        else:
            yield from self._of_kafka()

    def _of_kafka(self) -> Iterator[_Question]:
        table = self._table
        for key in WITH_CONFIG:
            if key in table.left:
                raise table.refuse(f"{key} goes with config", key)
        versions, many = self._versions()
        given = self._options([key for key in self._asking.keys if key != "protocol"])
        table.require_empty([*self._asking.keys, *OWN_KEYS])
        if not versions and given.keys().isdisjoint(NAMING_VERSIONS):
            raise table.refuse('it has no protocol; name one, as protocol = "hw"')
        for version in versions or (None,):
            named = {} if version is None else {"protocol": version}
            yield _Question(version or "" if many else "", self._ask({**given, **named}))

    def _versions(self) -> tuple[tuple[str, ...], bool]:
        """The versions that are named, and whether as an array."""
        table = self._table
        many = isinstance(table.left.get("protocol"), list)
        if many:
            versions = table.texts("protocol")
        else:
            version = table.take("protocol", "text")
            versions = () if version is None else (version,)
        known = self._asking.keys["protocol"].words or ()
        for version in versions:
            if _SWITCH.sub("", version) not in known:
                described = f"protocol is {show(version)}{did_you_mean(version, known)}"
                raise table.refuse(described, "protocol")
        return versions, many

    def _own(self, model: str, given: Mapping[str, Any]) -> GateEntry:
        """Return the problem of a user model; its path is relative to the gate's folder."""
        table = self._table
        if not self._leave.models:
            raise table.refuse(
                f"it names the model {show(model)}, which is code and would be run; "
                "if you trust it, allow it with --allow-models",
                "model",
            )
        bounds, table.left = table.left, {}
        return self._ask({**given, "model": str(self._folder / model)}, bounds)

    def _of_config(self) -> Iterator[_Question]:
        """A configuration of brokers: for each fault what it is explored with."""
        # Few gates are about configurations, and what reads them takes long to import.
        from waterline.checker.ci.configured import entries_of  # noqa: PLC0415

        table = self._table
        named = (table.take("config", "text"), *table.texts("topic-config"))
        files = tuple(self._folder / file for file in named)
        release = table.take("kafka-version", "text")
        faults = table.texts("faults")
        given = self._options(BESIDE_CONFIG)
        table.require_empty([*BESIDE_CONFIG, *OWN_KEYS])
        sizes: dict[str, int] = {
            key: given.pop(key) for key in ("replicas", "records", "epochs") if key in given
        }
        try:
            parts = entries_of(
                files,
                acks=given.pop("acks", None),
                kafka_version=release,
                faults=faults,
                sizes=sizes,
            )
        except BadEnvironment as problem:
            key = "faults" if str(problem).startswith("faults ") else "config"
            raise table.refuse(str(problem), key) from None
        for fault, version, options in parts:
            asked = self._ask({**given, **options, "protocol": version})
            yield _Question(fault, asked, is_partial=True, files=files)

    def _ask(self, given: Mapping[str, Any], bounds: Mapping[str, Any] | None = None) -> GateEntry:
        try:
            return self._asking.ask(given, bounds or {})
        except BadEnvironment as problem:
            # As the command line tells it, without its dashes.
            described = re.sub(r"(?<![\w-])--(?=[a-z])", "", str(problem))
            named = [key for key in (*given, *(bounds or {})) if _is_named(key, described)]
            raise self._table.refuse(described, *named[:1]) from None

    def _options(self, names: Sequence[str]) -> dict[str, Any]:
        """Take out these options, each read as `check` reads it. Raises `BadGate`."""
        found = {}
        for name in names:
            if name in self._table.left and name in self._asking.keys:
                found[name] = value = self._option(self._asking.keys[name])
                if name not in self._leave.of_spark and (why := needs_leave(name, value)):
                    raise self._table.refuse(
                        f"{why}; if you trust it, allow it with --allow-spark", name
                    )
            else:
                self._table.asked.append(name)
        return found

    def _option(self, key: Key) -> Any:
        table, name = self._table, key.name
        value = table.left[name]
        if key.is_many:
            values = table.texts(name, key.words)
            return tuple(self._convert(key, each) for each in values)
        if key.words is not None and value not in key.words:
            described = did_you_mean(value if isinstance(value, str) else "", key.words)
            raise table.refuse(f"{name} is {show(value)}{described}", name)
        if key.kind == "a number" and type(value) is float:
            del table.left[name]
        else:
            value = table.take(name, "a whole number" if key.kind == "a number" else key.kind)
        return self._convert(key, value)

    def _convert(self, key: Key, value: Any) -> Any:
        try:
            return key.convert(value)
        except ValueError as problem:
            raise self._table.refuse(f"{key.name}: {problem}", key.name) from None

    def _verdicts(
        self, verdicts: Table | None, asked: GateEntry
    ) -> tuple[dict[str, Expected], dict[tuple[str, str], Spot]]:
        if verdicts is None or not verdicts.left:
            raise self._table.refuse(
                "it has no verdicts; name a claim and what is expected of it", "verdicts"
            )
        known = [claim.name for claim in asked.problem.claims]
        found: dict[str, Expected] = {}
        spots: dict[tuple[str, str], Spot] = {}
        for claim in list(verdicts.left):
            if claim not in known:
                described = f"unknown claim {show(claim)}{did_you_mean(claim, known)}"
                raise verdicts.refuse(described, claim)
            found[claim] = self._expectation(verdicts, claim)
            if found[claim].depth is not None:
                spots["depth", claim] = self._spot("verdicts", claim, "depth")
        return found, spots

    def _expectation(self, verdicts: Table, claim: str) -> Expected:
        value, depth, at = verdicts.left[claim], None, (claim,)
        if isinstance(value, dict) and value:
            table = verdicts.table(claim)
            assert table is not None
            value, depth = table.left.pop("verdict", None), table.take("depth", "a whole number")
            table.asked.append("verdict")
            table.require_empty()
        if not isinstance(value, str) or value not in VERDICTS:
            described = did_you_mean(value if isinstance(value, str) else "", VERDICTS)
            raise verdicts.refuse(f"{claim} is {show(value)}{described}", *at)
        if depth is not None and value not in VERDICTS[1:3]:
            raise verdicts.refuse(f"{claim}: a claim that is {value} has no depth", *at)
        return Expected(value, depth, verdicts.place(claim))

    def _counts(self) -> dict[str, int]:
        table = self._table.table("counts")
        if table is None:
            return {}
        counts = {key: table.take(key, "a whole number") for key in COUNTS}
        table.require_empty()
        return {key: value for key, value in counts.items() if value is not None}

    def _require_reachable(self, never: Sequence[str], known: Sequence[str]) -> None:
        for number, name in enumerate(never):
            if name not in known:
                described = f"never has {show(name)}{did_you_mean(name, known)}"
                raise self._table.refuse(described, "never", number)

    def _spot(self, *keys: str) -> Spot:
        """Where a number stands. A test's own values stand nowhere."""
        path = (*self._table.path, *keys)
        return self._table.document.spots.get(path, Spot(0, 0, 0))


def _is_named(key: str, described: str) -> bool:
    """True if a message is about a key."""
    return re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", described) is not None and key != ""


def _fitting(usual: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usual options that this kind of entry can have."""
    for key, fitting in (("config", BESIDE_CONFIG), ("model", BESIDE_MODEL)):
        if key in entry:
            return {name: value for name, value in usual.items() if name in fitting}
    return dict(usual)


def _asking(problem: Problem, claims: Collection[str], *, alone: bool) -> Problem:
    """Return the problem with these claims checked too, or `alone`.

    An operator's configuration has only the claims that he names: others are about the protocol.
    """
    return replace(problem, asked=frozenset(claims)) if alone else problem.asking_too(claims)
