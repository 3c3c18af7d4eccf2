"""Lanes of a cluster: one per broker, the controller, messages in flight.

A pure function from a story and a place in it to lines of text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap

from rich.text import Text
from textual.geometry import Size

from waterline.checker.kafka.narrative.cluster import (
    CONTROLLER,
    DIFFERENT_MARK,
    Cell,
    Cluster,
    Fact,
    Flight,
    Lane,
    broker,
    compare_facts,
    facts_of_controller,
    facts_of_leader,
    facts_on_disk,
)
from waterline.checker.kafka.narrative.story import Story
from waterline.checker.report.viewer.look import (
    CHANGED,
    CHANGED_MARK,
    DIFFERENT,
    DOOMED,
    DOOMED_MARK,
    GONE,
    GONE_MARK,
    QUIET,
    TITLE,
    actor_style,
)

EDGE = "│"
GONE_EDGE = "┊"
ARROW = "▲"
_SPARE = 4
"""Columns added to a cell where there is room."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """Where an offset is drawn: the same column for every broker.

    `first` is the least offset shown, `cells` how many there are, each `width` columns wide with
    its edge; the logs begin at column `left`.
    """

    left: int
    width: int
    first: int
    cells: int

    def column(self, offset: int) -> int:
        """The column of the edge that the cell of this offset begins with."""
        return self.left + (offset - self.first) * self.width

    def shows(self, offset: int) -> bool:
        """True if there is room for it."""
        return self.first <= offset < self.first + self.cells


@dataclass(frozen=True, slots=True)
class Marked:
    """Cells to mark: records that will be lost, offsets where logs differ, and, by offset, cells
    gone from this log.
    """

    doomed: Collection[int]
    different: Collection[int]
    gone: Mapping[int, Cell]


def ruler(longest: int, last: int, widest: int, left: int, width: int) -> Ruler:
    """The ruler for a trace whose logs have up to `longest` records, on lines of `width` columns.

    `last` is the last offset that must be seen, where not all fit; `widest` are the columns of a
    record. Cells are wider where there is much room.
    """
    cell_width = widest + len(EDGE + DOOMED_MARK + CHANGED_MARK)
    end = longest + 1
    if (cell_width + _SPARE) * end + left < width:
        cell_width += _SPARE
    # One column is left for the last edge.
    fit = min(end, max(1, (width - left - 1) // cell_width))
    return Ruler(left, cell_width, min(max(0, last + 2 - fit), end - fit), fit)


def offsets(ruler: Ruler) -> Text:
    """The offsets above the cells."""
    line = Text("offset".ljust(ruler.left), QUIET)
    for offset in range(ruler.first, ruler.first + ruler.cells):
        line.append(f" {offset}".ljust(ruler.width), QUIET)
    if ruler.first:
        line.append(f"(0 to {ruler.first - 1} not shown)", QUIET)
    line.rstrip()
    return line


def log_row(
    ruler: Ruler,
    lane: Lane,
    was: Lane | None,
    marked: Marked,
) -> Text:
    """The cells of a log."""
    old = {cell.offset: cell.record for cell in was.log} if was else None
    line = Text(" " * ruler.left)
    for offset in range(ruler.first, ruler.first + ruler.cells):
        cell = lane.log[offset] if offset < lane.leo else None
        ghost = marked.gone.get(offset)
        if cell is not None:
            _append_cell(line, ruler, cell, marked, old, is_shown=_is_shown(lane, offset))
        elif ghost is not None:
            gone = f"{GONE_MARK}{ghost}"
            is_new = old is not None and old.get(offset) == ghost.record
            line.append(EDGE if offset == lane.leo else GONE_EDGE, QUIET)
            line.append(gone, GONE)
            mark = CHANGED_MARK if is_new else ""
            line.append(mark.ljust(ruler.width - len(EDGE) - len(gone)), CHANGED)
        else:
            line.append((EDGE if offset == lane.leo else " ").ljust(ruler.width), QUIET)
    if lane.leo == ruler.first + ruler.cells:
        line.append(EDGE, QUIET)
    line.rstrip()
    return line


def frame(ruler: Ruler, lane: Lane, *, is_top: bool) -> Text:
    """The line above, or below, the cells of a log."""
    shown = max(0, min(lane.leo - ruler.first, ruler.cells))
    first, middle, last = "┌┬┐" if is_top else "└┴┘"
    line = Text(" " * ruler.left)
    if shown:
        edges = [first, *[middle] * (shown - 1)]
        line.append("".join(edge + "─" * (ruler.width - 1) for edge in edges) + last, QUIET)
    return line


def _is_shown(lane: Lane, offset: int) -> bool:
    """True if a consumer may see it: it is below the broker's HW."""
    return lane.high_watermark is not None and offset < lane.high_watermark


