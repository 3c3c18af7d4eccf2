"""Mutation of the rules: alter each guard, limit and effect of the model in turn; see if it shows.

A mutant is a copy of `model/` with one expression or statement changed. It is searched, in a
process of its own, in a list of environments; what a run counts and concludes is compared with
what the unaltered rules give there. The first difference kills the mutant. One without any is a
survivor: either nothing can tell it apart, or the environments show too little.

    python -m fuzz.mutation [--module NAME ...] [--sample N] [--seed S] [--number N ...]
                             [--stages N] [--baseline FILE] [--json FILE]

Cheap environments come first, interpreted ones: they kill most. One that never runs the altered
line is left out. `--stages 1` stops there; what is left would be compiled. `--baseline` keeps what
the unaltered rules give.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from fuzz.laboratory import Laboratory, lines_reached
from fuzz.mutants import INVALID, KILLED, MODULES, SURVIVED, Mutant, mutants_of, sampled
from fuzz.mutation_environments import SECONDS_MAX, STAGES
from fuzz.observed import difference, observe
from waterline.model import message


def judge(baseline_file: str, line: str, stages: int) -> None:
    """Search this process's model, setting by setting, and print what came of it as JSON lines.

    `line` is the altered one. The last line printed is the outcome; a line before it names the
    setting that was begun.
    """
    baseline = json.loads(Path(baseline_file).read_text())["settings"]
    for stage in STAGES[:stages]:
        for setting in sorted(stage, key=lambda s: int(baseline[s.name]["counts"]["distinct"])):
            wanted, reached = baseline[setting.name]["counts"], baseline[setting.name]["reached"]
            if reached is not None and line not in reached:
                continue
            print(json.dumps({"by": setting.name}), flush=True)
            signal.alarm(SECONDS_MAX[setting.engine])
            try:
                found = observe(setting, states_max=wanted["distinct"] + 1)
            except Exception as fault:
                words = f"{type(fault).__name__}: {fault}".splitlines()[0]
                print(json.dumps({"outcome": INVALID, "how": words[:160]}), flush=True)
                return
            if how := difference(wanted, found):
                print(json.dumps({"outcome": KILLED, "how": how}), flush=True)
                return
    print(json.dumps({"outcome": SURVIVED, "by": "", "how": ""}), flush=True)


def measure(baseline_file: str, stages: int) -> None:
    """Add what the unaltered rules give in settings that are missing, and the lines they take."""
    rules = Path(str(message.__file__)).parent
    kept = json.loads(Path(baseline_file).read_text())
    for setting in (s for stage in STAGES[:stages] for s in stage):
        if setting.name in kept["settings"]:
            continue
        with lines_reached(rules) as reached:
            counts = observe(setting)
        lines = None if setting.engine == "compiled" else sorted(reached)
        kept["settings"][setting.name] = {"counts": counts, "reached": lines}
        Path(baseline_file).write_text(json.dumps(kept))


def report(mutants: list[Mutant]) -> None:
    """The table by module, then every survivor."""
    print(f"\n{'module':16}{'mutants':>8}{KILLED:>8}{INVALID:>8}{SURVIVED:>10}")
    for name in (*MODULES, "all"):
        counts = Counter(m.outcome for m in mutants if name in ("all", m.module))
        if counts:
            print(f"{name:16}{counts.total():8}", end="")
            print(f"{counts[KILLED]:8}{counts[INVALID]:8}{counts[SURVIVED]:10}")
    for mutant in mutants:
        if mutant.outcome == SURVIVED:
            print(f"{SURVIVED} {mutant}")


def select(
    modules: list[str] | None, numbers: list[int] | None, sample: int | None, seed: int
) -> list[Mutant]:
    """The mutants asked for, numbered as in a full run."""
    mutants = [mutant for name in MODULES for mutant in mutants_of(name)]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    mutants = [m for m in mutants if m.module in (modules or MODULES)]
    if numbers:
        return [m for m in mutants if m.number in numbers]
    return mutants if sample is None else sampled(mutants, sample, seed)


def main() -> int:
    """Run the mutants one after the other; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--module", choices=MODULES, nargs="+", help="only these")
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants, from all in proportion")
    parser.add_argument("--seed", type=int, default=5, metavar="S", help="what is drawn")
    parser.add_argument("--number", type=int, nargs="+", metavar="N", help="only these mutants")
    parser.add_argument("--stages", type=int, default=len(STAGES), metavar="N", help="of 4")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="what is compared with")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome there")
    asked = parser.parse_args()
    mutants = select(asked.module, asked.number, asked.sample, asked.seed)
    with tempfile.TemporaryDirectory(prefix="waterline-mutation-") as directory:
        laboratory = Laboratory(Path(directory), asked.baseline)
        known = laboratory.measure(asked.stages)
        for setting in (s for stage in STAGES[: asked.stages] for s in stage):
            counts = known[setting.name]["counts"]
            print(f"baseline {setting.name}: {counts['distinct']} states, depth {counts['depth']}")
        for mutant in mutants:
            place = f"{mutant.module}:{mutant.line}"
            call = f"mutation.judge({str(laboratory.baseline)!r}, {place!r}, {asked.stages})"
            laboratory.judge(mutant, call)
            how = f" by {mutant.by}: {mutant.how}" if mutant.by else ""
            print(f"{mutant}: {mutant.outcome}{how} [{mutant.seconds} s]", flush=True)
    report(mutants)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(mutant) for mutant in mutants], indent=1))
    return int(any(mutant.outcome == SURVIVED for mutant in mutants))


if __name__ == "__main__":
    sys.exit(main())
