"""Every kind of lookup that was thought of, by hand: each a model, and the files it looks into."""

from __future__ import annotations

from dataclasses import replace

from lab.fuzz.stale_disk.models import Shape, counter

H = "helper.py"
MAX = "MAX = VALUE\n"


def _of(group: str, *shapes: Shape) -> tuple[Shape, ...]:
    return tuple(replace(s, group=group) for s in shapes)


def _read(
    name: str, limit: str, preface: str = "import helper", helper: str = MAX, **files: str
) -> Shape:
    """`limit` is read through the helper; the model stays the same, byte for byte."""
    others = {file.replace("__", "/") + ".py": text for file, text in files.items()}
    return Shape(name, {"m.py": counter(limit, preface), H: helper, **others})


MODULES = _of(
    "modules",
    _read("from helper import MAX", "MAX", "from helper import MAX"),
    _read("helper.MAX", "helper.MAX"),
    _read("import helper as h", "h.MAX", "import helper as h"),
    _read("a star import", "MAX", "from helper import *"),
    _read("conf.limits.MAX", "conf.limits.MAX", "import conf.limits", "", conf__limits=MAX),
    _read("from conf import limits", "limits.MAX", "from conf import limits", "", conf__limits=MAX),
    _read("a.b.c.MAX", "a.b.c.MAX", "import a.b.c", "", a__b__c=MAX),
    _read("a module of a module", "helper.other.MAX", helper="import other\n", other=MAX),
    _read("a name of a name of a module", "helper.MAX", helper="from other import *\n", other=MAX),
    _read("a computed name", "helper.MAX", helper="import other\nMAX = other.N + 0\n",
          other="N = VALUE\n"),
    _read("module __getattr__", "helper.MAX", helper="def __getattr__(name):\n    if name == 'MAX':"
          "\n        return VALUE\n    raise AttributeError(name)\n"),
    _read("from a module __getattr__", "MAX", "from helper import MAX",
          "def __getattr__(name):\n    if name == 'MAX':\n        return VALUE\n"
          "    raise AttributeError(name)\n"),
    _read("a module that is an object of its own", "helper.MAX",
          helper="import sys, types\nclass M(types.ModuleType):\n    MAX = VALUE\n"
          "sys.modules[__name__] = M('helper')\n"),
    _read("a property of a module", "helper.MAX",
          helper="import sys, types\nclass M(types.ModuleType):\n    @property\n"
          "    def MAX(self):\n        return VALUE\nsys.modules[__name__] = M('helper')\n"),
    _read("a module reloaded", "helper.MAX",
          "import importlib\nimport helper\nhelper = importlib.reload(helper)"),
    _read("a constant set on another module", "helper.MAX",
          "import helper\nimport other\nhelper.MAX = other.N", "MAX = 0\n", other="N = VALUE\n"),
    _read("a constant set in globals()", "MAX", "import helper\nglobals()['MAX'] = helper.MAX"),
    _read("a constant made by exec", "MAX", "import helper\nexec(f'MAX = {helper.MAX}')"),
    _read("a name defined on a condition", "MAX",
          "import helper\nif helper.MAX == 3:\n    MAX = 3\nelse:\n    MAX = 5"),
    _read("a name deleted and found by __getattr__", "helper.MAX",
          helper="MAX = 1\ndel MAX\ndef __getattr__(name):\n    if name == 'MAX':\n"
          "        return VALUE\n    raise AttributeError(name)\n"),
    Shape("a package that re-exports", {"m.py": counter("conf.MAX", "import conf"),
          "conf/__init__.py": "from conf.limits import MAX\n", "conf/limits.py": MAX}),
    Shape("a package's own name", {"m.py": counter("conf.MAX", "import conf"),
          "conf/__init__.py": MAX}),
    Shape("a package re-exported under another name", {
          "m.py": counter("c.lim.MAX", "import conf as c"),
          "conf/__init__.py": "from conf import limits as lim\n", "conf/limits.py": MAX}),
)  # fmt: skip

