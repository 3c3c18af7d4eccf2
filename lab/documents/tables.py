"""The tables of docs/ that follow from declarations, of the model and of its claims.

The build of the site puts each of them where a document has its place. Nothing is looked up by
hand: where a setting is read, or a feature asked for, is found in the syntax trees of the rules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from waterline import invariants
from waterline.checker.ci.keys import OWN_KEYS
from waterline.checker.cli.gate_options import asking
from waterline.checker.kafka.confirm.kraft.mapping import KRAFT_ROWS
from waterline.checker.kafka.confirm.mapping import TABLE
from waterline.checker.kafka.confirm.mapping import Row as Steering
from waterline.model.core.layout import Field
from waterline.model.core.renaming import BY_RECORD
from waterline.model.message import features
from waterline.model.message.bounds import Bounds
from waterline.model.message.cluster import fields
from waterline.model.message.contents import ACTIONS, contents
from waterline.model.message.declared import option_of
from waterline.model.message.environment import DECLARED, DOCUMENTED, FAULTS
from waterline.model.message.features import FEATURES, TRUNCATIONS, Feature
from waterline.model.message.releases import RELEASES, Release
from waterline.model.message.settings import settings_of
from waterline.model.message.terms import LEADER
from waterline.model.message.versions import NAMED, VERSIONS, BadVersion, Version, version_of

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ("confirm.md", "gate.md", "formats.md", "model.md", "protocol.md")
_PLACE = re.compile(r"^<!-- table: (\w+) --> \*Made .*\n", re.MULTILINE)
_RULES = sorted((ROOT / "model" / "message").glob("*.py"))

Row = tuple[str, ...]


def in_markdown(head: Row, rows: Iterable[Row]) -> str:
    """A table, a line a row."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("|  |", "| |") for line in lines)


# The state.

_SAMPLE = Bounds(replicas=5, records=6, epochs=13)
"""Sizes that no two letters share, so that a range tells which it is."""
_NUMBERS = {4: "R-1", 6: "N", 13: "E", 31: "a set of replicas", 63: "a set of records"}
_EXTENTS = {5: "replica", 6: "offset", 13: "epoch below E"}


def of_fields() -> str:
    """Every field with its range, and when it exists."""
    rows = ((f"`{f.name}`", _range(f), _alive(f), f.doc) for f in fields(_SAMPLE))
    return in_markdown(("field", "range", "of whom", "what it is"), rows)


def _range(field: Field) -> str:
    greatest = _NUMBERS.get(field.hi, str(field.hi))
    if greatest.startswith("a set"):
        return greatest
    return "0, 1" if (field.lo, field.hi) == (0, 1) else f"{field.lo}..{greatest}"


def _alive(field: Field) -> str:
    each = ["record"] if field.naming == BY_RECORD else [_EXTENTS[n] for n in field.shape]
    if field.alive is not None:
        leads, has_no_role = LEADER in field.alive.values, len(field.alive.values) == 1
        each[0] = "leader" if leads else "broker without a role" if has_no_role else "follower"
    return " and ".join(f"each {one}" for one in each)


# The steps.


def of_steps() -> str:
    """Every action: its effect, in a sentence, and where there is such an action."""
    options = {
        step: _value(f"--{option_of(name)}", declared.steps_where)
        for name, declared in DECLARED.items()
        for step in declared.steps
        if declared.fault is None or not declared.fault.always
    }
    having = {version.name: _steps_of(version) for version in VERSIONS.values()}
    rows = []
    for action in ACTIONS:
        versions = [f"`{name}`" for name, names in having.items() if action.name in names]
        wheres = [options[action.name]] if action.name in options else []
        if not versions:
            wheres.append(_with_one_switched(action.name))
        elif len(versions) < len(having):
            wheres.append(", ".join(versions))
        where = ", and ".join(wheres)
        rows.append(
            (f"`{action.name}`", _place(action.effect), _first_sentence(action.effect), where)
        )
    return in_markdown(("step", "rule", "what happens", "only with"), rows)


_LET_HAPPEN = {
    declared.setting or name: next(
        filter(declared.has_steps, (declared.values or {"": 1}).values())
    )
    for name, declared in DECLARED.items()
    if declared.steps
}
"""The settings with which there is every step that a setting brings."""


def _steps_of(version: Version) -> set[str]:
    """The steps that a version has where all are let happen; a log moves at once or by steps."""
    settings = settings_of(DOCUMENTED, version)._replace(**_LET_HAPPEN)
    return {*contents(settings), *contents(settings._replace(future_log=0))}