def _append_cell(
    line: Text,
    ruler: Ruler,
    cell: Cell,
    marked: Marked,
    old: Mapping[int, int] | None,
    *,
    is_shown: bool,
) -> None:
    is_changed = old is not None and old.get(cell.offset) != cell.record
    flag, style = " ", CHANGED if is_changed else "" if is_shown else QUIET
    if cell.record in marked.doomed:
        flag, style = DOOMED_MARK, DOOMED
    elif cell.offset in marked.different:
        flag, style = DIFFERENT_MARK, DIFFERENT
    line.append(EDGE, QUIET)
    described = f"{flag}{cell}"
    line.append(described, style)
    mark = CHANGED_MARK if is_changed else ""
    line.append(mark.ljust(ruler.width - len(EDGE) - len(described)), CHANGED)


def marks_row(ruler: Ruler, lane: Lane, was: Lane | None) -> Text:
    """Where HW and LEO are, each at the edge that it stands at."""
    at: dict[int, list[tuple[str, bool]]] = {}
    hw, old_hw = lane.high_watermark, was.high_watermark if was else lane.high_watermark
    if hw is not None:
        at.setdefault(hw, []).append(("HW", hw != old_hw))
    at.setdefault(lane.leo, []).append(("LEO", was is not None and lane.leo != was.leo))
    line = Text()
    for offset, names in sorted(at.items()):
        column = ruler.column(max(offset, ruler.first))
        line.append(" " * max(0, column - line.cell_len))
        beyond = "" if offset >= ruler.first else "<"
        changed = any(is_changed for _, is_changed in names)
        described = "=".join(name for name, _ in names) + (CHANGED_MARK if changed else "")
        line.append(f"{ARROW}{beyond}{described}", CHANGED if changed else QUIET)
    return line


_LEFT = 4
_ROWS, _TALL_ROWS = 4, 7
"""Lines of one lane, and where there is much room."""
_ROWS_BESIDE = 8
"""Lines that are not lanes, as a rule."""
_CHANNEL = 3
"""Columns that one arrow between lanes takes."""
_CHANNELS_MAX = 4
LEGEND = f"* changed  ! will be missing  {GONE_MARK} gone  {DIFFERENT_MARK} differs"
_LABEL = 14
"""Columns for a label below the lanes."""
_ROLE = 20
"""Columns for what a broker does."""


