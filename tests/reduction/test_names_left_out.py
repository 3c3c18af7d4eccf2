"""Under a symmetry a field whose lowest value is a name is kept: 0 is a name like any other."""

from __future__ import annotations

from collections import Counter

from checker.reduction.planning import decided
from fuzz.oracle import compare_text, problem_of

POINTED_AT = '''from waterline import Name, Names, Number, Protocol, when


def drawn() -> Protocol:
    """Nodes go from 0 over 1 to 2; the one that is pointed at is put back. Nobody reads `other`."""
    node = Names("node", 2)
    return Protocol(
        fields=[
            Name("pointed", node),
            Name("other", node),
            Number("idle", 0, 1, by=node),
            Number("at", 0, 2, by=node),
            Number("done", 0, 1, by=node),
        ],
        actions=[begin, put_back, end],
        fair=[],
        always=[nobody_is_done],
        every_step=[],
        sometimes=[],
        recoverable=[],
        eventually=[],
        always_eventually=[],
        leads_to=[],
    )


def put_back(s, node):
    when(s.idle[node] == 0)
    s.at[s.pointed] = 0


def begin(s, node):
    when(s.at[node] == 0)
    s.at[node] = 1


def end(s, node):
    when(s.at[node] == 1)
    s.at[node] = 2
    s.done[node] = 1


def nobody_is_done(s):
    return not any(s.done[each] != 0 for each in range(s.nodes))
'''


def test_a_path_to_what_is_broken_is_found_again_with_names_and_all() -> None:
    noted: Counter[str] = Counter()

    compare_text(POINTED_AT, ("reduced", "symmetry", "both"), noted, alike=True)

    assert noted["both"] == 1


def test_it_is_kept() -> None:
    assert "other" not in decided(problem_of(POINTED_AT, "node")).fields
