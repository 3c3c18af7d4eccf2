"""Compare the examples of Raft and of KRaft's log with Murphi models of the same protocols.

    python -m lab.bench.own_peers [raft | kraft_log ...] [--large]

The models, peers/raft.m and peers/kraft_log.m, were written from the paper, from KIP-595 and from
what the examples say of themselves. Needs `rumur` and a C compiler. At each setting the distinct
states of every level, the transitions, and the least depth at which each claim breaks, or what must
happen first happens, must be equal. Exits 1 if anything differs, after all settings; 2 if there is
no peer. --large: also settings that take a peer more than half a minute a claim.

Rumur explores breadth first on one thread, so that the first violation it meets is a shortest one.
It reports one only: every claim that breaks has a run of its own.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.table import Table

from lab.bench.peers.message_peer import PeerError, count, fill_in, verify
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.checker.user_models.family import family_in

ROOT = Path(__file__).parents[2]
Bounds = Mapping[str, int | bool]


@dataclass(frozen=True, slots=True)
class Example:
    """An example, and its claims by their numbers in the peer, from 1.

    `of_steps`: those which no single state shows.
    """

    name: str
    claims: tuple[str, ...]
    of_steps: frozenset[str]
    settings: tuple[Bounds, ...]
    large: tuple[Bounds, ...]


RAFT = Example(
    name="raft",
    claims=(
        "one_leader_a_term",
        "logs_match",
        "committed_entries_agree",
        "leaders_have_what_is_committed",
        "leaders_only_append",
        "commits",
        "commits_in_two_terms",
        "cuts_its_log",
    ),
    of_steps=frozenset({"leaders_only_append", "cuts_its_log"}),
    settings=(
        {},
        {"terms": 1},
        {"terms": 4, "entries": 1},
        {"servers": 1},
        {"servers": 2},
        {"servers": 2, "terms": 4, "entries": 3},
        {"servers": 4, "terms": 1, "entries": 1},
        {"voters_compare_logs": False},
        {"commits_own_term_only": False},
        {"terms": 4, "entries": 1, "commits_own_term_only": False},
    ),
    large=({"terms": 3, "entries": 2},),
)
KRAFT_LOG = Example(
    name="kraft_log",
    claims=(
        "one_leader_an_epoch",
        "logs_match",
        "committed_records_agree",
        "leaders_have_what_is_committed",
        "nothing_committed_is_truncated",
        "commits",
        "commits_in_two_epochs",
        "truncates",
    ),
    of_steps=frozenset({"nothing_committed_is_truncated", "truncates"}),
    settings=(
        {},
        {"epochs": 1},
        {"epochs": 3},
        {"voters": 1},
        {"voters": 2},
        {"voters": 2, "epochs": 4, "records": 3},
        {"voters_compare_logs": False},
        {"waits_for_own_epoch": False},
    ),
    large=({"epochs": 4, "waits_for_own_epoch": False},),
)
EXAMPLES = {example.name: example for example in (RAFT, KRAFT_LOG)}


@dataclass(frozen=True, slots=True)
class Found:
    """What a checker says of one setting. `first` has the depths of what breaks, or happens."""

    distinct: int
    transitions: int
    levels: Sequence[int]
    first: Mapping[str, int]


def ours(example: Example, bounds: Bounds) -> Found:
    """What Waterline finds."""
    family = family_in(ROOT / "examples" / f"{example.name}.py")
    problem = family.problem(example.name, dict(bounds), symmetry="none")
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)
    depths = {found.name: found.depth for found in result.invariants}
    depths |= {found.name: found.depth for found in result.reachable}
    if missing := set(example.claims) - set(depths):
        raise PeerError(f"{example.name} lacks claims of its peer: {sorted(missing)}")
    return Found(
        distinct=result.distinct,
        transitions=result.generated - 1,
        levels=[level.states for level in result.levels],
        first={
            name: depth
            for name in example.claims  # the peer has no others
            if (depth := depths[name]) is not None
        },
    )


def theirs(example: Example, bounds: Bounds) -> Found:
    """What the Murphi model comes to. Raises `PeerError`."""
    text = (ROOT / "lab" / "bench" / "peers" / f"{example.name}.m").read_text(encoding="utf-8")
    source = fill_in(text, {name.upper(): int(value) for name, value in bounds.items()})
    of_states = tuple(claim for claim in example.claims if claim not in example.of_steps)
    counted = count(source, of_states)
    first = {}
    for number, claim in enumerate(example.claims, start=1):
        if claim in example.of_steps or claim in counted["violating"]:
            depth = least_depth(fill_in(source, {"CLAIM": number}), claim)
            if depth is not None:
                first[claim] = depth
    if missed := counted["violating"].keys() - first.keys():
        raise PeerError(f"{sorted(missed)} was violated when it was counted, and now is not")
    return Found(counted["distinct"], counted["fired"], counted["levels"], first)


def least_depth(source: str, claim: str) -> int | None:
    """The steps of the shortest way to break the one claim that is checked; `None`: it holds."""
    report, _ = verify(source, ["--counterexample-trace", "diff"])
    failure = report.find("error")
    if failure is None:
        return None
    if claim not in failure.findtext("message", ""):
        raise PeerError(f"the model itself went wrong: {failure.findtext('message', '')}")
    return len(failure.findall("transition")) - 1  # the first one is the start state


def differences(mine: Found, peer: Found) -> list[str]:
    """Say what is not equal; of the levels, the first one that is not."""
    at_depth = (
        (f"states at depth {depth}", a, b)
        for depth, (a, b) in enumerate(zip(mine.levels, peer.levels, strict=False))
        if a != b
    )
    pairs = [
        ("distinct states", mine.distinct, peer.distinct),
        ("transitions", mine.transitions, peer.transitions),
        ("levels", len(mine.levels), len(peer.levels)),
        *itertools.islice(at_depth, 1),
    ]
    found = [f"{what} {a:,}, peer {b:,}" for what, a, b in pairs if a != b]
    for claim in sorted(mine.first.keys() | peer.first.keys()):
        depth, other = mine.first.get(claim), peer.first.get(claim)
        if depth != other:
            found.append(f"{claim} {describe(depth)}, peer {describe(other)}")
    return found


def describe(depth: int | None) -> str:
    """A depth, or that there is none."""
    return "never" if depth is None else f"in step {depth}"


def compare(example: Example, settings: Sequence[Bounds], console: Console) -> bool:
    """Compare an example at all settings, print its table, and say whether all agree."""
    table = Table(title=example.name, title_justify="left")
    table.add_column("Bounds")
    for title in ("States", "Peer's", "Transitions", "Peer's"):
        table.add_column(title, justify="right")
    table.add_column("Breaks, or happens, first in step")
    table.add_column("")
    wrong: list[str] = []
    with Live(table, console=console, auto_refresh=False) as shown:
        for bounds in settings:
            name = " ".join(f"{key}={str(given).lower()}" for key, given in bounds.items())
            mine, peer = ours(example, bounds), theirs(example, bounds)
            found = differences(mine, peer)
            wrong += [f"{example.name} {name or 'default'}: {difference}" for difference in found]
            table.add_row(
                name or "default",
                f"{mine.distinct:,}",
                f"{peer.distinct:,}",
                f"{mine.transitions:,}",
                f"{peer.transitions:,}",
                ", ".join(f"{claim} {depth}" for claim, depth in mine.first.items()),
                "DIFFER" if found else "agree",
            )
            shown.refresh()
    console.print()
    for difference in wrong:
        console.print(difference, soft_wrap=True)
    return not wrong


def main(argv: list[str] | None = None) -> int:
    """Compare, a table for each example."""
    parser = argparse.ArgumentParser(description="Compare two examples with Murphi models.")
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="raft or kraft_log")
    parser.add_argument("--large", action="store_true", help="also the larger settings")
    asked = parser.parse_args(argv)
    for name in asked.examples:
        if name not in EXAMPLES:
            parser.error(f"{name} has no peer; {' and '.join(EXAMPLES)} have one")
    for tool in ("rumur", "gcc"):
        if shutil.which(tool) is None:
            print(f"own_peers: {tool} is not installed", file=sys.stderr)
            return 2
    console = Console(width=130)
    try:
        agreed = [
            compare(each, (*each.settings, *(each.large if asked.large else ())), console)
            for each in EXAMPLES.values()
            if not asked.examples or each.name in asked.examples
        ]
    except PeerError as error:
        print(f"own_peers: {error}", file=sys.stderr)
        return 2
    return 0 if all(agreed) else 1


if __name__ == "__main__":
    sys.exit(main())
