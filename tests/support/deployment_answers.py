"""Answers about deployments, of which the outcomes are made up: nothing is explored."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from waterline.checker.batch.question import Answer
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.matrix.advice import Advice, Changes, Recommendation, Remedy
from waterline.checker.kafka.matrix.answer_screen import render_screen
from waterline.checker.kafka.matrix.grid import CLAIMS, FAULT, Cell, Grid, check_cells
from waterline.checker.kafka.matrix.matrix import ConfigAnswer, DeploymentAnswer, Matrix
from waterline.checker.kafka.matrix.outcome import judge
from waterline.checker.kafka.matrix.properties import Config, configs_of
from waterline.checker.search.result import Verdict
from waterline.model.message.environment import DECLARED

FOLDER = Path(__file__).parents[1] / "golden" / "deployed"
CLAIM_NAMES = tuple(claim.name for claim in CLAIMS)
FIRED = tuple((declared.steps[0], 1) for declared in DECLARED.values() if declared.fault)


def answer_of(depth: int | None) -> Answer:
    """Every claim breaks at this depth, or holds."""
    verdict = Verdict.HOLDS if depth is None else Verdict.VIOLATED
    verdicts = tuple((name, verdict.value, depth) for name in CLAIM_NAMES)
    return Answer(verdicts=verdicts, complete=True, levels=(1,), fired=FIRED)


def made_up(
    config: Config, breaks: Callable[[Cell], bool], closes: Sequence[Changes] = ()
) -> ConfigAnswer:
    """An answer in which these cells break every claim, and these changes close everything."""
    grid = check_cells(Grid(axes=config.axes(), replicas=config.explored.replicas))
    cells = list(grid.cells())
    outcomes = judge(grid, cells, [answer_of(5 if breaks(cell) else None) for cell in cells])
    matrix = Matrix(grid=grid, outcomes=tuple(outcomes), engine="local", seconds=1.0)
    broken = [outcome for outcome in outcomes if outcome.worst is not None]
    held = judge(grid, cells[1:2], [answer_of(None)])[0]
    tried = {o.fault: [Remedy(c, held) for c in closes] for o in broken}
    best = Recommendation(closes[0], tuple(tried)) if closes else None
    return ConfigAnswer(config, matrix, Advice(tried, best))


def config_of(*names: str, version: str | None = None) -> tuple[Config, DeploymentAnswer]:
    deployment = read_deployment([FOLDER / name for name in names])
    [config, *_] = configs_of(deployment, kafka_version=version)
    return config, DeploymentAnswer(deployment, ())


def shown(answer: DeploymentAnswer, width: int = 80) -> list[str]:
    """The lines of the first screen."""
    console = Console(width=width, color_system=None, file=io.StringIO())
    console.print(render_screen(answer))
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def always(cell: Cell) -> bool:
    """Every fault breaks something."""
    return cell.coordinates[FAULT] != "none"


def deployment_answer() -> DeploymentAnswer:
    """Three classes of topics; in the first most faults break something."""
    deployment = read_deployment([FOLDER / "strimzi-topics.yaml", FOLDER / "brokers.txt"])
    configs = configs_of(deployment)
    closing = [Changes({"unclean.leader.election.enable": "false"})]
    return DeploymentAnswer(deployment, tuple(made_up(c, always, closing) for c in configs))
