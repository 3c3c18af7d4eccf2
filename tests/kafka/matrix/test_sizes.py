"""Sizes: which stands for a larger one, and that nothing is concluded which it does not show."""

from __future__ import annotations

import itertools
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.deployment_answers import always, answer_of, made_up, shown
from tests.support.recorded_traces import entry_trace
from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.question import Answer
from waterline.checker.ci.configured import entries_of
from waterline.checker.ci.reports.config_findings import to_junit, to_sarif
from waterline.checker.cli.matrix_deployment import exit_code
from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment, Setting, Topic
from waterline.checker.kafka.deployed.keys import MIN_INSYNC
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.advice import Advice, Changes, Remedy, advice
from waterline.checker.kafka.matrix.deepening import Raised
from waterline.checker.kafka.matrix.files import deployment_csv, deployment_object
from waterline.checker.kafka.matrix.findings import UNKNOWN, findings_of
from waterline.checker.kafka.matrix.grid import CLAIMS, FAULT, FAULTS, Cell, Grid, Size
from waterline.checker.kafka.matrix.known_causes import Kin
from waterline.checker.kafka.matrix.matrix import DeploymentAnswer, explore_grid
from waterline.checker.kafka.matrix.outcome import Standing, judge
from waterline.checker.kafka.matrix.properties import Config, configs_of
from waterline.checker.kafka.matrix.reason import losses_among
from waterline.checker.kafka.matrix.verdict_groups import headline
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.kafka.scenarios.repairs import REPAIRS
from waterline.checker.report.pages.deployment_page import to_html
from waterline.checker.search.engines.engine import EngineChoice
from waterline.counterexamples.replay import follow
from waterline.counterexamples.trace import Trace, TraceStep
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_named

LOCAL = EngineChoice(name="local")
PAIRS = [(n, m) for n in range(1, 8) for m in range(1, n + 1)]
FILE = Path("server.properties")
SMALLER = ("reassignment", "reassigned again", "replication factor")
"""Faults that are explored with two replicas at most."""


def deployed(text: str, *topics: Topic) -> Deployment:
    """Brokers with these settings, and topics."""
    pairs = (line.split("=") for line in text.split())
    return Deployment(brokers={k: Setting(k, v, "file") for k, v in pairs}, topics=topics)


def sized(n: int, m: int, *more: str, replicas: int | None = None) -> Config:
    """A configuration of this size."""
    lines = ("process.roles=broker,controller", "metadata.version=4.0", *more)
    text = " ".join((*lines, f"default.replication.factor={n}", f"min.insync.replicas={m}"))
    [config] = configs_of(deployed(text), replicas=replicas)
    return config


def stands_for(n: int, m: int) -> tuple[int, int]:
    if n <= 3:
        return n, m
    return 3, {1: 1, n: 3}.get(m, 2)


@pytest.mark.parametrize(("n", "m"), PAIRS)
def test_what_holds_in_another_size_is_no_answer_anywhere(n: int, m: int) -> None:
    config = sized(n, m)
    answer = made_up(config, lambda cell: False)
    whole = DeploymentAnswer(deployed(""), (answer,))
    environment = answer.matrix.outcomes[0].cell.environment
    findings = findings_of(whole, FILE)
    text = deployment_object(whole, findings)
    junit = ET.fromstring(to_junit(findings, whole))
    # Of three replicas those that are reassigned are explored as two.
    is_yours, is_like_yours = n <= 2, n <= 3
    unknown = 0 if is_yours else len(SMALLER) if is_like_yours else len(FAULTS) - 1
    standings = {"holds"} if is_like_yours else set()
    first = " ".join(shown(whole)[:2])

    assert (environment.replicas, environment.min_insync_replicas) == stands_for(n, m)
    assert exit_code(whole, "loss") == (0 if is_yours else 20)
    assert text["complete"] is is_yours
    assert (f"none of {len(FAULTS) - 1} faults can lose" in text["headline"]) is is_yours
    assert {cell["standing"] for cell in text["cells"]} == standings | (
        set() if is_yours else {"incomplete"}
    )
    assert (",holds," in deployment_csv(whole)) is is_like_yours
    assert ("No loss with" in " ".join(shown(whole))) is is_like_yours
    assert junit.get("skipped") == str(unknown)
    assert (UNKNOWN in {finding.rule for finding in findings}) is not is_yours
    ended = json.loads(to_sarif(findings, is_whole=whole.complete))["runs"][0]["invocations"]
    assert ended[0]["executionSuccessful"] is is_yours
    assert ("<b>not explored in your size</b>" in to_html(whole)) is not is_yours
    smaller = [c for c in text["cells"] if c["at"][FAULT] in SMALLER]
    told = (
        {None}
        if is_yours
        else {f"2 replicas with min.insync.replicas={min(m, 2)}, of your {n} and {m}"}
    )
    assert {cell["explored_as"] for cell in smaller} == told
    if not is_like_yours:
        copies, in_sync = stands_for(n, m)
        said = (
            f"explored as {copies} replicas with min.insync.replicas={in_sync}, of your {n} and {m}"
        )
        assert said in first
        assert text["explored_as"] == said.removeprefix("explored as ")


