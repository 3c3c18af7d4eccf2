"""The documents say what is so: commands, output, options, keys, and where things are.

The quick start and some commands are run here; all that is shown, in tests/verify.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from lab.documents import brokers, catalogue
from lab.documents import tables as document_tables
from tests.support.commands import Commands
from waterline.checker.ci.reading import read_gate
from waterline.checker.cli.commands import command_of
from waterline.checker.cli.gate_options import asking
from waterline.checker.cli.shared import exit_codes
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.user_models.start import start_of

ROOT = Path(__file__).parents[1]
SHOWN = "".join(
    (ROOT / path).read_text(encoding="utf-8")
    for path in (
        "README.md",
        "docs/tutorial.md",
        "docs/counterexamples.md",
        "docs/running.md",
        "docs/unbounded.md",
    )
)
"""The documents that show output, and what to write to a file or to Python."""
LEFT_OUT = "[...]"
_CONSOLE = r"<!-- run -->\n```console\n\$ \.venv/bin/(.+)\n((?:.*\n)+?)```"
RUNS = list(dict.fromkeys(re.findall(_CONSOLE, SHOWN)))
"""Commands with their output. What two documents show alike is run once."""
COMMANDS = (
    "ask",
    "cache",
    "certify",
    "check",
    "compare",
    "confirm",
    "convert",
    "explain",
    "explain-logs",
    "gate",
    "kernel",
    "matrix",
    "mutate",
    "paths",
    "prove",
    "run",
    "scenarios",
    "simulate",
    "states",
    "ties",
    "tour",
    "view",
)
DOCUMENTS = [
    path
    for folder in (ROOT, ROOT / "docs", ROOT / "docs" / "results")
    for path in sorted(folder.glob("*.md"))
]


def document(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


Run = Callable[[str], tuple[int, str]]


@pytest.fixture
def run(cli: Commands, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as it is written, in this process: its exit code, and what it prints."""
    monkeypatch.chdir(ROOT)

    def run(command: str) -> tuple[int, str]:
        name, *arguments = shlex.split(command)
        code, printed, _ = cli(*arguments, name=name)
        return code, printed

    return run


def assert_pasted(shown: str, printed: str) -> None:
    """Each piece between two marks of omission occurs as it is, in order."""
    at = 0
    for piece in shown.split(f"{LEFT_OUT}\n"):
        at = printed.find(piece, at)
        assert at >= 0, f"not printed:\n{piece}"
        at += len(piece)


@pytest.mark.parametrize(
    "command",
    [
        "waterline compare examples/traces/hw-no_committed_loss-2r2n2e.json --protocol epoch",
        "waterline check --protocol epoch --unbounded --engine local",
        "check --protocol hw --engine local",
        "waterline run --protocol hw --records 1 --script examples/scripts/two-round-trips.steps",
    ],
)
def test_output_is_pasted_unedited(command: str, run: Run) -> None:
    [shown] = [shown for known, shown in RUNS if known == command]

    assert_pasted(shown, run(command)[1])


CLAIMED = {
    "check --kafka 4.2": (0, "Larger bounds lose a record under elr: C21 needs 3 replicas"),
    "waterline scenarios": (0, "C21 stale-remote-leo"),
    "check --protocol kip320 --without fencing --moves 2 --epochs 3": (12, ": m1 is lost."),
    "check --protocol hw": (12, "VIOLATED acknowledged_durable after 12 steps"),
    "check --scenario stale-remote-leo": (12, "VIOLATED acknowledged_durable after 15 steps"),
    "waterline --help": (0, "Your Kafka cluster: matrix"),
    "check --help": (0, "--help-all Show all options"),
    "check --help-all": (0, "--late-booking"),
    "check --list": (0, "no_committed_loss"),
    "check --grain atomic --protocol kip320 --replicas 3 --engine local": (12, "leader_in_isr"),
    "check --fluss 0.9.1 --replicas 1 --restarts 1": (12, ": m1 is lost."),
    "waterline scenarios C51 C52 C53 C54": (0, "Holds under"),
    "check --kafka 2.3.1": (0, "kip320-code (Kafka 2.1 to 2.3): "),
    "check --kafka 3.7:zookeeper": (0, "(Kafka 3.7 to 3.9.0 with ZooKeeper): "),
    "check --kafka 4.0:elr": (0, "(Kafka 4.0.0 with ELR): "),
    "waterline versions 4.2": (0, "The controller Fence When: "),
    "waterline kernel --protocol kip320 --rule advance_high_watermark": (0, "define "),
    "waterline view examples/traces/hw-no_committed_loss-2r2n2e.json": (0, "m1 is lost."),
    "check --protocol hw --engine local --view": (12, "m1 is lost."),
    "check --kafka 4.2 --scenario C21": (12, "VIOLATED acknowledged_durable after 17 steps"),
    "check --protocol kip320 --moves 2 --epochs 3": (0, "HOLDS no_committed_loss"),
}
"""Exit code and words that a sentence leads one to expect of a command, run as it stands.

The last two are the other half of what a sentence claims, and of what is advised.
"""
_LINE = r"(?:\.venv/bin/)?((?:check|waterline) .+)"
_FORM = re.compile(
    r"waterline (ask|confirm|matrix|gate|run|new|explain-logs|mcp|prove|view incident)"
    r"|scenarios .*--run|[A-Z]{4}|\.\.\.|s3:|^\w+ [\w-]+$|^waterline certify"
    r"|^(waterline )?check( --[a-z]+)+$"
    r"|^check --unbounded --engine local$|--format json$|--to tla$"
)
"""Forms of commands, and those that need brokers, a cluster, a solver or files of the reader's own.

Their documents are tested elsewhere: tests/kafka, tests/ci, tests/user_models, tests/verify.
"""


