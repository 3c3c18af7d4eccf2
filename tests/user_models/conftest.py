"""Models that a test imports, as a user's own test does."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.live import lease_text


@pytest.fixture
def module_of(tmp_path: Path) -> Iterator[Any]:
    """Imports a text as a module of this file name."""
    made = []

    def module(name: str, text: str) -> ModuleType:
        file = tmp_path / name
        file.write_text(text)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        found = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = found
        made.append(file.stem)
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            spec.loader.exec_module(found)
        finally:
            sys.dont_write_bytecode = before
        return found

    yield module
    for name in made:
        sys.modules.pop(name, None)


@pytest.fixture
def lease(module_of: Any) -> ModuleType:
    """The model of the tutorial, imported."""
    found: ModuleType = module_of("lease.py", lease_text())
    return found
