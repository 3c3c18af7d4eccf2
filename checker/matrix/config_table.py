"""The answer about a configuration, for people: what was read, what can happen, what closes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from checker.matrix.advice import Remedies
from checker.matrix.grid import CLAIMS, FAULT, MIN_INSYNC, VERSION
from checker.matrix.outcome import Outcome, Standing
from checker.matrix.properties import DEFAULT, Config
from checker.matrix.running import INTERRUPTED, Matrix
from checker.matrix.table import counts, faults, legend, told_bounds, told_cell
from checker.wording import counted
from counterexamples import Trimmed

_SENTENCES = {claim.name: claim.sentence for claim in CLAIMS}


@dataclass(frozen=True, slots=True)
class ConfigAnswer:
    """A configuration over every fault, and for each that breaks a claim what closes it."""

    config: Config
    matrix: Matrix
    remedies: Mapping[str, Remedies]

    @property
    def complete(self) -> bool:
        """Whether nothing that was explored for it was stopped before it could tell."""
        return self.matrix.complete and all(r.is_conclusive for r in self.remedies.values())


def render_config(answer: ConfigAnswer) -> RenderableType:
    """Settings, verdicts, remedies, and what it all rests on."""
    matrix = answer.matrix
    protocol = Text.assemble(
        "So the protocol is ", (answer.config.version, "bold"), ", explored within "
    )
    protocol.append(f"{told_bounds(matrix.grid)}.")
    return Trimmed(
        Group(
            settings(answer.config),
            protocol,
            verdicts(answer),
            faults(matrix.grid),
            Text(),
            legend(matrix.outcomes),
            Text(),
            counts(matrix),
        )
    )


def settings(config: Config) -> Table:
    """The keys that were used, with their values and who says so."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("Setting", "Value", "From"):
        table.add_column(title, overflow="fold")
    for setting in config.settings:
        style = "dim" if setting.source == DEFAULT else ""
        table.add_row(setting.key, Text(setting.value), Text(setting.source), style=style)
    return table


def verdicts(answer: ConfigAnswer) -> Table:
    """A line a fault: what comes of it, and what closes it."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("Fault", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    table.add_column("What can happen, and what closes it")
    for outcome in answer.matrix.outcomes:
        told = Text("\n").join(told_of(outcome, answer))
        table.add_row(outcome.cell.coordinates[FAULT], told_cell(outcome), told)
    return table


def told_of(outcome: Outcome, answer: ConfigAnswer) -> Iterator[Text]:
    """What a fault leads to, line by line."""
    if outcome.worst is not None:
        sentence = _SENTENCES.get(outcome.worst.name, outcome.worst.name)
        yield Text(f"{sentence[0].upper()}{sentence[1:]}: {outcome.explanation}")
    elif outcome.emptiness:
        yield Text(f"Nothing that was promised: {outcome.emptiness}")
    elif outcome.standing is Standing.INCOMPLETE:
        yield Text(f"Stopped by {outcome.answer.stopped_by}: nothing may be concluded.")
        if outcome.answer.stopped_by != INTERRUPTED:
            yield Text("Fewer --replicas, --records or --epochs have fewer states.")
    found = answer.remedies.get(outcome.cell.coordinates[FAULT])
    if found is not None:
        yield from told_remedies(found, answer.config)


def told_remedies(found: Remedies, config: Config) -> Iterator[Text]:
    """What was tried and holds; of newer versions alone one line for all."""
    if not found.closing:
        unknown = f"; {found.unknown} could not be explored in full" if found.unknown else ""
        yield Text(f"Of {counted(found.tried, 'change')} tried none closes it{unknown}.", "red")
    versions = [r for r in found.closing if list(r.changes) == [VERSION]]
    for remedy in found.closing:
        if remedy in versions[1:]:
            continue
        told = ", ".join(f"{name}={value}" for name, value in remedy.changes.items())
        if remedy in versions and len(versions) > 1:
            told += f" (or {', '.join(r.changes[VERSION] for r in versions[1:])})"
        line = Text.assemble("Holds with ", (told, "green"))
        line.append(f": {counted(remedy.outcome.answer.distinct, 'state')}.")
        if remedy.changes.get(MIN_INSYNC) == str(config.replicas):
            line.append(" Then one replica down stops acks=all producers.")
        yield line
