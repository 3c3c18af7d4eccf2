"""Options common to the commands about real brokers."""

from __future__ import annotations

from pathlib import Path

import click

HELP = """\b
Exit codes:
  0   CONFIRMED; with --expect: as expected
  2   bad usage, no Java, no jars, a broker that does not come up
  3   with --expect: something else
  20  interrupted
  30  HELD: these brokers do not break the claim
  31  REFUTED: brokers did something else than the model
  32  NOT STEERABLE: the harness cannot cause or hold a step
"""

jars_option = click.option(
    "--jars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder with the release's jars, and all that they depend on; else Maven fetches them.",
)