_C = "class C:\n    MAX = VALUE\n"
CLASSES = _of(
    "classes",
    _read("C.MAX", "C.MAX", "from helper import C", _C),
    _read("helper.C.MAX", "helper.C.MAX", helper=_C),
    _read("conf.limits.C.MAX", "conf.limits.C.MAX", "import conf.limits", "", conf__limits=_C),
    _read("a nested class", "C.D.MAX", "from helper import C",
          "class C:\n    class D:\n        MAX = VALUE\n"),
    _read("a class nested three deep", "helper.C.D.E.MAX",
          helper="class C:\n    class D:\n        class E:\n            MAX = VALUE\n"),
    _read("an attribute inherited", "C.MAX", "from helper import C",
          "class B:\n    MAX = VALUE\nclass C(B):\n    pass\n"),
    _read("an attribute inherited twice", "C.MAX", "from helper import C",
          "class A:\n    MAX = VALUE\nclass B:\n    pass\nclass C(B, A):\n    pass\n"),
    _read("an attribute of a metaclass", "C.MAX", "from helper import C",
          "class M(type):\n    MAX = VALUE\nclass C(metaclass=M):\n    pass\n"),
    _read("a property of a metaclass", "C.MAX", "from helper import C",
          "class M(type):\n    @property\n    def MAX(cls):\n        return VALUE\n"
          "class C(metaclass=M):\n    pass\n"),
    _read("__getattr__ of a metaclass", "C.MAX", "from helper import C",
          "class M(type):\n    def __getattr__(cls, name):\n        return VALUE\n"
          "class C(metaclass=M):\n    pass\n"),
    _read("a descriptor", "C.MAX", "from helper import C",
          "class D:\n    def __get__(self, one, kind):\n        return VALUE\n"
          "class C:\n    MAX = D()\n"),
    _read("a class made by type()", "C.MAX", "from helper import C",
          "C = type('C', (), {'MAX': VALUE})\n"),
    _read("an attribute set afterwards", "C.MAX", "from helper import C",
          "class C:\n    MAX = 0\nsetattr(C, 'MAX', VALUE)\n"),
    _read("a class attribute that is a class", "C.D.MAX", "from helper import C",
          "class E:\n    MAX = VALUE\nclass C:\n    D = E\n"),
    _read("a class attribute that is a module", "C.other.MAX", "from helper import C",
          "import other\nclass C:\n    other = other\n", other=MAX),
    _read("a class attribute that is a tuple", "C.T[1]", "from helper import C",
          "class C:\n    T = (0, VALUE)\n"),
    _read("a class of the model, valued elsewhere", "C.MAX",
          "import helper\nclass C:\n    MAX = helper.MAX"),
    _read("a nested class of the model, valued elsewhere", "C.D.MAX",
          "import helper\nclass C:\n    class D:\n        MAX = helper.MAX"),
    _read("a class of the model that inherits", "C.MAX",
          "import helper\nclass C(helper.B):\n    pass", "class B:\n    MAX = VALUE\n"),
    _read("an instance", "C.MAX", "from helper import C", "class K:\n    MAX = VALUE\nC = K()\n"),
    _read("a data class", "C.MAX", "from helper import C",
          "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass K:\n    MAX: int = VALUE\n"
          "C = K()\n"),
    _read("a simple namespace", "C.MAX", "from helper import C",
          "import types\nC = types.SimpleNamespace(MAX=VALUE)\n"),
    _read("a class as a data class's default", "C.MAX", "from helper import C",
          "import dataclasses\n@dataclasses.dataclass\nclass C:\n    MAX: int = VALUE\n"),
)  # fmt: skip