def picture(story: Story, state: int, size: Size) -> list[Text]:
    """The cluster after `state` steps, as wide as `size`; what the last step changed is marked.

    It may be higher. Where there is room, logs have frames.
    """
    cluster = story.cluster(state)
    assert cluster is not None, "only Kafka's states are clusters"
    was = story.cluster(state - 1) if state else None
    ghosts = [_ghosts(story, state, lane) for lane in cluster.lanes]
    flights = cluster.flights[:_CHANNELS_MAX]
    width, height = size
    rows = _ROWS
    if height >= _TALL_ROWS * len(cluster.lanes) + _ROWS_BESIDE:
        rows = _TALL_ROWS
    room = width - _CHANNEL * len(flights)
    last = max((cell.offset for lane in cluster.lanes for cell in lane.log), default=0)
    last = max([last, *(offset for gone in ghosts for offset in gone)])
    scale = ruler(story.longest_log, last, _cell_width(story), _LEFT, room)
    different = _different(cluster)
    doomed = story.doomed_after(state)
    lines = [offsets(scale)]
    for lane, gone in zip(cluster.lanes, ghosts, strict=True):
        old = was.lanes[lane.replica] if was else None
        log = _log(story, state, lane, log_row(scale, lane, old, Marked(doomed, different, gone)))
        marks = marks_row(scale, lane, old)
        if rows == _TALL_ROWS:
            above, below = (frame(scale, lane, is_top=is_top) for is_top in (True, False))
            lines += [_title(cluster, lane, old), above, log, below, marks]
            lines += [_details(cluster, was, lane.replica), Text()]
        else:
            lines += [_title(cluster, lane, old), log, marks, _details(cluster, was, lane.replica)]
    for channel, flight in enumerate(flights):
        _draw_arrow(lines, flight, room + channel * _CHANNEL, rows, _names(cluster))
    lines += [
        Text(),
        *_control(cluster, was, width),
        *_in_flight(cluster),
        *_describe(cluster, was, width),
    ]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return lines


def _cell_width(story: Story) -> int:
    """Columns for a record and its epoch, the same in all of the trace."""
    sizes = story.model.layout.sizes
    return len(str(Cell(0, sizes["records"], sizes["epochs"])))


def _different(cluster: Cluster) -> frozenset[int]:
    """Return the offsets where two logs have different records."""
    by_offset: dict[int, set[int]] = {}
    for lane in cluster.lanes:
        for cell in lane.log:
            by_offset.setdefault(cell.offset, set()).add(cell.record)
    return frozenset(offset for offset, records in by_offset.items() if len(records) > 1)


def _ghosts(story: Story, state: int, lane: Lane) -> dict[int, Cell]:
    """Return cells gone from a log, or missing there where the claim breaks, by offset."""
    gone = {
        each.copy.offset: Cell(each.copy.offset, each.fate.record, _epoch(story, each.fate.record))
        for each in story.vanished_records(state)
        if each.copy.replica == lane.replica
    }
    breaking = story.breaking
    if state == story.steps and lane.replica in breaking.brokers:
        for record in breaking.records:
            fate = story.doomed.get(record)
            if fate is not None and all(cell.record != record for cell in lane.log):
                gone.setdefault(fate.offset, Cell(fate.offset, record, _epoch(story, record)))
    return gone


def _epoch(story: Story, record: int) -> int:
    """Return the leader epoch that wrote a record, from the state where it was written."""
    fate = story.doomed[record]
    cluster = story.cluster(fate.written)
    assert cluster is not None
    return next(cell.epoch for lane in cluster.lanes for cell in lane.log if cell.record == record)


def _title(cluster: Cluster, lane: Lane, was: Lane | None) -> Text:
    """`r0  leader e0`, and what of it is on disk."""
    name = broker(lane.replica)
    line = Text().append(name.ljust(_LEFT), f"bold {actor_style(name, _names(cluster))}")
    style = TITLE if lane.leads else "" if lane.is_up else QUIET
    is_new = was is not None and lane.role != was.role
    line.append_text(_mark(lane.role, style, is_changed=is_new))
    if lane.leads and cluster.control.leader != lane.replica:
        line.append(" (deposed)", QUIET)
    line.append(" " * max(2, _LEFT + _ROLE - line.cell_len))
    on_disk = compare_facts(facts_on_disk(lane), facts_on_disk(was) if was else None)
    return line.append_text(_describe_facts(on_disk))


def _log(story: Story, state: int, lane: Lane, row: Text) -> Text:
    """The cells, and where the claim breaks that it does."""
    if state == story.steps and lane.replica in story.breaking.brokers:
        row.append("  <- breaks here", DOOMED)
    return row


def _names(cluster: Cluster) -> list[str]:
    return [broker(lane.replica) for lane in cluster.lanes]


