"""The command that shows the steps of a cell: `waterline check` with its version and options."""

from __future__ import annotations

from checker.matrix.outcome import Outcome
from model.message.environment import DOCUMENTED
from model.message.versions import switches_of


def told_command(outcome: Outcome) -> str:
    """`waterline check --protocol kip903 --without shrink-raises-epoch --replicas 3 ...`"""
    base, added, removed = switches_of(outcome.cell.version)
    words = ["waterline check --engine local --protocol", base]
    words += [f"--without {name}" for name in removed]
    words += [f"--with {name}" for name in added]
    usual = DOCUMENTED.options()
    for name, value in outcome.cell.environment.options().items():
        if value != usual[name]:
            words.append(_option(name, value))
    if outcome.worst is not None:
        words.append(f"--invariant {outcome.worst.name} --stop-at-first")
    return " ".join(words)


def _option(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name} {value}"
