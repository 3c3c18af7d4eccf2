"""The atomic grain with truncation to the high watermark, as other model checkers run it.

    python -m lab.bench.peers.atomic_peers spin|rumur|tlc|stateright [--threads 1] [--epochs 2] ...

`build` makes a peer for some bounds in a directory of its own, from the model that lies beside
this script, and `run` runs it once. Each peer is set up to be as fast as it goes while it still
explores everything: no symmetry, no lossy hashing that can be switched off, no traces, no claims,
large pages of memory where the system has them. Spin and Rumur compare whole states; TLC and
Stateright always compare 64-bit fingerprints. All count alike: a transition for each enabled choice
and one for the initial state.

A peer whose tools or packages cannot be had raises `PeerMissing`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import psutil

from lab.bench.peers.tlc import TLC_ARTIFACT

HERE = Path(__file__).parent
THREADS = (1, 2)
SAMPLE_SECONDS = 0.05


class PeerMissing(Exception):
    """A tool or a package that the peer needs cannot be had here."""


class PeerFailed(Exception):
    """The peer did not finish, or said something unexpected."""


class PeerTimedOut(PeerFailed):
    """The peer was ended because it took too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How large a cluster is explored; `states` is a guess, for the size of hash tables."""

    replicas: int = 3
    log_size: int = 2
    records: int = 2
    epochs: int = 2
    states: int = 1 << 22

    def numbers(self) -> dict[str, int]:
        """The bounds proper."""
        return {name: value for name, value in asdict(self).items() if name != "states"}


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended well: its output line by line, when each came, and what it used."""

    lines: list[tuple[float, str]]
    seconds: float
    peak_bytes: int

    @property
    def text(self) -> str:
        """All of its output."""
        return "\n".join(line for _, line in self.lines)


@dataclass(frozen=True, slots=True)
class Peer:
    """A model checker: how its verifier is made, started and understood."""

    name: str
    threads: tuple[int, ...]
    build: Callable[[Path, Path, Bounds], None]
    command: Callable[[Path, int], list[str]]
    understand: Callable[[Finished], dict[str, Any]]


# Building


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PeerMissing(f"{name} is not installed")
    return found


