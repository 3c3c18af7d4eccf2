"""Logs that real brokers wrote are explained; logs that cannot be are refused in one line.

`recorded` has the lines of brokers of 2.8.2, 3.9.1 and 4.2.0 on which C21 was replayed, and its
control, in which the old leader hears of the epoch: `waterline confirm`, cut to the lines that
speak of the partition or of the release.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from rich.console import Console

from waterline.checker.cli.commands import waterline
from waterline.checker.cli.incident_lines import Lanes
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.logs.answer import Answer, answer_of
from waterline.checker.kafka.logs.controllers import decisions_of
from waterline.checker.kafka.logs.evidence import at_risk
from waterline.checker.kafka.logs.fitting import Circumstances
from waterline.checker.kafka.logs.observation import BadLogs, Kind
from waterline.checker.kafka.logs.reading import read_logs
from waterline.checker.kafka.logs.timeline import timeline
from waterline.counterexamples import NO_CLAIM, read_trace, replay
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_named

RECORDED = Path(__file__).parent / "recorded"
DOCUMENT = Path(__file__).parents[3] / "docs" / "incidents.md"


def given(release: str) -> Circumstances:
    followed, hw_in_response = release_named(release)
    return Circumstances(version=followed.version, hw_in_response=hw_in_response)


@pytest.fixture(scope="module")
def lost() -> Answer:
    return answer_of(read_logs([RECORDED / "3.9.1-c21"]), "t-0", given("3.9.1:zookeeper"))


def test_a_loss_by_c21_is_recognised(lost: Answer) -> None:
    assert [cause.scenario.number for cause in lost.causes] == ["C21"]
    assert lost.is_certain
    assert lost.always_loses
    [missed] = lost.evidence.missed
    assert (missed.broker, missed.known, missed.epoch) == (0, 0, 2)
    assert missed.leaders_between == ((1, 2),)
    [risk] = lost.evidence.at_risk
    assert (risk.first, risk.last, risk.epoch, risk.broker) == (0, 0, 3, 1)


@pytest.mark.parametrize("release", ["2.8.2", "3.9.1", "4.2.0"])
def test_each_release_is_read_alike(release: str) -> None:
    """Of the three releases on which the same steps were taken the same is read."""
    observed = read_logs([RECORDED / f"{release}-c21"]).of("t-0")

    kinds = [
        (o.broker, o.kind.value, o.epoch, o.offset, o.high_watermark)
        for broker in (0, 1)
        for o in observed[broker]
        if o.kind in (Kind.LEADS, Kind.FOLLOWS)
    ]
    assert kinds == [
        (0, "leads", 0, 0, 0),
        (0, "leads", 2, 1, 0),
        (0, "follows", 3, 1, 1),
        (1, "follows", 0, 0, 0),
        (1, "follows", 1, 1, 0),
        (1, "leads", 3, 0, 0),
    ]


def test_decisions_are_known_up_to_the_first_that_no_line_tells_of() -> None:
    """Each of KRaft's has a number; without that of epoch 2 nothing is known from there on."""
    observed = read_logs([RECORDED / "4.2.0-c21"]).of("t-0")
    every = decisions_of(observed, 0, 3)

    assert [(o.epoch, o.leader, o.isr) for o in every] == [
        (1, 2, (0, 1, 2)),
        (2, 0, (0, 1)),
        (3, 1, (0, 1)),
    ]
    without = {b: [o for o in seen if o.partition_epoch != 2] for b, seen in observed.items()}
    assert decisions_of(without, 0, 3) == every[:1]


def test_rotated_and_packed_files_are_read_in_order(tmp_path: Path) -> None:
    for broker in range(3):
        lines = (RECORDED / "3.9.1-c21" / f"broker-{broker}" / "server.log").read_text()
        folder = tmp_path / f"broker-{broker}"
        folder.mkdir()
        every = lines.splitlines(keepends=True)
        state = [line for line in every if "state.change.logger" in line]
        server = [line for line in every if "state.change.logger" not in line]
        (folder / "state-change.log").write_text("".join(state[1:]))
        with gzip.open(folder / "state-change.log.1.gz", "wt") as file:
            file.write("".join(state[:1]))
        (folder / "server.log").write_text("".join(server))

    split, whole = read_logs([tmp_path]).of("t-0"), read_logs([RECORDED / "3.9.1-c21"]).of("t-0")

    for broker in range(3):
        assert [(o.kind, o.epoch, o.offset) for o in split[broker]] == [
            (o.kind, o.epoch, o.offset) for o in whole[broker]
        ]


