"""Digests of symbols: what changes one, what does not, and what no file is run for."""

from __future__ import annotations

import pytest

from waterline.checker.ties.sources import symbols_in
from waterline.checker.ties.symbol import Kind, Symbols, Unreadable

PYTHON = '''\
"""A server."""
import functools

class LeaseServer:
    def __init__(self):
        self.owner = None

    @functools.cache
    def acquire(self, client: str, *, wait=None) -> int:
        """Take it."""
        # Nobody waits.
        def later(x):
            return f"{x!r:>{4}} late"
        if self.owner is not None:
            raise ValueError("held")
        return later(client)

    @property
    def size(self): return 1
    @size.setter
    def size(self, value): self.kept = value

if True:
    def acquire(): return 1
else:
    def acquire(): return 2
'''
JAVA = """\
class Server<T> {
    private int tokens; // a field
    /** Takes it. */
    @Deprecated
    public synchronized <U> long acquire(int client) throws Denied {
        if (owner != null) { throw new Denied("held  }"); } /* somebody
        waits */
        return ++tokens;
    }
    long acquire(long client) { return 2; }
    private void hidden() { }
    Server() { }
    static class Store { void write() { } }
}
"""
SCALA = """\
object Server { def apply(n: Int): Server = new Server(n) }
class Server[T](n: Int) {
  @volatile private[server] def size: Int = 1
  def acquire(client: Int): Long = {
    val tokens = n
    // granted
    -client
    s"got ${tokens + 1} of"
  }
}
"""
GO = """\
package server

// Put stores it.
func (s *Server[T]) Put(token int) error {
	if token < s.highest {
		return denied
	}
	return nil
}

func (s Server[T]) lower() {}
func New() *Server { return nil }
type Server[T any] struct { highest int }
"""
RUST = """\
mod inner {
    impl<T> Server<T> {
        /// Stores it.
        #[inline]
        pub fn write(&mut self, token: u64) -> bool { self.log("a  b"); token >= self.highest }
        fn check(&self) {}
    }
    impl Drop for Server<u8> { fn drop(&mut self) {} }
}
struct Server { highest: u64 }
"""
TEXTS = {"a.py": PYTHON, "A.java": JAVA, "a.scala": SCALA, "a.go": GO, "a.rs": RUST}


def symbols(file: str, text: str) -> Symbols:
    return symbols_in(file, text.encode())


def changed(file: str, old: str, new: str) -> set[str]:
    """The symbols whose digest another text changes."""
    text = TEXTS[file]
    assert old in text
    was, now = symbols(file, text), symbols(file, text.replace(old, new))
    return {name for name in was if name not in now or now[name].digest != was[name].digest}


@pytest.mark.parametrize(
    ("file", "names"),
    [
        (
            "a.py",
            "LeaseServer LeaseServer.__init__ LeaseServer.acquire LeaseServer.acquire.later "
            "LeaseServer.size acquire",
        ),
        (
            "A.java",
            "Server Server.acquire Server.hidden Server.Server Server.Store Server.Store.write",
        ),
        ("a.scala", "Server Server.apply Server.size Server.acquire"),
        ("a.go", "Server.Put Server Server.lower New"),
        (
            "a.rs",
            "inner.Server inner.Server.write inner.Server.check inner.Server.drop Server",
        ),
    ],
)
def test_symbols_are_named_by_what_they_stand_in(file: str, names: str) -> None:
    assert set(symbols(file, TEXTS[file])) == set(names.split())


@pytest.mark.parametrize(
    ("file", "requests"),
    [
        ("a.py", {"LeaseServer.acquire", "LeaseServer.size"}),
        ("A.java", {"Server.acquire", "Server.Store.write"}),
        ("a.scala", {"Server.apply", "Server.acquire"}),
        ("a.go", {"Server.Put"}),
        ("a.rs", {"inner.Server.write"}),
    ],
)
def test_private_methods_constructors_and_functions_are_no_requests(
    file: str, requests: set[str]
) -> None:
    found = symbols(file, TEXTS[file])
    methods = {n for n, s in found.items() if s.kind is Kind.METHOD and not s.is_internal}

    assert methods == requests


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("a.py", "        # Nobody waits.\n", "\n\n"),
        ("a.py", '        """Take it."""\n', '        """Get it: { }"""\n'),
        ("a.py", '        """Take it."""\n', ""),
        ("a.py", "return later(client)", "return (later(\n            client,\n        ))"),
        ("a.py", '"held"', "'held'"),
        ("a.py", "\n", "\r\n"),
        ("A.java", "// a field", "// two"),
        ("A.java", "/* somebody\n        waits */", ""),
        ("A.java", "if (owner != null) {", "if (owner  !=\n null)\n{"),
        ("A.java", "\n", "\r\n"),
        ("a.scala", "// granted", "/* was granted */"),
        ("a.go", "// Put stores it.", "// Put keeps it."),
        ("a.rs", "/// Stores it.", "/** Keeps it. */"),
        ("a.rs", "#[inline]\n", "#[inline]\n// so it is\n"),
    ],
)
def test_comments_blank_lines_and_docstrings_do_not_count(file: str, old: str, new: str) -> None:
    assert changed(file, old, new) == set()