_PAIR = "class C:\n    MAX = VALUE\n"
TUPLES = _of(
    "tuples",
    _read("an element", "T[1]", "from helper import T", "T = (0, VALUE)\n"),
    _read("helper.T[1]", "helper.T[1]", helper="T = (0, VALUE)\n"),
    _read("the last element", "T[-1]", "from helper import T", "T = (0, VALUE)\n"),
    _read("an element of an element", "T[0][1]", "from helper import T", "T = ((0, VALUE), 1)\n"),
    _read("a class in a tuple", "T[0].MAX", "from helper import T", _C + "T = (C,)\n"),
    _read("a class in a tuple in a tuple", "T[0][0].MAX", "from helper import T",
          _C + "T = ((C,),)\n"),
    _read("a class in a tuple of the model", "T[0].MAX",
          "from helper import C\nT = (C, 1)", _C),
    _read("a class in a tuple of a class", "K.T[0].MAX", "from helper import K",
          _C + "class K:\n    T = (C,)\n"),
    _read("a module in a tuple", "T[0].MAX", "import helper\nT = (helper,)"),
    _read("an index that is looked up", "(0, 3, 5)[helper.I]", helper="I = (VALUE - 1) // 2\n"),
    _read("a tuple indexed by a lookup", "T[helper.I]", "import helper\nT = (0, 3, 5)",
          "I = (VALUE - 1) // 2\n"),
    _read("a named tuple's name", "T.top", "from helper import T",
          "import collections\nT = collections.namedtuple('T', 'low top')(0, VALUE)\n"),
    _read("a named tuple's element", "T[1]", "from helper import T",
          "import collections\nT = collections.namedtuple('T', 'low top')(0, VALUE)\n"),
    _read("a typed named tuple's default", "T.top", "from helper import T",
          "import typing\nclass K(typing.NamedTuple):\n    top: int = VALUE\nT = K()\n"),
    _read("an attribute of a named tuple that is a class", "T.c.MAX", "from helper import T",
          "import collections\n" + _C + "T = collections.namedtuple('T', 'c')(C)\n"),
    _read("an attribute of a tuple subclass", "T.MAX", "from helper import T",
          "class K(tuple):\n    MAX = VALUE\nT = K()\n"),
    _read("a property of a tuple subclass", "T.MAX", "from helper import T",
          "class K(tuple):\n    @property\n    def MAX(self):\n        return VALUE\nT = K()\n"),
    _read("an attribute of one tuple of a subclass", "T.MAX", "from helper import T",
          "class K(tuple):\n    pass\nT = K()\nT.MAX = VALUE\n"),
    _read("a tuple subclass whose repr hides its elements", "T[0]", "from helper import T",
          "class K(tuple):\n    def __repr__(self):\n        return 'K'\nT = K((VALUE,))\n"),
    _read("a tuple subclass with elements of its own", "T[0]", "from helper import T",
          "class K(tuple):\n    def __getitem__(self, n):\n        return VALUE\nT = K((1,))\n"),
)  # fmt: skip

