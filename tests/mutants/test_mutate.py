"""`waterline mutate`: what it prints, its exit codes, and how a mutant is accepted."""

from __future__ import annotations

import json
import linecache
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Commands
from tests.support.own import own_problem
from waterline.checker.mutants.judging import explore_original, judge_all
from waterline.checker.mutants.mutants import Mutant

LOCK = '''\
"""A lock."""

from waterline import Name, Names, Number, Protocol, when, within


def lock(clients: int = 2, times: int = 1) -> Protocol:
    client = Names("client", clients)
    return Protocol(
        fields=[Name("holder", client, or_none=True), Number("taken", 0, 7)],
        actions=[take, give],
        sometimes=[held],
    )


def take(s, client):
    when(s.holder is None)
    within(s.taken < s.times)
    s.holder = client
    s.taken += 1


def give(s):
    when(s.holder is not None)
    s.holder = None


def held(s):
    """Somebody has it."""
    return s.holder is not None
'''
ACCEPTED = """\
[take]
"drop s.taken += 1" = "how often it was taken is counted for the bound alone"
[give]
"s.holder is not None -> s.holder is None" = "it need not be given back"
"drop s.holder = None" = "the same"
"""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Commands:
    return Commands(capsys, monkeypatch)


@pytest.fixture(autouse=True)
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("lock.py").write_text(LOCK)
    return Path("lock.py")


def mutate(run: Commands, *options: str) -> tuple[int, str, str]:
    return run("mutate", "lock.py", "--jobs", "1", *options, name="waterline")


def document(run: Commands, *options: str) -> tuple[int, dict[str, Any]]:
    code, out, err = mutate(run, "--format", "json", *options)
    assert code in (0, 3, 20), err
    return code, json.loads(out)


def test_each_mutant_has_a_fate_and_the_bounds_are_named(run: Commands) -> None:
    code, out, _ = mutate(run)

    assert code == 3
    assert "clients 2, times 1\n4 states, 4 transitions\nhappens: held\n" in out
    assert '"drop s.holder = None" = ""  # lock.py:24: survives' in out
    assert out.splitlines()[-2:] == [
        "lock: 7 mutants within clients 2, times 1: noticed 2, survives 3, stutters 1,",
        "equivalent 1; 3 not explained.",
    ]


def test_json_has_each_mutant_with_its_place(run: Commands) -> None:
    _, found = document(run)
    fates = {each["change"]: (each["fate"], each["noticed_by"]) for each in found["mutants"]}

    assert found["bounds"] == {"clients": 2, "times": 1}
    assert (found["states"], found["transitions"], found["unexplained"]) == (4, 4, 3)
    assert fates == {
        "drop when(s.holder is None)": ("equivalent", []),
        "s.holder is None -> s.holder is not None": ("noticed", ["never held"]),
        "drop s.holder = client": ("noticed", ["never held"]),
        "drop s.taken += 1": ("survives", []),
        "drop when(s.holder is not None)": ("stutters", []),
        "s.holder is not None -> s.holder is None": ("survives", []),
        "drop s.holder = None": ("survives", []),
    }
    assert found["mutants"][0] == {
        "rule": "take",
        "line": 16,
        "column": 5,
        "kind": "guards",
        "change": "drop when(s.holder is None)",
        "fate": "equivalent",
        "noticed_by": [],
        "why": "",
        "states": 4,
        "accepted": None,
    }


def test_within_other_bounds_a_guard_matters(run: Commands) -> None:
    _, found = document(run, "--set", "times=2", "--only", "guards", "--rule", "take")

    assert [each["fate"] for each in found["mutants"]] == ["other steps", "noticed"]


