"""`waterline versions`: the members of the family, and the rules they are made of."""

from __future__ import annotations

import click
from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from checker.cli.shared import exit_codes
from checker.cli.shared.screen import screen
from counterexamples.rendering import Trimmed
from model.message.features import FEATURES
from model.message.versions import NAMED


@click.command("versions")
def versions_command() -> int:
    """List every version of the protocol, and every rule that --with and --without can switch."""
    console = screen()
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
