"""The failing tests of docs/upstream/ against released versions of Kafka.

    make upstream
    python -m lab.bench.upstream [--kafka 4.3.1 ...] [--patched [--sources FOLDER]]

Compiles the test of each ticket with a release's own test classes and runs it; needs Java and
Maven, which fetches these: three minutes the first time, a minute a release later. --patched
applies the patches of the tickets to the release's sources (which needs `patch`), compiles these
and puts them before its jars: every test passes then. --sources is a folder with the sources of a
release that publishes none for Maven (4.4.0), as in its kafka-4.4.0-src.tgz. Exit code 0 if each
test has the outcome that its ticket says, 3 if not.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from waterline.checker.kafka.confirm.jars import NoMaven, complaint_of, run_maven

ROOT = Path(__file__).parents[2]
UPSTREAM = ROOT / "docs" / "upstream"
RELEASES = ("3.9.2", "4.2.1", "4.3.1", "4.4.0")
PATCHED_RELEASES = ("4.2.1", "4.3.1")
PATCHED_MODULES = (
    ("core", "kafka_2.13", "scala"),
    ("metadata", "kafka-metadata", "java"),
    ("storage", "kafka-storage", "java"),
)
"""Folder, package and language of the modules that the patches change."""
MAVEN_SECONDS_MAX = 1800
Release = tuple[int, ...]
MOVED: tuple[tuple[Release, str, str], ...] = (
    ((4, 3), "kafka.common.record.internal.", "kafka.common.record."),
    ((4, 0), "org.apache.kafka.storage.internals.checkpoint.", "kafka.server.checkpoints."),
)
"""Since when classes that are imported are in a package, and the package before."""
WITHOUT_TEST_CLASSES = {"4.2.2": "4.2.1", "4.4.0": "4.3.1"}
"""Releases that publish no test classes, each with one whose test classes are found instead."""
FIRST: Release = (0,)
NEVER: Release = (sys.maxsize,)


@dataclass(frozen=True, slots=True)
class Fails:
    """How a test method fails, and on which releases; it passes on others, which lack the fault."""

    begins: str
    """How its message begins."""
    since: Release = FIRST
    before: Release = NEVER


@dataclass(frozen=True, slots=True)
class Context:
    """A source that tests are compiled with, on some releases."""

    name: str
    since: Release = FIRST
    before: Release = NEVER


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test class, with the outcome of each of its methods."""

    ticket: str
    """The text for Kafka's JIRA that shows it."""
    file: str
    fails: Mapping[str, Fails]
    passes: tuple[str, ...]
    since: Release = (3, 9)
    """The first release against which the test compiles."""
    test_classes: bool = False
    """True if it extends a test class of Kafka."""
    contexts: tuple[Context, ...] = ()

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.file.partition(".")[0]

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of all, sorted."""
        return tuple(sorted([*self.fails, *self.passes]))

    def failures_on(self, kafka: str) -> dict[str, str]:
        """By name of the methods that fail on this release: how the message begins."""
        return {
            name: fails.begins
            for name, fails in self.fails.items()
            if fails.since <= numbers(kafka) < fails.before
        }


REGISTRATIONS = (Context("before-4.2/package.scala", before=(4, 2)),)
"""Before 4.2 `makeLeader` takes no PartitionRegistration."""
CONTROLLER = (Context("ReassignmentTestContext.java"),)
DIRECTORIES = (
    Context("before-4.4/LogDirectories.scala", before=(4, 4)),
    Context("since-4.4/LogDirectories.scala", since=(4, 4)),
)
"""LogManager is written in Java since 4.4."""
HIGH_WATERMARK = Fails("Unexpected high watermark")
ELR = Fails("Unexpected ELR")
TESTS = (
    FailingTest(
        "C21.md",
        "MissedLeaderEpochTest.scala",
        fails={
            "testFollowerStateIsResetIfLeaderMissedAnEpoch": HIGH_WATERMARK,
            "testFollowerStateIsResetIfOneDeltaHasTwoElections": HIGH_WATERMARK,
            "testFetchOfFormerEpochIsNotRecordedAfterMissedEpoch": HIGH_WATERMARK,
        },
        passes=(
            "testFollowerStateIsResetIfLeaderFollowedInBetween",
            "testFollowerStateIsResetIfTwoDeltasHaveAnElectionEach",
        ),
        test_classes=True,
        contexts=REGISTRATIONS,
    ),
    FailingTest(
        "C21.md",
        "StaleFetchIsrExpansionTest.scala",
        fails={
            "testFetchOfFormerEpochDoesNotExpandIsr": Fails("Unexpected AlterPartition requests")
        },
        passes=("testFetchOfCurrentEpochExpandsIsr",),
        since=(4, 1),
        test_classes=True,
        contexts=REGISTRATIONS,
    ),
    FailingTest(
        "C43.md",
        "RefusedIsrExpansionTest.scala",
        fails={"testHighWatermarkAdvancesIfExpansionIsRefused": HIGH_WATERMARK},
        passes=("testHighWatermarkAdvancesIfMetadataOverridesExpansion",),
        since=(4, 1),
        test_classes=True,
        contexts=REGISTRATIONS,
    ),
    FailingTest(
        "C50.md",
        "ReplayedIsrChangeTest.scala",
        fails={"testExpansionIsPendingAfterRecordOfKnownPartitionEpoch": HIGH_WATERMARK},
        passes=(
            "testExpansionIsOverAfterRecordOfLaterPartitionEpoch",
            "testExpansionIsPendingAfterRecordOfOlderPartitionEpoch",
            "testExpansionIsPendingIfRecordCameBefore",
        ),
        since=(4, 1),
        test_classes=True,
        contexts=REGISTRATIONS,
    ),
    FailingTest(
        "stale-epoch-append.md",
        "StaleEpochAppendTest.scala",
        fails={
            "testFollowerDoesNotAppendRecordOfOlderEpochThanItsLast": Fails(
                "Unexpected end of epoch 3"
            ),
        },
        passes=(
            "testFollowerDoesNotAppendRecordOfLaterEpochThanItsOwn",
            "testFetchResponseSentAfterTruncationHasOtherRecords",
            "testFetchResponseSentBeforeTruncationHasTheRecordsThatWereRead",
            "testLeaderFindsDivergenceByTheLastEpochOfTheFollower",
        ),
        test_classes=True,
        contexts=REGISTRATIONS,
    ),
    FailingTest(
        "removed-replica-in-elr.md",
        "RemovedReplicaElrTest.java",
        fails={
            "testReplicaOfCancelledReassignmentIsNotEligible": ELR,
            "testReplicaOfCompletedReassignmentIsNotEligible": Fails(
                "Unexpected ELR", since=(4, 3)
            ),
            "testReplicasTakenAwayByALowerReplicationFactorAreNotEligible": ELR,
            "testReplicaAddedAgainIsNotElected": Fails("Unexpected leader"),
            "testLastKnownLeaderIsElectedAfterCancelledReassignment": Fails("Unexpected leader"),
            "testReplicaCanBeAddedAgainWhileThereIsNoLeader": Fails("Unexpected error"),
            "testReplicaThatWasLeftInTheElrIsNotEligibleOnceItIsAdded": ELR,
        },
        passes=(
            "testReplicaThatLeavesTheIsrIsEligible",
            "testReplicaIsEligibleUntilTheReassignmentEnds",
        ),
        since=(4, 2),
        contexts=CONTROLLER,
    ),
    FailingTest(
        "taken-directory.md",
        "TakenDirectoryElrTest.java",
        fails={
            "testReplicaOfTakenDirectoryIsNotElected": Fails("Unexpected leader", since=(4, 3)),
            "testReplicaOfFailedDirectoryIsNotElected": Fails("Unexpected leader", since=(4, 3)),
            "testReplicaThatIsAssignedBeforeTheRegistrationIsNotElected": Fails(
                "Unexpected leader", since=(4, 3)
            ),
            "testReplicaThatMovedBetweenDirectoriesIsElected": Fails(
                "Unexpected leader", before=(4, 3)
            ),
        },
        passes=(
            "testReplicaOfTakenDirectoryIsNotElectedBeforeItIsAssigned",
            "testReplicaIsElectedIfItsDirectoryIsThere",
        ),
        since=(4, 2),
        contexts=CONTROLLER,
    ),
    FailingTest(
        "overridden-reassignment.md",
        "OverriddenReassignmentTest.java",
        fails={
            "testOverrideWithTheFormerReplicasEnds": Fails("Unexpected reassignment", since=(4, 3)),
            "testOverrideThatKeepsEveryReplicaRemovesNone": Fails("Unexpected replicas"),
            "testCancellationAfterOverrideRemovesWhatWasAdded": Fails("Unexpected replicas"),
            "testOverrideWaitsForReplicaThatWasBeingAdded": Fails(
                "Unexpected replicas", since=(4, 3)
            ),
        },
        passes=(
            "testCancellationAfterRepetitionRemovesWhatWasAdded",
            "testOverrideWithAnotherReplicaEnds",
            "testCancelledReassignmentEnds",
        ),
        since=(4, 2),
        contexts=CONTROLLER,
    ),
    FailingTest(
        "future-log-keeps-a-record.md",
        "FutureLogTruncationTest.scala",
        fails={
            "testFutureLogIsTruncatedIfFollowerDoesNotKnowTheEpoch": Fails(
                "Unexpected truncations of the future log"
            ),
        },
        passes=("testFutureLogIsTruncatedIfFollowerKnowsTheEpoch",),
        since=(4, 2),
    ),
    FailingTest(
        "abandoned-future-log.md",
        "AbandonedFutureLogTest.scala",
        fails={
            "testShorterFutureLogDoesNotReplaceTheLog": Fails("Unexpected log end offset"),
            "testFutureLogOfAnotherEpochDoesNotReplaceTheLog": Fails("Unexpected leader epoch"),
        },
        passes=(
            "testShorterFutureLogIsKept",
            "testFutureLogThatHasCaughtUpReplacesTheLog",
        ),
        since=(4, 2),
        contexts=DIRECTORIES,
    ),
)


def numbers(kafka: str) -> Release:
    """`4.3.1` as numbers, which have an order."""
    return tuple(int(part) for part in kafka.split("."))


def compiled_against(kafka: str) -> tuple[FailingTest, ...]:
    """The tests that compile against this release."""
    return tuple(
        test
        for test in TESTS
        if numbers(kafka) >= test.since
        and not (test.test_classes and kafka in WITHOUT_TEST_CLASSES)
    )


def text_of(name: str, kafka: str) -> str:
    """A source as it is written for trunk, with the imports of this release."""
    text = (UPSTREAM / name).read_text(encoding="utf-8")
    for since, package, former in MOVED:
        if numbers(kafka) < since:
            text = text.replace(package, former)
    return text


def sources_for(kafka: str) -> dict[str, str]:
    """By file name: all that is compiled against this release."""
    tests = compiled_against(kafka)
    contexts = [
        context.name
        for test in tests
        for context in test.contexts
        if context.since <= numbers(kafka) < context.before
    ]
    return {
        Path(name).name: text_of(name, kafka)
        for name in [*(test.file for test in tests), *contexts]
    }


def patches_in(text: str) -> dict[str, str]:
    """By the release that it is written for: the patch that a ticket has."""
    return dict(re.findall(r"Against (\d+\.\d+\.\d+)\b.*?```diff\n(.*?)```", text, re.DOTALL))


def patches(kafka: str, tests: Iterable[FailingTest]) -> str:
    """The patches of the tests' tickets, one after the other, each that nearest to this release."""
    found = []
    for name in dict.fromkeys(test.ticket for test in tests):
        by_release = patches_in((UPSTREAM / name).read_text(encoding="utf-8"))
        written = sorted(by_release, key=numbers)
        before = [each for each in written if numbers(each) <= numbers(kafka)]
        found.append(by_release[(before or written[:1])[-1]])
    return "".join(found)


