"""Every step is a sentence, every state reads otherwise than others, in every space."""

from __future__ import annotations

import pytest

from tests.model.test_narration import (
    FAMILY,
    MANY,
    OF_REASSIGNMENTS,
    OF_REPLAY,
    RARE,
    SPACES,
    assert_states_read_otherwise,
    assert_steps_are_sentences,
    transitions,
)
from waterline.model.message.contents import ACTIONS


@pytest.mark.parametrize(("version", "options"), SPACES + FAMILY)
def test_every_step_is_a_sentence(version: str, options: dict[str, object]) -> None:
    assert_steps_are_sentences(version, options, MANY)


def test_every_action_has_a_sentence_of_its_own() -> None:
    happened = {
        step.action.name
        for version, options in SPACES + FAMILY
        for _, step in transitions(version, options, MANY)
    }
    rest = {action.name for action in ACTIONS} - happened

    assert rest <= {"RecvOutOfRange", *RARE, *OF_REPLAY, *OF_REASSIGNMENTS}


@pytest.mark.parametrize(("version", "options"), SPACES + FAMILY)
def test_states_that_read_the_same_are_the_same(version: str, options: dict[str, object]) -> None:
    assert_states_read_otherwise(version, options, MANY)
