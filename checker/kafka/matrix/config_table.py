"""Report about a configuration: what was read, what can happen, what prevents it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.kafka.deployed.deployment import Deployment
from waterline.checker.kafka.deployed.keys import NOT_MODELLED
from waterline.checker.kafka.matrix.advice import Remedy, cost
from waterline.checker.kafka.matrix.extent import describe_extent
from waterline.checker.kafka.matrix.grid import CLAIMS
from waterline.checker.kafka.matrix.known_causes import Kin
from waterline.checker.kafka.matrix.matrix import ConfigAnswer
from waterline.checker.kafka.matrix.outcome import Outcome, Standing, describe_command
from waterline.checker.kafka.matrix.properties import Config, describe_topics
from waterline.checker.kafka.matrix.protocol_of import DEFAULT
from waterline.checker.kafka.matrix.table import (
    STYLES,
    counts,
    describe_bounds,
    describe_cell,
    faults,
    legend,
)
from waterline.checker.kafka.matrix.verdict_groups import within
from waterline.checker.problem.wording import describe_version, quantity
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import GOOD, WARNING

_SENTENCES = {claim.name: claim.sentence for claim in CLAIMS}


def render_config(answer: ConfigAnswer) -> RenderableType:
    """Settings, verdicts, remedies, and what it all rests on."""
    matrix, tried = answer.matrix, answer.advice.tried.values()
    return Trimmed(
        Group(
            Text(f"Evidence about {describe_topics(answer.config.topics)}.", "bold"),
            settings(answer.config),
            *release(answer.config),
            Text(f"Explored within {describe_bounds(matrix.grid)}."),
            verdicts(answer),
            *recommendation(answer),
            Text(),
            *commands(answer),
            Text(),
            faults(matrix.grid),
            Text(),
            legend([*matrix.outcomes, *(r.outcome for rs in tried for r in rs)]),
            Text(),
            counts(matrix),
        )
    )


def settings(config: Config) -> Table:
    """The keys that were used, with their values and who says so."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Setting", no_wrap=True)
    for title in ("Value", "From"):
        table.add_column(title, overflow="fold")
    for setting in config.settings:
        style = "dim" if setting.source == DEFAULT else ""
        table.add_row(setting.key, Text(setting.value), Text(setting.origin), style=style)
    return table


def unused_settings(deployment: Deployment) -> Iterator[RenderableType]:
    """Settings that touch durability and that the model has not, each with what it is about."""
    if not deployment.unused:
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("In your files, but not modelled", overflow="fold")
    for title in ("Value", "From", "What it is"):
        table.add_column(title, overflow="fold")
    for setting in deployment.unused:
        what = NOT_MODELLED[setting.key]
        table.add_row(setting.key, Text(setting.value), Text(setting.origin), what)
    yield table


def release(config: Config) -> Iterator[Text]:
    """Yield the release of the configuration, its rules, and remarks on it."""
    line = Text.assemble(
        "This is ", (config.kafka, "bold"), f": the rules {describe_version(config.version)}."
    )
    if not config.is_release_said:
        line.append(
            " No file says so: it is the newest that is modelled. If yours is another, the answer "
            "may be another: say it with --kafka-version.",
            WARNING,
        )
    yield line
    yield from (Text(note, "yellow") for note in config.notes)


def verdicts(answer: ConfigAnswer) -> Table:
    """Return a table with a line for each fault: its result, and what prevents it."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Fault", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("What can happen, and what prevents it")
    for outcome in answer.matrix.outcomes:
        described = Text("\n").join(describe_answers(outcome, answer))
        table.add_row(outcome.fault, describe_cell(outcome), described)
    return table


def describe_answers(outcome: Outcome, answer: ConfigAnswer) -> Iterator[Text]:
    """Yield the lines about the result of a fault."""
    if outcome.standing in (Standing.HOLDS, Standing.INCOMPLETE):
        if outcome.emptiness:
            yield Text(f"Says less than it seems: {outcome.emptiness}.")
        yield from map(Text, describe_extent(outcome))
    elif outcome.worst is not None:
        sentence = _SENTENCES.get(outcome.worst.name, outcome.worst.name)
        yield Text(f"{sentence[0].upper()}{sentence[1:]}: {outcome.explanation}")
        if outcome.stand_in:
            yield Text(f"Explored as {outcome.stand_in}.")
    fault = outcome.fault
    for kin in answer.kin.get(fault, ()):
        yield Text(describe_kin(kin, "loss"))
        if kin.scenario.sign:
            yield Text(f"How {kin.scenario.number} shows: {kin.scenario.sign}")
    yield from map(describe_remedy, answer.advice.tried.get(fault, ()))


def describe_kin(kin: Kin, word: str) -> str:
    """`Like C10 (last-replica-standing): with the rule elr put in (...) that loss is gone.`"""
    gone = f"that {word} is gone"
    if kin.steps is not None:
        gone = f"the first {kin.steps} steps have no such {word}"
    return (
        f"Like {kin.scenario.number} ({kin.scenario.name}): with {kin.repair.description} {gone}."
    )


def describe_remedy(remedy: Remedy) -> Text:
    """Describe a trial and its result."""
    outcome = remedy.outcome
    line = Text(f"Tried: {remedy.changes.description}: ")
    if outcome.standing is Standing.INCOMPLETE and outcome.worst is not None:
        line.append(remedy.label, STYLES[Standing.CONTRACT])
    elif outcome.standing is Standing.INCOMPLETE:
        line.append("? (not explored in full)", STYLES[outcome.standing])
    elif outcome.answer.complete:
        line.append(outcome.label, STYLES[outcome.standing])
        line.append(f", {quantity(outcome.answer.distinct, 'state')}")
    else:
        line.append(outcome.label, STYLES[outcome.standing])
    return line.append(".")


def recommendation(answer: ConfigAnswer) -> Iterator[Text]:
    """Yield the first thing to do, its cost, and the faults that no trial prevents."""
    tried = answer.advice.tried
    best = answer.advice.recommendation
    if best is not None:
        line = Text.assemble("To do first: ", (best.changes.description, GOOD), ".")
        closed = f"{len(best.closes)} of {quantity(len(tried), 'fault')} that break something"
        line.append(f" It prevents {closed}: {', '.join(best.closes)}.")
        line.append(f" Checked with {within(answer)}.")
        if costs := " ".join(cost(best.changes, answer.config)):
            line.append(f" Cost: {costs}")
        yield line
    if answer.advice.interrupted:
        yield Text("Interrupted before every remedy was tried.", "bold magenta")
    if still_open := answer.advice.unclosed:
        yield Text(f"No setting or upgrade that we tried prevents {', '.join(still_open)}.", "red")


def commands(answer: ConfigAnswer) -> Iterator[Text]:
    """Yield the command that shows the steps of each fault that breaks a claim."""
    lost = [outcome for outcome in answer.matrix.outcomes if outcome.worst is not None]
    if lost:
        yield Text("The steps of each are shown by")
    for outcome in lost:
        name = outcome.fault
        command = describe_command(outcome, answer.config.protocol.option)
        yield Text.assemble((f"{name}: ", "bold"), command)
