#!/usr/bin/env python3
"""Run the Murphi model of the message grain with Rumur and print what it found as JSON.

The model, message_peer.m, was written from the reference and SEMANTICS.md alone, so its counts
cross-check those of the model in this project. Needs `rumur` and a C compiler; nothing else.

Every question gets its own verifier: one without claims, for the counts, and one per claim, because
Rumur stops at the first violation. All run on one thread, where Rumur explores breadth first, so
the first violation it meets is at the least depth.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

MODEL = Path(__file__).with_name("message_peer.m")

#: In the order of the sheet: the model numbers them from 1.
CLAIMS = (
    "committed-record-lost",
    "acknowledged-durable",
    "divergence-below-hw",
    "inconsistent-read",
)

#: Option -> (constant of the model, spelling of each value). Plain numbers have no spelling table.
WORDS: dict[str, tuple[str, dict[str, int]]] = {
    "truncation": ("TRUNCATE_BY_EPOCH", {"hw": 0, "epoch": 1}),
    "unclean": ("UNCLEAN", {"off": 0, "on": 1}),
    "acks": ("ACKS", {"0": 0, "1": 1, "all": 2}),
    "restart_detection": ("RESTART_DETECTION", {"none": 0, "follower": 1, "any": 2}),
    "hw_in_response": ("HW_AFTER_FETCH", {"pre": 0, "post": 1}),
    "parked": ("PARKED", {"off": 0, "on": 1}),
    "lost_epochs": ("FORGET_EPOCHS", {"kept": 0, "forgotten": 1}),
}
NUMBERS = {
    "replicas": "REPLICAS",
    "records": "RECORDS",
    "epochs": "EPOCHS",
    "restarts": "RESTARTS",
    "moves": "MOVES",
    "min_isr": "MIN_ISR",
}
DEFAULTS: dict[str, str | int] = {
    "truncation": "hw",
    "replicas": 2,
    "records": 2,
    "epochs": 2,
    "restarts": 2,
    "moves": 0,
    "unclean": "off",
    "acks": "all",
    "min_isr": 1,
    "restart_detection": "follower",
    "hw_in_response": "post",
    "parked": "off",
    "lost_epochs": "forgotten",
}

#: Greater than the depth of any space worth waiting for; the counting run fails if it is reached.
DEPTH_BOUND = 255


class PeerError(Exception):
    """The peer could not answer: a tool is missing, failed, or said something unexpected."""


def constants(settings: dict[str, str | int], claim: int) -> dict[str, int]:
    """Translate settings into the values of the model's constants."""
    values = {name: int(settings[option]) for option, name in NUMBERS.items()}
    for option, (name, spelling) in WORDS.items():
        values[name] = spelling[str(settings[option])]
    values["CLAIM"] = claim
    return values


def fill_in(source: str, values: dict[str, int]) -> str:
    """Put the values into the model's text, each into the one line that defines the constant."""
    for name, value in values.items():
        source, found = re.subn(rf"(?m)^(  {name}:) \d+;", rf"\1 {value};", source)
        if found != 1:
            raise PeerError(f"constant {name} is defined {found} times in {MODEL.name}")
    return source


