"""The failing tests of docs/upstream/ against released versions of Kafka.

    make upstream
    python -m bench.upstream [--kafka 4.3.1 ...] [--patched]

Compiles the test of each ticket with a release's own test classes and runs it; needs Java and
Maven, which fetches these: three minutes the first time, a minute a release later. --patched
applies the patches of the tickets to the release's sources (which needs `patch`), compiles these
and puts them before its jars: every test passes then. Exit code 0 if each test has the outcome
that its ticket says, 3 if not.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from checker.kafka.confirm.maven import NoMaven, complaint_of, run_maven

ROOT = Path(__file__).parent.parent
UPSTREAM = ROOT / "docs" / "upstream"
RELEASES = ("3.9.2", "4.2.1", "4.3.1")
PATCHED_RELEASE = "4.3.1"
"""The release for whose sources the tickets' patches are written."""
PATCHED_MODULES = (("core", "kafka_2.13", "scala"), ("storage", "kafka-storage", "java"))
"""Folder, package and language of the modules that the patches change."""
MAVEN_SECONDS_MAX = 1800
Release = tuple[int, ...]
MOVED: tuple[tuple[Release, str, str], ...] = (
    ((4, 3), "kafka.common.record.internal.", "kafka.common.record."),
    ((4, 0), "org.apache.kafka.storage.internals.checkpoint.", "kafka.server.checkpoints."),
)
"""Since when classes that are imported are in a package, and the package before."""
REGISTRATIONS_SINCE: Release = (4, 2)
"""Since when `makeLeader` takes a PartitionRegistration."""


@dataclass(frozen=True, slots=True)
class FailingTest:
    """A test class, with the outcome of each of its methods."""

    ticket: str
    """The text for Kafka's JIRA that shows it."""
    name: str
    fails: Mapping[str, str]
    """By name of the test method: how its failure begins."""
    passes: tuple[str, ...]
    since: Release = (3, 9)
    """The first release against which the test compiles."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of all, sorted."""
        return tuple(sorted([*self.fails, *self.passes]))


TESTS = (
    FailingTest(
        "C21.md",
        "MissedLeaderEpochTest",
        fails={
            "testFollowerStateIsResetIfLeaderMissedAnEpoch": "Unexpected high watermark",
            "testFollowerStateIsResetIfOneDeltaHasTwoElections": "Unexpected high watermark",
            "testFetchOfFormerEpochIsNotRecordedAfterMissedEpoch": "Unexpected high watermark",
        },
        passes=(
            "testFollowerStateIsResetIfLeaderFollowedInBetween",
            "testFollowerStateIsResetIfTwoDeltasHaveAnElectionEach",
        ),
    ),
    FailingTest(
        "C21.md",
        "StaleFetchIsrExpansionTest",
        fails={"testFetchOfFormerEpochDoesNotExpandIsr": "Unexpected AlterPartition requests"},
        passes=("testFetchOfCurrentEpochExpandsIsr",),
        since=(4, 1),
    ),
    FailingTest(
        "C43.md",
        "RefusedIsrExpansionTest",
        fails={"testHighWatermarkAdvancesIfExpansionIsRefused": "Unexpected high watermark"},
        passes=("testHighWatermarkAdvancesIfMetadataOverridesExpansion",),
        since=(4, 1),
    ),
    FailingTest(
        "C50.md",
        "ReplayedIsrChangeTest",
        fails={
            "testExpansionIsPendingAfterRecordOfKnownPartitionEpoch": "Unexpected high watermark",
        },
        passes=(
            "testExpansionIsOverAfterRecordOfLaterPartitionEpoch",
            "testExpansionIsPendingAfterRecordOfOlderPartitionEpoch",
            "testExpansionIsPendingIfRecordCameBefore",
        ),
        since=(4, 1),
    ),
    FailingTest(
        "stale-epoch-append.md",
        "StaleEpochAppendTest",
        fails={
            "testFollowerDoesNotAppendRecordOfOlderEpochThanItsLast": "Unexpected end of epoch 3",
        },
        passes=(
            "testFollowerDoesNotAppendRecordOfLaterEpochThanItsOwn",
            "testFetchResponseSentAfterTruncationHasOtherRecords",
            "testFetchResponseSentBeforeTruncationHasTheRecordsThatWereRead",
            "testLeaderFindsDivergenceByTheLastEpochOfTheFollower",
        ),
    ),
)


def numbers(kafka: str) -> Release:
    """`4.3.1` as numbers, which have an order."""
    return tuple(int(part) for part in kafka.split("."))


def compiled_against(kafka: str) -> tuple[FailingTest, ...]:
    """The tests that compile against this release."""
    return tuple(test for test in TESTS if numbers(kafka) >= test.since)


