"""Attack on what is kept: models whose values come by every kind of look-up, changed one at a time.

    python -m lab.fuzz.stale_keys [--seed N] [--minutes M]

A case is a model of one's own, with modules that it imports, checked with one cache before and
after one change. Its counter rises to a value that a look-up leads to, so what is true follows from
that value alone: so many states, and the claim breaks from 5 on. After a change of the value an
answer, a kernel or a run of before is WRONG; the new truth or a refusal is right. After a change of
a comment the truth is asked, and after no change it must come from what is kept.

Each is asked three times over, as other processes would: in a search with kept machine code, in a
gate with kept answers, and of a run that is to be resumed. Modules, functions and machine code that
this process has loaded are forgotten in between.
"""

from __future__ import annotations

import importlib
import itertools
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.fuzz.rounds import Round, Wrong, attack
from waterline.checker.checking.run import run
from waterline.checker.ci.reading import read_gate
from waterline.checker.ci.searching import Manner, judge_all
from waterline.checker.cli.gate_options import asking
from waterline.checker.compiler import program, sources
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.user_models import loading
from waterline.checker.user_models.family import family_in
from waterline.checker.user_models.vetting import vet
from waterline.model.core.errors import BadEnvironment

BREAKS_FROM = 5
_MODEL = '''\
"""A counter."""

from waterline import Number, Protocol, when, within
{imports}

{names}


def counting(most: int = 7) -> Protocol:
    return Protocol(
        fields=[Number("x", 0, 7), Number("steps", 0, 7)],
        actions=[up],
        always=[low],
        sometimes=[moved],
    )


{rules}
'''
_RULES = {
    "guard": """\
def up(s):
    when(s.x < {value})
    s.x += 1


def low(s):
    return s.x < 5
""",
    "effect": """\
def up(s):
    when(s.steps < 7)
    s.steps += 1
    s.x = min(s.x + 1, {value})


def low(s):
    return s.x < 5
""",
    "limit": """\
def up(s):
    within(s.x < min({value}, s.most))
    s.x += 1


def low(s):
    return s.x < 5
""",
    "called": """\
def up(s):
    when(may(s))
    s.x += 1


def may(s):
    return s.x < most_of(s)


def most_of(s):
    return {value} + 0 * s.x


def low(s):
    return s.x < 5
""",
    "loop": """\
def up(s):
    total = 0
    for i in range({value}):
        total += 1
    when(s.x < total)
    s.x += 1


def low(s):
    return s.x < 5
""",
    "claim": """\
def up(s):
    when(s.x < 4)
    s.x += 1


def low(s):
    return s.x <= 9 - ({value})
""",
}
_ALSO = """

def moved(s):
    return s.x > 0
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """A way to look a value up: lines of the model, modules beside it, and the expression.

    `V` in a text stands for the value.
    """

    value: str
    imports: str = ""
    names: str = ""
    modules: Mapping[str, str] | None = None


def _own(value: str, names: str) -> Shape:
    return Shape(value, names=names)


def _module(value: str, imports: str, text: str) -> Shape:
    return Shape(value, imports=imports, modules={"helping.py": text})


SHAPES: dict[str, Shape] = {
    "a name": _own("MAX", "MAX = V"),
    "a name computed": _own("MAX", "MAX = sum([1] * V)"),
    "a name under a condition": _own("MAX", "if V > 0:\n    MAX = V\nelse:\n    MAX = 0"),
    "a bool": _own("3 + 3 * BIG", "BIG = V > 4"),
    "a class": _own("C.MAX", "class C:\n    MAX = V"),
    "a class in a class": _own("C.D.MAX", "class C:\n    class D:\n        MAX = V"),
    "an inherited name": _own("C.MAX", "class B:\n    MAX = V\n\n\nclass C(B):\n    pass"),
    "a set attribute": _own("C.MAX", "class C:\n    pass\n\n\nC.MAX = V"),
    "a property": _own("C().MAX", "class C:\n    @property\n    def MAX(self):\n        return V"),
    "a metaclass's attribute": _own(
        "C.MAX", "class M(type):\n    MAX = V\n\n\nclass C(metaclass=M):\n    pass"
    ),
    "a metaclass's __getattr__": _own(
        "C.MAX",
        "class M(type):\n    def __getattr__(cls, name):\n        return V\n\n\n"
        "class C(metaclass=M):\n    pass",
    ),
    "a descriptor": _own(
        "C.MAX",
        "class D:\n    def __get__(self, a, b):\n        return V\n\n\nclass C:\n    MAX = D()",
    ),
    "a static method": _own(
        "C.most()", "class C:\n    @staticmethod\n    def most():\n        return V"
    ),
    "a method": _own("C.most(1)", "class C:\n    def most(self):\n        return V"),
    "a function's attribute": _own("f.MAX", "def f(s):\n    return 1\n\n\nf.MAX = V"),
    "a default": _own("f(s)", "def f(s, most=V):\n    return most + 0 * s.x"),
    "a keyword default": _own("f(s)", "def f(s, *, most=V):\n    return most + 0 * s.x"),
    "a closure": _own(
        "f(s)",
        "def made(most):\n    def f(s):\n        return most + 0 * s.x\n    return f\n\n\n"
        "f = made(V)",
    ),
    "a lambda": _own("f(s)", "f = lambda s: V + 0 * s.x"),
    "a partial": _own(
        "f(s)",
        "import functools\n\n\ndef g(n, s):\n    return n + 0 * s.x\n\n\n"
        "f = functools.partial(g, V)",
    ),
    "a decorated function": _own(
        "f(s)",
        "def adding(g):\n    return g\n\n\n@adding\ndef f(s):\n    return V + 0 * s.x",
    ),
    "another name of a function": _own("g(s)", "def f(s):\n    return V + 0 * s.x\n\n\ng = f"),
    "a tuple": _own("T[0]", "T = (V, 9)"),
    "the end of a tuple": _own("T[-1]", "T = (9, V)"),
    "a tuple in a tuple": _own("T[0][1]", "T = ((1, V), 9)"),
    "an index by name": _own("T[I]", "I = V\nT = (0, 1, 2, 3, 4, 5, 6, 7)"),
    "a class in a tuple": _own("T[0].MAX", "class C:\n    MAX = V\n\n\nT = (C,)"),
    "a function in a tuple": _own("T[0](s)", "def f(s):\n    return V + 0 * s.x\n\n\nT = (f,)"),
    "a named tuple": _own(
        "T.most", "import collections\n\nT = collections.namedtuple('T', 'most')(V)"
    ),
    "an attribute of a tuple's kind": _own(
        "T.most", "class K(tuple):\n    most = V\n\n\nT = K((1, 2))"
    ),
    "a tuple with items of its own": _own(
        "T[0]",
        "class K(tuple):\n    def __getitem__(self, n):\n        return V\n\n\nT = K((1,))",
    ),
    "a property of a named tuple": _own(
        "T.most",
        "import collections\n\n\nclass K(collections.namedtuple('K', 'most')):\n"
        "    @property\n    def most(self):\n        return V\n\n\nT = K(1)",
    ),
    "a frozenset": _own("3 + 3 * (6 in F)", "F = frozenset((1, V))"),
    "a set": _own("3 + 3 * (6 in F)", "F = {1, V}"),
    "a tuple that is searched": _own("3 + 3 * (6 in F)", "F = (1, V)"),
    "an int of its own kind": _own("MAX", "class K(int):\n    pass\n\n\nMAX = K(V)"),
    "an int whose repr hides it": _own(
        "MAX", "class K(int):\n    def __repr__(self):\n        return 'K'\n\n\nMAX = K(V)"
    ),
    "an IntEnum": _own("Size.MAX", "import enum\n\n\nclass Size(enum.IntEnum):\n    MAX = V"),
    "an IntEnum's alias": _own(
        "Size.ALSO", "import enum\n\n\nclass Size(enum.IntEnum):\n    MAX = V\n    ALSO = V"
    ),
    "an IntFlag": _own("Size.MAX", "import enum\n\n\nclass Size(enum.IntFlag):\n    MAX = V"),
    "a global enum": _own(
        "MAX", "import enum\n\n\n@enum.global_enum\nclass Size(enum.IntEnum):\n    MAX = V"
    ),
    "an enum's auto": _own(
        "Size.MAX",
        "import enum\n\n\nclass Size(enum.IntEnum):\n"
        "    def _generate_next_value_(name, start, count, last):\n        return V\n"
        "    MAX = enum.auto()",
    ),
    "an enum's value": _own(
        "Size.MAX.value", "import enum\n\n\nclass Size(enum.Enum):\n    MAX = V"
    ),
    "an enum with operators": _own(
        "Size.MAX",
        "import enum\n\n\nclass Size(enum.IntEnum):\n    MAX = 3\n\n"
        "    def __gt__(self, other):\n        return V > other",
    ),
    "a hidden range": _own(
        "most(s)",
        "def most(s):\n    total = 0\n    for i in range(3):\n        total += 1\n"
        "    return total + 0 * s.x\n\n\nif V > 4:\n    range = max",
    ),
    "a hidden built-in": _own(
        "min(3, 6)", "def max_(a, b):\n    return b\n\n\nif V > 4:\n    min = max"
    ),
    "a bound": _own("s.most", "MAX = V"),
    "an import": _module("MAX", "from helping import MAX", "MAX = V\n"),
    "an import by another name": _module("M", "from helping import MAX as M", "MAX = V\n"),
    "a star import": _module("MAX", "from helping import *", "MAX = V\n"),
    "a module's name": _module("helping.MAX", "import helping", "MAX = V\n"),
    "a module's class": _module("helping.C.MAX", "import helping", "class C:\n    MAX = V\n"),
    "a module's class in a class": _module(
        "helping.C.D.MAX", "import helping", "class C:\n    class D:\n        MAX = V\n"
    ),
    "an imported class": _module("C.MAX", "from helping import C", "class C:\n    MAX = V\n"),
    "an imported IntEnum": _module(
        "Size.MAX",
        "from helping import Size",
        "import enum\n\n\nclass Size(enum.IntEnum):\n    MAX = V\n",
    ),
    "a module's __getattr__": _module(
        "helping.MAX", "import helping", "def __getattr__(name):\n    return V\n"
    ),
    "a module's function": _module(
        "helping.f(s)", "import helping", "def f(s):\n    return V + 0 * s.x\n"
    ),
    "an imported function": _module(
        "f(s)", "from helping import f", "def f(s):\n    return V + 0 * s.x\n"
    ),
    "a function in a module's class": _module(
        "helping.C.f(s)",
        "import helping",
        "class C:\n    @staticmethod\n    def f(s):\n        return V + 0 * s.x\n",
    ),
    "a module's function's attribute": _module(
        "helping.f.MAX", "import helping", "def f(s):\n    return 1\n\n\nf.MAX = V\n"
    ),
    "a module's tuple": _module("helping.T[0]", "import helping", "T = (V, 1)\n"),
    "a module's class in a tuple": _module(
        "helping.T[0].MAX", "import helping", "class C:\n    MAX = V\n\n\nT = (C,)\n"
    ),
    "a module's instance": _module(
        "helping.c.MAX", "import helping", "class C:\n    MAX = V\n\n\nc = C()\n"
    ),
    "a module in a package": Shape(
        "parts.limits.MAX",
        imports="import parts.limits",
        modules={"parts/__init__.py": "", "parts/limits.py": "MAX = V\n"},
    ),
    "a class of a module in a package": Shape(
        "parts.limits.C.MAX",
        imports="import parts.limits",
        modules={"parts/__init__.py": "", "parts/limits.py": "class C:\n    MAX = V\n"},
    ),
    "a package that passes it on": Shape(
        "parts.MAX",
        imports="import parts",
        modules={
            "parts/__init__.py": "from parts.limits import MAX\n",
            "parts/limits.py": "MAX = V\n",
        },
    ),
    "a data file": _module(
        "helping.MAX",
        "import helping",
        "from pathlib import Path\n\nMAX = int((Path(__file__).parent / 'most.txt').read_text())\n",
    ),
    "the environment": _module(
        "helping.MAX", "import helping", "import os\n\nMAX = int(os.environ['STALE_KEYS_MAX'])\n"
    ),
    "a module that patches another": Shape(
        "helping.MAX",
        imports="import helping\nimport patching",
        modules={"helping.py": "MAX = 1\n", "patching.py": "import helping\n\nhelping.MAX = V\n"},
    ),
}


_IMPORTED = {
    Path(name).parts[0].removesuffix(".py")
    for shape in SHAPES.values()
    for name in shape.modules or ()
}


@dataclass(frozen=True, slots=True)
class Case:
    """A model by the way that it looks its value up, and the rule in which it does."""

    shape: str
    rule: str

    def write(self, folder: Path, value: int, *, remark: str = "") -> Path:
        """Write its files, so that the look-up leads to this value."""
        shape = SHAPES[self.shape]
        rules = _RULES[self.rule].replace("{value}", shape.value) + _ALSO
        text = _MODEL.format(imports=shape.imports, names=shape.names, rules=rules)
        text = text.replace("V", str(value)) if "V" in shape.names else text
        if shape.value == "s.most":
            text = text.replace("most: int = 7", f"most: int = {value}")
        (folder / "counting.py").write_text(text + remark)
        (folder / "most.txt").write_text(str(value))
        os.environ["STALE_KEYS_MAX"] = str(value)
        for name, module in (shape.modules or {}).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(module.replace("V", str(value)) + remark)
        return folder / "counting.py"


@dataclass(frozen=True, slots=True)
class Truth:
    """What a model's value makes of it."""

    is_broken: bool
    states: int


