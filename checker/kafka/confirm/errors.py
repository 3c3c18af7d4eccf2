"""Reasons why a replay on real brokers cannot run."""

from __future__ import annotations

from waterline.checker.problem.distribution import install_command
from waterline.checker.problem.errors import Refused

INSTALL = f"{install_command('kafka')}, or run make confirm"
"""Remedy for missing optional dependencies."""


class CannotConfirm(Refused):
    """The replay cannot be carried out; the message names the thing, its value and the remedy."""


class NotInstalled(CannotConfirm):
    """A library of the optional group `kafka` is missing."""

    def __init__(self, name: str | None) -> None:
        super().__init__(f"confirm needs the package {name}, which is not installed: {INSTALL}")


class NoJars(CannotConfirm):
    """The jars of a release cannot be had."""


class BrokerFailed(CannotConfirm):
    """A broker, or its ZooKeeper, did not come up, or ended by itself."""


class NoAnswer(CannotConfirm):
    """A broker gave no answer to a request of the harness, or one that cannot be read."""
