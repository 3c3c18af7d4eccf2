"""Questions of a job, what answers them, an explorer, and the answers as plain values.

Questions of one shape of state share their machine code, where they are many: to compile a small
space takes longer than to explore it. In an answer, counterexamples are recipes. One from the disk
proves nothing by itself: before it is shown, it is replayed through the model and must break the
claim.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem, sharing
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import (
    INTERRUPTED,
    NO_BUDGETS,
    Budgets,
    InvariantResult,
    LevelSummary,
    ReachableResult,
    Result,
    Verdict,
)
from waterline.checker.traces.violating_states import Path
from waterline.counterexamples import Trace, trace_of


@dataclass(frozen=True, slots=True)
class Trouble:
    """Reason for a missing result: the error of a rule, or a lack of the machine.

    `kind` is "raised", "refused" or "failed"; the command line distinguishes them.
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Findings of a search. `paths` lead to states that break the named claim.

    A path to a behaviour has a place in `cycles`: after so many steps its cycle begins. `levels`
    are the states of each. `raised_in` is the state where an action or a claim raised; nothing else
    counts then, nor after `trouble`. `is_kept`: it is from an earlier run. `is_ours`: the process
    that answered had loaded this program and these rules.
    """

    verdicts: tuple[tuple[str, str, int | None], ...] = ()
    reachable: tuple[tuple[str, int | None], ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)
    cycles: Mapping[str, int] = field(default_factory=dict)
    engine: str = "local"
    complete: bool = False
    stopped_by: str | None = None
    levels: tuple[int, ...] = ()
    generated: int = 0
    fired: tuple[tuple[str, int], ...] = ()
    cut: tuple[tuple[str, int], ...] = ()
    always_cut: tuple[str, ...] = ()
    seconds: float = 0.0
    raised_in: StateWords | None = None
    trouble: Trouble | None = None
    is_kept: bool = field(default=False, compare=False)
    is_ours: bool = field(default=True, compare=False)

    @property
    def distinct(self) -> int:
        """Number of different states."""
        return sum(self.levels)

    @property
    def depth(self) -> int:
        """Depth of the deepest level."""
        return max(len(self.levels) - 1, 0)

    @property
    def never(self) -> tuple[str, ...]:
        """Names of the cover properties that no state met."""
        return tuple(name for name, depth in self.reachable if depth is None)

    def result(self, problem: Problem) -> Result:
        """Return the result for the claims of `problem`; the search may have had more claims.

        Raises `KeyError` for a claim that was not searched.
        """
        found = {name: (Verdict(verdict), depth) for name, verdict, depth in self.verdicts}
        return Result(
            problem=problem,
            engine=self.engine,
            complete=self.complete,
            stopped_by=self.stopped_by,
            invariants=[InvariantResult(name, *found[name]) for name in problem.asked_names],
            reachable=[ReachableResult(name, depth) for name, depth in self.reachable],
            levels=[
                LevelSummary(depth, states, self.engine) for depth, states in enumerate(self.levels)
            ],
            generated=self.generated,
            fired=dict(self.fired),
            cut=dict(self.cut),
            always_cut=list(self.always_cut),
            deadlock=None,
            seconds=self.seconds,
        )

    def traces(self, problem: Problem) -> dict[str, Trace]:
        """Return the trace for each violated claim of `problem`. Raises `ValueError`."""
        return {
            name: trace_of(
                problem.model, name, path.calls, initial=path.initial, cycle=self.cycles.get(name)
            )
            for name, path in self.paths.items()
            if name in problem.asked_names
        }


def answer_of(
    result: Result, paths: Mapping[str, Path], cycles: Mapping[str, int] | None = None
) -> Answer:
    """Return the answer that a result is, with the paths of its counterexamples."""
    return Answer(
        verdicts=tuple((r.name, r.verdict.value, r.depth) for r in result.invariants),
        reachable=tuple((r.name, r.depth) for r in result.reachable),
        paths=paths,
        cycles=cycles or {},
        engine=result.engine,
        complete=result.complete,
        stopped_by=result.stopped_by,
        levels=tuple(level.states for level in result.levels),
        generated=result.generated,
        fired=tuple(result.fired.items()),
        cut=tuple(result.cut.items()),
        always_cut=tuple(result.always_cut),
        seconds=result.seconds,
    )


def to_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as values that JSON has."""
    plain = ("verdicts", "reachable", "cycles", "engine", "complete", "stopped_by", "levels")
    plain += ("generated", "fired", "cut", "always_cut", "seconds")  # type: ignore[assignment]
    paths = {name: [path.initial, path.calls] for name, path in answer.paths.items()}
    return {name: getattr(answer, name) for name in plain} | {"paths": paths}


