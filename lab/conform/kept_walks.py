"""Walks and plans in a file of results, a JSON object a line, written as they come.

A plan has every outcome that the model can reach in some circumstances, with a way to each; a walk
has how often it compared each. Both carry the release, the name of the circumstances, and their
question: a digest of the model's rules and bounds. Walks of another question are not added up.
docs/confirm.md has the format.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lab.conform.aiming import Plan
from lab.conform.outcomes import describe, outcome_named
from waterline.checker.kafka.confirm.errors import CannotConfirm

CHANCE, AIMED, ALONG = "chance", "aimed", "along"
"""Ways for a walk to choose its steps; the last follows a trace, and is not kept."""
_PLAN, _WALK = "plan", "walk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Identity of walks: `rules` are the model's version, `digest` covers all rules and bounds."""

    release: str
    circumstances: str
    rules: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptWalk:
    """Result of a walk; outcomes are written as `describe` does.

    `goal` is the last outcome that the walk aimed at and did not reach, "" for none. `not_held`
    says why the harness could not go on, `difference` is the known difference that ended the walk,
    and `disagreement` any other, at the end of `steps_to_it`.
    """

    number: int
    kind: str
    seed: int
    seconds: float
    compared: Mapping[str, int] = field(default_factory=dict)
    goal: str = ""
    not_held: str = ""
    difference: str = ""
    disagreement: str = ""
    steps_to_it: Sequence[str] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Number of steps that were compared and agreed."""
        return sum(self.compared.values())


@dataclass(slots=True)
class Kept:
    """Plan and walks that a file has for one question; the plan is None until it is made."""

    question: Question
    plan: Plan | None = None
    walks: list[KeptWalk] = field(default_factory=list)


def read_kept(file: Path) -> list[Kept]:
    """Return the results of earlier runs by question. Raises `CannotConfirm` for other files."""
    if not file.exists():
        return []
    found: dict[Question, Kept] = {}
    try:
        for line in file.read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            question = Question(**values["question"])
            kept = found.setdefault(question, Kept(question))
            if _PLAN in values:
                kept.plan = _plan_of(values[_PLAN])
            else:
                kept.walks.append(KeptWalk(**values[_WALK]))
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise CannotConfirm(
            f"{file} holds no results of conformance walks ({problem}); name another file"
        ) from None
    return list(found.values())


def require_same(file: Path, kept: Sequence[Kept], questions: Sequence[Question]) -> None:
    """Raise `CannotConfirm` where the file has walks of a release under other rules or bounds."""
    asked = {(each.release, each.circumstances): each for each in questions}
    for each in kept:
        mine = asked.get((each.question.release, each.question.circumstances), each.question)
        if mine != each.question:
            raise CannotConfirm(
                f"{file} has walks on Kafka {mine.release} in {mine.circumstances!r} under other "
                f"rules or bounds ({each.question.rules} {each.question.digest[:8]}, now "
                f"{mine.rules} {mine.digest[:8]}); name another file"
            )


def keep(file: Path, question: Question, what: Plan | KeptWalk) -> None:
    """Add a line. Raises `CannotConfirm`."""
    values: dict[str, Any] = {"question": asdict(question)}
    if isinstance(what, Plan):
        values[_PLAN] = _plan_text(what)
    else:
        values[_WALK] = asdict(what)
    try:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(values) + "\n")
    except OSError as problem:
        raise CannotConfirm(f"--results {file} cannot be written: {problem}") from None


def _plan_text(plan: Plan) -> dict[str, Any]:
    return {
        "states": plan.states,
        "complete": plan.complete,
        "ways": {
            describe(outcome): [[action, *arguments] for action, arguments in way]
            for outcome, way in sorted(plan.ways.items())
        },
        "unsteerable": {describe(each): why for each, why in sorted(plan.unsteerable.items())},
        "restrictions": dict(plan.restrictions),
        "made_by": plan.made_by,
    }


def _plan_of(values: Mapping[str, Any]) -> Plan:
    return Plan(
        states=values["states"],
        complete=values["complete"],
        ways={outcome_named(text): tuple(_calls(way)) for text, way in values["ways"].items()},
        unsteerable={outcome_named(text): why for text, why in values["unsteerable"].items()},
        restrictions=values["restrictions"],
        made_by=values["made_by"],
    )


def _calls(way: Sequence[Sequence[Any]]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for action, *arguments in way:
        yield action, tuple(arguments)
