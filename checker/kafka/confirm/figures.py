"""Figures of conformance walks: a file with a line per run, and its document.

docs/released-brokers.md has two authors: `confirm-catalogue` writes what is before the heading
`TITLE`, and `conform` what is from there on.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from checker.kafka.confirm.conformance import Conformance, Tallied
from checker.kafka.confirm.errors import CannotConfirm
from checker.kafka.confirm.known_differences import KNOWN
from checker.kafka.confirm.outcomes import describe
from counterexamples.named_file import written_whole

TITLE = "## Conformance walks"
_HEAD = f"""\
{TITLE}

Walks through the model of each release's own rules, every step taken on unchanged brokers and
compared: first by chance, then to each outcome that no walk had come to. An outcome is an action
and what it moves; those that the model can come to were found by going through all its states. This
part is written by
`waterline conform --kafka RELEASE --results FILE --markdown docs/released-brokers.md`, and
[confirm.md](confirm.md#conformance) says how it is done.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CircumstancesFigures:
    """What was compared in some circumstances. `missing` are outcomes that no walk compared."""

    name: str
    walks: int
    by_action: Mapping[str, int]
    outcomes: int
    reachable: int
    states: int
    complete: bool
    missing: Sequence[str]
    differences: Mapping[str, int]
    not_held: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What came of `conform` on a release. `disagreements` are those that nobody knew of."""

    release: str
    rules: str
    seed: int
    seconds: float
    circumstances: Sequence[CircumstancesFigures]
    disagreements: Sequence[str]

    @property
    def by_action(self) -> Counter[str]:
        """How many steps of each action were compared."""
        found: Counter[str] = Counter()
        for each in self.circumstances:
            found.update(each.by_action)
        return found

    @property
    def steps(self) -> int:
        """How many steps were compared."""
        return self.by_action.total()

    @property
    def walks(self) -> int:
        """How many walks there were."""
        return sum(each.walks for each in self.circumstances)


def figures_of(found: Conformance, seed: int) -> Figures:
    """The figures of a run."""
    return Figures(
        release=found.release.name,
        rules=found.release.rules,
        seed=seed,
        seconds=round(found.seconds, 1),
        circumstances=[_figures(each) for each in found.tallied],
        disagreements=[each.reason for each in found.disagreements],
    )


def _figures(tally: Tallied) -> CircumstancesFigures:
    missing = set(tally.ways) - set(tally.compared)
    return CircumstancesFigures(
        name=tally.circumstances.name,
        walks=tally.walks,
        by_action=dict(sorted(tally.by_action.items())),
        outcomes=len(tally.ways) - len(missing),
        reachable=len(tally.ways),
        states=tally.states,
        complete=tally.complete,
        missing=sorted(map(describe, missing)),
        differences=dict(tally.differences),
        not_held=dict(tally.not_held),
    )


def read_figures(file: Path) -> list[Figures]:
    """What earlier runs wrote down, those of a release added up. Raises `CannotConfirm`.

    Of runs with the same seed the last counts.
    """
    if not file.exists():
        return []
    try:
        lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        found = [_from_json(line) for line in lines]
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise CannotConfirm(
            f"{file} holds no figures of conformance walks ({problem}); name another file"
        ) from None
    runs = {(each.release, each.seed): each for each in found}.values()
    by_release: dict[str, list[Figures]] = {}
    for run in runs:
        by_release.setdefault(run.release, []).append(run)
    return [functools.reduce(_added, those) for those in by_release.values()]


def _added(one: Figures, other: Figures) -> Figures:
    """Two runs on the same release as if they were one."""
    names = dict.fromkeys(each.name for run in (one, other) for each in run.circumstances)
    circumstances = []
    for name in names:
        those = [each for run in (one, other) for each in run.circumstances if each.name == name]
        circumstances.append(functools.reduce(_added_circumstances, those))
    return replace(
        one,
        seconds=round(one.seconds + other.seconds, 1),
        circumstances=circumstances,
        disagreements=[*one.disagreements, *other.disagreements],
    )


def _added_circumstances(
    one: CircumstancesFigures, other: CircumstancesFigures
) -> CircumstancesFigures:
    """What neither compared is missing, of the outcomes of the one that knows more of them."""
    knows, less = sorted((one, other), key=lambda each: -each.reachable)
    missing = set(knows.missing)
    if less.reachable == knows.reachable:
        missing &= set(less.missing)
    return replace(
        knows,
        walks=one.walks + other.walks,
        by_action=dict(Counter(one.by_action) + Counter(other.by_action)),
        outcomes=knows.reachable - len(missing),
        missing=sorted(missing),
        differences=dict(Counter(one.differences) + Counter(other.differences)),
        not_held=dict(Counter(one.not_held) + Counter(other.not_held)),
    )


def _from_json(line: dict[str, object]) -> Figures:
    circumstances = [CircumstancesFigures(**each) for each in line.pop("circumstances")]  # type: ignore[attr-defined]
    return Figures(circumstances=circumstances, **line)  # type: ignore[arg-type]


def keep(file: Path, figures: Figures) -> None:
    """Add a run to the file."""
    with file.open("a", encoding="utf-8") as kept:
        kept.write(json.dumps(asdict(figures)) + "\n")


def to_markdown(found: Iterable[Figures]) -> str:
    """The part of the document that is about walks."""
    runs = sorted(found, key=lambda run: [int(part) for part in run.release.split(".")])
    lines = [_HEAD, f"| release | walks | {' | '.join(_NUMBERS)} |", "|---" * 6 + "|"]
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
    lines += _listed(
        "Known differences, and how many walks ended with one:",
        (f"{known.description} {shown[known.name]} walks." for known in KNOWN),
    )
    lines += _listed(
        "Disagreements that are not on that list:",
        (f"{run.release}: {reason}." for run in runs for reason in run.disagreements),
    )
    lines += _listed(
        "Walks that ended early because the harness could not hold a step:",
        (
            f"{run.release}, {each.name}, {times} times: {reason[:200]}."
            for run in runs
            for each in run.circumstances
            for reason, times in each.not_held.items()
        ),
    )
    return "\n".join(lines) + "\n"


def _by_circumstances(runs: Sequence[Figures]) -> list[str]:
    """How many of the outcomes that can be reached were compared, by circumstances and release."""
    lines = [
        "",
        "Outcomes that were compared, of those that the model can come to (`*`: of those in the "
        "first states, not all were gone through; `-`: not looked for):",
        "",
        f"| | {' | '.join(run.release for run in runs)} |",
        "|---" * (len(runs) + 1) + "|",
    ]
    for name in dict.fromkeys(each.name for run in runs for each in run.circumstances):
        cells = []
        for run in runs:
            each = next((each for each in run.circumstances if each.name == name), None)
            described = f"{each.outcomes} of {each.reachable}" if each and each.reachable else "-"
            cells.append(described + ("*" if each and each.reachable and not each.complete else ""))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


_NUMBERS = ("steps", "outcomes", "known differences", "disagreements")


def _numbers(run: Figures) -> list[str]:
    outcomes = sum(each.outcomes for each in run.circumstances)
    reachable = sum(each.reachable for each in run.circumstances)
    differences = sum(sum(each.differences.values()) for each in run.circumstances)
    return [
        f"{run.steps:,}",
        f"{outcomes} of {reachable}",
        str(differences),
        str(len(run.disagreements)),
    ]


def _listed(title: str, items: Iterable[str]) -> list[str]:
    return ["", title, "", *([f"* {item}" for item in items] or ["* None."])]


def without_walks(text: str) -> tuple[str, str]:
    """A document without the part about walks, and that part, "" where it has none."""
    before, found, after = text.partition(f"\n{TITLE}\n")
    return before, f"\n{TITLE}\n{after}" if found else ""


def write_markdown(path: Path, runs: Sequence[Figures]) -> None:
    """Put the part about walks in the place of an earlier one. Raises `BadFile`."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    rest, _ = without_walks(text)
    with written_whole(path) as file:
        file.write(f"{rest}\n{to_markdown(runs)}".lstrip().encode())
