"""`waterline run`: the steps of a script, and those that can follow."""

from __future__ import annotations

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
from waterline.checker.user_models.scripts.script import (
    Header,
    Played,
    Script,
    play,
    read_script,
)
from waterline.checker.user_models.scripts.walk import Walk
from waterline.counterexamples import write_trace
from waterline.counterexamples.rendering import CALL, Trimmed
from waterline.counterexamples.state_table import facts, state_table, widths_of
from waterline.counterexamples.style import BAD, QUIET, columns, two_columns
from waterline.model.core.errors import nearest

FAULT_MARK = "!"
_INDENT = (0, 0, 0, 4)
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
    """Take the steps of a script, and list those that can follow; without one, from the beginning.

    It ends with 3 where something else came out than the script expects, with 2 where it asks for
    what cannot be.
    """
    file = parameters["script"]
    script = Script() if file is None else read_script(file)
    parameters = with_headers(script, click.get_current_context())
    return take_steps(fill(RunOptions, parameters), script)


def take_steps(options: RunOptions, script: Script) -> int:
    """Take the steps, and show where they lead; returns the exit code."""
    problem = problem_from(replace(options.problem, where=None))
    walk = Walk(problem)
    walk.watch(options.problem.where)
    screen().print(_headline(problem))
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


def _play(script: Script, walk: Walk) -> int:
    """Show the steps and what was expected; returns the exit code."""
    out, expected, failed = screen(), 0, list[Played]()
    if script.title:
        out.print(Text(script.title, "italic"))
    for one in play(script, walk):
        _report(out, walk, one)
        expected += one.moment is None
        failed += [one] if one.is_failure else []
    if script.lines:
        out.print()
    out.print(Group(_render_here(walk), Text(), _render_offers(walk)))
    if not script.lines:
        return exit_codes.HOLDS
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
    out.print(_render_taken(walk, one.moment.number))
    for name, explanation in one.breaks:
        out.print(Trimmed(Padding(_render_broken(name, explanation), _INDENT)))
    if walk.where is not None and walk.is_where():
        out.print(Trimmed(Padding(_render_where(walk), _INDENT)))


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


def _render_here(walk: Walk) -> RenderableType:
    """The state, with what the last step changed, and what is so of the condition."""
    number = len(walk.moments)
    title = Text(f"After step {number}" if number else "Initial state", "bold")
    if number == 0 and len(walk.model.initial) > 1:
        title.append(f" {walk.initial} of {len(walk.model.initial)}", QUIET)
    before = walk.moments[-1].before if walk.moments else None
    if before is not None:
        title.append("   * changed in this step", QUIET)
    narration = walk.model.narration
    states = (walk.state,) if before is None else (before, walk.state)
    table = state_table(narration, before, walk.state, widths_of(narration, states))
    parts: list[RenderableType] = [title, *([table] if table.rows else [])]
    parts.append(facts(narration, before, walk.state))
    if walk.where is not None:
        parts.append(_render_where(walk))
    return Trimmed(Group(*parts))


def _render_where(walk: Walk) -> Text:
    """True if the condition is true here."""
    assert walk.where is not None
    so = walk.is_where()
    line = Text.assemble("where ", (walk.where.text, "bold"), ": ")
    line.append("true" if so else "not true", BAD if so else "")
    values = walk.where.values(walk.state)
    return line.append(f" ({values})" if values else "", QUIET)


def _render_offers(walk: Walk) -> RenderableType:
    """Every step that can be taken, faults marked, and how many a bound cuts."""
    offers = walk.offers()
    parts: list[RenderableType] = [Text("Enabled" if offers else "Nothing is enabled", "bold")]
    table = columns(gap=1)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for offer in offers:
        mark = Text(FAULT_MARK if offer.is_fault else "", BAD)
        table.add_row(mark, Text(str(offer.step), CALL), Text(offer.sentence))
    parts += [table] if offers else []
    if cut := walk.cut():
        described = ", ".join(f"{name}: {count}" for name, count in cut.items())
        parts.append(Text(f"Cut by a bound: {described}", QUIET))
    return Trimmed(Group(*parts))


def _render_taken(walk: Walk, number: int) -> RenderableType:
    """Render one step that was taken, on a line."""
    moment = walk.moments[number - 1]
    described = moment.sentence(walk.model.narration)
    table = two_columns()
    table.add_row(f"{number}.", Text.assemble((str(moment), CALL), "  ", described))
    return Trimmed(table)


def _render_broken(name: str, explanation: str) -> Text:
    """A claim that breaks, and how."""
    return Text.assemble(("BROKEN ", BAD), (name, "bold"), f": {explanation}")
