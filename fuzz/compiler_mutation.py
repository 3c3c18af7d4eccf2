"""Mutation of the compiler: alter `checker/compiler/` in one place at a time; see if it shows.

So are the loops that the compiler makes for the store (`checker/storage/`).
`fuzz.compiler_mutants` says what is altered and what is left alone, `fuzz.compiler_checks` what a
mutant is held against: random functions and whole problems, whose meaning Python says; for the
store its tests. The first difference kills it; so does a text that LLVM refuses, a crash, and a
loop without end.

    python -m fuzz.compiler_mutation [--compiler N] [--store N] [--seed S] [--module NAME]
        [--seconds S] [--json FILE]

A sample of so many mutants is drawn, from each module in proportion. Each is tried in a fork of
one process that has Python's answers already. What is left is printed as survivors: of "the same
text" are those with which all that was compiled came out the same to the letter.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pickle
import random
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Protocol

from fuzz import compiler_checks as checks
from fuzz import compiler_problems as problems
from fuzz.compiler_mutants import COMPILER, STORE, mutants_of, path_of
from fuzz.mutants import KILLED, ROOT, SURVIVED, Mutant, sampled

PROGRAMS = 15
SECONDS_MAX = 900
"""Of the clock, as a last resort: checks have limits of processor time."""
BYTES_MAX = 6 << 30
SAME_TEXT, OTHER_TEXT = "the same text", "another text that does the same"
_NO_END = (signal.SIGPROF, signal.SIGALRM, signal.SIGKILL)
_UNALTERED = ("waterline.checker.compiler.source", "waterline.checker.compiler.machine")
"""They are not altered: what they have read and set up is kept for all mutants."""
_SUPPORT = (".", "tests/compiler")


class _Answer(Protocol):
    def __call__(self) -> Any: ...


class Altered:
    """Finds one module of `checker` in another file."""

    def __init__(self, name: str, file: Path) -> None:
        self.name, self.file = name, file

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Of that one module only."""
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.file)


