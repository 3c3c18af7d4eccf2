"""What notebooks show: tables in which every text of the user's is escaped."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

import waterline
from tests.support.live import lease_text, live
from tests.support.own import EXAMPLES
from waterline import trace as traces

BAD = "<script>alert(1)</script>&"


def parsed(html: str) -> ElementTree.Element:
    """As XML: what is not closed, or not escaped, raises."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def cells(html: str) -> list[list[str]]:
    rows = parsed(html).iter("tr")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def changed(html: str) -> list[str]:
    return [
        "".join(cell.itertext())
        for cell in parsed(html).iter("td")
        if "bold" in cell.attrib.get("style", "")
    ]


def test_a_result_shows_verdicts_counts_and_the_shortest_counterexample(lease: ModuleType) -> None:
    found = cells(waterline.check(lease.lease)._repr_html_())

    assert found[1][:2] == ["no_old_write", "VIOLATED after 5 steps"]
    assert found[4][:2] == ["held_leads_to_free", "HOLDS"]
    assert found[5][:2] == ["token_outlives_lease", "first in step 3"]
    assert ["Within", "clients 2, leases 3, fenced False"] in found
    assert ["Distinct states", "75"] in found
    assert ["Bounds", "leases: 42 cut"] in found
    assert found[-1][:2] == ["5", "write(client=1)"]


def test_a_trace_marks_what_each_step_changes(lease: ModuleType) -> None:
    trace = waterline.check(lease.lease).trace
    assert trace is not None
    html = trace._repr_html_()

    assert cells(html) == [
        ["", "step", "holder", "granted", "token[client0]", "token[client1]", "stored"],
        ["0", "", "none", "0", "0", "0", "0"],
        ["1", "grant(client=1)", "client1", "1", "0", "1", "0"],
        ["2", "expire()", "none", "1", "0", "1", "0"],
        ["3", "grant(client=0)", "client0", "2", "2", "1", "0"],
        ["4", "write(client=0)", "client0", "2", "0", "1", "2"],
        ["5", "write(client=1)", "client0", "2", "0", "0", "1"],
    ]
    assert changed(html) == ["client1", "1", "1", "none", "client0", "2", "2", "0", "2", "0", "1"]


def test_what_never_changes_has_no_column(lease: ModuleType) -> None:
    html = waterline.simulate(lease.lease, steps=2, seed=1)._repr_html_()

    assert "token[client1]" not in cells(html)[0]
    assert "Always token[client1] 0." in html


def test_where_many_elements_change_one_column_says_which() -> None:
    """A table of a column for each of raft's eighteen elements is wider than any page."""
    trace = waterline.simulate(live(EXAMPLES / "raft.py"), steps=12, seed=1)
    first, initial, *rows = cells(trace._repr_html_())

    assert first == ["", "step", "what changes"]
    assert "role[server0] follower" in initial[2]
    assert [row[1] for row in rows] == [str(step) for step in trace]
    for row, step in zip(rows, trace, strict=True):
        told = step.sentence.partition(": ")[2].rstrip(".").replace("; ", ", ")
        assert row[2] == told.replace("->", "→")


def test_what_repeats_is_marked() -> None:
    trace = waterline.check(live(EXAMPLES / "token_ring.py", greedy=True)).trace
    assert trace is not None
    assert trace.cycle is not None
    numbers = [row[0] for row in cells(trace._repr_html_())[2:]]

    assert [number.endswith("↻") for number in numbers] == [
        number > trace.cycle for number in range(1, len(trace) + 1)
    ]


def test_a_state_is_a_table_of_names_and_one_of_the_rest(lease: ModuleType) -> None:
    state = waterline.step(waterline.initial(lease.lease), lease.grant, client=1)

    assert cells(state._repr_html_()) == [
        ["", "token"],
        ["client0", "0"],
        ["client1", "1"],
        ["holder", "granted", "stored"],
        ["client1", "1", "0"],
    ]


def test_text_of_a_model_cannot_escape_into_the_page(module_of: Any) -> None:
    """Docstrings and words of choices are any text."""
    text = (
        lease_text()
        .replace("The store takes no write of", BAD)
        .replace(
            "    holder = Name(clients, or_none=True)\n",
            f'    holder = Name(clients, or_none=True)\n    word = Choice("{BAD}", "other")\n',
        )
    )
    text = text.replace("import Fields,", "import Choice, Fields,").replace(
        "    s.stored = s.token[client]\n", '    s.stored = s.token[client]\n    s.word = "other"\n'
    )
    made = module_of("escape.py", text)
    result = waterline.check(made.lease)
    pages = [result._repr_html_(), waterline.initial(made.lease)._repr_html_()]
    assert result.trace is not None
    pages.append(result.trace._repr_html_())

    assert all("<script" not in page for page in pages)
    assert all(BAD in "".join(parsed(page).itertext()) for page in pages)


@pytest.mark.parametrize("steps", [0, 1])
def test_short_traces_are_tables_too(steps: int, lease: ModuleType) -> None:
    trace = waterline.simulate(lease.lease, steps=steps)

    assert len(cells(trace._repr_html_())) == steps + 2
    assert str(trace).count("\n") == steps


def test_long_traces_end(lease: ModuleType) -> None:
    trace = waterline.simulate(live(EXAMPLES / "token_ring.py"), steps=traces.STEPS_MAX + 5)
    html = trace._repr_html_()

    assert len(cells(html)) == traces.STEPS_MAX + 2
    assert "5 further steps are not shown." in html
