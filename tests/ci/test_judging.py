"""What passes, and what does not: each complaint has its reason."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.gate_texts import SMALL, entry, read
from waterline.checker.batch.question import Answer, Trouble
from waterline.checker.ci.document import parse
from waterline.checker.ci.judging import Outcome, judge
from waterline.checker.ci.reports.junit import to_junit
from waterline.checker.ci.searching import Manner, judge_all
from waterline.checker.ci.updating import update

ROOT = Path(__file__).parents[2]
HERE = Manner(processes=1, uses_kept=False)


def outcome(text: str, folder: Path = Path()) -> Outcome:
    [found] = judge_all(read(text, folder, allow_models=True), HERE)
    return found


def complaints(text: str) -> list[str]:
    return [complaint.text for complaint in outcome(text).complaints]


def jugs(verdict: str, more: str = "") -> str:
    return (
        '[[expect]]\nname = "jugs"\nmodel = "die_hard.py"\nengine = "local"\n'
        f"{more}verdicts = {{ not_yet_measured = {verdict} }}\n"
    )


def jugs_complaints(verdict: str, more: str = "") -> list[str]:
    found = outcome(jugs(verdict, more), ROOT / "examples")
    return [complaint.text for complaint in found.complaints]


def test_a_least_depth_is_expected_to_the_step() -> None:
    assert jugs_complaints('{ verdict = "violated", depth = 6 }') == []
    assert jugs_complaints('{ verdict = "violated", depth = 5 }') == [
        "not_yet_measured: expected violated after 5 steps, got after 6 steps"
    ]


def test_a_violation_that_disappears_and_one_that_appears_fail() -> None:
    assert jugs_complaints('"violated"', "big = 3\n")[0].startswith(
        "not_yet_measured: expected violated, got holds"
    )
    assert jugs_complaints('"holds"') == [
        "not_yet_measured: expected holds, got violated after 6 steps"
    ]


def test_what_kafka_promises_is_not_within_its_contract() -> None:
    claim = 'acknowledged_durable = "within contract"'
    ended = "stop-at-first = true\n"
    excused = entry(more=f'scenario = "acks-1"\n{ended}', verdicts=claim)
    lost = entry(more=f'scenario = "kip-101-loss"\n{ended}', verdicts=claim)

    assert complaints(excused) == []
    assert complaints(lost.replace('"epoch"', '"hw"')) == [
        "acknowledged_durable: expected within contract, got violated, and Kafka promises it "
        "with these settings"
    ]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ("max-states = 5\n", "max-states 5"),
        ("max-depth = 2\n", "max-depth 2"),
    ],
)
def test_incomplete_never_passes_and_says_why(more: str, reason: str) -> None:
    found = complaints(entry(more=SMALL + more + "counts = { distinct = 5 }\n"))

    assert found[0] == f"sane: expected holds, got incomplete: stopped by {reason}"
    assert f"distinct: expected 5, unknown: {reason}" in found


def test_what_must_happen_has_to_unless_it_is_expected_never_to() -> None:
    none = "records = 1\nepochs = 1\nrestarts = 0\n"
    missed = complaints(entry(more=none))
    never = [text.removesuffix(" was never reached") for text in missed]

    assert len(never) > 0
    assert complaints(entry(more=f"{none}never = {never}\n")) == []
    assert complaints(entry(more=f"{SMALL}never = ['record_commits']\n"))[0].startswith(
        "record_commits happens first in step "
    )


def test_a_fault_that_was_never_met_proves_nothing(tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text(
        "zookeeper.connect=zk\ninter.broker.protocol.version=0.11\nreplication.factor=1\n"
    )
    text = (
        '[[expect]]\nname = "n"\nconfig = "server.properties"\nengine = "local"\nacks = "0"\n'
        'faults = ["none"]\nrecords = 1\nepochs = 1\nverdicts = { sane = "holds" }\n'
    )

    assert [str(c) for c in outcome(text, tmp_path).complaints] == [
        "it says less than it seems: acks=0: nothing is acknowledged, so nothing acknowledged can "
        "be lost"
    ]


RAISES = '''
from waterline import Number, Protocol, when


def counter() -> Protocol:
    return Protocol(fields=[Number("n", 0, 3)], actions=[grow], always=[fine])


def grow(s):
    """It grows."""
    when(s.n < 9)
    s.n += 1


def fine(s):
    """It is fine."""
    return s.n >= 0
'''


def test_a_model_that_raises_is_an_outcome_and_the_others_are_judged(
    cli: Commands, tmp_path: Path
) -> None:
    (tmp_path / "counter.py").write_text(RAISES)
    own = '[[expect]]\nname = "raises"\nmodel = "counter.py"\nengine = "local"\n'
    (tmp_path / "gate.toml").write_text(own + 'verdicts = { fine = "holds" }\n' + entry("fine"))
    command = ("gate", "gate.toml", "--allow-models", "--jobs", 1, "--junit", "junit.xml")
    code, out, err = cli(*command, name="waterline")

    assert code == 76
    assert "fine " in out
    assert "1 an action or a claim raised an error; 1 as expected" in err
    assert 'errors="1"' in Path("junit.xml").read_text()


NUMBERS = """\
# A remark.
[[expect]]  # first
name = "n"
protocol = "epoch"
engine = "local"
records = 1
epochs = 1
restarts = 1
counts = { generated = 1, distinct = 2 } # counted
[expect.verdicts]
sane = "holds"
"""


def test_update_rewrites_numbers_and_nothing_else() -> None:
    found = judge_all(read(NUMBERS), HERE)
    answer = found[0].answer
    assert answer is not None
    numbers = f"generated = {answer.result.generated}, distinct = {answer.result.distinct}"
    text = update(parse(NUMBERS, "gate.toml"), found)

    assert text == NUMBERS.replace("generated = 1, distinct = 2", numbers)
    assert judge_all(read(text), HERE)[0].is_met


def test_update_shows_the_difference_and_leaves_verdicts_alone(
    cli: Commands, tmp_path: Path
) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(NUMBERS.replace('sane = "holds"', 'sane = "violated"'), newline="\r\n")
    cli("gate", "gate.toml", "--update", name="waterline")
    _, again, err = cli("gate", "gate.toml", "--update", name="waterline")

    content = path.read_bytes().decode()
    assert 'sane = "violated"\r\n' in content
    assert "distinct = 2 }" not in content
    assert content.count("\r\n") == NUMBERS.count("\n")
    assert "sane: expected violated, got holds" in " ".join(again.split())
    assert "no number differs" in err


def test_whatever_was_raised_becomes_xml() -> None:
    [expectation] = read(entry())
    raised = judge(expectation, Answer(trouble=Trouble("raised", "\x00 <b>\n\ud800")))
    suite = ET.fromstring(to_junit([raised]))

    assert suite.attrib["errors"] == "1"
    assert "\\x00 <b>" in (suite.findtext("testcase/error") or "")
