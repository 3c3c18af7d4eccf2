"""A version of Kafka's protocol as the program that is exported."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler.source import Source
from waterline.checker.problem.problem import Problem
from waterline.checker.tla import library
from waterline.checker.tla.forming import interval
from waterline.checker.tla.kafka import vocabulary
from waterline.checker.tla.kafka.states import KafkaProgram
from waterline.checker.tla.kinds import (
    MEMBERS,
    TRUTHS,
    WHOLE,
    Kind,
    Members,
    Typed,
    Words,
    as_kind,
    whole,
)
from waterline.checker.tla.naming import Naming
from waterline.checker.tla.program import FieldForm, Size
from waterline.checker.tla.tree import (
    Atom,
    Collection,
    Functions,
    If,
    Infix,
    Local,
    Mapped,
    Number,
    Subsets,
    Tree,
    Word,
)
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.layout import Field
from waterline.model.core.renaming import Holds, Sort
from waterline.model.core.renaming import Naming as Renaming
from waterline.model.core.state import NotAlive
from waterline.model.core.transition_system import Action, Parameter

STATE = Atom("cluster")
REPLICAS, OFFSETS, RECORDS = Atom("Replicas"), Atom("Offsets"), Atom("Records")
_STRUCTURE = (
    *("Init", "Next", "Spec", "TypeOK", "cluster"),
    *("Replicas", "Offsets", "Records", "NO_REPLICA", "NO_EPOCH", "NO_RECORD", "UNKNOWN_OFFSET"),
)
_PUT_IN = frozenset({"has", "size"})
_CONSTANT_SETTINGS = ("min_insync_replicas",)
_NAMELESS = Renaming()


@dataclass(frozen=True, slots=True)
class KafkaSubject:
    """A problem, and the program of its rules. `constants` are the bounds, in order."""

    problem: Problem
    program: KafkaProgram
    constants: Mapping[str, int]
    actions: tuple[Action, ...]

    def domain(self, parameter: Parameter) -> Tree:
        """Return the domain of an action's argument."""
        match parameter.over:
            case "replicas":
                return REPLICAS
            case "replica_sets":
                return Subsets(REPLICAS)
            case "requests":
                return interval(Number(0), Atom("epochs"))
            case "epochs":
                return interval(Number(0), Infix("-", Atom("epochs"), Number(1)))
        return OFFSETS

    def argument(self, parameter: Parameter, local: Local) -> Typed:
        """An argument of an action."""
        return Typed(local, MEMBERS if parameter.over == "replica_sets" else WHOLE)


def subject_of(problem: Problem, fixed: frozenset[str] | None = None) -> KafkaSubject:
    """The program of a version in its circumstances.

    `fixed` are the fields that are taken never to change, None for all that may not.
    """
    model = problem.model
    if model.options.get("unbounded"):
        raise BadEnvironment(
            "a state without bounds is an abstraction that packs its names into numbers, which has "
            "no readable form in TLA+; leave out --unbounded"
        )
    constants = _constants(problem)
    actions = tuple(
        action
        for action in model.enabled_actions
        if action.budget is None or getattr(model.settings, action.budget.setting) > 0
    )
    naming = Naming()
    naming.taken |= {*_STRUCTURE, *library.NAMES, *constants, *(a.name for a in actions)}
    forms = {field.name: _form(field, problem) for field in model.layout.fields}
    settings = {
        name: value
        for name, value in zip(model.settings._fields, model.settings, strict=True)
        if name not in constants
    }
    program = KafkaProgram(
        naming=naming,
        fields=forms,
        sizes=_sizes(constants),
        settings=settings,
        is_inlined=_is_put_in,
        documentation=documentation,
        named_constants=False,
        sets=vocabulary.SETS,
        words=vocabulary.constants(),
        parameter_kinds=vocabulary.PARAMETERS,
    )
    for field in model.layout.fields:
        value = _same_everywhere(problem, field)
        if value is not None and (fixed is None or field.name in fixed):
            form = forms[field.name]
            program.fixed[field.name] = Typed(_value(field, form.kind, value, problem), form.kind)
    return KafkaSubject(problem, program, constants, actions)


