"""Execution of `run`: an interactive session, or a script."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.problem_options import problem_from, take_given
from waterline.checker.cli.shared.screen import Screen, say, screen
from waterline.checker.cli.walks.script_options import initial_of, with_headers
from waterline.checker.problem.family import describe_circumstances, words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import describe_version, quantity
from waterline.checker.user_models.interactive import messages
from waterline.checker.user_models.interactive.script import Played, Script, play, read_script
from waterline.checker.user_models.interactive.session import Session
from waterline.checker.user_models.interactive.walk import Walk
from waterline.counterexamples import write_trace
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD

PROMPT = "> "
_INDENT = (0, 0, 0, 4)
LINE_MAX = 10_000


def by_hand(options: dict[str, Any], context: click.Context) -> int:
    """Step through what the options ask for; returns the exit code."""
    script = read_script(options["script"]) if options["script"] is not None else None
    if script is not None:
        with_headers(script, options, context)
    where, save = options.pop("where"), options.pop("save")
    problem = problem_from(take_given(options))
    walk = Walk(problem)
    walk.watch(where)
    screen().print(_headline(problem))
    if script is None:
        _converse(Session(walk))
        code = exit_codes.HOLDS
    else:
        walk.begin(initial_of(script, len(walk.model.initial)))
        code = _play(script, walk)
    if save is not None:
        _save(walk, save)
    return code


def _headline(problem: Problem) -> RenderableType:
    """The version, and every circumstance that is not as usual or not off."""
    model, facts = problem.model, describe_circumstances(problem)
    version = Text.assemble(
        (describe_version(model.version), "bold"), words_of(problem).title(model)
    )
    return Trimmed(Text.assemble(version, "\n", (facts, "dim"), "\n"))


def _save(walk: Walk, path: Path) -> None:
    claim = walk.savable()[0]
    write_trace(path, walk.record(claim))
    say(f"wrote {path}: {quantity(len(walk.moments), 'step')}, against {claim}")


# --- line by line --------------------------------------------------------------------------------


def _converse(session: Session) -> None:
    out = screen()
    out.print(session.opening())
    if sys.stdin is None:  # the parent process closed it
        return
    is_typed = sys.stdin.isatty()
    while (line := _line(out, is_typed=is_typed)) is not None:
        answer = session.answer(line)
        if answer.ended:
            return
        out.print(answer.shown)


def _line(out: Screen, *, is_typed: bool) -> str | None:
    """The next line, None at the end. From a pipe it is shown, as if it had been typed."""
    if is_typed:
        with suppress(ImportError):
            # What a terminal's user types can be edited, and found again with the arrows.
            import readline  # noqa: F401, PLC0415
        return _read_line(out)
    given = sys.stdin.buffer.readline(LINE_MAX)
    if not given:
        return None
    line = given.decode("utf-8", errors="backslashreplace").rstrip("\r\n")
    out.print(Text(f"{PROMPT}{line}"), soft_wrap=True)
    return line


def _read_line(out: Screen) -> str | None:
    """The next line that is typed: Ctrl-C takes it back, Ctrl-D is the end."""
    while True:
        try:
            # Not the screen's: who edits a line needs to know where it begins.
            return input(PROMPT)
        except EOFError:
            out.print()
            return None
        except KeyboardInterrupt:
            out.print()


# --- a script ------------------------------------------------------------------------------------


def _play(script: Script, walk: Walk) -> int:
    """Show the steps and what was expected; returns the exit code."""
    out, expected, failed = screen(), 0, list[Played]()
    if script.title:
        out.print(Text(script.title, "italic"))
    for one in play(script, walk):
        _report(out, walk, one)
        expected += one.moment is None
        failed += [one] if one.is_failure else []
    out.print(Group(Text(), messages.render_here(walk)))
    steps = quantity(len(walk.moments), "step")
    if not failed:
        so = f"; all {quantity(expected, 'expectation')} met" if expected > 1 else ""
        out.print(Text(f"\n{steps}{so}." if expected != 1 else f"\n{steps}; 1 expectation met."))
        return exit_codes.HOLDS
    for one in failed:
        say(f"{script.file}:{one.line.number}: {one.line.text}: {one.instead}")
    out.print(Text(f"\n{steps}; {len(failed)} of {quantity(expected, 'expectation')} not met."))
    return exit_codes.UNEXPECTED


def _report(out: Screen, walk: Walk, one: Played) -> None:
    if one.moment is None:
        line = Text(one.line.text, "dim")
        if one.instead is not None:
            line = Text.assemble(("NOT SO ", BAD), f"{one.line.text}: {one.instead}")
        out.print(Trimmed(Padding(line, _INDENT)))
        return
    out.print(messages.render_taken(walk, one.moment.number))
    for name, explanation in one.breaks:
        out.print(Trimmed(Padding(messages.render_broken(name, explanation), _INDENT)))
    if walk.where is not None and walk.is_where():
        out.print(Trimmed(Padding(messages.render_where(walk), _INDENT)))
