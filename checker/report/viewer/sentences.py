"""Texts around the picture: step, changes, claim, keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text

from waterline.checker.kafka.narrative.cluster import broker
from waterline.checker.kafka.narrative.fates import Ending
from waterline.checker.kafka.narrative.story import Story
from waterline.checker.report.viewer.look import (
    CHANGED,
    DOOMED,
    FAULT,
    GONE_MARK,
    QUIET,
    REASON,
    REPEATS_MARK,
    TITLE,
    WHERE_MARK,
    actor_style,
    plain,
)
from waterline.counterexamples.protocols import Narration
from waterline.model.core.claim import Claim

KEYS = (
    ("j, down, space", "next step"),
    ("k, up", "step before"),
    ("g, home / G, end", "initial state / last step"),
    ("page down / up", "ten steps on / back"),
    ("n / N", "next / previous step of the same actor"),
    ("f / F", "next / previous fault"),
    ("w / W", "next / previous state in which the condition of --where is true"),
    ("/", "search in what is told of the steps; / and Enter again: further"),
    ("c", "what the claim says, and where it breaks"),
    ("t", "all of the state, or what the step changed"),
    ("J / K", "scroll the picture, where it is larger than the screen"),
    ("Ctrl-Z", "back to the shell; fg returns"),
    ("q", "quit"),
)


def headline(story: Story, step: int, note: str) -> Text:
    """Version, claim, where one is, and a note if there is one."""
    line = Text.assemble((story.model.version, TITLE), "  ")
    line.append(story.about, TITLE)
    line.append(f"  step {step} of {story.steps}", QUIET)
    if note:
        line.append_text(plain(f"  {note}", CHANGED))
    elif step == story.steps and (story.breaks or story.raises):
        line.append(f"  {_ending(story)}", DOOMED)
    elif story.repeats(step):
        line.append("  repeats for ever", DOOMED)
    elif step and story.is_fault(step):
        line.append("  fault", FAULT)
    return line


def describe_where(text: str, *, so: bool) -> Text:
    """True if the condition is true here."""
    line = Text("  where ", QUIET).append_text(plain(text, TITLE)).append(": ", QUIET)
    return line.append("true", CHANGED) if so else line.append("not true", QUIET)


def _ending(story: Story) -> str:
    """Return the words for the last step: how the trace ends."""
    cycle = story.replayed.trace.cycle
    if story.raises:
        return "a rule raises an error here"
    if cycle is None:
        return "the claim breaks here"
    return "it stays here for ever" if cycle == story.steps else f"goes on with step {cycle + 1}"


def describe(story: Story, claim: Claim, step: int, actors: list[str]) -> Text:
    """Describe the step and why it matters; for the initial state, describe the trace."""
    if step == 0:
        return _opening(story, claim)
    text = Text().append_text(plain(f"{story.replayed.moments[step - 1]}\n", QUIET))
    text.append_text(phrase(story, step, actors))
    if reason := story.why(step):
        is_end = step == story.steps and (story.breaks or story.raises)
        text.append("\n> ", DOOMED if is_end else CHANGED)
        text.append_text(plain(reason, DOOMED if is_end else REASON))
    return text


def phrase(story: Story, step: int, actors: Iterable[str]) -> Text:
    """Return the sentence of a step, with its actor in a colour of its own."""
    parts = story.phrase(step)
    text = Text().append_text(plain(parts.before))
    text.append_text(plain(parts.actor, f"bold {actor_style(story.actor(step), actors)}"))
    return text.append_text(plain(parts.after))


def _opening(story: Story, claim: Claim) -> Text:
    """Describe the trace: the first screen explains itself."""
    steps = "1 step" if story.steps == 1 else f"{story.steps} steps" if story.steps else "no step"
    text = Text()
    if story.breaks:
        text.append("How ").append(story.model.version, TITLE)
        text.append(f" breaks the claim in {steps}: ")
        text.append_text(plain(claim.sentence, REASON))
        text.append("\nIn the end: ", DOOMED).append_text(plain(story.explanation))
    elif story.raises:
        text.append(story.model.version, TITLE).append(f" in {steps}, then an error of a rule: ")
        text.append_text(plain(story.explanation, DOOMED))
    else:
        text.append(story.model.version, TITLE).append(f" in {steps}: ")
        text.append_text(plain(claim.sentence, REASON))
    text.append(
        "\nThis is the initial state; j or a click goes on. On the left > marks steps that "
        "matter, ! faults; ? has more.",
        QUIET,
    )
    return text


def differences(narration: Narration, before: object, after: object) -> list[Text]:
    """Return the changes of the step, a line each: `r1  LEO  1 -> 0`."""
    lines = []
    header, *rows = narration.rows(after)
    for row, was in zip(rows, narration.rows(before)[1:], strict=True):
        for title, cell, old in zip(header, row, was, strict=True):
            if cell != old:
                lines.append(_change(f"{row[0]}  {title}", old, cell))
    old_facts = dict(narration.summary(before))
    for label, value in narration.summary(after):
        if value != old_facts.get(label):
            lines.append(_change(label, old_facts.get(label, "none"), value))
    return lines or [Text("The step changes nothing that is told of a state.", QUIET)]


def _change(what: str, was: str, now: str) -> Text:
    line = Text().append_text(plain(f"{what}  ", TITLE))
    line.append_text(plain(was or "none", QUIET)).append(" -> ", QUIET)
    return line.append_text(plain(now or "none", CHANGED))


def describe_claim(story: Story, claim: Claim) -> Text:
    """Describe the claim, where it breaks, and the fate of each record."""
    text = Text()
    for label, value in _about_claim(story, claim):
        text.append(f"{label}\n", QUIET).append_text(plain(value)).append("\n\n")
    if story.fates:
        text.append("Records\n", QUIET)
        for line in _fates(story):
            text.append_text(line).append("\n")
    text.rstrip()
    return text


def _about_claim(story: Story, claim: Claim) -> Iterator[tuple[str, str]]:
    yield f"The claim {claim.name}", claim.sentence
    if claim.remark:
        yield "Remark", claim.remark
    if contract := claim.contract(story.model.settings):
        yield "Kafka does not promise it", contract
    where = story.breaking
    places = [
        *([", ".join(map(broker, where.brokers))] if where.brokers else []),
        *(f"offset {offset}" for offset in where.offsets),
        *(f"m{record}" for record in where.records),
    ]
    at = f" ({', '.join(places)})" if places else ""
    if story.replayed.trace.cycle is not None:
        yield "It breaks by what goes on for ever", story.explanation
    elif story.breaks:
        yield f"It breaks in step {story.steps}{at}", story.explanation


def _fates(story: Story) -> Iterator[Text]:
    for fate in story.fates:
        line = Text().append(f"m{fate.record}  ", DOOMED if fate.ending.is_bad else TITLE)
        described = [f"appended in step {fate.written}"]
        promised = (("committed", fate.committed), ("acknowledged", fate.acknowledged))
        described += [f"{what} in step {step}" for what, step in promised if step is not None]
        described += [
            f"gone from {broker(copy.replica)} in step {copy.gone}"
            for copy in fate.copies
            if copy.gone is not None
        ]
        if fate.ending is not Ending.KEPT:
            described.append(f"in the end {fate.ending.value}")
        yield line.append("; ".join(described))


def describe_keys(story: Story) -> Text:
    """How to read the screen, and what each key does."""
    text = Text()
    width = max(len(keys) for keys, _ in KEYS)
    for keys, meaning in KEYS:
        text.append(f"{keys.ljust(width)}  ", TITLE).append(f"{meaning}\n")
    text.append("\nOn the left\n", QUIET)
    text.append("! a fault, > a step that matters, in the colour of who acts; ctl: controller\n")
    text.append(f"{WHERE_MARK} the condition of --where is true after it\n")
    if story.replayed.trace.cycle is not None:
        text.append(f"{REPEATS_MARK} a step that repeats for ever\n")
    if story.is_of_kafka:
        text.append("\nIn a lane\n", QUIET)
        text.append(
            "Cells are the log by offset, m1@0 being record 1, written in leader epoch 0; quiet "
            "ones are not below the broker's HW. HW and LEO stand at the edges they point to. "
            "* changed in this step; ! committed or acknowledged, and will be missing in the end; "
            f"≠ another log has another record there; {GONE_MARK} is gone from here. Arrows are "
            "fetches on their way, broken ones answers.\n"
            "remote LEO: as the leader knows it, ≠ where the follower has not the same records; "
            "checkpoint: HW on disk; recovery point: what is flushed; epoch cache: leader epochs "
            "and their first offsets.\n"
        )
    text.rstrip()
    return text
