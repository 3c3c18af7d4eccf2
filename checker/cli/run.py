"""`waterline run`: a model stepped through by hand, or by a script."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, InputFile, OutputFile
from waterline.checker.cli.shared.options import (
    environment_options,
    fill,
    protocol_option,
    where_option,
)
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.cli.shared.screen import Screen, say, screen
from waterline.checker.problem.family import describe_circumstances, words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import describe_version, quantity
from waterline.checker.user_models.interactive import messages
from waterline.checker.user_models.interactive.script import (
    Header,
    Played,
    Script,
    play,
    read_script,
)
from waterline.checker.user_models.interactive.session import Session
from waterline.checker.user_models.interactive.walk import Walk
from waterline.counterexamples import write_trace
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD
from waterline.model.core.nearest import nearest

PROMPT = "> "
_INDENT = (0, 0, 0, 4)
LINE_MAX = 10_000
_MULTIPLE = {"with", "without", "invariant", "set"}
"""Options whose header may have several values, separated by commas."""
_NOT_HERE = {"model": "give it on the command line, as --model FILE, because it is code"}
_TRUTHS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
_OWN = {"script", "save", "help"}
"""Options of `run` that do not change the circumstances."""
INITIAL = "initial"
"""The header with the number of the initial state, counted from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The problem, and the file for the steps."""

    problem: ProblemOptions
    save: Path | None


@click.command("run", epilog=FILES_HELP)
@click.option(
    "--script",
    type=InputFile(),
    help="Take the steps of this file, and check its expectations (docs/counterexamples.md).",
)
@protocol_option
@environment_options
@click.option(
    "--invariant", "names", multiple=True, metavar="NAME", help="Only this claim; repeatable."
)
@where_option("Say after each step whether this is true; as s.leo[0] > 1.")
@click.option("--save", type=OutputFile(), help="In the end write the steps there, as a trace.")
def run_command(**parameters: Any) -> int:
    """Step through a model by hand: it lists what can happen, you choose; ? helps, q quits.

    From a pipe it reads the same lines. A script ends with 3 where something else came out than it
    expects, with 2 where it asks for what cannot be.
    """
    file = parameters["script"]
    script = read_script(file) if file is not None else None
    if script is not None:
        parameters = with_headers(script, click.get_current_context())
    return by_hand(fill(RunOptions, parameters), script)


def by_hand(options: RunOptions, script: Script | None) -> int:
    """Step through what the options ask for; returns the exit code."""
    problem = problem_from(replace(options.problem, where=None))
    walk = Walk(problem)
    walk.watch(options.problem.where)
    screen().print(_headline(problem))
    if script is None:
        _converse(Session(walk))
        code = exit_codes.HOLDS
    else:
        walk.begin(initial_of(script, len(walk.model.initial)))
        code = _play(script, walk)
    if options.save is not None:
        _save(walk, options.save)
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


def with_headers(script: Script, context: click.Context) -> dict[str, Any]:
    """Return the parameters with those of the headers that the command line does not give.

    Raises `BadScript`.
    """
    parameters = dict(context.params)
    for header in script.headers:
        if header.name == INITIAL:
            continue
        parameter = _parameter(script, header, context.command)
        assert parameter.name is not None
        if context.get_parameter_source(parameter.name) == ParameterSource.COMMANDLINE:
            continue
        try:
            made = context.command.make_context("run", _arguments(script, header, parameter))
        except click.ClickException as problem:
            raise script.refuse(header.number, problem.format_message()) from None
        value = made.params[parameter.name]
        if parameter.multiple:
            value = (*(parameters[parameter.name] or ()), *value)
        parameters[parameter.name] = value
    return parameters


def initial_of(script: Script, states: int) -> int:
    """Return the number of the script's initial state, one of so many. Raises `BadScript`."""
    for header in script.headers:
        if header.name == INITIAL:
            if not header.value.isdecimal() or not int(header.value[:6]) < states:
                raise script.refuse(header.number, f"initial is one of 0 to {states - 1}")
            return int(header.value)
    return 0


def _parameter(script: Script, header: Header, command: click.Command) -> click.Option:
    if header.name in _NOT_HERE:
        raise script.refuse(header.number, f"{header.name}: {_NOT_HERE[header.name]}")
    known = {
        name.removeprefix("--"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
        if name.startswith("--") and name.removeprefix("--") not in {*_OWN, *_NOT_HERE}
    }
    if header.name not in known:
        near = nearest(header.name, known)
        text = f"did you mean {near}?" if near else f"there are {', '.join(sorted(known))}"
        raise script.refuse(header.number, f"no option is called {header.name}; {text}")
    return known[header.name]


def _arguments(script: Script, header: Header, parameter: click.Option) -> list[str]:
    option = f"--{header.name}"
    if parameter.is_flag:
        if header.value not in _TRUTHS:
            raise script.refuse(
                header.number, f"{header.name} is {header.value!r}; write on or off"
            )
        return [option if _TRUTHS[header.value] else f"--no-{header.name}"]
    if not header.value:
        raise script.refuse(header.number, f"{header.name} has no value")
    several = header.value.split(",") if header.name in _MULTIPLE else [header.value]
    return [word for value in several for word in (option, value.strip())]
