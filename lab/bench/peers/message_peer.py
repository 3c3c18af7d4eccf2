#!/usr/bin/env python3
"""Run the Murphi model of the message grain with Rumur and print what it found as JSON.

    message_peer.py VERSION [OPTION=VALUE ...]
    message_peer.py kip320-without-fencing epochs=3 restarts=1 moves=2

The model, message_peer.m, was written from the reference and SEMANTICS.md alone, so its counts
cross-check those of the model in this project. Needs `rumur` and a C compiler; nothing else. The
names of versions, features and options are those of Waterline's command line.

One verifier counts, also in how many states each claim is violated. Every claim that is violated
somewhere then gets its own, because Rumur stops at the first violation. All run on one thread,
where Rumur explores breadth first, so the first violation it meets is at the least depth.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

MODEL = Path(__file__).with_name("message_peer.m")

#: In the order of the sheet: the model numbers them from 1.
CLAIMS = (
    "no_committed_loss",
    "acknowledged_durable",
    "no_divergence_below_hw",
    "consistent_read",
    "candidates_complete",
    "remote_leo_honest",
    "log_matching",
    "log_matching_by_epoch",
    "no_endless_question",
)

TRUNCATIONS = {
    "truncate-to-hw": 0,
    "truncate-by-epoch": 1,
    "truncate-by-epochs": 2,
    "truncate-by-epochs-2.0": 3,
    "truncate-on-fetch": 4,
}
KIP320_CODE = (
    "fencing",
    "epoch-on-leading",
    "truncate-every-epoch",
    "isr-from-epoch-start",
    "truncate-out-of-range",
    "consumer-validation",
    "shrink-only-lagging",
)
KIP320 = (
    *KIP320_CODE,
    "truncation-lowers-hw",
    "refusal-tells-nothing",
    "moved-fetch-tries-hw",
    "session-fencing",
    "truncation-clears-epochs",
)
ON_FETCH = (*KIP320, "diverging-guard")
KRAFT = (*ON_FETCH, "alter-partition", "maximal-isr", "kraft", "fenced-check", "steps-down")
KIP903 = (*KRAFT, "broker-epoch", "stale-fetch-check")
UNTIL_3_7 = ("shrink-raises-epoch", "completes-when-added")
ELR = (
    *KIP903,
    "hw-needs-min-isr",
    "elr",
    "registration-removes",
    "unclean-mark-kept",
    "append-checks-epoch",
    "new-directory-empties-elr",
)
FEATURES = (
    *ELR,
    "shrink-raises-epoch",
    "longest-log",
    "fresh-remote-leo",
    "fresh-remote-leo-after-gap",
    "truncate-after-gap",
    "last-known-leader",
    "last-known-leader-fenced",
    "refusal-tries-hw",
    "departure-tries-hw",
    "completes-when-added",
    "shrink-waits-for-targets",
    "elr-only-replicas",
    "lost-directory-is-unclean",
    "coordinator",
    "truncate-leaderless",
    "follower-hw-at-end",
    "fresh-on-every-notice",
)
FLUSS_MAIN = (
    "truncate-every-epoch",
    "truncate-out-of-range",
    "shrink-only-lagging",
    "truncation-lowers-hw",
    "refusal-tells-nothing",
    "moved-fetch-tries-hw",
    "alter-partition",
    "maximal-isr",
    "fenced-check",
    "hw-needs-min-isr",
    "coordinator",
    "truncate-leaderless",
    "follower-hw-at-end",
)
#: Feature -> what there must be as well, be it features or a way to truncate.
NEEDS = {
    "maximal-isr": ("alter-partition",),
    "kraft": ("alter-partition",),
    "fenced-check": ("alter-partition",),
    "broker-epoch": ("alter-partition", "kraft"),
    "shrink-raises-epoch": ("kraft",),
    "elr": ("alter-partition", "kraft"),
    "steps-down": ("kraft",),
    "stale-fetch-check": ("broker-epoch",),
    "registration-removes": ("kraft",),
    "unclean-mark-kept": ("elr",),
    "last-known-leader": ("elr",),
    "last-known-leader-fenced": ("last-known-leader",),
    "refusal-tries-hw": ("alter-partition",),
    "departure-tries-hw": ("alter-partition",),
    "completes-when-added": ("kraft",),
    "shrink-waits-for-targets": ("completes-when-added",),
    "elr-only-replicas": ("elr",),
    "new-directory-empties-elr": ("elr",),
    "lost-directory-is-unclean": ("elr",),
    "diverging-guard": ("truncate-on-fetch",),
    "coordinator": ("alter-partition",),
    "truncate-leaderless": ("coordinator", "truncate-to-hw"),
}
VERSIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "hw": ("truncate-to-hw", ()),
    "epoch": ("truncate-by-epoch", ()),
    "kip279": ("truncate-by-epochs", ()),
    "kip279-code": ("truncate-by-epochs-2.0", ()),
    "kip320-code": ("truncate-by-epochs", KIP320_CODE),
    "kip320": ("truncate-by-epochs", KIP320),
    "truncate-on-fetch": ("truncate-on-fetch", ON_FETCH),
    "kraft": ("truncate-on-fetch", (*KRAFT, *UNTIL_3_7)),
    "kip903": ("truncate-on-fetch", (*KIP903, *UNTIL_3_7)),
    "elr": ("truncate-on-fetch", ELR),
    "fluss-0.9": ("truncate-to-hw", (*FLUSS_MAIN, "fresh-on-every-notice")),
    "fluss-main": ("truncate-to-hw", FLUSS_MAIN),
}

SWITCH = {"false": 0, "true": 1}
#: Option -> (constant of the model, spelling of each value). Plain numbers have no spelling table.
WORDS: dict[str, tuple[str, dict[str, int]]] = {
    "unclean-leader-election": ("UNCLEAN", SWITCH),
    "acks": ("ACKS", {"0": 0, "1": 1, "all": 2}),
    "restart-detection": ("RESTART_DETECTION", {"none": 0, "follower": 1, "any": 2}),
    "disk-loss": ("DISK_LOSS", {"any": 0, "out-of-sync": 1}),
    "hw-in-response": ("HW_AFTER_FETCH", {"pre": 0, "post": 1}),
    "parked-fetches": ("PARKED", SWITCH),
    "requests-survive": ("REQUESTS_SURVIVE", SWITCH),
    "late-metadata": ("LATE_METADATA", SWITCH),
    "consumer": ("CONSUMER", SWITCH),
    "forget-epochs": ("FORGET_EPOCHS", SWITCH),
    "unfenced-registration": ("UNFENCED_REGISTRATION", SWITCH),
    "late-reads": ("LATE_READS", SWITCH),
    "late-answers": ("LATE_ANSWERS", SWITCH),
    "caught-up-wait": ("CAUGHT_UP_WAIT", SWITCH),
    # Not an option of Waterline's.
    "every-change-ends": ("EVERY_CHANGE_ENDS", SWITCH),
}
NUMBERS = {
    "replicas": "REPLICAS",
    "records": "RECORDS",
    "epochs": "EPOCHS",
    "restarts": "RESTARTS",
    "moves": "MOVES",
    "min-insync-replicas": "MIN_ISR",
    "controller-min-insync-replicas": "CONTROLLER_MIN_ISR",
    "power-losses": "POWER_LOSSES",
    "lost-disks": "LOST_DISKS",
    "lost-checkpoints": "LOST_CHECKPOINTS",
    "session-expiries": "SESSION_EXPIRIES",
    "shutdowns": "SHUTDOWNS",
    "taken-directories": "TAKEN_DIRECTORIES",
    "reassignments": "REASSIGNMENTS",
    "assigned": "ASSIGNED",
    "first-partition-replicas": "FIRST_PARTITION_REPLICAS",
}

#: Rules of settings that the sheet leaves out: they change nothing without these.
NOT_ON_THE_SHEET = ("partition-epoch-check",)

#: Greater than the depth of any space worth waiting for; the counting run fails if it is reached.
DEPTH_BOUND = 255


class PeerError(Exception):
    """The peer could not answer: a tool is missing, failed, or said something unexpected."""


def rules(version: str) -> dict[str, int]:
    """Translate a version, as kip320-without-fencing, into values of the model's constants."""
    base, *changes = re.split(r"-(with|without)-", version)
    if base not in VERSIONS:
        raise PeerError(f"no version {base}")
    truncation, features = VERSIONS[base][0], set(VERSIONS[base][1])
    for change, name in zip(changes[::2], changes[1::2], strict=True):
        if change == "with" and name in TRUNCATIONS:
            truncation = name
        elif name in NOT_ON_THE_SHEET:
            continue
        elif name not in FEATURES:
            raise PeerError(f"no feature {name}")
        elif (change == "with") == (name in features):
            raise PeerError(f"{base} cannot be {change} {name}: it is so already")
        else:
            features ^= {name}
    for name in sorted(features & NEEDS.keys()):
        for need in NEEDS[name]:
            if need not in {truncation, *features}:
                raise PeerError(f"{version}: {name} needs {need}")
    values = {name.replace("-", "_").upper(): int(name in features) for name in FEATURES}
    return {"TRUNCATION": TRUNCATIONS[truncation], **values}


