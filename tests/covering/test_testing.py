"""`waterline.testing`: which mistakes of a server are found, and how an adapter may be wrong."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest

import waterline
import waterline.testing
from tests.support.live import lease_text, live
from waterline.testing import BadAdapter, BadCorpus, Differs, covering_paths, read_corpus


class Denied(Exception):
    """A request that is refused."""


class Server:
    """Leases and a fenced store, with a mistake."""

    def __init__(self, bug: str) -> None:
        self.bug, self.writes = bug, 0
        self.owner: int | None = None
        self.granted, self.stored = 0, 0

    def acquire(self, client: int) -> int:
        if self.owner is not None and not (self.bug == "reentrant" and self.owner == client):
            raise Denied
        self.owner = client
        self.granted += 1
        return self.granted

    def expire(self) -> None:
        self.owner = None
        if self.bug == "tokens restart":
            self.granted = 0

    def write(self, token: int) -> None:
        if token < 1 or (token < self.stored and self.bug != "no fence"):
            raise Denied
        self.writes += 1
        if self.bug != "third write is lost" or self.writes < 3:
            self.stored = token


class Adapter:
    """The server as the model's actions."""

    refuses: ClassVar[Any] = (Denied,)
    requests: ClassVar[Any] = ("grant", "write")

    def __init__(self, bug: str = "") -> None:
        self.server, self.tokens = Server(bug), {0: 0, 1: 0}

    def grant(self, client: int) -> None:
        self.tokens[client] = self.server.acquire(client)

    def expire(self) -> None:
        self.server.expire()

    def write(self, client: int) -> None:
        self.server.write(self.tokens[client])
        self.tokens[client] = 0

    def observe(self) -> dict[str, Any]:
        return {"holder": self.server.owner, "stored": self.server.stored, "token": self.tokens}


class NeverRefused(Adapter):
    """The same, but for requests that the model does not enable: these are not made."""

    requests: ClassVar[Any] = ()


@pytest.fixture(scope="module")
def lease(tmp_path_factory: pytest.TempPathFactory) -> waterline.Model:
    file = tmp_path_factory.mktemp("model") / "lease.py"
    file.write_text(lease_text())
    return live(file, clients=2, fenced=True)


@cache
def paths_of(model: waterline.Model, cover: str) -> list[waterline.testing.Path]:
    return list(covering_paths(model, cover=cover))


@pytest.mark.parametrize(
    ("bug", "cover", "is_found", "without_requests"),
    [
        ("", "transitions", False, False),
        ("no fence", "transitions", True, False),
        ("no fence", "states", True, False),
        ("reentrant", "transitions", True, False),
        ("reentrant", "calls", True, False),
        ("no fence", "guards", True, False),
        ("reentrant", "guards", True, False),
        ("third write is lost", "guards", False, False),
        ("tokens restart", "transitions", True, True),
        ("tokens restart", "states", True, True),
        ("third write is lost", "transitions", True, True),
        ("third write is lost", "calls", False, False),
    ],
)
def test_mistakes_by_cover_and_what_goes_unseen_without_refused_requests(
    lease: waterline.Model, bug: str, cover: str, is_found: bool, without_requests: bool
) -> None:
    def finds(adapter: type[Adapter]) -> bool:
        for path in paths_of(lease, cover):
            try:
                path.replay(lambda: adapter(bug))
            except Differs:
                return True
        return False

    assert (finds(Adapter), finds(NeverRefused)) == (is_found, without_requests)


def test_a_failure_is_a_short_trace(lease: waterline.Model) -> None:
    [longest] = sorted(paths_of(lease, "transitions"), key=len)[-1:]

    with pytest.raises(Differs) as found:
        longest.replay(lambda: Adapter("reentrant"))

    text = str(found.value)
    assert "differs after 1 step (" in text
    assert "1. grant" in text
    assert text.endswith("is not enabled in the model, and was not refused")


def test_an_action_that_raises_or_is_refused_is_a_difference(lease: waterline.Model) -> None:
    class Raising(Adapter):
        def expire(self) -> None:
            raise KeyError("lease")

    class Refusing(Adapter):
        def expire(self) -> None:
            raise Denied("not now")

    path = max(paths_of(lease, "states"), key=len)
    for adapter, text in ((Raising, r"raised KeyError\('lease'\)"), (Refusing, "raised Denied")):
        with pytest.raises(Differs, match=text):
            path.replay(adapter)


def test_adapters_that_do_not_fit_are_one_line(lease: waterline.Model) -> None:
    class Lacking(Adapter):
        expire = None  # type: ignore[assignment]

    class Seeing(Adapter):
        def observe(self) -> dict[str, Any]:
            return {"holders": 1}

    class Requesting(Adapter):
        requests: ClassVar[Any] = ("grants",)

    path = paths_of(lease, "calls")[0]
    for adapter, text in (
        (Lacking, "Lacking has no method expire; it needs observe and one for each action"),
        (Seeing, "observe.. has a field 'holders', .*; did you mean holder?"),
        (Requesting, "requests names 'grants', .*; did you mean grant?"),
    ):
        with pytest.raises(BadAdapter, match=text):
            path.replay(adapter)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of one path."""
    first = {"holder": None, "granted": 0, "token": [0, 0], "stored": 0}
    head = {"protocol": "lease", "bounds": {"clients": 2, "leases": 3, "fenced": True}}
    path = {"path": 1, "initial": first, "steps": [{"action": "grant", "arguments": {"client": 1}}]}
    file = tmp_path / "corpus.jsonl"
    file.write_text(f"{json.dumps(head)}\n{json.dumps(path)}\n")
    return file


def test_a_corpus_is_read_without_the_checker_and_replays(
    lease: waterline.Model, corpus: Path
) -> None:
    [path] = read_corpus(lease, corpus)

    path.replay(Adapter)
    with pytest.raises(Differs):
        path.replay(lambda: Adapter("reentrant"))


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('"fenced": true', '"fenced": false', "has paths of lease.clients=2, .*, and not of lease"),
        ('"holder": null', '"holder": 1', "is old: path 1 begins in no initial state"),
        ('"grant"', '"grants"', "has no action 'grants'"),
        ('"client": 1', '"client": 7', "client of grant cannot be 7"),
        ("{", "[", "is no corpus; `waterline paths --output` writes one"),
    ],
)
def test_a_corpus_that_does_not_fit_is_one_line(
    lease: waterline.Model, corpus: Path, old: str, new: str, error: str
) -> None:
    corpus.write_text(corpus.read_text().replace(old, new))

    with pytest.raises(BadCorpus, match=error):
        read_corpus(lease, corpus)


def test_a_step_that_the_model_does_not_take_and_a_missing_file_are_one_line(
    lease: waterline.Model, corpus: Path
) -> None:
    corpus.write_text(corpus.read_text().replace('"grant"', '"write"'))

    with pytest.raises(BadCorpus, match=r"step 1, write\(client=1\), is not enabled"):
        read_corpus(lease, corpus)[0].replay(Adapter)
    with pytest.raises(BadCorpus, match="cannot be read: No such file"):
        read_corpus(lease, corpus.with_name("none.jsonl"))
