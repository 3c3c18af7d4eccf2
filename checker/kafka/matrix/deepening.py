"""Iterative deepening of a cell's bounds, until nothing is cut or the budget is used.

A cell begins with the sizes of its grid. If it shows no loss there, it is explored without bounds.
If that shows none either, more epochs cannot show one. If a claim breaks within the cell's faults,
the cell is raised to the bounds of that trace. A cell that cannot be explored without bounds, or
not to the end, is explored with more epochs as long as later ones are cut, then with one more
record. All raised cells go to the same sizes, so that few shapes are compiled. A cell ends at a
loss, at the requested sizes, or when larger ones exceed its states: then the largest completed ones
count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, replace

from waterline.checker.batch.question import (
    Answer,
    Explorer,
    Question,
    Watch,
    ask,
    unexplored_answer,
)
from waterline.checker.kafka.matrix.grid import (
    CLAIMS,
    COMMON,
    EPOCHS_STEP,
    FAULT,
    Cell,
    Grid,
)
from waterline.checker.kafka.matrix.outcome import (
    Outcome,
    Standing,
    Unfinished,
    badness,
    judge,
    with_counterexample,
)
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.kafka.matrix.without_bounds import (
    TraceBounds,
    Unbounded,
    cell_without_bounds,
    compare,
)
from waterline.checker.search.result import INTERRUPTED
from waterline.model.message.declared import option_of
from waterline.model.message.environment import FAULTS
from waterline.model.message.release_names import active_rules, idle_rules
from waterline.model.message.versions import version_of

_TAKES_BROKERS_DOWN = [option_of(name) for name, fault in FAULTS.items() if fault.takes_down]
"""Options that let brokers go down. With one of them brokers do restart, so sharing is pointless.
"""


def asking_once(explorer: Explorer) -> Explorer:
    """Return an explorer that searches once for all cells with the same states.

    Some rules change nothing before a certain action (`Feature.begins_with`):
    a broker epoch is only of the past once a broker has registered anew. Where a search has never
    taken that action, its answer is also that of the version which differs in such rules alone.
    Whether it was taken is counted, not assumed; where it was, the other cell is explored as well.
    """

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        first = _first_of_its_kind(questions)
        asked = [place for place, other in enumerate(first) if place == other]
        answers = ask(explorer, questions, asked, watch)
        others = [
            place
            for place, other in enumerate(first)
            if questions[place].key != questions[other].key and not _is_for_both(answers[other])
        ]
        if others:
            answers |= ask(explorer, questions, others, watch, before=len(asked))
        found = [answers.get(place, answers[other]) for place, other in enumerate(first)]
        if not any(answer.stopped_by == INTERRUPTED for answer in found):
            watch.progress(len(questions), None)
        return found

    return explore


def _first_of_its_kind(questions: Sequence[Question]) -> list[int]:
    """Return, for each question, the place of the first that may have the same answer."""
    places: dict[Hashable, int] = {}
    return [places.setdefault(_kind(q), place) for place, q in enumerate(questions)]


def _kind(question: Question) -> Hashable:
    """All that its answer depends on while no rule that waits has begun."""
    problem = question.problem
    model = problem.model
    settings = model.settings
    if not any(model.options[name] for name in _TAKES_BROKERS_DOWN):
        _, features = active_rules(version_of(model.version), ())
        settings = settings._replace(features=features)
    layout, contents = model.layout, tuple(model.contents)
    return settings, layout, contents, problem.checked, question.budgets, problem.shared


def _is_for_both(answer: Answer) -> bool:
    """True if the explored space has nothing that a rule waits for, or nothing was explored."""
    if answer.stopped_by == INTERRUPTED:
        return True
    fired = [name for name, number in answer.fired if number]
    # A search that raised has counted nothing.
    return answer.raised_in is None and idle_rules(fired) == idle_rules(())


@dataclass(frozen=True, slots=True)
class Rung:
    """Cells that are explored side by side, all within the same sizes, or all without bounds."""

    cells: tuple[Cell, ...]
    records: int
    epochs: int
    is_unbounded: bool = False


NOT_AT_FIRST = "not yet"
"""Why larger bounds were not begun in a first look."""

Follow = Callable[[Rung, int, Collection[int] | None], None]
"""Receives how many cells of a rung are explored, and which are under way, where that is known."""


def ignore_progress(rung: Rung, done: int, under_way: Collection[int] | None) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class Raised:
    """Cells with what is known of them; `interrupted`: Ctrl-C ended it before all was known."""

    outcomes: tuple[Outcome, ...]
    interrupted: bool = False


def explore_raised(
    grid: Grid,
    cells: Sequence[Cell],
    explorer: Explorer,
    *,
    follow: Follow = ignore_progress,
    stop_at_first: bool = False,
) -> Raised:
    """Explore these cells of a grid, and raise those that show no loss.

    With `stop_at_first` only whether all claims hold matters. Raises `Raised` when an action or an
    invariant raises, and `TraceError` when a counterexample does not replay.
    """
    known: list[Outcome] = []
    first = tuple(cells) if grid.in_order_given else _in_order_of_work(cells)
    rung: Rung | None = Rung(first, grid.records, grid.epochs)
    places = {cell.at(): place for place, cell in enumerate(cells)}
    interrupted = False
    while rung is not None and rung.cells and not interrupted:
        answers = _answers(grid, rung, explorer, follow, stop_at_first=stop_at_first)
        interrupted = any(answer.stopped_by == INTERRUPTED for answer in answers)
        if rung.is_unbounded:
            known = _with_unbounded(grid, known, rung, answers)
        else:
            known = _rejudge(grid, _merge(known, judge(grid, rung.cells, answers)))
            known.sort(key=lambda outcome: places[outcome.cell.at()])
        known = [_refused_unbounded(grid, outcome) for outcome in known]
        rung = _next_rung(grid, known)
    if grid.first_look:
        known = [_looked_at(outcome) for outcome in known]
    return Raised(tuple(map(with_counterexample, known)), interrupted)


def _in_order_of_work(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """The smallest cell first, which shows soon that something is found; then the largest first, so
    that no core waits for it in the end.

    Faults and what is switched on stand for the size: each multiplies the states.
    """
    by_size = sorted(cells, key=_faults_within)
    return (*by_size[:1], *reversed(by_size[1:]))


def _faults_within(cell: Cell) -> int:
    """Budgets of all faults together, with one for each kind of late message."""
    environment = cell.environment
    budgets: int = sum(getattr(environment, name) for name in FAULTS)
    return budgets + environment.requests_survive + environment.late_metadata


def _looked_at(outcome: Outcome) -> Outcome:
    """Add the larger bounds that a first look leaves out, to an outcome that holds."""
    if outcome.standing is not Standing.HOLDS or outcome.unfinished is not None:
        return outcome
    larger = Unfinished(_records(outcome) + 1, _epochs(outcome), NOT_AT_FIRST, 0, 0)
    return replace(outcome, unfinished=larger)


def _answers(
    grid: Grid, rung: Rung, explorer: Explorer, follow: Follow, *, stop_at_first: bool
) -> list[Answer]:
    """Return the answers about the cells of a rung; in a first look common faults before others,
    so that only their kernel is made before the first answer.
    """
    sized = grid.within(rung.records, rung.epochs)
    if rung.is_unbounded:
        sized = grid.without_bounds(rung.records)
    follow(rung, 0, None)
    watch = Watch(progress=lambda done, under_way: follow(rung, done, under_way))
    is_rare = [grid.first_look and c.coordinates[FAULT] not in COMMON for c in rung.cells]
    answers: dict[int, Answer] = {}
    for part in (False, True):
        places = [place for place, each in enumerate(is_rare) if each is part]
        questions = {
            place: question_of(rung.cells[place], sized, stop_at_first=stop_at_first)
            for place in places
        }
        if any(answer.stopped_by == INTERRUPTED for answer in answers.values()):
            answers |= {place: unexplored_answer(each) for place, each in questions.items()}
        elif places:
            once = asking_once(explorer)
            answers |= ask(once, questions, places, watch, before=len(answers))
    return [answers[place] for place in range(len(rung.cells))]


def _with_unbounded(
    grid: Grid, known: Sequence[Outcome], rung: Rung, answers: Sequence[Answer]
) -> list[Outcome]:
    """Return the outcomes of all cells, with the answers without bounds added to them."""
    sized = grid.without_bounds(rung.records)
    found = {cell.at(): (cell, answer) for cell, answer in zip(rung.cells, answers, strict=True)}
    with_it = []
    for outcome in known:
        if outcome.cell.at() in found:
            cell, answer = found[outcome.cell.at()]
            if answer.raised_in is not None:
                judge(sized, [cell], [answer])
            broken = frozenset(claim.name for claim in outcome.claims if claim.is_violated)
            unbounded = compare(sized, cell, broken, answer)
            if outcome.unbounded is not None:
                unbounded = outcome.unbounded.then(unbounded)
            with_it.append(replace(outcome, unbounded=unbounded))
        else:
            with_it.append(outcome)
    return with_it


def _refused_unbounded(grid: Grid, outcome: Outcome) -> Outcome:
    """Add the reason if a cell cannot be explored without bounds."""
    if not _is_untried(grid, outcome):
        return outcome
    why = cell_without_bounds(grid, outcome.cell)
    if isinstance(why, Cell):
        return outcome
    return replace(
        outcome, unbounded=Unbounded(records=_records(outcome), tried=_records(outcome), why=why)
    )


def _is_untried(grid: Grid, outcome: Outcome) -> bool:
    """True if it may be explored without bounds, with so many records."""
    if not grid.tries_unbounded or not _is_unsettled(outcome):
        return False
    if outcome.standing is Standing.VIOLATED:
        return False
    if _records(outcome) > max(grid.records, grid.records_max):
        return False  # A trace needed them.
    return outcome.unbounded is None or outcome.unbounded.tried < _records(outcome)


def _merge(known: Sequence[Outcome], found: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes of all cells after one more rung, in the order of the cells."""
    raised = {outcome.cell.at(): outcome for outcome in found}
    if not known:
        return list(found)
    return [_better(outcome, raised.get(outcome.cell.at())) for outcome in known]


