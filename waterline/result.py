"""Result of a check: verdicts, counts, bounds, counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from waterline.models import Model
from waterline.tables import cell, line, table
from waterline.trace import Trace

Verdict = Literal["holds", "violated", "incomplete"]
"""`holds`: in every reachable state within the bounds. `incomplete`: the search ended early, or a
bound leaves it open; nothing may be concluded.
"""


@dataclass(frozen=True, slots=True)
class Claim:
    """Result of one claim; for a violated one the shortest counterexample.

    `depth` is the number of its steps: for a claim about whole behaviours, of those before the
    steps that repeat. `explanation` says what is wrong after these.
    """

    name: str
    sentence: str
    verdict: Verdict
    depth: int | None = None
    trace: Trace | None = None
    explanation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """Result of `waterline.check`.

    `claims` and `sometimes` are by name: an expectation has the number of the step that first meets
    it, 0 at the start, None for never. `distinct` states were reached by `generated` transitions,
    the initial states counted too; `depth` is that of the deepest. `cut` counts by bound the steps
    that went beyond it, `actions` by action the steps that were taken. `complete` is True if all
    states within the bounds were explored; otherwise `stopped_by` names what ended the search.
    `deadlock` is the depth of a state without any step, if there is one.

    A result is neither true nor false: use `result.holds`.
    """

    model: Model
    engine: str
    claims: Mapping[str, Claim]
    sometimes: Mapping[str, int | None]
    complete: bool
    stopped_by: str | None
    distinct: int
    generated: int
    depth: int
    cut: Mapping[str, int]
    actions: Mapping[str, int]
    deadlock: int | None
    seconds: float
    _report: Callable[[int], str] = field(repr=False, compare=False)

    @property
    def bounds(self) -> Mapping[str, int | bool]:
        """The bounds that it is about, by name."""
        return self.model.bounds

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict of each claim, by its name."""
        return {name: claim.verdict for name, claim in self.claims.items()}

    @property
    def holds(self) -> bool:
        """True if all was explored, every claim holds, and all that must happen does."""
        return (
            self.complete
            and all(claim.verdict == "holds" for claim in self.claims.values())
            and all(depth is not None for depth in self.sometimes.values())
        )

    @property
    def trace(self) -> Trace | None:
        """The shortest of the counterexamples; None if no claim is violated."""
        traces = [claim.trace for claim in self.claims.values() if claim.trace is not None]
        return min(traces, key=len, default=None)

    def __getitem__(self, claim: str) -> Claim:
        """The claim of this name."""
        return self.claims[claim]

    def __bool__(self) -> bool:
        raise TypeError("a result is neither true nor false; ask result.holds, or result.verdicts")

    def __repr__(self) -> str:
        how = "in all" if self.complete else "so far"
        found = [f"{claim.name} {_describe_verdict(claim)}" for claim in self.claims.values()]
        found += [f"{n} {self._describe_happening(depth)}" for n, depth in self.sometimes.items()]
        return f"<{self.model}: {', '.join(found)}; {self.distinct:,} states {how}>"

    def __str__(self) -> str:
        return self._report(80)

    def _repr_html_(self) -> str:
        """Verdicts, counts and bounds, and the shortest counterexample."""
        verdicts = [
            [
                cell(claim.name),
                cell(_describe_verdict(claim), is_marked=claim.verdict != "holds"),
                cell(claim.sentence),
            ]
            for claim in self.claims.values()
        ]
        verdicts += [
            [cell(name), cell(self._describe_happening(depth), is_marked=depth is None), cell("")]
            for name, depth in self.sometimes.items()
        ]
        parts = [
            line(str(self.model), is_title=True),
            table(["claim", "verdict", ""], verdicts),
            table([], ([cell(title), cell(text)] for title, text in self._counts())),
        ]
        trace = self.trace
        if trace is not None:
            claim = next(each for each in self.claims.values() if each.trace is trace)
            parts += [
                line(f"{claim.name} is violated: {claim.sentence}", is_title=True),
                trace._repr_html_(),
                line(claim.explanation),
            ]
        return "".join(parts)

    def _counts(self) -> list[tuple[str, str]]:
        whole = "every reachable state within the bounds"
        cut = ", ".join(f"{name}: {count:,} cut" for name, count in self.cut.items() if count)
        return [
            ("Explored", whole if self.complete else f"a part only: stopped by {self.stopped_by}"),
            ("Within", ", ".join(f"{name} {value}" for name, value in self.bounds.items())),
            ("Distinct states", f"{self.distinct:,}"),
            ("Generated", f"{self.generated:,}"),
            ("Depth", f"{self.depth}"),
            ("Bounds", cut or "nothing cut"),
        ]

    def _describe_happening(self, depth: int | None) -> str:
        if depth is None:
            return "never happens" if self.complete else "not seen so far"
        return f"first in step {depth}" if depth else "at the start"


def _describe_verdict(claim: Claim) -> str:
    after = "" if claim.depth is None else f" after {claim.depth} step"
    return f"{claim.verdict.upper()}{after}{'s' if after and claim.depth != 1 else ''}"