def forked(answer: _Answer) -> tuple[Any, int]:
    """What a function comes to in a fork of this process, and how that ended; None for nothing."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            described = pickle.dumps(answer())
            while described:
                described = described[os.write(into, described) :]
        finally:
            os._exit(0)
    os.close(into)
    parts, ends = [], time.monotonic() + SECONDS_MAX
    while select.select([out], [], [], max(0, ends - time.monotonic()))[0]:
        if not (part := os.read(out, 1 << 20)):
            break
        parts.append(part)
    else:
        os.kill(child, signal.SIGKILL)
    os.close(out)
    _, status = os.waitpid(child, 0)
    return (pickle.loads(b"".join(parts)) if parts else None), status


def forget_checker() -> None:
    """Have all modules of `checker` imported anew, but for those that are never altered."""
    for name in list(sys.modules):
        if name.startswith("waterline.checker.") and name not in _UNALTERED:
            del sys.modules[name]


class Laboratory:
    """What mutants are held against."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run_all = False
        """Whether checks are run also where the text is the same."""
        self.functions: dict[str, Any] = {}
        sys.path[:0] = [str(ROOT / each) for each in _SUPPORT]
        self._warm()
        # Where nothing can be kept, nothing is: a kernel of a mutant is never asked for again.
        os.environ["WATERLINE_CACHE"] = os.devnull
        expected, _ = forked(self._prepare)
        if expected is None or isinstance(expected, str):
            raise RuntimeError(f"the unaltered compiler cannot be measured: {expected}")
        self.expected: checks.Expected = expected
        self._read_functions()

    def _prepare(self) -> Any:
        forget_checker()
        try:
            return problems.prepared(PROGRAMS, self.folder)
        except Exception as problem:
            return repr(problem)

    def _warm(self) -> None:
        """Import what no mutant alters, so that forks need not."""
        import hypothesis
        import numpy as np
        import pytest  # noqa: F401
        from hypothesis import Phase

        np.random.default_rng(1).integers(5)
        hypothesis.settings.register_profile(
            "mutation", derandomize=True, database=None, phases=[Phase.explicit, Phase.generate]
        )
        hypothesis.settings.load_profile("mutation")
        from waterline.checker.compiler import machine

        machine._machine()

    def _read_functions(self) -> None:
        """Have the syntax trees of all rules read."""
        from waterline import invariants
        from waterline.checker.compiler.source import NotCompilable, source_of

        files = [file for _, file, _, _ in self.expected.programs]
        for file in (*files, *(file for file, _ in self.expected.refused)):
            spec = importlib.util.spec_from_file_location("rules", file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self.functions[file] = module.f
        modules = [m for n, m in list(sys.modules.items()) if n.startswith(_RULES)]
        there = [thing for module in modules for thing in vars(module).values()]
        for thing in (*there, *self.functions.values()):
            if isinstance(thing, type(main)):
                try:
                    source_of(thing)
                except NotCompilable:
                    continue
        assert invariants.ALL

    def judge(self, mutant: Mutant) -> None:
        """Try one mutant in a process of its own."""
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            altered = Path(place, f"{mutant.module}.py")
            altered.write_text(mutant.text)
            found, status = forked(lambda: self._tried(mutant, altered))
        if found is not None:
            mutant.outcome, mutant.how = found
        else:
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            crash = f"crash: {signal.Signals(number).name}" if number else "crash: no answer"
            mutant.outcome = KILLED
            mutant.how = "no end in sight" if number in _NO_END else crash
        mutant.seconds = round(time.monotonic() - started, 1)

    def _tried(self, mutant: Mutant, altered: Path) -> tuple[str, str]:
        """Hold this process's compiler against everything, once one module of it is altered."""
        name = ".".join(path_of(mutant.module).relative_to(ROOT).with_suffix("").parts)
        forget_checker()
        sys.meta_path.insert(0, Altered(name, altered))  # type: ignore[arg-type]
        differing: list[str] = []

        def is_other(check: str, text: str) -> bool:
            other = self.run_all or checks.digest(text) != self.expected.texts[check]
            differing.extend([check] * other)
            return other

        try:
            for check in self._checks(mutant, is_other):
                check()
        except AssertionError as difference:
            return KILLED, f"another answer: {difference}"[:200]
        except BaseException as problem:
            words = f"{type(problem).__name__}: {problem}".splitlines()[0]
            kind = "LLVM refuses" if "LLVM IR" in words else "raises"
            return KILLED, f"{kind}: {words}"[:200]
        return SURVIVED, OTHER_TEXT if differing else SAME_TEXT

    def _checks(self, mutant: Mutant, is_other: Any) -> list[Callable[[], None]]:
        module, where = mutant.module, f"{mutant.module}.{mutant.rule}"
        expected, functions = self.expected, self.functions
        store = lambda: checks.check_store(module, ROOT, is_other)  # noqa: E731

        def begin() -> None:
            from waterline.checker.compiler import machine

            # Not where the store is looked at: it reserves far more addresses than it ever uses.
            resource.setrlimit(resource.RLIMIT_AS, (BYTES_MAX, resource.RLIM_INFINITY))

            checks.in_haste(machine)

        def store_in_full() -> None:
            from waterline.checker.compiler import machine

            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
            checks.in_full(machine)
            os.environ["WATERLINE_CACHE"] = str(self.folder / "cache")
            store()

        if module in STORE:
            return [store_in_full]
        found = [
            begin,
            lambda: checks.check_programs(expected, functions, is_other, where),
            lambda: checks.check_refused(expected, functions),
            lambda: problems.check_kernels(expected, is_other),
            lambda: problems.check_representatives(expected, is_other),
        ]
        if module in {"canonical", "orders"}:
            return [begin, found[-1]]
        return [*found, store_in_full] if module == "machine_words" else found


_RULES = ("waterline.model.", "waterline.invariants.")


def report(tried: list[Mutant]) -> None:
    """How many were killed, by what; then every survivor."""
    ways = ("another answer", "raises", "LLVM refuses", "crash", "no end in sight")
    kinds = (*ways, SAME_TEXT, OTHER_TEXT)
    print(f"\n{'module':16}{'mutants':>9}" + "".join(f"{kind.split()[0]:>9}" for kind in kinds))
    for name in (*COMPILER, *STORE, "all"):
        of = [mutant for mutant in tried if name in ("all", mutant.module)]
        if of:
            counts = [sum(m.how.startswith(kind) for m in of) for kind in kinds]
            print(f"{name:16}{len(of):9}" + "".join(f"{count:9}" for count in counts))
    for mutant in sorted(tried, key=lambda m: (m.module, m.line)):
        if mutant.outcome == SURVIVED:
            print(f"{SURVIVED} {describe(mutant)} [{mutant.how}]")


def describe(mutant: Mutant) -> str:
    """Which mutant it is."""
    where = path_of(mutant.module).relative_to(ROOT)
    return f"{mutant.number} {where}:{mutant.line} {mutant.rule}: {mutant.change}"


def main() -> int:
    """Run the mutants one after the other; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--compiler", type=int, default=600, metavar="N", help="mutants of it")
    parser.add_argument("--store", type=int, default=150, metavar="N", help="of its loops")
    parser.add_argument("--seed", type=int, default=5, metavar="S", help="what is drawn")
    parser.add_argument("--module", choices=(*COMPILER, *STORE), help="only this module")
    parser.add_argument("--number", type=int, action="append", metavar="N", help="only this mutant")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome there")
    asked = parser.parse_args()
    ends = time.monotonic() + (asked.seconds or float("inf"))
    tried: list[Mutant] = []
    with tempfile.TemporaryDirectory(prefix="waterline-mutation-") as directory:
        laboratory = Laboratory(Path(directory))
        compiled = laboratory.expected.compiled
        groups = []
        for modules in (COMPILER, STORE):
            found = []
            for name in modules:
                own = {each.partition(".")[2] for each in compiled if each.startswith(f"{name}.")}
                found += mutants_of(name, frozenset(own) if modules is STORE else None)
            groups.append(found)
        for number, mutant in enumerate([m for group in groups for m in group], 1):
            mutant.number = number
        print(f"{len(groups[0])} mutants of the compiler, {len(groups[1])} of the store's loops")
        chosen = [
            mutant
            for group, count in zip(groups, (asked.compiler, asked.store), strict=True)
            for mutant in sampled(group, count, asked.seed)
        ]
        random.Random(asked.seed).shuffle(chosen)  # so that a run cut short has some of everything
        if asked.number:
            chosen = [m for group in groups for m in group if m.number in asked.number]
        chosen = [m for m in chosen if asked.module in (None, m.module)]
        for module in ("values", "blocks"):
            for run_all, expected in ((False, SAME_TEXT), (True, OTHER_TEXT)):
                unaltered = Mutant(0, module, 0, 0, "", "nothing", path_of(module).read_text())
                laboratory.run_all = run_all
                laboratory.judge(unaltered)
                print(f"unaltered: {unaltered.how} [{unaltered.seconds} s]", flush=True)
                if (unaltered.outcome, unaltered.how) != (SURVIVED, expected):
                    return 2
        laboratory.run_all = False
        for mutant in chosen:
            if time.monotonic() > ends:
                break
            laboratory.judge(mutant)
            tried.append(mutant)
            how = f"{mutant.outcome} {mutant.how} [{mutant.seconds} s]"
            print(f"{describe(mutant)}: {how}", flush=True)
    report(tried)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(mutant) for mutant in tried], indent=1))
    return int(any(mutant.outcome == SURVIVED for mutant in tried))


if __name__ == "__main__":
    sys.exit(main())