def text_of(name: str, kafka: str) -> str:
    """A source as it is written for trunk, with the imports of this release."""
    text = (UPSTREAM / name).read_text(encoding="utf-8")
    for since, package, former in MOVED:
        if numbers(kafka) < since:
            text = text.replace(package, former)
    return text


def sources_for(kafka: str) -> dict[str, str]:
    """By file name: all that is compiled against this release."""
    names = [f"{test.name}.scala" for test in compiled_against(kafka)]
    if numbers(kafka) < REGISTRATIONS_SINCE:
        names.append("before-4.2/package.scala")
    return {Path(name).name: text_of(name, kafka) for name in names}


def patches() -> str:
    """The patches of all tickets, one after the other."""
    names = dict.fromkeys(test.ticket for test in TESTS)
    texts = [(UPSTREAM / name).read_text(encoding="utf-8") for name in names]
    return "".join(
        patch for text in texts for patch in re.findall(r"```diff\n(.*?)```", text, re.DOTALL)
    )


def outcomes(report: str) -> dict[str, str]:
    """By test: what failed, "" where nothing did. `report` is a JUnit report, as XML."""
    found = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        problem = next((each for each in case if each.tag in ("failure", "error")), None)
        found[case.attrib["name"]] = "" if problem is None else problem.attrib.get("message", "?")
    return found


def is_as_told(test: FailingTest, found: Mapping[str, str], *, patched: bool = False) -> bool:
    """Whether each method has its outcome, and no other was run."""
    if tuple(sorted(found)) != test.methods:
        return False
    fails = {} if patched else test.fails
    return all(
        problem.startswith(fails[method]) if method in fails else problem == ""
        for method, problem in found.items()
    )


def _maven(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_maven(*arguments, folder=UPSTREAM, seconds_max=MAVEN_SECONDS_MAX)


def write_patched_sources(kafka: str, work: Path) -> None:
    """The sources that the patches change, as they are with them."""
    text = patches()
    for module, artifact, folder in PATCHED_MODULES:
        what = f"-Dartifact=org.apache.kafka:{artifact}:{kafka}:jar:sources"
        _maven("dependency:copy", what, f"-DoutputDirectory={work}")
        root = f"{module}/src/main/{folder}"
        with zipfile.ZipFile(work / f"{artifact}-{kafka}-sources.jar") as sources:
            for name in sorted(set(re.findall(rf"(?m)^\+\+\+ b/{root}/(\S+)", text))):
                sources.extract(name, work / "patched" / root)
    command = ["patch", "--strip=1", "--batch", f"--directory={work / 'patched'}"]
    subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL)
    for module, _, folder in PATCHED_MODULES:
        after = work / "patched" / module / "src" / "main" / folder
        shutil.copytree(after, work / "src", dirs_exist_ok=True)


def run_tests(kafka: str, work: Path, *, patched: bool) -> dict[str, dict[str, str]]:
    """By test class: what came of each method on this release; {} where Maven ran none."""
    shutil.rmtree(work, ignore_errors=True)
    (work / "src").mkdir(parents=True)
    for name, text in sources_for(kafka).items():
        (work / "src" / name).write_text(text, encoding="utf-8")
    try:
        if patched:
            write_patched_sources(kafka, work)
        done = _maven(f"-Dkafka.version={kafka}", f"-Dwork={work}", "test")
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


def main() -> None:
    """Run the tests on every release asked for."""
    parser = argparse.ArgumentParser(description="The failing tests of docs/upstream/.")
    parser.add_argument("--kafka", action="append", type=release, metavar="VERSION")
    parser.add_argument("--patched", action="store_true", help="with the patches of the tickets")
    asked = parser.parse_args()
    releases = asked.kafka or ((PATCHED_RELEASE,) if asked.patched else RELEASES)
    all_as_told = True
    for kafka in releases:
        name = f"{kafka}, patched" if asked.patched else kafka
        work = ROOT / "build" / f"upstream-{name.replace(', ', '-')}"
        try:
            found = run_tests(kafka, work, patched=asked.patched)
        except NoMaven as problem:
            sys.exit(f"Kafka's test classes are fetched with Maven: {problem}")
        for test in compiled_against(kafka):
            came = found.get(test.name, {})
            for method, problem in sorted(came.items()):
                said = f"fails: {problem}" if problem else "passes"
                print(f"{name} {test.name}.{method}: {said}", flush=True)
            all_as_told = all_as_told and is_as_told(test, came, patched=asked.patched)
    sys.exit(0 if all_as_told else 3)


if __name__ == "__main__":
    main()
