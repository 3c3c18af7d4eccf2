"""A strict gate cannot shrink: what its entries lack, what is gone since, and its profiles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.gate_texts import entry, read
from waterline.checker.ci.document import BadGate, parse
from waterline.checker.ci.strictness import losses

MODEL = """\
from waterline import Fields, Number, Protocol, when


class State(Fields):
    most: int = 3

    count = Number(0, most)


def counter(state: type[State]) -> Protocol:
    return Protocol(
        state=state, actions=[add, jump], always=[small, not_two], sometimes=[two]
    )


def add(s: State) -> None:
    \"\"\"One more.\"\"\"
    when(s.count < s.most)
    s.count += 1


def jump(s: State) -> None:
    \"\"\"From 3 back.\"\"\"
    when(s.count == 3)
    s.count = 0


def small(s: State) -> bool:
    \"\"\"It is small.\"\"\"
    return s.count < 9


def not_two(s: State) -> bool:
    \"\"\"It is not 2.\"\"\"
    return s.count != 2


def two(s: State) -> bool:
    \"\"\"It is 2.\"\"\"
    return s.count == 2
"""
HEAD = '[gate]\nstrict = true\nprofiles = ["pull-request", "nightly"]\n'
ENTRY = """\
[[expect]]
name = "counter"
model = "counter.py"
engine = "local"
most = 3
counts = { distinct = 4 }
[expect.verdicts]
small = "holds"
not_two = { verdict = "violated", depth = 2 }
"""


@pytest.fixture(autouse=True)
def _model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(MODEL)


def gate(cli: Commands, text: str, *options: str) -> tuple[int, str, str]:
    Path("gate.toml").write_text(text)
    code, out, err = cli("gate", "gate.toml", "--allow-models", *options, name="waterline")
    return code, " ".join(out.split()), err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("most = 3\n", "", "an entry names its bounds; add most"),
        ("counts = { distinct = 4 }\n", "", "add counts = { distinct = 0 }; gate --update writes"),
        ("{ distinct = 4 }", "{ depth = 4 }", "add counts = { distinct = 0 }"),
        ('small = "holds"\n', "", "verdicts names every claim that is checked; add small"),
        ("most = 3", 'most = 3\ninvariant = ["not_two", "small"]', "invariant leaves claims out"),
        (
            "counts = { distinct = 4 }",
            "stop-at-first = true",
            None,
        ),
        (
            'counts = { distinct = 4 }\n[expect.verdicts]\nsmall = "holds"\nnot_two = { '
            'verdict = "violated", depth = 2 }',
            'stop-at-first = true\n[expect.verdicts]\nsmall = "holds"\nnot_two = "violated"',
            "add the depth of not_two: the search ends early",
        ),
    ],
)
def test_a_strict_entry_names_all_that_it_covers(old: str, new: str, said: str | None) -> None:
    assert old in ENTRY
    text = ENTRY.replace(old, new)
    read(text, allow_models=True)  # without strict
    if said is None:
        assert read(HEAD + text, allow_models=True)
        return
    with pytest.raises(BadGate) as refused:
        read(HEAD + text, allow_models=True)

    assert f"counter: [gate] strict: {said}" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("bounds", "lacking"),
    [
        ("", "replicas, records, epochs"),
        ("records = 1\nepochs = 1\n", "replicas"),
        ('environment = "documented"\n', ""),
    ],
)
def test_the_bounds_of_kafka_are_an_environment_or_its_sizes(bounds: str, lacking: str) -> None:
    text = f'[[expect]]\nname = "k"\nprotocol = "hw"\n{bounds}counts = {{ distinct = 1 }}\n'
    strict = HEAD + text + '[expect.verdicts]\nsane = "holds"\n'
    with pytest.raises(BadGate) as refused:
        read(strict)
    [claims] = [str(refused.value).partition("; add ")[2]]
    named = "".join(f'{name} = "holds"\n' for name in claims.split(", "))

    if not lacking:
        assert read(strict + named)
        return
    with pytest.raises(BadGate, match=f"an entry names its bounds; add {lacking}$"):
        read(strict + named)


def test_an_action_that_is_never_taken_fails_a_strict_gate_alone(cli: Commands) -> None:
    smaller = ENTRY.replace("most = 3", "most = 2").replace("distinct = 4", "distinct = 3")
    lenient, _, _ = gate(cli, smaller)
    strict, out, _ = gate(cli, HEAD + smaller)
    named, _, _ = gate(cli, HEAD + smaller.replace("most", 'never = ["jump"]\nmost'))
    wrong, told, _ = gate(cli, ENTRY.replace("most", 'never = ["jump"]\nmost'))

    assert (lenient, strict, named, wrong) == (0, 3, 0, 3)
    assert "jump was never taken; raise a bound, or name it in never" in out
    assert "jump is taken, and is expected never to be" in told


def test_an_action_without_a_budget_and_one_of_other_versions_need_not_be_taken(
    cli: Commands,
) -> None:
    small = "replicas = 2\nrecords = 1\nepochs = 1\nrestarts = 0\ncounts = { distinct = 0 }\n"
    (lenient,) = read(entry(more=small))
    claims = ", ".join(f'{name} = "holds"' for name in lenient.problem.asked_names)
    _, out, _ = gate(cli, "[gate]\nstrict = true\n" + entry(more=small, verdicts=claims))
    model = lenient.problem.model
    never = set(re.findall(r"(\w+) was never taken", out))

    assert {"Crash", "Move"} < set(model.contents)
    assert {"Restart"} < never < set(model.contents) - {"Crash", "Move"}
    (covered,) = re.findall(r"(\d+) of (\d+) actions taken", out)
    assert int(covered[1]) - int(covered[0]) == len(never)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("most", 'profiles = ["nigthly"]\nmost', "gate.toml:8:13: counter: profiles has 'nigthly'"),
        ("[gate]", "[gate]\nstrickt = true", "unknown key 'strickt'; did you mean strict?"),
        ("strict = true", 'strict = "yes"', "strict is 'yes'; it must be true or false"),
        ("[gate]", "[gates]", "unknown key 'gates'; did you mean gate?"),
        ("[[", '[gate.accepted]\n"x: the entry is gone" = " "\n[[', "has no reason"),
    ],
)
def test_a_mistake_in_the_settings_is_one_line(old: str, new: str, said: str) -> None:
    with pytest.raises(BadGate) as refused:
        read((HEAD + ENTRY).replace(old, new, 1), allow_models=True)

    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ('"counter"', '"other"', ["counter: the entry is gone"]),
        ('small = "holds"\n', "", ["counter: small is gone from verdicts"]),
        ("most = 3", "most = 2", ["counter: most is 2, and was 3"]),
        ("most = 3\n", "", ["counter: most is gone"]),
        ("most = 3", "most = 4", []),
        ("counts = { distinct = 4 }\n", "", ["counter: distinct is gone from counts"]),
        ("distinct = 4", "distinct = 3", []),
        (
            '{ verdict = "violated", depth = 2 }',
            '"holds"',
            ["counter: the depth of not_two is gone"],
        ),
        ("most", 'never = ["two"]\nmost', ["counter: two need not happen any more"]),
        ("most", 'profiles = ["nightly"]\nmost', ["counter: it runs in nightly alone"]),
        ("most", "max-depth = 2\nmost", ["counter: max-depth ends the search"]),
        ('engine = "local"', "threads = 2", []),
        ("strict = true", "strict = false", ["strict is gone from [gate]"]),
        ("counter.py", "other.py", ["counter: model is 'other.py', and was 'counter.py'"]),
        (
            'counter"\n',
            'counts"\n[gate.accepted]\n"counter: the entry is gone" = "it is called counts"\n',
            [],
        ),
    ],
)
def test_each_loss_since_an_earlier_gate_is_a_line(old: str, new: str, lost: list[str]) -> None:
    before = HEAD + ENTRY
    assert old in before
    if "[gate.accepted]" in new:
        accepted = new.partition("\n")[2]
        now = before.replace('"counter"', '"counts"').replace("[[", f"{accepted}[[")
    else:
        now = before.replace(old, new, 1)

    assert list(losses([parse(before, "before")], [parse(now, "now")])) == lost
    assert list(losses([parse(before, "before")], [parse(before, "now")])) == []


def test_a_loss_fails_the_gate_although_all_is_as_expected(cli: Commands) -> None:
    Path("last.toml").write_text(HEAD + ENTRY + ENTRY.replace('"counter"', '"more"'))
    code, _, err = gate(cli, HEAD + ENTRY, "--since", "last.toml")
    same, _, _ = gate(
        cli, HEAD + ENTRY + ENTRY.replace('"counter"', '"more"'), "--since", "last.toml"
    )

    assert (code, same) == (3, 0)
    assert "gone since last.toml: more: the entry is gone\n" in err
