"""Bounds of user models that fall away in a proof, and those that must not."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("z3")

from tests.support.commands import Commands
from tests.support.own_theorems import theorem_in, verdict_of
from waterline.checker.proof.proving import Verdict
from waterline.checker.proof.terms import NotProvable
from waterline.model.core.errors import BadEnvironment

MODEL = '''
from waterline import *


class State(Fields):
    clients = Names("client", 2)
    most: int = 3
    others: int = 2
    strict: bool = True
    FIELDS
    count = Number(0, most, by=clients)
    members = Set(of=clients)


def counting(state: type[State]) -> Protocol:
    BEFORE
    return Protocol(
        state=state, actions=[join, Action(count, step=range(1, state.others + 1))], always=[low]
    )


def join(s: State, client: int) -> None:
    """A client joins."""
    when(client not in s.members)
    s.members.add(client)


def count(s: State, client: int, step: int) -> None:
    """A client counts."""
    when(client in s.members RULE)
    within(s.count[client] + step <= s.most)
    s.count[client] += step


def low(s: State) -> bool:
    """A count is no debt."""
    return CLAIM
'''


def model(
    fields: str = "", before: str = "", rule: str = "", claim: str = "all(c >= 0 for c in s.count)"
) -> str:
    """The text of the model, with these parts."""
    claim = claim.replace("c >= 0 for c in s.count", "s.count[c] >= 0 for c in s.clients")
    text = MODEL.replace("FIELDS", fields).replace("BEFORE", before)
    return text.replace("RULE", rule).replace("CLAIM", claim)


def test_bounds_that_are_declared_and_handed_on_fall_away() -> None:
    made = theorem_in(model())

    assert made.free == ("clients", "most", "others")
    assert made.kept == {"strict": True}
    assert verdict_of(made)[0] is Verdict.PROVED


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ({"fields": "half: int = most // 2"}, "most"),
        ({"fields": "_half = most + 1\n    spare = Number(0, _half)"}, "most"),
        ({"fields": "spare = Number(0, max(most, 7))"}, "most"),
        ({"fields": "spare = Number(0, 9 if most > 8 else 1)"}, "most"),
        ({"fields": "spare = Number(0, 2 * most)"}, "most"),
        ({"fields": "spare = Choice(*('a' * (1 + i) for i in range(most)))"}, "most"),
        ({"fields": "spare = Flag(by=most, doc=f'{most}')"}, "most"),
        ({"fields": "spare = Flag(by=clients.count + 1)"}, "clients"),
        ({"fields": "spare = Log(of=2, room=most)", "rule": "and len(s.spare) == 0"}, "most"),
        ({"fields": "spare = Set(of=most + 1)", "rule": "and all(i < 9 for i in s.spare)"}, "most"),
        ({"before": "late = state.most > 7"}, "most"),
        ({"before": "name = {True: 1}.get(state.most == 9)"}, "most"),
    ],
)
def test_a_bound_of_which_more_is_made_stays(parts: dict[str, str], kept: str) -> None:
    made = theorem_in(model(**parts))

    assert kept not in made.free
    assert kept in made.kept
    assert made.reasons[kept]


@pytest.mark.parametrize(
    "before",
    ["helper(state)", "global seen\n    seen = state", "x = vars(state)"],
)
def test_a_protocol_that_hands_its_state_on_keeps_all_bounds(before: str) -> None:
    text = model(before=before) + "\n\ndef helper(state):\n    return state\n"

    with pytest.raises(BadEnvironment, match="no bound of counting falls away"):
        theorem_in(text)


def test_a_declaration_of_the_files_own_is_none() -> None:
    text = model().replace(
        "class State", "def Number(lo, hi, by=None):\n    return Flag(by=by)\n\n\nclass State"
    )
    text = text.replace("s.count[client] += step", "s.count[client] = True")

    assert "most" not in theorem_in(text).free


def test_a_set_of_more_names_than_a_word_has_bits_is_a_set() -> None:
    """The functions that a search compiles ask for 63 bits: that must not prove anything."""
    made = theorem_in(model(claim="all(c not in s.members for c in range(63, s.clients))"))

    assert verdict_of(made)[0] is Verdict.UNDECIDED


def test_a_number_of_names_is_the_most_that_a_number_can_be() -> None:
    text = model(fields="total = Number(0, clients.count)".replace("clients.count", "3"))
    bounded = text.replace(
        "    s.members.add(client)\n", "    s.members.add(client)\n    s.total += 1\n"
    )
    verdict, proof = verdict_of(theorem_in(bounded))

    assert verdict is Verdict.NOT_PROVED
    assert proof.refuted is not None
    assert proof.refuted[0] == "no rule in error"


@pytest.mark.parametrize(
    ("rule", "what"),
    [
        ("and sum(s.count[c] for c in s.clients) < 3", "carries sum_so_far"),
        ("and s.count[client] * step < 3", "has no translation"),
    ],
)
def test_a_rule_without_translation_is_refused_by_file_and_line(rule: str, what: str) -> None:
    made = theorem_in(model(rule=rule))
    line = next(
        n for n, each in enumerate(model(rule=rule, fields="x").splitlines(), 1) if rule in each
    )

    with pytest.raises(NotProvable, match=rf"drawn.py:{line}: .*{what}"):
        list(made.theorem.induction().all())


@pytest.mark.parametrize("word", ["match", "abs", "let"])
def test_a_field_may_be_called_like_a_word_of_the_solver(word: str) -> None:
    added = "    s.members.add(client)\n"
    text = model(
        fields=f"{word} = Flag(by=clients)",
        claim=f"all(s.{word}[c] == (c in s.members) for c in s.clients)",
    ).replace(added, f"{added}    s.{word}[client] = True\n")

    assert verdict_of(theorem_in(text))[0] is Verdict.PROVED


def test_a_remainder_of_a_number_far_above_is_none() -> None:
    """A number that is counted on goes round more than once, which no translation has."""
    made = theorem_in(model(rule="and s.count[client] % s.clients == 0"))

    assert verdict_of(made)[0] is Verdict.UNDECIDED


LEAVES = '''
"""A number that leaves its range."""

from waterline import Fields, Names, Number, Protocol


class State(Fields):
    clients = Names("client", 2)
    limit: int = 3
    n = Number(0, limit, by=clients)


def leaving(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[up], always=[low])


def up(s: State, client: int) -> None:
    """A number grows, with no end."""
    s.n[client] += 1


def low(s: State) -> bool:
    """No number is negative."""
    return all(s.n[c] >= 0 for c in s.clients)
'''


def test_a_step_that_leaves_a_range_is_an_error_of_the_search_and_is_named_by_the_proof(
    cli: Commands, tmp_path: Path
) -> None:
    file = tmp_path / "leaving.py"
    file.write_text(LEAVES)

    code, _, err = cli("prove", "--model", file, name="waterline")
    assert code == 76
    assert "s.n[client0] cannot be 4: it holds 0 to 3" in err

    code, out, _ = cli("prove", "--model", file, "--no-search", name="waterline")
    assert code == 0
    said = " ".join(out.split())
    assert "a step that leaves a range which a bound sets counts as cut, and not as" in said


def test_a_set_of_numbers_is_refused_where_it_changes() -> None:
    added = "    s.members.add(client)\n"
    text = model(fields="spare = Set(of=most + 1)").replace(added, f"{added}    s.spare.add(0)\n")

    with pytest.raises(NotProvable, match=r"drawn.py:\d+: `s.spare` is used as a number"):
        list(theorem_in(text).theorem.induction().all())
