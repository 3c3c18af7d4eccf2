"""The message grain: fetch request and fetch answer are separate steps.

This is the model that `check` explores: a version of the protocol in an environment.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from waterline.model.core.errors import BadEnvironment
from waterline.model.core.layout import TooLargeToPack
from waterline.model.core.renaming import Sort
from waterline.model.core.transition_system import Call, Model
from waterline.model.message import limits
from waterline.model.message.cluster import initial_state, layout
from waterline.model.message.contents import ACTIONS, contents
from waterline.model.message.environment import EPOCHS_MAX, UNCOUNTED, Environment
from waterline.model.message.features import (
    BROKER_EPOCH,
    COORDINATOR,
    KEEPS_WAITING_PRODUCERS,
    KRAFT,
    has,
)
from waterline.model.message.narration import narration
from waterline.model.message.normal_form import normalise
from waterline.model.message.order_abstraction import abstract
from waterline.model.message.settings import settings_of
from waterline.model.message.trusted import TRUSTED
from waterline.model.message.versions import BadVersion, Version, version_of

NAME = "kafka-message"


def message_model(version: str, environment: Environment) -> Model:
    """Version `version` of the protocol in `environment`, as `model.message.versions.version_of`
    reads it.

    Raises `BadEnvironment` for an unknown version or bounds too large to pack.
    """
    try:
        rules = version_of(version)
    except BadVersion as problem:
        raise BadEnvironment(str(problem)) from None
    try:
        bounds = replace(
            environment.bounds,
            keeps_waiting=has(rules, KEEPS_WAITING_PRODUCERS),
            compares_broker_epochs=environment.caught_up_wait and has(rules, BROKER_EPOCH),
        )
        form = layout(bounds)
    except TooLargeToPack as problem:
        raise BadEnvironment(
            f"replicas {environment.replicas}, records {environment.records} and epochs "
            f"{environment.epochs} together are too large to pack: {problem}; lower one of them"
        ) from None
    if environment.reassignments and not has(rules, KRAFT):
        _require_order_of_replicas(version, environment, rules)
    settings = settings_of(environment, rules)
    return Model(
        name=NAME,
        version=version,
        layout=form,
        settings=settings,
        actions=ACTIONS,
        contents=contents(settings, environment.replicas),
        limits=limits.NAMES,
        initial=(initial_state(form, environment.assigned),),
        narration=narration(settings),
        options=environment.options(),
        distinguishes_names=_distinguished_names(environment),
        normalise=abstract if environment.unbounded else normalise,
        concretise=Concrete(version, environment) if environment.unbounded else None,
        exact_without=(limits.NAMES[limits.EPOCHS],) if environment.unbounded else (),
        finitely_often=("Produce", *limits.BUDGETS) if environment.unbounded else (),
        trusted=TRUSTED,
    )


def _require_order_of_replicas(version: str, environment: Environment, rules: Version) -> None:
    if has(rules, COORDINATOR):
        raise BadEnvironment(
            f"reassignments is {environment.reassignments}, and {version} is no version of Kafka: "
            "how Fluss reassigns replicas is not modelled; set reassignments to 0"
        )
    if environment.election_order == "any":
        raise BadEnvironment(
            f"reassignments cannot be with election-order any in {version}, with ZooKeeper: a "
            "cancellation leaves in the ISR the last of those that it removes, by their order; "
            "leave one of them out"
        )


@dataclass(frozen=True, slots=True)
class Concrete:
    """Bounded models that can take the steps of an unbounded one unchanged."""

    version: str
    environment: Environment

    def __call__(self, initial: int, calls: Sequence[Call]) -> tuple[Model, tuple[Call, ...]]:
        """Return the model with the least bounds that these steps need from the initial state on.

        The steps are the same, except for offsets among their arguments. Raises `BadEnvironment` if
        they need more than a bounded model may have.
        """
        calls = self._with_whole_offsets(calls)
        roomy = message_model(self.version, self._bounds(calls, _epochs_started_at_most(calls)))
        state = roomy.initial[initial]
        for name, arguments in calls[:-1]:
            state = roomy.apply(state, roomy.action(name), arguments)
        for name, arguments in calls[-1:]:
            with contextlib.suppress(Exception):  # It may be the one that raises.
                state = roomy.apply(state, roomy.action(name), arguments)
        return message_model(self.version, self._bounds(calls, int(state.epoch))), calls

    def _with_whole_offsets(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """The calls with offsets that count the records which have been cut off."""
        if not self.environment.is_cut or not self.environment.power_losses:
            return tuple(calls)
        model, cut, found = message_model(self.version, self.environment), 0, list[Call]()
        state = model.initial[0]
        for name, arguments in calls:
            action = model.action(name)
            offsets = [parameter.over == "records" for parameter in action.parameters]
            pairs = zip(arguments, offsets, strict=True)
            found.append((name, tuple(a + cut if is_offset else a for a, is_offset in pairs)))
            step = model.take(state, action, arguments)
            cut += step.outcome.exposed_end - step.after.exposed_end
            state = step.after
        return tuple(found)

    def _bounds(self, calls: Sequence[Call], epochs: int) -> Environment:
        taken = Counter(name for name, _ in calls)
        needed = {
            name: max(_times_used(taken, name), min(1, getattr(self.environment, name)))
            for name in UNCOUNTED
        }
        records = max(1, taken["Produce"])
        return replace(self.environment, unbounded=False, records=records, epochs=epochs, **needed)


def _times_used(taken: Counter[str], fault: str) -> int:
    return sum(taken[name] for name, budget in limits.BUDGETS.items() if budget.setting == fault)


def _epochs_started_at_most(calls: Sequence[Call]) -> int:
    """An epoch is started by a step of the controller; a restart may start two."""
    quiet = {"Produce", "SendFetch", "LeaderFetch", "RecvFetch", "Checkpoint", "Learn", "Crash"}
    started = sum(1 + (name == "Restart") for name, _ in calls if name not in quiet)
    return min(started, EPOCHS_MAX)


def _distinguished_names(environment: Environment) -> dict[Sort, str]:
    """An election by assignment goes by the replicas' numbers; without bounds records have none."""
    nameless = {
        Sort.RECORD: "--unbounded has renamed the records already; --symmetry replicas is left"
    }
    found = nameless if environment.unbounded else {}
    if environment.election_order == "any" or environment.replicas == 1:
        return found
    return found | {
        Sort.REPLICA: "with --election-order assignment an election tells replicas apart; "
        "add --election-order any"
    }