def constants(version: str, options: dict[str, Any]) -> dict[str, int]:
    """Translate a setting into values of the model's constants; the model has the defaults."""
    values = rules(version)
    for option, given in options.items():
        value = str(given).lower()
        if option in NUMBERS:
            values[NUMBERS[option]] = int(value)
        elif option in WORDS and value in WORDS[option][1]:
            values[WORDS[option][0]] = WORDS[option][1][value]
        else:
            raise PeerError(f"no option {option}={value}")
    return values


def fill_in(source: str, values: dict[str, int]) -> str:
    """Put the values into the model's text, each into the one line that defines the constant."""
    for name, value in values.items():
        source, found = re.subn(rf"(?m)^(  {name}:) \d+;", rf"\1 {value};", source)
        if found != 1:
            raise PeerError(f"constant {name} is defined {found} times in the model")
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

    Rumur's own defaults would reduce by symmetry, report deadlocks and use several threads. Small
    spaces take less time than the compiler does, so it is not asked for its best.
    """
    model, program, binary = (directory / name for name in ("peer.m", "peer.c", "peer"))
    model.write_text(source, encoding="utf-8")
    fixed = ["--threads", "1", "--symmetry-reduction", "off", "--deadlock-detection", "off"]
    fixed += ["--output-format", "machine-readable"]
    must(["rumur", *fixed, *options, "--output", program, model])
    wide = ["-mcx16"] if platform.machine() in ("x86_64", "AMD64") else []
    must(["gcc", "-std=c11", "-O1", "-DNDEBUG", *wide, program, "-o", binary, "-pthread"])
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


def count(source: str, claims: Sequence[str] = CLAIMS) -> dict[str, Any]:
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
    covered = {
        found.attrib["message"]: int(found.attrib["count"])
        for found in report.findall("cover_result")
    }
    return {
        "distinct": distinct,
        "fired": fired,
        "depth": len(levels) - 1,
        "levels": levels,
        "violating": {claim: covered[claim] for claim in claims if covered[claim]},
    }


def judge(source: str, claim: str) -> list[str]:
    """Find the shortest way to break a claim that is known to break."""
    report, _ = verify(source, ["--counterexample-trace", "diff"])
    failure = report.find("error")
    if failure is None or claim not in failure.findtext("message", ""):
        raise PeerError(f"{claim} was violated when it was counted, and now is not")
    return [re.sub(r"\s+", " ", text(step)) for step in failure.findall("transition")[1:]]


def text(step: ElementTree.Element) -> str:
    """Write a transition of a trace on one line: the rule's name and its arguments."""
    name = re.sub(r'^Rule "(.*)"$', r"\1", (step.text or "").strip())
    return f"{name}({', '.join(p.text or '' for p in step.findall('parameter'))})"


