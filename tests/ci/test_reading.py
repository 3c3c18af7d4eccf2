"""An entry is read key by key, and what is wrong is told where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.gate_texts import SMALL, entry, read
from waterline.checker.ci.document import BadGate
from waterline.checker.ci.expectation import Expected
from waterline.checker.ci.keys import NAMING_VERSIONS, OF_ENGINES, OWN_KEYS
from waterline.checker.cli.gate_options import asking
from waterline.checker.cli.shared.options import ENVIRONMENT_OPTIONS


def refusal(text: str, folder: Path = Path()) -> str:
    with pytest.raises(BadGate) as refused:
        read(text, folder)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("more", "verdicts", "says"),
    [
        ("replicsa = 2\n", 'sane = "holds"', "5:1: n: unknown key 'replicsa'; did you mean rep"),
        ("replicas = 9\n", 'sane = "holds"', "5:1: n: replicas: 9 is not in the range 1<=x<=7"),
        ("records = true\n", 'sane = "holds"', "5:1: n: records is True; it must be a whole num"),
        ("min-insync-replicas = 3\n", 'sane = "holds"', "5:1: n: min-insync-replicas is 3, more"),
        ("acks = 'al'\n", 'sane = "holds"', "5:1: n: acks is 'al'; did you mean all?"),
        ("", 'sain = "holds"', "5:14: n: unknown claim 'sain'; did you mean sane?"),
        ("", 'sane = "hold"', "5:14: n: sane is 'hold'; did you mean holds?"),
        ("", 'sane = { verdict = "holds", depth = 1 }', "5:14: n: sane: a claim that is holds"),
        ("", 'sane = { verdict = "violated", dept = 1 }', "unknown key 'dept'; did you mean dep"),
        ("counts = { distinkt = 1 }\n", 'sane = "holds"', "5:12: n: unknown key 'distinkt'; did"),
        ("never = ['x']\n", 'sane = "holds"', "5:10: n: never has 'x'; known: "),
        ("with = ['fencin']\n", 'sane = "holds"', "5:9: n: with has 'fencin'; did you mean fenc"),
        ("faults = []\n", 'sane = "holds"', "5:1: n: faults goes with config"),
        ("scenario = 'acks1'\n", 'sane = "holds"', "5:1: n: "),
        ("max-time = 0\n", 'sane = "holds"', "5:1: n: max-time: 0 is no number of seconds"),
        ("memory = 'much'\n", 'sane = "holds"', "5:1: n: memory: 'much' is no amount of memory"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_the_nearest_word(
    more: str, verdicts: str, says: str
) -> None:
    assert says in refusal(entry(more=more, verdicts=verdicts))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\n" + entry(), "gate.toml:1:1: unknown key 'x'; known: expect, defaults"),
        ("[default]\n" + entry(), "gate.toml:1:1: unknown key 'default'; did you mean defaults?"),
        ("[defaults]\nengin = 'local'\n" + entry(), "2:1: unknown key 'engin'; did you mean eng"),
        (entry() + "\n" + entry(), "gate.toml:10:1: 'n' is the name of the entry at line 1 too"),
        ("[[expect]]\nname = 'n'\nprotocol = ['epoc']\n", "3:1: n: protocol is 'epoc'; did you"),
        ("a = 1\na = 2\n", "gate.toml:2:6: it is no TOML: Cannot overwrite a value"),
        ("a = [", "gate.toml:1:6: it is no TOML: "),
    ],
)
def test_a_mistake_outside_an_entry_is_told_too(text: str, says: str) -> None:
    assert says in refusal(text)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff", "gate.toml:1:1: it is not UTF-8 text"),
        (b"a = 1\nb = '\xc3\x28'\n", "gate.toml:2:6: it is not UTF-8 text"),
        (b"#" * (10 << 20), "larger than 1,048,576 bytes"),
    ],
    ids=["first byte", "a later line", "10 MB"],
)
def test_bytes_that_are_no_gate_are_refused(
    content: bytes, says: str, cli: Commands, tmp_path: Path
) -> None:
    (tmp_path / "gate.toml").write_bytes(content)
    code, out, err = cli("gate", "gate.toml", name="waterline")

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_a_file_with_a_byte_order_mark_is_a_gate(cli: Commands, tmp_path: Path) -> None:
    (tmp_path / "gate.toml").write_bytes(b"\xef\xbb\xbf" + entry().encode())

    assert cli("gate", "gate.toml", name="waterline")[0] == 0


def test_an_entry_says_what_check_can_ask() -> None:
    [expectation] = read(
        entry(
            more="scenario = 'acks-1'\nwithout = ['fencing']\nmax-time = 2.5\nmemory = '2G'\n"
            "stop-at-first = true\ncounts = { distinct = 7 }\n",
            verdicts='acknowledged_durable = { verdict = "within contract", depth = 4 }',
        ).replace('"epoch"', '"kip320"')
    )
    problem, budgets = expectation.problem, expectation.budgets

    assert problem.model.version == "kip320-without-fencing"
    assert problem.model.options["acks"] == "1"
    assert problem.checked == ("acknowledged_durable",)
    assert (budgets.max_seconds, budgets.memory_bytes, budgets.stop_at_first) == (2.5, 2e9, True)
    expected = expectation.verdicts["acknowledged_durable"]
    assert (expected.verdict, expected.depth) == ("within contract", 4)
    assert expectation.counts == {"distinct": 7}
    assert expectation.command.startswith(
        "waterline check --engine local --protocol kip320 --without fencing"
    )


def test_defaults_are_of_entries_that_say_nothing_else() -> None:
    text = "[defaults]\nengine = 'local'\nrecords = 1\n"
    expectations = read(
        text
        + "[[expect]]\nname = 'a'\nprotocol = 'hw'\nverdicts = { sane = 'holds' }\n"
        + "[[expect]]\nname = 'b'\nprotocol = 'hw'\nrecords = 3\nverdicts = { sane = 'holds' }\n"
    )

    assert [each.problem.model.options["records"] for each in expectations] == [1, 3]
    assert {each.choice.name for each in expectations} == {"local"}


def test_an_array_of_versions_is_a_check_for_each() -> None:
    text = entry("keeps", SMALL).replace('"epoch"', '["epoch", "elr-with-longest-log"]')
    expectations = read(text)

    assert [each.name for each in expectations] == ["keeps [epoch]", "keeps [elr-with-longest-log]"]
    assert [e.problem.model.version for e in expectations] == ["epoch", "elr-with-longest-log"]
    assert "write an entry for each" in refusal(
        text.replace("verdicts", "counts = { depth = 3 }\nverdicts")
    )


CONFIG = """
[[expect]]
name = "survives"
config = "server.properties"
engine = "local"
faults = ["one crash", "power loss"]
verdicts = { acknowledged_durable = "holds" }
"""


def test_a_configuration_is_a_check_for_each_fault(tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text(
        "process.roles=broker\nmetadata.version=4.0\nmin.insync.replicas=2\n"
        "default.replication.factor=2\neligible.leader.replicas.version=1\n"
    )
    expectations = read(CONFIG, tmp_path)

    assert [each.name for each in expectations] == ["survives [one crash]", "survives [power loss]"]
    options = [each.problem.model.options for each in expectations]
    assert [(o["restarts"], o["power-losses"]) for o in options] == [(1, 0), (0, 1)]
    assert {o["min-insync-replicas"] for o in options} == {2}
    assert all(each.is_partial for each in expectations)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ('"one crash"', '"one crahs"', "faults is 'one crahs'; did you mean one crash?"),
        ('"server.', '"sever.', "sever.properties cannot be read"),
        ("faults", "restarts = 1\nfaults", "unknown key 'restarts'"),
    ],
)
def test_a_configuration_that_cannot_be_asked_about_is_told(
    right: str, wrong: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "server.properties").write_text("process.roles=broker\n")

    assert says in refusal(CONFIG.replace(right, wrong), tmp_path)


def test_a_release_of_kafka_names_the_version() -> None:
    text = entry().replace('protocol = "epoch"', 'kafka = "2.3.1"')

    assert read(text)[0].problem.model.version == "kip320-code"
    assert "gate.toml:3:1: n: kafka: " in refusal(text.replace("2.3.1", "0.0"))


def test_what_check_prints_and_keeps_is_no_key_of_a_gate() -> None:
    """A new option of `check` is either about what is explored, or it is left out there."""
    asked = {"protocol", "with", "without", "grain", "environment", "symmetry", "invariant"}
    asked |= {"recovery", "liveness"}

    assert set(asking().keys) == {*asked, *NAMING_VERSIONS, *OF_ENGINES, *ENVIRONMENT_OPTIONS}


def test_every_key_of_an_entry_has_a_meaning_and_verdicts_a_place() -> None:
    [expectation] = read(entry())

    assert all(OWN_KEYS.values())
    expected = expectation.verdicts["sane"]
    assert isinstance(expected, Expected)
    assert str(expected.place) == "gate.toml:8:14"


COUNTER = """
from waterline import Number, Protocol, when


