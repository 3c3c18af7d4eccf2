"""Claims against vacuity: a run that never sees these events proves little.

Each names one thing that must happen somewhere in the explored space.
"""

from waterline.invariants.reachable import (
    isr_grows_back,
    leader_fails_over,
    record_acknowledged,
    record_commits,
    truncation_removes_record,
)
from waterline.model.core.claim import Reachable

ALL: tuple[Reachable, ...] = (
    record_commits.CLAIM,
    record_acknowledged.CLAIM,
    leader_fails_over.CLAIM,
    isr_grows_back.CLAIM,
    truncation_removes_record.CLAIM,
)

__all__ = ["ALL"]
