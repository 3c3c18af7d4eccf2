"""What faults come to under real-looking configurations: docs/results/configurations.md.

    python -m lab.documents.configurations > docs/results/configurations.md

takes the files of tests/golden/configs, explores each as `waterline matrix --config` does, and says
of every cell within which bounds that was, what they cut, and why a cell that holds is not empty.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from waterline.checker.batch.in_memory import exploring
from waterline.checker.kafka.matrix.grid import (
    BY_FREQUENCY,
    EPOCHS_MAX_RAISED,
    NO_FAULT,
    OF_OPERATORS,
    RECORDS,
    Grid,
    first_records,
)
from waterline.checker.kafka.matrix.matrix import Matrix, explore_grid
from waterline.checker.kafka.matrix.outcome import Outcome, Standing, fault_steps
from waterline.checker.kafka.matrix.properties import Config, read_config
from waterline.checker.kafka.matrix.without_bounds import Unbounded
from waterline.checker.problem.wording import quantity
from waterline.checker.search.engines.engine import EngineChoice

STATES_MAX = 5_000_000
"""Most states of a cell here: a quarter of what the command allows, for 160 cells."""
SHOWN = [f.name for f in BY_FREQUENCY if f.name != NO_FAULT and f not in OF_OPERATORS]
"""The faults on the page; what operators do is not explored in the time that it takes."""
FOLDER = Path(__file__).parents[2] / "tests" / "golden" / "configs"
HEAD = """\
# Configurations

The outcome of each fault of `waterline matrix` under configurations as people have them, but for
what operators do to replicas and directories ([losses.md](../losses.md)). The files
are in `tests/golden/configs`; `python -m lab.documents.configurations` makes this page. A name has
the release, its replicas and min.insync.replicas. [matrix.md](../matrix.md#how-to-read-it) explains
the words. A cell has at most 5 million states here; with the 20 million of `waterline matrix
--config` some reach larger bounds.

## All of them
"""
PROOF = """
## Within which bounds, and why what holds is not empty

A cell that says `holds` and no more was explored *without bounds* on epochs, on produced records
and on faults but those of disks; what is left is how many records a log has at one time. Else two
bounds can hide something: that on records, for one more could always be produced, and that on
leader epochs: *epochs cut* is the number of steps into a later epoch that were not taken. In a cell
that holds every claim holds in every state: each acknowledged record is in the leader's log, in
that of a replica that may lead, and in some log at all; and a replica leads or can. *Happened*
counts the steps of the explored space that are the fault; a record was acknowledged in each of
these cells, or the cell says that none was. *Tried beyond* are larger bounds that were begun and
not finished.
"""


def config_of(path: Path) -> Config:
    """What the file says."""
    return read_config(path)


def matrix_of(config: Config) -> Matrix:
    """Every fault under it, with the bounds that the command begins with."""
    grid = Grid(
        axes=config.axes(only=SHOWN),
        replicas=config.explored.replicas,
        records=first_records(config.explored.replicas, RECORDS),
        records_max=RECORDS,
        epochs_max=EPOCHS_MAX_RAISED,
        max_states=STATES_MAX,
        tries_unbounded=True,
    )
    with exploring(EngineChoice(name="local")) as explorer:
        return explore_grid(grid, explorer, engine="local")


def describe_row(cells: list[str]) -> str:
    """A line of a table."""
    return f"| {' | '.join(cells)} |"


def describe_table(titles: list[str], rows: Iterator[list[str]]) -> Iterator[str]:
    """A table in Markdown."""
    yield describe_row(titles)
    yield describe_row(["---"] * len(titles))
    yield from map(describe_row, rows)


def proof(outcome: Outcome) -> list[str]:
    """The bounds of a cell, what they cut, and what happened within them."""
    environment, answer = outcome.cell.environment, outcome.answer
    fired = dict(answer.fired)
    steps = [f"{fired.get(s, 0):,} {s}" for s in fault_steps(environment).values()]
    holds = outcome.standing is Standing.HOLDS
    beyond = outcome.unfinished
    return [
        outcome.fault,
        outcome.label,
        str(environment.records),
        str(environment.epochs),
        f"{dict(answer.cut).get('epochs', 0):,}" if answer.complete else "",
        f"{answer.distinct:,}" + ("" if answer.complete else "+"),
        (outcome.emptiness or ", ".join(steps)) if holds else "",
        f"{beyond.records} records, epochs {beyond.epochs}: {beyond.depth} steps" if beyond else "",
        describe_unbounded(outcome.unbounded) if outcome.unbounded else "",
    ]


def describe_unbounded(found: Unbounded) -> str:
    """What the cell comes to without bounds."""
    answer = found.answer
    if answer is None:
        return "not possible"
    states = f"{answer.distinct:,} states"
    if found.confirms:
        return f"{quantity(found.records, 'record')} in a log: {states}"
    if found.breaks:
        name, depth = found.breaks[0]
        return f"{'' if found.raise_to else 'with more faults '}{name} breaks after {depth}"
    return f"stopped at {states}"


def main() -> None:
    """Print the page."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    matrices = {}
    for path in sorted(FOLDER.glob("*.properties"), reverse=True):
        config = config_of(path)
        matrices[path.stem] = config, matrix_of(config)
        print(path.stem, *(o.label for o in matrices[path.stem][1].outcomes), file=sys.stderr)
    print(HEAD)
    labels = (
        [name, *(outcome.label for outcome in matrix.outcomes)]
        for name, (_, matrix) in matrices.items()
    )
    print("\n".join(describe_table(["configuration", *SHOWN], labels)))
    print(PROOF)
    titles = ["fault", "cell", "records", "epochs", "epochs cut", "states"]
    for name, (config, matrix) in matrices.items():
        unclean = f"unclean.leader.election.enable={config.unclean}"
        print(f"### {name}\n")
        print(
            f"{config.kafka}: `{config.version}`. {config.yours.replicas} replicas, "
            f"acks={config.acks}, min.insync.replicas={config.yours.min_insync}, {unclean}.\n"
        )
        for note in config.notes:
            print(f"{note}\n")
        rows = map(proof, matrix.outcomes)
        print(
            "\n".join(
                describe_table([*titles, "happened", "tried beyond", "without bounds"], rows)
            ),
            end="\n\n",
        )


if __name__ == "__main__":
    main()
