"""A certificate without bounds is judged up to a normal form, which is exact for sorted rules only.

Each forgery here is a closed set of states in normal form, in which every claim holds: it is found
out by the rules and claims, which a number beyond those states would make do something else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import certificate_of, header_in, keys_in, put_header
from waterline.checker.analysis.certificate.certificate import open_certificate
from waterline.checker.analysis.certificate.certifying import certify
from waterline.checker.analysis.certificate.header import BadCertificate
from waterline.checker.analysis.certificate.renaming import words_of
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import MESSAGE, problem_for
from waterline.checker.problem.family import Family
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.sorts import check
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.loading import digest_of
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.process import crash

TERMS = """
from waterline import Epoch, Epochs, Fields, Protocol, when

class State(Fields):
    terms = Epochs("term", 3)
    top = Epoch(terms)

def begin(s, term):
    when(term > s.top)
    s.top = term

def claimed(s):
    return s.top >= 0

def step_claimed(s, t):
    return s.top <= t.top

def protocol(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[begin], always=[claimed], every_step=[step_claimed])
"""
ILL_SORTED = {
    "a claim about states": ("s.top >= 0", "s.top < 7", "claimed"),
    "a claim about steps": ("s.top <= t.top", "t.top < 7", "step_claimed"),
    "a guard": ("when(term > s.top)", "when(term > s.top or s.top == 7)", "step_claimed"),
    "an effect": ("s.top = term", "s.top = 0 if s.top == 7 else term", "step_claimed"),
}


def family(text: str) -> Family:
    return own_family(text, "terms.py")


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = family(TERMS).problem("protocol", {"unbounded": True})
    return certificate_of(problem, tmp_path_factory.mktemp("terms") / "certificate")


@pytest.mark.parametrize("name", ILL_SORTED)
def test_a_user_model_is_held_to_its_sorts(
    name: str, terms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new, broken = ILL_SORTED[name]
    text = TERMS.replace(old, new)
    header = header_in(terms)
    header["problem"]["bounds"]["sha256"] = digest_of(text)
    put_header(terms, header)
    within_eight = family(text).problem("protocol", {"terms": 8})
    found = run(within_eight, EngineChoice(name="local", threads=1)).result.violated

    assert [each.name for each in found] == [broken]
    with pytest.raises(BadCertificate, match=r"shows nothing without bounds: terms\.py:\d+: "):
        open_certificate(terms, lambda _: family(text))
    # Not even an earlier check that found nothing is believed.
    monkeypatch.setattr(check, "is_kept", lambda key: True)
    with pytest.raises(BadCertificate, match="without bounds"):
        open_certificate(terms, lambda _: family(text))


def no_tenth_epoch(s: Any, c: Any) -> bool:
    return s.epoch != 9


def survives_the_tenth_epoch(s: Any, c: Any, replica: int) -> None:
    if s.epoch != 9:
        crash(s, c, replica)


def with_rule(version: str, environment: Any) -> Model:
    model = MESSAGE.build(version, environment)
    actions = tuple(
        replace(each, effect=survives_the_tenth_epoch) if each.name == "Crash" else each
        for each in model.actions
    )
    return replace(model, actions=actions)


ALTERED = {
    "Crash": replace(MESSAGE, build=with_rule),
    "the claim sane": replace(
        MESSAGE,
        invariants=tuple(
            replace(each, holds=no_tenth_epoch) if each.name == "sane" else each
            for each in MESSAGE.invariants
        ),
    ),
}


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Path:
    environment = Environment(records=1, restarts=0, moves=0, unbounded=True)
    problem = problem_for("kip320", environment, ["sane"])
    return certificate_of(problem, tmp_path_factory.mktemp("kafka") / "certificate")


@pytest.mark.parametrize("name", ALTERED)
def test_altered_rules_of_kafka_are_held_to_them_too(name: str, kafka: Path) -> None:
    altered = ALTERED[name]
    problem = altered.problem("kip320", header_in(kafka)["problem"]["bounds"], ["sane"])
    keys = [words_of(key) for key in keys_in(kafka)]
    epochs = {State(problem.model.layout, words).epoch for words in keys}

    assert max(epochs) < 9
    assert certify(open_certificate(kafka, lambda _: MESSAGE), jobs=1).failure is None
    with pytest.raises(BadCertificate, match=rf"{name}.*compares an epoch with 9"):
        open_certificate(kafka, lambda _: altered)
