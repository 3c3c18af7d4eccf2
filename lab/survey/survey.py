"""Survey of catalogue entries on releases: what was found before and still counts is kept.

What was found counts as long as the course is the same, its steps and all that brokers are compared
with (`checker.kafka.confirm.course_digest`). Each result is written down as it comes, so that a
survey that was ended goes on where it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.survey.cells import Cell, read_cells, replace_cell, write_cells
from lab.survey.clusters import SharedClusters, confirm_among_others
from lab.survey.course_digest import course_digest
from waterline.checker.kafka.confirm.carrying_out import work_folder
from waterline.checker.kafka.confirm.counterexample import Counterexample, NotFound, ways_shown
from waterline.checker.kafka.confirm.course import Course, course_of
from waterline.checker.kafka.confirm.errors import CannotConfirm, NoJars
from waterline.checker.kafka.confirm.jars import Site, Tell, class_path
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.confirm.replay import (
    Confirmation,
    Judgement,
    kind_of,
    unsteerable,
)
from waterline.checker.kafka.confirm.waiting import require_visible
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.model.core.claim import Behaviour


@dataclass(slots=True)
class Survey:
    """Results in a file, and what is done for more of them. `jars` is a folder that has them."""

    results: Path
    jars: Path | None
    announce: Tell
    report: Tell
    cells: list[Cell] = field(init=False)
    _searched: dict[
        tuple[str, str], tuple[list[Counterexample | None], Iterator[Counterexample]]
    ] = field(default_factory=dict)
    """Counterexamples found so far, and the search for the rest, by entry and version."""

    def __post_init__(self) -> None:
        """Read what was found before. Raises `CannotConfirm`."""
        self.cells = read_cells(self.results)

    def add(
        self, scenarios: Sequence[Scenario], releases: Sequence[KafkaRelease], *, again: bool
    ) -> list[str]:
        """Try every scenario on every release, but for what counts still; whose jars are missing.

        With `again` everything is tried. Raises `KeyboardInterrupt`.
        """
        missing = []
        for release in releases:
            try:
                self._add_release(scenarios, release, again=again)
            except NoJars as problem:
                self.announce(str(problem))
                missing.append(release.name)
        return missing

    def drop_outdated(self) -> list[Cell]:
        """Take away what was found of a course that is another by now; what that was."""
        dropped = []
        for cell in list(self.cells):
            self.report(f"{cell.scenario} on Kafka {cell.release}")
            if not self.is_current(cell):
                dropped.append(cell)
        if dropped:
            self.cells = [cell for cell in self.cells if cell not in dropped]
            write_cells(self.results, self.cells)
        return dropped

    def is_current(self, cell: Cell) -> bool:
        """True if the result is of a course that is still valid."""
        release = kafka_release(cell.release)
        courses = self._courses(find_scenario(cell.scenario), release)
        return any(course_digest(course, release) == cell.course for course in courses)

    def _add_release(
        self, scenarios: Sequence[Scenario], release: KafkaRelease, *, again: bool
    ) -> None:
        left = [
            (course, scenario)
            for scenario in scenarios
            if again or not self._counts(scenario, release)
            for course in itertools.islice(self._courses(scenario, release), 1)
        ]
        if not left:
            return
        files = class_path(release, folder=self.jars, announce=self.announce)
        left.sort(key=lambda pair: kind_of(pair[0]))
        with work_folder(None) as folder:
            site = Site(release, files, folder, self.announce, self.report)
            with SharedClusters(site) as clusters:
                for _, scenario in left:
                    self._try(scenario, site, clusters)

    def _try(self, scenario: Scenario, site: Site, clusters: SharedClusters) -> None:
        """Take the courses of an entry, until one can be steered to its end."""
        for course in self._courses(scenario, site.release):
            self.announce(f"{scenario.name} on Kafka {site.release.name}")
            try:
                found = unsteerable(course, site.release) or confirm_among_others(
                    course, site, clusters
                )
            except CannotConfirm as problem:
                # A cluster that did not come up is not to end a survey of an hour.
                clusters.end()
                self.announce(f"not tried: {problem}")
                return
            self._note(scenario, site.release, course, found)
            if found.judgement is not Judgement.NOT_STEERABLE:
                return

    def _note(
        self, scenario: Scenario, release: KafkaRelease, course: Course, found: Confirmation
    ) -> None:
        held = found.judgement is Judgement.HELD
        confirmed = found.judgement is Judgement.CONFIRMED
        cell = Cell(
            scenario=scenario.name,
            release=release.name,
            judgement=found.judgement.name,
            step=found.step,
            reason=course.parting if held else "" if confirmed else found.reason,
            traced=course.trace.version,
            course=course_digest(course, release),
            seconds=round(found.seconds, 1),
            waited=None if found.waited is None else round(found.waited, 1),
            ended_by=found.ended_by,
        )
        self.announce(f"{cell.scenario} on Kafka {cell.release}: {cell.shown}")
        self.cells = replace_cell(self.cells, cell)
        write_cells(self.results, self.cells)

    def _counts(self, scenario: Scenario, release: KafkaRelease) -> bool:
        """True if there is a result and its course is still valid.

        A result "not steerable" counts only for the last possible course.
        """
        place = scenario.name, release.name
        cell = next((c for c in self.cells if (c.scenario, c.release) == place), None)
        if cell is None:
            return False
        courses = self._courses(scenario, release)
        if cell.judged is Judgement.NOT_STEERABLE:
            courses = iter([*courses][-1:])
        return any(course_digest(course, release) == cell.course for course in courses)

    def _courses(self, scenario: Scenario, release: KafkaRelease) -> Iterator[Course]:
        """Courses to try on brokers, in order; where there is none, the reason is noted."""
        try:
            for number in itertools.count():
                shown = self._way(scenario, release.rules, number)
                if shown is None:
                    return
                if isinstance(shown.claim, Behaviour):
                    require_visible(shown.claim)
                yield course_of(shown.finding.replayed, shown.problem.model, shown.claim, release)
        except CannotConfirm as problem:
            self.announce(f"{scenario.name} on Kafka {release.name}: {problem}")

    def _way(self, scenario: Scenario, rules: str, number: int) -> Counterexample | None:
        """Searched for once, for all releases with these rules. Raises `CannotConfirm`."""
        place = scenario.name, rules
        if place not in self._searched:
            self._searched[place] = [], ways_shown(scenario, rules, self.report)
        found, more = self._searched[place]
        while len(found) <= number:
            try:
                found.append(next(more, None))
            except NotFound as problem:
                self.announce(f"{scenario.name}: {problem}")
                found.append(None)
        return found[number]
