"""`--fluss`: what it names, what it refuses, and how steered tablet servers are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.fluss.replay import steered_release
from waterline.checker.kafka.confirm.fluss.servers import Shown

TRACES = Path(__file__).parents[2] / "examples" / "traces" / "fluss"
CONFIG = Path(__file__).parents[1] / "golden" / "configs" / "zookeeper-2.1-1.properties"


def test_a_release_of_fluss_names_the_version(cli: Commands) -> None:
    code, out, _ = cli("--fluss", "0.9.1", "--replicas", "1", "--records", "1", "--engine", "local")

    assert code == 12
    assert out.startswith("fluss-0.9: 1 replica, ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--fluss", "0.8.0"], "--fluss: the rules of Fluss '0.8.0' were not looked up"),
        (["--fluss", "0.9.1", "--kafka", "2.3.1"], "--kafka and --fluss both say which rules"),
        (["--fluss", "0.9.1", "--protocol", "hw"], "--fluss and --protocol both say which rules"),
        (["--fluss", "0.9.1", "--unclean-leader-election"], "elects nobody from outside the ISR"),
    ],
)
def test_what_contradicts_a_release_of_fluss_is_refused(
    arguments: list[str], says: str, cli: Commands
) -> None:
    code, out, err = cli(*arguments)

    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([str(TRACES / "4269.json")], "give --kafka or --fluss, one of them"),
        (["--scenario", "C1", "--fluss", "0.9.1", "--control"], "--control is for brokers of"),
        (["--scenario", "C51", "--kafka", "0.11.0.3"], "C51 leaderless-truncation is about Apache"),
        ([str(TRACES / "4269.json"), "--fluss", "main"], "give 0.9.1"),
    ],
)
def test_confirm_says_which_tablet_servers_it_steers(
    arguments: list[str], says: str, cli: Commands
) -> None:
    code, _, err = cli("confirm", *arguments, name="waterline")

    assert code == 2
    assert says in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--fluss", "0.8.0"], "--fluss: the rules of Fluss '0.8.0' were not looked up"),
        (["--fluss", "0.9.1", "--only", "version=hw"], "fluss-0.9 is of Fluss, hw of Kafka"),
        (
            ["--fluss", "main", "--only", "unclean.leader.election.enable=true"],
            "unclean.leader.election.enable is 'true'; known: false",
        ),
        (["--fluss", "main", "--config", str(CONFIG)], "--fluss goes with a grid"),
    ],
)
def test_a_grid_of_fluss_has_its_versions_and_settings_alone(
    arguments: list[str], says: str, cli: Commands
) -> None:
    code, _, err = cli("matrix", *arguments, name="waterline")

    assert code == 2
    assert says in err


def test_the_grid_of_a_release_says_below_it_what_is_lost_by_what(
    cli: Commands, tmp_path: Path
) -> None:
    page = tmp_path / "matrix.html"
    code, out, _ = cli(
        *("matrix", "--fluss", "0.9.1", "--replicas", "1", "--records", "1", "--over", "faults"),
        *("--only", "faults=none,one crash,lost disk", "--no-unbounded", "--max-epochs", "3"),
        *("--html", str(page)),
        name="waterline",
    )
    said = " ".join(out.split())

    assert code == 0
    assert (
        "fluss-0.9: a record is lost that was acknowledged to a producer under one crash (5 steps);"
        " what breaks is not promised under lost disk; nothing breaks under no fault."
    ) in said
    assert "min.insync.replicas is log.replica.min-in-sync-replicas-number" in said
    assert "One tablet server process crashes" in said
    assert "Fluss does not flush before it acknowledges" in said
    assert "under one crash (5 steps)" in page.read_text()


def test_a_steered_release_is_one_jar() -> None:
    assert steered_release("0.9.1").artifacts == ("org.apache.fluss:fluss-server:0.9.1-incubating",)
    with pytest.raises(CannotConfirm, match="its rules were not looked up"):
        steered_release("0.7.0")


def test_what_a_tablet_server_shows_keeps_the_order_of_its_log() -> None:
    shown = Shown.read("leads=true leader=0 epoch=2 leo=2 hw=1 isr=2,0 log=3,1 acked=3 refused=")

    assert (shown.leads, shown.epoch, shown.leo, shown.hw) == (True, 2, 2, 1)
    assert (shown.isr, shown.log, shown.acked) == ((0, 2), (3, 1), frozenset({3}))
