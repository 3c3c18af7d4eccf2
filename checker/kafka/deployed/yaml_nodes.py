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

from checker.kafka.deployed.setting import BadConfig, Place

DEPTH_MAX = 50
ALIASES_MAX = 200
NODES_MAX = 300_000
_MERGES_MAX = 20
_TEMPLATE = re.compile(r"\{\{-?\s*[.$\w(]")
_MERGE = "<<"
_NULLS = ("", "~", "null", "Null", "NULL")


def documents(path: Path, text: str) -> list[Node]:
    """The root node of each document that has one. Raises `BadConfig`."""
    if template := _TEMPLATE.search(text):
        line = text.count("\n", 0, template.start()) + 1
        raise BadConfig(
            f"{path}:{line}: it is a template, and no YAML before it is rendered: "
            "run `helm template`"
        )
    try:
        _require_within_limits(path, text)
        # Comments are of no interest, and the loader that keeps them is twice as slow.
        loader = YAML(typ="safe", pure=True)
        return [node for node in loader.compose_all(io.StringIO(text)) if node is not None]
    except YAMLError as problem:
        raise BadConfig(_describe(path, problem)) from None
    except RecursionError:
        raise BadConfig(f"{path} is nested deeper than {DEPTH_MAX} levels; flatten it") from None


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


def items(node: Node | None) -> list[Node]:
    """The elements of a sequence; none where it is no sequence."""
    return list(node.value) if isinstance(node, SequenceNode) else []


def place_of(path: Path, node: Node) -> Place:
    """Where a node begins."""
    return Place(str(path), node.start_mark.line + 1, node.start_mark.column + 1)


def is_mapping(node: Node | None) -> bool:
    """Whether it has keys."""
    return isinstance(node, MappingNode)
