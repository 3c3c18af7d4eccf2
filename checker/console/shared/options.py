"""The options that commands share, and what they mean: a problem, an engine, budgets.

Every option is checked before anything is started. The operator's settings have Kafka's own names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from checker.budgets import Budgets
from checker.console.shared.own_options import bound_option, model_option, vetted_problem
from checker.engines.choice import EngineChoice
from checker.kafka.families import GRAINS, MESSAGE, SYMMETRIES
from checker.problems.family import WHERE
from checker.problems.problem import Problem
from checker.problems.symmetry import Symmetry
from model.atomic.environment import LOG_SIZE_MAX
from model.kit.claim import Behaviour, Recoverable, Temporal
from model.kit.errors import BadEnvironment
from model.kit.nearest import nearest
from model.kit.renaming import CannotRename
from model.message.declared import Declared, option_of
from model.message.environment import DECLARED
from model.message.features import FEATURES, TRUNCATIONS
from model.message.releases import UnknownRelease, release_named
from model.message.versions import spelled

if TYPE_CHECKING:
    from checker.scenarios.scenario import Scenario

ENGINES = ("spark", "local")
THREADS = click.IntRange(0, 1024)
PARTITIONS = click.IntRange(1, 100_000)
DRIVER_LEVELS = click.IntRange(0)
MAX_STATES = click.IntRange(1)
MAX_DEPTH = click.IntRange(0)

KINDS: dict[str, type[Behaviour]] = {"recovery": Recoverable, "liveness": Temporal}
"""The options that ask all claims of a kind, beside those that are asked without."""

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


class MemorySize(click.ParamType[int]):
    """Bytes, as 500M or 8G."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number of bytes."""
        matched = re.fullmatch(r"(\d+)([kmg]?)b?", str(value).strip().lower())
        if matched is None or int(matched[1]) == 0:
            self.fail(f"{value!r} is no amount of memory; write 500M or 8G", param, ctx)
        return int(matched[1]) * _SIZES[matched[2]]


class Seconds(click.ParamType[float]):
    """A time that ends."""

    name = "SECONDS"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number of seconds."""
        try:
            seconds = float(value)
        except ValueError:
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        # Written so, because a NaN is neither less nor greater than anything.
        if not 0 < seconds < math.inf:
            told = "it must be more than 0; without it there is no limit"
            self.fail(f"{value} is no number of seconds; {told}", param, ctx)
        return seconds


class OneOf(click.Choice[str]):
    """One of more names than anybody reads in a line: the nearest one is told, where one is."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """What is wrong, and what may have been meant."""
        near = nearest(str(value), self.choices)
        if near is None:
            return super().get_invalid_choice_message(value, ctx)
        return f"there is no {str(value)!r}; did you mean {near}?"


class SparkMaster(click.ParamType[str]):
    """What Spark takes for a master."""

    name = "MASTER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The master as it was given."""
        known = r"local|local\[(\d+|\*)(,\d+)?\]|local-cluster\[.+\]|spark://.+|k8s://.+|yarn"
        if re.fullmatch(known, str(value)) is None:
            self.fail(f"{value!r} is no Spark master; as local[2] or spark://host:7077", param, ctx)
        return str(value)


class SparkSetting(click.ParamType[tuple[str, str]]):
    """One of Spark's settings."""

    name = "NAME=VALUE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Name and value."""
        name, equals, text = str(value).partition("=")
        if not equals or not name.startswith("spark."):
            self.fail(f"{value!r} is no setting; write spark.NAME=VALUE", param, ctx)
        return name, text


