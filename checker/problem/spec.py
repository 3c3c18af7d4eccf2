"""Specification of a problem: a frozen value that names it, and rebuilds it.

Pickled problems, run directories, gates, the matrix and repairs use it. It has no rules; those are
in the digest of `checker.compiler.problem_digest`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from waterline.checker.problem.wording import as_option

if TYPE_CHECKING:
    from waterline.checker.problem.words import Words

WHERE = "where"
"""The option that holds a condition of the user's (`checker.problem.where`)."""
NO_SYMMETRY = "none"


Built_co = TypeVar("Built_co", covariant=True)


class Maker(Protocol[Built_co]):
    """Builder of problems of one model: a family."""

    def make(self, spec: ProblemSpec) -> Built_co:
        """The problem. Raises `BadEnvironment`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSpec:
    """A model by its name, version and options; the claims to check; symmetry; a condition.

    `options` have every bound and setting by its name on the command line, in the order of their
    declarations; the order does not count for equality. `claims` are the names of those checked,
    None for all that are checked by default. `where` is a condition that the problem claims to be
    unreachable.
    """

    model: str
    version: str
    options: tuple[tuple[str, object], ...] = field(compare=False)
    claims: frozenset[str] | None = None
    symmetry: str = NO_SYMMETRY
    where: str | None = None
    _alike: frozenset[tuple[str, object]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_alike", frozenset(self.options))

    @classmethod
    def of(
        cls,
        model: str,
        version: str,
        options: Mapping[str, object],
        claims: frozenset[str] | None = None,
        *,
        symmetry: str = NO_SYMMETRY,
    ) -> ProblemSpec:
        """Build a spec from plain values; `where` is one of the options.

        A user model may have a bound called `where`, whose value is not a text.
        """
        text = options.get(WHERE)
        where = text if isinstance(text, str) else None
        left = tuple((n, v) for n, v in options.items() if n != WHERE or where is None)
        return cls(
            model=model,
            version=version,
            options=left,
            claims=claims,
            symmetry=symmetry,
            where=where,
        )

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> ProblemSpec:
        """Invert `to_json`. Raises `KeyError`, `TypeError` or `ValueError` for anything else."""
        claims = value["invariants"]
        if claims is not None and not (
            isinstance(claims, list) and all(isinstance(name, str) for name in claims)
        ):
            raise ValueError(f"invariants are {claims!r}; they are a list of names")
        return cls.of(
            value["model"],
            value["protocol"],
            dict(value["bounds"]),
            None if claims is None else frozenset(claims),
            symmetry=value["symmetry"],
        )

    @property
    def every_option(self) -> dict[str, object]:
        """The options, the condition among them."""
        return dict(self.options) | ({} if self.where is None else {WHERE: self.where})

    @property
    def space(self) -> ProblemSpec:
        """The specification without claims; problems with an equal one share a state space."""
        return replace(self, claims=None)

    def build(self, find: Callable[[str], Maker[Built_co]]) -> Built_co:
        """The problem, its family found by the name of the model. Raises `BadEnvironment`."""
        return find(self.model).make(self)

    def to_json(self) -> dict[str, Any]:
        """Return the value for manifests: `protocol` is the version, `bounds` are the options."""
        return {
            "model": self.model,
            "protocol": self.version,
            "bounds": self.every_option,
            "invariants": None if self.claims is None else sorted(self.claims),
            "symmetry": self.symmetry,
        }

    def to_command(
        self, words: Words, usual: Mapping[str, object], *, engine: str = "", own_model: str = ""
    ) -> str:
        """`waterline check --protocol hw --replicas 3`; `waterline check --model FILE`.

        Options with their `usual` values are left out; claims are never named. `own_model` is what
        --model takes, where it is known better than by the model's name; `engine` is named where it
        matters.
        """
        said = ["waterline check", *([f"--engine {engine}"] if engine else [])]
        said += [f"--model {own_model}"] if own_model else words.named(self.model, self.version)
        said += [
            words.option(name, value)
            for name, value in self.options
            if name not in words.unsaid and (name not in usual or value != usual[name])
        ]
        if self.where is not None:
            said.append(as_option(WHERE, self.where))
        if self.symmetry != NO_SYMMETRY:
            said.append(f"--symmetry {self.symmetry}")
        return " ".join(said)

    def digest(self) -> str:
        """A name for it: the same in every process, whatever the order of the options is."""
        text = json.dumps(self.to_json(), sort_keys=True)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32]
