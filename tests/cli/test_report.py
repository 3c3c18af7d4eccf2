"""The first and last lines of `check`: the finding, larger bounds, rules that change nothing."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.commands import Commands
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.scenarios.catalogue import find_scenario, losses_beyond, more_needed
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Budgets, Verdict
from waterline.model.message.environment import DOCUMENTED
from waterline.model.message.release_names import releases_with
from waterline.model.message.releases import RELEASES
from waterline.model.message.versions import version_of

HW = ("--protocol", "hw", "--engine", "local")
LOSS = "VIOLATED acknowledged_durable"


def test_the_gravest_violation_comes_first_and_last(cli: Commands) -> None:
    _, out, _ = cli(*HW)
    *_, finding, more = re.split(r"\n(?=VIOLATED|\d+ more)", out.strip())

    assert re.findall(r"^VIOLATED \w+", out, re.MULTILINE) == [LOSS, LOSS]
    assert out.index(LOSS) < out.index("Invariant ")
    assert finding.startswith(f"{LOSS} after 12 steps: m1 was acknowledged; ")
    assert more == "10 more violated: --all prints every trace, --html FILE writes a page of them."
    assert len(out.splitlines()) < 140


def test_all_prints_the_steps_to_every_violated_claim(cli: Commands) -> None:
    _, out, _ = cli(*HW, "--all")

    assert len(re.findall(r"^VIOLATED \w+: ", out, re.MULTILINE)) == 11
    assert "more violated" not in out
    assert out.count("By the same steps as acknowledged_durable, above.") == 2


def test_what_kafka_does_not_promise_is_less_grave_than_what_it_does(cli: Commands) -> None:
    """With acks=1 an acknowledged record may be lost; a committed one may not."""
    small = ("--records", "1", "--epochs", "1", "--restarts", "1")
    _, out, _ = cli(*HW, *small, "--acks", "1")
    violated = re.findall(r"^ (\w+) +VIOLATED(.*)", out, re.MULTILINE)
    promised = [name for name, after in violated if "within the contract" not in after]

    assert ("acknowledged_durable", " after 4 steps, within the contract of acks=1") in violated
    last = re.findall(r"^VIOLATED (\w+)", out, re.MULTILINE)[-1]
    assert last in (promised or ["acknowledged_durable"])


def test_json_has_every_trace(cli: Commands) -> None:
    _, out, _ = cli(*HW, "--format", "json")
    claims = json.loads(out)["invariants"].values()

    assert sum(claim["trace"] is not None for claim in claims) == 11


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        ("hw", "Kafka 0.10"),
        ("epoch", "Kafka 0.11 to 1.1"),
        ("kip279-code", "Kafka 2.0.0"),
        ("kip320", "Kafka 2.6.1 to 2.6.x"),
        ("elr-with-last-known-leader", "Kafka 4.1 to 4.2 with ELR"),
        ("kip320-without-fencing", ""),
    ],
)
def test_a_version_names_the_releases_that_have_its_rules(version: str, shown: str) -> None:
    assert releases_with(version_of(version)) == shown


def test_rules_of_reassignments_do_not_count_where_nothing_is_reassigned() -> None:
    elr = version_of("elr-with-last-known-leader")

    assert releases_with(elr, {"Restart"}) == "Kafka 4.1 to 4.4 with ELR"
    assert releases_with(elr, {"Restart", "Reassign"}) == "Kafka 4.1 to 4.2 with ELR"


def test_every_release_has_a_name_in_the_headings() -> None:
    for release in RELEASES:
        assert releases_with(version_of(release.version)).startswith("Kafka "), release


def test_a_release_that_holds_says_what_larger_bounds_lose(cli: Commands) -> None:
    code, out, _ = cli("--kafka", "4.2", "--engine", "local")
    flat = " ".join(out.split())

    assert code == 0
    assert flat.startswith(
        "elr +last-known-leader (Kafka 4.1 to 4.4 with ELR): 2 replicas, 2 records, epochs 0 to 2, "
        "up to 2 crashes "
    )
    assert flat.endswith(
        "Larger bounds lose a record under elr: C21 needs 3 replicas, epochs 0 to 3, 2 moves. "
        "See it with --scenario C21."
    )


def test_a_rule_that_prevents_it_silences_the_advice() -> None:
    """2.0.1 has the rule without which C7 comes back; `fresh-remote-leo` repairs C21."""
    usual = DOCUMENTED.options()
    release = next(each.version for each in RELEASES if each.since == (2, 0, 1))

    known = losses_beyond("kip279", usual)
    assert [(under, each.number) for under, each in known] == [("kip279", "C6"), ("kip279", "C7")]
    assert losses_beyond(release, usual) == []
    assert losses_beyond("elr-with-fresh-remote-leo", usual) == []
    by_another_name = losses_beyond("hw-with-truncate-by-epoch", usual)
    assert {under for under, _ in by_another_name} == {"epoch"}
    assert losses_beyond("elr", find_scenario("C21").environment.options()) == []


def advised() -> list[tuple[str, str]]:
    """What is advised for releases whose very version the catalogue does not explore.

    Each entry once, for the newest release that it is said of; with three replicas, which take
    seconds, for the newest of all.
    """
    usual = DOCUMENTED.options()
    newest = {
        entry.number: version
        for version in (release.version for release in RELEASES)
        for _, entry in losses_beyond(version, usual)
        if version not in entry.falls
        and (version == RELEASES[-1].version or "replicas" not in more_needed(entry, usual))
    }
    return [(version, number) for number, version in newest.items()]


def test_what_is_advised_loses_a_record() -> None:
    assert_loses_a_record(*advised()[0])


def assert_loses_a_record(version: str, number: str) -> None:
    """An entry of the catalogue loses one under this version."""
    entry = find_scenario(number)
    options = {**entry.environment.options(), "hw-in-response": "pre"}
    problem = MESSAGE.problem(version, options, [entry.claim])
    done = run(problem, EngineChoice(name="local"), budgets=Budgets(stop_at_first=True))

    [found] = done.result.invariants
    assert found.verdict is Verdict.VIOLATED


def test_a_rule_that_changes_nothing_here_says_so(cli: Commands) -> None:
    _, out, _ = cli("--protocol", "kip320", "--without", "fencing", "--engine", "local")
    flat = " ".join(out.split())

    assert "Never taken, because moves=0: Move" in flat
    assert flat.endswith(
        "No difference within these bounds: kip320 has the same verdicts as kip320 -fencing. "
        "moves=0 cuts Move always: try --moves 1."
    )


def test_a_rule_that_matters_is_not_called_one_that_does_not(cli: Commands) -> None:
    """Nor is one of which nothing is known, because the run was stopped."""
    switched = ("--protocol", "hw", "--with", "truncate-by-epoch", "--engine", "local")
    code, out, _ = cli(*switched)
    _, stopped, _ = cli(*switched, "--max-depth", "3")

    assert code == 0
    assert "No difference" not in out
    assert "No difference" not in stopped