def run(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and keep what it wrote."""
    return subprocess.run(command, capture_output=True, text=True, check=False)


def must(command: list[str | Path]) -> None:
    """Run a command that has to succeed."""
    done = run(command)
    if done.returncode != 0:
        first = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[0]
        raise PeerError(f"{command[0]} failed: {first}")


def build(directory: Path, source: str, options: list[str]) -> Path:
    """Generate and compile a verifier.

    Rumur's own defaults would reduce by symmetry, report deadlocks and use several threads.
    """
    model, program, binary = (directory / name for name in ("peer.m", "peer.c", "peer"))
    model.write_text(source, encoding="utf-8")
    fixed = ["--threads", "1", "--symmetry-reduction", "off", "--deadlock-detection", "off"]
    fixed += ["--output-format", "machine-readable"]
    must(["rumur", *fixed, *options, "--output", program, model])
    wide = ["-mcx16"] if platform.machine() in ("x86_64", "AMD64") else []
    must(["gcc", "-std=c11", "-O3", "-DNDEBUG", *wide, program, "-o", binary, "-pthread"])
    return binary


def verify(source: str, options: list[str]) -> tuple[ElementTree.Element, str]:
    """Run a verifier for the source; return its report and what it traced."""
    with tempfile.TemporaryDirectory(prefix="message-peer-") as name:
        done = run([build(Path(name), source, options)])
    try:
        return ElementTree.fromstring(done.stdout.encode()), done.stderr
    except ElementTree.ParseError as error:
        last = done.stderr.strip() or f"exit code {done.returncode}"
        raise PeerError(f"the verifier did not finish: {last}") from error


def summary(report: ElementTree.Element) -> tuple[int, int]:
    """Read the numbers of distinct states and of fired rules from a report."""
    found = report.find("summary")
    if found is None:
        raise PeerError("the verifier gave no summary")
    return int(found.attrib["states"]), int(found.attrib["rules_fired"])


def count(source: str) -> dict[str, Any]:
    """Explore everything without a claim and count.

    A bound that is never reached makes Rumur keep each state's depth beside the state, and the
    memory trace then tells how many states it kept at each depth.
    """
    options = ["--bound", str(DEPTH_BOUND), "--trace", "memory_usage"]
    report, traced = verify(source, [*options, "--counterexample-trace", "off"])
    failure = report.find("error/message")
    if failure is not None:
        raise PeerError(f"the model itself went wrong: {failure.text}")
    distinct, fired = summary(report)
    levels = [int(n) for n in re.findall(r"depth \d+: allocated (\d+) state", traced)]
    if len(levels) > DEPTH_BOUND:
        raise PeerError(f"the space is deeper than {DEPTH_BOUND}")
    if sum(levels) != distinct:
        raise PeerError(f"levels add up to {sum(levels)}, not to {distinct}")
    return {
        "distinct": distinct,
        "fired": fired,
        "generated": fired + 1,
        "depth": len(levels) - 1,
        "levels": levels,
    }


def judge(source: str, claim: str) -> dict[str, Any]:
    """Check one claim: whether it holds and, if not, the shortest way to break it."""
    report, _ = verify(source, ["--counterexample-trace", "diff"])
    failure = report.find("error")
    if failure is None:
        return {"verdict": "holds"}
    message = failure.findtext("message", "")
    if claim not in message:
        raise PeerError(f"the model itself went wrong: {message}")
    steps = [re.sub(r"\s+", " ", text(step)) for step in failure.findall("transition")[1:]]
    return {"verdict": "violated", "depth": len(steps), "trace": steps}


def text(step: ElementTree.Element) -> str:
    """Write a transition of a trace on one line: the rule's name and its arguments."""
    name = re.sub(r'^Rule "(.*)"$', r"\1", (step.text or "").strip())
    return f"{name}({', '.join(p.text or '' for p in step.findall('parameter'))})"


def examine(settings: dict[str, str | int], claims: list[str], counted: bool) -> dict[str, Any]:
    """Answer everything asked about one setting."""
    template = MODEL.read_text(encoding="utf-8")
    started = time.monotonic()
    result: dict[str, Any] = {"settings": settings}
    if counted:
        result |= count(fill_in(template, constants(settings, 0)))
    result["claims"] = {
        claim: judge(fill_in(template, constants(settings, CLAIMS.index(claim) + 1)), claim)
        for claim in claims
    }
    result["seconds"] = round(time.monotonic() - started, 1)
    return result


def at_least(least: int) -> Callable[[str], int]:
    """Make an argument type: a whole number that is not below `least`."""

    def number(word: str) -> int:
        if int(word) < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}")
        return int(word)

    return number


def arguments(argv: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for option, default in DEFAULTS.items():
        flag = "--" + option.replace("_", "-")
        if option in WORDS:
            parser.add_argument(flag, choices=list(WORDS[option][1]), default=default)
        else:
            least = 1 if option in ("replicas", "records") else 0
            parser.add_argument(flag, type=at_least(least), default=default)
    parser.add_argument("--claims", default="all", choices=["all", "none", *CLAIMS])
    parser.add_argument("--no-counts", action="store_true", help="only judge the claims")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Print the answers; 0 whatever the verdicts, 2 when there is no answer."""
    asked = arguments(argv)
    settings = {option: getattr(asked, option) for option in DEFAULTS}
    named = {"all": list(CLAIMS), "none": []}.get(asked.claims, [asked.claims])
    for tool in ("rumur", "gcc"):
        if shutil.which(tool) is None:
            print(f"message_peer: {tool} is not installed", file=sys.stderr)
            return 2
    try:
        result = examine(settings, named, not asked.no_counts)
    except PeerError as error:
        print(f"message_peer: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
