"""A model as tests of an implementation: `waterline.testing`.

    class Adapter:
        refuses = (PermissionError,)          # raised where a request is refused
        requests = ("grant", "write")         # actions that may be requested at any time

        def grant(self, client): ...          # a method for each action, with its arguments
        def observe(self): return {...}       # what can be seen, by the fields' names

    @waterline.testing.parametrize(lease, clients=2, corpus="lease.paths.jsonl")
    def test_server(path):
        path.replay(Adapter)

After each step `observe` must agree with the model. Before each, every request that the model does
not enable is made, and must be refused: that is how a missing check is found.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from waterline.model.core.errors import did_you_mean
from waterline.model.core.state import as_json
from waterline.model.own import BeyondBound, NotEnabled
from waterline.model.own.fields import AnyField
from waterline.models import Declares, Model, instance, values_of
from waterline.running import Step, enabled, initials, step
from waterline.shape import extents_of, nest
from waterline.state import State
from waterline.trace import Trace

if TYPE_CHECKING:
    import pytest
    from hypothesis.stateful import RuleBasedStateMachine

LONGEST = 50
_STATES_KEPT = 1 << 14
_TRIES_MAX = 2_000
"""Most replays to shorten a failure."""


class Differs(AssertionError):
    """The implementation does something else than the model; the text is a short trace."""


class BadAdapter(Exception):
    """An adapter that lacks an action, or observes a field that the model does not have."""


class BadCorpus(ValueError):
    """A file that has no paths of this model."""


@dataclass(frozen=True, slots=True)
class Call:
    """An action with its arguments, by name."""

    action: str
    arguments: Mapping[str, Any]

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.action}({given})"


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A test: calls from an initial state."""

    name: str
    initial: State
    calls: tuple[Call, ...]

    def __str__(self) -> str:
        return self.name

    def __len__(self) -> int:
        return len(self.calls)

    def replay(self, adapter: Callable[[], Any]) -> None:
        """Take the path on a fresh implementation. Raises `Differs` and `BadAdapter`."""
        steps = tuple(_steps_along(self.initial, self.calls, self.name))
        failed = _difference(adapter, self.initial, steps)
        if failed is None:
            return
        few, failed = _shorten(adapter, self.initial, steps[: failed.after], failed)
        taken = f"{len(few)} step{'' if len(few) == 1 else 's'}"
        raise Differs(
            f"{self.initial._model}: the implementation differs after {taken} ({self.name}, "
            f"shortened).\n{Trace(self.initial, few)}\n=> {failed.text}"
        )


@dataclass(frozen=True, slots=True)
class _Failure:
    """After how many steps an implementation differs; `kind` is the same for the same mistake."""

    after: int
    kind: str
    text: str


def parametrize(
    model: Declares,
    /,
    *,
    corpus: str | File | None = None,
    cover: Any = "transitions",
    longest: int = LONGEST,
    up_to: str | None = None,
    **bounds: int | bool,
) -> pytest.MarkDecorator:
    """Run a test for each path of a corpus, which `waterline paths` has written.

    The argument of the test is `path`. A relative name is looked for in the folder of the test.
    Without a corpus the paths are made while tests are collected, which explores the model:
    `cover`, `longest` and `up_to` are those of `Graph.paths`. Raises `BadCorpus`.
    """
    import pytest  # noqa: PLC0415 - of tests alone

    made = instance(model, **bounds)
    if corpus is None:
        paths = list(covering_paths(made, cover=cover, longest=longest, up_to=up_to))
    else:
        beside = File(sys._getframe(1).f_globals.get("__file__", "")).parent
        paths = read_corpus(made, beside / corpus)
    return pytest.mark.parametrize("path", paths, ids=str)


def covering_paths(
    model: Model, *, cover: Any = "transitions", longest: int = LONGEST, up_to: str | None = None
) -> Iterator[Path]:
    """The paths of `Graph.paths` as tests."""
    from waterline.state_graph import graph  # noqa: PLC0415 - a corpus needs no compiler

    found = graph(model).paths(cover=cover, longest=longest, up_to=up_to)
    for number, path in enumerate(found, 1):
        calls = tuple(Call(each.name, each.arguments) for each in path)
        yield Path(f"path{number}-{len(calls)}steps", path.initial, calls)


def read_corpus(model: Model, file: File) -> list[Path]:
    """The paths of a corpus of this model. Raises `BadCorpus`."""
    try:
        head, *lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        asked = head["protocol"], head["bounds"]
        known = [(each["path"], each["initial"], each["steps"]) for each in lines]
    except OSError as problem:
        raise BadCorpus(f"{file} cannot be read: {problem.strerror}") from None
    except (ValueError, TypeError, KeyError, UnicodeDecodeError):
        raise BadCorpus(f"{file} is no corpus; `waterline paths --output` writes one") from None
    name = model.function.__name__
    if asked != (name, dict(model.bounds)):
        bounds = ", ".join(f"{bound}={value}" for bound, value in dict(asked[1]).items())
        raise BadCorpus(f"{file} has paths of {asked[0]}({bounds}), and not of {model}")
    firsts = {_key(_fields(state)): state for state in initials(model)}
    paths = []
    for number, first, steps in known:
        if (start := firsts.get(_key(first))) is None:
            raise BadCorpus(f"{file} is old: path {number} begins in no initial state; {_REMEDY}")
        calls = tuple(_call_in(model, each, file) for each in steps)
        paths.append(Path(f"path{number}-{len(calls)}steps", start, calls))
    return paths