def examine(version: str, options: dict[str, Any]) -> dict[str, Any]:
    """Count the states of one setting, and find the least depth at which each claim breaks."""
    started = time.monotonic()
    source = fill_in(MODEL.read_text(encoding="utf-8"), constants(version, options))
    result: dict[str, Any] = {"protocol": version, "options": options, **count(source)}
    traces = {
        claim: judge(fill_in(source, {"CLAIM": CLAIMS.index(claim) + 1}), claim)
        for claim in result["violating"]
    }
    result["violated"] = {claim: len(trace) for claim, trace in traces.items()}
    result["traces"] = traces
    result["seconds"] = round(time.monotonic() - started, 1)
    return result


def main(argv: list[str] | None = None) -> int:
    """Print the answers; 0 whatever the verdicts, 2 when there is no answer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version", help="as kip320 or kip320-without-fencing-with-longest-log")
    parser.add_argument("options", nargs="*", metavar="OPTION=VALUE", help="as epochs=3")
    asked = parser.parse_args(argv)
    for tool in ("rumur", "gcc"):
        if shutil.which(tool) is None:
            print(f"message_peer: {tool} is not installed", file=sys.stderr)
            return 2
    try:
        options = {name: value for name, _, value in (o.partition("=") for o in asked.options)}
        result = examine(asked.version, options)
    except PeerError as error:
        print(f"message_peer: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
