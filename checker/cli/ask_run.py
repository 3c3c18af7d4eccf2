"""Execution of `ask`: the cluster is read, its situations are explored, and a screen is shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click

from waterline.checker.cli.ask import AskOptions
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import write_files
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment, Mistakes
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.deployed.reassignment_file import read_reassignment
from waterline.checker.kafka.deployed.saved import to_saved
from waterline.checker.kafka.matrix.files import as_text
from waterline.checker.kafka.matrix.properties import configs_of
from waterline.checker.kafka.now.asking import Answer, asker, harm_of, restart_order
from waterline.checker.kafka.now.further import DOWN, SHUT_DOWN
from waterline.checker.kafka.now.now_screen import answer_object, render
from waterline.checker.kafka.now.partitions import Cluster, cluster_of, reassigned_cluster
from waterline.checker.problem.wording import list_of, quantity

_EVENTS = ("restart", "stop", "zone_down", "reassign", "rolling")


def answer_question(options: AskOptions) -> int:
    """Read the cluster, answer, and show it; returns the exit code."""
    asked = [name for name in _EVENTS if getattr(options, name) not in (None, False)]
    if len(asked) > 1:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in asked)
        raise click.UsageError(f"{names} are two questions; ask one at a time")
    mistakes = Mistakes()
    deployment = _deployment(options, mistakes)
    configs = configs_of(
        deployment, mistakes, acks=options.acks, kafka_version=options.kafka_version
    )
    cluster = cluster_of(deployment, configs)
    brokers, kind, question = _event(options, cluster)
    then = cluster
    if options.reassign:
        if not configs[0].protocol.release.is_kraft:
            raise BadConfig("--reassign: reassignments with ZooKeeper are not explored; use KRaft")
        wanted = _reassignment(options.reassign, cluster, knows_all=bool(deployment.nodes))
        then = reassigned_cluster(cluster, wanted)
        question = f"May {quantity(len(wanted), 'partition')} be reassigned now?"
    answer = Answer(
        title=configs[0].protocol.title,
        cluster=then,
        faults=options.faults,
        question=question,
    )
    with ending_as_by_ctrl_c(), showing(error_screen()) as progress:
        ask = asker(progress.report, faults=options.faults, uses_kept=not options.no_cache)
        try:
            if options.rolling:
                answer = replace(answer, order=restart_order(cluster, ask))
            else:
                after = harm_of(then, ask, brokers, kind) if question else None
                answer = replace(answer, before=harm_of(cluster, ask), after=after)
        except KeyboardInterrupt:
            say("Interrupted before all was explored: nothing is known.")
            return exit_codes.INCOMPLETE
    code = _code(answer)
    screen().print(render(answer, has_details=options.details))
    write_files({options.json_file: lambda: as_text(answer_object(answer, code))})
    return code


def _code(answer: Answer) -> int:
    if answer.is_bad:
        return exit_codes.VIOLATED
    return exit_codes.HOLDS if answer.is_known else exit_codes.INCOMPLETE


def _deployment(options: AskOptions, mistakes: Mistakes) -> Deployment:
    if not options.bootstrap_server:
        if options.save_file or options.command_config:
            raise click.UsageError("--save and --command-config go with --bootstrap-server")
        return read_deployment(options.config, mistakes)
    if options.config:
        raise click.UsageError("--bootstrap-server reads a cluster; leave out --config")
    from waterline.checker.kafka.deployed.live import read_cluster  # noqa: PLC0415 - few ask a cluster

    deployment = read_cluster(
        options.bootstrap_server, options.command_config, with_partitions=True
    )
    write_files({options.save_file: lambda: to_saved(deployment)})
    return deployment


def _reassignment(path: Path, cluster: Cluster, *, knows_all: bool) -> Mapping[str, Sequence[int]]:
    """Return the replicas that the file names, by partition. Raises `BadConfig`."""
    wanted = read_reassignment(path)
    if missing := sorted(wanted.keys() - {each.name for each in cluster.partitions}):
        raise BadConfig(f"{path}: the cluster has no partition {list_of(missing)}")
    named = {broker for replicas in wanted.values() for broker in replicas}
    if knows_all and (down := named - cluster.racks.keys() - cluster.down):
        up = list_of([str(each) for each in sorted(cluster.racks)], 9)
        raise BadConfig(f"{path}: broker {min(down)} is not up; up are {up}")
    return wanted


def _event(options: AskOptions, cluster: Cluster) -> tuple[Collection[int], str, str]:
    """Return the brokers that go, how, and the question. Raises `BadConfig`."""
    ends = ("restart", options.restart, "restarted"), ("stop", options.stop, "stopped")
    for name, broker, done in ends:
        if broker is None:
            continue
        if broker not in cluster.racks:
            state = "is down" if broker in cluster.down else "has no replica and is not known"
            up = list_of([str(each) for each in sorted(cluster.racks)], 9)
            raise BadConfig(f"--{name} {broker}: broker {broker} {state}; up are {up}")
        return (broker,), SHUT_DOWN, f"May broker {broker} be {done} now?"
    rack = options.zone_down
    if rack is None:
        return (), SHUT_DOWN, ""
    found = [broker for broker, named in cluster.racks.items() if named == rack]
    if not found:
        racks = sorted({named for named in cluster.racks.values() if named})
        known = f"known are {list_of(racks, 9)}" if racks else "no rack is known of any broker"
        raise BadConfig(f"--zone-down {rack}: no broker that is up has this rack; {known}")
    names = list_of([str(broker) for broker in sorted(found)], 9)
    return tuple(found), DOWN, f"May zone {rack} lose power now (broker {names})?"