def _better(known: Outcome, found: Outcome | None) -> Outcome:
    """The larger bounds where they say more: where they were finished, or broke something worse."""
    if found is None:
        return known
    if found.answer.complete or _rank(found) < _rank(known):
        return replace(found, unbounded=known.unbounded)
    environment, answer = found.cell.environment, found.answer
    return replace(
        known,
        unfinished=Unfinished(
            environment.records,
            environment.epochs,
            answer.stopped_by or "",
            answer.distinct,
            answer.depth,
        ),
    )


def _rank(outcome: Outcome) -> int:
    """Return the severity of the worst broken promise; less is worse."""
    broken = [c for c in outcome.claims if c.is_violated and c.contract is None]
    return min((badness(claim)[1] for claim in broken), default=len(CLAIMS) + 1)


def _rejudge(grid: Grid, known: Sequence[Outcome]) -> list[Outcome]:
    """Judge all cells again: the result of one may remove the excuse of another."""
    fresh = judge(grid, [o.cell for o in known], [o.answer for o in known])
    return [
        replace(outcome, unfinished=before.unfinished, unbounded=before.unbounded)
        for outcome, before in zip(fresh, known, strict=True)
    ]


def _next_rung(grid: Grid, known: Sequence[Outcome]) -> Rung | None:
    """No bounds, or those that a trace without bounds needs; then more epochs for the cells that
    they cut; where there is none, one more record.

    Of several bounds the smallest are raised first.
    """
    untried = [outcome for outcome in known if _is_untried(grid, outcome)]
    if untried:
        records = min(map(_records, untried))
        chosen = [outcome for outcome in untried if _records(outcome) == records]
        sized = grid.without_bounds(records)
        cells = tuple(sized.cell(outcome.cell.coordinates) for outcome in chosen)
        return Rung(cells, records, 0, is_unbounded=True)
    unsettled = [outcome for outcome in known if _is_unsettled(outcome)]
    needed = {b for b in map(_needs, unsettled) if b is not None}
    if needed:
        bounds = min(needed, key=lambda each: (each.records, each.epochs))
        chosen = [outcome for outcome in unsettled if _needs(outcome) == bounds]
        return _rung(grid, chosen, bounds.records, bounds.epochs)
    unsettled = [o for o in unsettled if o.is_bounded]
    cut = [o for o in unsettled if o.is_cut_by_epochs and _epochs(o) < grid.epochs_max]
    if cut:
        records, epochs = min((_records(o), _epochs(o)) for o in cut)
        chosen = [o for o in cut if (_records(o), _epochs(o)) == (records, epochs)]
        return _rung(grid, chosen, records, min(epochs + EPOCHS_STEP, grid.epochs_max))
    few = [o for o in known if _is_unsettled(o) and _records(o) < grid.records_max]
    if few and not grid.first_look:
        records = min(map(_records, few))
        chosen = [o for o in few if _records(o) == records]
        return _rung(grid, chosen, records + 1, max(map(_epochs, chosen)))
    return None