_REMEDY = "write it again with `waterline paths`"


def _call_in(model: Model, recorded: Mapping[str, Any], file: File) -> Call:
    """The call of a recorded step, with the values that the rule is called with."""
    action = next((each for each in model.actions if each.name == recorded.get("action")), None)
    given = recorded.get("arguments")
    if action is None or not isinstance(given, dict):
        raise BadCorpus(f"{file} is old: {model} has no action {recorded.get('action')!r}")
    arguments = {}
    for name, over in action.over:
        values = {_key(as_json(value)): value for value in values_of(over)}
        if (found := values.get(_key(given.get(name)), _MISSING)) is _MISSING:
            raise BadCorpus(
                f"{file} is old: {name} of {action.name} cannot be {given.get(name)!r}; {_REMEDY}"
            )
        arguments[name] = found
    return Call(action.name, arguments)


_MISSING = object()


def _key(plain: Any) -> str:
    return json.dumps(plain, sort_keys=True, default=sorted)


def _fields(state: State) -> dict[str, Any]:
    return {name: _data(state, declared) for name, declared in state._shape.fields.items()}


def _data(state: State, declared: AnyField) -> Any:
    values = [as_json(declared.data(declared.encode(v))) for v in state._values[declared.name]]
    return nest(values, extents_of(declared)) if declared.indices else values[0]


def _steps_along(state: State, calls: Sequence[Call], name: str) -> Iterator[Step]:
    """The model's steps by these calls. Raises `BadCorpus` for one that it does not take."""
    actions = {action.name: action.function for action in state._model.actions}
    for number, call in enumerate(calls, 1):
        try:
            after = step(state, actions[call.action], **call.arguments)
        except (NotEnabled, BeyondBound):
            raise BadCorpus(
                f"{name} is of another model: step {number}, {call}, is not enabled; {_REMEDY}"
            ) from None
        yield Step(actions[call.action], call.arguments, state, after)
        state = after


def _difference(
    adapter: Callable[[], Any], initial: State, steps: Sequence[Step]
) -> _Failure | None:
    """Where a fresh implementation first differs from the model."""
    tested = adapter()
    _require_whole(tested, initial._model)
    if text := compare(initial, tested.observe()):
        return _Failure(0, text, text)
    for number, each in enumerate(steps):
        if failed := _refusal(tested, each.before, number):
            return failed
        if text := take(tested, Call(each.name, each.arguments)):
            return _Failure(number + 1, f"{each.name} {text.split(':')[0]}", text)
        if text := compare(each.after, tested.observe()):
            return _Failure(number + 1, text.split(" ")[0].split("[")[0], text)
    return _refusal(tested, steps[-1].after if steps else initial, len(steps))


def _refusal(tested: Any, state: State, after: int) -> _Failure | None:
    """The first request that is not enabled, and is granted all the same, or changes something."""
    for call in requests_refused(state, requests_of(tested, state._model)):
        if text := refuse(tested, call):
            return _Failure(after, f"{call.action} granted", text)
        if text := compare(state, tested.observe()):
            return _Failure(after, f"{call.action} changes", f"after {call} was refused, {text}")
    return None


def requests_of(tested: Any, model: Model) -> tuple[str, ...]:
    """The actions that may be requested at any time: all, unless `requests` names them."""
    if not getattr(tested, "refuses", ()):
        return ()
    return tuple(getattr(tested, "requests", (action.name for action in model.actions)))


@lru_cache(maxsize=_STATES_KEPT)
def requests_refused(state: State, names: tuple[str, ...]) -> tuple[Call, ...]:
    """Calls that a `when` forbids in a state; of a call beyond a bound the model says nothing."""
    found = []
    for action in (each for each in state._model.actions if each.name in names):
        for values in itertools.product(*(values_of(over) for _, over in action.over)):
            given = {name: value for (name, _), value in zip(action.over, values, strict=True)}
            try:
                step(state, action.function, **given)
            except NotEnabled:
                found.append(Call(action.name, given))
            except BeyondBound:
                pass
    return tuple(found)


def take(tested: Any, call: Call) -> str:
    """Take an enabled step; what is wrong, or ""."""
    try:
        getattr(tested, call.action)(**call.arguments)
    except getattr(tested, "refuses", ()) as problem:
        return f"refused: {call} is enabled in the model, and raised {problem!r}"
    except Exception as problem:
        return f"raised: {call} raised {problem!r}"
    return ""


