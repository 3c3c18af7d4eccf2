"""Known causes of a loss in logs: the catalogue entries whose repairs keep the same steps harmless.

The steps of a behaviour that fits are taken once more under the rules of each repair; those that
these do not offer are passed over. An entry that needs a power loss or a lost disk is named only
where one is among the steps: a loss goes with many a rule that has nothing to do with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.kafka.scenarios.repairs import REPAIRS, Repair, repair_version
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.invariants import acknowledged_durable
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import OutOfRange
from waterline.model.core.transition_system import Call, Model
from waterline.model.message.environment import EPOCHS_MAX, Environment
from waterline.model.message.model import message_model

STALE_REMOTE_LEO = "C21"
"""Entry that requires a leader that missed an epoch, which the lines show."""
_MORE_EPOCHS = 2
_TAKES_A_LOG = frozenset({"PowerLoss", "DiskLoss"})
_NEEDS_A_LOG_TAKEN = ("power-losses", "lost-disks")


@dataclass(frozen=True, slots=True)
class Cause:
    """Entry of the catalogue, and the repair that makes the same steps lose nothing."""

    scenario: Scenario
    repair: Repair


def causes_of(
    model: Model, environment: Environment, calls: Sequence[Call], *, missed: bool
) -> tuple[Cause, ...]:
    """The entries that a loss is an instance of, those nearest to the settings first.

    `missed` is whether lines tell of an epoch that a leader missed. None where these steps lose
    nothing.
    """
    lost = _lost_at(model, calls)
    if lost is None:
        return ()
    steps = calls[:lost]
    # A repair may elect somebody once more.
    epochs = min(EPOCHS_MAX, environment.epochs + _MORE_EPOCHS)
    environment = replace(environment, epochs=epochs)
    happened = {name for name, _ in steps}
    found = []
    for repair in REPAIRS:
        scenario = find_scenario(repair.entry)
        if scenario.number == STALE_REMOTE_LEO and not missed:
            continue
        if _needs_a_log_taken(scenario) and not happened & _TAKES_A_LOG:
            continue
        other = _with(model, environment, repair)
        if other is None:
            continue
        try:
            closes = _lost_at(other, steps) is None
        except OutOfRange:
            continue
        if closes:
            found.append(Cause(scenario, repair))
    return tuple(found)


def _needs_a_log_taken(scenario: Scenario) -> bool:
    """True if it needs a machine that loses records of its log, by whatever fault."""
    return any(scenario.options.get(option) for option in _NEEDS_A_LOG_TAKEN)


def _with(model: Model, environment: Environment, repair: Repair) -> Model | None:
    """The model with a repair; None where it has none of its own."""
    version, given = repair_version(model.version, repair), environment.options()
    if version is None or (repair.only_with and not given[repair.only_with]):
        return None
    options = {**given, **repair.options}
    if version == model.version and options == environment.options():
        return None
    try:
        return message_model(version, Environment.from_options(options))
    except BadEnvironment:
        return None


def _lost_at(model: Model, calls: Iterable[Call]) -> int | None:
    """After how many steps a record is lost; None if none is."""
    state = model.initial[0]
    for number, (name, arguments) in enumerate(calls, 1):
        action = model.action(name)
        if model.is_enabled(state, action, arguments):
            state = model.apply(state, action, arguments)
        if not acknowledged_durable.holds(state, model.settings):
            return number
    return None
