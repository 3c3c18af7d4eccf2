"""Exit codes and their precedence."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from waterline.checker.search.result import Result

HOLDS = 0
INTERNAL_ERROR = 1
BAD_USAGE = 2
UNEXPECTED = 3
DEADLOCK = 11
VIOLATED = 12
NOT_CERTIFIED = 13
NOT_PROVED = 14
NOT_TIED = 15
INCOMPLETE = 20
OF_CONFIRMING = {"confirmed": 0, "held": 30, "refuted": 31, "not-steerable": 32}
"""Exit codes of `confirm`, by result."""
RAISED = 76
READER_GONE = 128 + signal.SIGPIPE
"""Exit code as if the signal had ended it, as it ends other programs."""

PRECEDENCE = (RAISED, INTERNAL_ERROR, VIOLATED, DEADLOCK, INCOMPLETE, HOLDS)

HELP = """\b
Exit codes:
  0   every invariant asked for holds in every reachable state within the
      bounds; confirm: what the trace shows happens on brokers; simulate:
      nothing was seen
  2   bad usage, a bad file
  3   gate, tour, confirm --expect, run --script, paths --check: something
      did not come out as expected; mutate: no claim notices a mutant, and
      no reason was given
  11  a state has no transition (with --deadlock)
  12  an invariant is violated; matrix --config: a fault can lose an
      acknowledged record (--fail-on); ask: one further fault can, or no,
      this must not be done now
  13  certify: the certificate does not show what it says
  14  prove: a step leads out of the lemmas, or a lemma is false
  15  ties: code that the model names is not as it was reviewed
  20  the run stopped early, nothing may be concluded; simulate: nothing
      was seen, in fewer walks than were asked for
  30  confirm: the brokers do not break the claim
  31  confirm: brokers did something else than the model
  32  confirm: a step cannot be caused or held on brokers
  76  an action or a claim raised an error
  141 nobody reads the output any more, as after `| head`
  1   internal error
"""


def exit_code(result: Result, *, deadlock: bool) -> int:
    """The code for a result; where several fit, the one that comes first in `PRECEDENCE`."""
    fitting = [HOLDS]
    if result.violated:
        fitting.append(VIOLATED)
    if deadlock and result.deadlock is not None:
        fitting.append(DEADLOCK)
    if not result.is_judged:
        fitting.append(INCOMPLETE)
    return winning(fitting)


def winning(codes: Iterable[int]) -> int:
    """The code that comes first in `PRECEDENCE`."""
    return min(codes, key=PRECEDENCE.index)