_I = "class I(int):\n    def __repr__(self):\n        return 'I'\n    __str__ = __repr__\n"
_E = "import enum\n"
NUMBERS = _of(
    "numbers",
    _read("an int subclass whose repr hides it", "MAX", "from helper import MAX",
          _I + "MAX = I(VALUE)\n"),
    _read("such an int in a tuple", "T[0]", "from helper import T", _I + "T = (I(VALUE),)\n"),
    _read("such an int in a class", "C.MAX", "from helper import C",
          _I + "class C:\n    MAX = I(VALUE)\n"),
    _read("such an int as an element of a set", "9 if s.x in S else 0", "from helper import S",
          _I + "S = frozenset(I(n) for n in range(VALUE))\n"),
    _read("an int subclass that is another when asked", "MAX", "from helper import MAX",
          "class I(int):\n    def __index__(self):\n        return VALUE\nMAX = I(VALUE)\n"),
    _read("an int subclass that compares otherwise", "MAX", "from helper import MAX",
          "class I(int):\n    def __gt__(self, other):\n        return VALUE > other\n"
          "    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n"
          "MAX = I(VALUE)\n"),
    _read("an int enum, imported", "Size.MAX", "from helper import Size",
          _E + "class Size(enum.IntEnum):\n    MAX = VALUE\n"),
    _read("an int enum of a module", "helper.Size.MAX",
          helper=_E + "class Size(enum.IntEnum):\n    MAX = VALUE\n"),
    _read("a member by its own name", "MAX", "from helper import MAX",
          _E + "class Size(enum.IntEnum):\n    MAX = VALUE\nMAX = Size.MAX\n"),
    _read("a global enum", "MAX", "from helper import MAX",
          _E + "@enum.global_enum\nclass Size(enum.IntEnum):\n    MAX = VALUE\n"),
    _read("a member by its number", "MAX", "from helper import MAX",
          _E + "class Size(enum.IntEnum):\n    MAX = VALUE\nMAX = Size(VALUE)\n"),
    _read("a member in a tuple", "T[0]", "from helper import T",
          _E + "class Size(enum.IntEnum):\n    MAX = VALUE\nT = (Size.MAX,)\n"),
    _read("a member of another enum's name", "Size.TOP", "from helper import Size",
          _E + "class Size(enum.IntEnum):\n    MAX = VALUE\n    TOP = MAX\n"),
    _read("auto()", "Size.MAX", "from helper import Size",
          _E + "class Size(enum.IntEnum):\n"
          "    _ignore_ = ('n', 'vars_')\n    vars_ = vars()\n"
          "    for n in range(VALUE - 1):\n        vars_[f'N{n}'] = enum.auto()\n"
          "    MAX = enum.auto()\n"),
    _read("_missing_", "MAX", "from helper import MAX",
          _E + "class Size(enum.IntEnum):\n    MAX = VALUE\n    @classmethod\n"
          "    def _missing_(cls, value):\n        return cls.MAX\nMAX = Size(99)\n"),
    _read("an int flag", "Size.MAX", "from helper import Size",
          _E + "class Size(enum.IntFlag):\n    A = 1\n    B = VALUE - 1\n    MAX = A | B\n"),
    _read("int flags joined", "Size.A | Size.B", "from helper import Size",
          _E + "class Size(enum.IntFlag):\n    A = 1\n    B = VALUE - 1\n"),
    _read("a value of an enum that is no int", "Size.MAX.value", "from helper import Size",
          _E + "class Size(enum.Enum):\n    MAX = VALUE\n"),
    _read("a value of an int enum", "Size.MAX.value", "from helper import Size",
          _E + "class Size(enum.IntEnum):\n    MAX = VALUE\n"),
    _read("an int enum of the model, valued elsewhere", "Size.MAX",
          "import enum\nimport helper\nclass Size(enum.IntEnum):\n    MAX = helper.MAX"),
    _read("a class nested in an enum", "Size.C.MAX", "from helper import Size",
          _E + "class Size(enum.IntEnum):\n    A = 1\n    @enum.nonmember\n    class C:\n"
          "        MAX = VALUE\n"),
    _read("a truth", "5 if helper.ON else 3", helper="ON = VALUE == 5\n"),
    _read("a truth that becomes a number", "3 + helper.ON + helper.ON",
          helper="ON = True if VALUE == 5 else 0\n"),
    _read("a negative number", "-helper.MIN", helper="MIN = -VALUE\n"),
    _read("a great number", "helper.MAX - 4611686018427387904", helper="MAX = 2**62 + VALUE\n"),
    _read("a number beyond 64 bits", "helper.MAX - 2**70", helper="MAX = 2**70 + VALUE\n"),
    _read("a whole float", "helper.MAX", helper="MAX = float(VALUE)\n"),
    _read("a number of NumPy", "helper.MAX", helper="import numpy\nMAX = numpy.int64(VALUE)\n"),
    _read("a fraction", "helper.MAX", helper="import fractions\nMAX = fractions.Fraction(VALUE)\n"),
    _read("a text", "helper.MAX", helper="MAX = 'VALUE'\n"),
    _read("the imaginary part of a number", "helper.MAX.real"),
)  # fmt: skip

SETS = _of(
    "sets",
    _read("a frozen set", "9 if s.x in S else 0", "from helper import S",
          "S = frozenset(range(VALUE))\n"),
    _read("helper.S", "9 if s.x in helper.S else 0", helper="S = frozenset(range(VALUE))\n"),
    _read("a set", "9 if s.x in S else 0", "from helper import S", "S = set(range(VALUE))\n"),
    _read("a frozen set in a class", "9 if s.x in C.S else 0", "from helper import C",
          "class C:\n    S = frozenset(range(VALUE))\n"),
    _read("a frozen set in a tuple", "9 if s.x in T[0] else 0", "from helper import T",
          "T = (frozenset(range(VALUE)),)\n"),
    _read("a frozen set subclass", "9 if s.x in S else 0", "from helper import S",
          "class F(frozenset):\n    def __repr__(self):\n        return 'F'\n"
          "S = F(range(VALUE))\n"),
    _read("a tuple as a set", "9 if s.x in T else 0", "from helper import T",
          "T = tuple(range(VALUE))\n"),
    _read("a tuple of classes as a set", "3 if 3 in (C.MAX, 8) else C.MAX",
          "from helper import C", _C),
    _read("a set of enum members", "9 if s.x in S else 0", "from helper import S",
          _E + "class Size(enum.IntEnum):\n    A = 0\n    B = 1\n    C = 2\n    D = 9 - VALUE\n"
          "    E = 3 if VALUE == 5 else 8\n"
          "S = frozenset((Size.A, Size.B, Size.C, Size.D, Size.E))\n"),
    _read("a range", "9 if s.x in R else 0", "from helper import R", "R = range(VALUE)\n"),
    _read("a dictionary", "D[0]", "from helper import D", "D = {0: VALUE}\n"),
    _read("a list", "L[0]", "from helper import L", "L = [VALUE]\n"),
)  # fmt: skip

