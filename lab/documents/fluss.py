"""The tables of docs/results/fluss.md: the catalogue under Fluss, its own losses, and repairs.

    python -m lab.documents.fluss [stories | own | repairs]

searches each question and writes its table into the document where that has its marks. About half
an hour on two cores, most of it for the repairs with three replicas.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from lab.documents.tables import in_markdown
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE, find_scenario
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.problem.problem import sharing_by_shape
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import Budgets, Result
from waterline.checker.search.search import search
from waterline.model.message.environment import Environment
from waterline.model.message.versions import spell

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "results" / "fluss.md"
STATES_MAX = 2_000_000
Options = Mapping[str, object]

STORIES = (
    *("C1", "C1b", "C1c", "C2", "C4", "C5", "C6", "C7", "C9", "C10", "C12", "C13", "C14", "C15"),
    *("C16", "C21", "C24", "C25", "C26", "C33", "C36", "C46"),
)
"""Those of the catalogue that can happen to Fluss at all: no KRaft, no ELR, no unclean election."""
STORY_VERSIONS = (
    *("fluss-0.9", "fluss-main", "fluss-0.9-without-truncate-leaderless"),
    *("hw", "epoch", "kip320"),
)


def _of_entry(text: str, number: str) -> str:
    """The text with a link to the entry of the catalogue that tells the same."""
    name = find_scenario(number).name
    return f"{text} ([{number}](catalogue.md#{number.lower()}-{name}))"


OWN: tuple[tuple[str, str, Options, str], ...] = (
    (
        _of_entry("The last tablet server in sync comes back", "C51"),
        "fluss-0.9",
        {"replicas": 1, "records": 1, "epochs": 2, "restarts": 1},
        "acknowledged_durable",
    ),
    (
        "the same with main",
        "fluss-main",
        {"replicas": 1, "records": 1, "epochs": 2, "restarts": 1},
        "acknowledged_durable",
    ),
    (
        _of_entry("#4269: three tablet servers, one reassignment", "C52"),
        "fluss-0.9",
        {"replicas": 3, "epochs": 1, "restarts": 0, "moves": 1},
        "no_divergence_below_hw",
    ),
    (
        "two tablet servers, leadership moves there and back",
        "fluss-0.9",
        {"epochs": 2, "restarts": 0, "moves": 2},
        "no_divergence_below_hw",
    ),
    (
        "two tablet servers, one move and one crash",
        "fluss-0.9",
        {"epochs": 2, "restarts": 1, "moves": 1},
        "no_divergence_below_hw",
    ),
    (
        _of_entry("an acknowledged record is lost by moves alone", "C53"),
        "fluss-0.9",
        {"epochs": 3, "restarts": 0, "moves": 3},
        "acknowledged_durable",
    ),
    (
        "the same without leaderless truncation, by crashes",
        "fluss-0.9-without-truncate-leaderless",
        {"epochs": 3, "restarts": 2},
        "acknowledged_durable",
    ),
    (
        _of_entry("a consumer has read what a clean election loses", "C54"),
        "fluss-0.9",
        {"records": 1, "epochs": 2, "restarts": 0, "moves": 2},
        "no_committed_loss",
    ),
)
"""What is asked, of whom, where, and which claim."""

_EPOCHS = ("truncate-by-epochs", "epoch-on-leading", "truncation-clears-epochs")
_FENCED = (*_EPOCHS, "fencing", "session-fencing", "isr-from-epoch-start")
_HW_ONLY = ("truncate-leaderless",)
_NO_HW = ("truncate-leaderless", "follower-hw-at-end")
REPAIRS: tuple[tuple[str, str], ...] = (
    ("as main is", "fluss-main"),
    ("no truncation where nobody leads", spell("fluss-main", (), _HW_ONLY)),
    ("(a) KIP-101", spell("fluss-main", ("truncate-by-epoch",), _NO_HW)),
    (
        "(a) KIP-101, followers' HW still at their end",
        spell("fluss-main", ("truncate-by-epoch",), _HW_ONLY),
    ),
    ("(b) KIP-279, KAFKA-7415", spell("fluss-main", _EPOCHS, _NO_HW)),
    (
        "(b) without (c): not in every epoch",
        spell("fluss-main", _EPOCHS, (*_NO_HW, "truncate-every-epoch")),
    ),
    ("(d) fencing (KIP-320), KAFKA-7128", spell("fluss-main", _FENCED, _NO_HW)),
    (
        "(e) followers' log ends forgotten",
        spell("fluss-main", (*_FENCED, "fresh-remote-leo"), _NO_HW),
    ),
    ("(e) alone", spell("fluss-main", ("fresh-remote-leo",), ())),
)
SETTINGS: tuple[tuple[str, Options], ...] = (
    ("2 servers, 2 crashes", {"epochs": 3, "restarts": 2}),
    ("2 servers, 3 moves", {"epochs": 3, "restarts": 0, "moves": 3}),
    ("2 servers, 2 moves, 1 crash", {"epochs": 3, "restarts": 1, "moves": 2}),
    ("3 servers, 2 moves", {"replicas": 3, "epochs": 2, "restarts": 0, "moves": 2}),
    (
        "3 servers, 2 moves, 1 crash, 1 record",
        {"replicas": 3, "records": 1, "epochs": 3, "restarts": 1, "moves": 2},
    ),
)
CLAIMS = ("acknowledged_durable", "no_committed_loss", "no_divergence_below_hw")
_SHORT = {
    "acknowledged_durable": "loss",
    "no_committed_loss": "read loss",
    "no_divergence_below_hw": "parts",
}


@dataclass(frozen=True, slots=True)
class Question:
    """A version in circumstances, and what is claimed."""

    version: str
    options: Options
    claims: tuple[str, ...]
    states_max: int = STATES_MAX
    at_first: bool = True


def answered(questions: Sequence[Question]) -> Iterator[Result]:
    """One after the other; those of one shape share a kernel."""
    problems = [
        MESSAGE.problem(q.version, {**Environment().options(), **q.options}, q.claims)
        for q in questions
    ]
    shared = sharing_by_shape(problems)
    for question, made in zip(questions, problems, strict=True):
        problem = replace(made, shared=shared[made.model.layout])
        budgets = Budgets(max_states=question.states_max, stop_at_first=question.at_first)
        prepare(problem, threads=2)
        with closing(MemoryEngine(problem, threads=2)) as engine:
            result = search(problem, engine, budgets=budgets)
        print(question.version, dict(question.options), result.distinct, result.depth, flush=True)
        yield result


def verdict(result: Result, claim: str) -> str:
    """`12` steps to its violation, `holds`, or how far it was searched."""
    depth = next((each.depth for each in result.violated if each.name == claim), None)
    if depth is not None:
        return f"**{depth}**"
    return "holds" if result.complete else f"not within {result.depth}"


def stories() -> str:
    """Entries of the catalogue under Fluss, and under three Kafkas, with the least steps."""
    entries: list[Scenario] = [each for each in CATALOGUE if each.number in STORIES]
    questions = [
        Question(version, entry.options, (entry.claim,))
        for entry in entries
        for version in STORY_VERSIONS
    ]
    cells = (
        verdict(result, question.claims[0])
        for question, result in zip(questions, answered(questions), strict=True)
    )
    rows = [
        (
            f"[{e.number}](catalogue.md#{e.number.lower()}-{e.name})",
            e.title,
            f"`{e.claim}`",
            *(next(cells) for _ in STORY_VERSIONS),
        )
        for e in entries
    ]
    return in_markdown(("entry", "story", "claim", *(f"`{v}`" for v in STORY_VERSIONS)), rows)


def own() -> str:
    """What happens to Fluss, and the least steps to it."""
    questions = [Question(version, options, (claim,)) for _, version, options, claim in OWN]
    rows = [
        (
            title,
            command(question),
            f"`{question.claims[0]}`",
            verdict(result, question.claims[0]),
            f"{result.distinct:,}",
        )
        for (title, *_), question, result in zip(OWN, questions, answered(questions), strict=True)
    ]
    return in_markdown(("what happens", "`check`", "claim", "steps", "states"), rows)


def command(question: Question) -> str:
    """The options of `check` that ask it."""
    options = " ".join(f"--{name} {value}" for name, value in question.options.items())
    return f"`--protocol {question.version} {options}`"


def repairs() -> str:
    """What Fluss could take over, and where; in a cell the least steps of each violation."""
    questions = [
        Question(version, options, CLAIMS, states_max=3_000_000, at_first=False)
        for _, options in SETTINGS
        for _, version in REPAIRS
    ]
    cells = {
        (question.version, str(question.options)): told(result)
        for question, result in zip(questions, answered(questions), strict=True)
    }
    rows = [
        (title, *(cells[version, str(options)] for _, options in SETTINGS))
        for title, version in REPAIRS
    ]
    return in_markdown(("what", *(title for title, _ in SETTINGS)), rows)


def told(result: Result) -> str:
    """`loss 12, parts 16`, or that nothing was found."""
    broken = {each.name: each.depth for each in result.violated}
    found = ", ".join(f"{_SHORT[claim]} {broken[claim]}" for claim in CLAIMS if claim in broken)
    if found:
        return f"**{found}**"
    return "holds" if result.complete else f"nothing within {result.depth}"


TABLES = {"stories": stories, "own": own, "repairs": repairs}


def main() -> None:
    """Write the tables that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], metavar="TABLE")
    for name in parser.parse_args().tables or TABLES:
        put(name, TABLES[name]())


def put(name: str, made: str) -> None:
    """The table into the document, between its marks."""
    text = DOCUMENT.read_text(encoding="utf-8")
    mark = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end of table -->)", re.DOTALL)
    DOCUMENT.write_text(mark.sub(lambda m: m[1] + made + m[2], text), encoding="utf-8")


if __name__ == "__main__":
    main()