def test_the_command_says_it_and_writes_a_trace_that_replays(tmp_path: Path) -> None:
    """docs/incidents.md shows this answer."""
    file = tmp_path / "incident.json"
    ended = CliRunner().invoke(
        waterline,
        ["explain-logs", str(RECORDED / "3.9.1-c21"), "--trace", str(file)],
        standalone_mode=False,
    )

    assert ended.return_value == 12
    shown = " ".join(ended.output.split())
    example = DOCUMENT.read_text(encoding="utf-8").split("```text")[1].split("```")[0]
    for piece in " ".join(example.split()).split("..."):
        assert piece.strip() in shown
    trace = read_trace(file)
    assert trace.invariant == NO_CLAIM
    environment = Environment.from_options(dict(trace.environment))
    model = MESSAGE.problem(trace.version, environment, []).model
    last = replay(trace, model).states[-1]
    assert int(last.acked) == 1


def assert_json_follows_its_schema(name: str, code: int) -> None:
    ended = CliRunner().invoke(
        waterline,
        ["explain-logs", str(RECORDED / name), "--format", "json"],
        standalone_mode=False,
    )

    answer = json.loads(ended.output)
    schema = json.loads((DOCUMENT.parent / "schemas" / "incident.schema.json").read_text())
    jsonschema.validate(answer, schema)
    assert answer["exit_code"] == ended.return_value == code
    assert answer["verdict"] == "fits"
    assert answer["lines_fitted"] == answer["lines"]
    written = [event["at"]["line"] for event in answer["timeline"] if event["at"]]
    assert len(written) == answer["lines"]
    assert bool(answer["catalogue"]) == bool(answer["at_risk"]) == (code == 12)


def test_the_json_is_what_its_schema_says() -> None:
    assert_json_follows_its_schema("3.9.1-c21", 12)


@pytest.mark.parametrize("width", [80, 160])
def test_each_broker_has_a_lane_within_the_screen(lost: Answer, width: int) -> None:
    assert lost.shown is not None
    console = Console(width=width, file=io.StringIO())
    console.print(Lanes(timeline(lost.best, lost.shown), lost.best.history.brokers))

    assert isinstance(console.file, io.StringIO)
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert max(map(len, lines)) <= width
    assert lines[0].split() == ["Step", "Controller", "Broker", "0", "Broker", "1", "Broker", "2"]
    lane = lines[0].index("Broker 1")
    of_broker_1 = " ".join(line[lane : lines[0].index("Broker 2")].strip() for line in lines[1:])
    assert " ".join(of_broker_1.split()).count("leads epoch 3, LEO 0") == 1
    assert "truncates to 0" in of_broker_1


def test_a_high_watermark_reached_within_the_epoch_puts_nothing_at_risk(tmp_path: Path) -> None:
    """A broker that starts again within an epoch has a later high watermark of that epoch.

    Brokers under faults at random wrote such lines, and the leader's beginning lay below.
    """
    shutil.copytree(RECORDED / "3.9.1-control", tmp_path / "logs")
    file = tmp_path / "logs" / "broker-2" / "server.log"
    text = file.read_text()
    [line] = [each for each in text.splitlines() if "Follower t-0 starts at leader epoch 3" in each]
    later = line.replace("high watermark 0", "high watermark 7").replace("20:3", "21:3")
    file.write_text(f"{text}{later}\n")

    observed = read_logs([tmp_path]).of("t-0")

    assert observed[2][-1].high_watermark == 7
    assert at_risk(observed) == ()
    assert at_risk(read_logs([RECORDED / "3.9.1-c21"]).of("t-0"))


def test_logs_of_two_clusters_are_refused(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "3.9.1-c21", tmp_path / "one")
    other = tmp_path / "two"
    other.mkdir()
    text = (RECORDED / "3.9.1-c21" / "broker-0" / "server.log").read_text()
    for own in ("[Broker id=", "[KafkaServer id=", " broker=", "replicaId="):
        text = text.replace(f"{own}0", f"{own}5")
    (other / "server.log").write_text(text)

    with pytest.raises(BadLogs, match="logs of two clusters"):
        answer_of(read_logs([tmp_path]), "t-0", given("3.9.1:zookeeper"), seconds_max=1.0)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x00\x01\x02", "is no text"),
        (b"\x1f\x8b\x08\x00broken", "cannot be unpacked"),
    ],
)
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "server.log").write_bytes(content)

    with pytest.raises(BadLogs, match=said):
        read_logs([tmp_path])


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadLogs, match="there is no log file"):
        read_logs([tmp_path])