def truth_of(case: Case, value: int) -> Truth:
    """What must come out where the look-up leads to this value."""
    if case.rule == "claim":
        return Truth(value > BREAKS_FROM, states=5)
    states = 8 if case.rule == "effect" else value + 1
    return Truth(value >= BREAKS_FROM, states)


Answer = Truth | str
"""What came out, or why it was refused."""


def forget() -> None:
    """Forget what this process has loaded of models and their modules, as another process would."""
    for name in list(sys.modules):
        if name.partition(".")[0] in _IMPORTED:
            del sys.modules[name]
    importlib.invalidate_caches()
    loading._files.clear()
    program.forget()


def problem_in(file: Path) -> Problem:
    """The problem that a file declares. Raises `BadEnvironment`, `NotCompilable`."""
    forget()
    sys.path.insert(0, str(file.parent))
    try:
        return vet(family_in(file).problem("counting", {}))
    finally:
        sys.path.pop(0)


def searched(file: Path) -> Answer:
    """What a search finds, with kept machine code."""
    try:
        problem = problem_in(file)
        found = run(problem, EngineChoice(name="local")).result
    except (BadEnvironment, NotCompilable) as refused:
        return str(refused)
    [low] = found.invariants
    return Truth(low.verdict.value == "violated", sum(level.states for level in found.levels))


