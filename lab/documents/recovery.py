"""True if Kafka comes back by itself, by version and fault: docs/results/recovery.md.

    python -m lab.documents.recovery > docs/results/recovery.md

explores every version in every circumstance, about two minutes on one core, and judges each claim
about recovery and about whole behaviours. The surprising cells are explained by their traces.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lab.documents.recovery_remarks import FAIRNESS, HEAD, REPORTED, SHOWN, Shown
from lab.documents.tables import Row, in_markdown
from waterline import invariants
from waterline.checker.checking.run import Run, run
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import InvariantResult, Verdict
from waterline.checker.traces.finding import Finding
from waterline.invariants.way_back import BY
from waterline.model.message.contents import ACTIONS
from waterline.model.message.environment import DOCUMENTED
from waterline.model.message.settings import settings_of
from waterline.model.message.versions import VERSIONS

_COLUMNS = 100
Options = Mapping[str, object]

CIRCUMSTANCES: dict[str, Options] = {
    "documented": {},
    "min.insync.replicas=2": {"min-insync-replicas": 2},
    "unclean.leader.election.enable=true": {"unclean-leader-election": True},
    "leader moves": {"moves": 2, "restarts": 1, "epochs": 3},
    "a power loss": {"power-losses": 1, "restarts": 1},
    "a lost disk": {"lost-disks": 1, "restarts": 1},
    "a lost checkpoint": {"lost-checkpoints": 1},
    "a log moved to another directory": {
        "directory-moves": 1,
        "moves": 2,
        "restarts": 0,
        "records": 1,
    },
    "a session expiry": {"session-expiries": 1, "restarts": 1},
    "a controlled shutdown": {"shutdowns": 1, "restarts": 1},
    "requests that survive": {"requests-survive": True, "restarts": 1, "epochs": 3},
    "late metadata": {"late-metadata": True, "restarts": 1, "epochs": 3},
    "late answers": {"late-answers": True},
    "three replicas": {"replicas": 3, "records": 1, "restarts": 1},
}
"""What each table is about, other than the environment `documented`."""

USUAL = settings_of(DOCUMENTED, VERSIONS["elr"])
CLAIMS = tuple(claim for claim in invariants.BEHAVIOURS if claim.applies(USUAL))
"""Those that need no rare circumstances to say anything."""
NAMES = tuple(claim.name for claim in CLAIMS)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one claim comes to. It is `judged` in full where no bound cut what might help."""

    verdict: Verdict
    depth: int | None
    is_contract: bool
    is_judged: bool

    def __str__(self) -> str:
        if self.verdict is Verdict.NOT_APPLICABLE:
            return "-"
        if self.verdict is Verdict.VIOLATED:
            return f"({self.depth})" if self.is_contract else f"**{self.depth}**"
        return "holds" if self.is_judged else "holds\\*"


def explored(version: str, options: Options, names: Iterable[str] = NAMES) -> Run:
    """A version in circumstances, with these claims judged."""
    environment = {**DOCUMENTED.options(), **options}
    problem = MESSAGE.problem(version, environment, list(names))
    return run(problem, EngineChoice(name="local"))


def cells(found: Run) -> dict[str, Cell]:
    """By claim."""
    return {r.name: _cell(found, r) for r in found.result.invariants if r.name in NAMES}


def _cell(found: Run, result: InvariantResult) -> Cell:
    if result.verdict is Verdict.INCOMPLETE:
        raise RuntimeError(f"{result.name} is not judged: {result.why}")
    is_contract = found.result.contract_of(result.name) is not None
    return Cell(result.verdict, result.depth, is_contract, result.unjudged == 0)


def of_claims() -> str:
    """Every claim: what it says, and what it does not."""
    rows = ((f"`{c.name}`", c.sentence, c.remark) for c in CLAIMS)
    return in_markdown(("claim", "says", "and"), rows)


def of_steps() -> str:
    """Which steps are weakly fair, and which lead back."""
    described = {True: "yes", False: ""}
    rows = ((f"`{a.name}`", described[a.weakly_fair], described[a.name in BY]) for a in ACTIONS)
    return in_markdown(("step", "weakly fair", "leads back"), rows)


def of_circumstance(name: str, options: Options) -> Iterator[str]:
    """Its section: claims down, versions across."""
    by_version = {version: cells(explored(version, options)) for version in VERSIONS}
    asked = " ".join(
        f"--{key}{'' if value is True else f' {value}'}" for key, value in options.items()
    )
    yield f"### {name if '=' in name else name.capitalize()}\n"
    if asked:
        yield f"`{asked}`\n"
    rows: list[Row] = []
    held = []
    for claim in NAMES:
        described = [by_version[version][claim] for version in VERSIONS]
        if any(cell.verdict is Verdict.VIOLATED for cell in described):
            rows.append((f"`{claim}`", *map(str, described)))
        else:
            held.append(f"`{claim}`" + ("" if all(c.is_judged for c in described) else "\\*"))
    yield in_markdown(("claim", *(f"`{version}`" for version in VERSIONS)), rows)
    if held:
        yield wrapped(f"Under every version that it applies to holds {', '.join(held)}.") + "\n"


def of_trace(shown: Shown) -> Iterator[str]:
    """A surprising cell: why, then its trace."""
    found = explored(shown.version, CIRCUMSTANCES[shown.circumstance], [shown.claim])
    [finding] = found.findings
    yield f"### {shown.title}\n"
    yield wrapped(shown.why) + "\n"
    yield f"`{shown.claim}` under `{shown.version}`, {shown.circumstance}:\n"
    yield from steps(finding)
    yield "\n" + wrapped(finding.explanation) + "\n"


def steps(finding: Finding) -> Iterator[str]:
    """Each step in a sentence, numbered; where the cycle begins is said."""
    narration = finding.model.narration
    for moment in finding.replayed.moments:
        described = narration.sentence(moment.action, moment.values, moment.before, moment.after)
        begins = finding.replayed.trace.cycle == moment.number - 1
        text = f"{moment.number}. {'(again and again) ' if begins else ''}{described}"
        yield textwrap.fill(text, _COLUMNS, subsequent_indent="   ")


def wrapped(text: str) -> str:
    """A paragraph."""
    return textwrap.fill(text, _COLUMNS, break_long_words=False, break_on_hyphens=False)


def document() -> Iterator[str]:
    """The page, part by part."""
    yield HEAD
    yield of_claims()
    yield "## Which steps are relied on\n"
    yield (
        wrapped(
            "A step that is weakly fair is taken in the end if from some moment on it is always "
            "enabled: claims about liveness rely on it. Claims about recovery ask for a way back "
            "by the steps that lead back."
        )
        + "\n"
    )
    yield of_steps()
    yield "## What each version comes to\n"
    for name, options in CIRCUMSTANCES.items():
        print(name, file=sys.stderr)
        yield from of_circumstance(name, options)
    yield "## What is surprising\n"
    for shown in SHOWN:
        yield from of_trace(shown)
    yield "## What has been reported\n"
    yield in_markdown(("ticket", "reported", "here"), REPORTED)
    yield wrapped(FAIRNESS)


def main() -> None:
    """Print it."""
    print("\n".join(document()).rstrip())


if __name__ == "__main__":
    main()
