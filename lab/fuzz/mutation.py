"""Which tests find mutants: those of `make test`, or only those of `make verify`?

    python -m lab.fuzz.mutation --results FILE [--seed N] [--minutes M] [--rules 30] [--compiler 20]
                            [--store 10]

A mutant is the project with one place altered: of the rules (`lab.fuzz.mutants`), of the compiler,
or of the loops that it compiles for the store (`lab.fuzz.compiler_mutants`). Each has a cache of
its own. First each is given to the nearest tests of `make test`. Then what they do not find is
given to the nearest of `make verify`, and what these find to all other tests of `make test`. A test
counts if it fails a second time, and passes where the function is only written anew. A mutant that
no test finds is equivalent, or shows a gap in the tests.

The outcome of each is a line of FILE. A mutant that FILE has is not tried again, so a run can be
ended at any time and goes on with the same file; with larger numbers, more are drawn.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.fuzz import compiler_mutants
from lab.fuzz.compiler_mutants import COMPILER, STORE
from lab.fuzz.mutants import MODULES, ROOT, Mutant, mutants_of

TEST, VERIFY, NOWHERE = "make test", "make verify", "nowhere"
OPEN = "not near"
"""The nearest tests do not find it, and the others are still to be asked."""
Line = dict[str, Any]
SECONDS_MAX = {TEST: 120, VERIFY: 1800}
"""A test that takes longer has met something without end."""
START = "the start of pytest"
BYTES_MAX = 12 << 30
_NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", "__pycache__", ".*_cache", "build", ".hypothesis"
)
_ASIDE = ("cases", "style", "support", "verify")


@dataclass(frozen=True, slots=True)
class Kind:
    """Part of the project that is altered: modules, their mutants and folder, nearest tests."""

    modules: tuple[str, ...]
    mutants_of: Callable[[str], Iterator[Mutant]]
    folder: str
    nearest: tuple[str, ...]


KINDS = {
    "rules": Kind(
        MODULES, mutants_of, "model/message", ("model", "kafka_vectors", "invariants", "golden")
    ),
    "compiler": Kind(COMPILER, compiler_mutants.mutants_of, "checker/compiler", ("compiler",)),
    "store": Kind(STORE, compiler_mutants.mutants_of, "checker/storage", ("storage", "search")),
}


class Copy:
    """The project as it is now, elsewhere: it may be edited meanwhile."""

    def __init__(self, place: Path) -> None:
        self.project, self._cache = place / "project", place / "cache"
        self._said = place / "said"
        shutil.copytree(ROOT, self.project, symlinks=True, ignore=_NOT_COPIED)
        (self.project / ".venv").symlink_to(ROOT / ".venv")

    @contextmanager
    def altered(self, file: str, text: str) -> Iterator[None]:
        """One file with another text meanwhile, and a cache that is empty."""
        path = self.project / file
        before, status = path.read_bytes(), path.stat()
        shutil.rmtree(self._cache, ignore_errors=True)
        try:
            path.write_text(text)
            os.utime(path, (status.st_atime, status.st_mtime + 60))  # or its bytecode is used again
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            for old in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
                old.unlink()

    def first_failure(self, paths: list[str], without: list[str]) -> str:
        """The first test of these that fails, or does not end; "" if all pass."""
        options = ["-x", "-v", "--no-header", "-p", "no:cacheprovider", "-rfE", "--color", "no"]
        tier = VERIFY if "tests/verify/" in paths[0] else TEST
        options += ["-o", f"faulthandler_timeout={SECONDS_MAX[tier]}"]
        options += ["-o", "faulthandler_exit_on_timeout=true"]
        options += [f"--deselect={each}" for each in without]
        environment = os.environ | {
            "PYTHONPATH": str(self.project),  # before the folder of an editable installation
            "PYTHONUNBUFFERED": "1",
            "WATERLINE_CACHE": str(self._cache),
        }
        with self._said.open("w") as out:
            code = subprocess.run(
                [sys.executable, "-m", "pytest", *options, *paths],
                cwd=self.project,
                env=environment,
                stdout=out,
                stderr=out,
                preexec_fn=_limit_memory,
                check=False,
            ).returncode
        return "" if code in (0, 5) else failure_in(self._said.read_text(errors="replace"))

    def others(self, kind: Kind) -> list[str]:
        """Tests of `make test` that are not the nearest."""
        tests = self.project / "tests"
        return sorted(
            f"tests/{each.name}"
            for each in tests.iterdir()
            if each.name not in {*_ASIDE, *kind.nearest}
            and (each.is_dir() or each.match("test_*.py"))
        )


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, BYTES_MAX))


def failure_in(said: str) -> str:
    """The test that failed, by what pytest has printed; else the last that began."""
    for line in said.splitlines():
        if found := re.match(r"(?:FAILED|ERROR) (tests/.+?)(?: - |$)", line):
            return found[1]
    ends = r"PASSED|SKIPPED|XFAIL|Timeout \(|Fatal Python error"
    begun = re.findall(rf"^(tests/\S+::.+?)(?: (?:{ends}).*)?$", said, re.MULTILINE)
    return begun[-1].strip() if begun else START


def found_farther(copy: Copy, kind: Kind, mutant: Mutant) -> tuple[str, str]:
    """The tier that finds a mutant which its nearest tests do not find, and the test."""
    nearest = [f"tests/verify/{name}" for name in kind.nearest]
    there = [path for path in nearest if (copy.project / path).exists()]
    if by_verify := judged_by(there, copy, kind, mutant):
        by_others = judged_by(copy.others(kind), copy, kind, mutant)
        return (TEST, by_others) if by_others else (VERIFY, by_verify)
    return NOWHERE, ""


def judged_by(paths: list[str], copy: Copy, kind: Kind, mutant: Mutant) -> str:
    """The test of these that finds a mutant, "" if none does."""
    file, without = f"{kind.folder}/{mutant.module}.py", list[str]()
    while True:
        with copy.altered(file, mutant.text):
            failed = copy.first_failure(paths, without)
        if failed in ("", START):
            return failed
        with copy.altered(file, mutant.text):
            fails_again = copy.first_failure([failed], [])
        with copy.altered(file, mutant.same):
            if fails_again and not copy.first_failure([failed], []):
                return failed
        without.append(failed)


def drawn(name: str, seed: int) -> list[Mutant]:
    """All mutants of a kind in the order of a seed, numbered in the order of their texts."""
    kind = KINDS[name]
    mutants = [mutant for module in kind.modules for mutant in kind.mutants_of(module)]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    random.Random(seed).shuffle(mutants)
    return mutants


def drawn_in_turn(counts: dict[str, int], seed: int) -> list[tuple[str, Mutant]]:
    """So many of each kind, one of each after the other: a run cut short has some of each."""
    rows = itertools.zip_longest(*(drawn(name, seed)[: counts[name]] for name in KINDS))
    found = [(name, mutant) for row in rows for name, mutant in zip(KINDS, row, strict=True)]
    return [(name, mutant) for name, mutant in found if mutant is not None]


def report(lines: Iterable[Line]) -> None:
    """How many each tier finds, and what `make test` does not."""
    tiers = (TEST, VERIFY, NOWHERE, OPEN)
    print("\n" + " " * 12 + "".join(f"{tier:>14}" for tier in tiers))
    for kind in KINDS:
        counts = Counter(line["found"] for line in lines if line["kind"] == kind)
        print(f"{kind:12}" + "".join(f"{counts[tier]:14}" for tier in tiers))
    for line in lines:
        if line["found"] != TEST:
            print(f"{line['found']}: {line['mutant']} {line['by']}")


def main() -> int:
    """Try mutants until all are tried, or the time is up."""
    parser = argparse.ArgumentParser(
        prog="python -m lab.fuzz.mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--results", type=Path, required=True, metavar="FILE", help="a line each")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="what is drawn")
    parser.add_argument("--minutes", type=float, default=600, metavar="M", help="begin none later")
    for name, count in (("rules", 30), ("compiler", 20), ("store", 10)):
        parser.add_argument(f"--{name}", type=int, default=count, metavar="N", help="so many")
    asked = parser.parse_args()
    ends = time.monotonic() + 60 * asked.minutes
    kept = asked.results.read_text() if asked.results.exists() else ""
    lines: dict[str, Line] = {}
    for text in kept.splitlines():
        lines[json.loads(text)["mutant"]] = json.loads(text)
    chosen = drawn_in_turn({name: vars(asked)[name] for name in KINDS}, asked.seed)
    with tempfile.TemporaryDirectory(prefix="waterline-mutation-") as place:
        copy = Copy(Path(place))
        for is_farther, (name, mutant) in itertools.product((False, True), chosen):
            kind, began = KINDS[name], time.monotonic()
            said = described(kind, mutant)
            if lines.get(said, {}).get("found") != (OPEN if is_farther else None):
                continue
            if began > ends:
                break
            if is_farther:
                found, by = found_farther(copy, kind, mutant)
            else:
                by = judged_by([f"tests/{each}" for each in kind.nearest], copy, kind, mutant)
                found = TEST if by else OPEN
            seconds = round(time.monotonic() - began)
            line = {"kind": name, "mutant": said, "found": found, "by": by, "seconds": seconds}
            lines[said] = line
            with asked.results.open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(f"{said}: {found} {by} [{seconds} s]", flush=True)
    report(lines.values())
    return 0


def described(kind: Kind, mutant: Mutant) -> str:
    """Which mutant it is."""
    where = f"{kind.folder}/{mutant.module}.py:{mutant.line}:{mutant.column}"
    return f"{where} {mutant.rule}: {mutant.change}"


if __name__ == "__main__":
    sys.exit(main())
