"""Reading of files and folders, each file by what it is (`checker.kafka.deployed.kinds`).

Arguments are read in their order, and the last wins. All mistakes of all files are reported at
once. What is not recognised is refused where it was named, and left out of a folder, by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.deployment import Deployment
from waterline.checker.kafka.deployed.keys import KEYS
from waterline.checker.kafka.deployed.kinds import YAML_ENDINGS, kind_of
from waterline.checker.kafka.deployed.setting import BadConfig, Mistakes
from waterline.checker.kafka.deployed.text_file import (
    CONFIG_BYTES_MAX,
    File,
    NotText,
    read_text,
    require_size,
)
from waterline.checker.problem.wording import list_of

FILES_MAX = 500
"""Most files of a folder."""
_ENDINGS = (*YAML_ENDINGS, ".properties", ".txt", ".conf", ".env", ".tf")
_NAMES = (".env",)
LIST = "docs/operators.md lists what is read"


def read_deployment(paths: Iterable[Path], found: Mistakes | None = None) -> Deployment:
    """Return the deployment in these files and folders. Raises `BadConfig` with all mistakes.

    If `found` is given, mistakes are added to it instead, so that the caller can collect more.
    """
    mistakes = Mistakes() if found is None else found
    into = Collection(mistakes)
    for path in paths:
        into.begin()
        try:
            if path.is_dir():
                _read_folder(path, into)
            else:
                _read_named(read_text(path), into)
        except BadConfig as problem:
            mistakes.extend(problem)
    deployment = into.deployment()
    if found is None:
        mistakes.require_none()
    if not mistakes and not deployment.topics and not deployment.brokers:
        names = ", ".join(deployment.sources) or "what was given"
        raise BadConfig(f"{names} names nothing that matters here: none of {', '.join(KEYS)}")
    return deployment


def _read_named(file: File, into: Collection) -> None:
    kind, what = kind_of(file)
    if kind is None:
        require_size(file.path, len(file.text), CONFIG_BYTES_MAX)
        first = next(iter(file.beginning(1)), "").strip()[:50]
        begins = f"it begins with {first!r}" if first else "it is empty"
        raise BadConfig(f"{file.path} is no file about brokers of Kafka: {begins}; {LIST}")
    if kind.read is None:
        raise BadConfig(f"{file.path} is {_plain(what)}; {kind.remedy}")
    kind.read(file, into, True)


def _plain(what: str) -> str:
    return what.replace("`", "")


def _read_folder(folder: Path, into: Collection) -> None:
    """The files of a folder that describe something; the others are named in a note."""
    left_out: list[str] = []
    has_read = False
    for path in _files(folder):
        try:
            file = read_text(path, path.relative_to(folder).as_posix())
            kind, what = kind_of(file)
            if kind is None or kind.read is None:
                left_out.append(f"{file.name} ({_plain(what)})")
            elif kind.read(file, into, False):
                has_read = True
            else:
                left_out.append(f"{file.name} ({_plain(what)})")
        except NotText:
            left_out.append(f"{path.relative_to(folder).as_posix()} (not text)")
        except BadConfig as problem:
            into.mistakes.extend(problem)
            has_read = True
    if left_out:
        into.note(f"Left out of {folder.name or folder}: {list_of(left_out)}.")
    if not has_read:
        found = list_of(left_out) or "nothing that mentions it"
        raise BadConfig(f"{folder} has no file about brokers of Kafka, but {found}; {LIST}")


def _files(folder: Path) -> list[Path]:
    """Return the readable files of a folder, by their endings, in the order of names."""
    found = (f for f in folder.rglob("*") if f.suffix in _ENDINGS or f.name in _NAMES)
    files = sorted(file for file in found if file.is_file() and not file.is_symlink())
    if not files:
        raise BadConfig(f"{folder} has no file that ends in {', '.join(_ENDINGS)}")
    if len(files) > FILES_MAX:
        raise BadConfig(
            f"{folder} has {len(files)} files, more than {FILES_MAX}; name some of them"
        )
    return files
