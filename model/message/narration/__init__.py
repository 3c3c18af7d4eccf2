"""Description of the protocol for people: each step as a sentence, a state as a table.

The words are Kafka's, or Fluss's if the rules are.

Sentences are derived from the states before and after a step, so they say what happened and not
what a rule intended.
"""

from __future__ import annotations

from functools import partial

from waterline.model.core.state import State
from waterline.model.core.transition_system import Arguments, Narration
from waterline.model.message.features import COORDINATOR, has
from waterline.model.message.fluss import in_words_of_fluss
from waterline.model.message.narration import cluster_events, replication
from waterline.model.message.narration.tables import HEADER, LANES, rows, summary
from waterline.model.message.settings import Settings

_SENTENCES = {**replication.SENTENCES, **cluster_events.SENTENCES}
_STANDS_STILL = "no broker, no controller and no request in flight can make a step by itself"


def sentence(
    settings: Settings, action: str, arguments: Arguments, before: State, after: State
) -> str:
    """Describe the step from `before` to `after`. Raises `KeyError` for an unknown action."""
    text = _SENTENCES[action](settings, before, after, *arguments)
    return in_words_of_fluss(text) if has(settings, COORDINATOR) else text


def narration(settings: Settings) -> Narration:
    """The narration of a model with these settings."""
    return Narration(
        sentence=partial(sentence, settings),
        rows=rows,
        summary=summary,
        stands_still=in_words_of_fluss(_STANDS_STILL)
        if has(settings, COORDINATOR)
        else _STANDS_STILL,
    )


__all__ = ["HEADER", "LANES", "narration", "rows", "sentence", "summary"]