def first_screen(path: Path) -> list[str]:
    """The commands outside of blocks of output: of README all, of others on the first screen."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(lines if path.name == "README.md" else lines[:40])
    text = re.sub(r"```.*?(```|\Z)", "", text, flags=re.DOTALL)
    inline = re.findall(r"`([^`]+)`", re.sub(r"\s+", " ", text))
    indented = re.findall(r"^ {4}(\S.*?)(?: +#.*)?$", text, re.MULTILINE)
    return [m[1] for each in (*inline, *indented) if (m := re.fullmatch(_LINE, each))]


def offenders(
    found_in: Callable[[Path], Iterable[object]], documents: Iterable[Path] = DOCUMENTS
) -> dict[str, list[object]]:
    """The documents in which something is found, and what."""
    found = {str(path.relative_to(ROOT)): list(found_in(path)) for path in documents}
    return {name: each for name, each in found.items() if each}


def test_every_command_of_a_first_screen_is_run() -> None:
    run = [command for command, _ in RUNS]

    def unknown(path: Path) -> list[str]:
        return [
            command
            for command in first_screen(path)
            if command not in CLAIMED and command not in run and not _FORM.search(command)
        ]

    assert offenders(unknown, set(DOCUMENTS) - {ROOT / "CHANGELOG.md"}) == {}


@pytest.mark.parametrize(
    "command",
    [
        "waterline scenarios",
        "check --protocol hw",
        "check --help-all",
        "check --list",
        "waterline versions 4.2",
        "waterline view examples/traces/hw-no_committed_loss-2r2n2e.json",
    ],
)
def test_a_command_does_what_the_sentence_about_it_says(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_as_claimed(command, run, monkeypatch)


def assert_as_claimed(command: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code of a command, and the words."""
    expected, words = CLAIMED[command]
    if command.startswith("check ") and "--help" not in command and "--list" not in command:
        # Of the search of a scenario the first violation is enough.
        command += " --engine local" + " --stop-at-first" * ("--scenario" in command)
    monkeypatch.setenv("COLUMNS", "120")
    code, printed = run(command)

    assert code == expected
    assert words in " ".join(printed.split())


def test_the_readme_counts_the_entries_of_the_catalogue() -> None:
    assert f"lists {len(CATALOGUE)} known failures" in (ROOT / "README.md").read_text(
        encoding="utf-8"
    )


def test_every_console_block_is_run() -> None:
    assert len(re.findall(_CONSOLE, SHOWN)) == SHOWN.count("```console") > 0


def test_the_python_example_prints_what_is_shown() -> None:
    [(program, shown)] = re.findall(r"```python\n(.+?)```.+?```text\n(.+?)```", SHOWN, re.DOTALL)
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(program, "running.md", "exec"), {})

    assert printed.getvalue() == shown


_OF_OTHER_TOOLS = re.compile(
    r"`kafka-[\w-]+ --[^`]+`(?:, with `--all`)?"
    r"|^ {4}(?:kafka-[a-z-]+|podman) .*$|^\$ pytest .*$"
    r"|kafka-topics\.sh(?:\s+(?:--[a-z-]+|HOST:PORT))+",
    re.MULTILINE,
)
"""Commands of Kafka's, of podman's and of pytest's, whose options are their own."""


@functools.cache
def options_in_help() -> set[str]:
    # In this process: that each prints it in one that has loaded nothing else, test_imports shows.
    runner = CliRunner()
    printed = [
        runner.invoke(command_of(command), [option]).output
        for command in COMMANDS
        for option in ("--help", "--help-all")
    ]
    return set(re.findall(r"--[a-z][a-z-]*[a-z]", "".join(printed)))


