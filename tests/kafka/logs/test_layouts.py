"""Logs are read alike in whatever form they come: layouts, wrappings, prefixes, names, packings.

The lines are those of three brokers of 3.9.1, `recorded/3.9.1-c21`, written in the shape of each.
"""

from __future__ import annotations

import bz2
import datetime
import gzip
import json
import lzma
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from waterline.checker.kafka.logs.history import history_of
from waterline.checker.kafka.logs.observation import BadLogs, Observation
from waterline.checker.kafka.logs.reading import Logs, read_logs

RECORDED = Path(__file__).parent / "recorded" / "3.9.1-c21"
LINES = [
    (broker, line)
    for broker in range(3)
    for line in (RECORDED / f"broker-{broker}" / "server.log").read_text().splitlines()
]
MERGED = sorted(LINES, key=lambda each: each[1][1:24])


def facts(logs: Logs) -> dict[int, list[tuple[object, ...]]]:
    """What is read of the partition, by broker and in order."""
    return {broker: [fact(seen) for seen in lines] for broker, lines in logs.of("t-0").items()}


def fact(o: Observation) -> tuple[object, ...]:
    return o.kind, o.epoch, o.offset, o.high_watermark, o.isr, o.leader, o.previous_epoch


EXPECTED = facts(read_logs([RECORDED]))


def with_zone(line: str) -> str:
    """`2026-11-25T20:31:44.886Z INFO ...`: no brackets, a T and a zone."""
    return re.sub(r"^\[(\S+) ([\d:]+),(\d+)\]", r"\1T\2.\3Z", line)


def shipped(broker: int, line: str) -> str:
    """As fluent-bit ships the line of a container."""
    pod = {"pod_name": f"c-kafka-{broker}", "container_name": "kafka"}
    return json.dumps({"stream": "stdout", "log": f"{line}\n", "kubernetes": pod})


def escaped(broker: int, line: str) -> str:
    """As an encoder of Go writes it, message and time apart, the time behind."""
    text = {
        "host": {"name": f"k{broker}"},
        "message": line[26:],
        "@timestamp": with_zone(line)[:24],
    }
    return json.dumps(text).replace(">", "\\u003e").replace("&", "\\u0026")


def json_layout(broker: int, line: str) -> str:
    """As JsonLayout of log4j 2 writes it, the time in numbers."""
    time = datetime.datetime.fromisoformat(f"{line[1:20]}+00:00")
    instant = {"epochSecond": int(time.timestamp()), "nanoOfSecond": int(line[21:24]) * 1_000_000}
    text = {"instant": instant, "thread": "main", "level": "INFO", "message": line[26:]}
    return json.dumps({"pod": f"k{broker}", **text})


ONE_FILE: dict[str, Callable[[int, str], str]] = {
    "kubectl --prefix": lambda b, line: f"[pod/c-kafka-{b}/kafka] {line}",
    "kubectl --prefix --timestamps": lambda b, line: (
        f"[pod/c-kafka-{b}/kafka] {with_zone(line)[:23]}999111Z {line}"
    ),
    "stern": lambda b, line: f"c-kafka-{b} kafka {line}",
    "stern in colours": lambda b, line: f"\x1b[32mc-kafka-{b}\x1b[0m \x1b[32mkafka\x1b[0m {line}",
    "docker compose": lambda b, line: f"kafka-{b}  | {line}",
    "journal": lambda b, line: f"Nov 25 20:31:4{b} host{b} kafka[41{b}]: {line}",
    "grep -n": lambda b, line: f"logs/k{b}/server.log:{len(line)}:{line}",
    "fluent-bit": shipped,
    "escaped": escaped,
    "JsonLayout": json_layout,
}


@pytest.mark.parametrize("form", ONE_FILE)
def test_lines_of_several_brokers_in_one_file_are_told_apart(form: str, tmp_path: Path) -> None:
    text = "\n".join(ONE_FILE[form](broker, line) for broker, line in MERGED)
    (tmp_path / "all.txt").write_text(text, encoding="utf-8")

    logs = read_logs([tmp_path])

    assert facts(logs) == EXPECTED
    assert logs.with_server_log(logs.of("t-0"), None) == {0, 1, 2}
    assert logs.passed_over == []


def test_an_export_in_one_array(tmp_path: Path) -> None:
    lines = [shipped(broker, line) for broker, line in MERGED if "t-0" in line]
    (tmp_path / "export.json").write_text(f"[{', '.join(lines)}]")
    assert facts(read_logs([tmp_path])) == EXPECTED

    (tmp_path / "export.json").write_text(f"[{', '.join(lines * 30)}]")
    assert "give each log line a line of its own" in read_logs([tmp_path]).passed_over[0]


def test_newest_first_is_read_from_the_end(tmp_path: Path) -> None:
    """As Kibana, Loki and Splunk export what was searched for."""
    lines = [ONE_FILE["stern"](broker, line) for broker, line in reversed(MERGED)]
    (tmp_path / "export.csv").write_text("\n".join(lines))

    assert facts(read_logs([tmp_path])) == EXPECTED


