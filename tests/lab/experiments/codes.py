"""Error codes by their names."""

from __future__ import annotations

from waterline.checker.kafka.confirm.wire import error_name


def code_of(name: str) -> int:
    """Return the code that is shown by this name."""
    return next(code for code in range(-1, 200) if error_name(code) == name)