def _with_one_switched(step: str) -> str:
    """The version, and the feature that it must have less, or more, where none has the step."""
    return next(
        f"`{version.name} --{word} {feature.name}`"
        for word in ("without", "with")
        for version in VERSIONS.values()
        for feature in FEATURES
        if step in _steps_of_switched(version.name, word, feature.name)
    )


def _steps_of_switched(version: str, word: str, feature: str) -> set[str]:
    try:
        return _steps_of(version_of(f"{version}-{word}-{feature}"))
    except BadVersion:
        return set()


def _value(option: str, value: str | None) -> str:
    return f"`{option}{f' {value}' if value else ''}`"


def _place(function: Callable[..., None]) -> str:
    path = function.__module__.removeprefix("waterline.").replace(".", "/")
    return f"`{path}.py:{function.__name__}`"


def _first_sentence(function: Callable[..., None]) -> str:
    text = " ".join((function.__doc__ or "").split())
    return re.split(r"(?<=\.) (?=[A-Z(])", text)[0]


# Settings and faults.


def of_settings() -> str:
    """Every option with its default, its meaning and the rules that read it."""
    names = {declared.setting or name: name for name, declared in DECLARED.items()}
    read = _places({f"c.{setting}": name for setting, name in names.items()})
    rows = []
    for name, declared in DECLARED.items():
        default = getattr(DOCUMENTED, name)
        described = ("off", "on")[default] if isinstance(default, bool) else str(default)
        where = "the layout" if declared.shapes else read[name]
        if not where and declared.fault is not None:
            where = f"the budget of `{declared.steps[0]}`"
        elif not where:
            where = f"whether there is `{declared.steps[0]}`"
        rows.append((f"`--{option_of(name)}`", described, declared.sentence, where))
    return in_markdown(("option", "default", "what it is", "read by"), rows)


def of_faults() -> str:
    """Every fault: its budget, its steps, what is lost and who knows."""
    rows = (
        (
            fault.one,
            f"`--{option_of(name)}`, 0 to {DECLARED[name].most}",
            ", ".join(f"`{step}`" for step in DECLARED[name].steps),
            fault.loses,
            fault.who_knows,
        )
        for name, fault in FAULTS.items()
    )
    return in_markdown(("fault", "budget", "steps", "what is lost", "who knows"), rows)


def of_cuts() -> str:
    """What a bound or a budget is called where it cuts."""
    bounds = [("`records`", "Records produced"), ("`epochs`", "Leader epochs")]
    budgets = [(f"`{option_of(name)}`", fault.so_far) for name, fault in FAULTS.items()]
    return in_markdown(("key", "of what there were enough"), [*bounds, *budgets])


# Claims.


def of_claims() -> str:
    """Every claim about states, then those about steps."""
    return in_markdown(
        ("claim", "says", "and"),
        (
            (f"`{claim.name}`", claim.sentence, claim.remark)
            for claim in (*invariants.ALL, *invariants.PROPERTIES)
        ),
    )


# Features.


def of_features() -> str:
    """Every rule that can be switched: where it was decided, what it needs, and who asks for it."""
    constants = {value: name for name, value in vars(features).items() if type(value) is int}
    asked = _places({constants[feature.bit]: feature.name for feature in FEATURES})
    rows = (
        (f"`{f.name}`", f.source, f.sentence, _needs(f), asked[f.name] or _its_steps(f))
        for f in FEATURES
    )
    return in_markdown(("feature", "source", "rule", "needs", "where"), rows)


def _needs(feature: Feature) -> str:
    """What it means nothing without."""
    names = [other.name for other in FEATURES if feature.needs & other.bit]
    names += [n for n, value in TRUNCATIONS.items() if value in feature.needs_truncation]
    return ", ".join(f"`{name}`" for name in names)


def _its_steps(feature: Feature) -> str:
    """The steps that there are with it alone, or without it alone."""
    version = next(v for v in NAMED.values() if v.features & feature.bit)
    without = replace(version, features=version.features & ~feature.bit)
    steps = sorted(_steps_of(version) ^ _steps_of(without))
    return f"whether there is {', '.join(f'`{step}`' for step in steps)}"


def of_versions() -> str:
    """Which named version has which feature; features alike in that are told together."""
    having = [version for version in NAMED.values() if version.features]
    alike: dict[Row, list[str]] = {}
    for feature in FEATURES:
        has = tuple("yes" if v.features & feature.bit else "" for v in having)
        if any(has):
            alike.setdefault(has, []).append(f"`{feature.name}`")
    head = ("feature", *(f"`{version.name}`" for version in having))
    return in_markdown(head, ((", ".join(names), *has) for has, names in alike.items()))


# Releases.

_MANNERS = {"ZooKeeper": (False, False), "KRaft": (True, False), "KRaft with ELR": (True, True)}