def together(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


ENVIRONMENT_OPTIONS = tuple(dict.fromkeys(n for grain in GRAINS.values() for n in grain.options))
FEATURE_NAMES = tuple(feature.name for feature in FEATURES)
PROTOCOLS = list(dict.fromkeys(name for grain in GRAINS.values() for name in grain.versions))
_ENVIRONMENTS = [name for grain in GRAINS.values() for name in grain.environments]

protocol_option = together(
    model_option,
    bound_option,
    click.option(
        "--protocol",
        type=OneOf(PROTOCOLS),
        metavar="VERSION",
        help="Version of the protocol, from hw (Kafka up to 0.10, truncation to the high "
        "watermark) and epoch (0.11, KIP-101) to elr (4.0, KIP-966); `waterline versions` tells. "
        f"One of {', '.join(PROTOCOLS)}.",
    ),
    click.option(
        "--kafka",
        metavar="RELEASE",
        help="Instead of --protocol: the rules that a release of Kafka follows, as 2.3.1; or with "
        "what it runs on, as 3.7:zookeeper, 3.7:kraft, 4.0:elr (docs/versions.md).",
    ),
    click.option(
        "--with",
        "added",
        type=OneOf([*TRUNCATIONS, *FEATURE_NAMES]),
        metavar="FEATURE",
        multiple=True,
        help="Add a rule of another version; repeatable; `waterline versions` lists them.",
    ),
    click.option(
        "--without",
        "removed",
        type=OneOf([*TRUNCATIONS, *FEATURE_NAMES]),
        metavar="FEATURE",
        multiple=True,
        help="Take out a rule of this version, to see what it is for; repeatable.",
    ),
    click.option(
        "--scenario",
        metavar="NAME",
        help="An entry of the catalogue (waterline scenarios): its bounds, its faults, its claim, "
        "and the first version that violates it unless --protocol or --kafka names one.",
    ),
    click.option(
        "--grain",
        type=click.Choice(list(GRAINS)),
        show_default="message",
        help="message: requests and answers are steps; atomic: the published abstraction, "
        "smaller, with --replicas, --log-size, --records and --epochs alone.",
    ),
)


def _declared_option(name: str, declared: Declared) -> Decorator:
    """The option of a size, a setting or a fault (`model.message.environment`)."""
    option = f"--{option_of(name)}"
    if declared.values is not None:
        kind: click.ParamType[Any] = click.Choice(list(declared.values))
    elif declared.most is not None:
        kind = click.IntRange(declared.least, declared.most)
    else:
        both = f"{option}/--no-{option_of(name)}"
        return click.option(both, default=None, help=declared.sentence)
    return click.option(option, type=kind, help=declared.sentence)


environment_options = together(
    click.option(
        "--environment",
        type=OneOf(_ENVIRONMENTS),
        metavar="NAME",
        help="Named circumstances; the options below change them one by one. "
        f"One of {', '.join(_ENVIRONMENTS)}. Default: documented; for the atomic grain, published.",
    ),
    *(_declared_option(name, declared) for name, declared in DECLARED.items()),
    click.option(
        "--log-size",
        type=click.IntRange(1, LOG_SIZE_MAX),
        help="Records that a log has room for; atomic grain only.",
    ),
)

format_option = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: one object on standard output, nothing else.",
)

symmetry_option = click.option(
    "--symmetry",
    is_flag=False,
    flag_value="",
    show_default=Symmetry.NONE.value,
    metavar=f"[{'|'.join(SYMMETRIES)}|SORT]",
    help="Of states that differ in names alone explore one: the names of replicas (also without "
    "a value), of records, or all. Replicas are alike only with --election-order any. With "
    "--model: the names of a sort.",
)

engine_options = together(
    click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="spark",
        show_default=True,
        help="local explores in this process and never starts Spark.",
    ),
    click.option("--threads", type=THREADS, default=0, help="Threads; 0: one for each core."),
    click.option(
        "--master",
        type=SparkMaster(),
        show_default="local[*]",
        help="Spark master, as spark://host:7077.",
    ),
    click.option(
        "--spark-conf",
        type=SparkSetting(),
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of Spark's own, as spark.executor.memory=4g; repeatable.",
    ),
    click.option(
        "--partitions",
        type=PARTITIONS,
        help="Owners of states, a task each; default on Spark: two a core.",
    ),
    click.option(
        "--driver-levels",
        type=DRIVER_LEVELS,
        help="Levels that the driver explores before Spark takes over; 0: none. "
        "Default: until the frontier outgrows it.",
    ),
)

