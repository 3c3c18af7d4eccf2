"""Gates as tests, and checks in code as the fixture `check_model` makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from waterline.checker.ci.document import BadGate, Document
from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.reading import expectations_of, read_gate
from waterline.checker.ci.reports.text import command_of, counterexample
from waterline.checker.ci.searching import Manner, judge_all
from waterline.checker.cli.gate_options import asking
from waterline.pytest_plugin import ALLOW, ALLOW_SPARK, NO_CACHE


class NotAsExpected(Exception):
    """An outcome is not as expected; the text is all that is shown."""


class GateFile(pytest.File):
    """A file of expectations."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield a test for each expectation; a mistake in the file is an error of collection."""
        models, spark = (bool(self.config.getoption(name)) for name in (ALLOW, ALLOW_SPARK))
        try:
            expectations = read_gate(self.path, asking(), allow_models=models, allow_spark=spark)
        except BadGate as problem:
            # What it says of options is said of the command's, which are called otherwise here.
            said = str(problem).replace("--allow-", "--waterline-allow-")
            raise self.CollectError(said) from None
        for expectation in expectations:
            yield GateItem.from_parent(self, name=expectation.name, expectation=expectation)


class GateItem(pytest.Item):
    """One expectation as a test."""

    def __init__(self, *, expectation: Expectation, **more: Any) -> None:
        super().__init__(**more)
        self._expectation = expectation

    def runtest(self) -> None:
        """Search, or look up, and judge."""
        _require_met(_outcome(self.config, self._expectation))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The complaints and the counterexample, without a traceback."""
        if isinstance(excinfo.value, NotAsExpected):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the entry begins."""
        return self.path, self._expectation.place.line - 1, self.name


class CheckModel:
    """The fixture `check_model`: call it with a model and what is expected of it."""

    def __init__(self, config: pytest.Config, folder: Path, name: str) -> None:
        self._config = config
        self._folder = folder
        self._name = name

    def __call__(
        self,
        model: str | Path | Callable[..., Any] | None = None,
        *,
        verdicts: Mapping[str, str | Mapping[str, object]],
        bounds: Mapping[str, int | bool] | None = None,
        **options: object,
    ) -> Outcome:
        """Explore the model, and fail the test where a verdict differs.

        `model` is the file of your own model, from the test's folder on, or a function that returns
        a `Protocol`; None for one of Kafka's, which `protocol="..."` names. `options` are the keys
        of an entry in a gate, with _ for -. Returns the outcome.
        """
        entry: dict[str, object] = {"name": self._name, "engine": "local"}
        entry |= {name.replace("_", "-"): value for name, value in options.items()}
        entry |= {"verdicts": dict(verdicts), **(bounds or {})}
        if model is not None:
            entry["model"] = _file_of(model)
        outcome = _outcome(self._config, self._expectation(entry))
        try:
            _require_met(outcome)
        except NotAsExpected as problem:
            pytest.fail(str(problem), pytrace=False)
        return outcome

    def _expectation(self, entry: dict[str, object]) -> Expectation:
        document = Document(self._name, "", {"expect": [entry]}, {})
        # The caller names models and settings in a program of its own, and may run it.
        [found] = expectations_of(
            document, asking(), folder=self._folder, allow_models=True, allow_spark=True
        )
        return found


def _file_of(model: str | Path | Callable[..., Any]) -> str:
    """`file.py:name` for a function that returns a protocol."""
    if not callable(model):
        return str(model)
    code = getattr(model, "__code__", None)
    if code is None:
        raise TypeError(f"{model!r} is no function that returns a Protocol; give one, or a file")
    return f"{code.co_filename}:{code.co_name}"


def _outcome(config: pytest.Config, expectation: Expectation) -> Outcome:
    """How it came out, searched in this process, which starts one Java process at most."""
    manner = Manner(processes=1, uses_kept=not config.getoption(NO_CACHE))
    outcomes = judge_all([expectation], manner)
    if not outcomes:
        raise KeyboardInterrupt
    return outcomes[0]


def _require_met(outcome: Outcome) -> None:
    """Raises `NotAsExpected`, with all that a reader needs."""
    if not outcome.is_met:
        raise NotAsExpected("\n".join(_describe(outcome)))


def _describe(outcome: Outcome) -> Iterator[str]:
    yield f"{outcome.expectation.place}: {outcome.expectation.name}"
    yield from (complaint.text for complaint in outcome.complaints)
    yield f"shown by {command_of(outcome)}"
    if shown := counterexample(outcome):
        yield from ("", f"VIOLATED {shown.claim}: {shown.sentence}", shown.text)
