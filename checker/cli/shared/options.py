"""The options that commands share: those of a problem, an engine, budgets.

Every option is checked before anything is started. The operator's settings have Kafka's own names.
What the options of a problem say together is made out by `checker.cli.shared.problem_options`.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import click

from waterline.checker.cli.shared.own_options import bound_option, model_option
from waterline.checker.kafka.families import GRAINS, SYMMETRIES
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.engine import EngineChoice, default_engine, require_spark
from waterline.model.atomic.environment import LOG_SIZE_MAX
from waterline.model.core.errors import nearest
from waterline.model.message.declared import Declared, option_of
from waterline.model.message.environment import DECLARED
from waterline.model.message.features import FEATURES, TRUNCATIONS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ENGINES = ("spark", "local")
DEFAULT_ENGINE = "spark where it is installed, else local"
THREADS = click.IntRange(0, 1024)
PARTITIONS = click.IntRange(1, 100_000)
DRIVER_LEVELS = click.IntRange(0)
MAX_STATES = click.IntRange(1)
MAX_DEPTH = click.IntRange(0)

T = TypeVar("T", bound="DataclassInstance")
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
            described = "it must be more than 0; without it there is no limit"
            self.fail(f"{value} is no number of seconds; {described}", param, ctx)
        return seconds


class OneOf(click.Choice[str]):
    """One of more names than fit in a line: the error names the nearest one, if one is near."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the error message, with the name that may have been meant."""
        near = nearest(str(value), self.choices)
        if near is None:
            return super().get_invalid_choice_message(value, ctx)
        return f"there is no {str(value)!r}; did you mean {near}?"


class SparkMaster(click.ParamType[str]):
    """A master URL that Spark accepts."""

    name = "MASTER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The master as it was given."""
        known = (
            r"local|local\[(\d+|\*)(,\d+)?\]|local-cluster\[.+\]|spark://.+|sc://.+|k8s://.+|yarn"
        )
        if re.fullmatch(known, str(value)) is None:
            some = "local[2], spark://host:7077 or sc://host:15002"
            self.fail(f"{value!r} is no Spark master; as {some}", param, ctx)
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


def fill(kind: type[T], parameters: Mapping[str, Any]) -> T:
    """Return the dataclass with each field from the parameter of its name.

    A field that is a dataclass itself is filled the same way. One that `gathers` options is a
    mapping of those that were given, by their names on the command line.
    """
    kinds, values = get_type_hints(kind), dict[str, Any]()
    for each in fields(kind):
        if is_dataclass(kinds[each.name]):
            values[each.name] = fill(kinds[each.name], parameters)
        elif names := each.metadata.get("gathers"):
            given = {name: parameters.get(name.replace("-", "_")) for name in names}
            values[each.name] = {name: value for name, value in given.items() if value is not None}
        elif each.name in parameters:
            values[each.name] = parameters[each.name]
    return kind(**values)