def gated(file: Path) -> tuple[Answer, bool]:
    """What a gate with kept answers finds, and whether the answer was kept."""
    gate = file.parent / "gate.toml"
    gate.write_text(
        f'[[expect]]\nname = "n"\nmodel = "{file.name}"\nengine = "local"\n'
        'verdicts = { low = "holds" }\n'
    )
    forget()
    sys.path.insert(0, str(file.parent))
    try:
        [outcome] = judge_all(read_gate(gate, asking(), allow_models=True), Manner(processes=1))
    except (BadEnvironment, NotCompilable, ValueError) as refused:
        return str(refused), False
    finally:
        sys.path.pop(0)
    if outcome.answer is None:
        assert outcome.trouble is not None
        return outcome.trouble.message, False
    result = outcome.answer.result
    [low] = result.invariants
    states = sum(level.states for level in result.levels)
    return Truth(low.verdict.value == "violated", states), outcome.answer.is_kept


def run_name(file: Path) -> str | None:
    """By what a run knows its rules; None where they are refused."""
    try:
        return problem_digest(problem_in(file))
    except (BadEnvironment, NotCompilable):
        return None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a case did at the three doors: each "kept", "searched", "refused", or "WRONG: ..."."""

    case: Case
    change: str
    check: str
    gate: str
    resume: str

    @property
    def wrong(self) -> list[str]:
        """What is wrong, by door."""
        doors = (("check", self.check), ("gate", self.gate), ("resume", self.resume))
        return [
            f"{door}: {described}" for door, described in doors if described.startswith("WRONG")
        ]


def attacked(case: Case, folder: Path, values: tuple[int, int], change: str) -> Finding:
    """Ask about a case before and after a change: "value", "remark" or "nothing"."""
    before, after = values
    file = case.write(folder, before)
    first, (gate_first, _), named_first = searched(file), gated(file), run_name(file)
    if change == "value":
        case.write(folder, after)
    elif change == "remark":
        case.write(folder, before, remark="\n# A remark.\n")
    now = truth_of(case, after if change == "value" else before)
    then = truth_of(case, before)
    second, (gate_second, is_kept), named_second = searched(file), gated(file), run_name(file)
    describe_gate = _describe(gate_first, gate_second, then, now)
    if change == "nothing" and describe_gate == "searched":
        describe_gate = "kept" if is_kept else "WRONG: not kept"
    return Finding(
        case,
        change,
        check=_describe(first, second, then, now),
        gate=describe_gate,
        resume=_describe_run(named_first, named_second, change),
    )


def _describe(first: Answer, second: Answer, then: Truth, now: Truth) -> str:
    for answer, truth in ((first, then), (second, now)):
        if isinstance(answer, Truth) and answer != truth:
            return f"WRONG: {answer} and not {truth}"
    if isinstance(second, str):
        is_told = "counting.py:" in second and ";" in second
        return "refused" if is_told else f"WRONG: refused without a place: {second}"
    return "searched"


def _describe_run(first: str | None, second: str | None, change: str) -> str:
    if first is None or second is None:
        return "refused"
    if change == "value" and first == second:
        return "WRONG: the same run"
    if change == "nothing" and first != second:
        return "WRONG: another run"
    return "another run" if first != second else "the same run"


def cases(seed: int) -> Iterator[tuple[Case, tuple[int, int], str]]:
    """The case of this seed, of the next, and so on: its shape follows the one before."""
    for number in itertools.count(seed):
        drawn = random.Random(number)
        shape = [*SHAPES][number % len(SHAPES)]
        values = drawn.choice([(3, 6), (6, 3)])
        change = drawn.choice(["value", "value", "remark", "nothing"])
        # Rules that call min themselves would mean something else where it is hidden.
        hides = "hidden" in shape
        rules = [name for name, text in _RULES.items() if not (hides and "min(" in text)]
        yield Case(shape, drawn.choice(rules)), values, change


@contextmanager
def rounds() -> Iterator[Round]:
    """A case a round."""
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as made:
        os.environ["WATERLINE_CACHE"] = str(Path(made) / "cache")
        sources.SETTLED_SECONDS = float("-inf")

        def make_round(seed: int, seen: Counter[str]) -> None:
            case, values, change = next(cases(seed))
            folder = Path(made) / str(seed)
            folder.mkdir()
            finding = attacked(case, folder, values, change)
            shutil.rmtree(folder)
            seen[f"{change} changed: {finding.gate.partition(':')[0]}"] += 1
            if finding.wrong:
                raise Wrong(f"{case}, {change} changed: {'; '.join(finding.wrong)}")

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.stale_keys", rounds))
