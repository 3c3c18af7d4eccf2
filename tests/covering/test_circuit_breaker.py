"""Paths of a model find three mistakes in a released library, and none once it is mended."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import circuitbreaker
import pytest

import waterline.testing
from examples.circuit_breaker import circuit_breaker
from tests.support.commands import Commands
from tests.support.own import EXAMPLES
from waterline.models import instance

THRESHOLD, RECOVERY_SECONDS = 2, 30
PATHS = tuple(waterline.testing.covering_paths(instance(circuit_breaker, threshold=THRESHOLD)))


class Down(Exception):
    """The service fails."""


class Busy(Exception):
    """The call is under way."""


def service() -> Iterator[None]:
    """A call of the service, from its request to its answer."""
    yield


class Adapter:
    """circuitbreaker 2.1.3."""

    refuses = (Busy, circuitbreaker.CircuitBreakerError)
    requests = ("begin",)
    breaker = circuitbreaker.CircuitBreaker

    def __init__(self) -> None:
        self.now = 0
        circuitbreaker.monotonic = lambda: self.now
        self.circuit = self.breaker(THRESHOLD, RECOVERY_SECONDS, name="service")
        self.service = self.circuit(service)
        self.under_way: dict[int, Any] = {}

    def begin(self, call: int) -> None:
        if call in self.under_way:
            raise Busy
        begun = self.service()
        next(begun)
        self.under_way[call] = begun

    def succeed(self, call: int) -> None:
        next(self.under_way.pop(call), None)

    def fail(self, call: int) -> None:
        with suppress(Down):
            self.under_way.pop(call).throw(Down())

    def wait(self) -> None:
        self.now += RECOVERY_SECONDS

    def observe(self) -> dict[str, Any]:
        return {"circuit": self.circuit.state}


class MendedBreaker(circuitbreaker.CircuitBreaker):  # type: ignore[misc]  # has no types
    """The library, with one trial at a time, and without effects of calls from before it opened."""

    trial_is_under_way = False

    def call_generator(self, function: Callable[[], Iterator[None]]) -> Iterator[None]:
        is_trial = not self.closed
        if is_trial and self.trial_is_under_way:
            raise circuitbreaker.CircuitBreakerError(self)
        self.trial_is_under_way = is_trial
        failure = None
        try:
            yield from function()
        except Down as problem:
            failure = problem
            raise
        finally:
            if is_trial or self.closed:
                self.__exit__(type(failure) if failure else None, failure, None)
            self.trial_is_under_way &= not is_trial


class MendedAdapter(Adapter):
    """The mended library."""

    breaker = MendedBreaker


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)


@pytest.fixture(autouse=True)
def own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the library have its clock again at the end of a test."""
    monkeypatch.setattr(circuitbreaker, "monotonic", circuitbreaker.monotonic)


def test_ten_of_thirteen_paths_differ_for_three_reasons() -> None:
    reasons: Counter[str] = Counter()
    for path in PATHS:
        try:
            path.replay(Adapter)
        except waterline.testing.Differs as difference:
            reasons[str(difference).rpartition("=> ")[2]] += 1

    assert len(PATHS) == 13
    assert reasons == {
        "begin(call=1) is not enabled in the model, and was not refused": 1,
        "circuit is 'closed'; the model has 'open'": 5,
        "circuit is 'open'; the model has 'half_open'": 4,
    }


def test_the_reviewed_code_is_that_of_this_release(
    run: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("circuit_breaker.py", "circuit_breaker.ties.toml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    library = Path(shutil.copy(circuitbreaker.__file__, tmp_path))
    monkeypatch.chdir(tmp_path)

    same, out, _ = run("ties", "circuit_breaker.py", name="waterline")
    text = library.read_text()
    library.write_text(text.replace("if exc_type and self.is_failure", "if self.is_failure"))
    changed, after, _ = run("ties", "circuit_breaker.py", name="waterline")

    assert "if exc_type and self.is_failure" in text
    assert (same, out.count(": reviewed")) == (0, 10)
    assert (changed, after.count("changed since it was reviewed")) == (15, 2)


def test_a_late_success_closes_an_open_circuit_after_six_steps() -> None:
    with pytest.raises(waterline.testing.Differs) as difference:
        PATHS[1].replay(Adapter)

    assert "differs after 6 steps" in str(difference.value)
    assert "6. succeed  call0 succeeds: call[call0] running -> idle." in str(difference.value)


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_mended_library_agrees_on_every_path(path: waterline.testing.Path) -> None:
    path.replay(MendedAdapter)
