"""`--where` of check, view and states: a question of one's own without a file."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.commands import Commands
from tests.support.stories import LOSS, story
from tests.support.viewing import WIDE, seen, viewer
from tests.support.walks import SCRIPTS
from waterline.checker.kafka.families import MESSAGE
from waterline.counterexamples import read_trace

SMALL = ("--protocol", "hw", "--engine", "local", "--records", 1, "--restarts", 1, "--moves", 0)
BEHIND = "s.leo[1] == 1 and s.hw[1] == 0"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a run is kept."""
    return tmp_path_factory.mktemp("where")


def test_check_shows_the_way_to_a_state_in_which_it_is_true(cli: Commands, place: Path) -> None:
    code, out, _ = cli("check", *SMALL, "--where", BEHIND, "--trace-dir", place, name="waterline")
    trace = read_trace(place / "hw-nowhere-2r1n2e.json")

    assert code == 12
    assert "nowhere     VIOLATED after 4 steps" in out
    assert f"VIOLATED nowhere: In no state it is true that {BEHIND}." in out
    assert "Here it is true that" in out
    assert trace.environment["where"] == BEHIND
    assert len(trace.steps) == 4


def test_its_trace_is_viewed_without_saying_it_again(cli: Commands, place: Path) -> None:
    trace = place / "hw-nowhere-2r1n2e.json"
    own = cli("view", trace, name="waterline")
    other = cli("view", trace, "--where", "s.leo[r0] == 1", name="waterline")
    compare = cli("compare", trace, "--protocol", "epoch", "--with", "fencing", name="waterline")

    assert own[0] == 0
    assert own[1].count(f"where {BEHIND}: true\n") == 1
    assert other[1].count("where s.leo[r0] == 1: true\n") == 3
    assert compare[0] == 0


def test_what_is_true_nowhere_holds(cli: Commands) -> None:
    code, out, _ = cli(
        *SMALL,
        "--where",
        "s.leader == NO_REPLICA and s.up[0] == 1 and s.up[1] == 1 and s.epoch == 9",
    )

    assert code == 0
    assert "hw: HOLDS nowhere" in out


def test_a_condition_that_means_nothing_is_pointed_at(cli: Commands) -> None:
    code, out, err = cli(*SMALL, "--where", "s.leos[0] > 1")

    assert (code, out) == (2, "")
    assert err.startswith("error: the condition, column 3: the state has no field 'leos'; did you")
    assert err.endswith("s.leos[0] > 1\n  ^\n")


def test_under_a_symmetry_it_is_refused(cli: Commands) -> None:
    code, _, err = cli(*SMALL, "--symmetry", "records", "--where", "s.leo[0] > 1")

    assert code == 2
    assert "leave out --symmetry" in err


def test_of_a_kept_run_the_states_are_picked(cli: Commands, place: Path) -> None:
    kept, some, every = place / "kept", place / "some", place / "every"
    cli(*SMALL, "--run-dir", kept)
    cli("states", kept, "--out", every, name="waterline")
    code, out, _ = cli("states", kept, "--out", some, "--where", BEHIND, name="waterline")
    both = cli("states", kept, "--out", place / "x", "--where", "1", "--steps", name="waterline")
    rows = pq.read_table(every / "states").to_pylist()
    wanted = [row for row in rows if row["leo"][1] == 1 and row["hw"][1] == 0]

    assert code == 0
    assert pq.read_table(some / "states").to_pylist() == wanted
    assert 0 < len(wanted) < len(rows)
    assert f"wrote {len(wanted):,} of {len(rows):,} states, all of a complete run" in out
    assert json.loads((some / "export.json").read_text())["where"] == BEHIND
    assert both[0] == 2
    assert "leave out --steps" in both[2]


def test_a_run_under_a_symmetry_has_not_the_states_to_pick_from(cli: Commands, place: Path) -> None:
    kept = place / "symmetric"
    cli(*SMALL, "--run-dir", kept, "--symmetry", "records")
    asked = ("--out", place / "y", "--where", "s.leo[0] == 1")
    code, _, err = cli("states", kept, *asked, name="waterline")

    assert code == 2
    assert "ask it of a run without --symmetry" in err


def test_the_viewer_marks_the_steps_and_w_goes_to_the_next() -> None:
    told = story(LOSS)
    asked = MESSAGE.condition("s.leo[r1] == 0", told.model)
    first = seen(viewer(told, asked), size=WIDE)
    there = seen(viewer(told, asked), *"GWWWw", size=WIDE)
    unasked = seen(viewer(told), "w")
    marked = [
        line.split()[1] for line in first.splitlines() if line[1:5].strip(" 0123456789") == "="
    ]

    assert "where s.leo[r1] == 0: true" in first.splitlines()[0]
    assert "step 10 of 12" in there.splitlines()[0]
    assert "no condition; give one with --where" in unasked
    assert len(marked) == 7


def test_run_says_after_each_step_of_a_script_whether_it_is_true(cli: Commands) -> None:
    script = SCRIPTS / "two-round-trips.steps"
    code, out, _ = cli("run", "--script", script, "--where", "s.hw[r0] == 1", name="waterline")

    assert code == 0
    assert out.count("where s.hw[r0] == 1: true (s.hw[r0] is 1)") == 3
