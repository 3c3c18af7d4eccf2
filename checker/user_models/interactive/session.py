"""Interactive session: typed lines and their answers."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.problem.errors import Refused
from waterline.checker.problem.wording import quantity
from waterline.checker.user_models.interactive import messages
from waterline.checker.user_models.interactive.calls import NotTaken, step_called
from waterline.checker.user_models.interactive.expectations import NotUnderstood, judge
from waterline.checker.user_models.interactive.walk import STEPS_MAX, Walk
from waterline.counterexamples import NO_CLAIM, BadTrace, write_trace
from waterline.counterexamples.named_file import BadFile
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD, QUIET, columns
from waterline.model.core.errors import BadCondition
from waterline.model.core.nearest import did_you_mean_or
from waterline.model.core.transition_system import Step

HELP = (
    ("3", "the step of this number in the list"),
    ("SendFetch(1), sendfetch r1, send", "a step by its call, or as much of it as is unique"),
    ("Enter, l", "the state and the list of steps again"),
    ("u, u 3", "undo a step, or as many"),
    ("g, g 1", "go to the beginning; to the initial state of this number"),
    ("h", "the steps so far"),
    ("/text", "find it in the steps so far, and in those that can be taken"),
    ("s", "the full state, field by field"),
    ("c", "the claims: which of them break here"),
    ("where s.leo[0] > 1", "watch a condition; where alone: no more"),
    ("expect r1 LEO 1 HW 0", "say whether it is so; also expect broken CLAIM, expect holds"),
    ("w FILE, w FILE CLAIM", "save the steps as a trace, against a claim that first breaks here"),
    ("?", "this help"),
    ("q", "quit"),
)


class NotACommand(Refused):
    """A line that can be neither done nor taken; the message says what can."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a line, and whether it was the last one."""

    shown: RenderableType
    ended: bool = False


class Session:
    """Answers one line after the other; nothing that is typed ends it but `q`."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self._commands: dict[str, Callable[[str], RenderableType]] = {
            "l": self._list,
            "u": self._undo,
            "g": self._begin,
            "h": self._history,
            "s": lambda rest: messages.render_state(self.walk),
            "c": lambda rest: messages.render_claims(self.walk),
            "where": self._where,
            "expect": self._expect,
            "w": self._save,
            "?": lambda rest: _help(),
        }

    def opening(self) -> RenderableType:
        """Return the text before the first line."""
        return self._list("")

    def answer(self, line: str) -> Answer:
        """Do what the line says."""
        line = line.strip()
        if line in ("q", "quit", "exit"):
            return Answer(Text(""), ended=True)
        try:
            return Answer(self._answer(line))
        except BadCondition as problem:
            return Answer(Text(f"{problem}\n{problem.pointed}", BAD))
        except (Refused, BadFile, BadTrace) as problem:
            return Answer(Text(str(problem), BAD))

    def _answer(self, line: str) -> RenderableType:
        if not line:
            return self._list("")
        if line.startswith("/"):
            return self._find(line[1:].strip())
        word, _, rest = line.partition(" ")
        if word in self._commands:
            return self._commands[word](rest.strip())
        return self._take(self._choose(line))

    def _choose(self, line: str) -> Step:
        if not line.isdecimal():
            return step_called(line, self.walk)
        offers = self.walk.offers()
        number = int(line) if len(line) < 6 else 0
        if not 1 <= number <= len(offers):
            there = f"there are 1 to {len(offers)}" if offers else "nothing is enabled; u undoes"
            raise NotTaken(f"{line} is no step of the list; {there}")
        return offers[number - 1].step

    def _take(self, step: Step) -> RenderableType:
        if len(self.walk.moments) >= STEPS_MAX:
            raise NotTaken(f"these are {STEPS_MAX:,} steps; u undoes, g goes to the beginning")
        moment = self.walk.take(step)
        parts = [messages.render_taken(self.walk, moment.number)]
        parts += [messages.render_broken(*each) for each in self.walk.breaks().items()]
        return Group(*parts, Text(), self._list(""))

    def _list(self, rest: str) -> RenderableType:
        return Group(messages.render_here(self.walk), Text(), messages.render_offers(self.walk))

    def _undo(self, rest: str) -> RenderableType:
        undone = self.walk.undo(_number(rest, 1, "u"))
        return Group(Text(f"undone: {quantity(undone, 'step')}"), self._list(""))

    def _begin(self, rest: str) -> RenderableType:
        number, there = _number(rest, 0, "g"), len(self.walk.model.initial)
        if number >= there:
            raise NotACommand(f"g {number}: the initial states are 0 to {there - 1}")
        self.walk.begin(number)
        return self._list("")

    def _history(self, rest: str) -> RenderableType:
        walk = self.walk
        lines = [messages.render_taken(walk, moment.number) for moment in walk.moments]
        return Group(*lines) if lines else Text("no step was taken yet")

    def _find(self, sought: str) -> RenderableType:
        if not sought:
            raise NotACommand("/ finds a text; write it behind, as /r1")
        walk, report, parts = self.walk, self.walk.model.narration.sentence, list[RenderableType]()
        for moment in walk.moments:
            words = report(moment.action, moment.values, moment.before, moment.after)
            if sought.casefold() in f"{moment} {words}".casefold():
                parts.append(messages.render_taken(walk, moment.number))
        offers = [
            (number, offer)
            for number, offer in enumerate(walk.offers(), start=1)
            if sought.casefold() in f"{offer.step} {offer.sentence}".casefold()
        ]
        if offers:
            parts += [Text("Enabled", "bold"), Trimmed(messages.offers_table(offers))]
        return Group(*parts) if parts else Text(f"nothing is told of {sought}")

    def _where(self, rest: str) -> RenderableType:
        self.walk.watch(rest or None)
        return messages.render_where(self.walk) if rest else Text("no condition is watched")

    def _expect(self, rest: str) -> RenderableType:
        if not rest:
            raise NotUnderstood("expect what? as expect r1 LEO 1 HW 0, or expect holds")
        instead = judge(rest, self.walk)
        return Text("as expected") if instead is None else Text(f"not so: {instead}", BAD)

    def _save(self, rest: str) -> RenderableType:
        try:
            words = shlex.split(rest)
        except ValueError as problem:
            raise NotACommand(f"w {rest}: {problem}") from None
        if not 1 <= len(words) <= 2:
            raise NotACommand("w FILE saves the steps; w FILE CLAIM against that claim")
        savable = self.walk.savable()
        claim = words[1] if len(words) > 1 else savable[0]
        if claim not in savable:
            instead = did_you_mean_or(claim, savable, f"there are {', '.join(savable)}")
            raise NotACommand(f"{claim} does not break here for the first time; {instead}")
        write_trace(words[0], self.walk.record(claim))
        against = "against no claim" if claim == NO_CLAIM else f"against {claim}"
        return Text(f"wrote {words[0]}: {quantity(len(self.walk.moments), 'step')}, {against}")


def _number(rest: str, otherwise: int, command: str) -> int:
    if not rest:
        return otherwise
    if not rest.isdecimal() or len(rest) > 6:
        raise NotACommand(f"{command} {rest}: {rest} is no number")
    return int(rest)


def _help() -> RenderableType:
    table = columns()
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for keys, meaning in HELP:
        table.add_row(keys, meaning)
    remark = "! marks a fault. A claim that breaks is told by itself."
    return Trimmed(Group(table, Text(remark, QUIET)))