budget_options = together(
    click.option("--max-states", type=MAX_STATES, help="Stop after so many distinct states."),
    click.option("--max-time", type=Seconds(), help="Stop after so many seconds."),
    click.option("--max-depth", type=MAX_DEPTH, help="Do not expand states at this depth."),
    click.option(
        "--memory",
        type=MemorySize(),
        help="Keep states on disk beyond this much memory, as 8G; stop if that is not enough.",
    ),
    click.option(
        "--stop-at-first",
        is_flag=True,
        help="End after the first level that violates an invariant.",
    ),
)

directory_options = together(
    click.option(
        "--run-dir",
        metavar="DIR",
        help="Keep every finished level there; a path, or a URI as s3://bucket/run.",
    ),
    click.option(
        "--resume",
        metavar="DIR",
        help="Go on with the run kept there; it knows what it checks.",
    ),
)


def take_given(options: dict[str, Any]) -> dict[str, Any]:
    """Take out what was given of a problem, by the names of the options; what was not, is not."""
    names = (
        "grain",
        "protocol",
        "environment",
        *(n.replace("-", "_") for n in ENVIRONMENT_OPTIONS),
    )
    given = {name.replace("_", "-"): options.pop(name) for name in names}
    given["invariant"] = options.pop("names", ()) or None
    given[WHERE] = options.pop("where", None)
    # The release first: of an entry it decides what --protocol would.
    if (release := options.pop("kafka", None)) is not None:
        given = _of_release(release, given)
    if (entry := options.pop("scenario", None)) is not None:
        # The catalogue is long, and few runs name an entry of it.
        from checker.scenarios.catalogue import find_scenario  # noqa: PLC0415

        given = _from_scenario(find_scenario(entry), given)
    added, removed = options.pop("added", ()), options.pop("removed", ())
    if added or removed:
        given["protocol"] = _switched(given, added, removed)
    given |= {kind: options.pop(kind, False) or None for kind in KINDS}
    given["symmetry"] = options.pop("symmetry", None)
    given["model"] = options.pop("own_model", None)
    given["set"] = dict(options.pop("bounds", ())) or None
    return {name: value for name, value in given.items() if value is not None}


def _of_release(release: str, given: dict[str, Any]) -> dict[str, Any]:
    """The version that a release of Kafka follows, and the high watermark in its answers."""
    if given["protocol"] is not None:
        raise BadEnvironment("--kafka and --protocol both say which rules; leave one of them out")
    if GRAINS[given["grain"] or MESSAGE.name] is not MESSAGE:
        raise BadEnvironment(f"--kafka is for --grain {MESSAGE.name}; the atomic one has versions")
    try:
        followed, high_watermark = release_named(release)
    except UnknownRelease as problem:
        raise BadEnvironment(f"--kafka: {problem}") from None
    told = given["hw-in-response"] or high_watermark
    return {**given, "protocol": followed.version, "hw-in-response": told}


def _switched(given: dict[str, Any], added: tuple[str, ...], removed: tuple[str, ...]) -> str:
    """The version with its features switched, as one name."""
    for feature in (name for name in added if name in removed):
        raise BadEnvironment(f"--with {feature} and --without {feature}: leave one of them out")
    option = "--with" if added else "--without"
    if given["protocol"] is None:
        raise BadEnvironment(f"{option} changes a version; name one with --protocol")
    if GRAINS[given["grain"] or MESSAGE.name] is not MESSAGE:
        raise BadEnvironment(f"{option} is for --grain {MESSAGE.name}; the atomic one has versions")
    return spelled(given["protocol"], added, removed)


def _from_scenario(scenario: Scenario, given: dict[str, Any]) -> dict[str, Any]:
    """What the entry says, but for what was given beside it."""
    if given["environment"] is not None:
        raise BadEnvironment("--scenario has an environment of its own; leave out --environment")
    told: dict[str, Any] = {"protocol": scenario.first, "invariant": (scenario.claim,)}
    told |= scenario.options
    return {**given, **{n: v for n, v in told.items() if given.get(n) is None}}


def problem_from(given: dict[str, Any]) -> Problem:
    """What is to be checked. Raises `BadEnvironment`."""
    options = dict(given)
    if (where := options.pop(WHERE, None)) is not None:
        # Few ask for more than what is claimed.
        from checker.asking.family import where_asked  # noqa: PLC0415

        return where_asked(problem_from(options), where, options.get("invariant", ()))
    kinds = [kind for kind in KINDS if options.pop(kind, False)]
    problem = _named(options)
    for kind in kinds:
        problem = _asking_all(problem, kind)
    return problem


