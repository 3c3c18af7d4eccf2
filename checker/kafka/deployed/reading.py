"""Reading of files and folders, each by what its content is.

Files are read in their order; of a setting that several say the last counts. All mistakes of all
files are reported at once.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path

from checker.kafka.deployed.deployment import Deployment
from checker.kafka.deployed.keys import KEYS, ROLES, ZOOKEEPER
from checker.kafka.deployed.properties_file import read_properties
from checker.kafka.deployed.setting import BadConfig, Mistakes, Setting
from checker.kafka.deployed.text_file import CONFIG_BYTES_MAX, bytes_of, require_size
from checker.kafka.deployed.tool_output import (
    is_configs_output,
    is_features_output,
    is_topics_output,
    read_configs_output,
    read_features_output,
    read_topics_output,
)

FILES_MAX = 500
"""Most files of a folder."""
_ENDINGS = (".yaml", ".yml", ".json", ".properties", ".txt", ".conf")
_YAML_ENDINGS = (".yaml", ".yml", ".json")
_SAVED = '"format": "waterline-deployment/'
"""At the beginning of a file that `--save` wrote, of any version of its format."""
_OWN_OF_A_BROKER = (ROLES, ZOOKEEPER)
_MENTIONS_KAFKA = re.compile(r"kafka\.strimzi\.io/|platform\.confluent\.io/")
_RESOURCE = re.compile(r"^(apiVersion|kind)\s*:|^\s*\{", re.MULTILINE)


def read_deployment(paths: Iterable[Path], found: Mistakes | None = None) -> Deployment:
    """What these files and folders say together. Raises `BadConfig` with all mistakes.

    Where `found` is given they are noted there instead, for more to be found beside them.
    """
    mistakes = Mistakes() if found is None else found
    every: list[Deployment] = []
    for path in paths:
        try:
            files = _files(path)
        except BadConfig as problem:
            mistakes.extend(problem)
            continue
        inside = [_read_file(file, mistakes, is_alone=len(files) == 1) for file in files]
        _require_agreement(inside, mistakes)
        every += inside
    deployment = functools.reduce(Deployment.then, every, Deployment())
    if len(deployment.clusters) > 1:
        mistakes.add(
            f"{len(deployment.clusters)} clusters are described ({', '.join(deployment.clusters)});"
            " give the files of one"
        )
    if found is None:
        mistakes.require_none()
    if not mistakes and not deployment.brokers and not deployment.topics:
        names = ", ".join(deployment.sources) or "what was given"
        raise BadConfig(f"{names} names nothing that matters here: none of {', '.join(KEYS)}")
    return deployment


def _require_agreement(inside: Iterable[Deployment], mistakes: Mistakes) -> None:
    """Files of one folder are of brokers side by side: none of them wins over another."""
    known: dict[str, Setting] = {}
    for deployment in inside:
        for key, setting in deployment.brokers.items():
            before = known.setdefault(key, setting)
            if before.value != setting.value and key not in _OWN_OF_A_BROKER:
                mistakes.add(
                    f"{setting.origin}: {key} is {setting.value!r}, and {before.value!r} at "
                    f"{before.origin}; brokers must agree, or name the files in their order"
                )


def _files(path: Path) -> list[Path]:
    """The file, or those of a folder whose endings say that they may be read, by name."""
    if not path.is_dir():
        return [path]
    found = (file for file in path.rglob("*") if file.suffix in _ENDINGS)
    files = sorted(file for file in found if file.is_file() and not file.is_symlink())
    if not files:
        raise BadConfig(f"{path} has no file that ends in {', '.join(_ENDINGS)}")
    if len(files) > FILES_MAX:
        raise BadConfig(f"{path} has {len(files)} files, more than {FILES_MAX}; name some of them")
    return files


def _read_file(path: Path, mistakes: Mistakes, *, is_alone: bool) -> Deployment:
    try:
        return _read(path, mistakes, is_alone=is_alone)
    except BadConfig as problem:
        mistakes.extend(problem)
        return Deployment()


def _read(path: Path, mistakes: Mistakes, *, is_alone: bool) -> Deployment:
    content = bytes_of(path)
    text = content.decode("utf-8", errors="replace")
    if text.lstrip().startswith("{") and _SAVED in text[:200]:
        # Few files are of this format, and its reader is a library of its own.
        from checker.kafka.deployed.saved import read_saved  # noqa: PLC0415

        return read_saved(path, text)
    for recognised, read in (
        (is_topics_output, read_topics_output),
        (is_configs_output, read_configs_output),
        (is_features_output, read_features_output),
    ):
        if recognised(text):
            return read(path, text, mistakes)
    require_size(path, content, CONFIG_BYTES_MAX)
    if path.suffix in _YAML_ENDINGS or _RESOURCE.search(text):
        if not is_alone and not _MENTIONS_KAFKA.search(text):
            return Deployment()
        # A parser of YAML takes as long to load as all the rest.
        from checker.kafka.deployed.custom_resources import (  # noqa: PLC0415
            read_custom_resources,
        )

        return read_custom_resources(path, text, mistakes, is_alone=is_alone)
    return read_properties(path, content.decode("iso-8859-1"), mistakes)
