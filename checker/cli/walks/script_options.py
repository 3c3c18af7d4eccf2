"""The headers of a script as options: each is read as `run` would read it on the command line."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from waterline.checker.user_models.interactive.script import Header, Script
from waterline.model.core.nearest import nearest

_MULTIPLE = {"with", "without", "invariant", "set"}
"""Options whose header may have several values, separated by commas."""
_NOT_HERE = {"model": "give it on the command line, as --model FILE, because it is code"}
_TRUTHS = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
_OWN = {"script", "save", "help"}
"""Options of `run` that do not change the circumstances."""
INITIAL = "initial"
"""The header with the number of the initial state, counted from 0."""


def with_headers(script: Script, options: dict[str, Any], context: click.Context) -> None:
    """Add what the headers say, where the command line says nothing. Raises `BadScript`."""
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
            value = (*(options[parameter.name] or ()), *value)
        options[parameter.name] = value


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
