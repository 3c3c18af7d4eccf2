"""What the trace of each entry of the catalogue takes, and what repairs it, on record.

    python -m lab.documents.explanations [NAME]...

explains the recorded trace of every entry, or makes anew the lines of those named. Some minutes on
one core; each line is written once it is known. What a budget ended is told as not decided.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from lab.documents import catalogue
from waterline.checker.analysis.explain.chain import Chain, chain_of
from waterline.checker.analysis.explain.rendering import describe_numbers
from waterline.checker.analysis.explain.repairs import Repairs, repairs_of
from waterline.checker.kafka.families import family_of
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import read_trace

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "examples" / "traces" / "scenarios"
STATES_MAX = 8_000_000
SECONDS_MAX = 200.0
"""For all changes of an entry together."""


def explanation(scenario: Scenario) -> list[str]:
    """Return what it takes, what came too late, and what repairs it."""
    trace = read_trace(TRACES / f"{scenario.name}.json")
    problem = family_of(trace.model).problem(trace.version, trace.environment, [trace.invariant])
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    replayed = confirm_trace(trace, problem.model, claim).replayed
    prepare(problem)
    chain = chain_of(problem, replayed)
    [repairs] = repairs_of(problem, threads=1, states_max=STATES_MAX, seconds_max=SECONDS_MAX)
    return [_causes(chain), _chances(chain), _repairs(repairs)]


def _causes(chain: Chain) -> str:
    described = (
        f"{cause.moment.number} `{cause.moment}`" + (" (not decided)" if cause.undecided else "")
        for cause in chain.causes
    )
    return ", ".join(described)


def _chances(chain: Chain) -> str:
    described = [
        f"`{chance.call}` after {describe_numbers(tuple(range(chance.first, chance.last + 1)))}"
        for chance in chain.chances
    ]
    if chain.unlooked:
        described.append(f"not all tried after {describe_numbers(chain.unlooked)}")
    return ", ".join(described) or "none"


def _repairs(repairs: Repairs) -> str:
    described = ", ".join(
        f"`{one.candidate.description}` ({one.states:,}"
        + (f"; of {one.unjudged:,} nothing is said)" if one.unjudged else ")")
        for one in repairs.found
    )
    if not repairs.undecided:
        return described or "none"
    named = ", ".join(f"`{change.description}`" for change in repairs.undecided)
    return f"{described or 'none'}; not decided: {named}"


def main() -> None:
    """Record them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names
    recorded = catalogue.read()
    for scenario in [find_scenario(name) for name in names] or catalogue.scenarios_with_trace():
        started = time.monotonic()
        recorded[scenario.name]["explained"] = explanation(scenario)
        print(f"{scenario.number} {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        catalogue.write(recorded)


if __name__ == "__main__":
    main()