def outcomes(report: str) -> dict[str, str]:
    """By test: what failed, "" where nothing did. `report` is a JUnit report, as XML."""
    found = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        problem = next((each for each in case if each.tag in ("failure", "error")), None)
        found[case.attrib["name"]] = "" if problem is None else problem.attrib.get("message", "?")
    return found


def is_as_told(
    test: FailingTest, kafka: str, found: Mapping[str, str], *, patched: bool = False
) -> bool:
    """True if each method has its outcome on this release, and no other was run."""
    if tuple(sorted(found)) != test.methods:
        return False
    fails = {} if patched else test.failures_on(kafka)
    return all(
        problem.startswith(fails[method]) if method in fails else problem == ""
        for method, problem in found.items()
    )


def _maven(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_maven(*arguments, folder=UPSTREAM, seconds_max=MAVEN_SECONDS_MAX)


def fetch_sources(kafka: str, work: Path) -> Path:
    """A folder with the release's sources that its tickets change, as in Kafka's repository."""
    for module, artifact, folder in PATCHED_MODULES:
        what = f"-Dartifact=org.apache.kafka:{artifact}:{kafka}:jar:sources"
        _maven("dependency:copy", what, f"-DoutputDirectory={work}")
        with zipfile.ZipFile(work / f"{artifact}-{kafka}-sources.jar") as sources:
            sources.extractall(work / "sources" / module / "src" / "main" / folder)
    return work / "sources"


def write_patched_sources(kafka: str, work: Path, sources: Path | None) -> None:
    """The sources that the patches change, as they are with them."""
    text = patches(kafka, compiled_against(kafka))
    unchanged = sources or fetch_sources(kafka, work)
    for name in sorted(set(re.findall(r"(?m)^\+\+\+ b/(\S+)", text))):
        (work / "patched" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(unchanged / name, work / "patched" / name)
    command = ["patch", "--strip=1", "--batch", f"--directory={work / 'patched'}"]
    subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL)
    for module, _, folder in PATCHED_MODULES:
        after = work / "patched" / module / "src" / "main" / folder
        if after.exists():
            shutil.copytree(after, work / "src", dirs_exist_ok=True)


def run_tests(
    kafka: str, work: Path, *, patched: bool, sources: Path | None = None
) -> dict[str, dict[str, str]]:
    """By test class: what came of each method on this release; {} where Maven ran none."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "src").mkdir(parents=True)
    for name, text in sources_for(kafka).items():
        (work / "src" / name).write_text(text, encoding="utf-8")
    try:
        if patched:
            write_patched_sources(kafka, work, sources)
        test_classes = WITHOUT_TEST_CLASSES.get(kafka, kafka)
        done = _maven(
            f"-Dkafka.version={kafka}",
            f"-Dkafka.test.version={test_classes}",
            f"-Dwork={work}",
            "test",
        )
    except (OSError, KeyError, subprocess.SubprocessError) as problem:
        print(f"{kafka}: {problem}")
        return {}
    reports = list(work.glob("surefire-reports/TEST-*.xml"))
    if not reports:
        print(f"{kafka}: Maven ran no test: {complaint_of(done)}")
    return {path.stem.split(".")[-1]: outcomes(path.read_text("utf-8")) for path in reports}


def release(text: str) -> str:
    """`4.3.1`"""
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no release of Kafka, as 4.3.1 is")
    return text


def said_of(test: FailingTest, kafka: str, method: str, problem: str) -> str:
    """What came of a method; if it passes and fails on other releases, with the reason."""
    if problem:
        return f"fails: {problem}"
    elsewhere = method in test.fails and method not in test.failures_on(kafka)
    return "passes, for this release lacks the fault" if elsewhere else "passes"


def main() -> None:
    """Run the tests on every release asked for."""
    parser = argparse.ArgumentParser(description="The failing tests of docs/upstream/.")
    parser.add_argument("--kafka", action="append", type=release, metavar="VERSION")
    parser.add_argument("--patched", action="store_true", help="with the patches of the tickets")
    parser.add_argument(
        "--sources", type=Path, metavar="FOLDER", help="with --patched: Kafka's sources, unpacked"
    )
    asked = parser.parse_args()
    releases = asked.kafka or (PATCHED_RELEASES if asked.patched else RELEASES)
    all_as_told = True
    for kafka in releases:
        name = f"{kafka}, patched" if asked.patched else kafka
        work = ROOT / "build" / f"upstream-{name.replace(', ', '-')}"
        try:
            found = run_tests(kafka, work, patched=asked.patched, sources=asked.sources)
        except NoMaven as problem:
            sys.exit(f"Kafka's test classes are fetched with Maven: {problem}")
        for test in compiled_against(kafka):
            came = found.get(test.name, {})
            for method, problem in sorted(came.items()):
                print(f"{name} {test.name}.{method}: {said_of(test, kafka, method, problem)}")
            all_as_told = all_as_told and is_as_told(test, kafka, came, patched=asked.patched)
    sys.exit(0 if all_as_told else 3)


if __name__ == "__main__":
    main()
