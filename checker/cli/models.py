"""`waterline new`, `layout`, `kernel` and `export`: a model begun, shown, written for TLC."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, make_folder, write_files
from waterline.checker.cli.shared.options import (
    environment_options,
    invariant_option,
    options_as,
    protocol_option,
    symmetry_option,
)
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.cli.shared.screen import screen
from waterline.checker.problem.family import words_of
from waterline.checker.problem.words import Words
from waterline.checker.user_models.start import start_of
from waterline.counterexamples.rendering import Trimmed
from waterline.model.core.errors import BadEnvironment, did_you_mean
from waterline.model.core.layout import WORD_BITS, Field, Place
from waterline.model.core.transition_system import Model

STAGES = ("loops", "rules", "optimised", "machine")
_FUNCTION = re.compile(r"^define .*?@([\w.]+)\(.*?^}$", re.MULTILINE | re.DOTALL)


@click.command("new")
@click.argument("name")
def new_command(name: str) -> int:
    """Write NAME.py: a small protocol, with remarks, that `check --model NAME.py` explores."""
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        raise BadEnvironment(f"{name!r} is no name of a function; use letters, digits and _")
    path = Path(f"{name}.py")
    if path.exists() or path.is_symlink():
        raise BadEnvironment(f"{path} is there already; name another, or remove it")
    write_files({path: lambda: start_of(name)})
    return exit_codes.HOLDS


@click.command("layout")
@protocol_option
@environment_options
@options_as(ProblemOptions)
def layout_command(options: ProblemOptions) -> int:
    """Show what a state is made of within these bounds, field by field, in bits."""
    problem = problem_from(options)
    screen().print(Trimmed(layout_table(problem.model, words_of(problem))))
    return exit_codes.HOLDS


def layout_table(model: Model, words: Words) -> RenderableType:
    """A line a field: its range, how many elements, the bits they take, the word they lie in."""
    layout = model.layout
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Field", no_wrap=True)
    table.add_column("Range", no_wrap=True)
    table.add_column("Elements", justify="right", no_wrap=True)
    table.add_column("Bits", justify="right", no_wrap=True)
    table.add_column("Word", no_wrap=True)
    table.add_column("Meaning")
    for field in layout.fields:
        table.add_row(
            field.name,
            f"{field.lo}..{field.hi}",
            " x ".join(str(extent) for extent in field.shape) or "1",
            str(_bits(field)),
            _word(layout.places[field.name]),
            field.doc + _sharing(field),
        )
    title = Text.assemble(
        (f"{layout.bits} bits in {layout.words} words of {WORD_BITS}", "bold"),
        f" for {words.sizes(model)}",
    )
    return Group(title, table)


def _bits(field: Field) -> int:
    return field.row_bits * (field.shape[0] if field.shape else 1)


def _word(place: Place) -> str:
    return str(place.word) if place.word >= 0 else "several"


def _sharing(field: Field) -> str:
    """Fields of different roles lie in the same bits, so their sum is more than the total."""
    return "" if field.alive is None else " Shares its bits with what other roles remember."


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOptions:
    """The problem, and the part of its program that is shown."""

    problem: ProblemOptions
    stage: str
    rule: str | None


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
@options_as(KernelOptions)
def kernel_command(options: KernelOptions) -> int:
    """Show what a problem is compiled to.

    The rules of the version, with these settings, and the claims that are checked.
    """
    # Only this command and a search need the compiler.
    from waterline.checker.compiler import kernel, loops, machine  # noqa: PLC0415

    stage, rule = options.stage, options.rule
    if rule is not None and stage != "rules":
        raise BadEnvironment(f"--rule goes with --stage rules, not with {stage}; leave one out")
    plan = kernel.plan_of(problem_from(options.problem))
    if stage == "loops":
        text = loops.loops_of(plan.parts).text
    else:
        text = kernel.program_of(plan, comment=stage == "rules").text
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """The problem, and the folder for its module."""

    problem: ProblemOptions
    form: str
    out: Path


@click.command("export", epilog=FILES_HELP)
@protocol_option
@environment_options
@invariant_option
@click.option("--to", "form", type=click.Choice(["tla"]), required=True, help="TLA+, for TLC.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Where to; else the current directory.",
)
@options_as(ExportOptions)
def export_command(options: ExportOptions) -> int:
    """Write a version of Kafka's protocol, or a model of your own, as a TLA+ module, with
    configurations for TLC (docs/tla.md).
    """
    asked = options.problem
    if asked.own_model is not None and asked.names:
        raise BadEnvironment(
            f"export --to {options.form} writes all claims of a model of your own; "
            "leave out --invariant"
        )
    problem = problem_from(asked)
    # Only this command needs what writes a module.
    from waterline.checker.tla.kafka.module import export  # noqa: PLC0415

    module = export(problem)
    make_folder("--out", options.out)
    texts = {f"{module.name}.tla": module.text, f"{module.name}.cfg": module.configuration}
    if module.happening is not None:
        texts[f"{module.name}_happens.cfg"] = module.happening
    write_files({options.out / name: partial(str, text) for name, text in texts.items()})
    return exit_codes.HOLDS
