"""Help that a reader finds something in: groups, the most used options first, entries by topic."""

from __future__ import annotations

import re

import click

from tests.support.commands import Commands
from waterline.checker.cli.commands import COMMANDS, command_of
from waterline.checker.cli.shared.grouped_help import GROUPS, OTHERS
from waterline.model.message.contents import ACTIONS, ACTORS


def test_the_short_help_of_check_fits_two_screens_and_leads_to_all_of_it(cli: Commands) -> None:
    _, short, _ = cli("--help")
    _, whole, _ = cli("--help-all")
    options = {option for param in command_of("check").params for option in param.opts}

    assert len(short.splitlines()) < 100
    assert "--help-all" in short
    assert "--late-booking" not in short
    assert [option for option in options if option not in whole] == []


def test_every_option_of_check_is_in_one_group() -> None:
    names = [f"--{name}" for group in GROUPS.values() for name in group]
    options = [
        next(opt for opt in param.opts if opt.startswith("--"))
        for param in command_of("check").params
        if isinstance(param, click.Option)
    ]

    assert sorted(names) == sorted({*names})
    assert set(options) - set(names) == {"--help-all"}


def test_the_groups_are_shown_in_order(cli: Commands) -> None:
    _, whole, _ = cli("--help-all")
    titles = re.findall(r"^(\S.*):$", whole, re.MULTILINE)

    assert titles == [*GROUPS, OTHERS]


def test_the_list_of_commands_has_each_under_one_heading(cli: Commands) -> None:
    _, out, _ = cli("--help", name="waterline")
    listed = re.findall(r"^  ([a-z-]+)  +\S", out, re.MULTILINE)

    assert sorted(name for name in listed if name in COMMANDS) == sorted(COMMANDS)
    assert out.index("Your Kafka cluster:") < out.index("A model of your own:")


def test_a_kip_or_a_ticket_finds_the_entries_about_it(cli: Commands) -> None:
    _, out, _ = cli("scenarios", "kip-101", name="waterline")
    _, by_ticket, _ = cli("scenarios", "KAFKA-7415", name="waterline")
    _, one, _ = cli("scenarios", "kip-279", name="waterline")
    code, _, err = cli("--scenario", "kip-101", "--engine", "local")

    assert {"C1", "C1b", "C2"} <= set(re.findall(r"^ (C\w+) ", out, re.MULTILINE))
    assert {"C6", "C6u"} <= set(re.findall(r"^ (C\w+) ", by_ticket, re.MULTILINE))
    assert one.startswith("C4 kip-279: ")
    assert code == 2
    assert "'kip-101' is several entries: C1 kip-101-loss, C1b kip-101-loss-by-moves" in err


def test_a_version_has_its_rules_on_one_page_by_who_acts(cli: Commands) -> None:
    _, out, _ = cli("versions", "hw", name="waterline")
    _, newest, _ = cli("versions", "4.2", name="waterline")
    code, _, err = cli("versions", "hx", name="waterline")
    headings = [line for line in out.splitlines() if line in ACTORS]

    assert headings == list(ACTORS)
    assert "Ask the known leader for everything from the follower's LEO on." in " ".join(
        out.split()
    )
    assert "OffsetForLeaderEpoch" not in out
    assert "HearAnswer" not in out
    assert newest.startswith("elr +last-known-leader (Kafka 4.1 to 4.4 with ELR)\n")
    assert "\nAlterPartition" in newest
    assert code == 2
    assert "unknown protocol 'hx'; known: hw, epoch" in err


def test_every_action_has_an_actor() -> None:
    named = [name for names in ACTORS.values() for name in names]

    assert sorted(named) == sorted(action.name for action in ACTIONS)
