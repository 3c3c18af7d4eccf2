"""`waterline ties`: the code that a model names, and whether it is as it was reviewed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, write_files
from waterline.checker.cli.shared.options import format_option
from waterline.checker.cli.shared.screen import say, screen
from waterline.checker.problem.wording import quantity
from waterline.checker.ties.lock import lock_of, lock_text, read_lock
from waterline.counterexamples.style import BAD
from waterline.model.core.errors import BadEnvironment, did_you_mean

if TYPE_CHECKING:
    from waterline.checker.ties.ties import Tie

FORMAT = "waterline-ties/1"


@click.command("ties", epilog=FILES_HELP)
@click.argument("model", type=click.Path(path_type=Path), metavar="MODEL")
@click.option(
    "--reviewed",
    multiple=True,
    metavar="FILE:NAME",
    help="A symbol whose code you have read: record it in the lock file; repeatable.",
)
@format_option
def ties_command(model: Path, reviewed: Sequence[str], output_format: str) -> int:
    """List the code that each action and claim of MODEL names, and its state (docs/testing.md).

    MODEL is a Python file, which is run; the code that it names is only parsed.
    """
    from waterline.checker.ties.ties import ties_of_file  # noqa: PLC0415 - not for its help

    ties = ties_of_file(model)
    if reviewed:
        _review(model, ties, reviewed)
        ties = ties_of_file(model)
    wrong = [tie for tie in ties if not tie.is_fine]
    if output_format == "json":
        click.echo(json.dumps(_as_json(model, ties), indent=1))
    else:
        _show(ties)
        _advise(model, wrong)
    return exit_codes.NOT_TIED if wrong else exit_codes.HOLDS


def _review(model: Path, ties: Sequence[Tie], reviewed: Sequence[str]) -> None:
    """Record these symbols in the lock file as they are now. Raises `BadEnvironment`."""
    now = {tie.symbol: tie.digest for tie in ties if tie.name and tie.symbol}
    for symbol in reviewed:
        if symbol not in now:
            raise BadEnvironment(
                f"--reviewed {symbol}: no action or claim of {model} names it"
                f"{did_you_mean(symbol, now)}"
            )
        if not now[symbol]:
            raise BadEnvironment(f"--reviewed {symbol}: its code is not there, or cannot be read")
    lock = lock_of(str(model))
    known = {symbol: digest for symbol, digest in read_lock(lock).items() if symbol in now}
    known |= {symbol: now[symbol] for symbol in reviewed}
    write_files({lock: lambda: lock_text(known)})


def _show(ties: Sequence[Tie]) -> None:
    console = screen()
    for tie in ties:
        console.print(Text(str(tie), style="" if tie.is_fine else BAD), soft_wrap=True)


def _advise(model: Path, wrong: Sequence[Tie]) -> None:
    """Say how many ties are to be looked at, and how a review is recorded."""
    if not wrong:
        return
    say(f"{quantity(len(wrong), 'line')} to look at")
    if to_review := [tie.symbol for tie in wrong if tie.digest]:
        say(f"compare code and rule, then: waterline ties {model} --reviewed {to_review[0]}")


def _as_json(model: Path, ties: Sequence[Tie]) -> dict[str, object]:
    return {
        "format": FORMAT,
        "model": str(model),
        "ties": [
            {
                "name": tie.name or None,
                "place": tie.place or None,
                "symbol": tie.symbol or None,
                "where": tie.where or None,
                "state": tie.state.value,
                "is_fine": tie.is_fine,
                "note": tie.note or None,
            }
            for tie in ties
        ],
    }
