"""`prove --suggest`: the lock of docs/proof.md, and the fenced lease without two of its claims."""

from __future__ import annotations

from tests.user_models.test_suggestions import LEASE, LOCK, proof_by_suggestions


def test_the_first_suggestion_proves_the_fenced_lease() -> None:
    assert proof_by_suggestions(LEASE, 3) == ["s.token[i] != 0 or s.writes[i] is None"]


def test_the_first_suggestions_prove_the_lock_with_tickets() -> None:
    assert proof_by_suggestions(LOCK, 4) == [
        "s.ticket[i] <= s.last",
        "not s.inside[i] or s.served == s.ticket[i]",
        "s.ticket[i] == 0 or s.ticket[i] != s.ticket[j]",
    ]