_F = "def f():\n    return 0\n"
_FX = "def f(x):\n    return x < VALUE\n"


def _asked(name: str, condition: str, preface: str, helper: str, **files: str) -> Shape:
    others = {file.replace("__", "/") + ".py": text for file, text in files.items()}
    model = counter(preface=preface, guard=f"when({condition})")
    return Shape(name, {"m.py": model, H: helper, **others})


def _own(name: str, more: str, helper: str = MAX, condition: str = "own(s)") -> Shape:
    model = counter(preface="import helper", guard=f"when({condition})", more=f"\n\n{more}")
    return Shape(name, {"m.py": model, H: helper})


FUNCTIONS = _of(
    "functions",
    _read("an attribute of a function", "f.MAX", "from helper import f", _F + "f.MAX = VALUE\n"),
    _read("helper.f.MAX", "helper.f.MAX", helper=_F + "f.MAX = VALUE\n"),
    _read("an attribute of an attribute of a function", "f.g.MAX", "from helper import f",
          _F + "def g():\n    return 0\nf.g = g\ng.MAX = VALUE\n"),
    _read("a class on a function", "f.C.MAX", "from helper import f", _F + _C + "f.C = C\n"),
    _read("an attribute of the model's function, valued elsewhere", "own.MAX",
          "import helper\ndef own(s):\n    return 0\nown.MAX = helper.MAX"),
    _asked("a function of another file", "f(s.x)", "from helper import f", _FX),
    _asked("a function of a module", "helper.f(s.x)", "import helper", _FX),
    _asked("a function of a package", "conf.limits.f(s.x)", "import conf.limits", "",
           conf__limits=_FX),
    _asked("a function of another file that reads there", "helper.f(s.x)", "import helper",
           "MAX = VALUE\ndef f(x):\n    return x < MAX\n"),
    _asked("a function of another file that reads elsewhere", "conf.limits.f(s.x)",
           "import conf.limits", MAX, conf__limits="import helper\ndef f(x):\n"
           "    return x < helper.MAX\n"),
    _asked("a function two files away", "helper.f(s.x)", "import helper",
           "import other\ndef f(x):\n    return other.g(x)\n",
           other="def g(x):\n    return x < VALUE\n"),
    _asked("a static method", "helper.C.f(s.x)", "import helper",
           "class C:\n    @staticmethod\n    def f(x):\n        return x < VALUE\n"),
    _asked("a function on a class", "C.f(s.x)", "from helper import C",
           "def f(x):\n    return x < VALUE\nclass C:\n    f = f\n"),
    _asked("a function in a tuple", "T[0](s.x)", "from helper import T", _FX + "T = (f,)\n"),
    _asked("a function on a function", "f.g(s.x)", "from helper import f",
           _F + "def g(x):\n    return x < VALUE\nf.g = g\n"),
    _asked("a default", "helper.f(s.x)", "import helper",
           "def f(x, limit=VALUE):\n    return x < limit\n"),
    _asked("a default that is a class", "helper.f(s.x)", "import helper",
           _C + "def f(x, c=C):\n    return x < c.MAX\n"),
    _asked("a default set afterwards", "helper.f(s.x)", "import helper",
           "def f(x, limit=0):\n    return x < limit\nf.__defaults__ = (VALUE,)\n"),
    _asked("a keyword default", "helper.f(s.x)", "import helper",
           "def f(x, *, limit=VALUE):\n    return x < limit\n"),
    _asked("a closure", "helper.f(s.x)", "import helper",
           "def made(limit):\n    def f(x):\n        return x < limit\n    return f\n"
           "f = made(VALUE)\n"),
    _asked("a decorated function", "helper.f(s.x)", "import helper",
           "import functools\ndef d(f):\n    @functools.wraps(f)\n    def g(x):\n"
           "        return x < VALUE\n    return g\n@d\ndef f(x):\n    return False\n"),
    _asked("a decorator that gives another function", "helper.f(s.x)", "import helper",
           "def g(x):\n    return x < VALUE\ndef d(f):\n    return g\n@d\ndef f(x):\n"
           "    return False\n"),
    _asked("a partial function", "helper.f(s.x)", "import helper",
           "import functools\ndef g(limit, x):\n    return x < limit\n"
           "f = functools.partial(g, VALUE)\n"),
    _asked("a lambda", "helper.f(s.x)", "import helper", "f = lambda x: x < VALUE\n"),
    _asked("a function by another name", "helper.g(s.x)", "import helper", _FX + "g = f\n"),
    _asked("one of two functions", "helper.f(s.x)", "import helper",
           "def g(x):\n    return x < 3\ndef h(x):\n    return x < 5\nf = g if VALUE == 3 else h\n"),
    _asked("a function with the code of another", "helper.f(s.x)", "import helper",
           "def f(x):\n    return x < 0\ndef g(x):\n    return x < VALUE\n"
           "f.__code__ = g.__code__\n"),
    _asked("min, taken from a file", "min(s.x)", "from helper import min",
           "def min(x):\n    return x < VALUE\n"),
    _asked("abs, bound to a number", "s.x < abs", "from helper import abs", "abs = VALUE\n"),
    _asked("max, a function of the model's own", "s.x < max(s, 0)",
           "import helper\ndef max(s, n):\n    return helper.MAX", MAX),
    _own("a function of the model", "def own(s):\n    return s.x < helper.MAX\n"),
    _own("a function two deep", "def own(s):\n    return two(s)\n\n\ndef two(s):\n"
         "    return s.x < helper.MAX\n"),
    _own("a function three deep with a class", "def own(s):\n    return two(s)\n\n\ndef two(s):\n"
         "    return three(s)\n\n\ndef three(s):\n    return s.x < helper.C.MAX\n", _C),
    _own("a function two deep with a chain", "def own(s):\n    return two(s)\n\n\ndef two(s):\n"
         "    return s.x < helper.C.D.MAX\n", "class C:\n    class D:\n        MAX = VALUE\n"),
    _own("a local that is a module", "def own(s):\n    h = helper\n    return s.x < h.MAX\n"),
    _own("a local that is a class", "def own(s):\n    c = helper.C\n    return s.x < c.MAX\n", _C),
    _own("a local that is a tuple", "def own(s):\n    t = helper.T\n    return s.x < t[0].MAX\n",
         _C + "T = (C,)\n"),
    _own("a local that is one of two classes", "def own(s):\n    return s.x < "
         "(helper.C if helper.ON else helper.C).MAX\n", _C + "ON = True\n"),
    _own("a module as an argument", "def own(s, h):\n    return s.x < h.MAX\n",
         condition="own(s, helper)"),
    _own("a class as an argument", "def own(s, c):\n    return s.x < c.MAX\n", _C,
         condition="own(s, helper.C)"),
    _own("a class as an argument by name", "def own(s, c):\n    return s.x < c.MAX\n", _C,
         condition="own(s, c=helper.C)"),
    _own("a function as an argument", "def own(s, f):\n    return f(s.x)\n", _FX,
         condition="own(s, helper.f)"),
    _own("a default of the model's function, valued elsewhere",
         "def own(s, limit=helper.MAX):\n    return s.x < limit\n"),
    _own("a decorated function of the model", "@helper.d\ndef own(s):\n    return s.x < 3\n",
         "def d(f):\n    def g(s):\n        return s.x < VALUE\n    return g\n"),
    _own("a class returned by a function", "def own(s):\n    return s.x < two(s).MAX\n\n\n"
         "def two(s):\n    return helper.C\n", _C),
)  # fmt: skip

