"""Builds the problem from command-line options; rejects contradictions.

`resolve` puts protocol and settings in place of a release or an entry of the catalogue;
`problem_from` makes the problem. Contradictions are refused with `BadEnvironment`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from waterline.checker.cli.shared.options import ENVIRONMENT_OPTIONS, PROTOCOLS
from waterline.checker.cli.shared.own_options import vetted_problem
from waterline.checker.kafka.families import GRAINS, MESSAGE
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import WHERE
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.problem.where import where_asked
from waterline.model.core.claim import Behaviour, Recoverable, Temporal
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.renaming import CannotRename
from waterline.model.message.fluss import fluss_release
from waterline.model.message.releases import UnknownRelease, release_named
from waterline.model.message.versions import spell

if TYPE_CHECKING:
    from waterline.checker.kafka.scenarios.scenario import Scenario


KINDS: dict[str, type[Behaviour]] = {"recovery": Recoverable, "liveness": Temporal}
"""Options that add all claims of a kind to the claims checked by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemOptions:
    """The problem on the command line; an option that is not given is None or empty."""

    grain: str | None = None
    protocol: str | None = None
    environment: str | None = None
    settings: Mapping[str, Any] = field(
        default_factory=dict, metadata={"gathers": ENVIRONMENT_OPTIONS}
    )
    names: tuple[str, ...] = ()
    where: str | None = None
    kafka: str | None = None
    fluss: str | None = None
    scenario: str | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    recovery: bool = False
    liveness: bool = False
    symmetry: str | None = None
    own_model: str | None = None
    bounds: tuple[tuple[str, int | bool], ...] = ()

    def named_values(self) -> dict[str, Any]:
        """Return what was given, by the names of the options, apart from `own_model`'s bounds."""
        values = {
            "grain": self.grain,
            "protocol": self.protocol,
            "environment": self.environment,
            **self.settings,
            "invariant": self.names or None,
            WHERE: self.where,
            "recovery": self.recovery or None,
            "liveness": self.liveness or None,
            "symmetry": self.symmetry,
            "set": dict(self.bounds) or None if self.own_model is None else None,
        }
        return {name: value for name, value in values.items() if value is not None}


def resolve(options: ProblemOptions) -> ProblemOptions:
    """Return the options with protocol, settings and claims for release, entry and switches.

    Raises `BadEnvironment`.
    """
    if options.settings.get("unbounded") and "epochs" in options.settings:
        raise BadEnvironment("--unbounded has no highest epoch; leave out --epochs")
    # The release first: of an entry it decides what --protocol would.
    release = options.kafka
    if release is not None:
        options = _of_release(release, options)
    if options.fluss is not None:
        options = _of_fluss(options.fluss, options, release)
    if options.scenario is not None:
        # The catalogue is long, and few runs name an entry of it.
        from waterline.checker.kafka.scenarios.catalogue import find_scenario  # noqa: PLC0415

        options = _from_scenario(find_scenario(options.scenario), options)
    if options.added or options.removed:
        options = replace(options, protocol=_switch(options), added=(), removed=())
    return options


def _of_release(release: str, options: ProblemOptions) -> ProblemOptions:
    """The version that a release of Kafka follows, and the high watermark in its answers."""
    if options.protocol is not None:
        raise BadEnvironment("--kafka and --protocol both say which rules; leave one of them out")
    _require_message_grain("--kafka", options)
    try:
        followed, high_watermark = release_named(release)
    except UnknownRelease as problem:
        raise BadEnvironment(f"--kafka: {problem}") from None
    answers = {} if high_watermark is None else {"hw-in-response": high_watermark}
    settings = _in_order({**answers, **options.settings})
    return replace(options, kafka=None, protocol=followed.version, settings=settings)


def _of_fluss(release: str, options: ProblemOptions, kafka: str | None) -> ProblemOptions:
    """The version that a release of Apache Fluss follows; followers do not read an answer's HW."""
    if kafka is not None:
        raise BadEnvironment("--kafka and --fluss both say which rules; leave one of them out")
    if options.protocol is not None:
        raise BadEnvironment("--fluss and --protocol both say which rules; leave one of them out")
    _require_message_grain("--fluss", options)
    try:
        followed = fluss_release(release)
    except UnknownRelease as problem:
        raise BadEnvironment(f"--fluss: {problem}") from None
    if options.settings.get("unclean-leader-election"):
        raise BadEnvironment(
            "--fluss: Fluss elects nobody from outside the ISR; leave out --unclean-leader-election"
        )
    return replace(options, fluss=None, protocol=followed.name)


