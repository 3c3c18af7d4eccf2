"""What power losses and lost disks do to three replicas under the rules of releases."""

from __future__ import annotations

import pytest

from tests.golden.test_releases_and_losses import KAFKA_4_ELR, depths
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_followed

KAFKA_3_6 = release_followed((3, 6), is_kraft=True).version
KAFKA_4 = release_followed((4, 0), is_kraft=True).version
THREE = {"replicas": 3, "records": 1, "epochs": 3, "restarts": 0, "min_insync_replicas": 2}
POWER = Environment(**THREE, power_losses=1)  # type: ignore[arg-type]  # each is an int
DISK = Environment(**THREE, lost_disks=1)  # type: ignore[arg-type]  # each is an int


@pytest.mark.parametrize("environment", [POWER, DISK], ids=["power loss", "lost disk"])
def test_kafka_4_without_elr_loses_within_three_epochs(environment: Environment) -> None:
    """Both followers leave in one request, which takes one epoch with shrink-raises-epoch."""
    three_five = depths("kip903", environment)
    three_six = depths(KAFKA_3_6, environment)
    four = depths(KAFKA_4, environment)

    assert (three_five["no_committed_loss"], three_five["acknowledged_durable"]) == (8, 17)
    assert (three_six["no_committed_loss"], three_six["acknowledged_durable"]) == (7, 14)
    assert (four["no_committed_loss"], four["acknowledged_durable"]) == (14, 14)
    assert depths(KAFKA_4_ELR, environment) == {}
