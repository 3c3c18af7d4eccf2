"""The long cases of tests/batch/test_keeping.py."""

from __future__ import annotations

import json
from pathlib import Path

from tests.batch.test_keeping import (
    ask,
    folder,  # noqa: F401 - fixtures
    question,
)
from waterline.checker.batch.keeping import kept_answer, name_of
from waterline.checker.compiler.cache import read_sealed, write_sealed


def test_rules_that_read_something_else_than_they_did_do_not_use_it(
    folder: Path,  # noqa: F811
) -> None:
    """Every content of the record is altered once, sealed anew, as if the rules read that then."""
    asked = question()
    ask([asked])
    name = name_of(asked)
    assert name is not None
    [path] = (folder / "answers").iterdir()
    values = json.loads(read_sealed(path, bytes_max=1 << 24) or b"")
    assert kept_answer(name, asked) is not None
    for place, (function, look_up, content) in enumerate(values["read"]):
        read = [*values["read"]]
        read[place] = [function, look_up, f"{content}0"]
        write_sealed(path, json.dumps({**values, "read": read}).encode())
        assert kept_answer(name, asked) is None, (look_up, content)
