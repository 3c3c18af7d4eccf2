"""Recovery and liveness claims of user models.

Each is made of functions of a state. Where these take names as well, there is a claim for each of
them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.model.core.claim import Behaviour, Pattern, Recoverable, Temporal
from waterline.model.own.declared import Protocol
from waterline.model.own.fields import Names
from waterline.model.own.rules import Predicate, Rules

_Bound = Mapping[str, int]
"""The names, by number, that a claim is about."""


def behaviours_of(
    rules: Rules, protocol: Protocol, sorts: Mapping[str, Names]
) -> tuple[Behaviour, ...]:
    """Return the protocol's claims about behaviours, in its order. Raises `BadProtocol`."""
    kinds = (
        (Pattern.EVENTUALLY, "eventually", "In the end:", protocol.eventually),
        (
            Pattern.ALWAYS_EVENTUALLY,
            "always_eventually",
            "Again and again:",
            protocol.always_eventually,
        ),
    )
    found: list[Behaviour] = []
    for function in protocol.recoverable:
        good = rules.predicate(function)
        for bound, one in _each(rules, sorts, good):
            found.append(
                Recoverable(
                    name=one.name_of(f"recoverable_{good.name}"),
                    sentence=f"There is always a way to this: {one.describe(good)}",
                    good=rules.bound(good, bound),
                    explain=one.explains(f"{good.name} is False"),
                    default=True,
                )
            )
    for pattern, word, text, functions in kinds:
        for function in functions:
            then = rules.predicate(function)
            for bound, one in _each(rules, sorts, then):
                found.append(
                    Temporal(
                        name=one.name_of(f"{word}_{then.name}"),
                        sentence=f"{text} {one.describe(then)}",
                        pattern=pattern,
                        then=rules.bound(then, bound),
                        explain=one.explains(f"{then.name} stays False"),
                        default=True,
                    )
                )
    for first, second in protocol.leads_to:
        when, then = rules.predicate(first), rules.predicate(second)
        for bound, one in _each(rules, sorts, when, then):
            found.append(
                Temporal(
                    name=one.name_of(f"{when.name}_leads_to_{then.name}"),
                    sentence=f"{one.describe(when)} In the end then: {one.describe(then)}",
                    pattern=Pattern.LEADS_TO,
                    when=rules.bound(when, bound),
                    then=rules.bound(then, bound),
                    explain=one.explains(f"{then.name} stays False"),
                    default=True,
                )
            )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _One:
    """A claim about some names, as words: of each argument the name, as `node1`."""

    names: tuple[tuple[str, str], ...]

    def name_of(self, claim: str) -> str:
        """`waits_leads_to_enters.node1`"""
        return ".".join((claim, *(name for _, name in self.names)))

    def describe(self, predicate: Predicate) -> str:
        """Return the predicate's sentence with the names filled in."""
        text = predicate.sentence
        for argument, name in self.names:
            text = text.replace(f"{{{argument}}}", name)
        return text

    def explains(self, what: str) -> Callable[[Any, Any], str]:
        """Says it of a state."""
        whom = ", ".join(name for _, name in self.names)
        text = f"{what} for {whom}." if whom else f"{what}."
        return lambda state, settings: text


def _each(
    rules: Rules, sorts: Mapping[str, Names], *predicates: Predicate
) -> Iterator[tuple[_Bound, _One]]:
    """Every combination of names that the predicates take."""
    arguments: Sequence[str] = list(
        dict.fromkeys(name for each in predicates for name in each.arguments)
    )
    for each in predicates:
        for name in each.arguments:
            if name not in sorts:
                raise rules.refuse(
                    each.tree,
                    f"{each.name} has an argument {name!r}, which is the name of no sort "
                    f"({', '.join(sorts) or 'none'})",
                    "let it take a state, and names of sorts",
                )
    for values in itertools.product(*(range(sorts[name].count) for name in arguments)):
        text = ((n, sorts[n].describe(v)) for n, v in zip(arguments, values, strict=True))
        yield dict(zip(arguments, values, strict=True)), _One(tuple(text))