def _switch(options: ProblemOptions) -> str:
    """The version with its features switched, as one name."""
    for feature in (name for name in options.added if name in options.removed):
        raise BadEnvironment(f"--with {feature} and --without {feature}: leave one of them out")
    option = "--with" if options.added else "--without"
    if options.protocol is None:
        raise BadEnvironment(f"{option} changes a version; name one with --protocol")
    _require_message_grain(option, options)
    return spell(options.protocol, options.added, options.removed)


def _require_message_grain(option: str, options: ProblemOptions) -> None:
    if GRAINS[options.grain or MESSAGE.name] is not MESSAGE:
        raise BadEnvironment(f"{option} is for --grain {MESSAGE.name}; the atomic one has versions")


def _from_scenario(scenario: Scenario, options: ProblemOptions) -> ProblemOptions:
    """Return the entry's options, overridden by those given."""
    if options.environment is not None:
        raise BadEnvironment("--scenario has an environment of its own; leave out --environment")
    return replace(
        options,
        scenario=None,
        protocol=options.protocol or scenario.first,
        names=options.names or (scenario.claim,),
        settings=_in_order({**scenario.options, **options.settings}),
    )


def _in_order(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in the order of the help."""
    return {name: settings[name] for name in ENVIRONMENT_OPTIONS if name in settings}


def problem_from(options: ProblemOptions) -> Problem:
    """Build the problem from the options. Raises `BadEnvironment`."""
    options = resolve(options)
    if options.where is not None:
        # Few ask for more than what is claimed.
        return where_asked(problem_from(replace(options, where=None)), options.where, options.names)
    problem = _select_claims(options)
    for kind in (name for name in KINDS if getattr(options, name)):
        problem = _asking_all(problem, kind)
    return problem


def _asking_all(problem: Problem, kind: str) -> Problem:
    """Return the problem with all claims of a kind added to those it checks."""
    names = [claim.name for claim in problem.behaviours if isinstance(claim, KINDS[kind])]
    if not names:
        raise BadEnvironment(
            f"--{kind}: nothing of the kind is claimed of {problem.model.name}; leave it out"
        )
    try:
        return problem.asking_too(names)
    except CannotRename as refused:
        raise BadEnvironment(str(refused)) from None


def _select_claims(options: ProblemOptions) -> Problem:
    """The problem with the claims that are named."""
    if options.own_model is not None:
        return _of_own(options.own_model, options)
    if options.bounds:
        raise BadEnvironment("--set sets a bound of --model FILE; name the file")
    return _of_kafka(options)


def _of_kafka(options: ProblemOptions) -> Problem:
    """A version of Kafka's protocol, in circumstances with a name that options may change."""
    grain = GRAINS[options.grain or next(iter(GRAINS))]
    version, environment = options.protocol, options.environment
    if version is None:
        raise BadEnvironment(
            f"--protocol is missing; it is one of {', '.join(grain.versions)}; "
            "--kafka RELEASE, --scenario NAME or --model FILE say it as well"
        )
    # Of Kafka's model the family knows more versions than have a name.
    if grain is not MESSAGE or version in PROTOCOLS:
        _require_known(grain, "--protocol", version, grain.versions)
    if environment is None:
        environment = next(iter(grain.environments))
    _require_known(grain, "--environment", environment, grain.environments)
    for name in options.settings:
        if name not in grain.options:
            others = [other.name for other in GRAINS.values() if name in other.options]
            raise BadEnvironment(
                f"--{name} is no option of --grain {grain.name}, but of {' and '.join(others)}; "
                "leave it out"
            )
    changed = {**grain.environments[environment].options(), **options.settings}
    return grain.problem(version, changed, options.names, symmetry=_symmetry(grain, options))


def _symmetry(family: Family, options: ProblemOptions) -> str:
    asked = Symmetry.NONE.value if options.symmetry is None else options.symmetry
    return family.symmetry_asked(asked)


def _require_known(grain: Family, option: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise BadEnvironment(
            f"{option} {value} is not one of --grain {grain.name}; it has {', '.join(known)}"
        )


def _of_own(file: str, options: ProblemOptions) -> Problem:
    """A model of the user's own, with nothing said that is Kafka's."""
    given = replace(options, names=(), symmetry=None, recovery=False, liveness=False).named_values()
    for name in given:
        if name != "unbounded":
            raise BadEnvironment(f"--{name} is about Kafka's models; --model has --set NAME=VALUE")
    return vetted_problem(
        file,
        dict(options.bounds),
        options.names,
        symmetry=Symmetry.NONE.value if options.symmetry is None else options.symmetry,
        unbounded=bool(options.settings.get("unbounded")),
    )
