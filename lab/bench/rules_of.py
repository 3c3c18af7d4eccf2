"""Which of the methods that our rules cite a release of Kafka has changed.

    python -m lab.bench.rules_of 4.3.1
    python -m lab.bench.rules_of 4.4.0 --since 4.2.0 --diff

Compares with the release before, or with `--since`. The methods are those that `model/message`
cites, as "Class.method". Maven fetches the sources of both releases, or their classes where one was
released without sources; needs Java for these, and the extra `ties` for sources. Exit code 0 if
nothing changed, 1 if something did, 2 if a release cannot be had. What changed is to be read:
whether a rule did is for a reader to say.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Sequence

from lab.bench.rules.byte_code import NoByteCode
from lab.bench.rules.citations import citations
from lab.bench.rules.comparison import NEITHER, TO_READ, UNCHANGED, Compared, compared
from lab.bench.rules.jars import NoSources, fetched
from lab.bench.rules.release import of_release
from lab.bench.rules.released import NoRelease, number_of, release_before
from waterline.checker.problem.errors import Missing
from waterline.checker.ties.symbol import Unreadable

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def comparison(release: str, since: str) -> tuple[list[Compared], str]:
    """What became of every cited method, and what was compared: sources or byte code."""
    cited = citations()
    classes = {method.split(".")[0] for method in cited}
    with_sources = all(fetched(each, with_sources=True) for each in (since, release))
    before = of_release(since, classes, with_sources=with_sources)
    now = of_release(release, classes, with_sources=with_sources)
    by = "sources" if with_sources else "byte code"
    return [compared(method, before, now) for method in cited], by


def report(
    found: Sequence[Compared], *, heading: str, with_diff: bool, width: int, is_terminal: bool
) -> list[str]:
    """The lines to print: what is to be read first, then counts."""
    cited = citations()
    bold, plain = (_BOLD, _PLAIN) if is_terminal else ("", "")
    printed = [f"{bold}{heading}{plain}"]
    for outcome in TO_READ:
        for each in found:
            if each.outcome == outcome:
                printed.append(f"{bold}{outcome:<9}{plain} {each.method:<55} {each.where}")
                printed.append(f"          cited in {', '.join(cited.get(each.method, ()))}")
                printed.extend(each.diff() if with_diff else ())
    for outcome in (UNCHANGED, NEITHER):
        names = [each.method for each in found if each.outcome == outcome]
        line = f"{outcome}: {len(names)}"
        if outcome == NEITHER and names:
            line = f"{line} ({', '.join(names)})"
        printed.extend(textwrap.wrap(line, width, subsequent_indent="  "))
    return printed


def is_changed(found: Sequence[Compared]) -> bool:
    """True if there is anything to read."""
    return any(each.outcome in TO_READ for each in found)


def main() -> None:
    """Compare a release with the one before."""
    parser = argparse.ArgumentParser(description="The cited methods that a release has changed.")
    parser.add_argument("release", metavar="RELEASE", help="as 4.3.1")
    parser.add_argument("--since", metavar="RELEASE", help="compare with this one")
    parser.add_argument("--diff", action="store_true", help="show what changed")
    options = parser.parse_args()
    try:
        since = options.since or release_before(options.release)
        for each in (options.release, since):
            number_of(each)
        found, by = comparison(options.release, since)
    except (NoRelease, NoSources, NoByteCode, Missing, Unreadable) as problem:
        print(f"rules_of: {problem}", file=sys.stderr)
        sys.exit(2)
    heading = f"Kafka {options.release} against {since}, {len(found)} cited methods, by {by}"
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else 100
    lines = report(
        found, heading=heading, with_diff=options.diff, width=width, is_terminal=is_terminal
    )
    print("\n".join(lines))
    sys.exit(1 if is_changed(found) else 0)


if __name__ == "__main__":
    main()
