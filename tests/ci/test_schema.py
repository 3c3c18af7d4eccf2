"""The schema of a gate says what the reader says: both follow from one table."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from tests.support.gate_texts import SMALL, entry, read
from waterline.checker.ci.document import BadGate
from waterline.checker.ci.keys import gate_schema
from waterline.checker.cli.gate_options import asking

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs" / "schemas" / "gate.schema.json"
GATES = sorted([ROOT / "gate.toml", *(ROOT / "gates").glob("*.toml")])


def is_of_schema(text: str) -> bool:
    schema = json.loads(gate_schema(asking()))
    return jsonschema.Draft202012Validator(schema).is_valid(tomllib.loads(text))


def test_the_published_schema_is_what_the_command_prints() -> None:
    """Otherwise: `waterline gate --schema > docs/schemas/gate.schema.json`."""
    jsonschema.Draft202012Validator.check_schema(json.loads(PUBLISHED.read_text()))

    assert PUBLISHED.read_text() == gate_schema(asking())


@pytest.mark.parametrize("path", GATES, ids=lambda path: path.name)
def test_our_own_gates_are_of_the_schema_and_name_it(path: Path) -> None:
    text = path.read_text()
    named = text.partition("\n")[0].removeprefix("#:schema ")

    assert is_of_schema(text)
    assert (path.parent / named).resolve() == PUBLISHED


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        (entry(), True),
        (entry(more=f"{SMALL}with = ['fencing']\nmax-time = 1.5\nnever = []\n"), True),
        (entry().replace('"epoch"', '["hw", "kip320-without-fencing"]'), True),
        (
            entry(more="").replace('protocol = "epoch"', 'config = "x"\nfaults = ["one crash"]'),
            True,
        ),
        (entry(verdicts='sane = { verdict = "violated", depth = 3 }'), True),
        (entry(more="replicas = 9\n"), False),
        (entry(more="replicas = '2'\n"), False),
        (entry(more="replicsa = 2\n"), False),
        (entry(more="acks = 'al'\n"), False),
        (entry(more="faults = []\n"), False),
        (entry(verdicts='sane = "hold"'), False),
        (entry(verdicts=""), False),
        (entry().replace("name =", "nam ="), False),
        (entry().replace('"epoch"', '"epocs"'), False),
        ("x = 1\n" + entry(), False),
    ],
)
def test_reader_and_schema_agree(text: str, is_right: bool, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("process.roles=broker\n")
    try:
        is_read = bool(read(text, tmp_path))
    except BadGate:
        is_read = False

    assert is_read == is_of_schema(text) == is_right


def test_a_model_of_ones_own_has_its_bounds_as_keys() -> None:
    own = "[[expect]]\nname = 'n'\nmodel = 'm.py'\nbig = 3\nverdicts = { fine = 'holds' }\n"

    assert is_of_schema(own)
    assert not is_of_schema(own.replace("big = 3", "big = 'x'"))
    assert not is_of_schema(own.replace("verdicts", "verdict"))
