"""`check --certificate DIR`: refusals before the run, and the message after it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from waterline.checker.problem.distribution import require
from waterline.checker.problem.wording import quantity
from waterline.checker.search.result import Verdict
from waterline.checker.storage.storage import BadLocation
from waterline.checker.storage.whole_folder import require_new

if TYPE_CHECKING:
    from waterline.checker.problem.problem import Problem
    from waterline.checker.search.engines.engine import Engine
    from waterline.checker.search.result import Result


def certifying(out: str, problem: Problem) -> Callable[[Engine, Result], None]:
    """Return the function that writes the certificate when the run is complete.

    Raises `Missing`, and `UsageError` if it could not be written, or would show nothing.
    """
    require("pyarrow", "arrow", "--certificate")
    if not out or "://" in out:
        raise click.UsageError(f"--certificate: {out!r} is no directory of this machine")
    try:
        require_new(Path(out))
    except BadLocation as found:
        raise click.UsageError(f"--certificate: {found}") from None
    if not any(problem.is_checked(claim) for claim in problem.judged):
        raise click.UsageError(
            "--certificate shows claims about states and steps, and none is asked; ask one"
        )
    return partial(_write, out=Path(out))


def _write(engine: Engine, result: Result, *, out: Path) -> None:
    from waterline.checker.analysis.certificate.writing import write_certificate  # noqa: PLC0415 - pyarrow

    if _holding(result):
        write_certificate(engine, result, out=out)


def describe_certificate(out: str, result: Result) -> str:
    """Return the line about the certificate: where it is, or why there is none."""
    if not result.complete:
        return f"no certificate was written to {out}: the run was stopped by {result.stopped_by}"
    holding = _holding(result)
    if not holding:
        return f"no certificate was written to {out}: no claim about states or steps holds for sure"
    return (
        f"wrote a certificate of {quantity(holding, 'claim')} to {out}; "
        f"judge it with waterline certify {out}"
    )


def _holding(result: Result) -> int:
    """How many claims about states and steps hold."""
    names = {claim.name for claim in result.problem.judged}
    return sum(r.verdict is Verdict.HOLDS and r.name in names for r in result.invariants)