def counter(epochs: int = 2) -> Protocol:
    return Protocol(fields=[Number("n", 0, epochs)], actions=[grow], always=[fine])


def grow(s):
    \"\"\"It grows.\"\"\"
    when(s.n < s.epochs)
    s.n += 1


def fine(s):
    \"\"\"It is fine.\"\"\"
    return s.n >= 0
"""


def own(more: str) -> str:
    start = '[defaults]\nrecords = 1\nengine = "local"\n[[expect]]\nname = "n"\nmodel = "m.py"\n'
    return f"{start}{more}verdicts = {{ fine = 'holds' }}\n"


def test_a_bound_may_be_called_like_an_option_of_kafkas_and_defaults_of_kafkas_are_not_its(
    tmp_path: Path,
) -> None:
    (tmp_path / "m.py").write_text(COUNTER)
    [expectation] = read(own("epochs = 3\n"), tmp_path, allow_models=True)

    assert expectation.problem.model.options["epochs"] == 3
    assert expectation.choice.name == "local"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("epoch = 3\n", "gate.toml:7:1: n: counter has no bound 'epoch'; it has epochs"),
        ('"a(" = 3\n', "gate.toml:7:1: n: counter has no bound 'a('"),
        ('"" = 3\n', "n: counter has no bound ''"),
        ("epochs = 'x'\n", "gate.toml:7:1: n: epochs is 'x'; it must be a whole number"),
    ],
)
def test_a_bound_that_does_not_exist_is_told(more: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(COUNTER)
    with pytest.raises(BadGate) as refused:
        read(own(more), tmp_path, allow_models=True)

    assert says in str(refused.value)
