"""The failing test of docs/upstream/ against released versions of Kafka.

    make upstream
    python -m bench.upstream [--kafka 4.2.0 ...]

Compiles it with each release's own test classes and runs it; needs Java and Maven, which fetches
these: three minutes the first time, half a minute a release later. Exit code 0 if everywhere the
broker that missed an epoch fails and the one that did not passes, 3 if not.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
UPSTREAM = ROOT / "docs" / "upstream"
FAILS = "testLeaderThatMissedAnEpochForgetsWhatItsFollowersHad"
PASSES = "testLeaderThatHeardOfEveryEpochForgetsWhatItsFollowersHad"
RELEASES = ("3.9.1", "4.0.0", "4.1.0", "4.2.0")
RUN_SECONDS_MAX = 1800


def api_of(kafka: str) -> str:
    """The folder with the way in which this release is handed a decision."""
    number = tuple(int(part) for part in kafka.split("."))
    if number < (4, 0):
        return "3.9"
    return "4.0" if number < (4, 2) else "4.2"


def outcomes(report: str) -> dict[str, str]:
    """By test: what failed, "" where nothing did. `report` is a JUnit report, as XML."""
    found = {}
    for case in ElementTree.fromstring(report).iter("testcase"):
        problem = next((each for each in case if each.tag in ("failure", "error")), None)
        found[case.attrib["name"]] = "" if problem is None else problem.attrib.get("message", "?")
    return found


def is_as_told(found: dict[str, str]) -> bool:
    """Whether the one fails on the high watermark, and the control passes."""
    return found.get(FAILS, "").startswith("high watermark") and found.get(PASSES) == ""


def tried(maven: str, kafka: str) -> dict[str, str]:
    """What came of each test on this release; {} where it did not come to tests."""
    work = ROOT / "build" / f"upstream-{kafka}"
    shutil.rmtree(work, ignore_errors=True)
    settings = [f"-Dkafka.version={kafka}", f"-Dapi={api_of(kafka)}", f"-Dwork={work}"]
    command = [maven, "--batch-mode", "--quiet", "--strict-checksums", *settings, "test"]
    try:
        done = subprocess.run(
            command,
            cwd=UPSTREAM,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        print(f"{kafka}: {problem}")
        return {}
    reports = list((work / "surefire-reports").glob("TEST-*.xml"))
    if not reports:
        errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
        print(f"{kafka}: Maven ran no test: {errors[0] if errors else done.stderr.strip()}")
        return {}
    return outcomes(reports[0].read_text(encoding="utf-8"))


def release(text: str) -> str:
    """`4.2.0`"""
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no release of Kafka, as 4.2.0 is")
    return text


def main() -> None:
    """Run it on every release asked for."""
    parser = argparse.ArgumentParser(description="The failing test of docs/upstream/.")
    parser.add_argument("--kafka", action="append", type=release, metavar="VERSION")
    releases = parser.parse_args().kafka or RELEASES
    maven = shutil.which("mvn")
    if maven is None:
        sys.exit("there is no mvn on the PATH: install Maven, which fetches Kafka's test classes")
    all_as_told = True
    for kafka in releases:
        found = tried(maven, kafka)
        for test, problem in sorted(found.items()):
            print(f"{kafka} {test}: {'fails: ' + problem if problem else 'passes'}", flush=True)
        all_as_told = all_as_told and is_as_told(found)
    sys.exit(0 if all_as_told else 3)


if __name__ == "__main__":
    main()