def from_json(values: Mapping[str, Any]) -> Answer:
    """Invert `to_json`. Raises `KeyError`, `TypeError` or `ValueError` for anything else."""
    return Answer(
        verdicts=tuple((str(n), Verdict(v).value, _depth(d)) for n, v, d in values["verdicts"]),
        reachable=tuple((str(name), _depth(depth)) for name, depth in values["reachable"]),
        paths={
            name: Path(int(initial), tuple((str(a), tuple(map(int, args))) for a, args in calls))
            for name, (initial, calls) in values["paths"].items()
        },
        cycles={name: int(cycle) for name, cycle in values["cycles"].items()},
        engine=str(values["engine"]),
        complete=values["complete"] is True,
        stopped_by=None if values["stopped_by"] is None else str(values["stopped_by"]),
        levels=tuple(map(int, values["levels"])),
        generated=int(values["generated"]),
        fired=_counts(values["fired"]),
        cut=_counts(values["cut"]),
        always_cut=tuple(map(str, values["always_cut"])),
        seconds=float(values["seconds"]),
        is_kept=True,
    )


def _depth(value: Any) -> int | None:
    return None if value is None else int(value)


def _counts(pairs: Any) -> tuple[tuple[str, int], ...]:
    return tuple((str(name), int(count)) for name, count in pairs)


_MANY = 3
"""From so many questions of one shape on they are compiled together."""
_CLAIMS_MAX = 60
"""Most claims and actions of problems that share machine code."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A problem to explore within budgets.

    `choice` is the engine of a whole check; an explorer of spaces in memory needs none. `name` is
    for display. `size` is about how many states it has, where that is known.
    """

    problem: Problem
    budgets: Budgets = NO_BUDGETS
    choice: EngineChoice = field(default_factory=lambda: EngineChoice(name="local"))
    name: str = ""
    size: int = 0

    @property
    def key(self) -> Hashable:
        """Equal for questions with the same answer."""
        return self.problem.spec, self.problem.shared, self.budgets

    @property
    def shape(self) -> Hashable:
        """Equal for questions that can share machine code."""
        model, family = self.problem.model, self.problem.family
        own = model.version if family is None or family.is_read_at_run_time else None
        return model.name, model.layout, own


@dataclass(frozen=True, slots=True)
class Watch:
    """Receivers of what becomes known, in one thread: each answer as it comes, with its place.

    `progress` receives how many are answered, and the places under way, where these are known.
    """

    found: Callable[[int, Answer], None] = lambda place, answer: None
    progress: Callable[[int, Collection[int] | None], None] = lambda done, under_way: None


UNWATCHED = Watch()
Explorer = Callable[[Sequence[Question], Watch], list[Answer]]
"""Answers questions, in their order. Ctrl-C leaves the rest unexplored (`unexplored_answer`)."""


def unexplored_answer(question: Question, stopped_by: str = INTERRUPTED) -> Answer:
    """The answer where there was no time for one."""
    names = question.problem.asked_names
    verdicts = tuple((name, Verdict.INCOMPLETE.value, None) for name in names)
    return Answer(verdicts=verdicts, stopped_by=stopped_by)


def ask(
    explorer: Explorer,
    questions: Sequence[Question] | Mapping[int, Question],
    places: Sequence[int],
    watch: Watch,
    *,
    before: int = 0,
    found: Callable[[int, Answer], None] = lambda place, answer: None,
) -> dict[int, Answer]:
    """Return the explorer's answers to the questions at these places, by place.

    `watch` receives places among all questions; so many were answered `before`. `found`
    receives each answer before `watch` does.
    """

    def report(place: int, answer: Answer) -> None:
        found(places[place], answer)
        watch.found(places[place], answer)

    def progress(done: int, under_way: Collection[int] | None) -> None:
        now = None if under_way is None else [places[place] for place in under_way]
        watch.progress(before + done, now)

    answers = explorer([questions[place] for place in places], Watch(report, progress))
    return dict(zip(places, answers, strict=True))


def compiled_together(questions: Sequence[Question]) -> list[Question]:
    """Return the same questions; those of one shape get their common parts."""
    shapes: dict[Hashable, list[Problem]] = defaultdict(list)
    for question in questions:
        shapes[question.shape].append(question.problem)
    shared = {
        shape: sharing(problems)
        for shape, problems in shapes.items()
        if len(problems) >= _MANY and _can_share(problems[0])
    }
    return [
        replace(each, problem=replace(each.problem, shared=shared[each.shape]))
        if each.shape in shared
        else each
        for each in questions
    ]


def _can_share(problem: Problem) -> bool:
    return max(len(problem.model.actions), len(problem.claims)) <= _CLAIMS_MAX
