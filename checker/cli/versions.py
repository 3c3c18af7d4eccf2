"""`waterline versions`: the members of the family, and the rules they are made of."""

from __future__ import annotations

import inspect
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.screen import screen
from waterline.checker.problem.wording import describe_version
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import QUIET, TITLE, two_columns
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Action
from waterline.model.message.contents import ACTIONS, ACTORS, contents
from waterline.model.message.declared import Declared, option_of
from waterline.model.message.environment import DECLARED, DOCUMENTED, Environment
from waterline.model.message.features import FEATURES
from waterline.model.message.release_names import releases_with
from waterline.model.message.releases import UnknownRelease, release_named
from waterline.model.message.settings import settings_of
from waterline.model.message.versions import NAMED, BadVersion, Version, version_of


@click.command("versions")
@click.argument("name", required=False, metavar="[VERSION]")
def versions_command(name: str | None) -> int:
    """List every version of the protocol, and every rule that --with and --without can switch.

    With VERSION, a name as hw or a release as 4.2: all of its rules on one page, by who acts.
    """
    console = screen()
    if name is not None:
        console.print(Trimmed(_page(_version(name))))
        return exit_codes.HOLDS
    versions = Table(box=SIMPLE_HEAD, pad_edge=False)
    versions.add_column("Version", no_wrap=True)
    versions.add_column("What it is")
    for version in NAMED.values():
        versions.add_row(version.name, version.sentence)
    console.print(Trimmed(versions))
    rules = Table(box=SIMPLE_HEAD, pad_edge=False)
    rules.add_column("Rule", no_wrap=True)
    rules.add_column("First in", no_wrap=True)
    rules.add_column("What it says, and where that was decided", overflow="fold")
    for feature in FEATURES:
        having = [v.name for v in NAMED.values() if v.features & feature.bit]
        described = Text.assemble(feature.sentence, "\n", (feature.source, "dim"))
        rules.add_row(feature.name, *having[:1] or ["-"], described)
    console.print(Trimmed(rules))
    return exit_codes.HOLDS


def _version(name: str) -> Version:
    """The version of this name, or that of a release. Raises `BadEnvironment`."""
    try:
        text = release_named(name)[0].version if name[:1].isdigit() else name
        return version_of(text)
    except (BadVersion, UnknownRelease) as problem:
        raise BadEnvironment(str(problem)) from None


def _page(version: Version) -> RenderableType:
    """Render a version: its sentence, its steps by actor, and the rules that differ from `hw`."""
    there = contents(settings_of(DOCUMENTED, version))
    releases = releases_with(version, there)
    title = Text(describe_version(version.name), TITLE)
    parts: list[RenderableType] = [
        title.append(f" ({releases})" if releases else "", ""),
        Text(version.sentence),
    ]
    actions = {action.name: action for action in ACTIONS if action.name in there}
    for actor, names in ACTORS.items():
        if steps := [actions[name] for name in names if name in actions]:
            parts += [Text(), Text(actor, TITLE), _steps(steps)]
    parts += [Text(), Text("Rules that --without takes out", TITLE), _rules(version)]
    added = ", ".join(_added_steps(version, there))
    parts += [Text(), Text(f"Options add steps: {added}.", QUIET)]
    return Group(*parts)


def _steps(actions: list[Action]) -> RenderableType:
    """A step a row: when it can be taken, and what it does."""
    table = two_columns(gap=2)
    for action in actions:
        table.add_row(action.name, Text(f"When: {_first(action.guard)}", QUIET))
        table.add_row("", f"Then: {_first(action.effect)}")
    return table


def _first(rule: object) -> str:
    """The first paragraph of its docstring."""
    return " ".join((inspect.getdoc(rule) or "").split("\n\n")[0].split())


def _rules(version: Version) -> RenderableType:
    rules = [feature for feature in FEATURES if version.features & feature.bit]
    if not rules:
        return Text("None.")
    table = two_columns(gap=2)
    for rule in rules:
        table.add_row(rule.name, Text.assemble(rule.sentence, " ", (rule.source, QUIET)))
    return table


def _added_steps(version: Version, there: tuple[str, ...]) -> list[str]:
    """`PowerLoss (--power-losses)`: what other circumstances let happen."""
    return [
        f"{step} (--{option_of(name)})"
        for name, declared in DECLARED.items()
        if declared.steps
        for step in contents(settings_of(_with(name, declared), version))
        if step in declared.steps and step not in there
    ]


def _with(name: str, declared: Declared) -> Environment:
    """Return an environment that enables the steps of a feature."""
    needed = {declared.only_with: 1} if declared.only_with else {}
    return Environment(**{name: _on(declared), **needed})


def _on(declared: Declared) -> Any:
    """Return a value of the setting that enables its steps."""
    if declared.values is not None:
        return declared.steps_where or list(declared.values)[-1]
    return True if declared.most is None else 1
