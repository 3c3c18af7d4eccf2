"""Survey of catalogue entries on releases: what was found before and still counts is kept.

What was found counts as long as the course is the same, its steps and all that brokers are compared
with (`checker.kafka.confirm.course_digest`). Each result is written down as it comes, so that a
survey that was ended goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checker.kafka.confirm.carrying_out import work_folder
from checker.kafka.confirm.cells import Cell, read_cells, replaced, write_cells
from checker.kafka.confirm.clusters import SharedClusters, kind_of
from checker.kafka.confirm.counterexample import Counterexample, NotFound, searched
from checker.kafka.confirm.course import Course, course_of
from checker.kafka.confirm.course_digest import course_digest
from checker.kafka.confirm.errors import CannotConfirm, NoJars
from checker.kafka.confirm.jars import class_path
from checker.kafka.confirm.releases import KafkaRelease, kafka_release
from checker.kafka.confirm.replay import (
    Confirmation,
    Judgement,
    confirm_among_others,
    unsteerable,
)
from checker.kafka.confirm.site import Site, Tell
from checker.kafka.confirm.waiting import require_visible
from checker.kafka.scenarios.catalogue import find_scenario
from checker.kafka.scenarios.scenario import Scenario
from model.core.claim import Behaviour


@dataclass(slots=True)
class Survey:
    """Results in a file, and what is done for more of them. `jars` is a folder that has them."""

    results: Path
    jars: Path | None
    announce: Tell
    report: Tell
    cells: list[Cell] = field(init=False)
    _searched: dict[tuple[str, str], Counterexample | CannotConfirm] = field(default_factory=dict)

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
            release = kafka_release(cell.release)
            course = self._course(find_scenario(cell.scenario), release)
            if course is None or course_digest(course, release) != cell.course:
                dropped.append(cell)
        if dropped:
            self.cells = [cell for cell in self.cells if cell not in dropped]
            write_cells(self.results, self.cells)
        return dropped

    def _add_release(
        self, scenarios: Sequence[Scenario], release: KafkaRelease, *, again: bool
    ) -> None:
        left = []
        for scenario in scenarios:
            course = self._course(scenario, release)
            if course is None or (not again and self._counts(scenario, release, course)):
                continue
            refused = unsteerable(course, release)
            if refused is not None:
                self._note(scenario, release, course, refused)
            else:
                left.append((scenario, course))
        if not left:
            return
        files = class_path(release, folder=self.jars, announce=self.announce)
        left.sort(key=lambda pair: kind_of(pair[1]))
        with work_folder(None) as folder:
            site = Site(release, files, folder, self.announce, self.report)
            with SharedClusters(site) as clusters:
                for scenario, course in left:
                    self._try(scenario, course, site, clusters)

    def _try(
        self, scenario: Scenario, course: Course, site: Site, clusters: SharedClusters
    ) -> None:
        self.announce(f"{scenario.name} on Kafka {site.release.name}")
        try:
            found = confirm_among_others(course, site, clusters)
        except NoJars:
            raise
        except CannotConfirm as problem:
            # A cluster that did not come up is not to end a survey of an hour.
            clusters.end()
            self.announce(f"not tried: {problem}")
            return
        self._note(scenario, site.release, course, found)

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
        self.cells = replaced(self.cells, cell)
        write_cells(self.results, self.cells)

    def _counts(self, scenario: Scenario, release: KafkaRelease, course: Course) -> bool:
        digest = course_digest(course, release)
        return any(
            (cell.scenario, cell.release, cell.course) == (scenario.name, release.name, digest)
            for cell in self.cells
        )

    def _course(self, scenario: Scenario, release: KafkaRelease) -> Course | None:
        """What there is to be taken on brokers; None where there is nothing, and why is told."""
        try:
            shown = self._counterexample(scenario, release.rules)
            if isinstance(shown.claim, Behaviour):
                require_visible(shown.claim)
        except CannotConfirm as problem:
            self.announce(f"{scenario.name} on Kafka {release.name}: {problem}")
            return None
        return course_of(shown.finding.replayed, shown.problem.model, shown.claim, release)

    def _counterexample(self, scenario: Scenario, rules: str) -> Counterexample:
        """Searched for once, for all releases with these rules. Raises `CannotConfirm`."""
        place = scenario.name, rules
        if place not in self._searched:
            try:
                self._searched[place] = searched(scenario, rules, self.report)
            except NotFound as problem:
                self._searched[place] = problem
        found = self._searched[place]
        if isinstance(found, CannotConfirm):
            raise found
        return found
