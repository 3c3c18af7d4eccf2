"""Answers for all expectations: from the cache where the fingerprint matches, else by a search."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from waterline.checker.checking.run import run
from waterline.checker.ci.answer import Trouble, answer_from, values_of
from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.fingerprint import fingerprint
from waterline.checker.ci.judging import Outcome, judge
from waterline.checker.ci.kept_answers import keep_answer, kept_values
from waterline.checker.ci.processes import Processes, processes_wanted
from waterline.checker.ci.searches import Search, compiled_together, searches_of, shape_of
from waterline.checker.compiler.problem_digest import reads_the_same, what_it_read
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.program_digest import program_digest
from waterline.checker.search.engines.answers import EngineFailed
from waterline.checker.search.rule_errors import Raised
from waterline.checker.search.search import Snapshot
from waterline.model.core.errors import BadEnvironment

_REFUSED = (Refused, BadEnvironment, NotCompilable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How the answers are got.

    `processes` side by side, None for as many as the machine has room for. With `uses_kept` answers
    of earlier runs count. `begin` receives the names of what is searched next, `watch` how a
    search in this process comes on, `done` each outcome as it is known.
    """

    processes: int | None = None
    uses_kept: bool = True
    begin: Callable[[str], None] = lambda name: None
    watch: Callable[[Snapshot], None] = lambda snapshot: None
    announce: Callable[[str], None] = lambda message: None
    done: Callable[[Outcome], None] = lambda outcome: None


class Interrupted(Exception):
    """The user has ended it."""


def judge_all(expectations: Sequence[Expectation], manner: Manner) -> list[Outcome]:
    """How each came out, in their order; Ctrl-C leaves out those that were not judged by then."""
    outcomes: dict[int, Outcome] = {}

    def settle(search: Search, found: Mapping[str, Any] | Trouble, *, is_kept: bool) -> None:
        for number in search.answers:
            expectation = expectations[number]
            if isinstance(found, Trouble):
                outcomes[number] = judge(expectation, found)
            else:
                answer = answer_from(found, expectation.problem, is_kept=is_kept)
                outcomes[number] = judge(expectation, answer)
            manner.done(outcomes[number])

    with suppress(KeyboardInterrupt, Interrupted):
        left: list[Search] = []
        names: dict[Search, str | None] = {}
        for search in searches_of(expectations):
            name = _name_of(search)
            values = kept_values(name, search.problem) if name and manner.uses_kept else None
            if values is not None:
                settle(search, values, is_kept=True)
                continue
            left.append(search)
            names[search] = name
        for search, found in _search_all(left, expectations, manner):
            name = names[search]
            if name and not isinstance(found, Trouble) and _read_the_same(found, search):
                keep_answer(name, found)
            settle(search, found, is_kept=False)
    return [outcomes[number] for number in sorted(outcomes)]


def _name_of(search: Search) -> str | None:
    """The answer's name among those that are kept; None for a question that has none."""
    try:
        return fingerprint(search.problem, search.budgets)
    except NotCompilable:
        return None  # Which the search will tell.


def _read_the_same(found: Mapping[str, Any], search: Search) -> bool:
    """Whether the process that searched had loaded the same as this one, which named the search."""
    is_program = found["program"] == program_digest()
    return is_program and reads_the_same(search.problem, found["read"])


def _search_all(
    searches: Sequence[Search], expectations: Sequence[Expectation], manner: Manner
) -> Iterator[tuple[Search, Mapping[str, Any] | Trouble]]:
    """Every search with its answer, as they come. Raises `Interrupted`."""
    together = dict(zip(compiled_together(searches), searches, strict=True))
    names = {s: expectations[s.answers[0]].name for s in together}
    local = [search for search in together if search.choice.name == "local"]
    processes = processes_wanted(len(local), manner.processes)
    here = list(together)
    if processes > 1:
        here = [search for search in together if search.choice.name != "local"]
        with Processes(processes, answer_to) as started:
            for search, answer in _side_by_side(local, started, names, manner):
                yield together[search], _describe(answer)
    for search in here:
        manner.begin(names[search])
        yield together[search], _describe(answer_to(search, manner))


def _side_by_side(
    searches: Sequence[Search], started: Processes, names: Mapping[Search, str], manner: Manner
) -> Iterator[tuple[Search, tuple[str, Any]]]:
    """Run searches side by side; of those that share machine code, one compiles it for the others.

    The largest begin first, so that no process is idle for long in the end.
    """
    waiting = sorted(searches, key=lambda search: -search.size)
    under_way: dict[int, Search] = {}
    compiling: set[Hashable] = set()
    compiled: set[Hashable] = set()
    while waiting or under_way:
        for search in list(waiting):
            shape = shape_of(search)
            if not started.has_room:
                break
            is_alone = search.problem.shared is None
            if is_alone or shape in compiled or shape not in compiling:
                compiling.add(shape)
                waiting.remove(search)
                number = search.answers[0]
                under_way[number] = search
                manner.begin(names[search])
                started.give(number, search)
        for number, answer in started.answers():
            search = under_way.pop(number)
            compiled.add(shape_of(search))
            yield search, answer


def answer_to(search: Search, manner: Manner | None = None) -> tuple[str, Any]:
    """Search in this process: ("answer", values), or why there is none as `Trouble` has it.

    Raises `Interrupted` where the user has ended it.
    """
    manner = manner or Manner()
    try:
        done = run(
            search.problem,
            search.choice,
            budgets=search.budgets,
            watch=manner.watch,
            announce=manner.announce,
        )
    except Raised as raised:
        return "raised", f"{raised} in {raised.describe_state}"
    except _REFUSED as refused:
        return "refused", str(refused)
    except (EngineFailed, MemoryError) as failed:
        return "failed", str(failed) or "out of memory"
    except Exception:
        # A mistake of ours: of all expectations only this one is without an answer.
        return "failed", traceback.format_exc()
    if done.result.interrupted:
        raise Interrupted
    read = {"program": program_digest(), "read": what_it_read(search.problem)}
    return "answer", {**values_of(done), **read}


def _describe(answer: tuple[str, Any]) -> Mapping[str, Any] | Trouble:
    kind, content = answer
    return content if kind == "answer" else Trouble(kind, content)
