"""The commands that docs/formats.md lists for programs: one object on standard output, or lines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.support.commands import Commands
from waterline.checker.cli.commands import COMMANDS, command_of

FORMATS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
SECTION = FORMATS.partition("## Waterline for programs\n")[2].partition("\n## ")[0]
COMMAND = re.compile(r"`waterline (\S+) ([^`]*)`")
MODEL = """\
from waterline import Fields, Number, Protocol, when


class State(Fields):
    count = Number(0, 2)


def counter(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[add], always=[small])


def add(s: State) -> None:
    \"\"\"One more.\"\"\"
    when(s.count < 2)
    s.count += 1


def small(s: State) -> bool:
    \"\"\"It is small.\"\"\"
    return s.count < 2
"""


def test_the_commands_and_their_options_exist() -> None:
    named = COMMAND.findall(SECTION)

    assert len(named) >= 8
    for name, rest in named:
        assert name in COMMANDS
        known = {option for param in command_of(name).params for option in param.opts}
        assert {word for word in rest.split() if word.startswith("--")} <= known


@pytest.mark.parametrize(
    ("arguments", "code", "format_"),
    [
        (("check", "--model"), 12, "waterline-result/1"),
        (("ties",), 15, "waterline-ties/1"),
        (("simulate", "--seed", "1", "--walks", "2", "--model"), 12, "waterline-simulation/1"),
    ],
)
def test_a_command_prints_the_object_that_is_listed(
    cli: Commands,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    code: int,
    format_: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(MODEL)
    ended, out, _ = cli(*arguments, "counter.py", "--format", "json", name="waterline")

    assert ended == code
    assert json.loads(out)["format"] == format_
    assert f"`{format_}`" in SECTION


def test_all_mistakes_of_a_model_are_lines_with_places(
    cli: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = MODEL.replace("s.count += 1", "s.counts += 1").replace("s.count < 2\n\n", "s.c < 2\n\n")
    Path("counter.py").write_text(text.replace("return s.count", "return s.counted"))
    code, out, err = cli("check", "--model", "counter.py", "--format", "json", name="waterline")

    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 2
    places = [re.match(r"error: counter\.py:(\d+:\d+): ", line) for line in err.splitlines()]
    assert [place and place[1] for place in places] == ["15:5", "20:12"]