def _needs(outcome: Outcome) -> TraceBounds | None:
    """The larger bounds that a trace needs which breaks more than is known, if there is one."""
    needed = outcome.unbounded.raise_to if outcome.unbounded is not None else None
    if needed is None:
        return None
    records = max(needed.records, _records(outcome))
    epochs = max(needed.epochs, _epochs(outcome))
    if (records, epochs) == (_records(outcome), _epochs(outcome)):
        return None
    return TraceBounds(records, epochs)


def _is_unsettled(outcome: Outcome) -> bool:
    """True if larger bounds may show more: it was finished, and the worst loss is not found yet."""
    if not outcome.answer.complete or outcome.unfinished is not None:
        return False
    worst = outcome.worst
    return outcome.standing is not Standing.VIOLATED or (
        worst is not None and worst.word != CLAIMS[0].word
    )


def _rung(grid: Grid, outcomes: Sequence[Outcome], records: int, epochs: int) -> Rung:
    """Return the next rung, the largest cells first, so that no core waits for one at the end."""
    larger = grid.within(records, epochs)
    largest_first = sorted(outcomes, key=lambda outcome: -outcome.answer.distinct)
    cells = tuple(larger.cell(outcome.cell.coordinates) for outcome in largest_first)
    return Rung(cells, records, epochs)


def _records(outcome: Outcome) -> int:
    return outcome.cell.environment.records


def _epochs(outcome: Outcome) -> int:
    return outcome.cell.environment.epochs
