"""The answer of `explain-logs --windows` on the screen: the verdict, each window, one timeline."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.traces.cause_lines import cause_lines
from waterline.checker.cli.traces.incident_lanes import Lanes
from waterline.checker.cli.traces.incident_lines import evidence_lines, step_lines
from waterline.checker.kafka.logs.chain import Chain
from waterline.checker.kafka.logs.chain_answer import ChainAnswer, events_of
from waterline.checker.kafka.logs.window_search import Explored
from waterline.checker.kafka.logs.windows import Span
from waterline.checker.problem.wording import quantity
from waterline.counterexamples.style import BAD, QUIET, TITLE

_REFUSALS_SHOWN = 3


def code_of_chain(found: ChainAnswer) -> int:
    """The exit code of an answer."""
    if found.evidence.at_risk or found.fits == {True}:
        return exit_codes.VIOLATED
    return exit_codes.HOLDS if found.fits else exit_codes.INCOMPLETE


def chain_lines(found: ChainAnswer, name: str) -> Iterator[RenderableType]:
    """The answer, part by part: the verdict first."""
    whole = found.shown.whole
    brokers = ", ".join(f"{b} (r{r})" for r, b in enumerate(whole.brokers))
    yield Text(
        f"Partition {found.partition}, Kafka {name}, brokers {brokers}; leader epochs "
        f"{whole.first_epoch} to {whole.last_epoch}; {whole.lines} lines to fit, in windows.\n"
    )
    yield _verdict(found)
    yield from cause_lines(found.causes, is_certain=False)
    yield from evidence_lines(found.evidence, acks="")
    for explored in found.shown.explored:
        yield from _window(explored, found.shown)
    events = [event for _, each in events_of(found.shown) for event in each]
    if events:
        yield Text("\nWhat the brokers wrote, in an order in which it can have happened:", TITLE)
        yield Lanes(events, whole.brokers)
        yield Text(
            "In brackets, and of the controller where no file stands: what no line says.", QUIET
        )
    for piece, steps in events_of(found.shown):
        yield Text(f"\n{_epochs(found.shown, piece.window.span)}:", TITLE)
        yield from step_lines(steps)
    yield Text(
        f"\n{sum(each.states for each in found.shown.explored):,} states, {found.seconds:.0f} s. "
        f"Assumed: when epoch {whole.first_epoch} begins, offsets below {whole.offsets[0]} are the "
        "same everywhere, and all are in sync.\nWhat fits could have written these lines; that it "
        "did is not shown. A record can be lost without a line that tells of it.",
        QUIET,
    )


def _verdict(found: ChainAnswer) -> Text:
    if found.fits == {True}:
        return Text("A behaviour of all windows fits; it loses an acknowledged record.", BAD)
    if True in found.fits:
        return Text("A behaviour of all windows fits that loses none, and one that loses one.", BAD)
    if found.fits:
        return Text(
            "A behaviour of all windows fits that loses no acknowledged record; whether one loses "
            "is open."
        )
    behind = f"at most {found.shown.lines} of {found.shown.whole.lines} lines."
    if found.nothing_fits:
        return Text(f"Nothing fits within the bounds of the windows: {behind}", BAD)
    return Text(f"Open: no behaviour of all windows was found; {behind}", BAD)


def _epochs(chain: Chain, span: Span) -> str:
    first = chain.whole.first_epoch
    low, high = first + span.first, first + span.last
    return f"Epoch {low}" if low == high else f"Epochs {low} to {high}"


def _window(explored: Explored, chain: Chain) -> Iterator[Text]:
    window = explored.window
    until = ", in part" if window.span.decisions is not None else ""
    what = "fits" if explored.ends else "no way through was found"
    yield Text(
        f"{_epochs(chain, window.span)}{until}: {what}; "
        f"{quantity(explored.starts, 'state')} to begin with, {len(explored.ends):,} to go on "
        f"with, {explored.states:,} looked at, {explored.seconds:.0f} s; "
        f"{quantity(window.environment.records, 'record')}."
    )
    for why, times in explored.left_out.most_common():
        yield Text(f"  left out: {why} ({times} times)", QUIET)
    if not explored.ends:
        for refused, times in explored.refusals.most_common(_REFUSALS_SHOWN):
            line = chain.whole.sources[refused.replica][refused.line]
            yield Text(f"  next at {line.place}: {refused.reason} ({times} times)")
