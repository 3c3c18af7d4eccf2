"""Vocabulary of reports and of conditions about Kafka's models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from waterline.checker.problem.wording import quantity
from waterline.checker.problem.words import Words
from waterline.model import atomic
from waterline.model.core.transition_system import Model
from waterline.model.message import terms as words
from waterline.model.message.declared import option_of
from waterline.model.message.environment import (
    COUNTED,
    DECLARED,
    ENVIRONMENTS,
    EPOCHS_MAX,
    FAULTS,
    RECORDS_MAX,
    UNCOUNTED,
)
from waterline.model.message.narration import LANES
from waterline.model.message.release_names import is_released, releases_with
from waterline.model.message.versions import NAMED, switches_of, version_of

if TYPE_CHECKING:
    from waterline.model.own.condition import Condition


_LETTERS = {"replicas": "r", "log_size": "l", "records": "n", "epochs": "e"}
_RAISABLE = {"epochs": EPOCHS_MAX, "log-size": RECORDS_MAX, "records": RECORDS_MAX}
"""First what may make a larger bound superfluous: where no epoch is cut, a larger bound on epochs
has the very same states, while one more record can always be produced."""


def message_title(model: Model) -> str:
    """` (Kafka 0.10): 2 replicas, 2 records, epochs 0 to 2, up to 2 crashes`"""
    within = scope(model) or f"{sizes(model)}, {_faults(model.options)}"
    return f"{_releases(model)}: {within}{_environment(model.options)}"


def atomic_title(model: Model) -> str:
    """`, atomic grain: 2 replicas, log size 2, ...`, after the releases of an unnamed variant."""
    releases = "" if model.version in atomic.VERSIONS else _releases(model)
    return f"{releases}, atomic grain: {sizes(model)}"


def _releases(model: Model) -> str:
    """Return the releases with these rules, or a note that no system has them together."""
    rules = version_of(model.version)
    if found := releases_with(rules, model.contents):
        return f" ({found})"
    known = model.version in NAMED or is_released(rules)
    return "" if known else f" (no {rules.system} had these rules together)"


def _faults(options: Mapping[str, object]) -> str:
    """`up to 2 crashes, 1 power loss`"""
    text = [
        describe_amount(name, int(str(options[name])))
        for name in map(option_of, FAULTS)
        if options[name]
    ]
    return f"up to {', '.join(text)}" if text else "no faults"


def _environment(options: Mapping[str, object]) -> str:
    """The name of the circumstances, where they have one and are not the usual ones."""
    bounded = {**options, "unbounded": False}
    names = [name for name, given in ENVIRONMENTS.items() if given.options() == bounded]
    return f" (environment {names[0]})" if names and names[0] != "documented" else ""


def scope(model: Model) -> str:
    """Describe what an unbounded model does not limit, and what it does; "" for a bounded one."""
    if not _is_unbounded(model):
        return ""
    options = model.options
    endless = [FAULTS[name].many for name in _endless(options)]
    left = [
        f"at most {describe_amount(name, int(str(options[name])))}"
        for fault, name in zip(FAULTS, map(option_of, FAULTS), strict=True)
        if fault in COUNTED and options[name]
    ]
    things = ", ".join([*endless, "epochs"])
    return f"for any number of {things} and produced records; {', '.join([sizes(model), *left])}"


def circumstances(options: Mapping[str, object]) -> Mapping[str, object]:
    """The options as a report lists them: without bounds, those that have no number say so."""
    if not options["unbounded"]:
        return {name: value for name, value in options.items() if name != "settled"}
    endless = {option_of(name) for name in _endless(options)}
    return {
        name: "any number" if name in endless else value
        for name, value in options.items()
        if name != "epochs"
    }


def _endless(options: Mapping[str, object]) -> list[str]:
    """The faults that may happen any number of times."""
    return [name for name in UNCOUNTED if options[option_of(name)]]


def _is_unbounded(model: Model) -> bool:
    return model.options.get("unbounded") is True


def sizes(model: Model) -> str:
    """`2 replicas, 1 record, epochs 0 to 2`: the requested sizes."""
    if _is_unbounded(model):
        records = quantity(model.layout.sizes["records"], "record")
        replicas = quantity(model.layout.sizes["replicas"], "replica")
        if model.settings.settled and model.layout.sizes["records"] > 1:
            return f"{replicas}, at most {records} in a log from the last settled one on"
        return f"{replicas}, at most {records} in a log at one time"
    text = []
    for name, number in model.layout.sizes.items():
        option = name.replace("_", "-")
        if option in model.options:
            text.append(describe_amount(option, number))
    return ", ".join(text) or model.name


def describe_amount(option: str, number: int) -> str:
    """`3 replicas`, `epochs 0 to 2`, `1 crash`: a size, or a budget of faults."""
    if option == "epochs":
        return f"epochs 0 to {number}"
    if option == "log-size":
        return f"log size {number}"
    fault = FAULTS.get(option.replace("-", "_"))
    if fault is not None:
        return f"{number:,} {fault.one if number == 1 else fault.many}"
    return quantity(number, option.removesuffix("s"))


def letters(model: Model) -> str:
    """`2r2n2e`: the same in a file's name."""
    found = model.layout.sizes
    unbounded = _is_unbounded(model)
    named = [name for name in _LETTERS if name in found and not (unbounded and name == "epochs")]
    text = "".join(f"{found[name]}{_LETTERS[name]}" for name in named)
    return f"{text}-unbounded" if unbounded else text


