"""The entries of the catalogue that a loss in logs is an instance of, on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from waterline.checker.kafka.logs.causes import STALE_REMOTE_LEO, Cause
from waterline.counterexamples.style import BAD

_OF_STALE_REMOTE_LEO = (
    "a leader that missed an epoch went on by what a follower had had before, and acknowledged a "
    "record that the next leader did not have. docs/losses.md"
)


def cause_lines(causes: Sequence[Cause], *, is_certain: bool) -> Iterator[Text]:
    """The nearest entry, with its repair, and the others."""
    if not causes:
        return
    nearest, *others = causes
    scenario, repair = nearest.scenario, nearest.repair
    if scenario.number == STALE_REMOTE_LEO:
        what = _OF_STALE_REMOTE_LEO
    else:
        what = (
            f"{scenario.title[0].lower()}{scenario.title[1:]}. The same steps lose nothing with "
            f"{repair.description}. waterline scenarios {scenario.name}"
        )
    how = "is" if is_certain else "can be"
    yield Text.assemble((f"This {how} {scenario.number} ({scenario.name})", BAD), f": {what}")
    if others:
        names = ", ".join(f"{each.scenario.number} ({each.scenario.name})" for each in others)
        yield Text(f"The repairs of these keep the same steps harmless as well: {names}.")