def options_as(kind: type[T]) -> Callable[[Callable[[T], int]], Callable[..., int]]:
    """Have click call a command with its options in one dataclass."""

    def decorate(function: Callable[[T], int]) -> Callable[..., int]:
        @functools.wraps(function)
        def callback(**parameters: Any) -> int:
            return function(fill(kind, parameters))

        return callback

    return decorate


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
        "watermark) and epoch (0.11, KIP-101) to elr (4.0, KIP-966); see `waterline versions`. "
        f"One of {', '.join(PROTOCOLS)}.",
    ),
    click.option(
        "--kafka",
        metavar="RELEASE",
        help="Instead of --protocol: the rules that a release of Kafka follows, as 2.3.1; or with "
        "what it runs on, as 3.7:zookeeper, 3.7:kraft, 4.0:elr (docs/protocol.md).",
    ),
    click.option(
        "--fluss",
        metavar="RELEASE",
        help="Instead of --protocol: the rules that a release of Apache Fluss follows, 0.9.1, or "
        "main for its newest commit that was read (docs/results/fluss.md).",
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
    metavar = "N" if isinstance(kind, click.IntRange) else None
    return click.option(option, type=kind, metavar=metavar, help=declared.sentence)


environment_options = together(
    click.option(
        "--environment",
        type=OneOf(_ENVIRONMENTS),
        metavar="NAME",
        help="Named circumstances; other options change them one by one. "
        f"One of {', '.join(_ENVIRONMENTS)}. Default: documented; for the atomic grain, published.",
    ),
    *(_declared_option(name, declared) for name, declared in DECLARED.items()),
    click.option(
        "--log-size",
        type=click.IntRange(1, LOG_SIZE_MAX),
        metavar="N",
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

invariant_option = click.option(
    "--invariant", "names", multiple=True, metavar="NAME", help="Only this one; repeatable."
)

threads_option = click.option(
    "--threads", type=THREADS, metavar="N", default=0, help="Threads; 0: one for each core."
)

trace_dir_option = click.option(
    "--trace-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each counterexample there as JSON.",
)

spark_options = together(
    click.option(
        "--master",
        type=SparkMaster(),
        show_default="local[*]",
        help="Spark master, as spark://host:7077, or a Spark Connect server, as sc://host:15002.",
    ),
    click.option(
        "--spark-conf",
        type=SparkSetting(),
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of Spark's own, as spark.executor.memory=4g; repeatable.",
    ),
)

engine_options = together(
    click.option(
        "--engine",
        type=click.Choice(ENGINES),
        show_default=DEFAULT_ENGINE,
        help="local explores in this process and never starts Spark.",
    ),
    threads_option,
    spark_options,
    click.option(
        "--partitions",
        type=PARTITIONS,
        metavar="N",
        help="Owners of states, a task each; default on Spark: two a core.",
    ),
    click.option(
        "--driver-levels",
        type=DRIVER_LEVELS,
        metavar="N",
        help="Levels that the driver explores before Spark takes over; 0: none. "
        "Default: until the frontier outgrows it.",
    ),
)

budget_options = together(
    click.option(
        "--max-states", type=MAX_STATES, metavar="N", help="Stop after so many distinct states."
    ),
    click.option("--max-time", "max_seconds", type=Seconds(), help="Stop after so many seconds."),
    click.option(
        "--max-depth", type=MAX_DEPTH, metavar="N", help="Do not expand states at this depth."
    ),
    click.option(
        "--memory",
        "memory_bytes",
        type=MemorySize(),
        help="Hold at most this much, as 8G, pages of files aside; beyond it, explore over files.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Where it runs, as the command line says it. Only a search has partitions and levels."""

    engine: str | None = None
    threads: int = 0
    master: str | None = None
    spark_conf: tuple[tuple[str, str], ...] = ()
    partitions: int | None = None
    driver_levels: int | None = None

    def choice(self) -> EngineChoice:
        """Return the engine. Where none is named, an option of Spark's alone asks for Spark."""
        choice = EngineChoice(
            name=self.engine or default_engine(),
            threads=self.threads,
            master=self.master,
            settings=self.spark_conf,
            partitions=self.partitions,
            driver_levels=self.driver_levels,
        )
        is_sparks = self.engine is None and _of_spark(choice)
        return replace(choice, name="spark") if is_sparks else choice


def _of_spark(choice: EngineChoice) -> list[str]:
    """The options that were given and that are Spark's alone."""
    values = {
        "--master": choice.master,
        "--spark-conf": choice.settings or None,
        "--driver-levels": choice.driver_levels,
    }
    return [option for option, value in values.items() if value is not None]


def require_engine(choice: EngineChoice) -> None:
    """Check that the engine is installed, and that all options are for it.

    Raises `Missing` if Spark is requested and not installed, `UsageError` for an option of Spark's
    without Spark.
    """
    if choice.name == "spark":
        require_spark()
    elif ours := _of_spark(choice):
        raise click.UsageError(f"{ours[0]} is for --engine spark; leave it out, or ask for that")


def where_option(text: str) -> Decorator:
    """An invariant of your own at the prompt, without a file; `text` is what it is for here."""
    return click.option(
        "--where", metavar="CONDITION", help=f"{text} docs/counterexamples.md#conditions"
    )
