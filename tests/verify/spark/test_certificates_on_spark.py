"""Spark certifies what processes certify, and names the same failure where they do."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import certificate_of, header_in, keys_in, put_header, put_keys
from waterline.checker.analysis.certificate.certificate import open_certificate
from waterline.checker.analysis.certificate.certifying import (
    Certified,
    certify,
    certify_on_spark,
)
from waterline.checker.analysis.certificate.header import BadCertificate
from waterline.checker.analysis.certificate.writing import write_certificate
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import family_of, problem_for
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.engine import EngineChoice
from waterline.model.message.environment import Environment

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    problem = problem_for("hw", Environment(records=1, epochs=1, restarts=1, moves=1))
    return certificate_of(problem, tmp_path / "certificate")


def both(folder: Path, session: Any) -> tuple[Certified, Certified]:
    certificate = open_certificate(folder, family_of)
    choice = EngineChoice(session=session)
    return certify(certificate, jobs=1), certify_on_spark(certificate, choice)


def test_a_run_on_spark_has_the_same_certificate(tmp_path: Path, spark_context: Any) -> None:
    problem = problem_for("hw", Environment(records=1, epochs=1, restarts=0, moves=0))
    choice = EngineChoice(session=spark_context, driver_levels=0)
    run(problem, choice, finished=partial(write_certificate, out=tmp_path / "there"))
    certificate_of(problem, tmp_path / "here")

    assert keys_in(tmp_path / "there") == keys_in(tmp_path / "here")
    assert header_in(tmp_path / "there") == header_in(tmp_path / "here")


def test_the_same_is_certified(folder: Path, spark_context: Any) -> None:
    put_keys(folder, keys_in(folder))  # in row groups of a hundred
    here, there = both(folder, spark_context)

    assert here.failure is there.failure is None
    assert (there.states, there.steps, there.cut) == (here.states, here.steps, here.cut)
    assert there.states == len(keys_in(folder)) > 500


@pytest.mark.parametrize("at", [0, 5, -1])
def test_the_same_step_is_the_first_that_leads_out(
    at: int, folder: Path, spark_context: Any
) -> None:
    keys = keys_in(folder)
    put_keys(folder, [key for key in keys if key != keys[at]])
    here, there = both(folder, spark_context)

    assert here.failure is not None
    assert there.failure == here.failure


def test_the_same_claim_is_the_first_that_breaks(folder: Path, spark_context: Any) -> None:
    header = header_in(folder)
    judged = [n for n, c in header["claims"].items() if c["verdict"] in ("holds", "violated")]
    claims = {name: {"verdict": "holds", "depth": None} for name in judged}
    put_header(folder, {**header, "claims": {**header["claims"], **claims}})
    here, there = both(folder, spark_context)

    assert {claim["verdict"] for claim in header["claims"].values()} >= {"violated", "holds"}
    assert here.failure is not None
    assert here.failure.what.startswith("breaks ")
    assert there.failure == here.failure


@pytest.mark.parametrize("bounds", [{"restarts": 1}, {"restarts": 0, "unbounded": True}], ids=str)
def test_states_up_to_names_are_matched_by_what_stands_for_them(
    bounds: dict[str, Any], tmp_path: Path, spark_context: Any
) -> None:
    environment = Environment(records=1, epochs=1, moves=0, election_order="any", **bounds)
    problem = problem_for("epoch", environment, symmetry=Symmetry.REPLICAS)
    folder = certificate_of(problem, tmp_path / "certificate")
    here, there = both(folder, spark_context)
    put_keys(folder, [key for n, key in enumerate(keys_in(folder)) if n != 40])
    less_here, less_there = both(folder, spark_context)

    assert here.failure is there.failure is None
    assert (there.states, there.steps, there.cut) == (here.states, here.steps, here.cut)
    assert less_here.failure is not None
    assert less_there.failure == less_here.failure


@pytest.mark.parametrize("order", [1, -1], ids=["within a row group", "from one to the next"])
def test_states_that_do_not_ascend_are_refused(
    order: int, folder: Path, spark_context: Any
) -> None:
    keys = keys_in(folder)
    middle = keys[100:200]
    put_keys(folder, [*keys[:100], *middle[::-1], *keys[200:]] if order == 1 else [*middle, *keys])

    with pytest.raises(BadCertificate, match="ascending order"):
        certify_on_spark(open_certificate(folder, family_of), EngineChoice(session=spark_context))
