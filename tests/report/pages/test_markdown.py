"""A trace as the text of a ticket: the whole text, and that nothing in it is markup.

    python -m tests.report.pages.test_markdown

writes the whole texts anew, where sentences have changed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.support.commands import Commands
from tests.support.confirmed_traces import FOLDER, TRACES, confirmed_in
from tests.support.own import EXAMPLES
from tests.support.pages import Page
from tests.support.pictured import LOSS, story
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import asked_alone
from waterline.checker.report.pages.formats import FORMATS, Converted
from waterline.checker.report.pages.markdown import escape, to_markdown
from waterline.checker.traces.finding import confirm_trace
from waterline.checker.user_models.family import family_in
from waterline.counterexamples import NO_CLAIM, trace_of

GOLDEN = Path(__file__).parent / "markdown"
EATING = ("hunger", "take_left", "take_right", "put")
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
    problem = MESSAGE.problem("hw", MESSAGE.usual.options(), [NO_CLAIM])
    trace = trace_of(problem.model, NO_CLAIM, (("Produce", (0,)), ("Crash", (1,))))
    finding = confirm_trace(trace, problem.model, asked_alone(problem))
    return Converted(problem=problem, finding=finding)


def of_philosophers() -> Converted:
    family = family_in(EXAMPLES / "philosophers.py")
    claim = "hungers_leads_to_eats.seat0"
    problem = family.problem("philosophers", {"tie_break": False}, [claim])
    calls = (("hunger", (0,)), *((name, (2,)) for name in EATING))
    trace = replace(trace_of(problem.model, claim, calls), cycle=1)
    finding = confirm_trace(trace, problem.model, asked_alone(problem))
    return Converted(problem=problem, finding=finding)


def of_the_loss() -> Converted:
    found = confirmed_in(LOSS)
    return Converted(problem=found.problem, finding=found.finding)


WHOLE = {"loss": of_the_loss, "philosophers": of_philosophers, "by_hand": by_hand}


@pytest.mark.parametrize("name", WHOLE)
def test_the_whole_text_is_as_it_was(name: str) -> None:
    text = FORMATS["markdown"](WHOLE[name]())

    assert text == (GOLDEN / f"{name}.md").read_text(encoding="utf-8"), "see above"


@pytest.mark.parametrize("text", NASTY)
def test_nothing_in_a_text_is_markup(text: str) -> None:
    """In a headline, a numbered line and a quotation the reader sees the characters themselves."""
    for before, tags in (("# ", {"h1"}), ("1. ", {"ol", "li"}), ("> ", {"blockquote", "p"})):
        page = Read(MarkdownIt("js-default").render(before + escape(text)))

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
        assert line.partition(". ")[2].removeprefix("**fault:** ").startswith(escape(sentence))


def test_convert_writes_it(cli: Commands) -> None:
    code, out, _ = cli("convert", FOLDER / LOSS, "--to", "markdown", name="waterline")

    assert code == 0
    assert out == (GOLDEN / "loss.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    for each, made in WHOLE.items():
        (GOLDEN / f"{each}.md").write_text(FORMATS["markdown"](made()), encoding="utf-8")
