"""Interface of a family to reports: its vocabulary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from waterline.checker.problem.wording import as_option, describe_option
from waterline.model.core.transition_system import Model


def as_given(options: Mapping[str, object]) -> Mapping[str, object]:
    """The options as they are."""
    return options


def no_words(model: Model) -> str:
    """Add nothing."""
    return ""


def sizes_by_name(model: Model) -> str:
    """`rms 3, fenced on`: the options as they are."""
    text = (f"{name} {describe_option(value)}" for name, value in model.options.items())
    return ", ".join(text) or model.name


def by_protocol(model: str, version: str) -> list[str]:
    """`--protocol hw`: the options that name a version."""
    return [f"--protocol {version}"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The words and columns of a family.

    `title(model)` follows the version at the head of a report. `sizes(model)` are the bounds in the
    last sentence, `scope(model)` the scope of a verdict where that is more than sizes and budgets,
    `circumstances(options)` the options with their values as a report lists them, `letters(model)`
    the sizes in a trace's file name, after `prefix`. `lanes` are columns that run next to a
    counterexample's steps. `raisable` are options whose bounds a report may advise to raise, the
    first ones first, with the greatest value of each. `named` are the options of a command that
    name a version, `option` is one with its value. `unsaid` options rebuild the model and mean
    nothing to a reader. `outside` names the actions that are done to the protocol, such as crashes;
    every other one it takes by itself. It is empty if that is unknown. Actions in one set of
    `alike` stand for the same where versions are compared.
    """

    title: Callable[[Model], str] = no_words
    sizes: Callable[[Model], str] = sizes_by_name
    scope: Callable[[Model], str] = no_words
    circumstances: Callable[[Mapping[str, object]], Mapping[str, object]] = as_given
    letters: Callable[[Model], str] = no_words
    prefix: str = ""
    lanes: tuple[str, ...] = ()
    raisable: Mapping[str, int] = field(default_factory=dict)
    named: Callable[[str, str], list[str]] = by_protocol
    option: Callable[[str, object], str] = as_option
    unsaid: frozenset[str] = frozenset()
    outside: frozenset[str] = frozenset()
    alike: tuple[frozenset[str], ...] = ()

    def describe_scope(self, model: Model) -> str:
        """Return the scope of a verdict: `within 2 replicas, 1 record and the budgets above`."""
        return self.scope(model) or f"within {self.sizes(model)} and the budgets above"
