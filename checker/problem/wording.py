"""Formats of numbers, sizes and options."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from waterline.checker.problem.symmetry import Symmetry


def printable(text: str) -> str:
    r"""The text with all that a terminal would obey or not show spelled out, as `\x1b`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def quantity(number: int, thing: str) -> str:
    """`1 state`, `1,234 states`"""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def list_of(names: Sequence[str], most: int = 3) -> str:
    """`orders, payments and clicks`; of many `orders, payments, clicks and 396 more`"""
    shown = list(names[: most + 1] if len(names) == most + 1 else names[:most])
    if more := len(names) - len(shown):
        return f"{', '.join(shown)} and {more} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def describe_symmetry(symmetry: Symmetry) -> str:
    """`, up to the names of replicas`: what a count of states is a count of; nothing if of all."""
    if not symmetry.sorts:
        return ""
    sorts = sorted(sort.value for sort in symmetry.sorts)
    return f", up to the names of {' and '.join(sorts)}"


def describe_option(value: object) -> str:
    """An option's value as the report shows it."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def as_option(name: str, value: object) -> str:
    """`--acks all`, `--consumer`, `--no-consumer`: as a shell takes it for an option of `check`."""
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name} {shlex.quote(str(value))}"


def describe_bytes(number: int) -> str:
    """`8 GB`, `500 MB`, `1 kB`: a size as it is given, in the largest unit that it has."""
    for size, unit in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= size:
            return f"{number / size:g} {unit}"
    return quantity(number, "byte")


def roughly(number: float) -> str:
    """`950`, `12 k`, `1.2 M`, `41 M`: two digits are enough for what changes all the time."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * size:
            scaled = number / size
            return f"{scaled:.1f}{letter}" if scaled < 9.95 else f"{scaled:.0f}{letter}"
    return f"{number:.0f}"


def rough_time(seconds: float) -> str:
    """`4 s`, `12 min`, `3.5 h`, `2.1 days`"""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    if seconds < 48 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} days"


def describe_version(version: str) -> str:
    """`kip320 -fencing` for a version with a feature taken out, `+` for one that was added."""
    return version.replace("-without-", " -").replace("-with-", " +")


def describe_contract(contract: str) -> str:
    """`within the contract of acks=1` for a contract that begins with that setting."""
    return f"within the contract of {contract.partition(':')[0]}"
