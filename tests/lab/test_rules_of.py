"""Answers of `python -m lab.bench.rules_of` for small sources and byte code, without a registry."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lab.bench import rules_of
from lab.bench.rules import release as releases
from lab.bench.rules.byte_code import methods_of
from lab.bench.rules.citations import citations, cited_in
from lab.bench.rules.comparison import (
    CHANGED,
    DIFF_LINES_MAX,
    MOVED,
    NEITHER,
    NEW,
    REMOVED,
    UNCHANGED,
    Compared,
    compared,
)
from lab.bench.rules.jars import parts
from lab.bench.rules.release import Found, from_sources
from lab.bench.rules.released import RELEASED, NoRelease, number_of, release_before

SCALA = "kafka/cluster/Partition.scala"
JAVA = "org/apache/kafka/server/Partition.java"
PARTITION = """\
package kafka.cluster

object Partition {
  def apply(topic: String): Partition = new Partition(topic, clock = 1)
}

case class Marker(name: String)

class Partition(val topic: String,
                clock: Int) extends Logging {
  // def commentedOut(): Unit = ()
  private var epoch = 0
  /* A leader /
     begins. */
  def makeLeader(epoch: Int,
                 isr: Set[Int]): Boolean = inWriteLock(lock) {
    info(s"Leader ${isr.mkString("[", "}", "]")} starts { here")
    this.epoch = epoch
    def isNew(old: Int) = old < epoch
    isNew(0)
  }

  @volatile private[cluster] def size: Int = 1
  override def toString = '"' + topic + "}"
  def toString(prefix: String) = prefix
  class Inner {
    def within = 7
  }
}
"""
JAVA_PARTITION = """\
package org.apache.kafka.server;