def _asking_all(problem: Problem, kind: str) -> Problem:
    """The problem with all claims of a kind beside those that it asks."""
    names = [claim.name for claim in problem.behaviours if isinstance(claim, KINDS[kind])]
    if not names:
        raise BadEnvironment(
            f"--{kind}: nothing of the kind is claimed of {problem.model.name}; leave it out"
        )
    try:
        return problem.asking_too(names)
    except CannotRename as refused:
        raise BadEnvironment(str(refused)) from None


def _named(options: dict[str, Any]) -> Problem:
    """The problem with the claims that are named."""
    if "model" in options:
        return _of_own(options)
    if "set" in options:
        raise BadEnvironment("--set sets a bound of --model FILE; name the file")
    grain = GRAINS[options.pop("grain", next(iter(GRAINS)))]
    version = options.pop("protocol", None)
    if version is None:
        raise BadEnvironment(
            f"--protocol is missing; it is one of {', '.join(grain.versions)}; "
            "--kafka RELEASE, --scenario NAME or --model FILE say it as well"
        )
    names = options.pop("invariant", ())
    symmetry = options.pop("symmetry", Symmetry.NONE.value)
    # Of Kafka's model the family knows more versions than have a name.
    if version not in grain.versions and (grain is not MESSAGE or version in PROTOCOLS):
        raise BadEnvironment(
            f"--protocol {version} is not one of --grain {grain.name}; "
            f"it has {', '.join(grain.versions)}"
        )
    named = options.pop("environment", None)
    if named is not None and named not in grain.environments:
        raise BadEnvironment(
            f"--environment {named} is not one of --grain {grain.name}; "
            f"it has {', '.join(grain.environments)}"
        )
    base = grain.environments[named or next(iter(grain.environments))]
    foreign = [name for name in options if name not in grain.options]
    if foreign:
        others = [other.name for other in GRAINS.values() if foreign[0] in other.options]
        raise BadEnvironment(
            f"--{foreign[0]} is no option of --grain {grain.name}, but of {' and '.join(others)}; "
            "leave it out"
        )
    symmetry = grain.symmetry_asked(symmetry)
    return grain.problem_of(version, {**base.options(), **options}, names, symmetry=symmetry)


def _of_own(options: dict[str, Any]) -> Problem:
    """A model of the user's own, with nothing said that is Kafka's."""
    bounds, names = options.pop("set", {}), options.pop("invariant", ())
    symmetry = options.pop("symmetry", Symmetry.NONE.value)
    file = options.pop("model")
    if options:
        raise BadEnvironment(
            f"--{next(iter(options))} is about Kafka's models; --model has --set NAME=VALUE"
        )
    return vetted_problem(file, bounds, names, symmetry=symmetry)


def take_engine(options: dict[str, Any]) -> EngineChoice:
    """Take the engine's options out of what the command was given."""
    return EngineChoice(
        name=options.pop("engine"),
        threads=options.pop("threads"),
        master=options.pop("master"),
        settings=options.pop("spark_conf"),
        partitions=options.pop("partitions"),
        driver_levels=options.pop("driver_levels"),
    )


def require_heard(choice: EngineChoice) -> None:
    """Raises `UsageError` for an option that is Spark's where Spark is not asked for."""
    ours = {
        "--master": choice.master,
        "--spark-conf": choice.settings or None,
        "--driver-levels": choice.driver_levels,
    }
    for option, value in ours.items():
        if choice.name != "spark" and value is not None:
            raise click.UsageError(f"{option} is for --engine spark; leave it out, or ask for that")


def take_budgets(options: dict[str, Any]) -> Budgets:
    """Take the budgets' options out of what the command was given."""
    return Budgets(
        max_states=options.pop("max_states"),
        max_seconds=options.pop("max_time"),
        max_depth=options.pop("max_depth"),
        memory_bytes=options.pop("memory"),
        stop_at_first=options.pop("stop_at_first"),
    )
