"""Execution of `confirm`: replays on brokers of Kafka, or on tablet servers of Fluss."""

from __future__ import annotations

from waterline.checker.cli.confirm import ConfirmOptions
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.kafka.confirm.carrying_out import carried_out, work_folder
from waterline.checker.kafka.confirm.counterexample import load_counterexample, search, ways_shown
from waterline.checker.kafka.confirm.fluss.replay import render_on_fluss, steered_release
from waterline.checker.kafka.confirm.fluss.replay import replay_on_fluss as replay
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.report import render_confirmation
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.counterexamples import read_trace
from waterline.counterexamples.rendering import Trimmed


def replay_on_kafka(options: ConfirmOptions, release: KafkaRelease, entry: Scenario | None) -> str:
    """Replay on brokers; the name of the judgement."""
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if entry is not None:
            ways = ways_shown(entry, release.rules, progress.announce)
        else:
            assert options.trace is not None
            ways = iter([load_counterexample(options.trace)])
        for shown in ways:
            found, course = carried_out(
                shown,
                release,
                control_of=entry.name if entry and options.control else None,
                jars=options.jars,
                keep=options.keep,
                announce=progress.announce,
                report=progress.report,
            )
            if (
                found.judgement.name != "NOT_STEERABLE"
                or options.control
                or options.keep is not None
            ):
                break
    screen().print(Trimmed(render_confirmation(found, course, release)))
    return found.judgement.name


def replay_on_fluss(options: ConfirmOptions, entry: Scenario | None) -> str:
    """Replay on tablet servers; the name of the judgement."""
    assert options.fluss is not None
    release = steered_release(options.fluss)
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if entry is not None:
            shown = search(entry, release.rules, progress.announce)
            read = shown.finding.replayed.trace
        else:
            assert options.trace is not None
            read = read_trace(options.trace)
        found_jars = class_path(release, folder=options.jars, announce=progress.announce)
        with work_folder(options.keep) as folder:
            found = replay(read, release, folder, found_jars)
    screen().print(Trimmed(render_on_fluss(found, read, release)))
    return found.judgement.name
