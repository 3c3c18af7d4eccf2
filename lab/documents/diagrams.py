"""The famous counterexamples as pages and diagrams in docs/pictures/.

    python -m lab.documents.diagrams [--check]

Each is made from its trace in examples/traces/, as `waterline convert` makes it. `--check` writes
nothing, and fails where a file is not what would be written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from waterline.checker.analysis.compare.comparison import compare_models
from waterline.checker.cli.shared.recorded import Recorded, load_counterexample
from waterline.checker.kafka.families import family_of
from waterline.checker.report.pages.comparison_page import comparison_page
from waterline.checker.report.pages.formats import FORMATS, Converted

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "examples" / "traces"
PICTURES = ROOT / "docs" / "pictures"
FAMOUS = {
    "loss": "hw-no_committed_loss-2r2n2e.json",
    "divergence": "hw-no_divergence_below_hw-2r2n2e.json",
    "kip-279": "scenarios/kip-279.json",
    "c21": "scenarios/stale-remote-leo.json",
    "removed-replica": "scenarios/removed-replica-in-elr.json",
    "fluss-4269": "fluss/4269.json",
    "fluss-leaderless": "scenarios/leaderless-truncation.json",
}
"""What the files are called, and which trace they are of."""
ENDINGS = {"svg": "-sequence.svg", "mermaid": "-sequence.mmd", "html": ".html"}
"""How a file's name ends, by the format."""


COMPARED = {"loss": "epoch", "kip-279": "kip279"}
"""Which of them are put beside another version."""


def made() -> dict[Path, str]:
    """Every file with its text."""
    files = {}
    for name, trace in FAMOUS.items():
        found = load_counterexample(TRACES / trace, None)
        given = Converted(problem=found.problem, finding=found.finding)
        for kind, ending in ENDINGS.items():
            files[PICTURES / f"{name}{ending}"] = FORMATS[kind](given)
        if version := COMPARED.get(name):
            files[PICTURES / f"{name}-compared.html"] = _compared(found, version)
    return files


def _compared(found: Recorded, version: str) -> str:
    trace = found.finding.replayed.trace
    other = family_of(trace.model).problem(version, trace.environment, [trace.invariant])
    return comparison_page(compare_models(found.problem, found.finding.replayed, other))


def stale() -> list[Path]:
    """The files that are not as they would be written."""
    return [
        path
        for path, text in made().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def main() -> None:
    """Write them, or look whether they are up to date."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    if parser.parse_args().check:
        if found := stale():
            raise SystemExit(f"not up to date: {', '.join(path.name for path in found)}")
        return
    PICTURES.mkdir(exist_ok=True)
    for path, text in made().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
