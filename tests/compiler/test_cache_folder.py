"""The folder of what is kept to be loaded: one that others could write to is not used."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from waterline.checker.compiler.cache import distrust
from waterline.checker.search.engines.java import home_without_vectors
from waterline.checker.search.engines.shipping import archive


def test_a_folder_in_one_that_is_open_to_all_is_not_used(tmp_path: Path) -> None:
    cache = tmp_path / "open" / "cache"
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    refused = distrust(cache)
    (tmp_path / "open").chmod(0o1777)

    assert refused is not None
    assert f"others can write to {tmp_path / 'open'}" in refused
    assert distrust(cache) is None


def test_a_cache_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = distrust(tmp_path / "file" / "cache")

    assert refused is not None
    assert "is not used: Not a directory; set WATERLINE_CACHE" in refused


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, -1)
    refused = distrust(tmp_path)

    assert refused is not None
    assert "because it belongs to another user; set WATERLINE_CACHE" in refused


def test_what_is_sent_to_executors_is_not_taken_from_a_folder_open_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path))
    kept = archive([])
    kept.write_bytes(b"cut short")
    again = archive([])
    tmp_path.chmod(0o777)
    elsewhere = archive([])

    assert kept == again
    assert again.is_relative_to(tmp_path)
    assert zipfile.is_zipfile(again)
    assert elsewhere.name == again.name
    assert not elsewhere.is_relative_to(tmp_path)


def test_a_wrapper_of_java_that_was_changed_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path))
    java = home_without_vectors(Path("/opt/java")) / "bin" / "java"
    written = java.read_text()
    java.write_text("exec something-else")
    again = home_without_vectors(Path("/opt/java")) / "bin" / "java"
    tmp_path.chmod(0o777)
    elsewhere = home_without_vectors(Path("/opt/java")) / "bin" / "java"

    assert again == java
    assert again.read_text() == elsewhere.read_text() == written
    assert os.access(again, os.X_OK)
    assert not elsewhere.is_relative_to(tmp_path)