def _constants(problem: Problem) -> dict[str, int]:
    model = problem.model
    sizes = ("replicas", "records", "log_size", "epochs")
    found = {name: model.layout.sizes[name] for name in sizes if name in model.layout.sizes}
    budgets = [action.budget.setting for action in model.enabled_actions if action.budget]
    for name in (*budgets, *_CONSTANT_SETTINGS):
        value = getattr(model.settings, name, 0)
        if value > 0:
            found[name] = value
    return found


def _sizes(constants: Mapping[str, int]) -> dict[str, Size]:
    places = "log_size" if "log_size" in constants else "records"
    members = {"replicas": REPLICAS, places: OFFSETS}
    found = {
        name: Size(Typed(Atom(name), WHOLE), value, members.get(name))
        for name, value in constants.items()
    }
    requests = Infix("+", Atom("epochs"), Number(1))
    return {**found, "requests": Size(Typed(requests, WHOLE), constants["epochs"] + 1)}


def _is_put_in(source: Source) -> bool:
    """True for a function to inline: its body is shorter than its name."""
    return source.tree.name in _PUT_IN or source.tree.name.endswith("_limit")


def documentation(source: Source) -> str:
    """Return a function's docstring, with its sources."""
    return inspect.getdoc(source.function) or ""


# --- fields --------------------------------------------------------------------------------------


def _form(field: Field, problem: Problem) -> FieldForm:
    naming = field.naming or _NAMELESS
    sorts = (naming.rows, naming.columns)
    domains = tuple(_domain(field.name, sort) for _, sort in zip(field.shape, sorts, strict=False))
    firsts = tuple(int(sort == Sort.RECORD) for _, sort in zip(field.shape, sorts, strict=False))
    kind = _kind(field, naming)
    values = _values(field, naming, kind, problem)
    return FieldForm(
        Atom(field.name), kind, values, domains, field.shape, firsts if any(firsts) else ()
    )


def _domain(name: str, sort: Sort | None) -> Tree:
    if sort == Sort.REPLICA:
        return REPLICAS
    if sort == Sort.RECORD:
        return RECORDS
    if name.startswith("request_"):
        return interval(Number(0), Atom("epochs"))
    if name.startswith("decided_"):
        return interval(Number(0), Infix("-", Atom("epochs"), Number(1)))
    return OFFSETS


def _kind(field: Field, naming: Renaming) -> Kind:
    if field.name in vocabulary.FLAGS:
        return TRUTHS
    if field.name in vocabulary.WORDS:
        return vocabulary.words_of(field.name)
    if naming.holds is Holds.REPLICAS:
        return MEMBERS
    if naming.holds is Holds.RECORDS:
        return Members(first=1)
    return WHOLE


def _values(field: Field, naming: Renaming, kind: Kind, problem: Problem) -> Tree:
    if kind == TRUTHS:
        return Atom("BOOLEAN")
    if isinstance(kind, Words):
        return Collection(tuple(map(Word, kind.words)), ordered=False)
    if isinstance(kind, Members):
        return Subsets(RECORDS if kind.first else REPLICAS)
    if naming.holds is Holds.REPLICA:
        nobody = Collection((nothing(field),), ordered=False)
        return REPLICAS if field.lo == 0 else Infix(r"\union", nobody, REPLICAS)
    most: Tree = Atom("log_size" if "log_size" in problem.model.layout.sizes else "records")
    if naming.holds in (Holds.RECORD, Holds.BORN):
        most = Atom("records")
    elif field.name.endswith("_used"):
        most = Atom(field.name.removesuffix("_used"))
    elif "epoch" in field.name:
        most = Atom("epochs")
    elif field.name == "issued":
        most = Infix("+", Atom("epochs"), Number(1))
    return interval(nothing(field) if field.lo < 0 else Number(0), most)


