"""`prove --suggest`: suggested lemmas are true where the search comes, and lead to a proof."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("z3")

from tests.support.commands import Commands
from tests.support.own import EXAMPLES
from waterline.checker.proof.proving import Proof, Subject, Verdict, induct, search_first
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.theorems import own_subject

PAGE = (Path(__file__).parents[2] / "docs" / "proof.md").read_text(encoding="utf-8")
LOCK = re.findall(r"<!-- file: ticket_lock.py -->\n```python\n(.+?)```", PAGE, re.DOTALL)[0]
LEASE = re.sub(
    r"always=\[.*\]",
    "always=[stores_under_a_lease],\n        lemmas=[]",
    (EXAMPLES / "fenced_lease.py").read_text(encoding="utf-8"),
)


def subject_in(text: str) -> Subject:
    family = own_family(text, "/models/drawn.py")
    [version] = family.versions
    return own_subject(family.problem(version, {}, ()), "/models/drawn.py")


def with_lemma(text: str, function: str) -> str:
    name = function.partition("(")[0].removeprefix("def ")
    declared = re.sub(r"lemmas=\[(.*?)\]", lambda m: f"lemmas=[{m[1]}{name}, ]", text)
    return f"{declared}\n\n{function}"


def suggestions(subject: Subject, proof: Proof) -> list[str]:
    assert proof.refuted is not None
    assert subject.suggest is not None
    return list(subject.suggest(proof.refuted[1])[0])


def proof_by_suggestions(text: str, rounds: int) -> list[str]:
    """Take the first suggestion each time, until all is proved."""
    taken = []
    for _ in range(rounds):
        subject = subject_in(text)
        proof = induct(subject)
        if proof.verdict(subject.theorem) is Verdict.PROVED:
            return taken
        text = with_lemma(text, suggestions(subject, proof)[0])
        taken.append(text.rpartition("Suggested: ")[2].partition('."""')[0])
    raise AssertionError(f"not proved after {rounds} rounds: {taken}")


def test_a_suggestion_is_true_where_the_search_comes_and_false_before_the_step() -> None:
    """The same by the rules as they are: what is evaluated is what is printed."""
    subject = subject_in(LOCK)
    proof = induct(subject)
    assert proof.refuted is not None
    functions = suggestions(subject, proof)
    for function in functions:
        theorem = subject_in(with_lemma(LOCK, function)).theorem
        lemma = theorem.lemmas[-1]
        found = Proof(searched=search_first(theorem, subject.searched))

        assert lemma.name.startswith("suggested_")
        assert found.violated == ()
        assert not lemma.holds(proof.refuted[1].before, ())
    assert len(functions) == 3


def test_the_command_prints_functions_to_be_pasted(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("lock.py").write_text(LOCK)
    asked = ("prove", "--model", "lock.py", "--no-search", "--suggest")
    code, out, _ = cli(*asked, name="waterline")
    _, text, _ = cli(*asked, "--format", "json", name="waterline")
    functions = json.loads(text)["suggestions"]

    assert code == 14
    assert all(function in out for function in functions)
    assert "lemmas=[..., suggested_1]" in out


def test_kafka_has_its_own_lemmas(cli: Commands) -> None:
    code, _, err = cli("prove", "--suggest", name="waterline")

    assert code == 2
    assert "--suggest prints rules for --model FILE; name the file" in err
