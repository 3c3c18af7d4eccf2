"""A trace in a file, made a counterexample again: its model built, replayed and confirmed."""

from __future__ import annotations

from pathlib import Path

from checker.console.own_options import finder
from checker.finding import Finding, confirmed
from checker.problems.problem import Problem
from counterexamples import BadFile, BadTrace, Trace, from_json, read_named
from counterexamples.formats import from_itf, is_itf
from counterexamples.trace_file import BYTES_MAX
from model.kit.errors import BadEnvironment


def recorded(path: Path, own_model: str | None) -> tuple[Problem, Finding]:
    """What the trace in a file is about, and the trace confirmed.

    The file is ours, or ITF of ours. Raises `BadTrace`, and whatever `confirmed` raises.
    """
    trace = _trace_in(path)
    try:
        family = finder(own_model)(trace.model)
        problem = family.problem_of(trace.version, trace.environment, [trace.invariant])
    except BadEnvironment as refused:
        raise BadTrace(f"{path}: {refused}") from None
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    return problem, confirmed(trace, problem.model, claim)


def _trace_in(path: Path) -> Trace:
    try:
        text = read_named(path, bytes_max=BYTES_MAX).decode("utf-8")
        return from_itf(text) if is_itf(text) else from_json(text)
    except BadFile as problem:
        raise BadTrace(str(problem)) from None
    except UnicodeDecodeError:
        raise BadTrace(f"{path}: not a trace: not UTF-8 text") from None
    except BadTrace as problem:
        raise BadTrace(f"{path}: {problem}") from None
