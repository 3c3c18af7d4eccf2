"""`waterline ties` and `ties = true` in a gate: each state, and attacks on what is compared."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.commands import Commands
from waterline.checker.ties.lock import lock_of

MODEL = '''\
"""A lease.

Not modelled: server.py:Server.size, it only reads
"""

from waterline import Fields, Name, Names, Protocol, when


class State(Fields):
    clients = Names("client", 2)
    holder = Name(clients, or_none=True)


def lease(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[grant, expire], always=[one_holds])


def grant(s: State, client: int) -> None:
    """{client} gets the lease.

    Code: server.py:Server.acquire, server.py:Store.put
    """
    when(s.holder is None)
    s.holder = client


def expire(s: State) -> None:
    """The lease expires.

    Code: none, the clock does it
    """
    when(s.holder is not None)
    s.holder = None


def one_holds(s: State) -> bool:
    """At most one client holds it.

    Code: server.py:check
    """
    return s.holder is None or s.holder < 2
'''
SERVER = """\
raise SystemExit("a tied file is never run")


class Server:
    def acquire(self, client):
        if self.owner is not None:
            raise ValueError("held")
        self.owner = client

    def size(self):
        return 1


class Store:
    def put(self, token):
        self.token = token


def check(server):
    assert server.owner
"""
SYMBOLS = ("server.py:Server.acquire", "server.py:Store.put", "server.py:check")
GATE = """\
[[expect]]
name = "the lease"
model = "lease.py"
ties = true
verdicts = { one_holds = "holds" }
"""


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Commands:
    """Commands in a folder that has a model, its server, and a reviewed lock file."""
    monkeypatch.chdir(tmp_path)
    run = Commands(capsys, monkeypatch)
    Path("lease.py").write_text(MODEL)
    Path("server.py").write_text(SERVER)
    code, out, _ = run(*named("ties", "lease.py", *reviewed(*SYMBOLS)), name="waterline")
    assert (code, Path("lease.ties.toml").exists()) == (0, True), out
    return run


def named(*arguments: str) -> tuple[str, ...]:
    return arguments


def reviewed(*symbols: str) -> list[str]:
    return [part for symbol in symbols for part in ("--reviewed", symbol)]


def ties(cli: Commands, *options: str) -> tuple[int, list[str]]:
    """The exit code, and the lines about what somebody has to look at."""
    code, out, _ = cli("ties", "lease.py", *options, name="waterline")
    return code, [line for line in out.splitlines() if not line_is_fine(line)]


def line_is_fine(line: str) -> bool:
    return line.endswith(
        (": reviewed", "-> none: the clock does it", "not modelled; it only reads")
    )


def edit(file: str, old: str, new: str) -> None:
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))


def test_each_action_claim_and_method_is_a_line_with_its_place(cli: Commands) -> None:
    code, out, err = cli("ties", "lease.py", name="waterline")

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "lease.py:18: grant -> server.py:5 Server.acquire: reviewed",
        "lease.py:18: grant -> server.py:15 Store.put: reviewed",
        "lease.py:27: expire -> none: the clock does it",
        "lease.py:36: one_holds -> server.py:19 check: reviewed",
        "server.py:10: Server.size: not modelled; it only reads",
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "line"),
    [
        (
            "server.py",
            "self.owner = client",
            "self.owner = 1",
            "lease.py:18: grant -> server.py:5 Server.acquire: changed since it was reviewed",
        ),
        (
            "server.py",
            "    def acquire",
            "    @cached\n    def acquire",
            "lease.py:18: grant -> server.py:6 Server.acquire: changed since it was reviewed",
        ),
        (
            "server.py",
            "assert server.owner",
            "assert server",
            "lease.py:36: one_holds -> server.py:19 check: changed since it was reviewed",
        ),
        (
            "server.py",
            "def check",
            "def checks",
            "lease.py:36: one_holds -> server.py:check: gone; server.py has no check; "
            "did you mean checks?",
        ),
        (
            "server.py",
            "    def size",
            "    def close(self):\n        self.owner = None\n\n    def size",
            "server.py:10: Server.close: described by no action",
        ),
        (
            "server.py",
            "def check",
            "def outer():\n  def check",
            "lease.py:36: one_holds -> server.py:check: gone; server.py has no check; "
            "did you mean outer.check?",
        ),
        (
            "server.py",
            "def check(server):",
            "def check(server):\n    pass\n\ndef check(server):",
            "lease.py:36: one_holds -> server.py:19 check: changed since it was reviewed",
        ),
        (
            "server.py",
            "def size",
            "def count",
            "lease.py:1: server.py:Server.size: gone; server.py has no Server.size",
        ),
        (
            "lease.py",
            "    Code: none, the clock does it\n",
            "",
            "lease.py:27: expire names no code; write Code: file.py:Class.method, or Code: none, "
            "REASON",
        ),
        (
            "lease.py",
            "server.py:check",
            "server.py:Server",
            "lease.py:36: one_holds -> server.py:4 Server: never reviewed",
        ),
    ],
)
def test_each_difference_is_a_line_and_exit_code_15(
    cli: Commands, file: str, old: str, new: str, line: str
) -> None:
    edit(file, old, new)
    code, lines = ties(cli)

    assert code == 15
    assert line in lines


def test_a_renamed_method_is_gone_and_its_new_name_described_by_nothing(cli: Commands) -> None:
    edit("server.py", "def acquire", "def take")

    assert ties(cli) == (
        15,
        [
            "lease.py:18: grant -> server.py:Server.acquire: gone; server.py has no Server.acquire",
            "server.py:5: Server.take: described by no action",
        ],
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        self.owner = client", "        # who has it\n\n        self.owner = client"),
        ("class Server:", "def added():\n    pass\n\n\nclass Server:"),
        ("    def size(self):\n        return 1\n", "    def size(self):\n        return 2\n"),
        ("class Store:", 'class Store:\n    """Of leases."""\n'),
        ("\n", "\r\n"),
    ],
)
def test_comments_and_code_elsewhere_are_no_difference(cli: Commands, old: str, new: str) -> None:
    edit("server.py", old, new)

    assert ties(cli) == (0, [])


def test_code_that_moves_to_another_file_is_gone(cli: Commands) -> None:
    Path("server.py").rename("moved.py")
    code, lines = ties(cli)

    assert code == 15
    assert lines[0] == (
        "lease.py:18: grant -> server.py:Server.acquire: unreadable; server.py cannot be read: "
        "No such file or directory"
    )


def test_a_review_is_of_the_symbols_that_are_named(cli: Commands) -> None:
    edit("server.py", "self.token = token", "self.token = 0")
    edit("server.py", "assert server.owner", "assert server")
    before = Path("lease.ties.toml").read_text().splitlines()
    code, lines = ties(cli, *reviewed("server.py:Store.put"))
    after = Path("lease.ties.toml").read_text().splitlines()

    assert code == 15
    assert lines == ["lease.py:36: one_holds -> server.py:19 check: changed since it was reviewed"]
    assert [
        line.split(" =")[0] for line, other in zip(before, after, strict=True) if line != other
    ] == ['"server.py:Store.put"']


def test_a_symbol_that_nothing_names_leaves_the_lock_file_with_the_next_review(
    cli: Commands,
) -> None:
    edit("lease.py", "server.py:Server.acquire, ", "")
    cli("ties", "lease.py", *reviewed("server.py:check"), name="waterline")

    assert "acquire" not in Path("lease.ties.toml").read_text()


@pytest.mark.parametrize(
    ("symbol", "said"),
    [
        ("server.py:Server.aquire", "names it; did you mean server.py:Server.acquire?"),
        ("server.py:Server.size", "no action or claim of lease.py names it"),
        ("server.py:check", "its code is not there, or cannot be read"),
    ],
)
def test_what_cannot_be_reviewed_is_one_line(cli: Commands, symbol: str, said: str) -> None:
    edit("server.py", "def check", "def checks")
    code, _, err = cli("ties", "lease.py", *reviewed(symbol), name="waterline")

    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Code: none, the clock does it", "Code: none", "Code: none has no reason; write Code:"),
        ("Code: none, the clock", "Code: the clock", "'the clock does it' is no symbol of a file"),
        ("server.py:check", "server.py", "'server.py' is no symbol of a file"),
        ("server.py:check", "server.py:check()", "'server.py:check()' is no symbol"),
        ("server.py:Store.put", "", "'' is no symbol of a file"),
        (", it only reads", "", "write Not modelled: file.py:Class.method, REASON"),
    ],
)
def test_a_mistake_in_a_docstring_is_one_line(cli: Commands, old: str, new: str, said: str) -> None:
    edit("lease.py", old, new)
    code, _, err = cli("ties", "lease.py", name="waterline")

    assert code == 2
    assert said in err
    assert err.startswith("error: lease.py:")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<<<<<<< HEAD\n{}=======\n{}>>>>>>> other\n", "lease.ties.toml:1: a merge left both"),
        ("{}{}", "lease.ties.toml is no TOML: "),
        ("{}oops", "lease.ties.toml is no TOML: "),
        ('{}"server.py:new" = "0123"\n', "'server.py:new' has no digest but '0123'; review"),
        ('{}"server.py:new" = true\n', "'server.py:new' has no digest but True; review"),
        ("{}\xff", "lease.ties.toml is not UTF-8"),
    ],
)
def test_a_lock_file_that_is_broken_is_one_line(cli: Commands, text: str, said: str) -> None:
    kept = Path("lease.ties.toml").read_text()
    Path("lease.ties.toml").write_bytes(text.replace("{}", kept).encode("latin-1"))
    for options in ((), reviewed("server.py:check")):
        code, _, err = cli("ties", "lease.py", *options, name="waterline")

        assert (code, len(err.splitlines())) == (2, 1)
        assert said in err


def test_a_digest_edited_by_hand_is_a_change(cli: Commands) -> None:
    lock = Path("lease.ties.toml")
    lines = lock.read_text().splitlines(keepends=True)
    lock.write_text("".join(lines[:-1]) + f'"server.py:check" = "{"0" * 32}"\n')

    assert ties(cli) == (
        15,
        ["lease.py:36: one_holds -> server.py:19 check: changed since it was reviewed"],
    )


def test_without_a_lock_file_nothing_is_reviewed(cli: Commands) -> None:
    Path("lease.ties.toml").unlink()
    code, lines = ties(cli)

    assert code == 15
    assert all(line.endswith(": never reviewed") for line in lines)
    assert len(lines) == len(SYMBOLS)


def test_a_lock_file_that_is_a_link_is_not_written_through(cli: Commands, tmp_path: Path) -> None:
    kept = Path("lease.ties.toml").rename("elsewhere.toml")
    Path("lease.ties.toml").symlink_to(kept)
    text = kept.read_text()
    edit("server.py", "assert server.owner", "assert server")
    code, _, err = cli("ties", "lease.py", *reviewed("server.py:check"), name="waterline")

    assert code == 2
    assert "a symbolic link" in err
    assert kept.read_text() == text


@pytest.mark.parametrize("way", ["link", "dots"])
def test_a_file_outside_of_the_sources_is_not_read(cli: Commands, tmp_path: Path, way: str) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.py"
    outside.write_text("def check(): pass\n")
    if way == "link":
        Path("linked.py").symlink_to(outside)
    file = "linked.py" if way == "link" else os.path.relpath(outside)
    edit("lease.py", "server.py:check", f"{file}:check")
    code, lines = ties(cli)

    assert code == 15
    assert "outside of ." in lines[0]


def test_sources_may_be_in_another_folder_and_linked_within_it(cli: Commands) -> None:
    Path("src/inner").mkdir(parents=True)
    Path("server.py").rename("src/inner/real.py")
    Path("src/server.py").symlink_to("inner/real.py")
    edit("lease.py", "Not modelled:", "Sources: src\nNot modelled:")
    code, out, _ = cli("ties", "lease.py", name="waterline")

    assert code == 0
    assert "lease.py:18: grant -> src/server.py:5 Server.acquire: reviewed" not in out
    assert "-> src/server.py:5 Server.acquire: reviewed" in out


def test_a_source_that_does_not_parse_is_one_line_for_each_tie(cli: Commands) -> None:
    edit("server.py", "def size(self):", "def size(self:")
    code, lines = ties(cli)

    assert code == 15
    assert [line.partition("; ")[2] for line in lines] == [
        "server.py:10: no Python: '(' was never closed"
    ] * 4


def test_other_languages_need_the_extra_and_say_so(
    cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("Server.java").write_text("class Server { void acquire() {} }\n")
    edit("lease.py", "server.py:check", "Server.java:Server.acquire")
    assert ties(cli)[1] == [
        "lease.py:36: one_holds -> Server.java:1 Server.acquire: never reviewed"
    ]

    from waterline.checker.problem import distribution  # noqa: PLC0415
    from waterline.checker.ties import grammar_source  # noqa: PLC0415

    grammar_source._parser.cache_clear()
    monkeypatch.setattr(distribution, "find_spec", lambda name: None)
    code, _, err = cli("ties", "lease.py", name="waterline")

    assert code == 2
    assert err == (
        "error: a tie to a .java file needs tree_sitter, which is not installed: "
        "pip install 'waterline-checker[ties]'\n"
    )


def test_every_tie_is_a_value_of_the_json(cli: Commands) -> None:
    edit("server.py", "assert server.owner", "assert server")
    code, out, err = cli("ties", "lease.py", "--format", "json", name="waterline")
    found = json.loads(out)

    assert (code, err) == (15, "")
    assert (found["format"], found["model"]) == ("waterline-ties/1", "lease.py")
    assert [tie["name"] for tie in found["ties"] if not tie["is_fine"]] == ["one_holds"]
    assert found["ties"][0] == {
        "name": "grant",
        "place": "lease.py:18",
        "symbol": "server.py:Server.acquire",
        "where": "server.py:5",
        "state": "reviewed",
        "is_fine": True,
        "note": None,
    }


def test_a_gate_that_asks_fails_on_what_is_not_as_reviewed(cli: Commands) -> None:
    Path("gate.toml").write_text(GATE)
    first, _, _ = cli("gate", "gate.toml", "--allow-models", name="waterline")
    edit("server.py", "self.owner = client", "self.owner = 1")
    kept = lock_of("lease.py").read_bytes()
    code, out, _ = cli("gate", "gate.toml", "--allow-models", "--update", name="waterline")
    Path("gate.toml").write_text(GATE.replace("ties = true\n", ""))
    without, _, _ = cli("gate", "gate.toml", "--allow-models", name="waterline")

    assert (first, code, without) == (0, 3, 0)
    assert "server.py:5 Server.acquire: changed since it was reviewed" in " ".join(out.split())
    assert lock_of("lease.py").read_bytes() == kept, "gate --update never reviews"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("lease.ties.toml", '"server', '<<<<<<< HEAD\n"server', "a merge left both sides here"),
        ("server.py", "def size(self):", "def size(self:", "was never closed"),
    ],
)
def test_a_gate_names_what_cannot_be_read(
    cli: Commands, file: str, old: str, new: str, said: str
) -> None:
    Path("gate.toml").write_text(GATE)
    edit(file, old, new)
    code, out, _ = cli("gate", "gate.toml", "--allow-models", name="waterline")

    assert code == 3
    assert said in " ".join(out.split())


def test_ties_of_a_gate_are_of_models_of_ones_own(cli: Commands) -> None:
    Path("gate.toml").write_text(
        '[[expect]]\nname = "k"\nprotocol = "hw"\nties = true\nverdicts = { sane = "holds" }\n'
    )
    code, _, err = cli("gate", "gate.toml", name="waterline")

    assert code == 2
    assert "gate.toml:4:1: k: unknown key 'ties'" in err
