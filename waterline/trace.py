"""A trace: steps one after the other, from an initial state."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from waterline.models import Declares, Model
from waterline.running import Step, enabled, initials
from waterline.state import State
from waterline.tables import cell, line, table
from waterline.telling import elements

STEPS_MAX = 200
"""How many steps a table has at most."""
COLUMNS_MAX = 8
"""Most elements with a column each: a page has room for these."""


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """An initial state and the steps from there. A loop over a trace goes through its steps.

    In an infinite trace, the steps after the first `cycle` ones repeat; without further steps, the
    protocol stays in the last state.
    """

    initial: State
    steps: tuple[Step, ...]
    cycle: int | None = None

    @property
    def states(self) -> tuple[State, ...]:
        """The initial state, then the state after each step."""
        return (self.initial, *(step.after for step in self.steps))

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __bool__(self) -> bool:
        return True  # also where no step was taken

    def __repr__(self) -> str:
        return f"<Trace: {', '.join(map(str, self.steps)) or 'no step'}>"

    def __str__(self) -> str:
        width = max((len(step.name) for step in self.steps), default=0)
        digits = len(str(len(self.steps)))
        lines = [f"{'0.':<{digits + 2}}{self.initial}"]
        for number, step in enumerate(self.steps, start=1):
            if self.cycle is not None and number == self.cycle + 1:
                lines.append("These steps repeat for ever:")
            label = f"{number}."
            lines.append(f"{label:<{digits + 2}}{step.name:<{width + 2}}{step.sentence}")
        if self.cycle == len(self.steps):
            lines.append("It stays there for ever.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A row for each state, a column for each element that changes, with a mark where it does.

        Where more than `COLUMNS_MAX` change, one column says what each step changes. Longer traces
        than `STEPS_MAX` are shown up to there.
        """
        shown = self.steps[:STEPS_MAX]
        states = [_elements(state) for state in self.states[: len(shown) + 1]]
        changing = [name for name in states[0] if len({state[name] for state in states}) > 1]
        is_wide = len(changing) > COLUMNS_MAX
        first = [f"{name} {states[0][name]}" for name in changing]
        values = [", ".join(first)] if is_wide else [states[0][name] for name in changing]
        body = [[cell("0"), cell(""), *map(cell, values)]]
        for number, step in enumerate(shown, start=1):
            before, after = states[number - 1], states[number]
            repeats = self.cycle is not None and number > self.cycle
            moved = [name for name in changing if before[name] != after[name]]
            if is_wide:
                changes = ", ".join(f"{n} {before[n]} → {after[n]}" for n in moved)
                cells = [cell(changes or "nothing changes")]
            else:
                cells = [cell(after[name], is_marked=name in moved) for name in changing]
            body.append([cell(f"{number} ↻" if repeats else f"{number}"), cell(str(step)), *cells])
        parts = [table(["", "step", *(["what changes"] if is_wide else changing)], body)]
        same = [f"{name} {value}" for name, value in states[0].items() if name not in changing]
        if same:
            parts.append(line(f"Always {', '.join(same)}."))
        if len(self) > STEPS_MAX:
            parts.append(line(f"{len(self) - STEPS_MAX} further steps are not shown."))
        if self.cycle is not None:
            stays = self.cycle == len(self)
            parts.append(line("It stays there for ever." if stays else "Steps with ↻ repeat."))
        return "".join(parts)


def _elements(state: State) -> dict[str, str]:
    return dict(elements(state._model, state._values))


def simulate(model: Model | Declares | State, *, steps: int = 20, seed: int = 0) -> Trace:
    """A random walk from an initial state, or from the state that is given.

    Each step is any of those that are enabled, one as likely as another; the walk is shorter than
    `steps` where none is. The same seed makes the same walk. Rules run as plain Python, some
    thousand times slower than `waterline simulate` runs them: this is to look at a few walks.
    """
    chance = random.Random(seed)
    at = first = model if isinstance(model, State) else chance.choice(initials(model))
    taken = []
    for _ in range(steps):
        possible = enabled(at)
        if not possible:
            break
        taken.append(chance.choice(possible))
        at = taken[-1].after
    return Trace(first, tuple(taken))
