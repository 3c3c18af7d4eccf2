"""Models of sets, queues and logs reach the states that Python reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.user_models.test_containers import BOUNDS, FILES, HEAD, require_python_agrees


@pytest.mark.parametrize("name", FILES)
def test_a_model_reaches_the_states_that_python_reaches(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.py"
    path.write_text(HEAD + FILES[name])
    require_python_agrees(path, name, BOUNDS[name])