@pytest.mark.parametrize(("n", "m"), PAIRS)
def test_a_loss_of_another_size_says_whether_it_is_one_of_yours(n: int, m: int) -> None:
    answer = made_up(sized(n, m), always)
    whole = DeploymentAnswer(deployed(""), (answer,))
    is_shown = stands_for(n, m)[1] == m and (n < 3 or m <= 2)

    assert exit_code(whole, "loss") == 12
    assert ("record there" in headline(answer)) is not is_shown
    assert {outcome.standing for outcome in answer.matrix.outcomes} == {Standing.VIOLATED}


@pytest.mark.parametrize("most", range(1, 8))
def test_a_smaller_size_never_has_a_replica_out_of_sync_that_yours_has_not(most: int) -> None:
    for n, m in PAIRS:
        yours, found = Size(n, m), Size(n, m).representative(most)

        assert found.replicas == min(n, most)
        assert 1 <= found.min_insync <= min(m, found.replicas)
        assert found == yours or found.replicas < n
        if m in {n, 1}:
            assert found.min_insync == (found.replicas if m == n else 1)
        elif found.replicas > 1:
            assert found.min_insync < found.replicas


UNCLEAN = """\
process.roles=broker,controller
metadata.version=4.0
default.replication.factor=5
min.insync.replicas=3
unclean.leader.election.enable={}
"""


def with_one_more(trace: Trace, at: int, steps: int) -> Trace:
    """The same, with a third replica that leaves the ISR before step `at`, and never fetches."""
    leaving = (
        TraceStep("ShrinkIsr", (("leader", 0), ("follower", 2))),
        TraceStep("AlterPartition", (("leader", 0),)),
        TraceStep("Learn", (("replica", 0),)),
        TraceStep("Learn", (("replica", 1),)),
    )[:steps]
    return replace(trace, steps=(*trace.steps[:at], *leaving, *trace.steps[at:]))


BROKERS = ("leader", "follower", "replica", "winner")


def beside_one_more(step: TraceStep, *, spare: bool, stays: bool) -> TraceStep:
    """The same, with a third replica, so that a broker that had none is the fourth."""

    def moved(name: str, value: int) -> int:
        if name in BROKERS:
            return 3 if spare and value == 2 else value
        if name == "targets":
            return (value & 3) | (4 if stays else 0) | (8 if spare and value & 4 else 0)
        return value

    return TraceStep(step.action, tuple((n, moved(n, v)) for n, v in step.arguments))


@pytest.mark.parametrize(
    ("name", "release"),
    [
        ("removed-replica-in-elr", "4.0:elr"),
        ("removed-replica-in-elr", "4.2:elr"),
        ("replication-factor-down-and-up", "4.2:elr"),
        ("replication-factor-down-and-up", "4.4:elr"),
    ],
)
def test_a_loss_by_reassignment_is_a_loss_of_a_larger_size(name: str, release: str) -> None:
    """The replica more leaves the ISR first; the operator keeps it, or takes it away as well."""
    recorded = entry_trace(name)
    options = dict(recorded.environment)
    spare = options["assigned"] == 2
    larger = {
        **options,
        "replicas": options["replicas"] + 1,
        "epochs": 6,
        "assigned": 3 if spare else 0,
        "first-partition-replicas": 3 if options["first-partition-replicas"] else 0,
    }
    version, _ = release_named(release)
    problem = MESSAGE.problem(
        version.version, Environment.from_options(larger), [recorded.invariant]
    )
    [claim] = [c for c in problem.judged if c.name == recorded.invariant]
    lost = 0
    for at, stay in itertools.product((0, 1, 3), itertools.product((True, False), repeat=2)):
        stays = iter(stay)
        steps = [
            beside_one_more(s, spare=spare, stays=s.action == "Reassign" and next(stays))
            for s in recorded.steps
        ]
        for more in (0, 2):
            trace = with_one_more(replace(recorded, steps=tuple(steps)), at, more)
            ended = follow(trace, problem.model)
            lost += ended.refusal is None and not claim.holds(
                ended.replayed.states[-1], problem.model.settings
            )

    assert lost


