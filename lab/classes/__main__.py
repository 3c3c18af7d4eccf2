"""`python -m lab.classes`: every transition of a version, on the classes of a released Kafka."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from lab.classes.course import CONTROLLER_ALONE
from lab.classes.jvm import running
from lab.classes.replaying import Disagreement, Replayed, replay_graph
from lab.entry import run_here
from waterline.checker.cli.confirm import jars_option
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.covering.state_graph import StateGraph, graph_of
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.families import problem_for
from waterline.model.message.environment import Environment
from waterline.model.message.features import ALTER_PARTITION, has
from waterline.model.message.terms import TRUNCATE_BY_EPOCHS

SHOWN = 3
HELP = """\b
Exit codes:
  0   every transition that was compared agrees, or shows a known difference
  2   bad usage, no JDK, no jars, a JVM that fails
  20  interrupted
  31  the classes do something else than the model
"""


@click.command("classes", epilog=HELP)
@click.option("--kafka", required=True, metavar="RELEASE", help="A 3.9 or 4.4, as 4.4.0.")
@click.option(
    "--protocol",
    default="kip320",
    show_default=True,
    metavar="VERSION",
    help="The version of the model, explored without bounds, a record in a log at one time.",
)
@click.option(
    "--paths", "paths_max", type=click.IntRange(1), metavar="N", help="Take N paths, and no more."
)
@jars_option
def classes_command(kafka: str, protocol: str, paths_max: int | None, jars: Path | None) -> int:
    """Take every transition of a version on Partition, UnifiedLog and ReplicaManager of a release.

    All replicas are in one JVM, without a network and without a clock: the harness takes each step
    when its turn has come, and is the controller. After each step what the classes show is compared
    with the model.
    """
    release = kafka_release(kafka)
    environment = Environment(records=1, unbounded=True)
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        files = class_path(release, folder=jars, announce=progress.announce)
        graph = graph_of(problem_for(protocol, environment))
        began = time.monotonic()
        with running(release, files, environment.replicas, options_of(graph)) as replicas:
            found = replay_graph(graph, replicas, paths_max=paths_max, announce=progress.announce)
        seconds = time.monotonic() - began
    for line in report(found, release, protocol, seconds):
        screen().print(line, highlight=False, markup=False, soft_wrap=True)
    if any(not each.known for each in found.disagreements.values()):
        return exit_codes.OF_CONFIRMING["refuted"]
    return exit_codes.HOLDS


def options_of(graph: StateGraph) -> Iterator[str]:
    """How the harness is to run. Raises `CannotConfirm` for a version that it cannot follow."""
    settings = graph.problem.model.settings
    if settings.truncation != TRUNCATE_BY_EPOCHS or has(settings, ALTER_PARTITION):
        raise CannotConfirm(
            f"--protocol is {graph.problem.model.version}; the harness takes versions that "
            "truncate by epochs and whose leaders write the ISR themselves, as kip320"
        )
    if not settings.high_watermark_before_fetch:
        yield "waits"


def report(found: Replayed, release: KafkaRelease, protocol: str, seconds: float) -> Iterator[str]:
    """The figures, by action, and the first disagreements of each kind."""
    graph = found.graph
    yield (
        f"{found.agree.sum():,} of {graph.edges:,} transitions of {protocol} agree on the classes "
        f"of Kafka {release.version}: {found.paths:,} paths, {found.steps:,} steps, {seconds:.0f} s"
    )
    every = Counter(graph.call(edge)[0] for edge in range(graph.edges))
    agree = Counter(graph.call(edge)[0] for edge in found.agree.nonzero()[0].tolist())
    differ = Counter(graph.call(edge)[0] for edge in found.disagreements)
    yield ""
    yield "| action | transitions | agree | differ | not reached |"
    yield "|---|---|---|---|---|"
    for action, count in sorted(every.items()):
        left = count - agree[action] - differ[action]
        noted = " (the controller alone)" if action in CONTROLLER_ALONE else ""
        cells = (
            f"`{action}`{noted}",
            *(f"{n:,}" for n in (count, agree[action], differ[action], left)),
        )
        yield f"| {' | '.join(cells)} |"
    yield from _disagreements(found.disagreements)


def _disagreements(found: Mapping[int, Disagreement]) -> Iterator[str]:
    """The known differences, each with its number of transitions; then the shortest new ones."""
    for reason, count in Counter(each.known for each in found.values() if each.known).items():
        yield ""
        yield f"{count:,} differ, and it is known why: {reason}"
    new = sorted(
        (each for each in found.values() if not each.known), key=lambda each: len(each.steps)
    )
    shown: Counter[Any] = Counter()
    for each in new:
        kind = (each.steps[-1].split("(")[0], *(text.split(" ")[0] for text in each.differences))
        shown[kind] += 1
        if shown[kind] > SHOWN:
            continue
        yield ""
        yield " ".join(each.steps)
        for text in each.differences:
            yield f"  {text}"


def main() -> int:
    """Run the command; returns the exit code."""
    return run_here(classes_command, "lab.classes")


if __name__ == "__main__":
    sys.exit(main())
