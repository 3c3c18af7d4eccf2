"""`waterline kernel`: prints the LLVM text of a problem or of one rule."""

from __future__ import annotations

import re
from typing import Any

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import (
    environment_options,
    invariant_option,
    protocol_option,
    symmetry_option,
)
from waterline.checker.cli.shared.problem_options import problem_from, take_given
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.nearest import did_you_mean

STAGES = ("loops", "rules", "optimised", "machine")
_FUNCTION = re.compile(r"^define .*?@([\w.]+)\(.*?^}$", re.MULTILINE | re.DOTALL)


@click.command("kernel")
@protocol_option
@environment_options
@symmetry_option
@invariant_option
@click.option(
    "--stage",
    type=click.Choice(STAGES),
    default="rules",
    show_default=True,
    help="The loops around the rules; LLVM's text with each statement above what it becomes; "
    "the same as LLVM leaves it; the processor's instructions.",
)
@click.option(
    "--rule", metavar="NAME", help="Only this function, like send_fetch; with --stage rules."
)
def kernel_command(stage: str, rule: str | None, **options: Any) -> int:
    """Show what a problem is compiled to.

    The rules of the version, with these settings, and the claims that are checked.
    """
    # Only this command and a search need the compiler.
    from waterline.checker.compiler import machine  # noqa: PLC0415
    from waterline.checker.compiler.kernel import plan_of, program_of  # noqa: PLC0415
    from waterline.checker.compiler.loops import loops_of  # noqa: PLC0415

    if rule is not None and stage != "rules":
        raise BadEnvironment(f"--rule goes with --stage rules, not with {stage}; leave one out")
    plan = plan_of(problem_from(take_given(options)))
    if stage == "loops":
        text = loops_of(plan.parts).text
    else:
        text = program_of(plan, comment=stage == "rules").text
        if stage == "optimised":
            text = machine.optimise(text)
        elif stage == "machine":
            text = machine.assembly(text)
        elif rule is not None:
            text = _only(rule, text)
    click.echo(text.rstrip())
    return exit_codes.HOLDS


def _only(rule: str, text: str) -> str:
    """The functions of this name; they are compiled for several kinds of arguments."""
    found = {match[1]: match[0] for match in _FUNCTION.finditer(text)}
    wanted = [body for name, body in found.items() if rule in (name, *name.split("."))]
    if not wanted:
        described = did_you_mean(
            rule, sorted({name.split(".")[1] for name in found if "." in name})
        )
        raise BadEnvironment(f"--rule {rule}: this problem has no such function{described}")
    return "\n\n".join(wanted)