@pytest.mark.parametrize(
    ("file", "old", "new", "names"),
    [
        ("a.py", '"held"', '"helt"', {"LeaseServer", "LeaseServer.acquire"}),
        ("a.py", "@functools.cache", "@functools.wraps", {"LeaseServer", "LeaseServer.acquire"}),
        ("a.py", "    @functools.cache\n", "", {"LeaseServer", "LeaseServer.acquire"}),
        ("a.py", "wait=None", "wait=0", {"LeaseServer", "LeaseServer.acquire"}),
        ("a.py", "self.kept = value", "pass", {"LeaseServer", "LeaseServer.size"}),
        ("a.py", "return 2", "return 1", {"acquire"}),
        ("a.py", "{4}", "{5}", {"LeaseServer", "LeaseServer.acquire", "LeaseServer.acquire.later"}),
        ("A.java", "@Deprecated\n", "", {"Server", "Server.acquire"}),
        ("A.java", "return 2", "return 3", {"Server", "Server.acquire"}),
        ("A.java", '"held  }"', '"held }"', {"Server", "Server.acquire"}),
        ("A.java", "synchronized ", "", {"Server", "Server.acquire"}),
        ("a.scala", "@volatile ", "", {"Server", "Server.size"}),
        ("a.scala", " of", "  of", {"Server", "Server.acquire"}),
        # The end of a line ends a statement: n - client is another one.
        ("a.scala", "n\n    // granted\n    -", "n -", {"Server", "Server.acquire"}),
        ("a.go", "token < s", "token <= s", {"Server", "Server.Put"}),
        ("a.go", "return denied", "return\n\t\tdenied", {"Server", "Server.Put"}),
        ("a.rs", "#[inline]\n", "#[cold]\n", {"inner.Server", "inner.Server.write"}),
        ("a.rs", '"a  b"', '"a b"', {"inner.Server", "inner.Server.write"}),
    ],
)
def test_whatever_else_changes_counts(file: str, old: str, new: str, names: set[str]) -> None:
    assert changed(file, old, new) == names


def test_a_symbol_that_moves_within_its_file_is_the_same() -> None:
    moved = PYTHON.replace("import functools\n", "import functools\n\ndef new(): pass\n\n")

    assert symbols("a.py", moved)["LeaseServer.acquire"].line == 12
    assert (
        symbols("a.py", moved)["LeaseServer.acquire"].digest
        == symbols("a.py", PYTHON)["LeaseServer.acquire"].digest
    )


def test_a_digest_means_the_same_to_every_version_of_python() -> None:
    found = symbols("a.py", PYTHON)

    assert found["LeaseServer"].digest == "0a05b2ad14a7a50f97ab73a5284559a0"
    assert found["acquire"].digest == "b8bae7972e091e2ca825e3521dce9267"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("A.java", "class A { Runnable later = new Runnable() { public void run() { } }; }"),
        ("a.scala", "class A {\n  val later = new Runnable { def run(): Unit = () }\n}"),
    ],
)
def test_a_method_of_a_class_without_a_name_is_none_of_the_class_around_it(
    file: str, text: str
) -> None:
    found = symbols(file, text)

    assert set(found) == {"A", "A.new.run"}
    assert found["A.new.run"].kind is Kind.FUNCTION


def test_a_file_is_parsed_and_not_run() -> None:
    assert set(symbols("a.py", "def f(): pass\nraise SystemExit(9)\n")) == {"f"}


def test_an_escape_that_python_warns_of_is_no_error() -> None:
    assert set(symbols("a.py", "def f(): return '\\d'\n")) == {"f"}


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("a.py", "def f(:\n", "a.py:1: no Python: invalid syntax"),
        ("a.py", "x = 1\ndef f():\n", "a.py:2: no Python: expected an indented block"),
        ("a.py", "def f(): return '\0'", "a.py:1: no Python"),
        ("A.java", "class A {\n void f( { }\n}\n", "A.java:2: no java that tree_sitter_java can"),
        ("a.go", "package a\nfunc F() {\n", "a.go:2: no go"),
        ("a.rs", "fn f() {\n let x = ;\n}", "a.rs:2: no rs"),
        ("a.scala", "class A {\n  def f( = 1\n}", "a.scala:2: no scala"),
        ("a.c", "int x;", "a.c:1: no source that is read: those are .py, .go, .java"),
        ("a", "", "a:1: no source"),
    ],
)
def test_a_file_that_does_not_parse_is_one_line(file: str, text: str, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        symbols(file, text)

    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", f"def f(): return {'-' * 3000}1"),
        ("a.py", f"def f(): return {'x.' * 3000}x"),
        ("A.java", f"class A {{ void f() {{ return {'(' * 3000}1{')' * 3000}; }} }}"),
    ],
)
def test_what_is_nested_too_deeply_is_one_line(file: str, text: str) -> None:
    with pytest.raises(Unreadable, match=r"nested too deeply|too many nested|recursion"):
        _ = [each.digest for each in symbols(file, text).values()]
