"""`waterline.check`: the search of the command line, from Python.

Importing this module loads the checker: a file that declares a model needs none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal

from waterline.checker.checking.run import run
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Budgets
from waterline.checker.search.rule_errors import Raised
from waterline.checker.user_models.family import family_of, own_family
from waterline.checker.user_models.live import live_file
from waterline.checker.user_models.unbounded import UNBOUNDED, bounds_without_number
from waterline.checker.user_models.vetting import vet
from waterline.model.core.errors import BadEnvironment
from waterline.model.own import BadProtocol
from waterline.models import Declares, Model, instance, model_of, value_of
from waterline.result import Claim, Result
from waterline.running import Step
from waterline.state import State, unpack
from waterline.trace import Trace

if TYPE_CHECKING:
    from waterline.checker.checking.run import Run
    from waterline.checker.problem.problem import Problem
    from waterline.checker.traces.finding import Finding


class RuleRaised(Exception):
    """A rule raised in a reachable state: a value out of range, a number that is too large.

    `state` is that state. In plain Python `waterline.enabled(state)` raises the same.
    """

    def __init__(self, text: str, state: State) -> None:
        super().__init__(text)
        self.state = state


def check(
    model: Model | Declares,
    *,
    claims: Sequence[str | Callable[..., object]] = (),
    symmetry: str | None = None,
    unbounded: bool = False,
    engine: Literal["local", "spark"] = "local",
    threads: int = 0,
    master: str | None = None,
    max_states: int | None = None,
    max_depth: int | None = None,
    max_seconds: float | None = None,
    stop_at_first: bool = False,
) -> Result:
    """Explore every state of a model within its bounds: `waterline check --model FILE` in Python.

        result = waterline.check(waterline.instance(lease, clients=3))
        assert result.holds, result

    `claims` are those that are judged, by name or as functions; left out, all. `symmetry` is a sort
    whose names are alike. `unbounded` judges for any number of epochs and opaque values, whatever
    the model's bounds of these are. `threads` 0 is one for each core; `master` is Spark's. The
    budgets end a search early, which is then not complete. Raises `BadProtocol` for a mistake in
    the model, and `RuleRaised` where a rule raises.
    """
    if engine not in ("local", "spark"):
        raise ValueError(f"engine is {engine!r}; it is 'local' or 'spark'")
    made = model_of(model)
    names = [each if isinstance(each, str) else each.__name__ for each in claims]
    with rules_described(made):
        problem = problem_of(
            made, names, symmetry or "none", unbounded=unbounded, is_sent=engine == "spark"
        )
        done = run(
            problem,
            EngineChoice(name=engine, threads=threads, master=master),
            budgets=Budgets(
                max_states=max_states,
                max_depth=max_depth,
                max_seconds=max_seconds,
                stop_at_first=stop_at_first,
            ),
        )
    return _result(made, done)


@contextmanager
def rules_described(model: Model) -> Iterator[None]:
    """Raise `BadProtocol` for a mistake in the model, and `RuleRaised` for an error of a rule."""
    try:
        yield
    except BadEnvironment as mistake:
        raise BadProtocol(str(mistake)) from None
    except Raised as raised:
        raise RuleRaised(
            f"{raised}, in the state {raised.describe_state}", unpack(model, raised.state)
        ) from None


def problem_of(
    model: Model, names: Sequence[str], symmetry: str, *, unbounded: bool, is_sent: bool
) -> Problem:
    """The problem of checking a model. Raises `BadEnvironment`."""
    own = live_file(model.function, model.protocol)
    version = model.function.__name__
    options: dict[str, object] = dict(model.bounds)
    if unbounded:
        gone = bounds_without_number(own, version, model.bounds)
        options = {name: each for name, each in options.items() if name not in gone}
        options[UNBOUNDED] = True

    def problem_in(family: Any) -> Problem:
        asked: Problem = family.problem(version, options, names, symmetry=symmetry)
        return vet(asked)

    problem = problem_in(family_of(own))
    if not is_sent:
        return problem
    # Spark's workers run the text again: that must come to the same rules.
    sent = problem_in(own_family(own.text, own.file))
    if problem_digest(sent) != problem_digest(problem):
        raise BadProtocol(
            f"{own.file} makes other rules when it is run again, as Spark's workers do; let it "
            "stand alone, and change nothing of it from outside"
        )
    return sent


def _result(model: Model, done: Run) -> Result:
    found = done.result
    findings = {finding.invariant: finding for finding in done.findings}
    sentences = {claim.name: claim.sentence for claim in found.problem.claims}
    claims = {}
    for judged in found.invariants:
        finding = findings.get(judged.name)
        claims[judged.name] = Claim(
            name=judged.name,
            sentence=sentences[judged.name],
            verdict=_VERDICTS[judged.verdict.value],
            depth=judged.depth,
            trace=_trace(model, finding) if finding is not None else None,
            explanation=finding.explanation if finding is not None else judged.why,
        )
    return Result(
        model=model,
        engine=found.engine,
        claims=claims,
        sometimes={each.name: each.depth for each in found.reachable},
        complete=found.complete,
        stopped_by=found.stopped_by,
        distinct=found.distinct,
        generated=found.generated,
        depth=found.depth,
        cut=dict(found.cut),
        actions=dict(found.fired),
        deadlock=found.deadlock[0] if found.deadlock is not None else None,
        seconds=found.seconds,
        _report=lambda width: _report(done, width),
    )


_VERDICTS: dict[str, Literal["holds", "violated", "incomplete"]] = {
    "holds": "holds",
    "violated": "violated",
    "incomplete": "incomplete",
}


def _trace(asked: Model, finding: Finding) -> Trace:
    """The counterexample in plain states: without bounds, within those that it needs."""
    replayed = finding.replayed
    options: Mapping[str, Any] = finding.model.options
    within = {name: options.get(name, value) for name, value in asked.bounds.items()}
    model = asked if within == asked.bounds else instance(asked.function, **within)
    states = [unpack(model, state) for state in replayed.states]
    actions = {action.name: action for action in model.actions}
    steps = []
    for number, moment in enumerate(replayed.moments):
        action = actions[moment.action]
        arguments = {
            name: value_of(over, value)
            for (name, over), (_, value) in zip(action.over, moment.arguments, strict=True)
        }
        steps.append(Step(action.function, arguments, states[number], states[number + 1]))
    return Trace(states[0], tuple(steps), replayed.trace.cycle)


def _report(done: Run, width: int) -> str:
    """The report of the command line, without colours."""
    from rich.console import Console  # noqa: PLC0415 - of the screen, which most do not need

    from waterline.checker.cli.run_report import render_run  # noqa: PLC0415

    written = StringIO()
    Console(file=written, width=width, color_system=None).print(render_run(done))
    return written.getvalue().rstrip("\n")