def test_parts_put_together_in_the_order_of_their_names_are_put_right(tmp_path: Path) -> None:
    """`cat server.log*` has the newest part first."""
    for broker in range(3):
        every = [line for b, line in LINES if b == broker]
        half = len(every) // 2
        (tmp_path / f"k{broker}.log").write_text("\n".join(every[half:] + every[:half]))

    logs = read_logs([tmp_path])

    assert facts(logs) == EXPECTED
    assert "its times fall" in logs.notes_of("t-0")[0]
    assert history_of(logs.of("t-0"), with_server_log=set()).orders_left_out


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("server.log.2026-11-25-20", str.encode),
        ("kafka-{}", str.encode),
        ("console.txt", lambda text: text.replace("\n", "\r\n").encode("utf-16")),
        ("bom.txt", lambda text: text.encode("utf-8-sig")),
        ("server.log.1.gz", lambda text: gzip.compress(text.encode())),
        ("k.bz2", lambda text: bz2.compress(text.encode())),
        ("k.xz", lambda text: lzma.compress(text.encode())),
        ("with-zone.txt", lambda text: "\n".join(map(with_zone, text.splitlines())).encode()),
        ("zeros.log", lambda text: text.encode() + b"\x00" * 4096),
    ],
)
def test_a_file_is_known_by_its_lines(
    name: str, made: Callable[[str], bytes], tmp_path: Path
) -> None:
    for broker in range(3):
        folder = tmp_path / f"broker-{broker}"
        folder.mkdir()
        text = "\n".join(line for b, line in LINES if b == broker)
        (folder / name.format(broker)).write_bytes(made(text))
        (folder / "00000000000000000000.log").write_bytes(b"\x00data")

    assert facts(read_logs([tmp_path])) == EXPECTED


def test_a_truncation_of_nobody_is_not_taken_for_one_that_did_not_happen(tmp_path: Path) -> None:
    """Of lines of several brokers without a prefix one is of an unknown broker."""
    (tmp_path / "all.log").write_text("\n".join(line for _, line in MERGED))

    logs = read_logs([tmp_path])

    assert logs.with_server_log(logs.of("t-0"), None) == set()
    [note] = logs.notes_of("t-0")
    assert "of which no line says which broker wrote it" in note


def test_server_log_is_of_the_broker_of_its_folder(tmp_path: Path) -> None:
    """A server.log in which nothing but a truncation is left, beside a state-change.log."""
    folder = tmp_path / "broker-1"
    folder.mkdir()
    lines = [line for broker, line in LINES if broker == 1]
    roles = [line for line in lines if "[Broker id=1]" in line]
    (folder / "state-change.log").write_text("\n".join(roles))
    (folder / "server.log").write_text("\n".join(each for each in lines if "Truncating to" in each))

    kinds = [seen.kind.value for seen in read_logs([tmp_path]).of("t-0")[1]]

    assert kinds == ["follows", "follows", "truncates", "leads"]


def test_a_server_log_that_is_kept_for_a_shorter_time_says_nothing_of_before(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "broker-1"
    folder.mkdir()
    lines = [line for broker, line in LINES if broker == 1]
    roles = [line for line in lines if "[Broker id=1]" in line]
    (folder / "state-change.log").write_text("\n".join(roles))
    late = "[2026-11-25 20:40:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"
    (folder / "server.log").write_text(late)

    logs = read_logs([tmp_path])

    assert set(logs.server_logs) == {1}
    assert logs.with_server_log(logs.of("t-0"), None) == set()


def test_a_line_of_80_mb_is_cut_in_bounded_memory_and_said(tmp_path: Path) -> None:
    lines = [line for broker, line in LINES if broker == 0]
    with (tmp_path / "server.log").open("w") as file:
        file.write("\n".join(lines[:-1]) + "\n")
        for _ in range(80):
            file.write("[Partition t-0 broker=0] Leader t-0 x" * 27_000)
        file.write(f"\n{lines[-1]}\n")

    tracemalloc.start()
    logs = read_logs([tmp_path])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert facts(logs)[0] == EXPECTED[0]
    [note] = logs.passed_over
    assert re.search(rf"server.log:{len(lines)}: a line of 7\d,\d\d\d,\d\d\d characters", note)
    assert peak < 8_000_000


def test_an_archive_is_named_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "logs.tar.gz").write_bytes(gzip.compress(b"x"))
    (tmp_path / "server.log").write_text("\n".join(line for b, line in LINES if b == 0))

    assert "it is an archive; unpack it" in read_logs([tmp_path]).passed_over[0]
    with pytest.raises(BadLogs, match="it is an archive; unpack it, and name the folder"):
        read_logs([tmp_path / "logs.tar.gz"])