def test_what_has_a_reason_is_accepted_and_nothing_else(run: Commands) -> None:
    Path("lock.mutants.toml").write_text(ACCEPTED)
    code, out, _ = mutate(run, "--accept", "lock.mutants.toml")
    Path("lock.mutants.toml").write_text(ACCEPTED.partition("[give]")[0])
    code_of_less, found = document(run, "--accept", "lock.mutants.toml")

    assert code == 0
    assert "accepted: it need not be given back" in " ".join(out.split())
    assert (code_of_less, found["unexplained"]) == (3, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[take]\n'drop x' = 'because'\n", "[take] 'drop x' is no mutant of the model"),
        (
            "[take]\n'drop s.taken += 2' = 'x'\n",
            "is no mutant of the model; did you mean 'drop s.taken += 1'?",
        ),
        ("[took]\n'x' = 'because'\n", "[took] is no function of the model; take it out"),
        ("[take]\n'drop s.taken += 1' = ' '\n", "[take] 'drop s.taken += 1' has no reason"),
        ("take = 'always'\n", "take is in no table; write a table for each rule: [take]"),
        ("[take\n", "accepted.toml is no TOML: "),
    ],
)
def test_a_file_that_accepts_what_is_not_there_is_one_line(
    run: Commands, text: str, message: str
) -> None:
    Path("accepted.toml").write_text(text)
    code, out, err = mutate(run, "--accept", "accepted.toml")

    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "taek"], "--rule taek: no mutant is of it; did you mean take?"),
        (["--set", "time=2"], "lock has no bound 'time'; it has clients, times"),
        (["--accept", "none.toml"], "none.toml"),
    ],
)
def test_a_wrong_option_is_one_line(run: Commands, options: list[str], message: str) -> None:
    code, _, err = mutate(run, *options)

    assert code == 2
    assert message in err


def test_a_mutant_that_grows_says_nothing(run: Commands) -> None:
    Path("lock.mutants.toml").write_text(ACCEPTED)
    options = ("--set", "times=2", "--max-states", "3", "--only", "guards", "--rule", "take")
    code, found = document(run, *options)

    assert [each["fate"] for each in found["mutants"]] == ["grows", "noticed"]
    assert code == 20


def judged(text: str, *changed: tuple[str, str]) -> list[Any]:
    """The fates of mutants that are written by hand."""
    Path("lock.py").write_text(text)
    mutants = [
        Mutant("take", 1, 1, "guards", f"{n}", text.replace(*each))
        for n, each in enumerate(changed)
    ]
    original = explore_original(own_problem(Path("lock.py")), "lock.py", {})
    return judge_all(mutants, original)


def test_a_refusal_and_an_error_are_no_survivors() -> None:
    line = "    s.holder = client\n"
    invalid, raises = judged(
        LOCK, (line, "    s.holder = nobody\n"), (line, f"{line}    s.taken += 7\n")
    )

    assert (invalid.fate.value, raises.fate.value) == ("invalid", "noticed")
    assert "nobody" in invalid.why
    assert raises.by == ("an error",)


def test_a_claim_that_is_violated_notices_by_its_depth() -> None:
    text = LOCK.replace("actions=", "always=[free], actions=") + (
        "\n\ndef free(s):\n    return s.holder is None\n"
    )
    held, later = judged(
        text,
        ("    s.holder = client\n", "    s.holder = None\n"),
        ("    s.holder = client\n", "    s.holder = client if s.taken > 0 else None\n"),
    )

    assert held.by == ("free holds", "never held")
    assert later.by[0] == "free holds"


def test_the_lines_of_the_model_are_shown_afterwards() -> None:
    text = f"{LOCK}\n# of this test\n"
    judged(text, ("    s.holder = client\n", "    s.holder = None\n"))

    assert "".join(linecache.getlines("lock.py")) == text


RING = """\
from waterline import Fields, Number, Protocol, when


class State(Fields):
    at = Number(0, 2)


def ring(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[move], initial=start, always=[low])


def start(s: State) -> None:
    s.at = 1


def move(s: State) -> None:
    s.at = (s.at + 1) % 3


def low(s: State) -> bool:
    return s.at <= 2
"""


def test_a_mutant_that_begins_elsewhere_survives_though_its_states_and_steps_are_the_same(
    run: Commands,
) -> None:
    Path("ring.py").write_text(RING)
    code, out, _ = run("mutate", "ring.py", "--rule", "start", "--format", "json", name="waterline")
    [mutant] = json.loads(out)["mutants"]

    assert (code, mutant["change"], mutant["fate"]) == (3, "drop s.at = 1", "survives")


@pytest.mark.parametrize("text", [f"x = {'9' * 5000}", "x = " + "[" * 5000])
def test_a_file_of_reasons_that_python_cannot_read_is_one_line(run: Commands, text: str) -> None:
    Path("ring.py").write_text(RING)
    Path("ring.mutants.toml").write_text(text)
    code, _, err = run("mutate", "ring.py", name="waterline")

    assert code == 2
    assert err.startswith("error: ring.mutants.toml is no TOML: ")
