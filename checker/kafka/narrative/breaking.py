"""Location of a violation, by the claim's own `where`, or by the words that explain it."""

from __future__ import annotations

import re
from typing import Any

from waterline.invariants.breaking import Breaking
from waterline.model.core.claim import ActionProperty, Claim
from waterline.model.core.state import State


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
