"""What is declared once is everywhere: settings, limits, fields, options, words, the matrix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.states import model_of, run
from waterline.checker.cli.shared.options import ENVIRONMENT_OPTIONS
from waterline.checker.kafka.matrix.grid import AXES, FAULT
from waterline.model.message import limits
from waterline.model.message.bounds import Bounds
from waterline.model.message.cluster import fields
from waterline.model.message.contents import ACTIONS, contents
from waterline.model.message.declared import option_of
from waterline.model.message.environment import (
    DECLARED,
    FAULTS,
    BadEnvironment,
    Environment,
)
from waterline.model.message.features import FEATURES, TRUNCATIONS
from waterline.model.message.settings import Settings, settings_of
from waterline.model.message.versions import VERSIONS

NUMBERS = [name for name, declared in DECLARED.items() if declared.most is not None]
WORDS = [name for name, declared in DECLARED.items() if declared.values is not None]


def test_rules_read_all_that_does_not_shape_the_state() -> None:
    read = {declared.setting or name for name, declared in DECLARED.items() if not declared.shapes}

    abstraction = {"unbounded", "settled"}
    assert set(Settings._fields) == {"truncation", "features", *read, *abstraction}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_a_field_a_limit_an_option_and_an_action_that_uses_it_up(name: str) -> None:
    bounds = Bounds(**{shape: True for shape in (name,) if hasattr(Bounds(), name)})
    [used] = [field for field in fields(bounds) if field.name == f"{name}_used"]
    first, *_ = [a for a in ACTIONS if a.budget is not None and a.budget.setting == name]

    assert used.hi == DECLARED[name].most
    assert option_of(name) in limits.NAMES
    assert option_of(name) in ENVIRONMENT_OPTIONS
    assert first.name == DECLARED[name].steps[0]


@pytest.mark.parametrize("name", DECLARED)
def test_steps_are_there_only_where_they_are_let_happen(name: str) -> None:
    declared = DECLARED[name]
    if declared.fault is not None:
        on, off = {name: 1}, {name: 0}
    elif declared.values is not None:
        on, off = {name: declared.steps_where or list(declared.values)[-1]}, {}
    else:
        on, off = {name: True}, {}
    if declared.only_with:
        on = {name: on[name], declared.only_with: 1}
    told = {
        is_on: set(contents(settings_of(Environment(**given), VERSIONS["elr"])))
        for is_on, given in ((True, on), (False, off))
        if declared.steps
    }

    assert all(set(declared.steps) <= told[True] for _ in told)
    if declared.steps and not (declared.fault and declared.fault.always):
        assert not set(declared.steps) & told[False]


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_beyond_its_range_is_refused_by_name(name: str) -> None:
    most = DECLARED[name].most or 0

    with pytest.raises(BadEnvironment, match=f"{option_of(name)} is {most + 1}; allowed is"):
        Environment(**{name: most + 1})


@pytest.mark.parametrize("name", WORDS)
def test_a_word_that_means_nothing_is_refused_by_name(name: str) -> None:
    with pytest.raises(BadEnvironment, match=f"{option_of(name)} is 'never'; allowed is"):
        Environment(**{name: "never"})


def test_the_kit_counts_what_a_budget_allows_and_cuts_what_is_beyond() -> None:
    model = model_of("hw", restarts=1)
    once = run(model, "Crash replica=1", "Restart replica=1")
    crash = next(action for action in model.actions if action.name == "Crash")

    assert once.restarts_used == 1
    assert model.is_enabled(once, crash, (1,))
    assert model.limits[model.exceeded_limit(once, crash, (1,))] == "restarts"


def test_a_fault_that_names_a_row_is_one_of_the_matrix() -> None:
    rows = {value.name: value for axis in AXES if axis.name == FAULT for value in axis.values}
    named = {name: fault.row[0] for name, fault in FAULTS.items() if fault.row is not None}

    assert named
    for name, row in named.items():
        assert rows[row].options == {option_of(name): 1}


def test_every_feature_and_every_setting_that_rules_read_is_in_the_list_of_rules() -> None:
    document = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    [told] = re.findall(
        r"^## The rules, by who acts\n(.*?)^## ", document, re.DOTALL | re.MULTILINE
    )
    features = {*TRUNCATIONS, *(feature.name for feature in FEATURES)}
    settings = {
        f"--{option_of(name)}" for name, declared in DECLARED.items() if not declared.shapes
    }

    switches = set(re.findall(r"`((?:--)?[\w.-]+)`", told))

    assert features - switches == set()
    assert settings - switches == set()
    assert {name for name in switches if name.startswith("--")} - settings == {
        "--epochs",
        "--kafka",
        "--with",
        "--without",
    }
