"""`waterline layout`: the fields of a state."""

from __future__ import annotations

from typing import Any

import click

from waterline.checker.cli.models.layout_table import layout_table
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import environment_options, protocol_option
from waterline.checker.cli.shared.problem_options import problem_from, take_given
from waterline.checker.cli.shared.screen import screen
from waterline.checker.problem.family import words_of
from waterline.counterexamples.rendering import Trimmed


@click.command("layout")
@protocol_option
@environment_options
def layout_command(**options: Any) -> int:
    """Show what a state is made of within these bounds, field by field, in bits."""
    problem = problem_from(take_given(options))
    screen().print(Trimmed(layout_table(problem.model, words_of(problem))))
    return exit_codes.HOLDS
