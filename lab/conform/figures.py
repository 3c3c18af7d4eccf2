"""Figures of conformance walks, and their document.

A document may have two authors: `lab.survey` writes what is before the heading `TITLE`, and
`lab.conform` what is from there on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.conform.kept_walks import Kept
from lab.conform.outcomes import describe
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.stepping import KNOWN
from waterline.counterexamples.named_file import written_whole

TITLE = "## Conformance walks"
_HEAD = f"""\
{TITLE}

Walks through the model of each release's own rules, every step taken on unchanged brokers and
compared: first to each outcome that no walk had come to, then by chance. An outcome is an action
and what it moves. All that the model can reach at these bounds were found by a search through all
of its states; those that brokers can be steered to by a search through the steps alone that the
harness can cause. This part is written by
`python -m lab.conform --kafka RELEASE --results FILE --markdown FILE`, and docs/confirm.md says
how.
"""
_NOT_TRIED = "No walk has aimed at them yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class CircumstancesFigures:
    """Figures of the walks in one set of circumstances.

    `outcomes` counts the compared outcomes, `steerable` those that brokers can be steered to, and
    `reachable` all that the model reaches. `missing` gives the reason for each steerable outcome
    not compared, `unsteerable` for each of the others.
    """

    name: str
    walks: int
    seeds: frozenset[int]
    by_action: Mapping[str, int]
    outcomes: int
    steerable: int
    reachable: int
    states: int
    complete: bool
    missing: Mapping[str, str]
    unsteerable: Mapping[str, str]
    differences: Mapping[str, int]
    not_held: Mapping[str, int]
    disagreements: Sequence[str]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Figures of `lab.conform` on a release, over all runs."""

    release: str
    rules: str
    circumstances: Sequence[CircumstancesFigures]

    @property
    def by_action(self) -> Counter[str]:
        """Number of compared steps of each action."""
        found: Counter[str] = Counter()
        for each in self.circumstances:
            found.update(each.by_action)
        return found

    @property
    def steps(self) -> int:
        """Number of compared steps."""
        return self.by_action.total()

    @property
    def walks(self) -> int:
        """Number of walks."""
        return sum(each.walks for each in self.circumstances)

    @property
    def seeds(self) -> list[int]:
        """Random seeds, one for each run."""
        return sorted(frozenset[int]().union(*(each.seeds for each in self.circumstances)))

    @property
    def seconds(self) -> float:
        """Duration of the walks."""
        return sum(each.seconds for each in self.circumstances)

    @property
    def disagreements(self) -> list[str]:
        """Disagreements that are not known differences."""
        return [reason for each in self.circumstances for reason in each.disagreements]


def figures_of(kept: Iterable[Kept]) -> list[Figures]:
    """The figures of each release, in the order of releases."""
    by_release: dict[str, list[Kept]] = {}
    for each in kept:
        by_release.setdefault(each.question.release, []).append(each)
    return [
        Figures(
            release=release, rules=those[0].question.rules, circumstances=[*map(_figures, those)]
        )
        for release, those in sorted(by_release.items(), key=lambda each: _order(each[0]))
    ]


def _order(release: str) -> tuple[tuple[int, ...], str]:
    known = kafka_release(release)
    return known.number, known.manner


def _figures(kept: Kept) -> CircumstancesFigures:
    compared: Counter[str] = Counter()
    why: dict[str, str] = {}
    for walk in kept.walks:
        compared.update(walk.compared)
        if walk.goal:
            why[walk.goal] = walk.not_held or walk.disagreement or walk.difference or _NOT_TRIED
    ways = sorted(map(describe, kept.plan.ways)) if kept.plan else []
    missing = {outcome: why.get(outcome, _NOT_TRIED) for outcome in ways if not compared[outcome]}
    unsteerable = kept.plan.unsteerable.items() if kept.plan else ()
    by_action: Counter[str] = Counter()
    for outcome, times in sorted(compared.items()):
        by_action[outcome.partition(":")[0]] += times
    return CircumstancesFigures(
        name=kept.question.circumstances,
        walks=len(kept.walks),
        seeds=frozenset(each.seed for each in kept.walks),
        by_action=dict(by_action),
        outcomes=len(ways) - len(missing),
        steerable=len(ways),
        reachable=len(ways) + len(unsteerable),
        states=kept.plan.states if kept.plan else 0,
        complete=kept.plan.complete if kept.plan else False,
        missing=missing,
        unsteerable={describe(each): reason for each, reason in unsteerable},
        differences=dict(Counter(each.difference for each in kept.walks if each.difference)),
        not_held=dict(Counter(each.not_held for each in kept.walks if each.not_held)),
        disagreements=[each.disagreement for each in kept.walks if each.disagreement],
        seconds=round(sum(each.seconds for each in kept.walks), 1),
    )