_COUNT = "sum(1 for n in range(helper.MAX)) > s.x"
PLACES = _of(
    "places",
    Shape("a claim", {"m.py": counter("4", "import helper", claim="s.x <= helper.N"),
          H: "N = VALUE\n"}, ("4", "2")),
    Shape("a claim through a chain", {
          "m.py": counter("4", "import conf.limits", claim="s.x <= conf.limits.C.N"),
          "conf/limits.py": "class C:\n    N = VALUE\n"}, ("4", "2")),
    Shape("a claim through an enum", {
          "m.py": counter("4", "from helper import Size", claim="s.x <= Size.N"),
          H: _E + "class Size(enum.IntEnum):\n    N = VALUE\n"}, ("4", "2")),
    Shape("an effect", {"m.py": counter("3", "import helper", effect="s.x += helper.STEP"),
          H: "STEP = VALUE\n"}, ("1", "2")),
    Shape("an effect through a chain", {
          "m.py": counter("3", "import conf.limits", effect="s.x += conf.limits.C.STEP"),
          "conf/limits.py": "class C:\n    STEP = VALUE\n"}, ("1", "2")),
    Shape("an effect through an enum", {
          "m.py": counter("3", "from helper import Size", effect="s.x += Size.STEP"),
          H: _E + "class Size(enum.IntEnum):\n    STEP = VALUE\n"}, ("1", "2")),
    Shape("a condition in an effect", {
          "m.py": counter("3", "import helper", effect="s.x += 2 if helper.C.ON else 1"),
          H: "class C:\n    ON = VALUE\n"}, ("False", "True")),
    Shape("a comprehension", {"m.py": counter(preface="import helper", guard=f"when({_COUNT})"),
          H: MAX}),
    Shape("a comprehension over a chain", {"m.py": counter(preface="import helper",
          guard=f"when({_COUNT.replace('helper.MAX', 'helper.C.D.MAX')})"),
          H: "class C:\n    class D:\n        MAX = VALUE\n"}),
    Shape("a loop", {"m.py": counter(preface="import helper", guard="when(s.x < 3)",
          effect="for n in range(helper.C.N):\n        s.x += 1"),
          H: "class C:\n    N = VALUE\n"}, ("1", "2")),
    Shape("a default of a bound", {"m.py": counter("s.limit", "import helper",
          bounds="limit: int = helper.MAX"), H: MAX},
          doors=("check", "gate")),  # a run keeps the bounds that it was begun with
    Shape("a field's range", {"m.py": counter("s.x < 9", "import helper", guard="when(s.x != s.top)",
          claim="s.x <= 3").replace('Number("x", 0, 9)',
          'Number("x", 0, 9), Number("top", helper.MAX, 9)'), H: MAX}),
    Shape("a number of names", {"m.py": counter("s.ns", "import helper").replace(
          'Number("x", 0, 9)',
          'Number("x", 0, 9), Flag("f", by=Names("n", helper.MAX))'), H: MAX}),
    Shape("what an argument ranges over", {"m.py": counter(preface="import helper",
          effect="s.x = to", guard="when(s.x <= 9)").replace("rise(s)", "rise(s, to)").replace(
          "actions=[rise]", "actions=[Action(rise, to=helper.MAX)]"), H: MAX}, ("4", "6")),
    Shape("the first state", {"m.py": counter("0", "import helper", more="\n\ndef start(s):\n"
          "    s.x = helper.MAX\n").replace("actions=", "initial=start, actions="), H: MAX}),
    Shape("the first state through a chain", {"m.py": counter("0", "import helper",
          more="\n\ndef start(s):\n    s.x = helper.C.D.MAX\n").replace(
          "actions=", "initial=start, actions="), H: "class C:\n    class D:\n        MAX = VALUE\n"}),
    Shape("which actions there are", {"m.py": counter("3", "import helper",
          more="\n\ndef leap(s):\n    when(s.x < 3)\n    s.x = 5\n").replace(
          "actions=[rise]", "actions=[rise, leap][: helper.N]"), H: "N = VALUE\n"}, ("1", "2")),
    Shape("which function is an action", {"m.py": counter("3", "import helper",
          more="\n\ndef leap(s):\n    when(s.x < 3)\n    s.x = 5\n\n\nTHEM = (rise, leap)\n"
          ).replace("actions=[rise]", "actions=[THEM[helper.N]]"), H: "N = VALUE\n"}, ("0", "1")),
    Shape("words of a choice", {"m.py": counter("5 if s.c == 'b' else 3", "import helper").replace(
          'Number("x", 0, 9)', 'Number("x", 0, 9), Choice("c", *helper.WORDS)'),
          H: "WORDS = ('VALUE', 'b', 'a')[0], *{'a', 'b'} - {'VALUE'}\n"}, ("a", "b")),
    Shape("a text beside a choice", {"m.py": counter("5 if s.c == helper.WORD else 3",
          "import helper").replace('Number("x", 0, 9)',
          'Number("x", 0, 9), Choice("c", "a", "b")'), H: "WORD = 'VALUE'\n"}, ("b", "a")),
    Shape("a text of the model beside a choice", {"m.py": counter("5 if s.c == WORD else 3",
          "from helper import WORD").replace('Number("x", 0, 9)',
          'Number("x", 0, 9), Choice("c", "a", "b")'), H: "WORD = 'VALUE'\n"}, ("b", "a")),
    Shape("a text of an enum beside a choice", {"m.py": counter("5 if s.c == W.WORD else 3",
          "from helper import W").replace('Number("x", 0, 9)',
          'Number("x", 0, 9), Choice("c", "a", "b")'),
          H: _E + "class W(enum.StrEnum):\n    WORD = 'VALUE'\n"}, ("b", "a")),
)  # fmt: skip

