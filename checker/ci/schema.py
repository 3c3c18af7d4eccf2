"""JSON Schema of a gate file, made from the reader's table of keys.

    waterline gate --schema

Editors complete and check a file that begins with `#:schema` and the schema's place.
"""

from __future__ import annotations

import json
from typing import Any

from waterline.checker.ci.expectation import COUNTS, MUTANTS, VERDICTS
from waterline.checker.ci.keys import (
    BESIDE_MODEL,
    NAMING_VERSIONS,
    OWN_KEYS,
    WITH_CONFIG,
    Asking,
    Key,
)

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