def to_markdown(planned: Sequence[Figures]) -> str:
    """The part of the document that is about walks, of the releases that have some."""
    runs = [run for run in planned if run.walks]
    lines = [_HEAD, f"| release | walks | {' | '.join(_NUMBERS)} |", "|---" * 7 + "|"]
    for run in runs:
        numbers = " | ".join(_numbers(run))
        lines.append(f"| {run.release} | {run.walks} | {numbers} |")
    lines += ["", "Steps of each action that were compared and agreed:", ""]
    names = sorted({action for run in runs for action in run.by_action})
    lines += [f"| | {' | '.join(run.release for run in runs)} |", "|---" * (len(runs) + 1) + "|"]
    lines += [
        f"| `{name}` | {' | '.join(str(run.by_action[name] or '-') for run in runs)} |"
        for name in names
    ]
    lines += _by_circumstances(runs)
    shown = Counter({d.name: 0 for d in KNOWN})
    for run in runs:
        for each in run.circumstances:
            shown.update(each.differences)
    lines += _list_items(
        "Known differences, and how many walks ended with one:",
        (f"{known.description} {shown[known.name]} walks." for known in KNOWN),
    )
    lines += _list_items(
        "Disagreements that are not on that list:",
        (f"{run.release}: {reason}." for run in runs for reason in run.disagreements),
    )
    lines += _list_items(
        "Outcomes that brokers can be steered to and no walk has compared, and how the last walk "
        "ended that aimed at them:",
        _by_reason(runs, lambda each: each.missing),
    )
    lines += _list_items(
        "Outcomes that brokers cannot be steered to, and the step that is on every path to them:",
        _by_reason(runs, lambda each: each.unsteerable),
    )
    lines += _list_items(
        "Walks that ended early because the harness could not hold a step:",
        (
            f"{run.release}, {each.name}, {times} times: {reason[:200]}."
            for run in runs
            for each in run.circumstances
            for reason, times in each.not_held.items()
        ),
    )
    return "\n".join(lines) + "\n"


def _by_reason(
    runs: Sequence[Figures], of: Callable[[CircumstancesFigures], Mapping[str, str]]
) -> Iterator[str]:
    """The outcomes by name, those of a release with the same reason together."""
    for run in runs:
        for each in run.circumstances:
            by_reason: dict[str, list[str]] = {}
            for outcome, reason in of(each).items():
                by_reason.setdefault(reason[:200].rstrip("."), []).append(f"`{outcome}`")
            if untried := by_reason.pop(_NOT_TRIED, []):
                yield f"{run.release}, {each.name}: {len(untried)} outcomes. {_NOT_TRIED}."
            for reason, outcomes in by_reason.items():
                yield f"{run.release}, {each.name}: {', '.join(outcomes)}. {reason}."


def _by_circumstances(runs: Sequence[Figures]) -> list[str]:
    """Return how many of the reachable outcomes were compared, by circumstances and release."""
    lines = [
        "",
        "Outcomes that were compared, of those that brokers can be steered to (`*`: of those in "
        "the first states, not all were gone through; `-`: not looked for):",
        "",
        f"| | {' | '.join(run.release for run in runs)} |",
        "|---" * (len(runs) + 1) + "|",
    ]
    for name in dict.fromkeys(each.name for run in runs for each in run.circumstances):
        cells = []
        for run in runs:
            each = next((each for each in run.circumstances if each.name == name), None)
            described = f"{each.outcomes} of {each.steerable}" if each and each.reachable else "-"
            cells.append(described + ("*" if each and each.reachable and not each.complete else ""))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


_NUMBERS = ("steps", "outcomes compared", "in all", "known differences", "disagreements")


def _numbers(run: Figures) -> list[str]:
    outcomes = sum(each.outcomes for each in run.circumstances)
    steerable = sum(each.steerable for each in run.circumstances)
    reachable = sum(each.reachable for each in run.circumstances)
    differences = sum(sum(each.differences.values()) for each in run.circumstances)
    return [
        f"{run.steps:,}",
        f"{outcomes} of {steerable}",
        str(reachable),
        str(differences),
        str(len(run.disagreements)),
    ]


def _list_items(title: str, items: Iterable[str]) -> list[str]:
    return ["", title, "", *([f"* {item}" for item in items] or ["* None."])]


def without_walks(text: str) -> tuple[str, str]:
    """A document without the part about walks, and that part, "" where it has none."""
    before, found, after = text.partition(f"\n{TITLE}\n")
    return before, f"\n{TITLE}\n{after}" if found else ""


def write_markdown(path: Path, runs: Sequence[Figures]) -> None:
    """Put the part about walks in the place of an earlier one; what follows it stays.

    Raises `BadFile`.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    rest, walks = without_walks(text)
    _, heading, after = walks.removeprefix(f"\n{TITLE}\n").partition("\n## ")
    with written_whole(path) as file:
        file.write(f"{rest}\n{to_markdown(runs)}{heading}{after}".lstrip().encode())
