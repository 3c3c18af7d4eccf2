"""Under a symmetry a field whose lowest value is a name is kept: 0 is a name like any other."""

from __future__ import annotations

from collections import Counter

from bench.oracle import compare_text, problem_of
from checker.reduced.deciding import decided

POINTED_AT = '''from waterline import Name, Names, Number, Protocol, when


def drawn() -> Protocol:
    """Every node is done once; who was last is asked by nobody."""
    node = Names("node", 3)
    return Protocol(
        fields=[Name("last", node), Number("done", 0, 2, by=node)],
        actions=[begin, end],
        fair=[],
        always=[not_all_done],
        every_step=[],
        sometimes=[],
        recoverable=[],
        eventually=[],
        always_eventually=[],
        leads_to=[],
    )


def begin(s, node):
    when(s.done[node] == 0)
    s.done[node] = 1
    s.last = node


def end(s, node):
    when(s.done[node] == 1)
    s.done[node] = 2


def not_all_done(s):
    return not all(s.done[each] == 2 for each in range(s.nodes))
'''


def test_a_path_to_what_is_broken_is_found_again_with_names_and_all() -> None:
    noted: Counter[str] = Counter()

    compare_text(POINTED_AT, ("reduced", "symmetry", "both"), noted, alike=True)

    assert noted["both"] == 1


def test_without_a_symmetry_it_is_left_out() -> None:
    assert "last" in decided(problem_of(POINTED_AT)).fields
    assert "last" not in decided(problem_of(POINTED_AT, "node")).fields