@pytest.mark.parametrize(("n", "m"), PAIRS)
def test_as_many_in_sync_as_there_are_replicas_are_never_tried(
    n: int, m: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def all_hold(grid: Grid, cells: Sequence[Cell], *_: object, **__: object) -> Raised:
        tried.extend(int(cell.coordinates[MIN_INSYNC]) for cell in cells)
        return Raised(tuple(judge(grid, cells, [answer_of(None) for _ in cells])))

    monkeypatch.setattr("waterline.checker.kafka.matrix.advice.explore_raised", all_hold)
    for most in (None, n):
        config = sized(n, m, replicas=most)
        answer = made_up(config, always)
        tried.clear()
        with exploring(LOCAL) as explorer:
            advice(config, answer.matrix.grid, answer.matrix.outcomes, explorer)

        copies, in_sync = config.explored.replicas, config.explored.min_insync
        raised = {value for value in tried if value != in_sync}
        assert raised <= {in_sync + 1}
        assert copies not in raised
        assert bool(raised) is (in_sync + 1 < copies)


def topic(replicas: int, in_sync: int) -> Topic:
    own = {"replication.factor": str(replicas), "min.insync.replicas": str(in_sync)}
    return Topic(name="audit", settings={k: Setting(k, v, "topic") for k, v in own.items()})


@pytest.mark.parametrize(
    ("brokers", "acks", "in_effect"),
    [
        ("kafka-version=3.6", None, None),
        ("kafka-version=3.6", "1", 1),
        ("kafka-version=3.7", None, 1),
        ("kafka-version=4.1 process.roles=broker", None, 1),
        # Brokers take the replicas for the most whatever they speak (KAFKA-15583).
        ("kafka-version=3.9.1 inter.broker.protocol.version=3.5", None, 1),
    ],
)
def test_more_in_sync_than_replicas_are_refused_up_to_3_6_and_then_all_of_them(
    brokers: str, acks: str | None, in_effect: int | None
) -> None:
    found = configs_of(deployed(brokers, topic(1, 2)), acks=acks)
    sizes = [config.yours for config in found if config.topics]

    assert sizes == ([] if in_effect is None else [Size(1, in_effect)])


def test_more_in_sync_than_replicas_of_brokers_is_said_and_not_refused_from_3_7_on() -> None:
    text = "default.replication.factor=2 min.insync.replicas=3 kafka-version={}"
    with pytest.raises(BadConfig, match="is '3'; that is more than default"):
        configs_of(deployed(text.format("3.6")))
    [config] = configs_of(deployed(text.format("3.7")))

    assert config.yours == Size(2, 2)
    assert any("so Kafka takes 2, as it does from 3.7 on" in note for note in config.notes)


@pytest.mark.parametrize(("count", "factor"), [("1", 1), ("2", 2), ("3", 3), ("9", 3)])
def test_no_more_replicas_than_brokers_where_no_file_says_how_many(count: str, factor: int) -> None:
    brokers = replace(deployed("min.insync.replicas=1"), broker_count=Setting("", count, "x"))
    [config] = configs_of(brokers)

    assert config.yours == Size(factor, 1)


def test_the_common_faults_are_asked_first_and_none_is_no_fault() -> None:
    config = sized(3, 2)
    asked: list[str] = []

    def unanswered(questions, watch):  # type: ignore[no-untyped-def]
        asked.extend(question.name for question in questions)
        raise KeyboardInterrupt

    grid = Grid(axes=config.axes(), replicas=3, records=1, in_order_given=True)
    with pytest.raises(KeyboardInterrupt):
        explore_grid(grid, unanswered, engine="local")

    assert asked[:4] == ["one crash", "two crashes", "power loss", "rolling restart"]
    assert len(asked) == len(FAULTS) - 1
    assert "none" not in asked


@pytest.mark.parametrize("fail_on", ["loss", "setting"])
def test_with_acks_0_nothing_is_acknowledged_and_that_is_a_loss_of_its_own(fail_on: str) -> None:
    answer = made_up(sized(2, 1, "acks=0"), lambda cell: False)
    whole = DeploymentAnswer(deployed(""), (answer,))
    told = " ".join(shown(whole))

    assert headline(answer).startswith("with acks=0 nothing is acknowledged, and any fault may")
    assert "can lose an acknowledged record" not in told
    assert "Remedy: set acks=all." in told
    assert '<p class="violated note"><b>with acks=0 nothing' in to_html(whole)
    assert exit_code(whole, fail_on) == 12
    assert [finding.setting for finding in findings_of(whole, FILE)] == ["acks"]


def test_a_record_that_was_only_committed_is_not_called_acknowledged() -> None:
    answer = made_up(sized(3, 2), always)
    names = {claim.name for claim in CLAIMS if claim.name.startswith("acknowledged")}
    outcomes = tuple(
        replace(o, claims=tuple(c for c in o.claims if c.name not in names))
        for o in answer.matrix.outcomes
    )
    found = replace(answer, matrix=replace(answer.matrix, outcomes=outcomes))

    every = len(FAULTS) - 1
    assert headline(found) == f"{every} of {every} faults can lose a committed record."


@pytest.mark.parametrize(
    ("depths", "lost"),
    [
        ({"acknowledged_somewhere": 12, "leader_possible": 12}, []),
        ({"acknowledged_somewhere": 11, "leader_possible": 12}, ["acknowledged_somewhere"]),
        (
            {"no_committed_loss": 9, "acknowledged_durable": 16, "leader_possible": 12},
            ["acknowledged_durable", "no_committed_loss"],
        ),
    ],
)
def test_that_nobody_can_lead_is_no_loss_while_it_runs(
    depths: dict[str, int], lost: list[str]
) -> None:
    assert losses_among(depths) == lost


def test_a_gate_names_a_fault_that_is_explored_in_a_smaller_size(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text(UNCLEAN.format("false").replace("replicas=3", "replicas=2"))
    asked = {"acks": None, "kafka_version": None, "faults": ["replication factor", "power loss"]}
    found = entries_of([path], sizes={"replicas": 3}, **asked)  # type: ignore[arg-type]
    names = {name: (o["replicas"], o["min-insync-replicas"]) for name, _, o in found}

    assert names == {
        "power loss, as 3 replicas with min.insync.replicas=2": (3, 2),
        "replication factor, as 2 replicas with min.insync.replicas=2": (2, 2),
    }


def test_a_gate_names_the_size_of_its_verdicts(tmp_path: Path) -> None:
    """A gate that expects `holds` of 5 replicas was met by 3."""
    path = tmp_path / "server.properties"
    path.write_text(UNCLEAN.format("true"))
    asked = {"acks": None, "kafka_version": None, "faults": ["one crash"]}
    with pytest.raises(BadEnvironment, match=re.escape("replicas = 5, which takes longer, or")):
        entries_of([path], sizes={}, **asked)  # type: ignore[arg-type]
    [(name, _, options)] = entries_of([path], sizes={"replicas": 3}, **asked)  # type: ignore[arg-type]

    assert name == "one crash, as 3 replicas with min.insync.replicas=2"
    assert (options["replicas"], options["min-insync-replicas"]) == (3, 2)


def test_what_no_setting_prevents_is_named_on_the_screen_and_the_page() -> None:
    [repair] = [repair for repair in REPAIRS if repair.entry == "C21"]
    kin = {"zombie": [Kin(find_scenario("C21"), repair, None)]}
    answer = made_up(sized(3, 2), lambda cell: cell.coordinates[FAULT] == "zombie")
    whole = DeploymentAnswer(deployed(""), (replace(answer, kin=kin),))
    said = "Zombie: like C21 (A leader that missed an epoch still goes by what its followers had"

    assert "1. No setting or upgrade that we tried prevents these:" in shown(whole)
    assert said in " ".join(" ".join(shown(whole)).split())
    assert said in to_html(whole)


def test_a_remedy_that_was_not_explored_to_the_end_is_not_said_to_fail() -> None:
    config = sized(3, 2)
    answer = made_up(config, lambda cell: cell.coordinates[FAULT] == "zombie")
    unknown = replace(answer.matrix.outcomes[0], answer=Answer(stopped_by="max-states 5"))
    changes = Changes({"unclean.leader.election.enable": "false"})
    found = replace(answer, advice=Advice({"zombie": [Remedy(changes, unknown)]}))
    whole = DeploymentAnswer(deployed(""), (found,))
    [finding] = [each for each in findings_of(whole, FILE) if each.rule != UNKNOWN]

    assert "   Some remedies were not explored to the end." in shown(whole)
    assert "Some remedies were not explored to the end." in to_html(whole)
    assert finding.message.endswith("Some remedies were not explored to the end.")
