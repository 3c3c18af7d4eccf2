"""What is advised of three replicas that lose power and disks."""

from __future__ import annotations

from pathlib import Path

from tests.support.commands import Commands


def test_as_many_in_sync_as_replicas_are_never_advised_nor_what_is_usual_blamed(
    cli: Commands, tmp_path: Path
) -> None:
    """min.insync.replicas=3 of three stops producers with the first failure."""
    server = tmp_path / "server.properties"
    server.write_text(
        "process.roles=broker,controller\ndefault.replication.factor=3\nmin.insync.replicas=2\n"
    )
    faults = ("--only", "faults=power loss,lost disk", "--records", 1)
    _, out, _ = cli(
        "matrix",
        "--config",
        server,
        "--kafka-version",
        "4.0",
        *faults,
        "--details",
        name="waterline",
    )

    told = " ".join(out.split())
    assert "min.insync.replicas=3" not in told
    assert "min.insync.replicas=2 (server.properties:3) loses" not in told
    first = "set eligible.leader.replicas.version=1 (kafka-features.sh)"
    assert f"To do first: {first}. It prev" in told
