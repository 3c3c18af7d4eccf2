"""Sequence diagram of a Kafka trace."""

from __future__ import annotations

from collections.abc import Iterator

from waterline.checker.kafka.narrative.cluster import Lane
from waterline.checker.kafka.narrative.story import Story
from waterline.checker.report.pages.kafka_messages import Turn, messages_of, replica_set, turns_of
from waterline.checker.report.pages.sequence import Box, Note, Sequence, Tone, spans

_ENDS = {
    "Crash": "crashes",
    "PowerLoss": "loses power",
    "DiskLoss": "loses its disk",
    "DirectoryFailure": "loses its log directory",
    "Stop": "stops",
    "RecvOutOfRange": "exits",
}
"""How a broker goes down, by the step."""
_MISHAPS = {
    "CheckpointLoss": "loses its checkpoint",
    "DirectoryFailure": "log directory fails",
    "DirectoryMove": "log changes directory",
    "DirectoryTaken": "log directory taken out",
    "DiskLoss": "loses its disk",
    "PromoteFutureLog": "future log takes the log's place",
    "SessionExpiry": "session expires",
    "StartFutureLog": "log begins to change directory",
}
"""Faults that leave a broker up."""


def kafka_sequence(story: Story, title: str) -> Sequence:
    """The diagram: clients, brokers in order, controller."""
    last = story.cluster(story.steps)
    assert last is not None
    count = len(last.lanes)
    # A broker's number is its lane until the end, when clients come first.
    clients, controller = count, count + 1
    turns = turns_of(story, clients, controller)
    clusters = [*(turn.before for turn in turns), last]
    sequence = Sequence(
        title=title,
        lanes=(*(f"r{lane.replica}" for lane in last.lanes), "Clients", "Controller"),
        calls=tuple(str(moment) for moment in story.replayed.moments),
        sentences=tuple(story.sentence(step) for step in range(1, story.steps + 1)),
        messages=tuple(messages_of(story, turns)),
        notes=tuple(note for turn in turns for note in _notes(story, turn)),
        down=tuple(
            s for r in range(count) for s in spans(r, [not c.lanes[r].is_up for c in clusters])
        ),
        leads=tuple(
            s for r in range(count) for s in spans(r, [c.lanes[r].leads for c in clusters])
        ),
        logs=(*(_log(story, lane) for lane in last.lanes), None, None),
        conclusion=story.explanation,
    )
    return sequence.reorder((clients, *range(count), controller))


def _notes(story: Story, turn: Turn) -> Iterator[Note]:
    for before, after in zip(turn.before.lanes, turn.after.lanes, strict=True):
        for words, tone in _changes(story, turn, before, after):
            yield Note(turn.step, after.replica, words, tone)
    was, now = turn.before.control, turn.after.control
    if was.epoch != now.epoch or was.leader != now.leader:
        leads = "nobody leads" if now.leader is None else f"r{now.leader} leads"
        is_fault = turn.actor == "controller" and story.is_fault(turn.step)
        tone = Tone.FAULT if is_fault else Tone.PLAIN
        yield Note(turn.step, turn.controller, f"{leads}, epoch {now.epoch}", tone)
    if was.replicas != now.replicas:
        words = f"replicas {' '.join(f'r{replica}' for replica in now.replicas)}"
        yield Note(turn.step, turn.controller, words, Tone.FAULT)
    for name, former, members in (("ISR", was.isr, now.isr), ("ELR", was.elr, now.elr)):
        if former != members:
            yield Note(turn.step, turn.controller, f"{name} {replica_set(members)}")


def _changes(story: Story, turn: Turn, before: Lane, after: Lane) -> Iterator[tuple[str, Tone]]:
    """Yield the changes of a broker in a step, the most significant first."""
    step, action, replica = turn.step, turn.moment.action, after.replica
    if before.is_up and not after.is_up:
        yield _ENDS.get(action, "stops"), Tone.FAULT
    elif action in _MISHAPS and turn.broker == replica:
        yield _MISHAPS[action], Tone.FAULT
    if after.is_up and not before.is_up:
        yield "starts again", Tone.PLAIN
    yield from _losses(story, before, after)
    if after.leads and (not before.leads or before.epoch != after.epoch):
        yield f"leads, epoch {after.epoch}", Tone.PLAIN
    new = [cell for cell in after.log if cell not in before.log]
    if new:
        yield " ".join(f"{cell} at {cell.offset}" for cell in new), Tone.PLAIN
    if None not in (before.high_watermark, after.high_watermark) and (
        before.high_watermark != after.high_watermark
    ):
        yield f"HW {before.high_watermark} → {after.high_watermark}", Tone.PLAIN
    elif after.is_up and not before.is_up:
        yield f"HW {after.high_watermark}", Tone.PLAIN
    if before.checkpoint != after.checkpoint and action != "DiskLoss":
        yield f"checkpoint {before.checkpoint} → {after.checkpoint}", Tone.PLAIN
    committed = turn.after.committed[len(turn.before.committed) :]
    if committed and turn.broker == replica:
        yield " ".join(f"m{record}" for record in committed) + " committed", Tone.PROMISE
    for parting in story.partings:
        if parting.step == step and replica == parting.replicas[1]:
            tone = Tone.LOSS if story.claim else Tone.FAULT
            yield f"parts from r{parting.replicas[0]} at {parting.offset}", tone


def _losses(story: Story, before: Lane, after: Lane) -> Iterator[tuple[str, Tone]]:
    kept = {cell.record for cell in after.log}
    gone = [cell.record for cell in before.log if cell.record not in kept]
    if not gone:
        return
    is_loss = any(record in story.doomed for record in gone)
    named = " ".join(f"m{record}" for record in gone)
    truncates = after.is_up and before.is_up
    yield f"{'truncates: ' if truncates else ''}{named} gone", Tone.LOSS if is_loss else Tone.PLAIN


def _log(story: Story, lane: Lane) -> tuple[Box, ...]:
    """Return a broker's log at the end, including missing records that should be there."""
    wrong = set(story.breaking.records) if lane.replica in story.breaking.brokers else set()
    boxes = {cell.offset: Box(str(cell), cell.record in wrong) for cell in lane.log}
    for lost in story.vanished_records(story.steps):
        if lost.copy.replica == lane.replica and lost.copy.offset not in boxes:
            boxes[lost.copy.offset] = Box(f"m{lost.fate.record} lost", is_lost=True)
    return tuple(boxes[offset] for offset in sorted(boxes))
