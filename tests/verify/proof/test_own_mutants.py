"""Examples with a part of a rule changed: none of the wrong ones is proved."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("z3")

from tests.support.own_theorems import theorem_in, verdict_of
from waterline.checker.proof.proving import Verdict, search_first

EXAMPLES = Path(__file__).parents[3] / "examples"
FENCED, COMMIT = "fenced_lease", "two_phase_commit"
REGISTER, CHAIN = "abd_register", "chain_replication"
TABLE, RING = "philosophers", "token_ring"
BIT, BREAKER = "alternating_bit", "circuit_breaker"
FREE = {
    FENCED: "clients",
    COMMIT: "rms",
    REGISTER: "servers",
    CHAIN: "servers",
    TABLE: "seats",
    RING: "nodes",
    BIT: "losses",
    BREAKER: "calls",
}
WRONG = [
    (TABLE, "return seat if seat == s.seats - 1 else seat + 1", "return (seat + 2) % s.seats"),
    (BIT, "    s.expected = 1 - s.message\n", "    s.expected = 1 - s.expected\n"),
    (BIT, "    if s.answer == s.sending:\n        s.sending", "    if True:\n        s.sending"),
    (BREAKER, 'all(s.call[other] != "trial" for other in s.calls)', "True"),
    (BREAKER, 'if s.call[call] == "trial" or s.circuit == "closed":', "if True:"),
    (BREAKER, "if s.failures == s.threshold:", "if s.failures == 1:"),
    (RING, "s.token == node and s.wants[node] and", "s.wants[node] and"),
    (REGISTER, "write_back: bool = True", "write_back: bool = False"),
    (REGISTER, "max(s.best[reader], s.stamp[server])", "s.stamp[server]"),
    (REGISTER, "    when(s.writing)\n    when(majority(s, len(s.acks)))", "    when(s.writing)"),
    (CHAIN, "    when(before_it(s, server) == -1)\n", ""),
    (CHAIN, "and after_it(s, server) == -1)", ")"),
    (FENCED, "if not s.fenced or s.token[client] >= s.written_under:", "if True:"),
    (FENCED, "s.token[client] >= s.written_under", "s.token[client] >= s.granted - 1"),
    (FENCED, "fenced: bool = True", "fenced: bool = False"),
    (FENCED, "    s.holder = None\n", "    s.holder = None\n    s.written_under = 0\n"),
    (COMMIT, 'when(s.tm_state == "init" and s.prepared_sent[rm])', 'when(s.tm_state == "init")'),
    (COMMIT, " and all(s.tm_prepared[rm] for rm in range(s.rms))", ""),
    (COMMIT, "and all(s.tm_prepared", "and any(s.tm_prepared"),
    (
        COMMIT,
        '"init" and all(s.tm_prepared[rm] for rm in range(',
        '"init" and all(s.tm_prepared[rm] for rm in range(1, ',
    ),
    (COMMIT, '    when(s.tm_state == "init")\n', ""),
    (COMMIT, "    when(s.commit_sent)\n", ""),
    (COMMIT, "    when(s.abort_sent)\n", ""),
    (
        COMMIT,
        '    when(s.rm_state[rm] == "working")\n    s.rm_state[rm] = "aborted"',
        '    when(s.rm_state[rm] != "committed")\n    s.rm_state[rm] = "aborted"',
    ),
    (COMMIT, 's.tm_state = "committed"\n    s.commit_sent = True', "s.commit_sent = True"),
]


def text_of(name: str) -> str:
    return (EXAMPLES / f"{name}.py").read_text()


@pytest.mark.parametrize("name", FREE)
def test_an_example_is_proved_for_any_number(name: str) -> None:
    made = theorem_in(text_of(name))

    assert verdict_of(made)[0] is Verdict.PROVED
    assert FREE[name] in made.free


@pytest.mark.parametrize(("name", "old", "new"), WRONG)
def test_a_wrong_rule_is_not_proved(name: str, old: str, new: str) -> None:
    text = text_of(name)
    assert text.count(old) >= 1
    made = theorem_in(text.replace(old, new, 1), {"readers": 1} if name == REGISTER else {})
    verdict, _ = verdict_of(made)
    found = search_first(made.theorem, made.theorem.sizes)
    claims = {each.name: each.verdict.value for each in found.invariants}

    assert verdict is not Verdict.PROVED
    assert "violated" in {claims[name] for name in made.theorem.names}