public class Partition implements Closeable {
    private final Map<String, Integer> sizes = new HashMap<>(16);
    private static final int[] NONE = {};
    private Runnable later = new Runnable() { public void run() { makeLeader(0); } };
    @SuppressWarnings({"unchecked", "(rawtypes"})
    public <T> boolean makeLeader(final int epoch) throws IOException {
        if (epoch > 0) { log.info("} {}", epoch); } // it begins
        return epoch != '}';
    }
    abstract int size();
    record Pair(int a, int b) { int sum() { return a + b; } }
    enum Kind { ONE, TWO; boolean isOne() { return this == ONE; } }
}
"""


def became(before: dict[str, str], now: dict[str, str], method: str) -> Compared:
    """What became of a method from one set of files to another."""
    class_name = {method.split(".", maxsplit=1)[0]}
    return compared(
        method, from_sources(before.items(), class_name), from_sources(now.items(), class_name)
    )


def test_a_rule_cites_methods_in_its_docstrings_and_sources_and_not_in_its_code() -> None:
    module = '''
"""Who leads (Partition.makeLeader, isNewLeader; KAFKA-2721)."""
NAMES = TABLE.items()
FEATURE = Feature(source="KIP-1 (2.1.0): Log.truncateTo, FetchSession.CachedPartition")
'''

    assert cited_in(module) == {"Partition.makeLeader", "Log.truncateTo"}


def test_the_rules_cite_what_a_leader_and_the_controller_do() -> None:
    cited = citations()

    assert "metadata.py" in cited["Partition.makeLeader"]
    assert "features.py" in cited["PartitionChangeBuilder.canElectLastKnownLeader"]


def found_in(file: str, text: str, classes: set[str]) -> dict[str, Found]:
    return from_sources([(file, text)], classes)


def test_methods_of_scala_are_found_with_all_that_belongs_to_them() -> None:
    found = found_in(SCALA, PARTITION, {"Partition", "Inner"})
    methods = {name: method.shown for name, method in found["Partition"].methods.items()}

    assert set(methods) == {"apply", "makeLeader", "size", "toString"}
    assert methods["makeLeader"].startswith("def makeLeader(epoch: Int,\n")
    assert methods["makeLeader"].endswith("    isNew(0)\n  }")
    assert methods["size"] == "@volatile private[cluster] def size: Int = 1"
    assert methods["toString"].count("def toString") == 2
    assert set(found["Inner"].methods) == {"within"}


def test_methods_of_java_are_found_and_fields_are_none() -> None:
    found = found_in(JAVA, JAVA_PARTITION, {"Partition", "Pair", "Kind"})
    leading = found["Partition"].methods["makeLeader"].shown

    assert set(found["Partition"].methods) == {"makeLeader", "size"}
    assert "it begins" not in leading
    assert leading.endswith("return epoch != '}';\n    }")
    assert set(found["Pair"].methods) == {"sum"}
    assert set(found["Kind"].methods) == {"isOne"}


def test_comments_and_white_space_are_no_change() -> None:
    now = PARTITION.replace("this.epoch = epoch", "// as told\n\n      this.epoch   =   epoch")

    assert became({SCALA: PARTITION}, {SCALA: now}, "Partition.makeLeader").outcome == UNCHANGED


@pytest.mark.parametrize(
    ("old", "new"),
    [("this.epoch = epoch", "this.epoch = epoch + 1"), ("starts {", "begins {")],
)
def test_another_token_in_a_method_changes_that_one_alone(old: str, new: str) -> None:
    now = PARTITION.replace(old, new)
    found = became({SCALA: PARTITION}, {SCALA: now}, "Partition.makeLeader")

    assert found.outcome == CHANGED
    assert next(line for line in found.diff() if old in line).startswith("-")
    assert next(line for line in found.diff() if new in line).startswith("+")
    assert became({SCALA: PARTITION}, {SCALA: now}, "Partition.size").outcome == UNCHANGED


def test_a_long_diff_is_cut_and_says_so() -> None:
    body = "\n".join(f"    step({n})" for n in range(200))
    now = PARTITION.replace("    this.epoch = epoch", body)
    shown = became({SCALA: PARTITION}, {SCALA: now}, "Partition.makeLeader").diff()

    assert len(shown) == DIFF_LINES_MAX + 1
    assert shown[-1].endswith(" lines more")


def test_a_class_that_becomes_java_is_moved_with_its_methods() -> None:
    found = became({SCALA: PARTITION}, {JAVA: JAVA_PARTITION}, "Partition.makeLeader")

    assert (found.outcome, found.where) == (MOVED, f"{SCALA} -> {JAVA}")


def test_a_method_that_is_the_same_in_another_file_is_moved() -> None:
    other = "kafka/log/Partition.scala"

    assert became({SCALA: PARTITION}, {other: PARTITION}, "Partition.size").outcome == MOVED


def test_a_method_is_removed_or_new_or_in_neither() -> None:
    without = PARTITION.replace("def size: Int = 1", "val size: Int = 1")

    removed = became({SCALA: PARTITION}, {SCALA: without}, "Partition.size")

    assert (removed.outcome, removed.where) == (REMOVED, SCALA)
    assert became({SCALA: without}, {SCALA: PARTITION}, "Partition.size").outcome == NEW
    assert became({SCALA: without}, {SCALA: without}, "Partition.size").outcome == NEITHER


BYTE_CODE = """\
Compiled from "Partition.scala"
public class kafka.cluster.Partition {
  private int epoch;

  public boolean makeLeader(int);
    Code:
       0: aload_0
       1: ldc           #12                 // String starts
       3: iload_1
       4: ifne          8
       7: nop
       8: invokedynamic #19,  0             // InvokeDynamic #2:get:(Lkafka/cluster/Partition;)V
      13: ireturn
    Exception table:
       from    to  target type
           0     8    13   any

  public static final void $anonfun$makeLeader$4(kafka.cluster.Partition, int);
    Code:
       0: iconst_1
       1: return

