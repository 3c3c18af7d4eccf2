"""The pictures in docs/ are those that the traces make."""

from __future__ import annotations

from lab.documents.diagrams import made, stale


def test_the_pictures_in_the_documents_are_up_to_date() -> None:
    assert len(made()) == 23
    assert [path.name for path in stale()] == [], "run: python -m lab.documents.diagrams"
