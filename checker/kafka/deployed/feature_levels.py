"""Levels of metadata.version as releases: the admin API has numbers, settings have names.

From `MetadataVersion.values()` of 4.4.0, and of 3.9.1 for the levels that 4.0 took out.
"""

from __future__ import annotations

_LEVELS = (
    *("3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0"),
    *("3.5-IV0", "3.5-IV1", "3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1"),
    *("3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0", "3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2"),
    *("4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0", "4.4-IV0", "4.4-IV1"),
    "4.4-IV2",
)
"""Names of the levels, from level 1 on."""


def metadata_version(level: int) -> str | None:
    """`4.1-IV1` for 27; None for a level that is not known here."""
    return _LEVELS[level - 1] if 1 <= level <= len(_LEVELS) else None
