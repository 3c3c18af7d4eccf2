"""Certificates of proofs: of `kip320`, of a version that is broken, and with hints by chance."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

pytest.importorskip("z3")

from tests.support.certificates import header_in, put_header
from tests.support.commands import Commands
from tests.verify.cli.test_certify_proof import (
    ALWAYS,
    FOLDER,
    MODEL,
    become,
    certified,
    place,
    proved,
    written,
)
from waterline.checker.analysis.certificate.proof import rules_of
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.kafka.theorems import subject_of

__all__ = ["place", "proved", "written"]


@pytest.mark.usefixtures("proved")
def test_no_hint_proves_a_wrong_model(cli: Commands) -> None:
    names = become(MODEL.replace("s.ticket[client] == s.served and ", ""))
    draw, codes = random.Random(1), set()
    for _ in range(8):
        header = header_in(FOLDER)
        for each in header["obligations"]:
            known = [] if each["of"] == "initially" else [*names, "ranges"]
            some = draw.sample(known, draw.randint(0, len(known)))
            every = ALWAYS if "(" in each["of"] else []
            each |= {"takes": [*some, *every], "generations": draw.choice([1, 2])}
        put_header(FOLDER, header)
        codes.add(certified(cli)[0])

    assert codes == {13}


def test_kip320_is_proved_for_any_number_of_replicas_and_certified_in_less_and_no_other_version(
    cli: Commands,
) -> None:
    options = ("--no-search", "--format", "json", "--certificate", "kafka")
    code, out, _ = cli("prove", *options, name="waterline")
    document = json.loads(out)

    assert code == 0
    assert document["verdict"] == "PROVED"
    assert document["claims"] == ["weak_isr", "strong_isr", "elected_leader_in_isr"]
    assert len(document["obligations"]) == 197
    assert {each["outcome"] for each in document["obligations"]} == {"proved"}
    assert document["never_enabled"] == []

    code, shown, _ = cli("certify", "kafka", name="waterline")
    out = " ".join(shown.split())
    steps = int(out.partition(" obligations, ")[2].partition(" steps")[0].replace(",", ""))

    assert code == 0
    assert "CERTIFIED kip320: PROVED weak_isr, strong_isr, elected_leader_in_isr" in out
    assert "proved again from the rules: 197 obligations" in out
    assert 3 * steps < sum(each["steps"] for each in document["obligations"])

    pytest.importorskip("cvc5")
    code, shown, _ = cli("certify", "kafka", "--solver", "cvc5", name="waterline")
    assert code == 0
    assert "197 obligations" in shown

    version = "kip320-first-try"
    other = Path(version)
    shutil.copytree("kafka", other)
    header = header_in(other)
    header["problem"]["protocol"] = version
    put_header(other, header)
    code, _, err = cli("certify", other, name="waterline")
    assert code == 2
    assert f"{version} is of other rules, claims or lemmas than {version} has now" in err

    put_header(other, header | {"rules": problem_digest(rules_of(subject_of(version)))})
    code, shown, _ = cli("certify", other, name="waterline")
    assert code == 13
    assert f"NOT CERTIFIED {version}: " in shown
