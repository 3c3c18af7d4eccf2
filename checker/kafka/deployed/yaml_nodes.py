"""YAML as nodes with positions: nothing in it is constructed, called or expanded.

Values stay the text that was written, so that `3.10` is not `3.1` and `"3.7"` is `3.7`. An alias is
another way to the same node, so that a small file cannot grow in memory; what is walked has limits
all the same.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from waterline.checker.kafka.deployed.deployment import BadConfig, Mistakes, Place
from waterline.checker.kafka.deployed.text_file import CONFIG_BYTES_MAX, File

DEPTH_MAX = 50
ALIASES_MAX = 200
NODES_MAX = 300_000
_MERGES_MAX = 20
_END_OF_DOCUMENT = re.compile(r"^(?=---(?:\s|$))", re.MULTILINE)
_TEMPLATE = re.compile(r"^[^#\n]*?(\{\{-?\s*[.$\w(]|\{%)", re.MULTILINE)
_MERGE = "<<"
_NULLS = ("", "~", "null", "Null", "NULL")


def parts(text: str) -> Iterator[tuple[int, str]]:
    """The text of each document, and how many lines are before it."""
    line = 0
    for part in _END_OF_DOCUMENT.split(text):
        yield line, part
        line += part.count("\n")


def root_of(file: File, line: int, text: str, mistakes: Mistakes) -> Node | None:
    """The root of a document, with as many lines before it; None of an empty one.

    Keys that stand twice are noted as mistakes. Raises `BadConfig`.
    """
    if len(text) > CONFIG_BYTES_MAX:
        raise BadConfig(
            f"{file.path}:{line + 1}: a document is larger than {CONFIG_BYTES_MAX:,} bytes; give "
            "its resources as documents of their own"
        )
    whole = "\n" * line + text
    try:
        _require_within_limits(file.path, whole)
        # Comments are of no interest, and the loader that keeps them is twice as slow.
        root: Node | None = YAML(typ="safe", pure=True).compose(io.StringIO(whole))
    except YAMLError as problem:
        raise _template(file, line, text) or BadConfig(_describe(file.path, problem)) from None
    except RecursionError:
        raise BadConfig(
            f"{file.path} is nested deeper than {DEPTH_MAX} levels; flatten it"
        ) from None
    if root is not None:
        _note_repeated(file, root, mistakes)
    return root


def _template(file: File, before: int, text: str) -> BadConfig | None:
    """Return the error for a template, if the text has template syntax outside its comments."""
    found = _TEMPLATE.search(text)
    if found is None:
        return None
    return _is_template(file, before + text.count("\n", 0, found.start(1)) + 1)


def _is_template(file: File, line: int) -> BadConfig:
    return BadConfig(
        f"{file.path}:{line}: it is a template, and no YAML before it is rendered: "
        "run `helm template`"
    )


def _note_repeated(file: File, root: Node, mistakes: Mistakes) -> None:
    """Each key that stands twice in one mapping. A `{{` outside of quotes is a mapping as well."""
    left, seen = [root], {id(root)}
    while left:
        node = left.pop()
        children = node.value if isinstance(node, SequenceNode) else []
        if isinstance(node, MappingNode):
            children = [child for pair in node.value for child in pair]
            first: dict[str, int] = {}
            for key, _ in node.value:
                line = key.start_mark.line + 1
                if isinstance(key, MappingNode) and key.flow_style:
                    raise _is_template(file, line)
                if not isinstance(key, ScalarNode):
                    continue
                before = first.get(key.value)
                if before is not None:
                    where = f"lines {before} and {line}" if before != line else "on this line"
                    mistakes.add(
                        f"{file.name}:{line}: {key.value} stands twice ({where}); YAML takes no "
                        "key twice: keep one"
                    )
                first.setdefault(key.value, line)
        left += [child for child in children if id(child) not in seen]
        seen.update(map(id, children))


def _require_within_limits(path: Path, text: str) -> None:
    depth = aliases = 0
    events = YAML(typ="safe", pure=True).parse(io.StringIO(text))
    for nodes, event in enumerate(events, start=1):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        aliases += isinstance(event, AliasEvent)
        for count, most, what in (
            (depth, DEPTH_MAX, "levels of nesting"),
            (aliases, ALIASES_MAX, "aliases"),
            (nodes, NODES_MAX, "nodes"),
        ):
            if count > most:
                raise BadConfig(
                    f"{path}:{event.start_mark.line + 1} has more than {most:,} {what}; "
                    "it is no custom resource of Kafka's"
                )


def _describe(path: Path, problem: YAMLError) -> str:
    mark = getattr(problem, "problem_mark", None)
    where = f"{path}:{mark.line + 1}" if mark is not None else str(path)
    reason = " ".join(str(getattr(problem, "problem", None) or problem).split())
    return f"{where}: it is no YAML: {reason}"


def scalar(node: Node | None) -> str | None:
    """The text of a scalar as it was written, without its quotes; None where there is none."""
    if not isinstance(node, ScalarNode):
        return None
    if node.style is None and node.value in _NULLS:
        return None
    return str(node.value)


def pairs(node: Node | None, *, merges: int = _MERGES_MAX) -> Iterator[tuple[str, Node, Node]]:
    """Each key of a mapping, the node of the key, and that of its value; merged ones last."""
    if not isinstance(node, MappingNode) or merges == 0:
        return
    own = set()
    for key, value in node.value:
        text = scalar(key)
        if text is not None and text != _MERGE:
            own.add(text)
            yield text, key, value
    for key, value in node.value:
        if scalar(key) == _MERGE:
            merged = value.value if isinstance(value, SequenceNode) else [value]
            for one in merged:
                for found in pairs(one, merges=merges - 1):
                    if found[0] not in own:
                        own.add(found[0])
                        yield found


def at(node: Node | None, *keys: str) -> Node | None:
    """The node under these keys, one below the other; None where there is none."""
    for key in keys:
        node = next((value for name, _, value in pairs(node) if name == key), None)
    return node


def text_at(node: Node | None, *keys: str) -> str:
    """The text of the scalar there; empty where there is none."""
    return scalar(at(node, *keys)) or ""


def items(node: Node | None) -> list[Node]:
    """Return the elements of a sequence, none for another node."""
    return list(node.value) if isinstance(node, SequenceNode) else []


def line_of(node: Node) -> int:
    """The line on which a node begins, from 1; of a block of text that of its first line."""
    is_block = isinstance(node, ScalarNode) and node.style in ("|", ">")
    return int(node.start_mark.line) + 1 + is_block


def place_of(file: File, node: Node) -> Place:
    """Return the place where a node begins."""
    return file.place(node.start_mark.line + 1, node.start_mark.column + 1)


def is_mapping(node: Node | None) -> bool:
    """True if it has keys."""
    return isinstance(node, MappingNode)
