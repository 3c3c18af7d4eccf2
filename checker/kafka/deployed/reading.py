"""Reading of files and folders, each file by its kind: the first that fits is it.

Arguments are read in their order, and the last wins. All mistakes of all files are reported at
once. What is not recognised is refused where it was named, and left out of a folder, by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.kafka.deployed.collection import Collection
from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment, Mistakes
from waterline.checker.kafka.deployed.environment import (
    is_environment,
    is_of_msk,
    read_environment,
    read_terraform,
)
from waterline.checker.kafka.deployed.keys import KEYS
from waterline.checker.kafka.deployed.properties_file import (
    is_brokers,
    is_clients,
    keys_of,
    program_of,
    read_client,
    read_properties,
)
from waterline.checker.kafka.deployed.text_file import (
    CONFIG_BYTES_MAX,
    File,
    NotText,
    read_text,
    require_size,
)
from waterline.checker.kafka.deployed.tool_output import (
    CONFIGS_HEADER,
    FEATURE_LINE,
    QUORUM_LINE,
    is_configs_without_header,
    is_topics_output,
    read_configs_output,
    read_features_output,
    read_topics_output,
)
from waterline.checker.problem.wording import list_of

YAML_ENDINGS = (".yaml", ".yml", ".json")
_SAVED = '"format": "waterline-deployment/'
"""Beginning of a file that `--save` wrote, in any version of its format."""
_OF_TOPICS = (
    *("replication.factor", "acks", "cleanup.policy", "compression.type", "max.message.bytes"),
    *("retention.ms", "retention.bytes", "segment.bytes", "segment.ms", "flush.messages"),
    *("flush.ms", "delete.retention.ms", "min.compaction.lag.ms", "message.timestamp.type"),
)
_NESTED = re.compile(r"^[\w.\"'-]+:[ ]*\n(?:[ ]*#.*\n)*[ ]+(?:- |[\w.\"'-]+:)", re.MULTILINE)


Read = Callable[[File, Collection, bool], bool]
"""Is given whether the file was named itself; returns whether it described anything."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file, and by what it is recognised; `fits` may say more exactly what it is.

    Without `read` a file of this kind is refused, with the remedy.
    """

    name: str
    by: str
    fits: Callable[[File], bool | str]
    read: Read | None = None
    remedy: str = ""


def kind_of(file: File) -> tuple[Kind | None, str]:
    """The kind, and what the file is in words; None for one that is not recognised."""
    for kind in KINDS:
        if fitting := kind.fits(file):
            return kind, fitting if isinstance(fitting, str) else kind.name
    return None, "not recognised"


def _begins(pattern: str | re.Pattern[str]) -> Callable[[File], bool]:
    """True if some line of the beginning of a file begins so."""
    compiled = re.compile(pattern)
    return lambda file: any(map(compiled.match, file.beginning()))


def _first_is(pattern: str) -> Callable[[File], bool]:
    compiled = re.compile(pattern)
    return lambda file: any(map(compiled.match, file.beginning(1)))


def _read_with(read: Callable[[File, Collection], None]) -> Read:
    def reading(file: File, into: Collection, is_named: bool) -> bool:
        into.sources.append(file.name)
        read(file, into)
        return True

    return reading


def _read_saved(file: File, into: Collection, is_named: bool) -> bool:
    # Few files are of this format, and its reader is a library of its own.
    from waterline.checker.kafka.deployed.saved import read_saved  # noqa: PLC0415

    into.add_saved(read_saved(file.path, file.text))
    return True


def _read_kubernetes(file: File, into: Collection, is_named: bool) -> bool:
    # A parser of YAML takes as long to load as all the rest.
    from waterline.checker.kafka.deployed.kubernetes import read_kubernetes  # noqa: PLC0415

    return read_kubernetes(file, into, is_named=is_named)


def _read_compose(file: File, into: Collection, is_named: bool) -> bool:
    from waterline.checker.kafka.deployed.kubernetes import read_compose_file  # noqa: PLC0415

    return read_compose_file(file, into, is_named=is_named)


def _read_client(file: File, into: Collection, is_named: bool) -> bool:
    if is_named:
        into.sources.append(file.name)
    read_client(file, into, is_named=is_named)
    return is_named


def _is_saved(file: File) -> bool:
    return file.text.lstrip().startswith("{") and _SAVED in file.text[:200]


def _is_other_yaml(file: File) -> bool:
    is_json = re.match(r"\s*[\[{]\s*[\"\[{\]}]", file.text) is not None
    return is_json or file.path.suffix in YAML_ENDINGS or _NESTED.search(file.text) is not None


def _is_brokers(file: File) -> bool:
    return is_brokers(keys_of(file.text))


def _is_topics(file: File) -> bool:
    return not keys_of(file.text).isdisjoint(_OF_TOPICS)


KINDS: tuple[Kind, ...] = (
    Kind(
        "a file of `--save`",
        '`"format": "waterline-deployment/` at its beginning',
        _is_saved,
        read=_read_saved,
    ),
    Kind(
        "output of `kafka-topics --describe`",
        "lines with `Topic:` and `PartitionCount:` or `Partition:`",
        is_topics_output,
        read=_read_with(read_topics_output),
    ),
    Kind(
        "output of `kafka-configs --describe`",
        "a line `Dynamic configs for topic orders are:` or the like",
        _begins(CONFIGS_HEADER),
        read=_read_with(read_configs_output),
    ),
    Kind(
        "lines of `kafka-configs --describe` without the first",
        "`sensitive=false synonyms={`",
        is_configs_without_header,
        remedy="give them with the line before, `Dynamic configs for topic ... are:`",
    ),
    Kind(
        "output of `kafka-features describe`",
        "lines with `Feature:`",
        _begins(FEATURE_LINE),
        read=_read_with(read_features_output),
    ),
    Kind(
        "output of `kafka-metadata-quorum describe`",
        "`LeaderEpoch:`, `CurrentVoters:`, or a table of `NodeId` and `LogEndOffset`",
        _begins(QUORUM_LINE),
        remedy="it says nothing of topics and their settings; give what kafka-topics, "
        "kafka-configs and kafka-features describe",
    ),
    Kind(
        "a log of Kafka",
        "lines that begin with a time in brackets, and a level",
        _begins(r"\[?\d{4}-\d\d-\d\d[ T][\d:,.]+\]? (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)"),
        remedy="explain-logs reads it",
    ),
    Kind(
        "XML", "`<` at its beginning", _first_is(r"\s*<"), remedy="give the settings as .properties"
    ),
    Kind(
        "a script",
        "`#!` at its beginning",
        _first_is(r"#!"),
        remedy="give the settings that it sets as .properties or an env file",
    ),
    Kind(
        "a Dockerfile",
        "a line `FROM image` at its beginning",
        _begins(r"FROM\s+\S+(?:\s+AS\s+\S+)?\s*$"),
        remedy="give its variables as an env file, lines of NAME=value",
    ),
    Kind(
        "Terraform of Amazon MSK",
        "a text as `server_properties = <<EOT` in it",
        is_of_msk,
        read=_read_with(read_terraform),
    ),
    Kind(
        "Terraform",
        '`.tf`, `.tfvars`, `.hcl`, or lines as `resource "aws_msk_configuration" "this" {`',
        lambda file: (
            file.path.suffix in (".tf", ".tfvars", ".hcl")
            or _begins(
                r"\s*(?:(?:resource|data|module|variable|provider|output)\s+[\"\w][^=:]*|terraform\s*|"
                r"locals\s*)\{\s*$"
            )(file)
        ),
        remedy="save the text of its server_properties, or the variables of its containers, as a "
        "file, and say --kafka-version",
    ),
    Kind(
        "CloudFormation, or an answer of the AWS CLI",
        "`AWSTemplateFormatVersion`, `Type: AWS::` or `ServerProperties`",
        _begins(r".*(?:AWSTemplateFormatVersion|\bAWS::\w|\"?ServerProperties\"?\s*:)"),
        remedy="save the text of ServerProperties, decoded, as a file, and say --kafka-version",
    ),
    Kind(
        "resources of Kubernetes",
        "`apiVersion:` at the beginning of a line, or in JSON",
        lambda file: bool(
            re.search(r"^[\"']?apiVersion[\"']?\s*:", file.text, re.MULTILINE)
            or re.match(r"\s*\{[^}]*\"apiVersion\"\s*:", file.text[: 1 << 16])
        ),
        read=_read_kubernetes,
    ),
    Kind(
        "Docker Compose",
        "`services:` at the beginning of a line, or in JSON",
        lambda file: bool(re.search(r"^(?:\s*\{?\s*\")?services\"?:", file.text, re.MULTILINE)),
        read=_read_compose,
    ),
    Kind(
        "TOML, INI or another file of sections",
        "a line as `[section]`",
        _begins(r"\[[\w.:\" -]+\]\s*$"),
        remedy="give the settings as .properties",
    ),
    Kind(
        "an env file of a broker",
        "lines of `NAME=value` alone, with `KAFKA_` or `KAFKA_CFG_` and a broker's setting",
        is_environment,
        read=_read_with(read_environment),
    ),
    Kind(
        "other YAML or JSON",
        "`.yaml`, `.yml`, `.json`, JSON at its beginning, or a key with others below it",
        _is_other_yaml,
        remedy="of a chart's values give what `helm template` prints, of Ansible the "
        "server.properties that it writes, of others the settings as .properties",
    ),
    Kind(
        "`.properties` of another program",
        "keys that only MirrorMaker, connectors, Kafka Connect, ZooKeeper, log4j, the Schema "
        "Registry, ksqlDB, Cruise Control or applications have, and none of a broker's identity",
        lambda file: program_of(keys_of(file.text)),
        remedy="give the broker's server.properties",
    ),
    Kind(
        "`.properties` of a client",
        "`bootstrap.servers`, `metadata.broker.list` or `group.id`, and none of a broker's "
        "identity",
        lambda file: is_clients(keys_of(file.text)),
        read=_read_client,
    ),
    Kind(
        "`.properties` of a broker",
        "a key that [matters](matrix.md#about-one-configuration), or that only brokers have, as "
        "`process.roles`, `node.id` or `log.dirs`",
        _is_brokers,
        read=_read_with(read_properties),
    ),
    Kind(
        "`.properties` of a topic",
        "`replication.factor`, `acks`, `cleanup.policy`, or another key that topics have",
        _is_topics,
        read=_read_with(read_properties),
    ),
)


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
