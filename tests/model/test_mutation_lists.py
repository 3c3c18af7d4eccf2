"""The mutation of the rules is told of every rule, step, feature and circumstance that there is."""

from __future__ import annotations

import ast

import pytest

from fuzz.mutants import MODULES, ROOT, mutants_of
from fuzz.mutation_environments import INTERPRETED, STAGES
from waterline.model.message.contents import ACTIONS
from waterline.model.message.environment import DECLARED, Environment
from waterline.model.message.features import FEATURES, TRUNCATIONS, Feature
from waterline.model.message.model import message_model
from waterline.model.message.versions import version_of

SETTINGS = [setting for stage in STAGES for setting in stage]


def is_rule(function: ast.stmt) -> bool:
    """Whether it is a function of a state."""
    if not isinstance(function, ast.FunctionDef) or not function.args.args:
        return False
    return function.args.args[0].arg == "s"


def test_every_module_with_rules_is_altered() -> None:
    folder = ROOT / "model" / "message"
    with_rules = {
        path.stem
        for path in folder.glob("*.py")
        if any(is_rule(node) for node in ast.parse(path.read_text(encoding="utf-8")).body)
    }

    assert with_rules - set(MODULES) == set()
    assert all(any(True for _ in mutants_of(module)) for module in MODULES)


def test_every_step_can_be_taken_somewhere() -> None:
    taken = {
        action.name
        for setting in SETTINGS
        for action in message_model(setting.version, Environment(**setting.options)).enabled_actions
    }

    assert {action.name for action in ACTIONS} - taken == set()


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_every_feature_is_there_in_one_setting_and_missing_in_another(feature: Feature) -> None:
    there = {version_of(s.version).features & feature.bit != 0 for s in INTERPRETED}

    assert there == {True, False}


def test_every_way_to_truncate_is_taken() -> None:
    assert {version_of(s.version).truncation for s in INTERPRETED} == set(TRUNCATIONS.values())


def test_every_circumstance_is_other_than_usual_somewhere() -> None:
    usual = Environment()
    varied = {
        name
        for setting in SETTINGS
        for name in DECLARED
        if getattr(Environment(**setting.options), name) != getattr(usual, name)
    }

    assert set(DECLARED) - varied == set()


def test_settings_have_names_of_their_own() -> None:
    names = [setting.name for setting in SETTINGS]

    assert len(names) == len(set(names))
