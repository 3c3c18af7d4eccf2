"""A user's file as a family: protocols are versions, bounds are options."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from waterline.checker.problem.family import Claimed, Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.problem.wording import describe_option
from waterline.checker.problem.words import Words
from waterline.checker.user_models.loading import OwnFile, describe_where, load_text, read_own
from waterline.checker.user_models.unbounded import (
    UNBOUNDED,
    bounds_without_number,
    remove_bounds,
    room_for,
)
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Model
from waterline.model.own.building import Built, build_model
from waterline.model.own.condition import Condition, condition
from waterline.model.own.state_class import Bound

DIGEST = "sha256"
"""The option that names the content of the file, so that runs and traces are of one content."""
_BOUND_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class OwnOptions:
    """Bounds that were given; the others have their defaults. `unbounded`: some have none."""

    given: tuple[tuple[str, object], ...] = ()
    unbounded: bool = False

    def options(self) -> dict[str, object]:
        """Options by name."""
        return dict(self.given) | ({UNBOUNDED: True} if self.unbounded else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFamily(Family):
    """The claims of a user's protocol come from the same function as its model."""

    own: OwnFile

    def model_with_claims(self, version: str, circumstances: Any) -> Claimed:
        """A protocol within bounds. Raises `BadEnvironment`."""
        made: Built = _build(self.own, version, circumstances)
        return Claimed(
            model=made.model,
            invariants=made.always,
            properties=made.every_step,
            reachable=made.sometimes,
            behaviours=made.behaviours,
        )


def family_in(file: Path) -> Family:
    """The family that a file declares. Runs it. Raises `BadEnvironment`."""
    return own_family(*read_own(file))


def own_family(text: str, file: str) -> Family:
    """The family that a file with this text declares. Raises `BadEnvironment`."""
    return family_of(load_text(text, file))


@functools.lru_cache(maxsize=16)
def family_of(own: OwnFile) -> Family:
    """The family of a file that has run. Raises `BadEnvironment`.

    Another process makes it of the text alone, which it runs again.
    """

    def from_options(options: dict[str, object]) -> OwnOptions:
        given = dict(options)
        digest = given.pop(DIGEST, own.digest)
        if digest != own.digest:
            raise BadEnvironment(
                f"{own.name} has another content ({own.digest}) than when this was written "
                f"({digest}); take the file of then, or begin anew"
            )
        unbounded = given.pop(UNBOUNDED, False) is True
        return OwnOptions(tuple(given.items()), unbounded)

    def build(version: str, circumstances: OwnOptions) -> Model:
        return _build(own, version, circumstances).model

    def read_condition(text: str, model: Model) -> Condition:
        return condition(text, model.layout, model.settings, _terms(own, model))

    return OwnFamily(
        name=own.name,
        model=own.name,
        versions=own.protocols,
        environments={"as declared": OwnOptions()},
        from_options=from_options,
        invariants=(),
        properties=(),
        reachable=(),
        build=build,
        words=_words(own),
        symmetries=_symmetries(own),
        origin=(own_family, (own.text, own.file)),
        own=own,
        is_read_at_run_time=True,
        condition=read_condition,
    )


@functools.lru_cache(maxsize=16)
def _build(own: OwnFile, version: str, circumstances: OwnOptions) -> Built:
    if version not in own.protocols:
        raise BadEnvironment(f"{own.name} has no {version!r}; it has {', '.join(own.protocols)}")
    bounds = _bounds(own, version, dict(circumstances.given))
    if not circumstances.unbounded:
        return built_within(own, version, bounds, {**bounds, DIGEST: own.digest})
    left = _bounds_left(own, version, circumstances)
    roomy = room_for(own, version, bounds)
    made = built_within(
        own,
        version,
        roomy,
        {**{name: bounds[name] for name in left}, UNBOUNDED: True, DIGEST: own.digest},
        is_unbounded=True,
    )

    def within(needed: Mapping[str, int]) -> Model:
        whole = {**bounds, **needed}
        return built_within(own, version, whole, {**whole, DIGEST: own.digest}).model

    return remove_bounds(made, within, own.file)


def built_within(
    own: OwnFile,
    version: str,
    bounds: Mapping[str, Bound],
    options: Mapping[str, object],
    *,
    is_unbounded: bool = False,
) -> Built:
    """Return what a protocol declares within bounds. Raises `BadEnvironment`."""
    protocol = own.declare(version, bounds)
    return describe_where(
        own.file,
        lambda: build_model(
            protocol,
            file=own.file,
            text=own.text,
            names=own.names,
            model=own.name,
            version=version,
            bounds={name: int(value) for name, value in bounds.items()},
            options=options,
            unbounded=is_unbounded,
        ),
    )