def options_of_programs() -> set[str]:
    """Options of the programs of lab/, by their text."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "lab").rglob("*.py"))
    options = re.compile(r'(?:"|(?<=[a-z])/)(--[a-z][a-z-]*[a-z])(?=["/])')
    return {option for text in texts for option in options.findall(text)}


def options_named(path: Path) -> set[str]:
    """The options that a document names, but for those of other tools."""
    text = _OF_OTHER_TOOLS.sub("", path.read_text(encoding="utf-8"))
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", text))


def test_every_option_named_is_one_of_a_command_or_program() -> None:
    known = options_in_help() | options_of_programs() | {"--help"}

    assert offenders(lambda path: options_named(path) - known) == {}


def test_the_exit_codes_are_those_of_the_help() -> None:
    in_help = set(re.findall(r"^ {2}(\d+) ", exit_codes.HELP, re.MULTILINE))
    described = set(re.findall(r"^\| (\d+) \|", document("running.md"), re.MULTILINE))

    assert described == in_help


@pytest.mark.parametrize("entry", re.findall(r"```toml\n(.+?)```", SHOWN, re.DOTALL))
def test_a_gate_that_is_shown_is_a_gate(entry: str, tmp_path: Path) -> None:
    file = tmp_path / "gate.toml"
    file.write_text(entry, encoding="utf-8")
    (tmp_path / "lease.py").write_text(start_of("lease"), encoding="utf-8")

    [expectation] = read_gate(file, asking(), allow_models=True)

    assert expectation.verdicts


def test_a_fresh_project_passes_its_gate_and_fails_as_shown(tmp_path: Path, run: Run) -> None:
    """The commands but for the installation, which takes half a gigabyte."""
    entry, *_ = re.findall(r"```toml\n(.+?)```", SHOWN, re.DOTALL)
    [shown] = re.findall(r"<!-- gate: broken -->\n```text\n(.+?)```", SHOWN, re.DOTALL)
    second = '    when(s.client_state[s.holder] == "crashed")\n'
    model, command = tmp_path / "lease.py", f"waterline gate {tmp_path}/gate.toml --allow-models"
    (tmp_path / "gate.toml").write_text(entry, encoding="utf-8")
    model.write_text(start_of("lease"), encoding="utf-8")
    passed = run(command)[1]
    model.write_text(start_of("lease").replace(second, ""), encoding="utf-8")
    failed = run(command)[1]

    assert "as expected" in passed
    assert_pasted(shown, failed)


def test_every_table_that_follows_from_declarations_is_in_some_document() -> None:
    texts = [path.read_text(encoding="utf-8") for path in document_tables.documents()]
    named = [name for text in texts for name in re.findall(r"<!-- table: (\w+) -->", text)]

    assert sorted(named) == sorted(document_tables.TABLES)


@functools.cache
def names_in(path: Path) -> set[str]:
    """Everything that a module defines at its top."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def test_every_place_in_the_code_that_is_named_exists() -> None:
    def missing(path: Path) -> Iterator[str]:
        text = path.read_text(encoding="utf-8")
        for file, name in re.findall(r"`([\w/]+\.py)(?:::?(\w+))?`", text):
            if not (ROOT / file).is_file():
                yield file
            elif name and name not in names_in(ROOT / file):
                yield f"{file}:{name}"

    assert offenders(missing) == {}


def test_every_link_to_a_file_leads_somewhere() -> None:
    def broken(path: Path) -> Iterator[str]:
        for link in re.findall(r"\]\(((?!https?:)[^)#]+)", path.read_text(encoding="utf-8")):
            if not (path.parent / link).exists():
                yield link

    assert offenders(broken) == {}


def test_every_key_of_a_result_is_described(run: Run) -> None:
    result = json.loads(run("check --protocol hw --engine local --format json")[1])
    invariant = result["invariants"]["no_committed_loss"]
    keys = {*result, *invariant, *invariant["trace"], *invariant["trace"]["steps"][0]}

    described = set(re.findall(r"^\| `([\w-]+)` \|", document("formats.md"), re.MULTILINE))

    assert keys <= described


def anchors(path: Path) -> set[str]:
    """What a link to a part of the document may name: its headings, as they are addressed."""
    text = path.read_text(encoding="utf-8")
    for maker in (brokers, catalogue):
        text = text.replace(maker.PLACE, maker.page() if maker.PLACE in text else "")
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def test_every_part_of_a_document_that_is_linked_exists() -> None:
    def broken(path: Path) -> Iterator[str]:
        text = re.sub(r"\s*\n\s*", " ", path.read_text(encoding="utf-8"))
        for target, part in re.findall(r"\]\(((?!https?:)[^)#]*)#([^)]+)\)", text):
            if part not in anchors(path.parent / target if target else path):
                yield f"{target}#{part}"

    assert offenders(broken) == {}
