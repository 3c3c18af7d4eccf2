from __future__ import annotations

import io
import re

import pytest
from rich.console import Console, RenderableType

from waterline.counterexamples import Replayed, Trace, replay, trace_of
from waterline.counterexamples.rendering import render_compact, render_full
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.narration import LANES

EXPLANATION = "m1 was committed at offset 0; leader r1 has no record: m1 is lost."

STEP_6_AT_80 = """\
6. LeaderFetch(follower=1)  r0 handles r1's fetch from offset 1: remote LEO 1;
   HW 0 -> 1; m1 is committed and acknowledged; it answers no record, HW 1.
Broker State           LEO HW Ckpt Remote LEO ISR    Log    In flight
r0     leader e0       1   1* 0    r1:1*      r0 r1  m1@0   -*
r1     follower r0 e0  1   0  0    -          -      m1@0   answer, HW 1*
Controller: leader r0, epoch 0, ISR {r0, r1}, fenced {}   Produced: m1@0
Committed: m1*   Acknowledged: m1*   Faults: 0 crashes, 0 moves
"""

COMPACT_AT_80 = """\
 1.  Produce      A producer's record m1 is appended at offset 0 by leader r0
                  (epoch 0).
 2.  SendFetch    r1 sends r0 a fetch from offset 0.
 3.  LeaderFetch  r0 handles r1's fetch from offset 0: remote LEO 0; HW stays 0;
                  it answers m1, HW 0.
 4.  RecvFetch    r1 appends m1: LEO 1, HW min(1, 0) = 0.
 5.  SendFetch    r1 sends r0 a fetch from offset 1.
 6.  LeaderFetch  r0 handles r1's fetch from offset 1: remote LEO 1; HW 0 -> 1;
                  m1 is committed and acknowledged; it answers no record, HW 1.
 7.  Crash        The process of r1 crashes: HW 0 in memory is gone; checkpoint
                  0 and log (LEO 1) stay; r1's fetch is lost.
 8.  Restart      r1 starts again, unnoticed by the controller: HW :=
                  min(checkpoint 0, LEO 1) = 0.
 9.  Learn        r1 learns that r0 leads in epoch 0 and follows it: it
                  truncates to its own HW 0, removing m1.
10.  Crash        The process of leader r0 crashes: HW 1 in memory is gone;
                  checkpoint 0 and log (LEO 1) stay.
11.  Fence        The controller notices that r0 is down; it leaves the ISR, now
                  {r1}; r1 is elected leader of epoch 1.
12.  Learn        r1 learns that it leads in epoch 1: LEO 0, HW 0.

After step 11
Broker  State            LEO  HW  Ckpt  Remote LEO  ISR  Log     In flight
r0      down             1    -   0     -           -    m1@0    -
r1      follower r0 e0   0    0   0     -           -    empty   -
Controller: leader r1, epoch 1, ISR {r1}, fenced {r0}   Produced: m1@0
Committed: m1   Acknowledged: m1   Faults: 2 crashes, 0 moves

After step 12   * changed in this step
Broker  State            LEO  HW  Ckpt  Remote LEO  ISR  Log     In flight
r0      down             1    -   0     -           -    m1@0    -
r1      leader e1*       0    0   0     r0:?*       r1*  empty   -
Controller: leader r1, epoch 1, ISR {r1}, fenced {r0}   Produced: m1@0
Committed: m1   Acknowledged: m1   Faults: 2 crashes, 0 moves

m1 was committed at offset 0; leader r1 has no record: m1 is lost.
"""


def printed(renderable: RenderableType, width: int, *, color: bool = False) -> str:
    out = io.StringIO()
    system = "standard" if color else None
    Console(file=out, width=width, force_terminal=color, color_system=system).print(renderable)
    return out.getvalue()


def test_the_compact_form_at_80_columns(replayed: Replayed) -> None:
    shown = printed(render_compact(replayed, explanation=EXPLANATION, lanes=LANES), 80)

    assert shown == COMPACT_AT_80


def test_a_step_of_the_full_form_at_80_columns(replayed: Replayed) -> None:
    shown = printed(render_full(replayed, explanation=EXPLANATION), 80)

    assert STEP_6_AT_80 in shown
    assert shown.splitlines()[-1] == EXPLANATION


def test_a_wide_screen_shows_how_leo_and_hw_move(replayed: Replayed) -> None:
    lines = printed(render_compact(replayed, lanes=LANES), 160).splitlines()

    assert lines[0].split() == ["r0", "LEO/HW", "r1", "LEO/HW"]
    assert "r1 appends m1: LEO 1, HW min(1, 0) = 0." in lines[5]
    assert lines[5].split()[-2:] == ["1/0", "1*/0"]
    assert "LeaderFetch(follower=1)" in lines[4]


@pytest.fixture(scope="module")
def crowded() -> Replayed:
    """Three brokers, three records: more than 80 columns can hold on a line."""
    model = message_model("epoch", Environment(replicas=3, records=3, epochs=3))
    fetches = [
        (name, (follower,))
        for follower in (1, 2)
        for name in ("SendFetch", "LeaderFetch", "RecvFetch")
    ]
    calls = [("Produce", (0,))] * 3 + fetches + [("Crash", (0,)), ("Fence", (0,)), ("Learn", (2,))]
    return replay(trace_of(model, "sane", calls), model)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160])
def test_no_line_is_longer_than_the_screen_or_ends_in_spaces(
    replayed: Replayed, crowded: Replayed, width: int
) -> None:
    for trace in (replayed, crowded):
        for form in (render_compact(trace, lanes=LANES), render_full(trace)):
            lines = printed(form, width).splitlines()

            assert max(map(len, lines)) <= width
            assert all(line == line.rstrip() for line in lines)


def test_columns_keep_their_place_from_step_to_step(crowded: Replayed) -> None:
    lines = printed(render_full(crowded), 80).splitlines()
    headers = {line for line in lines if line.startswith("Broker")}

    assert len(headers) == 1


def test_colour_adds_nothing_but_colour(replayed: Replayed) -> None:
    """What changed is marked for a reader without colours too."""
    plain = printed(render_full(replayed), 80)
    colored = printed(render_full(replayed), 80, color=True)

    assert "\x1b[" not in plain
    assert "\x1b[1;33m1*" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_why_a_step_matters_stands_below_its_sentence(replayed: Replayed) -> None:
    reasons = {9: "m1 is gone."}
    compact = printed(render_compact(replayed, lanes=LANES, reasons=reasons), 80).splitlines()
    full = printed(render_full(replayed, reasons=reasons), 80).splitlines()

    assert [line.strip() for line in compact if ">>" in line] == [">> m1 is gone."]
    assert compact.index(next(line for line in compact if ">>" in line)) == 1 + compact.index(
        "                  truncates to its own HW 0, removing m1."
    )
    assert [line.strip() for line in full if ">>" in line] == [">> m1 is gone."]


def test_a_violation_in_the_initial_state_can_be_shown(hw: Model) -> None:
    empty = replay(trace_of(hw, "sane", ()), hw)
    for form in (render_compact, render_full):
        assert EXPLANATION in printed(form(empty, explanation=EXPLANATION), 80)


def test_what_looks_like_markup_is_shown_as_it_is(loss: Trace, replayed: Replayed) -> None:
    shown = printed(render_compact(replayed, explanation="[bold]m1[/bold] :warning:"), 80)

    assert shown.splitlines()[-1] == "[bold]m1[/bold] :warning:"
