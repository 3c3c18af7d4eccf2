"""Sequence diagram of a Kafka trace: its messages, derived from the trace's states.

A fetch leaves in one step, is handled in another, and its answer arrives in a third; between them
something else happens. All else is a step of its own: it is sent and arrives at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from waterline.checker.kafka.narrative.cluster import Cluster, Flight, Lane
from waterline.checker.kafka.narrative.story import Story
from waterline.checker.report.pages.sequence import Box, Message, Note, Sequence, Tone, spans
from waterline.counterexamples import Moment
from waterline.model.message.epochs import latest_epoch
from waterline.model.message.terms import GRANTED, NO_EPOCH, UNKNOWN_OFFSET
from waterline.model.message.truncation import end_offset_for

HELD = (", parked", ", checked")
"""How the words end of a fetch that has arrived and is not answered yet."""
_TAKES_UP = frozenset({"Learn", "LearnLate", "BecomeLeader", "BecomeFollower"})
_RECEIVES = frozenset({"RecvFetch", "RecvOutOfRange", "RecvDiverging"})
_HANDLES = frozenset({"LeaderFetch", "CheckFetch", "WakeParked"})


Key = tuple[bool, int]
"""A fetch: whether it has outlived its sender, and whose it is."""

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


@dataclass(frozen=True, slots=True)
class Turn:
    """One step with the clusters around it, and the lanes of clients and controller."""

    moment: Moment
    actor: str
    before: Cluster
    after: Cluster
    clients: int
    controller: int

    @property
    def step(self) -> int:
        """Its number."""
        return self.moment.number

    @property
    def broker(self) -> int | None:
        """The number of the broker whose step it is, if it is one's."""
        return int(self.actor[1:]) if self.actor[:1] == "r" and self.actor[1:].isdigit() else None

    def send(self, sender: int, receiver: int, words: str, *, is_answer: bool = False) -> Message:
        """A message that arrives in the same step."""
        return Message(sender, receiver, words, self.step, self.step, is_answer=is_answer)


def turns_of(story: Story, clients: int, controller: int) -> list[Turn]:
    """The steps of a story of Kafka's, each cluster made once."""
    clusters = [story.cluster(state) for state in range(story.steps + 1)]
    turns = []
    for moment in story.replayed.moments:
        before, after = clusters[moment.number - 1], clusters[moment.number]
        assert before is not None
        assert after is not None
        turns.append(Turn(moment, story.actor(moment.number), before, after, clients, controller))
    return turns


def messages_of(story: Story, turns: Iterable[Turn]) -> list[Message]:
    """Every message of the story, in the order of sending; a broker's lane is its number."""
    found: list[Message] = []
    flying: dict[Key, Message] = {}
    for turn in turns:
        found += _fetches(turn, flying)
        found += _at_once(story, turn)
        found += _acknowledgements(turn)
    return sorted([*found, *flying.values()], key=lambda message: message.sent)


def _fetches(turn: Turn, flying: dict[Key, Message]) -> Iterator[Message]:
    """Messages that end in this step. Those on their way are in `flying`, which is kept up."""
    was, now = _slots(turn.before), _slots(turn.after)
    for key in sorted({*was, *now}):
        old, new = was.get(key), now.get(key)
        if old == new or (key[0] and old is None and key in flying):
            continue
        if old is not None and new is not None and old.is_answer and new.is_answer:
            # The same answer, which says something else by now.
            flying[key] = replace(flying.pop(key, _message(new, turn.step)), words=new.words)
            continue
        outlived = (True, key[1])
        if not key[0] and new is None and outlived in now and outlived not in was:
            flying[outlived] = flying.pop(key, _message(now[outlived], turn.step))
            continue
        message = flying.pop(key, None)
        if message is not None and old is not None:
            comes = _arrives(turn, key, old)
            step = turn.step
            yield replace(message, arrived=step) if comes else replace(message, lost=step)
        if new is not None and not new.words.endswith(HELD):
            flying[key] = _message(new, turn.step)


def _slots(cluster: Cluster) -> dict[Key, Flight]:
    return {
        (flight.is_old, flight.receiver if flight.is_answer else flight.sender): flight
        for flight in cluster.flights
    }


