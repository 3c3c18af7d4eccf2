"""The narrative of one replayed trace.

    story = story_of(finding)
    story.sentence(10), story.phrase(10), story.why(10), story.actor(10), story.is_fault(10)
    story.cluster(10), story.vanished(10), story.fates, story.partings, story.breaking

Steps count from 1, states from 0. For a user's own model the story knows only the layout: `cluster`
is None, `fates` are empty, and only the last step has a `why`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from waterline.checker.kafka.families import GRAINS
from waterline.checker.kafka.narrative.atomic_grain import AtomicGrain
from waterline.checker.kafka.narrative.cluster import Cluster, Holdings
from waterline.checker.kafka.narrative.fates import Copy, End, Fate, Parting, fates, partings
from waterline.checker.kafka.narrative.grain import Grain, Turn
from waterline.checker.kafka.narrative.message_grain import MessageGrain
from waterline.checker.kafka.narrative.why import why
from waterline.checker.traces.finding import Finding
from waterline.counterexamples import NO_CLAIM, Replayed
from waterline.invariants.breaking import Breaking
from waterline.model import atomic
from waterline.model.core.claim import ActionProperty, Claim
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message import model as message
from waterline.model.message.fluss import in_words_of_fluss
from waterline.model.message.narration.phrases import members_of

_GRAINS: dict[str, Grain] = {message.NAME: MessageGrain(), atomic.NAME: AtomicGrain()}


@dataclass(frozen=True, slots=True)
class Vanished:
    """A record that was promised, and is gone from a log since a step."""

    fate: Fate
    copy: Copy


@dataclass(frozen=True, slots=True)
class Phrase:
    """Sentence of a step in three parts: its `actor` once, and the text before and after it.

    A sentence that does not name its actor has the name in front. `actor` is "" if there is none.
    """

    before: str
    actor: str
    after: str

    def __str__(self) -> str:
        return f"{self.before}{self.actor}{self.after}"


@dataclass(frozen=True)
class Story:
    """The narrative. Each part is computed at its first use, and kept.

    `claim` is the name of the claim that the last step breaks; `explanation` says how.
    """

    replayed: Replayed
    model: Model
    claim: str = ""
    explanation: str = ""
    _grain: Grain | None = field(default=None, repr=False)
    _claim: Claim | None = field(default=None, repr=False)

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.replayed.moments)

    @property
    def breaks(self) -> bool:
        """True if a claim is broken in the end; not in a trace of steps chosen by hand."""
        return self.claim != NO_CLAIM and not self.raises

    @property
    def raises(self) -> bool:
        """True if a rule raises an error in the end."""
        return self.replayed.trace.raises is not None

    @property
    def about(self) -> str:
        """Subject of the trace: the claim that breaks, an error, or steps that were chosen."""
        if self.raises:
            return "an error of a rule"
        return self.claim if self.breaks else "by hand"

    @property
    def is_of_kafka(self) -> bool:
        """True if the states are clusters."""
        return self._grain is not None

    def repeats(self, step: int) -> bool:
        """True if the step is on the cycle of an infinite trace."""
        cycle = self.replayed.trace.cycle
        return cycle is not None and step > cycle

    def sentence(self, step: int) -> str:
        """Return the sentence of a step."""
        return self.replayed.moments[step - 1].sentence(self.replayed.narration)

    def phrase(self, step: int) -> Phrase:
        """The sentence with its actor apart: no line joins the two in another way."""
        sentence, actor = self.sentence(step), self.actor(step)
        names = {actor, in_words_of_fluss(actor)} if self.is_of_kafka else {actor}
        flags = re.IGNORECASE if self.is_of_kafka else re.NOFLAG
        found = re.search(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", sentence, flags)
        if not actor:
            return Phrase(sentence, "", "")
        if found is None:
            return Phrase("", actor, f": {sentence}")
        return Phrase(sentence[: found.start()], found[0], sentence[found.end() :])

    def why(self, step: int) -> str:
        """Why the step matters; "" where it is plain progress. The last breaks the claim."""
        if step == self.steps and (self.breaks or self.raises):
            return self.explanation
        return why(self.turn(step)) if self._grain is not None and self._keeps_names else ""

    def actor(self, step: int) -> str:
        """Return the actor of a step: `r1`, `controller`, `consumer`, `network`; "" for none.

        In a user's own model it is the name that begins the action's docstring, else the first name
        among the arguments, as `rm0`.
        """
        moment = self.replayed.moments[step - 1]
        if self._grain is not None:
            return self._grain.actor(moment)
        return next(iter(self.actor_names(step)), "")

    def actor_names(self, step: int) -> Sequence[str]:
        """Return the names among a step's arguments in a user's own model, the actor first."""
        moment, actors = self.replayed.moments[step - 1], self.model.narration.actors
        return actors(moment.action, moment.values) if actors is not None else ()

    def is_fault(self, step: int) -> bool:
        """True if the step is a fault: a crash, a lost disk, a move."""
        return self._grain is not None and self._grain.is_fault(
            self.replayed.moments[step - 1].action
        )

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """The fate of every record, in the order of their ids."""
        if self._grain is None or not self._keeps_names:
            return ()
        last, grain = self.replayed.states[-1], self._grain
        count = len(self.holdings[-1].logs)
        end = End(
            grain.leader(last),
            members_of(grain.may_lead(self.model.settings, last), count),
            members_of(grain.candidates(last), count),
        )
        return fates(self.holdings, end)

    @cached_property
    def partings(self) -> tuple[Parting, ...]:
        """First step after which each two logs part."""
        return partings(self.holdings) if self._keeps_names else ()

    @property
    def _keeps_names(self) -> bool:
        """True if a record has one name in all states: not in those of an abstraction.

        A trace of these is shown for what is about the abstraction, and for recovery alone.
        """
        return self.model.concretise is None

    @cached_property
    def breaking(self) -> Breaking:
        """Place of the violation at the end."""
        if not self.replayed.moments or self._grain is None:
            return Breaking()
        last = self.replayed.moments[-1]
        states = (last.before, last.after)
        text = self.explanation
        return breaking(self._claim, *states, self.model.settings, text)

    @cached_property
    def doomed(self) -> dict[int, Fate]:
        """The promised records that end badly, by id."""
        return {fate.record: fate for fate in self.fates if fate.ending.is_bad}

    def doomed_after(self, state: int) -> frozenset[int]:
        """The records of `doomed` that are promised by the state after this many steps."""
        steps = {record: fate.doomed_from for record, fate in self.doomed.items()}
        return frozenset(r for r, step in steps.items() if step is not None and step <= state)

    def vanished_records(self, state: int) -> tuple[Vanished, ...]:
        """The doomed records that are gone from a log by the state after this many steps.

        A record that came back is not among them.
        """
        found = []
        for fate in self.doomed.values():
            for copy in fate.copies:
                is_gone = copy.gone is not None and copy.gone <= state
                if is_gone and fate.record not in self.holdings[state].logs[copy.replica]:
                    found.append(Vanished(fate, copy))
        return tuple(found)

    def cluster(self, state: int) -> Cluster | None:
        """Return the picture after this many steps; None for a user's own model."""
        return self._clusters(state)

    def turn(self, step: int) -> Turn:
        """All that a sentence about the step may go by."""
        assert self._grain is not None, "only Kafka's steps are explained"
        return Turn(
            moment=self.replayed.moments[step - 1],
            settings=self.model.settings,
            grain=self._grain,
            was=self.holdings[step - 1],
            now=self.holdings[step],
            fates=self._fates_by_record,
            partings=tuple(p for p in self.partings if p.step == step),
            reasons=self._claim.reasons if self._claim is not None else (),
        )

    @cached_property
    def holdings(self) -> tuple[Holdings, ...]:
        """Records of each replica, by state."""
        if self._grain is None:
            return ()
        return tuple(map(self._grain.holdings, self.replayed.states))

    @cached_property
    def longest_log(self) -> int:
        """The most records that any log has in any state."""
        return max((len(log) for held in self.holdings for log in held.logs), default=0)

    @cached_property
    def _fates_by_record(self) -> dict[int, Fate]:
        return {fate.record: fate for fate in self.fates}

    @cached_property
    def _clusters(self) -> Callable[[int], Cluster | None]:
        return lru_cache(maxsize=64)(self._cluster)

    def _cluster(self, state: int) -> Cluster | None:
        if self._grain is None:
            return None
        return self._grain.cluster(self.model.settings, self.replayed.states[state])


