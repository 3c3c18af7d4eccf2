"""docs/recipes.md: every recipe is a model, and has as many states as the document says."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.own import EXAMPLES, own_problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search

PAGE = (EXAMPLES.parent / "docs" / "recipes.md").read_text(encoding="utf-8")
RECIPES = {
    title: (text, int(states))
    for title, text, states in re.findall(
        r"^## ([^\n]+)\n(?:(?!^## ).)*?```python\n(.+?)```\n\n<!-- states -->(\d+) distinct states",
        PAGE,
        re.DOTALL | re.MULTILINE,
    )
}


@pytest.mark.parametrize("title", list(RECIPES))
def test_a_recipe_is_a_model_whose_claims_hold(title: str, tmp_path: Path) -> None:
    text, states = RECIPES[title]
    path = tmp_path / "recipe.py"
    path.write_text(text, encoding="utf-8")
    problem = own_problem(path)
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)

    assert result.complete
    assert [each.name for each in result.invariants if each.depth is not None] == []
    assert result.distinct == states


def test_every_recipe_is_tried() -> None:
    assert len(RECIPES) == PAGE.count("```python") == 10
