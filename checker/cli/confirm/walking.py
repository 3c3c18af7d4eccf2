"""Execution of `conform`: walks on brokers, their figures, and the files."""

from __future__ import annotations

from typing import Any

from checker.cli.shared import exit_codes
from checker.cli.shared.ending import ending_as_by_ctrl_c
from checker.cli.shared.progress import showing
from checker.cli.shared.screen import error_screen, say, screen
from checker.kafka.confirm import conforming
from checker.kafka.confirm.conformance import Conformance
from checker.kafka.confirm.figures import figures_of, keep, read_figures, write_markdown
from checker.kafka.confirm.releases import KafkaRelease


def conform(release: KafkaRelease, options: dict[str, Any]) -> int:
    """Walk on brokers of the release as the options say; returns the exit code."""
    trace, trace_dir, results = options["trace"], options["trace_dir"], options["results"]
    asked = conforming.Asked(
        walks=options["walks"],
        steps_max=options["steps"],
        seed=options["seed"],
        states_max=options["max_states"] if options["cover"] else None,
    )
    with showing(error_screen()) as progress, ending_as_by_ctrl_c():
        if results is not None:
            read_figures(results)  # A file that is something else is found before the work.
        found, shortest = conforming.carried_out(
            release,
            conforming.circumstances_of(options["names"], trace),
            asked,
            trace=trace,
            shortens=trace_dir is not None and trace is None,
            jars=options["jars"],
            announce=progress.announce,
            report=progress.report,
        )
    figures = figures_of(found, asked.seed)
    for line in conforming.report(figures):
        screen().print(line, highlight=False)
    if shortest is not None and trace_dir is not None:
        say(f"wrote {conforming.write_shortest(shortest, found, trace_dir)}")
    if results is not None and trace is None:
        keep(results, figures)
    if options["markdown"] is not None:
        write_markdown(options["markdown"], read_figures(results))
        say(f"wrote {options['markdown']}")
    return _code(found)


def _code(found: Conformance) -> int:
    if found.interrupted:
        return exit_codes.INCOMPLETE
    if found.disagreements:
        return exit_codes.OF_CONFIRMING["refuted"]
    return exit_codes.HOLDS if found.steps else exit_codes.OF_CONFIRMING["not-steerable"]