def _bounds_left(own: OwnFile, version: str, circumstances: OwnOptions) -> list[str]:
    """The bounds that there are without those of epochs and values. Raises `BadEnvironment`."""
    bounds = own.bounds(version)
    if UNBOUNDED in bounds:
        raise BadEnvironment(
            f"{own.file}: --unbounded: {version} has a bound of that name; call it otherwise"
        )
    gone = bounds_without_number(own, version, bounds)
    for name, value in circumstances.given:
        if name in gone:
            raise BadEnvironment(
                f"--unbounded has any number of {name}; leave out --set {name}={value}"
            )
    return [name for name in bounds if name not in gone]


def _bounds(own: OwnFile, version: str, given: Mapping[str, object]) -> dict[str, Bound]:
    bounds = own.bounds(version)
    for name, value in given.items():
        if name not in bounds:
            known = ", ".join(bounds) or "none"
            raise BadEnvironment(f"{version} has no bound {name!r}; it has {known}")
        wanted = type(bounds[name])
        if type(value) is not wanted or abs(value) > _BOUND_MAX:
            kind = "true or false" if wanted is bool else "a whole number"
            raise BadEnvironment(f"{name} is {value!r}; it must be {kind}")
        bounds[name] = value
    return bounds


def _terms(own: OwnFile, model: Model) -> dict[str, object]:
    """The fields as they are declared, and every name of every sort: `node1`."""
    protocol = own.declare(model.version, own.bounds_in(model))
    names = {sort.describe(i): i for sort in protocol.sorts for i in range(sort.count)}
    return {**names, **{declared.name: declared for declared in protocol.fields}}


def _symmetries(own: OwnFile) -> dict[str, Symmetry]:
    """Return one symmetry for each sort of names, by the sort's name."""
    found = {Symmetry.NONE.value: Symmetry.NONE}
    for name in own.protocols:
        protocol = own.declare(name, own.bounds(name))
        sorts = describe_where(own.file, partial(getattr, protocol, "sorts"))
        for sort in sorts:
            found[sort.name] = Symmetry(sort.name, (sort.sort,))
    return found


def _words(own: OwnFile) -> Words:
    def visible_options(model: Model) -> list[tuple[str, object]]:
        hidden = (DIGEST, UNBOUNDED)
        return [(name, value) for name, value in model.options.items() if name not in hidden]

    def sizes(model: Model) -> str:
        return (
            ", ".join(f"{name} {describe_option(value)}" for name, value in visible_options(model))
            or own.name
        )

    def scope(model: Model) -> str:
        if UNBOUNDED not in model.options:
            return ""
        endless = [name for name in own.bounds(model.version) if name not in model.options]
        left = f"; {sizes(model)}" if visible_options(model) else ""
        return f"for any number of {' and '.join(endless)}{left}"

    def letters(model: Model) -> str:
        bounds = [f"{name}{value}".lower() for name, value in visible_options(model)]
        return "-".join([*bounds, *([UNBOUNDED] if UNBOUNDED in model.options else [])])

    def circumstances(options: Mapping[str, object]) -> Mapping[str, object]:
        return {name: value for name, value in options.items() if name != UNBOUNDED}

    bounds = {name for protocol in own.protocols for name in own.bounds(protocol)}
    return Words(
        title=lambda model: f" in {own.name}",
        sizes=sizes,
        scope=scope,
        circumstances=circumstances,
        letters=letters,
        raisable=dict.fromkeys(sorted(bounds), _BOUND_MAX),
        named=lambda model, version: [f"--model {model}:{version}"],
        option=lambda name, value: (
            f"--{name}" if name == UNBOUNDED else f"--set {name}={_plain(value)}"
        ),
        unsaid=frozenset({DIGEST}),
    )


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def room_of(problem: Problem, bounds: Mapping[str, Bound]) -> Mapping[str, Bound]:
    """The bounds that the states of an abstraction have room for, of a model with these bounds."""
    assert isinstance(problem.family, OwnFamily)
    return room_for(problem.family.own, problem.model.version, bounds)


def built_of(problem: Problem) -> tuple[OwnFile, Built]:
    """The file of a problem about a user's model, and what it declares within these bounds."""
    family, model = problem.family, problem.model
    assert isinstance(family, OwnFamily)
    given = {name: value for name, value in model.options.items() if name != DIGEST}
    is_unbounded = given.pop(UNBOUNDED, False) is True
    options = OwnOptions(tuple(given.items()), is_unbounded)
    return family.own, _build(family.own, model.version, options)