def _details(cluster: Cluster, was: Cluster | None, replica: int) -> Text:
    """Render a leader's knowledge of the others; followers have none."""
    old = facts_of_leader(was, was.lanes[replica]) if was else None
    known = compare_facts(facts_of_leader(cluster, cluster.lanes[replica]), old)
    return Text(" " * _LEFT).append_text(_describe_facts(known))


def _describe_facts(facts: Iterable[Fact]) -> Text:
    line = Text()
    for fact in facts:
        line.append(f"{'  ' if line else ''}{fact.label} ", QUIET)
        line.append_text(_mark(fact.value, is_changed=fact.is_changed))
    return line


def _mark(value: str, style: str = "", *, is_changed: bool) -> Text:
    """A value, with colour and mark where the step changed it."""
    return Text(f"{value}{CHANGED_MARK}", CHANGED) if is_changed else Text(value, style)


def _draw_arrow(
    lines: list[Text], flight: Flight, column: int, rows: int, names: list[str]
) -> None:
    """An arrow in its own column, from the sender's lane to the receiver's."""
    start, end = 1 + rows * flight.sender, 1 + rows * flight.receiver
    down = end > start
    style = actor_style(broker(flight.sender), names)
    for row in range(min(start, end), max(start, end) + 1):
        body = "┆" if flight.is_old or flight.is_answer else "│"
        if row == start:
            body = "╮" if down else "╯"
        elif row == end:
            body = "▼" if down else "▲"
        line = lines[row]
        line.truncate(column)
        line.append(" " * (column - line.cell_len))
        line.append(f" {body} " if row != start else f"─{body} ", style)


def _in_flight(cluster: Cluster) -> Iterator[Text]:
    names = _names(cluster)
    for flight in cluster.flights:
        sender, receiver = broker(flight.sender), broker(flight.receiver)
        line = Text().append("In flight".ljust(_LABEL), QUIET)
        line.append(sender, actor_style(sender, names))
        line.append(" ┄> " if flight.is_answer or flight.is_old else " ─> ", QUIET)
        line.append(receiver, actor_style(receiver, names))
        yield line.append(f"  {flight.words}")


def _control(cluster: Cluster, was: Cluster | None, width: int) -> Iterator[Text]:
    """Yield the controller's decisions, on as many lines as they need."""
    line = Text().append("Controller".ljust(_LABEL), actor_style(CONTROLLER, ()))
    old = facts_of_controller(was.control) if was else None
    for fact in compare_facts(facts_of_controller(cluster.control), old, absent="{}"):
        decided = Text().append(f"{fact.label} ", QUIET)
        decided.append_text(_mark(fact.value, is_changed=fact.is_changed))
        if line.cell_len + decided.cell_len > width:
            yield line
            line = Text(" " * _LABEL)
        line.append_text(decided).append("  ")
    yield line


def _describe(cluster: Cluster, was: Cluster | None, width: int) -> Iterator[Text]:
    """Yield the promises, then all facts that have no place in the picture."""
    for fact in compare_facts(_rest(cluster), _rest(was) if was else None, absent="none"):
        mark = CHANGED_MARK if fact.is_changed else ""
        for number, piece in enumerate(wrap(fact.value + mark, max(1, width - _LABEL))):
            line = Text().append("" if number else fact.label, QUIET)
            line.append(" " * (_LABEL - line.cell_len))
            yield line.append(piece, CHANGED if mark else "")


def _rest(cluster: Cluster) -> Iterator[tuple[str, str]]:
    acknowledged = set(cluster.acknowledged)
    both = [r for r in cluster.committed if r in acknowledged]
    if both:
        yield "Promised", " ".join(f"m{r}" for r in both) + " committed and acknowledged"
    for label, promised in (
        ("Committed", [r for r in cluster.committed if r not in acknowledged]),
        ("Acknowledged", [r for r in cluster.acknowledged if r not in cluster.committed]),
    ):
        if promised:
            yield label, " ".join(f"m{r}" for r in promised)
    yield from cluster.rest
