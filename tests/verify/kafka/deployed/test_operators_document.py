"""Each example of docs/operators.md prints what the document shows."""

from __future__ import annotations

import pytest

from tests.kafka.deployed.test_operators_document import EXAMPLES, assert_printed_as_shown, folder
from tests.support.commands import Commands

__all__ = ["folder"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("command", "printed"), EXAMPLES, ids=[c for c, _ in EXAMPLES])
def test_an_example_prints_what_the_document_shows(
    command: str, printed: str, cli: Commands
) -> None:
    assert_printed_as_shown(command, printed, cli)