def _must(command: Sequence[str | Path], where: Path, **environment: str) -> None:
    """Run a step of a build."""
    done = subprocess.run(
        command,
        cwd=where,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        errors = [line for line in said if "error" in line.lower()] or said or ["no output"]
        raise PeerMissing(f"{Path(command[0]).name} failed: {errors[0]}")


def _fill_in(source: str, values: Mapping[str, int], form: str) -> str:
    """Put the values where the text defines constants; `form` has the place of a name as {}."""
    for name, value in values.items():
        source, found = re.subn(form.format(name), rf"\g<1>{value}\g<2>", source)
        if found != 1:
            raise PeerFailed(f"constant {name} is defined {found} times")
    return source


def _build_spin(workdir: Path, _cache: Path, bounds: Bounds) -> None:
    spin, compiler = _tool("spin"), _tool("gcc")
    macros = [f"-D{name.upper()}={value}" for name, value in bounds.numbers().items()]
    shutil.copy(HERE / "atomic.pml", workdir)
    _must([spin, *macros, "-a", "atomic.pml"], workdir)
    options = [
        "SAFETY",  # no cycles
        "NOREDUCE",  # one process: nothing to reduce
        "NOFAIR",
        "NOBOUNDCHECK",
        "NOCOMP",  # states as they are, not masked
        "NOVSZ",
        "SFH",  # the faster hash function; states are still compared byte by byte
        f"MEMLIM={psutil.virtual_memory().total * 9 // 10 >> 20}",
    ]
    defines = [f"-D{option}" for option in options]
    _must([compiler, "-O3", "-march=native", "-w", *defines, "-o", "pan", "pan.c"], workdir)
    # As many buckets as there will be states, or twice as many.
    (workdir / "pan.bits").write_text(str(max(20, bounds.states.bit_length())))


def _command_spin(workdir: Path, _threads: int) -> list[str]:
    bits = (workdir / "pan.bits").read_text()
    return [str(workdir / "pan"), "-m100000", f"-w{bits}", "-n"]


def _understand_spin(done: Finished) -> dict[str, Any]:
    """It prints eight digits of a count: what is larger is not exact and is left out."""
    if "max search depth too small" in done.text or "Search not completed" in done.text:
        raise PeerFailed("the search was cut short")
    distinct = _found(r"(\d\S*) states, stored", done.text)
    generated = _found(r"(\d\S*) transitions \(=", done.text)
    if not distinct.isdigit():
        raise PeerFailed("too many states for an exact count")
    return {
        "distinct": int(distinct),
        "generated": int(generated) if generated.isdigit() else None,
        "seconds": float(_found(r"pan: elapsed time (\S+) seconds", done.text)),
    }


def _build_rumur(workdir: Path, _cache: Path, bounds: Bounds) -> None:
    rumur, compiler = _tool("rumur"), _tool("gcc")
    values = {name.upper(): value for name, value in bounds.numbers().items()}
    source = _fill_in((HERE / "atomic.m").read_text(), values, r"(?m)^(  {}: )\d+(;)")
    (workdir / "atomic.m").write_text(source)
    wide = ["-mcx16"] if platform.machine() in ("x86_64", "AMD64") else []
    for threads in THREADS:
        options = {
            "threads": threads,
            "symmetry-reduction": "off",
            "deadlock-detection": "off",
            "counterexample-trace": "off",
            "pack-state": "off",
            "output-format": "machine-readable",
            "set-capacity": 16 * bounds.states,  # half full: 8 bytes a state
            "output": f"rumur-{threads}.c",
        }
        given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        _must([rumur, *given, "atomic.m"], workdir)
        fast = ["-std=c11", "-O3", "-march=native", "-DNDEBUG", "-w", *wide]
        program = f"rumur-{threads}"
        _must([compiler, *fast, f"{program}.c", "-o", program, "-pthread"], workdir)


def _command_rumur(workdir: Path, threads: int) -> list[str]:
    return [str(workdir / f"rumur-{threads}")]


def _understand_rumur(done: Finished) -> dict[str, Any]:
    """Its own clock counts whole seconds, and it starts at once: the process's time is used."""
    if int(_found(r'<summary [^>]*errors="(\d+)"', done.text)) != 0:
        raise PeerFailed("Rumur reports an error")
    return {
        "distinct": int(_found(r'<summary states="(\d+)"', done.text)),
        "generated": int(_found(r'<summary [^>]*rules_fired="(\d+)"', done.text)) + 1,
        "seconds": done.seconds,
    }


def _build_tlc(workdir: Path, cache: Path, bounds: Bounds) -> None:
    _tool("java")
    group, artifact, version = TLC_ARTIFACT
    jar = cache / f"{artifact}-{version}.jar"
    if not jar.exists():
        what = f"-Dartifact={group}:{artifact}:{version}"
        where = f"-DoutputDirectory={cache.resolve()}"
        _must([_tool("mvn"), "--batch-mode", "--quiet", "dependency:copy", what, where], workdir)
    if not jar.exists():
        raise PeerMissing(f"{artifact} {version} cannot be had as a package")
    if jar.parent != workdir:
        shutil.copy(jar, workdir)
    shutil.copy(HERE / "Atomic.tla", workdir)
    values = {
        "Brokers": bounds.replicas,
        "LogSize": bounds.log_size,
        "MaxRecords": bounds.records,
        "MaxEpoch": bounds.epochs,
    }
    source = _fill_in((HERE / "Atomic.cfg").read_text(), values, r"(?m)^(  {} = )\d+($)")
    (workdir / "Atomic.cfg").write_text(source)
    # A fingerprint is 8 bytes; the table is to be at most half full.
    (workdir / "tlc.megabytes").write_text(str(max(64, 16 * bounds.states >> 20)))


def _command_tlc(workdir: Path, threads: int) -> list[str]:
    """The collector for throughput, half the memory as heap, fingerprints outside of it."""
    _, artifact, version = TLC_ARTIFACT
    heap = psutil.virtual_memory().total // 2 >> 20
    table = (workdir / "tlc.megabytes").read_text()
    scratch = workdir / "tlc"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return [
        "java",
        *("-XX:+UseParallelGC", f"-Xmx{heap}m", f"-XX:MaxDirectMemorySize={table}m"),
        "-XX:+UseTransparentHugePages",
        "-Dtlc2.tool.fp.FPSet.impl=tlc2.tool.fp.OffHeapDiskFPSet",
        f"-Djava.io.tmpdir={scratch}",
        *("-cp", str(workdir / f"{artifact}-{version}.jar"), "tlc2.TLC"),
        *("-workers", str(threads), "-metadir", str(scratch), "-nowarning"),
        *("-checkpoint", "0", "-deadlock", "Atomic.tla"),
    ]


def _understand_tlc(done: Finished) -> dict[str, Any]:
    """Its own clock counts whole seconds: timed here from its first line on the search."""
    if "No error has been found" not in done.text:
        raise PeerFailed("TLC did not finish")
    pattern = r"(?m)^([\d,]+) states generated, ([\d,]+) distinct states found, 0 states left"
    found = re.search(pattern, done.text)
    started = [at for at, line in done.lines if line.startswith("Computing initial states")]
    if found is None or not started:
        raise PeerFailed("TLC said something unexpected")
    generated, distinct = (int(text.replace(",", "")) for text in found.groups())
    return {
        "distinct": distinct,
        "generated": generated,
        "seconds": done.lines[-1][0] - started[0],
    }


def _build_stateright(workdir: Path, cache: Path, bounds: Bounds) -> None:
    cargo = _tool("cargo")
    project, target = workdir / "stateright", (cache / "cargo-target").resolve()
    shutil.copytree(HERE / "stateright", project, dirs_exist_ok=True)
    environment = {f"PEER_{name.upper()}": str(n) for name, n in bounds.numbers().items()}
    environment["CARGO_TARGET_DIR"] = str(target)
    environment["RUSTFLAGS"] = "-C target-cpu=native"
    _must([cargo, "build", "--release", "--quiet"], project, **environment)
    shutil.copy(target / "release" / "atomic-stateright", workdir)


def _command_stateright(workdir: Path, threads: int) -> list[str]:
    return [str(workdir / "atomic-stateright"), str(threads)]


def _understand_stateright(done: Finished) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(done.text)
    return report


PEERS = {
    peer.name: peer
    for peer in (
        Peer("spin", (1,), _build_spin, _command_spin, _understand_spin),
        Peer("rumur", THREADS, _build_rumur, _command_rumur, _understand_rumur),
        Peer("tlc", THREADS, _build_tlc, _command_tlc, _understand_tlc),
        Peer("stateright", THREADS, _build_stateright, _command_stateright, _understand_stateright),
    )
}


def build(peer: str, workdir: Path, bounds: Bounds, cache: Path | None = None) -> None:
    """Make the peer's verifier for these bounds in `workdir`.

    What does not depend on the bounds is kept in `cache`, by default `workdir` as well. Raises
    `PeerMissing`.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    PEERS[peer].build(workdir, cache or workdir, bounds)


# Running


def run(peer: str, workdir: Path, threads: int, timeout: float | None = None) -> dict[str, Any]:
    """Run what `build` made in `workdir` once.

    `seconds` is the search, as the peer itself reports it if its clock is fine enough, and
    `wall_seconds` the whole process. `peak_bytes` is its resident memory, sampled. `generated` is
    None where the peer does not print it exactly.
    """
    done = _finish(PEERS[peer].command(workdir, threads), workdir, timeout)
    found = PEERS[peer].understand(done)
    return {
        "distinct": found["distinct"],
        "generated": found["generated"],
        "seconds": found["seconds"],
        "wall_seconds": done.seconds,
        "peak_bytes": done.peak_bytes,
    }


def _finish(command: Sequence[str], where: Path, timeout: float | None) -> Finished:
    """Run a process to its end, noting when each line of output came and how large it grew."""
    lines: list[tuple[float, str]] = []
    peak = 0
    started = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=where,
        env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        reader = threading.Thread(target=_note, args=(process.stdout, lines, started))
        reader.start()
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, _resident(watched))
            if timeout is not None and time.monotonic() - started > timeout:
                process.kill()
                process.wait()
                reader.join()
                raise PeerTimedOut(f"ended after {timeout:.0f} s")
            time.sleep(SAMPLE_SECONDS)
        seconds = time.monotonic() - started
        reader.join()
    if process.returncode != 0:
        last = lines[-1][1] if lines else "no output"
        raise PeerFailed(f"exit code {process.returncode}: {last}")
    return Finished(lines, seconds, peak)


def _note(output: IO[str], lines: list[tuple[float, str]], started: float) -> None:
    lines.extend((time.monotonic() - started, line.rstrip("\n")) for line in output)


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise PeerFailed("the peer said something unexpected")
    return found.group(1)


def main() -> int:
    """Build one peer, run it once, print what it found as JSON."""
    parser = argparse.ArgumentParser(description="Run another model checker on the atomic grain.")
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--threads", type=int, choices=THREADS, default=1)
    for name, value in Bounds().numbers().items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=value)
    given = vars(parser.parse_args())
    peer, threads = given.pop("peer"), given.pop("threads")
    if threads not in PEERS[peer].threads:
        parser.error(f"{peer} has one thread")
    with tempfile.TemporaryDirectory(prefix="atomic-peer-") as name:
        try:
            build(peer, Path(name), Bounds(**given))
            print(json.dumps(run(peer, Path(name), threads)))
        except (PeerMissing, PeerFailed) as problem:
            print(f"{peer}: {problem}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
