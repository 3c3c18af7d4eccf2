"""Arguments of LLVM functions: how a value is declared as a parameter, and how it is passed.

A value that is known at compile time is not passed.
"""

from __future__ import annotations

from waterline.checker.compiler.emitter import Writer
from waterline.checker.compiler.values import (
    ArrayValue,
    Number,
    SettingsValue,
    StateValue,
    Value,
    as_argument,
)


def declaration(value: Value) -> str:
    """A parameter as it is declared; empty for what is known while compiling."""
    match value:
        case Number(text=text) if not value.is_constant:
            return f"i64 {text}"
        case StateValue(pointer=pointer) | ArrayValue(pointer=pointer):
            return f"ptr {pointer}"
        case SettingsValue(pointer=pointer) if pointer:
            return f"ptr {pointer}"
    return ""


def pass_argument(writer: Writer, value: Value) -> str:
    """An argument as it is passed."""
    if isinstance(value, Number):
        value = as_argument(value)
        return "" if value.is_constant else f"i64 {writer.as_word(value)}"
    return declaration(value)