def refuse(tested: Any, call: Call) -> str:
    """Make a request that the model does not enable; what is wrong, or ""."""
    try:
        getattr(tested, call.action)(**call.arguments)
    except tested.refuses:
        return ""
    except Exception as problem:
        return f"{call} is not enabled in the model, and raised {problem!r}, which is no refusal"
    return f"{call} is not enabled in the model, and was not refused"


def compare(state: State, seen: Mapping[str, Any]) -> str:
    """The first observed value that the model does not have, in words; "" if there is none.

    Raises `BadAdapter` for a field that the model does not have.
    """
    for name, value in seen.items():
        if name not in state._shape.fields:
            raise BadAdapter(
                f"observe() has a field {name!r}, and {state._model} has none of this name"
                f"{did_you_mean(name, state._shape.fields)}"
            )
        wanted = getattr(state, name)
        if isinstance(value, Mapping) and state._shape.fields[name].indices:
            for index, each in value.items():
                if wanted[index] != each:
                    return f"{name}[{index}] is {each!r}; the model has {wanted[index]!r}"
        elif wanted != (tuple(value) if isinstance(value, list) else value):
            return f"{name} is {value!r}; the model has {wanted!r}"
    return ""


def _require_whole(tested: Any, model: Model) -> None:
    names = [action.name for action in model.actions]
    for name in ("observe", *names):
        if not callable(getattr(tested, name, None)):
            raise BadAdapter(
                f"{type(tested).__name__} has no method {name}; it needs observe and one for each "
                f"action of {model}: {', '.join(names)}"
            )
    for name in getattr(tested, "requests", ()):
        if name not in names:
            raise BadAdapter(
                f"requests names {name!r}, which {model} does not have as an action"
                f"{did_you_mean(name, names)}"
            )


def _shorten(
    adapter: Callable[[], Any], initial: State, steps: tuple[Step, ...], failed: _Failure
) -> tuple[tuple[Step, ...], _Failure]:
    """Fewer steps with the same difference: the longest pieces that the model can do without."""
    tries, size = 0, len(steps) - 1
    while size > 0 and tries < _TRIES_MAX:
        for begin in range(len(steps) - size + 1):
            few = _without(initial, steps, begin, begin + size)
            if few is None:
                continue
            tries += 1
            found = _difference(adapter, initial, few)
            if found is not None and found.kind == failed.kind:
                steps, failed = few[: found.after], found
                size = len(steps)
                break
        size -= 1
    return steps, failed


def _without(
    initial: State, steps: Sequence[Step], begin: int, end: int
) -> tuple[Step, ...] | None:
    """The steps without a piece of them, if the model takes the rest all the same."""
    state, found = initial, list[Step]()
    for each in (*steps[:begin], *steps[end:]):
        try:
            after = step(state, each.action, **each.arguments)
        except (NotEnabled, BeyondBound):
            return None
        found.append(Step(each.action, each.arguments, state, after))
        state = after
    return tuple(found)


def state_machine(
    model: Declares, adapter: Callable[[], Any], /, **bounds: int | bool
) -> type[RuleBasedStateMachine]:
    """A state machine of Hypothesis: it walks at random, and needs no graph.

        TestServer = waterline.testing.state_machine(lease, Adapter, clients=5).TestCase

    It is for models that are too large for one. Rare ways are found by luck.
    """
    from hypothesis import strategies as st  # noqa: PLC0415 - of tests alone
    from hypothesis.stateful import (  # noqa: PLC0415
        RuleBasedStateMachine,
        invariant,
        precondition,
        rule,
    )

    made = instance(model, **bounds)
    possible = lru_cache(maxsize=_STATES_KEPT)(enabled)

    class Machine(RuleBasedStateMachine):
        """The model and the implementation, step by step."""

        def __init__(self) -> None:
            super().__init__()
            self.state, self.tested = initials(made)[0], adapter()
            _require_whole(self.tested, made)

        def refusals(self) -> tuple[Call, ...]:
            return requests_refused(self.state, requests_of(self.tested, made))

        @invariant()
        def looks_as_in_the_model(self) -> None:
            _require(compare(self.state, self.tested.observe()))

        @precondition(lambda self: bool(possible(self.state)))
        @rule(taken=st.runner().flatmap(lambda self: st.sampled_from(possible(self.state))))
        def takes(self, taken: Step) -> None:
            _require(take(self.tested, Call(taken.name, taken.arguments)))
            self.state = taken.after

        @precondition(lambda self: bool(self.refusals()))
        @rule(call=st.runner().flatmap(lambda self: st.sampled_from(self.refusals())))
        def refuses(self, call: Call) -> None:
            _require(refuse(self.tested, call))

    Machine.__name__ = Machine.__qualname__ = f"{made.function.__name__}_machine"
    return Machine


def _require(text: str) -> None:
    if text:
        raise Differs(text)
