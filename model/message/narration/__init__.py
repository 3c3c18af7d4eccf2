"""How a person reads the protocol: each step as a sentence in Kafka's words, a state as a table.

Sentences are derived from the states before and after a step, so they say what happened and not
what a rule intended.
"""

from __future__ import annotations

from functools import partial

from model.core.state import State
from model.core.transition_system import Arguments, Narration
from model.message.narration import cluster_events, replication
from model.message.narration.tables import HEADER, LANES, rows, summary
from model.message.settings import Settings

_SENTENCES = {**replication.SENTENCES, **cluster_events.SENTENCES}


def sentence(
    settings: Settings, action: str, arguments: Arguments, before: State, after: State
) -> str:
    """What happened from `before` to `after`. Raises `KeyError` for an action it does not know."""
    return _SENTENCES[action](settings, before, after, *arguments)


def narration(settings: Settings) -> Narration:
    """The narration of a model with these settings."""
    return Narration(
        sentence=partial(sentence, settings),
        rows=rows,
        summary=summary,
        stands_still=(
            "no broker, no controller and no request in flight can make a step by itself"
        ),
    )


__all__ = ["HEADER", "LANES", "narration", "rows", "sentence", "summary"]
