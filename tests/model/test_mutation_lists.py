"""The mutation of the rules alters every module that has rules."""

from __future__ import annotations

import ast

from lab.fuzz.mutants import MODULES, ROOT, mutants_of


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

    with_rules.discard("history")  # written after each step for proofs, and no rule reads it
    assert with_rules - set(MODULES) == set()
    assert all(any(True for _ in mutants_of(module)) for module in MODULES)