  public int size();
    Code:
       0: iconst_1
       1: ireturn
}
"""


def test_byte_code_is_the_same_wherever_constants_closures_and_packages_are() -> None:
    other = (
        BYTE_CODE.replace("#12 ", "#713")
        .replace("ldc  ", "ldc_w")
        .replace("#19,  0", "#20,  0")
        .replace("#2:get:(Lkafka/cluster/", "#5:get:(Lorg/apache/kafka/server/")
        .replace("$anonfun$makeLeader$4", "$anonfun$makeLeader$11")
    )
    for shifted in ("13", "8", "7", "4", "3"):
        place = f"{shifted:>8}: "
        other = other.replace(place, f"{int(shifted) + 1:>8}: ")
    other = other.replace("ifne          8", "ifne          9")

    assert methods_of(other) == methods_of(BYTE_CODE)
    assert set(methods_of(BYTE_CODE)) == {"makeLeader", "size"}


@pytest.mark.parametrize(
    ("old", "new"),
    [("iload_1", "iload_2"), ("starts", "begins"), ("ifne          8", "ifne         13")],
)
def test_another_instruction_changes_a_method(old: str, new: str) -> None:
    changed = methods_of(BYTE_CODE.replace(old, new))

    assert changed["makeLeader"] != methods_of(BYTE_CODE)["makeLeader"]
    assert changed["size"] == methods_of(BYTE_CODE)["size"]


def test_a_closure_belongs_to_the_method_that_it_stands_in() -> None:
    changed = methods_of(
        BYTE_CODE.replace("iconst_1\n       1: return", "iconst_2\n       1: return")
    )

    assert changed["makeLeader"] != methods_of(BYTE_CODE)["makeLeader"]


@pytest.mark.parametrize(
    ("release", "before"),
    [("4.3.1", "4.3.0"), ("4.3.0", "4.2.2"), ("4.5.0", "4.4.0"), ("0.8.2.0", "0.8.1.1")],
)
def test_the_release_before_has_the_greatest_number_below(release: str, before: str) -> None:
    assert release_before(release) == before


def test_releases_are_in_order_and_each_is_there_once() -> None:
    numbers = [number_of(each) for each in RELEASED]

    assert numbers == sorted(set(numbers))


@pytest.mark.parametrize("text", ["4.3", "trunk", "4.3.x", "0.8.0"])
def test_what_has_no_release_before_it_is_refused(text: str) -> None:
    with pytest.raises(NoRelease, match=r"write it as 4\.3\.1|name one with --since"):
        release_before(text)


def test_the_parts_of_a_broker_are_the_jars_that_its_release_has() -> None:
    assert parts("0.8.1") == ["kafka_2.10"]
    assert parts("2.3.1") == ["kafka_2.11", "kafka-clients"]
    assert parts("4.3.1")[0] == "kafka_2.13"
    assert "kafka-server" in parts("4.3.1")
    assert "kafka-server" not in parts("3.6.2")


def made_release(folder: Path, monkeypatch: pytest.MonkeyPatch, now: str) -> None:
    """Two releases, 4.3.0 and 4.3.1, of one file each, instead of what Maven fetches."""
    texts = {"4.3.0": PARTITION, "4.3.1": now}

    def fetched(release: str, *, with_sources: bool) -> list[Path]:
        return [folder / release] if with_sources else []

    monkeypatch.setattr(rules_of, "fetched", fetched)
    monkeypatch.setattr(releases, "fetched", fetched)
    monkeypatch.setattr(releases, "files_in", lambda jars, *suffixes: {SCALA: jars[0]})
    monkeypatch.setattr(releases, "text_in", lambda jar, name: texts[jar.name])


@pytest.mark.parametrize(
    ("now", "code", "says"),
    [
        (PARTITION, 0, "unchanged: 1"),
        (PARTITION.replace("isNew(0)", "isNew(1)"), 1, "changed   Partition.makeLeader"),
    ],
)
def test_the_exit_code_says_whether_there_is_anything_to_read(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    now: str,
    code: int,
    says: str,
) -> None:
    made_release(tmp_path, monkeypatch, now)
    monkeypatch.setattr(rules_of, "citations", lambda: {"Partition.makeLeader": ["metadata.py"]})
    monkeypatch.setattr(sys, "argv", ["rules_of", "4.3.1", "--diff"])

    with pytest.raises(SystemExit) as ended:
        rules_of.main()
    printed = capsys.readouterr().out

    assert ended.value.code == code
    assert says in printed
    assert "Kafka 4.3.1 against 4.3.0, 1 cited methods, by sources" in printed
    assert ("+    isNew(1)" in printed) == (code == 1)
    assert "\x1b" not in printed


def test_a_text_that_is_no_release_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["rules_of", "trunk"])

    with pytest.raises(SystemExit) as ended:
        rules_of.main()

    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "rules_of: 'trunk' is no release of Kafka; write it as 4.3.1 or 0.10.2.2\n"
    )
