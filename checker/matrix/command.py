"""The command that shows the steps of a cell: `waterline check` with its version and options."""

from __future__ import annotations

from checker.kafka.again import protocol_options
from checker.matrix.outcome import Outcome
from checker.problems.wording import as_option
from model.message.environment import DOCUMENTED


def told_command(outcome: Outcome) -> str:
    """`waterline check --protocol kip903 --without shrink-raises-epoch --replicas 3 ...`"""
    words = ["waterline check --engine local", *protocol_options(outcome.cell.version)]
    usual = DOCUMENTED.options()
    for name, value in outcome.cell.environment.options().items():
        if value != usual[name]:
            words.append(as_option(name, value))
    if outcome.worst is not None:
        words.append(f"--invariant {outcome.worst.name} --stop-at-first")
    return " ".join(words)
