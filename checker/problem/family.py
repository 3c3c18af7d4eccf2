"""A family of models: versions, options, claims, and the words for them.

The caller of a check passes a problem that a family has made. Nothing in the search, the engines,
the store or the compiler imports one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import NO_SYMMETRY, ProblemSpec
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.problem.where import Condition, with_asked
from waterline.checker.problem.wording import describe_option
from waterline.checker.problem.words import Words
from waterline.model.core.claim import ActionProperty, Behaviour, Claim, Invariant, Reachable
from waterline.model.core.errors import BadEnvironment, did_you_mean
from waterline.model.core.renaming import CannotRename
from waterline.model.core.transition_system import Model


class Circumstances(Protocol):
    """Circumstances to check a version in: bounds, budgets, settings."""

    def options(self) -> dict[str, object]:
        """Every option by its name on the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A model and all that is claimed of it."""

    model: Model
    invariants: tuple[Invariant, ...]
    properties: tuple[ActionProperty, ...]
    reachable: tuple[Reachable, ...]
    behaviours: tuple[Behaviour, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Models that share their actions and claims: versions of a protocol in circumstances.

    `model` is its models' name in traces. `environments` are the circumstances that have a name,
    the first being the default; `from_options` makes others, and raises `BadEnvironment`.
    `build(version, circumstances)` makes a model. `symmetries` are those that `--symmetry` may
    name, by that name; `symmetry` is meant where it names none. `side_conditions` are checked in
    addition to the claims of models that rename (`Model.concretise`). `expected` names the claims
    that break in named circumstances and versions. `origin`, a function and its arguments, makes
    this very family in another process; it `is_read_at_run_time` if its rules are not in a module
    that could be imported there. `condition(text, model)` reads a user's condition about the states
    of a model, and raises `BadCondition`.
    """

    name: str
    model: str
    versions: Mapping[str, Any]
    environments: Mapping[str, Any]
    from_options: Callable[[dict[str, object]], Any]
    invariants: Sequence[Invariant]
    properties: Sequence[ActionProperty]
    reachable: Sequence[Reachable]
    build: Callable[[str, Any], Model]
    words: Words
    symmetries: Mapping[str, Symmetry]
    symmetry: str = ""
    behaviours: Sequence[Behaviour] = ()
    side_conditions: Sequence[Invariant] = ()
    expected: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    origin: tuple[Callable[..., Family], tuple[Any, ...]]
    is_read_at_run_time: bool = False
    condition: Callable[[str, Model], Condition]

    @property
    def claims(self) -> tuple[Claim | Reachable, ...]:
        """Everything that is claimed of it."""
        return (*self.invariants, *self.properties, *self.behaviours, *self.reachable)

    def model_with_claims(self, version: str, circumstances: Any) -> Claimed:
        """A model and the claims about it. Raises `BadEnvironment`."""
        model = self.build(version, circumstances)
        conditions = self.side_conditions if model.concretise is not None else ()
        return Claimed(
            model=model,
            invariants=(*self.invariants, *conditions),
            properties=tuple(self.properties),
            reachable=tuple(self.reachable),
            behaviours=tuple(self.behaviours),
        )

    @property
    def usual(self) -> Any:
        """The circumstances where none are named."""
        return next(iter(self.environments.values()))

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its circumstances' options."""
        return tuple(self.usual.options())

    def problem(
        self,
        version: str,
        circumstances: Circumstances | Mapping[str, object],
        names: Iterable[str] = (),
        *,
        symmetry: str = NO_SYMMETRY,
    ) -> Problem:
        """Return the problem of checking `version` in circumstances, or with options, as `make`.

        Without names it has all claims but those that must be requested.
        """
        given = circumstances if isinstance(circumstances, Mapping) else circumstances.options()
        claims = frozenset(names) or None
        return self.make(ProblemSpec.of(self.model, version, given, claims, symmetry=symmetry))

    def symmetry_asked(self, asked: str) -> str:
        """The symmetry that `--symmetry` names; the one that there is where it names none.

        Raises `BadEnvironment` where there are none or several.
        """
        if asked:
            return asked
        known = [name for name in self.symmetries if name != Symmetry.NONE.value]
        if not known or (len(known) > 1 and not self.symmetry):
            text = ", ".join(known) or "none"
            raise BadEnvironment(f"--symmetry does not say which; {self.name} has {text}")
        return self.symmetry or known[0]

    def make(self, spec: ProblemSpec) -> Problem:
        """The problem that a specification names: of a trace, a manifest, a cell of a matrix.

        Raises `BadEnvironment` for an unknown version, option, claim or symmetry, and for a
        symmetry that the circumstances do not have.
        """
        if spec.symmetry not in self.symmetries:
            raise BadEnvironment(
                f"symmetry is {spec.symmetry!r}; {self.name} has {', '.join(self.symmetries)}"
            )
        if spec.where is not None and spec.symmetry != NO_SYMMETRY:
            raise BadEnvironment(
                "--where may tell names apart; leave out --symmetry, which takes them for alike"
            )
        claimed = self.model_with_claims(spec.version, self.from_options(dict(spec.options)))
        problem = Problem(
            claimed.model,
            claimed.invariants,
            claimed.reachable,
            properties=claimed.properties,
            behaviours=claimed.behaviours,
            family=self,
        )
        known = [claim.name for claim in problem.claims]
        if spec.where is not None or not set(known).issuperset(spec.claims or ()):
            problem = with_asked(problem, spec)
            known = [claim.name for claim in problem.claims]
        for name in sorted(spec.claims or ()):
            if name not in known:
                raise BadEnvironment(f"invariant is {name!r}{did_you_mean(name, known)}")
        try:
            return replace(problem, asked=spec.claims, symmetry=self.symmetries[spec.symmetry])
        except CannotRename as refused:
            raise BadEnvironment(str(refused)) from None

    def environment_name(self, options: Mapping[str, object]) -> str | None:
        """Return the name of the circumstances with these options, if they have one."""
        for name, circumstances in self.environments.items():
            if circumstances.options() == dict(options):
                return name
        return None


def words_of(problem: Problem) -> Words:
    """How reports speak of a problem."""
    return problem.family.words if problem.family is not None else Words()


def describe_circumstances(problem: Problem) -> str:
    """Return `replicas 2, records 2, acks all`: options that are on, or off against their default.

    Options without a known default, such as the bounds of a user model, are always included.
    """
    words = words_of(problem)
    options, unsaid = words.circumstances(problem.model.options), words.unsaid
    usual = problem.family.usual.options() if problem.family else options
    return ", ".join(
        f"{name} {describe_option(value)}"
        for name, value in options.items()
        if name not in unsaid and (_is_on(value) or _is_on(usual.get(name, True)))
    )


def _is_on(value: object) -> bool:
    """True if an option is other than off, 0 or nothing."""
    return bool(value) and value != "off"


FindFamily = Callable[[str], Family]
"""The family of models of a name, as traces and manifests have it. Raises `BadEnvironment`."""
