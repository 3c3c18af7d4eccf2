"""The keys that an entry may have: those of its own, and for every option of `check` one.

The caller passes the options (`Asking`), which are declared once, for the command line. The reader
and the JSON Schema both follow from this table. Editors complete and check a file that begins with
`#:schema` and the schema's place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from waterline.checker.ci.expectation import COUNTS, MUTANTS, VERDICTS
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One option as a key of TOML.

    `kind` is how it is written: "text", "a whole number", "a number", "true or false". `convert`
    makes the option's value of that, and raises `ValueError` with the reason. `words` are all
    values of a text, where known; `least` and `most` bound a number. One that `is_many` is an
    array.
    """

    name: str
    kind: str
    help: str
    convert: Callable[[Any], Any]
    words: tuple[str, ...] | None = None
    least: float | None = None
    most: float | None = None
    is_many: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEntry:
    """Problem, engine and budgets of an entry."""

    problem: Problem
    choice: EngineChoice
    budgets: Budgets


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How options become a question.

    `keys` are the options by name. `ask(given, bounds)` takes their values, and the bounds of a
    user model, and raises `BadEnvironment`. `command(problem, model)` returns the command line that
    shows the same; `model` is the file of a user model.
    """

    keys: Mapping[str, Key]
    ask: Callable[[Mapping[str, Any], Mapping[str, Any]], GateEntry]
    command: Callable[[Problem, str | None], str]


OWN_KEYS: Mapping[str, str] = {
    "name": "What is expected, in words; different in each entry.",
    "protocol": "Version of the protocol, or an array of versions: a check for each.",
    "model": "Instead of protocol: the file of a model of your own, from the gate's folder on, "
    "with :NAME if it declares several. Its bounds are keys. Needs --allow-models.",
    "ties": "With model: the code that its actions and claims name must be as it was reviewed.",
    "profiles": "The profiles of [gate] that run it; without the key all do.",
    "proved": "`prove` proves the claims that hold, for bounds of any size.",
    "mutants": "With model: a claim notices every mutant of this kind, or a reason excuses it.",
    "verdicts": "What is expected of claims, by name.",
    "counts": "Exact numbers of the run; gate --update rewrites them.",
    "never": "Reachability claims and actions that must not happen within these bounds.",
    "config": "Instead of protocol: a server.properties, from the gate's folder on.",
    "topic-config": "Files with a topic's own settings, which win.",
    "kafka-version": "The release that the brokers follow, with config.",
    "faults": "What may go wrong, with config: a check for each.",
}
"""Keys that are not one option of `check`, each with what it means."""
NAMING_VERSIONS = ("scenario", "kafka", "fluss")
"""Options that name a version too: an entry with one needs no `protocol`."""
WITH_CONFIG = ("topic-config", "kafka-version", "faults")
"""Options that go with `config` alone."""
OF_ENGINES = (
    "engine",
    "threads",
    "master",
    "spark-conf",
    "partitions",
    "driver-levels",
    "max-states",
    "max-time",
    "max-depth",
    "memory",
    "stop-at-first",
)
"""Options that say how, and how far, something is explored: any entry may have them."""
BESIDE_CONFIG = (*OF_ENGINES, "acks", "replicas", "records", "epochs", "symmetry")
"""Options allowed together with `config`."""
BESIDE_MODEL = (*OF_ENGINES, "invariant", "symmetry")
"""Options allowed together with `model`."""


DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {
    "text": "string",
    "a whole number": "integer",
    "a number": "number",
    "true or false": "boolean",
}
_OF_ANY = ("name", "profiles", "verdicts", "counts", "never")
_TEXTS = {"type": "array", "items": {"type": "string"}}


def gate_schema(asking: Asking) -> str:
    """The schema as text."""
    options = {name: _option(key) for name, key in asking.keys.items()}
    own = _own_keys(asking)
    of_kafka = {**own, **options, "protocol": own["protocol"]}
    del of_kafka["model"], of_kafka["ties"], of_kafka["mutants"]
    of_model = {name: own[name] for name in (*_OF_ANY, "model", "ties", "proved", "mutants")}
    of_model |= {name: options[name] for name in BESIDE_MODEL}
    schema = {
        "$schema": DIALECT,
        "title": "A gate: expectations of models, which `waterline gate` runs",
        "type": "object",
        "required": ["expect"],
        "additionalProperties": False,
        "properties": {
            "gate": {
                "type": "object",
                "description": "Settings of the file.",
                "additionalProperties": False,
                "properties": {
                    "strict": {
                        "type": "boolean",
                        "description": "Every entry names its bounds, claims and counts.",
                    },
                    "profiles": {**_TEXTS, "description": "Names that --profile takes."},
                    "accepted": {
                        "type": "object",
                        "description": "Losses that --since shows, each with its reason.",
                        "additionalProperties": {"type": "string", "minLength": 1},
                    },
                },
            },
            "defaults": {
                "type": "object",
                "description": "Options of every entry that does not say otherwise.",
                "additionalProperties": False,
                "properties": options,
            },
            "expect": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "if": {"required": ["model"]},
                    "then": {"$ref": "#/$defs/model"},
                    "else": {"$ref": "#/$defs/kafka"},
                },
            },
        },
        "$defs": {
            "kafka": {
                "type": "object",
                "required": ["name", "verdicts"],
                "anyOf": [{"required": [key]} for key in ("protocol", *NAMING_VERSIONS, "config")],
                "dependentRequired": {key: ["config"] for key in WITH_CONFIG},
                "additionalProperties": False,
                "properties": of_kafka,
            },
            "model": {
                "type": "object",
                "required": ["name", "model", "verdicts"],
                "additionalProperties": {
                    "description": "A bound of the model.",
                    "type": ["integer", "boolean"],
                },
                "properties": of_model,
            },
            "verdict": {"enum": list(VERDICTS)},
        },
    }
    return json.dumps(schema, indent=2) + "\n"


def _own_keys(asking: Asking) -> dict[str, dict[str, Any]]:
    versions = "|".join(asking.keys["protocol"].words or ())
    version = {"type": "string", "pattern": f"^({versions})(-with(out)?-.+)?$"}
    kinds: dict[str, dict[str, Any]] = {
        "name": {"type": "string", "minLength": 1},
        "protocol": {
            "oneOf": [version, {"type": "array", "minItems": 1, "items": version}],
        },
        "model": {"type": "string"},
        "ties": {"type": "boolean"},
        "profiles": _TEXTS,
        "proved": {"type": "boolean"},
        "mutants": {"enum": list(MUTANTS)},
        "verdicts": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {
                "oneOf": [
                    {"$ref": "#/$defs/verdict"},
                    {
                        "type": "object",
                        "required": ["verdict"],
                        "additionalProperties": False,
                        "properties": {
                            "verdict": {"$ref": "#/$defs/verdict"},
                            "depth": {
                                "type": "integer",
                                "minimum": 0,
                                "description": "The least number of steps to the violation.",
                            },
                        },
                    },
                ]
            },
        },
        "counts": {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: {"type": "integer", "minimum": 0} for name in COUNTS},
        },
        "never": _TEXTS,
        "config": {"type": "string"},
        "topic-config": _TEXTS,
        "kafka-version": {"type": "string"},
        "faults": _TEXTS,
    }
    return {name: {**kinds[name], "description": described} for name, described in OWN_KEYS.items()}


def _option(key: Key) -> dict[str, Any]:
    one: dict[str, Any] = {"type": _TYPES[key.kind]}
    if key.words is not None:
        one = {"enum": list(key.words)}
    if key.least is not None:
        one["minimum"] = key.least
    if key.most is not None:
        one["maximum"] = key.most
    whole = {"type": "array", "items": one} if key.is_many else one
    return {**whole, "description": " ".join(key.help.split())}
