"""The fewest further faults that lose an acknowledged record of a partition as it is now."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import msgspec

from waterline.checker.batch.in_memory import explore_in_threads
from waterline.checker.batch.keeping import answers_folder
from waterline.checker.batch.question import UNWATCHED, Answer, Question
from waterline.checker.compiler.cache import read_sealed, trusted_cache, write_sealed
from waterline.checker.compiler.problem_digest import question_digest, reads_the_same, what_it_read
from waterline.checker.kafka.now.histories import (
    BEFORE,
    FAULT_OF,
    FURTHER,
    POWER,
    STATES_MAX,
    NotExplained,
    States,
    problem_of,
    states_like,
)
from waterline.checker.kafka.now.situation import Situation
from waterline.checker.problem.program_digest import program_digest
from waterline.checker.problem.wording import quantity
from waterline.checker.search.engines.engine import threads_of
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import INTERRUPTED, Budgets, Verdict
from waterline.model.core.transition_system import Model

_BYTES_MAX = 1 << 20
_FORM = 2
"""Number of the form of a file with findings."""
DOWN, SHUT_DOWN, MOVED = "down", "shut down", "moved"
"""Loss of brokers by a crash or a power loss, and by a controlled shutdown; a reassignment."""
_STEPS = {DOWN: ("Crash", POWER), SHUT_DOWN: ("BeginShutdown",), MOVED: ("Reassign",)}


@dataclass(frozen=True, slots=True)
class Event:
    """Loss of the brokers at these places, one after the other; of none, nothing happens.

    If it is `MOVED`, the one number is a set of places, which shall be the replicas.
    """

    kind: str = DOWN
    places: tuple[int, ...] = ()


NOTHING = Event()


@dataclass(frozen=True, slots=True)
class Loss:
    """Further faults after which an acknowledged record is lost, the shortest way.

    `places` are those of the brokers that they hit, in order. `steps` are sentences; there r0 is
    the broker at place 0. `if_power` says that a broker which is down now must have lost power.
    """

    faults: tuple[str, ...]
    places: tuple[int, ...]
    steps: tuple[str, ...]
    if_power: bool = False


@dataclass(frozen=True, slots=True)
class Findings:
    """Losses with the fewest faults, and why the search has no answer, if it has none."""

    losses: tuple[Loss, ...] = ()
    unknown: str = ""

    @property
    def fewest(self) -> int | None:
        """Return the fewest faults that lose a record, with logs of brokers that are down whole."""
        return min((len(each.faults) for each in self.losses if not each.if_power), default=None)


def further_faults(
    situation: Situation,
    event: Event = NOTHING,
    *,
    faults: int = 1,
    note: Callable[[str], None] = lambda text: None,
    uses_kept: bool = True,
) -> Findings:
    """Return what up to `faults` further faults can lose after an event. Answers are kept.

    Raises `KeyboardInterrupt`.
    """
    problem = problem_of(situation, FURTHER)
    asked = f"{_FORM} {program_digest()} {question_digest(problem)} {situation} {event} {faults}"
    name = hashlib.sha256(asked.encode()).hexdigest()[:32]
    path = answers_folder() / f"{name}.json"
    if uses_kept and trusted_cache() is not None:
        body = read_sealed(path, bytes_max=_BYTES_MAX)
        values = json.loads(body) if body is not None else None
        if values is not None and reads_the_same(problem, values["read"]):
            return msgspec.convert(values["found"], Findings)
    found = _explore(situation, event, faults, note)
    if trusted_cache() is not None:
        kept = {"read": what_it_read(problem), "found": asdict(found)}
        write_sealed(path, json.dumps(kept).encode())
    return found


def _explore(
    situation: Situation, event: Event, faults: int, note: Callable[[str], None]
) -> Findings:
    note("states that look like the cluster")
    losses: list[Loss] = []
    tried = faults
    try:
        usual = _begin(situation, event, tuple(each for each in BEFORE if each != "power_losses"))
        for count in range(faults + 1):
            losses += _losing(usual, count, note)
            if losses:
                tried = count
                break
        if situation.down:
            powerless = _begin(situation, event, BEFORE)
            for count in range(tried + 1 - bool(losses)):
                if found := list(_losing(powerless, count, note, if_power=True)):
                    losses += found
                    break
    except NotExplained as reason:
        return Findings(tuple(losses), str(reason))
    return Findings(tuple(losses))


def _begin(situation: Situation, event: Event, before: tuple[str, ...]) -> States:
    states = states_like(situation, before)
    for place in event.places:
        states = states.after(_STEPS[event.kind], place)
    return states


def _losing(
    states: States, count: int, note: Callable[[str], None], *, if_power: bool = False
) -> Iterator[Loss]:
    """Yield a loss for each combination of so many faults. Raises `NotExplained`."""
    combinations = list(itertools.combinations_with_replacement(FURTHER, count))
    budgets = Budgets(max_states=STATES_MAX, stop_at_first=True)
    questions = [Question(states.problem(faults), budgets) for faults in combinations]
    for question in questions:
        prepare(question.problem)
    note(f"what {quantity(count, 'further fault')} may do")
    answers = explore_in_threads(questions, UNWATCHED, threads=threads_of(0))
    for faults, question, answer in zip(combinations, questions, answers, strict=True):
        if answer.stopped_by == INTERRUPTED:
            raise KeyboardInterrupt
        if any(verdict == Verdict.VIOLATED.value for _, verdict, _ in answer.verdicts):
            yield _loss(faults, question.problem.model, answer, if_power=if_power)
        elif not answer.complete or dict(answer.cut).get("epochs"):
            raise NotExplained(f"too many states with {quantity(count, 'further fault')}")


def _loss(faults: tuple[str, ...], model: Model, answer: Answer, *, if_power: bool) -> Loss:
    path = min(answer.paths.values(), key=lambda each: len(each.calls))
    hit = [arguments[0] for name, arguments in path.calls if name in FAULT_OF]
    state, sentences = model.initial[path.initial], []
    for name, arguments in path.calls:
        after = model.apply(state, model.action(name), arguments)
        sentences.append(model.narration.sentence(name, arguments, state, after))
        state = after
    return Loss(faults, tuple(hit), tuple(sentences), if_power)
