"""Builds the problem from command-line options; rejects contradictions.

`take_given` takes them out of what a command was given; `problem_from` makes the problem of them.
Options that contradict each other are refused with `BadEnvironment`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from waterline.checker.cli.shared.options import ENVIRONMENT_OPTIONS, PROTOCOLS
from waterline.checker.cli.shared.own_options import vetted_problem
from waterline.checker.kafka.families import GRAINS, MESSAGE
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import WHERE
from waterline.checker.problem.symmetry import Symmetry
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
    if given["unbounded"] and given["epochs"] is not None:
        raise BadEnvironment("--unbounded has no highest epoch; leave out --epochs")
    # The release first: of an entry it decides what --protocol would.
    if (release := options.pop("kafka", None)) is not None:
        given = _of_release(release, given)
    if (fluss := options.pop("fluss", None)) is not None:
        given = _of_fluss(fluss, given, release)
    if (entry := options.pop("scenario", None)) is not None:
        # The catalogue is long, and few runs name an entry of it.
        from waterline.checker.kafka.scenarios.catalogue import find_scenario  # noqa: PLC0415

        given = _from_scenario(find_scenario(entry), given)
    added, removed = options.pop("added", ()), options.pop("removed", ())
    if added or removed:
        given["protocol"] = _switch(given, added, removed)
    given |= {kind: options.pop(kind, False) or None for kind in KINDS}
    given["symmetry"] = options.pop("symmetry", None)
    given["model"] = options.pop("own_model", None)
    given["set"] = dict(options.pop("bounds", ())) or None
    return {name: value for name, value in given.items() if value is not None}


def _of_release(release: str, given: dict[str, Any]) -> dict[str, Any]:
    """The version that a release of Kafka follows, and the high watermark in its answers."""
    if given["protocol"] is not None:
        raise BadEnvironment("--kafka and --protocol both say which rules; leave one of them out")
    _require_message_grain("--kafka", given)
    try:
        followed, high_watermark = release_named(release)
    except UnknownRelease as problem:
        raise BadEnvironment(f"--kafka: {problem}") from None
    text = given["hw-in-response"] or high_watermark
    return {**given, "protocol": followed.version, "hw-in-response": text}


def _of_fluss(release: str, given: dict[str, Any], kafka: str | None) -> dict[str, Any]:
    """The version that a release of Apache Fluss follows; followers do not read an answer's HW."""
    if kafka is not None:
        raise BadEnvironment("--kafka and --fluss both say which rules; leave one of them out")
    if given["protocol"] is not None:
        raise BadEnvironment("--fluss and --protocol both say which rules; leave one of them out")
    _require_message_grain("--fluss", given)
    try:
        followed = fluss_release(release)
    except UnknownRelease as problem:
        raise BadEnvironment(f"--fluss: {problem}") from None
    if given["unclean-leader-election"]:
        raise BadEnvironment(
            "--fluss: Fluss elects nobody from outside the ISR; leave out --unclean-leader-election"
        )
    return {**given, "protocol": followed.name}


def _switch(given: dict[str, Any], added: tuple[str, ...], removed: tuple[str, ...]) -> str:
    """The version with its features switched, as one name."""
    for feature in (name for name in added if name in removed):
        raise BadEnvironment(f"--with {feature} and --without {feature}: leave one of them out")
    option = "--with" if added else "--without"
    if given["protocol"] is None:
        raise BadEnvironment(f"{option} changes a version; name one with --protocol")
    _require_message_grain(option, given)
    return spell(given["protocol"], added, removed)


def _require_message_grain(option: str, given: dict[str, Any]) -> None:
    if GRAINS[given["grain"] or MESSAGE.name] is not MESSAGE:
        raise BadEnvironment(f"{option} is for --grain {MESSAGE.name}; the atomic one has versions")


def _from_scenario(scenario: Scenario, given: dict[str, Any]) -> dict[str, Any]:
    """Return the entry's options, overridden by those given."""
    if given["environment"] is not None:
        raise BadEnvironment("--scenario has an environment of its own; leave out --environment")
    text: dict[str, Any] = {"protocol": scenario.first, "invariant": (scenario.claim,)}
    text |= scenario.options
    return {**given, **{n: v for n, v in text.items() if given.get(n) is None}}


def problem_from(given: dict[str, Any]) -> Problem:
    """Build the problem from the options. Raises `BadEnvironment`."""
    options = dict(given)
    if (where := options.pop(WHERE, None)) is not None:
        # Few ask for more than what is claimed.
        from waterline.checker.problem.where import where_asked  # noqa: PLC0415

        return where_asked(problem_from(options), where, options.get("invariant", ()))
    kinds = [kind for kind in KINDS if options.pop(kind, False)]
    problem = _select_claims(options)
    for kind in kinds:
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


def _select_claims(options: dict[str, Any]) -> Problem:
    """The problem with the claims that are named."""
    if "model" in options:
        return _of_own(options)
    if "set" in options:
        raise BadEnvironment("--set sets a bound of --model FILE; name the file")
    return _of_kafka(options)


def _of_kafka(options: dict[str, Any]) -> Problem:
    """A version of Kafka's protocol, in circumstances with a name that options may change."""
    grain = GRAINS[options.pop("grain", next(iter(GRAINS)))]
    version, environment = options.pop("protocol", None), options.pop("environment", None)
    names, symmetry = options.pop("invariant", ()), options.pop("symmetry", Symmetry.NONE.value)
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
    for name in options:
        if name not in grain.options:
            others = [other.name for other in GRAINS.values() if name in other.options]
            raise BadEnvironment(
                f"--{name} is no option of --grain {grain.name}, but of {' and '.join(others)}; "
                "leave it out"
            )
    changed = {**grain.environments[environment].options(), **options}
    return grain.problem_of(version, changed, names, symmetry=grain.symmetry_asked(symmetry))


def _require_known(grain: Family, option: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise BadEnvironment(
            f"{option} {value} is not one of --grain {grain.name}; it has {', '.join(known)}"
        )


def _of_own(options: dict[str, Any]) -> Problem:
    """A model of the user's own, with nothing said that is Kafka's."""
    bounds, names = options.pop("set", {}), options.pop("invariant", ())
    symmetry = options.pop("symmetry", Symmetry.NONE.value)
    file, unbounded = options.pop("model"), options.pop("unbounded", False)
    if options:
        raise BadEnvironment(
            f"--{next(iter(options))} is about Kafka's models; --model has --set NAME=VALUE"
        )
    return vetted_problem(file, bounds, names, symmetry=symmetry, unbounded=unbounded)
