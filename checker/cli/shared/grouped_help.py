"""Help in groups, for commands whose options are too many for one list.

`--help` shows the options that most people need, on a screen; `--help-all` shows every one. Both go
by the same groups, which all such commands share.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import click

from waterline.model.message.declared import option_of
from waterline.model.message.environment import DECLARED

_SETTINGS = (
    "acks",
    "min-insync-replicas",
    "controller-min-insync-replicas",
    "unclean-leader-election",
)


_OF_FAULTS = ("restart-detection", "disk-loss")
_DECLARED = {option_of(name): declared for name, declared in DECLARED.items()}
_SIZES = [name for name, declared in _DECLARED.items() if declared.shapes]
_FAULTS = [name for name, d in _DECLARED.items() if d.fault is not None or name in _OF_FAULTS]

GROUPS: Mapping[str, Sequence[str]] = {
    "What is checked": (
        *("protocol", "kafka", "fluss", "with", "without", "scenario", "model", "set"),
        *("environment", "grain", "invariant", "where", "recovery", "liveness", "list"),
    ),
    "Sizes": (*_SIZES, "log-size", "symmetry"),
    "Faults, and how many there may be": _FAULTS,
    "Settings of the topic and the producers": _SETTINGS,
    "What brokers, messages and elections may do": [
        name for name in _DECLARED if name not in (*_SIZES, *_FAULTS, *_SETTINGS)
    ],
    "What is shown": (
        *("all", "view", "explain", "another", "profile", "deadlock", "format"),
        *("html", "trace-dir", "graph", "graph-limit", "certificate"),
    ),
    "When it stops, and what is kept": (
        *("max-states", "max-time", "max-depth", "memory", "stop-at-first"),
        *("run-dir", "resume"),
    ),
    "Where it runs": ("engine", "threads", "master", "spark-conf", "partitions", "driver-levels"),
}
"""The options by their groups, in the order shown."""
OTHERS = "Other options"
_GROUP_OF = {f"--{name}": title for title, names in GROUPS.items() for name in names}
_WHOLE = "waterline.help-all"
"""True if all options are to be shown, in the context's notes."""


class GroupedCommand(click.Command):
    """A command whose help is in groups.

    Where some options are `usual`, `--help` shows these alone, and `--help-all` all of them with
    the longer epilog.
    """

    def __init__(
        self, *arguments: Any, usual: Sequence[str] = (), whole_epilog: str = "", **more: Any
    ) -> None:
        super().__init__(*arguments, **more)
        self._usual, self._whole_epilog = frozenset(usual), whole_epilog
        if usual:
            self.params.append(_help_all())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups that have something to show, in their order."""
        grouped: dict[str, list[tuple[str, str]]] = {title: [] for title in (*GROUPS, OTHERS)}
        is_whole = not self._usual or bool(ctx.meta.get(_WHOLE))
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            group = next((_GROUP_OF[o] for o in param.opts if o in _GROUP_OF), OTHERS)
            if record and (is_whole or group == OTHERS or self._usual & set(param.opts)):
                grouped[group].append(record)
        for title, records in grouped.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog that belongs to what is shown."""
        epilog = self._whole_epilog if ctx.meta.get(_WHOLE) else self.epilog
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(inspect.cleandoc(epilog or ""))


def _help_all() -> click.Option:
    def show(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            ctx.meta[_WHOLE] = True
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show all options and exit.",
    )