def story_of(finding: Finding) -> Story:
    """The story of a counterexample."""
    replayed, model = finding.replayed, finding.model
    grain = _GRAINS.get(model.name)
    claim = _claim_of(model.name, finding.invariant)
    return Story(replayed, model, finding.invariant, finding.explanation, grain, claim)


def _claim_of(model: str, name: str) -> Claim | None:
    """Return Kafka's claim of this name; None for a condition, or a user's claim."""
    families = (family for family in GRAINS.values() if family.model == model)
    claims = (c for f in families for c in (*f.invariants, *f.properties, *f.behaviours))
    return next((claim for claim in claims if claim.name == name), None)


def reasons(story: Story) -> dict[int, str]:
    """Why steps matter, by their numbers: all that do, but for the last, which breaks the claim."""
    text = ((step, story.why(step)) for step in range(1, story.steps))
    return {step: reason for step, reason in text if reason}


def breaking(
    claim: Claim | None, before: State, after: State, settings: Any, explanation: str
) -> Breaking:
    """Locate the violation of `claim` by the last step.

    If the claim does not locate it, use what its `explanation` names: r1, offset 0, m1.
    """
    if claim is None or claim.where is None:
        return _named_in(explanation)
    states = (before, after) if isinstance(claim, ActionProperty) else (after,)
    where: Breaking = claim.where(*states, settings)
    return where


def _named_in(explanation: str) -> Breaking:
    found = (_BROKER.findall(explanation), _OFFSET.findall(explanation))
    brokers, offsets = (tuple(dict.fromkeys(map(int, numbers))) for numbers in found)
    return Breaking(brokers, offsets, tuple(dict.fromkeys(map(int, _RECORD.findall(explanation)))))


_BROKER = re.compile(r"\br(\d{1,3})\b", re.ASCII)
_OFFSET = re.compile(r"\boffset (\d{1,3})\b", re.ASCII)
_RECORD = re.compile(r"\bm(\d{1,3})\b", re.ASCII)