OUTSIDE = _of(
    "outside",
    Shape("the environment", {"m.py": counter("MAX", "import os\nMAX = int(os.environ['LIMIT'])")},
          environment={"LIMIT": "VALUE"}),
    Shape("the environment, in a class", {"m.py": counter("C.MAX",
          "import os\nclass C:\n    MAX = int(os.environ['LIMIT'])")}, environment={"LIMIT": "VALUE"}),
    Shape("the environment, in another file", {"m.py": counter("helper.C.MAX", "import helper"),
          H: "import os\nclass C:\n    MAX = int(os.environ['LIMIT'])\n"},
          environment={"LIMIT": "VALUE"}),
    Shape("a data file", {"m.py": counter("MAX",
          "import pathlib\nMAX = int(pathlib.Path('limit.txt').read_text())"),
          "limit.txt": "VALUE"}),
    Shape("a data file, in a class", {"m.py": counter("helper.C.MAX", "import helper"),
          H: "import json\nclass C:\n    MAX = json.load(open('limit.json'))['max']\n",
          "limit.json": '{"max": VALUE}'}),
    Shape("the same name in two folders", {"m.py": counter("helper.C.MAX", "import helper"),
          "three/helper.py": "class C:\n    MAX = 3\n", "five/helper.py": "class C:\n    MAX = 5\n"},
          ("three", "five"), {"PYTHONPATH": "VALUE"}),
    Shape("a helper that is a symbolic link", {"m.py": counter("helper.C.MAX", "import helper"),
          H: "->limitVALUE.txt", "limit3.txt": "class C:\n    MAX = 3\n",
          "limit5.txt": "class C:\n    MAX = 5\n"}),
    Shape("a folder that is a symbolic link", {"m.py": counter("conf.limits.MAX",
          "import conf.limits"), "conf": "->confVALUE", "conf3/limits.py": "MAX = 3\n",
          "conf5/limits.py": "MAX = 5\n"}),
    Shape("a model that is a symbolic link", {"m.py": "->mVALUE.txt", "m3.txt": counter("3"),
          "m5.txt": counter("5")}),
    Shape("the model's own constant", {"m.py": counter("MAX", "MAX = VALUE")}),
    Shape("the model's own class", {"m.py": counter("C.MAX", "class C:\n    MAX = VALUE")}),
)  # fmt: skip

SHAPES = (*MODULES, *CLASSES, *TUPLES, *NUMBERS, *SETS, *FUNCTIONS, *PLACES, *OUTSIDE)
