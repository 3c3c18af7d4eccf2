"""`prove --certificate` and `certify`: a certificate gives hints, and takes no obligation away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3")

from tests.support.certificates import header_in, put_header
from tests.support.commands import Commands
from waterline.checker.analysis.certificate.proof import rules_of, write_proof
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.proof.proving import Subject, induct, narrow_all
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.loading import digest_of
from waterline.checker.user_models.theorems import own_subject

FILE, FOLDER = Path("lock.py"), Path("proof")
MODEL = '''
from waterline import Fields, Flag, Names, Number, Protocol, when, within


class State(Fields):
    clients = Names("client", 2)
    tickets: int = 2

    last = Number(0, tickets)
    served = Number(1, tickets + 1)
    ticket = Number(0, tickets, by=clients)
    inside = Flag(by=clients)


def lock(state: type[State]) -> Protocol:
    return Protocol(
        state=state, actions=[take, enter, leave], always=[alone], lemmas=[served, differ]
    )


def take(s: State, client: int) -> None:
    """A client takes a ticket."""
    when(s.ticket[client] == 0)
    within(s.last < s.tickets)
    s.last += 1
    s.ticket[client] = s.last


def enter(s: State, client: int) -> None:
    """A client enters."""
    when(s.ticket[client] == s.served and not s.inside[client])
    s.inside[client] = True


def leave(s: State, client: int) -> None:
    """A client leaves."""
    when(s.inside[client])
    s.inside[client] = False
    s.ticket[client] = 0
    s.served += 1


def alone(s: State) -> bool:
    """No two clients are inside."""
    return all(i == j or not (s.inside[i] and s.inside[j]) for i in s.clients for j in s.clients)


def served(s: State) -> bool:
    """Who is inside has the number that is up, and no other client does."""
    return all(
        s.ticket[i] == s.served and (i == j or s.ticket[j] != s.served)
        for i in s.clients
        if s.inside[i]
        for j in s.clients
    )


def differ(s: State) -> bool:
    """No ticket is above the last, and no two clients have the same."""
    return all(
        s.ticket[i] <= s.last and (i == j or s.ticket[i] == 0 or s.ticket[i] != s.ticket[j])
        for i in s.clients
        for j in s.clients
    )


def nowhere(s: State) -> bool:
    """No state at all."""
    return s.last < 0
'''
ALWAYS = ["ranges", "step", "defined"]


def subject_in(text: str) -> Subject:
    return own_subject(own_family(text, str(FILE)).problem("lock", {}, ()), str(FILE))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The certificate of the model's proof."""
    folder, subject = tmp_path_factory.mktemp("written") / "proof", subject_in(MODEL)
    proof = induct(subject)
    narrow_all(proof, subject.theorem.induction())
    write_proof(subject, proof, out=folder, solver="z3")
    return folder


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run in a folder of their own, where the model is."""
    monkeypatch.chdir(tmp_path)
    FILE.write_text(MODEL)


@pytest.fixture
def proved(written: Path) -> None:
    """The certificate is in the folder."""
    shutil.copytree(written, FOLDER)


def certified(cli: Commands, *more: object) -> tuple[int, str, str]:
    code, out, err = cli("certify", FOLDER, "--model", FILE, *more, name="waterline")
    return code, " ".join(out.split()), err


def become(text: str) -> list[str]:
    """The model is another one, and all digests of the certificate fit it again.

    Returns the names of its lemmas and claims.
    """
    FILE.write_text(text)
    header = header_in(FOLDER)
    header["problem"]["bounds"]["sha256"] = digest_of(text)
    put_header(FOLDER, header)
    subject = subject_in(text)
    put_header(FOLDER, header_in(FOLDER) | {"rules": problem_digest(rules_of(subject))})
    return [lemma.name for lemma in subject.theorem.lemmas]


def test_each_obligation_is_proved_again_in_fewer_steps(cli: Commands) -> None:
    options = ("--model", FILE, "--no-search", "--format", "json", "--certificate", FOLDER)
    document = json.loads(cli("prove", *options, name="waterline")[1])
    asked = [(each["of"], each["goal"]) for each in document["obligations"]]
    there = header_in(FOLDER)["obligations"]
    code, out, err = certified(cli)
    steps = int(out.partition(" obligations, ")[2].partition(" steps")[0].replace(",", ""))

    assert (code, err) == (0, "")
    assert "CERTIFIED lock: PROVED alone for any number of clients and tickets" in out
    assert f"proved again from the rules: {len(asked)} obligations" in out
    assert [(each["of"], each["goal"]) for each in there] == asked
    assert steps < sum(each["steps"] for each in document["obligations"])


@pytest.mark.usefixtures("proved")
def test_the_lemmas_that_a_query_took_are_named() -> None:
    takes = {(e["of"], e["goal"]): e["takes"] for e in header_in(FOLDER)["obligations"]}

    assert takes["enter(client)", "alone"] == ["served", "step"]
    assert takes["claim", "alone"] == ["alone"]
    assert takes["initially", "differ"] == []


def edited(change: Callable[[dict[str, Any]], object]) -> None:
    header = header_in(FOLDER)
    change(header)
    put_header(FOLDER, header)


BAD: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "one obligation fewer": (lambda h: h["obligations"].pop(8), "where take(client): differ is"),
    "the last one fewer": (lambda h: h["obligations"].pop(), "none, where leave(client): differ"),
    "none at all": (lambda h: h["obligations"].clear(), "none, where initially: alone is due"),
    "one more": (lambda h: h["obligations"].append(h["obligations"][-1]), "where none is due"),
    "one twice": (lambda h: h["obligations"].insert(3, h["obligations"][2]), "claim: alone is due"),
    "another order": (lambda h: h["obligations"].reverse(), "initially: alone is due"),
    "another goal": (lambda h: h["obligations"][7].update(goal="alone"), "served is due"),
    "a lemma of its own": (
        lambda h: h["obligations"][7]["takes"].append("x < 0"),
        "takes 'x < 0', which is no assumption",
    ),
    "the goal itself": (
        lambda h: h["obligations"][0]["takes"].append("alone"),
        "takes 'alone', which is no assumption",
    ),
    "any number of instances": (lambda h: h["obligations"][0].update(generations=99), "<= 2"),
    "no digest": (lambda h: h.pop("rules"), "rules"),
    "another digest": (lambda h: h.update(rules="0" * 32), "of other rules, claims or lemmas"),
    "other bounds": (lambda h: h["problem"]["bounds"].update(clients=3), "of other rules"),
    "a claim that is none": (lambda h: h["problem"].update(invariants=["sane"]), "sane"),
    "a protocol that is none": (lambda h: h["problem"].update(protocol="key"), "has no 'key'"),
    "a proof of Kafka": (lambda h: h["problem"].update(model="kafka-atomic"), "kafka-atomic"),
    "another format": (lambda h: h.update(format="waterline-proof/2"), "'waterline-proof/2'"),
    "a verdict": (lambda h: h.update(verdict="PROVED"), "verdict"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.usefixtures("proved")
def test_a_bad_certificate_is_one_line(name: str, cli: Commands) -> None:
    change, described = BAD[name]
    edited(change)
    code, out, err = certified(cli)

    assert (code, out) == (2, "")
    assert described in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.usefixtures("proved")
def test_a_hint_that_lacks_a_lemma_proves_nothing(cli: Commands) -> None:
    edited(lambda header: header["obligations"][10]["takes"].remove("served"))
    code, out, _ = certified(cli)

    assert code == 13
    assert "NOT CERTIFIED lock: enter(client), alone: not proved from what" in out


@pytest.mark.usefixtures("proved")
def test_rules_that_have_changed_are_refused(cli: Commands) -> None:
    FILE.write_text(MODEL.replace("s.ticket[client] == s.served and ", ""))
    code, _, err = certified(cli)

    assert code == 2
    assert "lock.py has another content" in err


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("s.ticket[client] == s.served and ", ""),
        ("s.last += 1", "s.last = s.last"),
        ("s.inside[client] = False", "s.inside[client] = True"),
        ("by=clients)\n\n", "by=clients)\n    spare = Number(0, 1)\n\n"),
    ],
)
@pytest.mark.usefixtures("proved")
def test_digests_that_fit_again_prove_no_other_rules(old: str, new: str, cli: Commands) -> None:
    become(MODEL.replace(old, new))
    code, out, _ = certified(cli)

    if "spare" in new:
        assert (code, out[:9]) == (0, "CERTIFIED")  # for this field changes nothing
    else:
        assert (code, out[:13]) == (13, "NOT CERTIFIED")


@pytest.mark.usefixtures("proved")
def test_a_lemma_that_contradicts_all_proves_nothing(cli: Commands) -> None:
    names = become(MODEL.replace("served, differ]", "served, differ, nowhere]"))
    header = header_in(FOLDER)
    actions = list(dict.fromkeys(e["of"] for e in header["obligations"] if "(" in e["of"]))

    def obligation(of: str, goal: str, *takes: str) -> dict[str, Any]:
        return {"of": of, "goal": goal, "takes": takes, "generations": 1, "values": False}

    header["obligations"] = [
        *(obligation("initially", name) for name in names),
        *(obligation("claim", f"alone{more}", "nowhere") for more in ("", ": no rule in error")),
        *(
            obligation(action, goal, "nowhere", *ALWAYS)
            for action in actions
            for goal in ("no rule in error", *names)
        ),
    ]
    put_header(FOLDER, header)
    code, out, _ = certified(cli)

    assert code == 13
    assert "NOT CERTIFIED lock: no state of the invariant enables take, enter, leave" in out


def test_what_is_not_proved_has_no_certificate(cli: Commands) -> None:
    FILE.write_text(MODEL.replace("lemmas=[served, differ]", "lemmas=[]"))
    code, out, _ = cli("prove", "--model", FILE, "--certificate", FOLDER, name="waterline")

    assert code == 14
    assert "no certificate was written to proof: the claims are not PROVED" in out
    assert not FOLDER.exists()


def test_a_folder_that_is_not_empty_is_refused_before_the_proof(cli: Commands) -> None:
    FOLDER.mkdir()
    (FOLDER / "there").touch()
    code, _, err = cli("prove", "--model", FILE, "--certificate", FOLDER, name="waterline")

    assert code == 2
    assert "--certificate: proof is not empty" in err


@pytest.mark.usefixtures("proved")
def test_a_second_solver_proves_all_again_and_nothing_more(cli: Commands) -> None:
    pytest.importorskip("cvc5")
    code, out, err = certified(cli, "--solver", "cvc5")
    edited(lambda header: header["obligations"][10]["takes"].remove("served"))
    other, refuted, _ = certified(cli, "--solver", "cvc5")

    assert (code, err) == (0, "")
    assert "CERTIFIED lock: PROVED alone" in out
    assert "17 obligations" in out
    assert "steps of cvc5" in out
    assert other == 13
    assert "NOT CERTIFIED lock: enter(client), alone: not proved from what" in refuted


@pytest.mark.usefixtures("proved")
def test_any_number_of_solvers_judges_the_same(cli: Commands) -> None:
    code, one, _ = certified(cli, "--jobs", 1)
    other, more, _ = certified(cli, "--jobs", 3)

    assert (code, one) == (other, more)
    assert code == 0
    assert "steps of z3" in one


@pytest.mark.usefixtures("proved")
def test_a_proof_is_not_judged_on_spark(cli: Commands) -> None:
    code, _, err = certified(cli, "--engine", "spark")

    assert code == 2
    assert "which Spark has no part in" in err
