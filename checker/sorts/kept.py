"""Kept sort checks: that the rules of a question are well sorted is found once, and kept.

The check is a function of its own sources, the declarations of a model, the functions that a search
calls, and what each look-up of a name led to: as the text of a program, whose key this shares
(`checker.compiler.text_key`). Violations are not kept.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from waterline.checker.compiler import cache
from waterline.checker.compiler.lookup_record import Found
from waterline.checker.compiler.sources import settled_digest
from waterline.checker.compiler.text_key import TextKey, key_of
from waterline.model.core.transition_system import Model

_SOURCES = ("checker/sorts",)
_WELL_SORTED = "well sorted"


def key_of_check(model: Model, roots: tuple[Any, ...]) -> TextKey | None:
    """The key of a check; None where it cannot be kept."""
    sources = settled_digest(_SOURCES)
    if sources is None:
        return None
    believed = tuple(each.where(model.settings) for each in model.trusted)
    settings = (model.settings._fields, tuple(map(int, model.settings)))
    made_of = (sources, model.layout, settings, model.trusted, believed, roots)
    key = key_of(_WELL_SORTED, *made_of)
    return key if key is not None and key.is_settled else None


def is_kept(key: TextKey) -> bool:
    """Whether the check found no violation, and all that it read reads the same."""
    content = cache.lookup(key.name)
    if content is None:
        return False
    # What is no record of a check counts as none, however it came there.
    with contextlib.suppress(ValueError, TypeError, IndexError, RecursionError):
        said, record = json.loads(content)
        return said == _WELL_SORTED and key.found_again(record) is not None
    return False


def keep(key: TextKey, found: Found) -> None:
    """Keep the absence of violations, with all look-ups that it depends on."""
    record = key.record(found)
    if record is not None:
        cache.keep(key.name, json.dumps([_WELL_SORTED, record]).encode())