def _message(flight: Flight, step: int) -> Message:
    return Message(flight.sender, flight.receiver, flight.words, step, is_answer=flight.is_answer)


def _arrives(turn: Turn, key: Key, flight: Flight) -> bool:
    """True if this step delivers the message."""
    action = turn.moment.action
    if key[0]:
        return action == "StrayFetch"
    if dict(turn.moment.arguments).get("follower") != key[1]:
        return False
    if flight.is_answer:
        return action in _RECEIVES
    return action in _HANDLES and turn.before.lanes[flight.receiver].is_up


def _at_once(story: Story, turn: Turn) -> Iterator[Message]:
    """Yield the messages that are sent and arrive in this step, except acknowledgements."""
    action, broker, controller = turn.moment.action, turn.broker, turn.controller
    leader = dict(turn.moment.arguments).get("leader", broker)
    if action == "Produce" and leader is not None:
        yield turn.send(turn.clients, leader, f"m{turn.after.lanes[leader].log[-1].record}")
    elif action == "Consume" and leader is not None:
        yield turn.send(leader, turn.clients, f"read m{turn.moment.after.last_consumed}")
    elif action in _TAKES_UP and broker is not None:
        yield turn.send(controller, broker, _leadership(turn, broker))
    elif action == "HearAnswer" and leader is not None:
        text = "granted" if turn.moment.before.answer[leader] == GRANTED else "refused"
        asked = turn.before.lanes[leader].asked_isr or ()
        yield turn.send(controller, leader, f"ISR {replica_set(asked)} {text}", is_answer=True)
    elif action == "OffsetForLeaderEpoch":
        yield from _question(story, turn)
    elif action == "BeginShutdown" and broker is not None:
        yield turn.send(broker, controller, "shuts down")
    elif broker is not None and _registers(turn):
        yield turn.send(broker, controller, "registers")
    elif leader is not None and (
        action == "AlterPartition" or turn.before.control.isr != turn.after.control.isr
    ):
        asked = turn.before.lanes[leader].asked_isr or turn.after.control.isr
        yield turn.send(leader, controller, f"ISR {replica_set(asked)}")


def _registers(turn: Turn) -> bool:
    noticed = turn.before.control.fenced != turn.after.control.fenced
    return turn.moment.action == "Register" or (turn.moment.action == "Restart" and noticed)


def _leadership(turn: Turn, replica: int) -> str:
    """Return the controller's message to a replica: the leader and its epoch."""
    lane, after = turn.after.lanes[replica], turn.moment.after
    if lane.epoch is None or lane.epoch < 0:
        return "no replica any more"
    if lane.leads:
        leader = replica
    elif "request_leader" in after.layout.places:
        leader = after.request_leader[lane.epoch]
    else:
        leader = after.known_leader[replica]
    # A follower that nobody leads has itself for a leader.
    who = "nobody" if leader == replica and not lane.leads else f"r{leader}"
    return f"{who} leads, epoch {lane.epoch}"


def _question(story: Story, turn: Turn) -> Iterator[Message]:
    """A follower asks where its last epoch ends."""
    follower = dict(turn.moment.arguments)["follower"]
    settings, before = story.model.settings, turn.moment.before
    leader, epoch = before.known_leader[follower], latest_epoch(before, settings, follower)
    meant, end = end_offset_for(before, settings, leader, epoch)
    asked = "no epoch" if epoch == NO_EPOCH else f"epoch {epoch}"
    yield turn.send(follower, leader, f"end of {asked}?")
    answer = f"at {end}" if meant == epoch else f"epoch {meant} ends at {end}"
    if end == UNKNOWN_OFFSET:
        answer = "undefined"
    yield turn.send(leader, follower, answer, is_answer=True)


def _acknowledgements(turn: Turn) -> Iterator[Message]:
    for record in turn.after.acknowledged:
        if record not in turn.before.acknowledged:
            waits = (lane.replica for lane in turn.before.lanes if record in lane.unanswered)
            leader = next(waits, turn.broker)
            if leader is not None:
                words = f"m{record} acknowledged"
                yield turn.send(leader, turn.clients, words, is_answer=True)


def replica_set(replicas: tuple[int, ...]) -> str:
    """`{r0, r2}`"""
    return "{" + ", ".join(f"r{replica}" for replica in replicas) + "}"


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
