"""`waterline check` command line that reproduces a cell."""

from __future__ import annotations

from checker.kafka.matrix.outcome import Outcome
from checker.kafka.words import protocol_options
from checker.problem.wording import as_option
from model.message.environment import DOCUMENTED


def describe_command(outcome: Outcome) -> str:
    """`waterline check --protocol kip903 --without shrink-raises-epoch --replicas 3 ...`"""
    words = ["waterline check --engine local", *protocol_options(outcome.cell.version)]
    usual = DOCUMENTED.options()
    for name, value in outcome.cell.environment.options().items():
        if value != usual[name]:
            words.append(as_option(name, value))
    if outcome.worst is not None:
        words.append(f"--invariant {outcome.worst.name} --stop-at-first")
    return " ".join(words)
