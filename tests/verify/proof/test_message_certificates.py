"""The proof in the message grain with its certificate, and certificates that are forged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

from tests.support.certificates import header_in, put_header
from tests.support.commands import Commands
from waterline.checker.analysis.certificate.proof import rules_of, write_proof
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.kafka.theorems import message_subject_of, subject_of
from waterline.checker.proof.proving import Proof

VERSION, CLAIM = "kraft-with-fresh-remote-leo", "no_committed_loss"


def test_the_message_grain_is_proved_and_certified_in_less(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = cli("prove", "--grain", "message", "--certificate", "message", name="waterline")[1]
    out = " ".join(shown.split())

    scope = message_subject_of(VERSION).scope
    assert f"{VERSION}: PROVED no_committed_loss for {scope}" in out
    assert "happens 16 of 16 actions" in out
    obligations, _, rest = out.partition("induction ")[2].partition(" of ")
    all_steps = number(rest.partition(", ")[2])

    folder = Path("message")
    problem = header_in(folder)["problem"]
    assert (problem["model"], problem["protocol"]) == ("kafka-message", VERSION)

    code, shown, _ = cli("certify", folder, name="waterline")
    out = " ".join(shown.split())
    steps = number(out.partition(" obligations, ")[2])

    assert code == 0
    assert f"CERTIFIED {VERSION}: PROVED no_committed_loss for {scope}" in out
    assert number(out.partition("from the rules: ")[2]) == int(obligations)
    assert 3 * steps < all_steps

    header = header_in(folder)
    [claim] = [e for e in header["obligations"] if (e["of"], e["goal"]) == ("claim", CLAIM)]
    claim["takes"] = []
    put_header(folder, header)
    code, shown, _ = cli("certify", folder, name="waterline")

    assert code == 13
    assert f"NOT CERTIFIED {VERSION}: claim, no_committed_loss: not proved" in " ".join(
        shown.split()
    )


def number(text: str) -> int:
    """The number that a text begins with."""
    return int(text.split(maxsplit=1)[0].replace(",", ""))


def entry(of: str, goal: str, *takes: str) -> dict[str, Any]:
    return {"of": of, "goal": goal, "takes": list(takes), "generations": 1, "values": False}


def become_atomic(header: dict[str, Any]) -> None:
    """The theorem is that of another grain, and all that names it fits."""
    subject = subject_of("kip320")
    problem = rules_of(subject)
    spec = problem.spec.to_json() | {"invariants": list(subject.theorem.names)}
    header.update(problem=spec, rules=problem_digest(problem))


BAD: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no obligation": (lambda h: None, "none, where initially: controller_in_shape is due"),
    "the second first": (
        lambda h: h["obligations"].append(entry("initially", "brokers_in_shape")),
        "initially: brokers_in_shape, where initially: controller_in_shape is due",
    ),
    "an assumption of its own": (
        lambda h: h["obligations"].append(entry("initially", "controller_in_shape", "0 = 1")),
        "takes '0 = 1', which is no assumption",
    ),
    "another digest": (lambda h: h.update(rules="0" * 32), "of other rules, claims or lemmas"),
    "the released rules": (
        lambda h: h["problem"].update(protocol="kraft"),
        "is of other rules, claims or lemmas than kraft has now",
    ),
    "another grain's problem": (
        lambda h: h["problem"].update(model="kafka-atomic", protocol="kip320", bounds={}),
        "invariant is 'no_committed_loss'; known: strong_isr",
    ),
    "another grain's theorem": (become_atomic, "none, where initially:"),
    "losses that the theorem leaves out": (
        lambda h: h["problem"]["bounds"].update({"power-losses": 1}),
        "are about --power-losses 0, and not about --power-losses 1",
    ),
    "another setting": (
        lambda h: h["problem"]["bounds"].update({"min-insync-replicas": 2}),
        "are about --min-insync-replicas 1, and not about --min-insync-replicas 2",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_forged_certificate_is_one_line(name: str, cli: Commands, tmp_path: Path) -> None:
    folder, (change, described) = tmp_path / "forged", BAD[name]
    write_proof(message_subject_of(VERSION), Proof(), out=folder, solver="z3")
    header = header_in(folder)
    change(header)
    put_header(folder, header)
    code, out, err = cli("certify", folder, name="waterline")

    assert (code, out) == (2, "")
    assert described in " ".join(err.split())
    assert err.startswith("error: ")
