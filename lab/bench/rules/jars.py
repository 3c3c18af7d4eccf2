"""The sources of a release, or where it has none its classes, fetched with Maven.

Maven asks where its own configuration says (settings.xml), and compares each jar with the
registry's checksum. What it fetched stays in build/kafka-rules/.
"""

from __future__ import annotations

import subprocess
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from lab.bench.rules.released import number_of
from waterline.checker.kafka.confirm.jars import (
    NoMaven,
    complaint_of,
    is_not_in_registry,
    run_maven,
)

KEPT = Path(__file__).parents[3] / "build" / "kafka-rules"
FETCH_SECONDS_MAX = 600
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
 <modelVersion>4.0.0</modelVersion>
 <groupId>waterline</groupId><artifactId>rules</artifactId><version>1</version>
 <packaging>pom</packaging>
 <build><plugins><plugin>
  <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId>
  <configuration><outputDirectory>{folder}</outputDirectory>
   <artifactItems>{items}</artifactItems></configuration>
 </plugin></plugins></build>
</project>
"""
_ITEM = (
    "<artifactItem><groupId>org.apache.kafka</groupId><artifactId>{name}</artifactId>"
    "<version>{version}</version>{classifier}</artifactItem>"
)
_SOURCES = "<classifier>sources</classifier>"
_PARTS = (
    ((0, 8, 2), "kafka-clients"),
    ((2, 8), "kafka-metadata"),
    ((3, 0), "kafka-storage"),
    ((3, 0), "kafka-server-common"),
    ((3, 7), "kafka-server"),
)
"""Since when a part of the broker is a jar of its own."""


class NoSources(RuntimeError):
    """Maven did not bring what was asked for; the message says what to see to."""


def parts(release: str) -> list[str]:
    """The jars that hold the broker and its controller."""
    number = number_of(release)
    scala = "2.13" if number >= (2, 4) else "2.11" if number >= (0, 8, 2) else "2.10"
    return [f"kafka_{scala}", *(name for since, name in _PARTS if number >= since)]


def fetched(release: str, *, with_sources: bool) -> list[Path]:
    """The jars of a release, of sources or of classes; [] if it was released without sources."""
    kind = "sources" if with_sources else "classes"
    folder = KEPT / release / kind
    if folder.is_dir():
        return sorted(folder.glob("*.jar"))
    done = _fetch(release, folder, with_sources=with_sources)
    if done.returncode == 0:
        return sorted(folder.glob("*.jar"))
    is_missing = is_not_in_registry(done)
    if is_missing and with_sources:
        return []
    if is_missing:
        raise NoSources(f"there is no Kafka {release} in the registry: {complaint_of(done)}")
    raise NoSources(
        f"the {kind} of Kafka {release} cannot be fetched: {complaint_of(done)}; see to Maven's "
        "settings.xml"
    )


def _fetch(release: str, folder: Path, *, with_sources: bool) -> subprocess.CompletedProcess[str]:
    """Copy the jars into the folder, if the registry has all of them."""
    classifier = _SOURCES if with_sources else ""
    items = "".join(
        _ITEM.format(name=name, version=escape(release), classifier=classifier)
        for name in parts(release)
    )
    KEPT.mkdir(parents=True, exist_ok=True)
    # The folder gets its name once all is in it, so that a run that was stopped leaves none.
    with tempfile.TemporaryDirectory(dir=KEPT) as made:
        work = Path(made)
        draft = work / "jars"
        text = _POM.format(folder=escape(str(draft)), items=items)
        (work / "pom.xml").write_text(text, encoding="utf-8")
        try:
            done = run_maven(_COPY, folder=work, seconds_max=FETCH_SECONDS_MAX)
        except NoMaven as problem:
            raise NoSources(f"Kafka's sources are fetched with Maven: {problem}") from None
        if done.returncode == 0:
            folder.parent.mkdir(parents=True, exist_ok=True)
            draft.rename(folder)
    return done


def files_in(jars: list[Path], *suffixes: str) -> dict[str, Path]:
    """By name of a file in these jars the jar that has it."""
    found: dict[str, Path] = {}
    for jar in jars:
        with zipfile.ZipFile(jar) as opened:
            found.update((name, jar) for name in opened.namelist() if name.endswith(suffixes))
    return found


def text_in(jar: Path, name: str) -> str:
    """One file of a jar."""
    with zipfile.ZipFile(jar) as opened:
        return opened.read(name).decode("utf-8")
