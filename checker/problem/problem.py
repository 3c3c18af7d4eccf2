"""A problem: a model, the claims about it, and the cover properties."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.problem.symmetry import Symmetry, require_symmetric
from waterline.model.core.claim import (
    ActionProperty,
    Behaviour,
    Claim,
    Invariant,
    Judged,
    Reachable,
)
from waterline.model.core.layout import Layout
from waterline.model.core.renaming import CannotRename
from waterline.model.core.transition_system import Model

if TYPE_CHECKING:
    from waterline.checker.problem.family import Family


@dataclass(frozen=True, slots=True)
class Shared:
    """Common parts of the problems of one job, so that one kernel serves all of them.

    `settings` are the names of those that differ, `actions` and `claims` the names of all that any
    of them has. A kernel for one problem alone is faster: all of this is decided in it.
    """

    settings: frozenset[str]
    actions: frozenset[str]
    claims: frozenset[str]


@dataclass(frozen=True, slots=True)
class Problem:
    """A model and the claims about it: `invariants` of its states, `properties` of its transitions,
    `behaviours` of what its states lead to.

    `asked` names those that are checked, None for all but those that must be requested. Claims that
    do not apply to the version are never checked. `shared` holds the common parts of the problems
    of the same job; None for a single problem. Of states that differ by `symmetry` alone one is
    explored. `family` is what made it, None for a model without one. Raises `CannotRename` if a
    symmetry would not be exact.
    """

    model: Model
    invariants: tuple[Invariant, ...]
    reachable: tuple[Reachable, ...] = ()
    properties: tuple[ActionProperty, ...] = field(default=(), kw_only=True)
    behaviours: tuple[Behaviour, ...] = field(default=(), kw_only=True)
    asked: frozenset[str] | None = None
    symmetry: Symmetry = Symmetry.NONE
    shared: Shared | None = None
    family: Family | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __post_init__(self) -> None:
        require_symmetric(self.model, self.symmetry)
        if self.symmetry.sorts and self.applicable_behaviours:
            # Which instance of a step is fair is told by names, and a way through representatives
            # may come back under others.
            raise CannotRename(
                f"{self.applicable_behaviours[0].name} is about behaviours, which are not judged "
                "up to the names of anything; leave out --symmetry"
            )

    @property
    def spec(self) -> ProblemSpec:
        """Specification: its family builds the problem again from it."""
        model = self.model
        claims = frozenset(self.asked_names)
        return ProblemSpec.of(
            model.name, model.version, model.options, claims, symmetry=self.symmetry.value
        )

    def to_command(self, *, engine: str = "", own_model: str = "") -> str:
        """The command that repeats the check; see `ProblemSpec.to_command`."""
        if self.family is None:
            return "waterline check"
        usual = self.family.usual.options()
        return self.spec.to_command(self.family.words, usual, engine=engine, own_model=own_model)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Return the family's origin and the specification, or all parts, for another process.

        A problem goes by its parts if another process can import its functions: rules that were
        switched for others stay so.
        """
        family = self.family
        if family is not None and (family.is_read_at_run_time or self.spec.where is not None):
            return _build, (family.origin, self.spec, self.shared)
        made = partial(
            Problem,
            properties=self.properties,
            behaviours=self.behaviours,
            asked=self.asked,
            symmetry=self.symmetry,
            shared=self.shared,
        )
        return made, (self.model, self.invariants, self.reachable)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All that can have a verdict, in the order of the report."""
        return (*self.judged, *self.behaviours)

    @property
    def judged(self) -> tuple[Judged, ...]:
        """Claims that a search judges as it goes: of single states, and of single steps."""
        return (*self.invariants, *self.properties)

    def is_asked(self, claim: Claim) -> bool:
        """True if a verdict is wanted: a side condition's always, for others rest on it."""
        if claim.about_abstraction and claim.applies(self.model.settings):
            return True
        return claim.default if self.asked is None else claim.name in self.asked

    @property
    def asked_names(self) -> tuple[str, ...]:
        """The names of the claims that get a verdict, in the order of the report."""
        return tuple(claim.name for claim in self.claims if self.is_asked(claim))

    def is_checked(self, claim: Claim) -> bool:
        """True if a verdict is wanted, and the version has what the claim is about."""
        return self.is_asked(claim) and claim.applies(self.model.settings)

    @property
    def checked(self) -> tuple[str, ...]:
        """The names of the claims that are checked, in the order of the report."""
        return tuple(claim.name for claim in self.claims if self.is_checked(claim))

    def asking_too(self, names: Iterable[str]) -> Problem:
        """Return the same problem, with the claims of these names checked as well.

        Raises `CannotRename` for one about behaviours if the model refuses those.
        """
        asked = frozenset((*self.asked_names, *names))
        refused = self.model.behaviours_refused
        if refused and any(claim.name in asked for claim in self.behaviours):
            raise CannotRename(refused)
        return replace(self, asked=asked)

    @property
    def applicable(self) -> tuple[Invariant, ...]:
        """The invariants that are checked, in order."""
        return tuple(claim for claim in self.invariants if self.is_checked(claim))

    @property
    def applicable_properties(self) -> tuple[ActionProperty, ...]:
        """The properties that are checked, in order."""
        return tuple(claim for claim in self.properties if self.is_checked(claim))

    @property
    def applicable_behaviours(self) -> tuple[Behaviour, ...]:
        """The claims about behaviours that are checked, in order."""
        return tuple(claim for claim in self.behaviours if self.is_checked(claim))


def _build(
    origin: tuple[Callable[..., Family], tuple[Any, ...]], spec: ProblemSpec, shared: Shared | None
) -> Problem:
    find, arguments = origin
    return replace(find(*arguments).make(spec), shared=shared)


def asked_alone(problem: Problem) -> Claim:
    """Return the one claim requested, of any kind, ignoring side conditions."""
    asked = [claim for claim in problem.claims if claim.name in (problem.asked or ())]
    [claim] = [claim for claim in asked if not claim.about_abstraction] or asked
    return claim


def sharing(problems: Sequence[Problem]) -> Shared:
    """Return the common parts of these problems, of one model and one shape."""
    settings = [problem.model.settings for problem in problems]
    varying = [
        name
        for name, *values in zip(settings[0]._fields, *settings, strict=True)
        if len(set(values)) > 1
    ]
    return Shared(
        settings=frozenset(varying),
        actions=frozenset(name for problem in problems for name in problem.model.contents),
        claims=frozenset(name for problem in problems for name in problem.checked),
    )


def sharing_by_shape(problems: Iterable[Problem]) -> dict[Layout, Shared]:
    """For each shape of state what the problems of that shape have between them."""
    alike: dict[Layout, list[Problem]] = defaultdict(list)
    for problem in problems:
        alike[problem.model.layout].append(problem)
    return {layout: sharing(together) for layout, together in alike.items()}