def _number(release: Release) -> str:
    return ".".join(map(str, release.since))


def of_releases() -> str:
    """Which rules each range of releases follows, and where that was decided."""
    rows = []
    for manner, kind in _MANNERS.items():
        for release in RELEASES:
            if (release.is_kraft, release.with_eligible_leader_replicas) == kind:
                options = [f"--protocol {release.base}"]
                options += (f"--without {name}" for name in release.removed)
                options += (f"--with {name}" for name in release.added)
                described = (
                    f"{_number(release)} on",
                    manner,
                    f"`{' '.join(options)}`",
                    release.source,
                )
                rows.append((*described, release.unlike))
    return in_markdown(("Kafka", "with", "is", "decided in", "unlike the model"), rows)


def _rules_by_release(*manners: str) -> str:
    """Features down, the releases at which something changes across."""
    columns = [
        (_number(release) + (" ELR" if release.with_eligible_leader_replicas else ""), release)
        for manner in manners
        for release in RELEASES
        if (release.is_kraft, release.with_eligible_leader_replicas) == _MANNERS[manner]
    ]
    having = {title: version_of(release.version).feature_names for title, release in columns}
    known = {feature.name: feature.source for feature in FEATURES}
    rows = []
    for name in (*TRUNCATIONS, *known):
        has = tuple("yes" if name in names else "" for names in having.values())
        if any(has):
            first = next(title for title, names in having.items() if name in names)
            named = [v.name for v in VERSIONS.values() if name in v.feature_names]
            described = f"`{named[0]}`" if named else ""
            rows.append((f"`{name}`", known.get(name, ""), described, first, *has))
    head = ("rule", "source", "first `--protocol`", "first release", *having)
    return in_markdown(head, rows)


def of_zookeeper() -> str:
    """Which rule is in which release with ZooKeeper."""
    return _rules_by_release("ZooKeeper")


def of_kraft() -> str:
    """Which rule is in which release with KRaft."""
    return _rules_by_release("KRaft", "KRaft with ELR")


# Where a rule reads something.


def _places(sought: dict[str, str]) -> dict[str, str]:
    """For each thing the functions of the rules in whose text it stands, as documents name them."""
    found: dict[str, list[str]] = {name: [] for name in sought.values()}
    for path in _RULES:
        for function in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(function, ast.FunctionDef):
                for text in _read_in(function) & sought.keys():
                    place = f"`{path.relative_to(ROOT).as_posix()}:{function.name}`"
                    found[sought[text]].append(place)
    return {name: ", ".join(places) for name, places in found.items()}


def _read_in(function: ast.FunctionDef) -> set[str]:
    nodes = list(ast.walk(function))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}


# The gate.


def of_gate_keys() -> str:
    """Every key of an entry of a gate: its own, and those that are options of `check`."""
    rows = [(f"`{name}`", described) for name, described in OWN_KEYS.items()]
    own = {name for name, _ in rows}
    for key in asking().keys.values():
        if f"`{key.name}`" not in own:
            kind = f"an array of {key.kind}s" if key.is_many else key.kind
            rows.append((f"`{key.name}`", f"{kind.capitalize()}. {' '.join(key.help.split())}"))
    return in_markdown(
        ("key", "what it is"), ((n, described.replace("|", "or")) for n, described in rows)
    )


# Real brokers.


def of_steering() -> str:
    """Every step with ZooKeeper: whether the harness causes it, and how."""
    return _steering(TABLE)


def of_steering_with_kraft() -> str:
    """The steps that differ under KRaft."""
    return _steering(KRAFT_ROWS)


def _steering(steps: Mapping[str, Steering]) -> str:
    rows = (
        (f"`{name}`", "no" if row.does is None else "yes", row.description)
        for name, row in steps.items()
    )
    return in_markdown(("step", "steered", "meaning"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "fields": of_fields,
    "steps": of_steps,
    "settings": of_settings,
    "faults": of_faults,
    "cuts": of_cuts,
    "claims": of_claims,
    "features": of_features,
    "versions": of_versions,
    "releases": of_releases,
    "zookeeper": of_zookeeper,
    "kraft": of_kraft,
    "gate_keys": of_gate_keys,
    "steering": of_steering,
    "steering_kraft": of_steering_with_kraft,
}


def fill_tables(text: str) -> str:
    """A document with its tables in their places. Raises `KeyError` for an unknown table."""
    return _PLACE.sub(lambda found: TABLES[found[1]](), text)


def documents() -> Iterator[Path]:
    """The documents that have places for such tables."""
    yield from (ROOT / "docs" / name for name in DOCUMENTS)
