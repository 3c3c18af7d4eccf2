"""Rich renderables of an interactive walk."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from waterline.checker.user_models.interactive.walk import Offer, Walk
from waterline.counterexamples.rendering import CALL, Trimmed
from waterline.counterexamples.state_table import facts, state_table, widths_of
from waterline.counterexamples.style import BAD, QUIET, columns
from waterline.model.core.state import as_dict

FAULT_MARK = "!"


def render_here(walk: Walk) -> RenderableType:
    """The state, with what the last step changed, and what is so of the condition."""
    number = len(walk.moments)
    title = Text(f"After step {number}" if number else "Initial state", "bold")
    if number == 0 and len(walk.model.initial) > 1:
        title.append(f" {walk.initial} of {len(walk.model.initial)}", QUIET)
    before = walk.moments[-1].before if walk.moments else None
    if before is not None:
        title.append("   * changed in this step", QUIET)
    narration = walk.model.narration
    states = (walk.state,) if before is None else (before, walk.state)
    table = state_table(narration, before, walk.state, widths_of(narration, states))
    parts: list[RenderableType] = [title, *([table] if table.rows else [])]
    parts.append(facts(narration, before, walk.state))
    if walk.where is not None:
        parts.append(render_where(walk))
    return Trimmed(Group(*parts))


def render_where(walk: Walk) -> Text:
    """Whether the condition is true here."""
    assert walk.where is not None
    so = walk.is_where()
    line = Text.assemble("where ", (walk.where.text, "bold"), ": ")
    line.append("true" if so else "not true", BAD if so else "")
    values = walk.where.values(walk.state)
    return line.append(f" ({values})" if values else "", QUIET)


def render_offers(walk: Walk) -> RenderableType:
    """Every step that can be taken, by number, and how many a bound cuts."""
    offers = walk.offers()
    parts: list[RenderableType] = [Text("Enabled" if offers else "Nothing is enabled", "bold")]
    if offers:
        parts.append(offers_table(list(enumerate(offers, start=1))))
    if cut := walk.cut():
        described = ", ".join(f"{name}: {count}" for name, count in cut.items())
        parts.append(Text(f"Cut by a bound: {described}", QUIET))
    return Trimmed(Group(*parts))


def offers_table(offers: Sequence[tuple[int, Offer]]) -> Table:
    """Number, whether it is a fault, the call, and what it would do."""
    table = columns(gap=1)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for number, offer in offers:
        mark = Text(FAULT_MARK if offer.is_fault else "", BAD)
        table.add_row(f"{number}.", mark, Text(str(offer.step), CALL), Text(offer.sentence))
    return table


def render_taken(walk: Walk, number: int) -> RenderableType:
    """Render one step that was taken, on a line."""
    moment = walk.moments[number - 1]
    described = walk.model.narration.sentence(
        moment.action, moment.values, moment.before, moment.after
    )
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(f"{number}.", Text.assemble((str(moment), CALL), "  ", described))
    return Trimmed(table)


def render_broken(name: str, explanation: str) -> Text:
    """A claim that breaks, and how."""
    return Text.assemble(("BROKEN ", BAD), (name, "bold"), f": {explanation}")


def render_claims(walk: Walk) -> RenderableType:
    """Every claim, and what is so of it here."""
    table = columns()
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    broken, first = walk.broken_claims(), walk.breaks()
    for claim in walk.claims:
        if claim.name not in broken:
            table.add_row(claim.name, Text("holds here", QUIET))
            continue
        since = "" if claim.name in first else " (not for the first time)"
        table.add_row(claim.name, Text.assemble(("BROKEN", BAD), f"{since} {broken[claim.name]}"))
    return Trimmed(table)


def render_state(walk: Walk) -> RenderableType:
    """Every field as it is kept, with what it means."""
    table = columns()
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", style=QUIET)
    docs = {field.name: field.doc for field in walk.model.layout.fields}
    typed = walk.model.narration.typed
    values = typed(walk.state) if typed is not None else as_dict(walk.state)
    for name, value in values.items():
        described = value if isinstance(value, str) else str(value).replace("None", "-")
        table.add_row(Text(f"s.{name}"), Text(described), Text(docs[name]))
    return Trimmed(table)
