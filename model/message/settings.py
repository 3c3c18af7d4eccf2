"""Settings that the rules read while they run: plain numbers, explained in `model.message.terms`.

`truncation` and `features` are the version's, the latter as bits (`model.message.features`);
`unbounded` and `settled` choose the normal form of a state, and no rule of Kafka's reads them; the
rest is what `model.message.environment` declares, except for the sizes, which shape the state. A
rule is compiled for the numbers of one question, or reads them as it runs, so that a whole matrix
needs one compilation.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import TYPE_CHECKING

from waterline.model.message.environment import DECLARED, Environment
from waterline.model.message.versions import Version

_NAMES = {d.setting or name: name for name, d in DECLARED.items() if not d.shapes}

if TYPE_CHECKING:

    class Settings(tuple[int, ...]):
        """Settings by name; an undeclared name raises `AttributeError`."""

        _fields: tuple[str, ...]

        @classmethod
        def _make(cls, numbers: Iterable[int]) -> Settings: ...

        def __getattr__(self, name: str) -> int: ...

else:
    Settings = namedtuple("Settings", ("truncation", "features", *_NAMES, "unbounded", "settled"))


def settings_of(environment: Environment, version: Version) -> Settings:
    """Return the settings of `version` in this environment."""
    numbers = (DECLARED[name].number(getattr(environment, name)) for name in _NAMES.values())
    abstraction = (int(environment.unbounded), int(environment.is_cut))
    return Settings._make((version.truncation, version.features, *numbers, *abstraction))