def nothing(field: Field) -> Number:
    """Return the named number that stands for no value in a field."""
    naming = field.naming or _NAMELESS
    if naming.holds is Holds.REPLICA:
        return Number(-1, "NO_REPLICA")
    return Number(-1, "NO_EPOCH" if "epoch" in field.name else "UNKNOWN_OFFSET")


# --- the first state -----------------------------------------------------------------------------


def _elements(problem: Problem, field: Field) -> dict[tuple[int, ...], int]:
    """The values of a field in the first state, by index."""
    (state,) = problem.model.initial
    found = {}
    for index in itertools.product(*map(range, field.shape)):
        rows: Any = getattr(state, field.name)
        try:
            value = rows if not index else rows[index if len(index) > 1 else index[0]]
        except NotAlive:
            value = field.lo
        found[index] = int(value)
    return found


def _same_everywhere(problem: Problem, field: Field) -> int | None:
    values = set(_elements(problem, field).values())
    return values.pop() if len(values) == 1 else None


def _value(field: Field, kind: Kind, value: int, problem: Problem) -> Tree:
    if isinstance(kind, Members):
        replicas = problem.model.layout.sizes["replicas"]
        everyone = (1 << replicas) - 1
        if value == 0:
            return Collection((), ordered=False)
        missing = [r for r in range(replicas) if not value >> r & 1]
        without = Collection(tuple(map(Number, missing)), ordered=False)
        assert value <= everyone
        return REPLICAS if not missing else Infix("\\", REPLICAS, without)
    if value < 0:
        return nothing(field)
    return as_kind(whole(value), kind)


def first_value(subject: KafkaSubject, field: Field) -> Tree:
    """A field in the first state, of any number of replicas: the first one leads."""
    form = subject.program.fields[field.name]
    elements = _elements(subject.problem, field)

    def write(prefix: tuple[int, ...]) -> Tree:
        place = len(prefix)
        if place == len(field.shape):
            return _value(field, form.kind, elements[prefix], subject.problem)
        domain = form.domains[place]
        name = {REPLICAS: "replica", OFFSETS: "offset", RECORDS: "record"}.get(
            domain if isinstance(domain, Atom) else REPLICAS, "epoch"
        )
        name = name if domain not in form.domains[:place] else "other"
        local = subject.program.counter(name)
        rows = [write((*prefix, i)) for i in range(field.shape[place])]
        first, others = rows[0], rows[1:]
        if all(_alike(row, first) for row in others):
            return Mapped(local, domain, first)
        assert all(_alike(row, others[0]) for row in others)
        return Mapped(local, domain, If(Infix("=", local, Number(0)), first, others[0]))

    return write(())


def _alike(one: Tree, other: Tree) -> bool:
    """True if two values are the same, whatever names they bind."""
    if isinstance(one, Mapped) and isinstance(other, Mapped):
        return one.domain == other.domain and _alike(one.body, other.body)
    if isinstance(one, If) and isinstance(other, If):
        return _alike(one.then, other.then) and _alike(one.otherwise, other.otherwise)
    return one == other


def about_field(field: Field) -> str:
    """Describe a field, without the numbers that stand for words and members of sets."""
    text = vocabulary.ABOUT.get(field.name, field.doc)
    for bits in vocabulary.OF_BITS:
        text = text.replace(bits, "")
    return text.replace("-1", nothing(field).name) if field.lo < 0 else text


def all_values(form: FieldForm, said: str) -> Tree:
    """The set of the values that a field can have; of words those that the module says."""
    values = form.values
    if isinstance(form.kind, Words):
        words = [Word(word) for word in form.kind.words if f'"{word}"' in said]
        first = Word(form.kind.words[0])
        values = Collection(tuple(dict.fromkeys([first, *words])), ordered=False)
    for domain in reversed(form.domains):
        values = Functions(domain, values)
    return values