def protocol_options(version: str) -> list[str]:
    """`--protocol kip903`, `--without shrink-raises-epoch`: a version of the message grain."""
    base, added, removed = switches_of(version)
    switches = [f"--without {name}" for name in removed] + [f"--with {name}" for name in added]
    return [f"--protocol {base}", *switches]


MESSAGE_WORDS = Words(
    named=lambda model, version: protocol_options(version),
    title=message_title,
    sizes=sizes,
    scope=scope,
    circumstances=circumstances,
    letters=letters,
    lanes=LANES,
    raisable=_RAISABLE,
    outside=frozenset({"Produce", "Consume", *(DECLARED[name].steps[0] for name in FAULTS)}),
    alike=(
        frozenset({"RecvFetch", "RecvDiverging", "RecvOutOfRange"}),
        frozenset({"Fence", "FenceAndElect"}),
        frozenset({"Learn", "LearnLate"}),
    ),
)
ATOMIC_WORDS = Words(
    named=lambda model, version: ["--grain atomic", f"--protocol {version}"],
    title=atomic_title,
    sizes=sizes,
    letters=letters,
    prefix="atomic-",
    lanes=LANES,
    raisable=_RAISABLE,
    outside=frozenset({"Produce", "ElectLeader", "RemoveFromIsr"}),
)


_NAMES = (
    *("NO_REPLICA", "NO_EPOCH", "NO_RECORD", "UNKNOWN_OFFSET"),
    *("NO_ROLE", "LEADER", "TRUNCATING", "FETCHING"),
    *("IDLE", "REQUESTED", "ANSWERED", "OUT_OF_RANGE", "PARKED", "DIVERGING", "CHECKED"),
    *("NO_ANSWER", "GRANTED", "REFUSED"),
    *("ACKS_NONE", "ACKS_LEADER", "ACKS_ALL"),
)
"""Constants of `model.message.terms` that conditions name."""


def condition(text: str, model: Model) -> Condition:
    """Return the condition in a text about the states of a model. Raises `BadCondition`."""
    # Few runs have a condition, and an executor should not import what reads one.
    from waterline.model.own import condition as language  # noqa: PLC0415

    return language.condition(text, model.layout, model.settings, terms(model))


def terms(model: Model) -> Mapping[str, object]:
    """`LEADER`, `r0`, `m1`, `contains(s.isr, r1)`, `size(s.isr)`."""
    sizes = model.layout.sizes
    return {
        **{f"r{replica}": replica for replica in range(sizes["replicas"])},
        **{f"m{record}": record for record in range(1, sizes["records"] + 1)},
        **{name: getattr(words, name) for name in _NAMES},
        "contains": words.contains,
        "size": words.size,
    }
