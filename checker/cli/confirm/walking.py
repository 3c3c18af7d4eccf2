"""Execution of `conform`: walks on brokers, their figures, and the files."""

from __future__ import annotations

from typing import Any

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.ending import ending_as_by_ctrl_c
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.kafka.confirm import conforming
from waterline.checker.kafka.confirm.conformance import Conformance
from waterline.checker.kafka.confirm.figures import figures_of, write_markdown
from waterline.checker.kafka.confirm.kept_walks import read_kept
from waterline.checker.kafka.confirm.releases import KafkaRelease

_SECONDS_A_MINUTE = 60


def conform(release: KafkaRelease, options: dict[str, Any]) -> int:
    """Walk on brokers of the release as the options say; returns the exit code."""
    trace, trace_dir, results = options["trace"], options["trace_dir"], options["results"]
    asked = conforming.ConformOptions(
        walks=options["walks"],
        steps_max=options["steps"],
        seed=options["seed"],
        states_max=options["max_states"] if options["aim"] else None,
        seconds_max=options["minutes"] and options["minutes"] * _SECONDS_A_MINUTE,
    )
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        circumstances = conforming.circumstances_of(options["names"], trace)
        # A file that is something else is found before the work.
        found = conforming.begun_with(release, circumstances, None if trace else results)
        if options["plan"]:
            conforming.look_for_outcomes(
                found,
                states_max=options["max_states"],
                results=results,
                announce=progress.announce,
            )
            shortest = None
        else:
            shortest = conforming.carried_out(
                found,
                asked,
                trace=trace,
                shortens=trace_dir is not None and trace is None,
                results=results,
                jars=options["jars"],
                announce=progress.announce,
                report=progress.report,
            )
    [figures] = figures_of(found.kept)
    for line in conforming.report(figures):
        screen().print(line, highlight=False)
    if shortest is not None and trace_dir is not None:
        say(f"wrote {conforming.write_shortest(shortest, found, trace_dir)}")
    if options["markdown"] is not None:
        write_markdown(options["markdown"], figures_of(read_kept(results)))
        say(f"wrote {options['markdown']}")
    return exit_codes.HOLDS if options["plan"] else _code(found)


def _code(found: Conformance) -> int:
    if found.interrupted:
        return exit_codes.INCOMPLETE
    if any(each.disagreement for each in found.walks):
        return exit_codes.OF_CONFIRMING["refuted"]
    return exit_codes.HOLDS if found.steps else exit_codes.OF_CONFIRMING["not-steerable"]
