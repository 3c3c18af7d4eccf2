"""Scala and Java as text: comments taken out, brackets counted, tokens compared.

It reads what Kafka is written in, and is no parser: strings, comments and brackets are understood,
expressions are not.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]')
_CHARACTER = re.compile(r"'(?:\\u[0-9a-fA-F]{4}|\\[0-7]{1,3}|\\.|[^'\\])'")
_OPENING, _CLOSING = "([{", ")]}"
_PLAIN = re.compile(r"""[^/"']+""")
_OUTSIDE_BRACKETS = re.compile(r"""[^"'()\[\]{}]+""")


def without_comments(text: str) -> str:
    """The text with every comment replaced by a blank; lines stay where they are."""
    kept = []
    at = 0
    while at < len(text):
        plain = _PLAIN.match(text, at)
        if plain:
            kept.append(plain[0])
            at = plain.end()
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = _comment_end(text, at)
            kept.append(" " + "\n" * text.count("\n", at, end))
            at = end
        else:
            end = literal_end(text, at) or at + 1
            kept.append(text[at:end])
            at = end
    return "".join(kept)


def _comment_end(text: str, at: int) -> int:
    """Scala's comments nest, and Java's never hold an opening one in Kafka."""
    end = text.find("*/", at + 2)
    return len(text) if end < 0 else end + 2


def literal_end(text: str, at: int) -> int:
    """Where the string or character that begins at `at` ends; 0 where none begins there."""
    if text.startswith('"""', at):
        end = text.find('"""', at + 3)
        if end < 0:
            return len(text)
        # A string may end in quotes of its own: the last three count.
        while text.startswith('"', end + 3):
            end += 1
        return end + 3
    if text[at] == "'":
        matched = _CHARACTER.match(text, at)
        return matched.end() if matched else 0
    return _string_end(text, at) if text[at] == '"' else 0


def _string_end(text: str, at: int) -> int:
    """Scala's s"..${f("a")}.." holds code, and that holds strings of its own."""
    is_interpolated = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
    i = at + 1
    while i < len(text) and text[i] not in '"\n':
        if text[i] == "\\":
            i += 2
        elif is_interpolated and text.startswith("${", i):
            i = closing(text, i + 1) + 1
        else:
            i += 1
    return min(i + 1, len(text))


def closing(text: str, at: int) -> int:
    """Where the bracket that opens at `at` is closed; the end of the text if nowhere."""
    depth = 0
    i = at
    while i < len(text):
        plain = _OUTSIDE_BRACKETS.match(text, i)
        end = plain.end() if plain else literal_end(text, i)
        if end:
            i = end
            continue
        depth += (text[i] in _OPENING) - (text[i] in _CLOSING)
        if depth == 0:
            return i
        i += 1
    return len(text)


def tokens(text: str) -> list[str]:
    """What a text without comments consists of, whatever its white space."""
    return _TOKEN.findall(text)


def lines(text: str) -> list[str]:
    """Its lines, without those that are empty, and without what ends them."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]
