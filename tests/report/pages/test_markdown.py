"""A trace as the text of a ticket: the whole text, and that nothing in it is markup."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from checker.checking.run import run
from checker.cli.traces.recorded import recorded
from checker.kafka.families import MESSAGE
from checker.report.pages.formats import FORMATS, Converted
from checker.report.pages.markdown import escaped, to_markdown
from checker.search.engines.choice import EngineChoice
from counterexamples import NO_CLAIM, trace_of, write_trace
from tests.support.commands import Commands
from tests.support.confirmed_traces import FOLDER, TRACES, confirmed_in
from tests.support.own import example
from tests.support.pages import Page
from tests.support.pictured import LOSS, story

GOLDEN = Path(__file__).parent / "markdown"
NASTY = (
    "a *bold* _claim_ of `x` [link](http://evil) <img src=x> | ~~gone~~ &amp; $x$ #1 !",
    "# no heading",
    "1. no list",
    "12) nor this",
    "- nor this",
    "+ nor this",
    "> no quotation",
    "=== nor a heading",
    "two\nlines\n\n    and a block",
    r"a \* backslash",
    "snake_case and __init__",
    "```",
)


def by_hand() -> Converted:
    """Two steps that were chosen, and claim nothing."""
    problem = MESSAGE.problem_of("hw", MESSAGE.usual.options(), [NO_CLAIM])
    write_trace(
        path := Path("by-hand.json"),
        trace_of(problem.model, NO_CLAIM, (("Produce", (0,)), ("Crash", (1,)))),
    )
    found = recorded(path, None)
    return Converted(problem=found.problem, finding=found.finding)


def of_philosophers() -> Converted:
    problem = example("philosophers", tie_break=False)
    findings = run(problem, EngineChoice(name="local", threads=1)).findings
    finding = next(f for f in findings if f.invariant == "hungers_leads_to_eats.seat0")
    return Converted(problem=problem, finding=finding)


def of_the_loss() -> Converted:
    found = confirmed_in(LOSS)
    return Converted(problem=found.problem, finding=found.finding)


@pytest.mark.parametrize("made", [of_the_loss, of_philosophers, by_hand])
def test_the_whole_text_is_as_it_was(
    made: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert callable(made)
    text = FORMATS["markdown"](made())

    assert text == (GOLDEN / f"{made.__name__}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", NASTY)
def test_nothing_in_a_text_is_markup(text: str) -> None:
    """In a headline, a numbered line and a quotation the reader sees the characters themselves."""
    for before, tags in (("# ", {"h1"}), ("1. ", {"ol", "li"}), ("> ", {"blockquote", "p"})):
        page = Read(MarkdownIt("js-default").render(before + escaped(text)))

        assert page.tags == tags
        assert " ".join(page.words.split()) == " ".join(text.split())


class Read(Page):
    """The words of what a ticket shows."""

    words = ""

    def handle_data(self, data: str) -> None:
        self.words += data


def test_texts_of_a_claim_and_of_a_model_are_escaped() -> None:
    found = confirmed_in(LOSS)
    nasty = replace(found.finding, sentence=NASTY[0], explanation=f"{NASTY[0]}\x1b[2J")
    page = Read(MarkdownIt("js-default").render(to_markdown(found.problem, nasty)))

    assert page.tags.isdisjoint({"img", "a", "em", "code-block", "s"})
    assert NASTY[0] in page.words
    assert r"\x1b[2J" in page.words


@pytest.mark.parametrize("name", TRACES)
def test_every_step_is_a_numbered_line(name: str) -> None:
    found = confirmed_in(name)
    text = to_markdown(found.problem, found.finding)
    told = [story(name).sentence(step) for step in range(1, story(name).steps + 1)]
    [lines] = re.findall(r"\n## \d+ steps?\n\n(.*?)\n\n(?:## |For ever)", text, re.DOTALL)
    numbered = [line for line in lines.splitlines() if not line.startswith(" ")]

    assert [int(line.partition(". ")[0]) for line in numbered] == list(range(1, len(told) + 1))
    for line, sentence in zip(numbered, told, strict=True):
        assert line.partition(". ")[2].removeprefix("**fault:** ").startswith(escaped(sentence))


def test_convert_writes_it(cli: Commands) -> None:
    code, out, _ = cli("convert", FOLDER / LOSS, "--to", "markdown", name="waterline")

    assert code == 0
    assert out == (GOLDEN / "of_the_loss.md").read_text(encoding="utf-8")
