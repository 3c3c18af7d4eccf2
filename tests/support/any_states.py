"""States that no run reaches: every field at any value of its range."""

from __future__ import annotations

import random
from typing import Any

from tests.support.states import packed
from waterline.model.core.layout import Field
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.features import ELR, has
from waterline.model.message.terms import FETCHING, LEADER, NO_RECORD, NO_ROLE


class AnyState:
    """States with every field anywhere in its range, often at an end of it, roles first.

    A `tidy` one has logs without holes, of records that were produced, and brokers that know the
    epoch and the leader: no more reachable, but fewer of its steps leave a range. Under ELR whoever
    has a role is up: a restart reads what only a broker without one keeps.
    """

    def __init__(self, model: Model, seed: int) -> None:
        self.layout = model.layout
        self.role_means_up = has(model.settings, ELR)
        self.random = random.Random(seed)

    def drawn(self, *, tidy: bool) -> State:
        values: dict[str, Any] = {
            f.name: self._element(f, tidy=tidy) for f in self.layout.fields if not f.shape
        }
        roles = [
            self.random.randint(NO_ROLE, FETCHING) for _ in range(self.layout.sizes["replicas"])
        ]
        values["role"] = roles
        if tidy and LEADER in roles:
            values["leader"] = roles.index(LEADER)
        for declared in self.layout.fields:
            if declared.shape and declared.name != "role":
                values[declared.name] = self._rows(declared, values, tidy=tidy)
        return packed(self.layout, values)

    def _rows(self, declared: Field, values: dict[str, Any], *, tidy: bool) -> list[Any]:
        rows: list[Any] = []
        for row in range(declared.shape[0]):
            alive = declared.alive is None or values["role"][row] in declared.alive.values
            columns = declared.shape[1] if len(declared.shape) == 2 else 0
            if not alive:
                rows.append(None)
            elif self.role_means_up and declared.name == "up" and values["role"][row] != NO_ROLE:
                rows.append(1)
            elif tidy and declared.name == "known_epoch":
                rows.append(values["epoch"])
            elif tidy and declared.name == "log":
                born = max(1, values["produced"])
                records = [self.random.randint(1, born) for _ in range(columns)]
                rows.append(
                    [r if o < values["leo"][row] else NO_RECORD for o, r in enumerate(records)]
                )
            elif columns:
                rows.append([self._element(declared, tidy=tidy) for _ in range(columns)])
            else:
                rows.append(self._element(declared, tidy=tidy))
        return rows

    def _element(self, declared: Field, *, tidy: bool) -> int:
        low = 1 if tidy and declared.name == "produced" else declared.lo
        return self.random.choice([low, declared.hi, self.random.randint(low, declared.hi)])
