"""Command line of an experiment: the release, the counterexample, the report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Protocol

from waterline.checker.cli.confirm_run import render_confirmation
from waterline.checker.cli.shared.screen import screen
from waterline.checker.kafka.confirm.carrying_out import work_folder
from waterline.checker.kafka.confirm.counterexample import search
from waterline.checker.kafka.confirm.course import Course, course_of
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import Site, class_path
from waterline.checker.kafka.confirm.releases import KRAFT, KafkaRelease, artifacts_of
from waterline.checker.kafka.confirm.replay import Confirmation
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.model.message.releases import KRAFT_READY, UnknownRelease, release_followed


class Experiment(Protocol):
    """A course on brokers with their own controller; in a control without what breaks it."""

    def __call__(self, course: Course, site: Site, *, is_control: bool) -> Confirmation:
        """What came of it. Raises `CannotConfirm`."""


def release_with_kraft(name: str) -> KafkaRelease:
    """A release with KRaft and without ELR. Raises `CannotConfirm`."""
    try:
        number = tuple(map(int, name.split(".")))
        followed = release_followed(number, is_kraft=True)
    except (UnknownRelease, ValueError) as problem:
        raise CannotConfirm(f"--kafka is {name}: {problem}") from None
    if number < KRAFT_READY:
        raise CannotConfirm(f"--kafka is {name}; KRaft is ready from 3.3 on")
    return KafkaRelease(
        number=number,
        manner=KRAFT,
        spoken=None,
        rules=followed.version,
        artifacts=artifacts_of(name, number),
    )


def run(scenario: str, experiment: Experiment, description: str) -> None:
    """Carry it out as the command line says, and print what came of it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--kafka", default="4.2.0", metavar="RELEASE")
    parser.add_argument("--control", action="store_true", help="without what breaks the claim")
    asked = parser.parse_args()
    announce: Callable[[str], None] = lambda line: print(line, file=sys.stderr)  # noqa: E731
    try:
        release = release_with_kraft(asked.kafka)
        shown = search(find_scenario(scenario), release.rules, announce, always=True)
        course = course_of(shown.finding.replayed, shown.problem.model, shown.claim, release)
        jars = class_path(release, folder=None, announce=announce)
        with work_folder(None) as folder:
            site = Site(release, jars, folder, announce, announce)
            found = experiment(course, site, is_control=asked.control)
    except CannotConfirm as problem:
        sys.exit(str(problem))
    screen().print(render_confirmation(found, course, release))
