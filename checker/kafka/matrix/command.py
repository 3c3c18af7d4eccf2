"""`waterline check` command line that reproduces a cell."""

from __future__ import annotations

from waterline.checker.kafka.matrix.outcome import Outcome
from waterline.checker.kafka.words import protocol_options
from waterline.checker.problem.wording import as_option
from waterline.model.message.environment import DOCUMENTED

_IN_RESPONSE = "hw-in-response"


def describe_command(outcome: Outcome, release: str | None = None) -> str:
    """`waterline check --protocol kip903 --without shrink-raises-epoch --replicas 3 ...`

    With `release`, which follows the version of the cell, `waterline check --kafka 4.2:kraft ...`.
    """
    version = protocol_options(outcome.cell.version) if release is None else [f"--kafka {release}"]
    words = ["waterline check --engine local", *version]
    usual = DOCUMENTED.options()
    for name, value in outcome.cell.environment.options().items():
        # A release has a value of its own for this one.
        if value != usual[name] or (name == _IN_RESPONSE and release is not None):
            words.append(as_option(name, value))
    if outcome.worst is not None:
        words.append(f"--invariant {outcome.worst.name} --stop-at-first")
    return " ".join(words)
