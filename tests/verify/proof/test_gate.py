"""Entries of a gate that demand a proof."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("z3")

from tests.support.commands import Commands
from waterline.checker.kafka.theorems import message_subject_within
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

PAGE = (Path(__file__).parents[3] / "docs" / "proof.md").read_text(encoding="utf-8")
[MODEL] = re.findall(r"<!-- file: ticket_lock.py -->\n```python\n(.+?)```", PAGE, re.DOTALL)
LEMMAS = re.findall(r"<!-- lemma -->\n```python\n(.+?)```", PAGE, re.DOTALL)
ENTRY = """
[[expect]]
name = "one is inside at most"
engine = "local"
proved = true
"""


MESSAGE = """
records = 1
epochs = 1
election-order = "any"
invariant = ["no_committed_loss"]
verdicts = { no_committed_loss = "holds" }
"""


@pytest.mark.parametrize(
    ("lemmas", "code", "shown"),
    [
        ("served_alone, tickets_differ", 0, "as expected"),
        ("served_alone", 3, "expected PROVED, got NOT PROVED: take leads out of the lemmas"),
    ],
)
def test_an_entry_that_demands_a_proof_fails_without_its_lemmas(
    lemmas: str, code: int, shown: str, cli: Commands, tmp_path: Path
) -> None:
    text = "\n\n".join([MODEL.replace("lemmas=[]", f"lemmas=[{lemmas}]"), *LEMMAS])
    (tmp_path / "ticket_lock.py").write_text(text)
    gate = tmp_path / "gate.toml"
    gate.write_text(f'{ENTRY}model = "ticket_lock.py"\nverdicts = {{ alone = "holds" }}\n')
    found, out, _ = cli("gate", str(gate), "--allow-models", "--no-cache", name="waterline")

    assert found == code
    assert shown in " ".join(out.split())


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        (
            'protocol = "kraft"\nverdicts = { no_committed_loss = "holds" }',
            "the lemmas of kraft are about --election-order any, and not about --election-order",
        ),
        (
            f'protocol = "kip320"\npower-losses = 1\n{MESSAGE}',
            "the lemmas of kip320 are about --power-losses 0, and not about --power-losses 1",
        ),
        (
            f'protocol = "kraft"\n{MESSAGE}',
            "got NOT PROVED: false in a reachable state: fetchers_are_prefixes, remote_leos_are",
        ),
        (
            'protocol = "kip320"\ngrain = "atomic"\nlog-size = 1\nrecords = 1\nepochs = 1\n'
            'verdicts = { type_ok = "holds", leader_in_isr = "violated" }',
            "type_ok: expected proved, and the proof is about weak_isr",
        ),
    ],
)
def test_what_no_lemmas_are_about_is_not_proved(
    entry: str, shown: str, cli: Commands, tmp_path: Path
) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text(ENTRY + entry)
    found, out, _ = cli("gate", str(gate), "--no-cache", name="waterline")

    assert found == 3
    assert shown in " ".join(out.split())


def test_an_entry_of_the_message_grain_is_proved(cli: Commands, tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text(f'{ENTRY}protocol = "kip320"\n{MESSAGE}')
    found, out, _ = cli("gate", str(gate), "--no-cache", name="waterline")

    assert found == 0
    assert "as expected" in " ".join(out.split())


def test_power_losses_of_elr_may_be_any_and_lost_disks_none() -> None:
    version = "elr-with-fresh-remote-leo"
    asked = Environment(min_insync_replicas=2, election_order="any", power_losses=3)
    within = message_model(version, asked).options

    assert message_subject_within(version, within).name == version
    with pytest.raises(BadEnvironment, match="about --lost-disks 0, and not about --lost-disks 1"):
        message_subject_within(version, {**within, "lost-disks": 1})
