r"""Actions as operators: what they ask of the state, then what they make of it.

`when` and `within` are items of one list of `/\` in the order of the file: TLC looks at none of
them behind one that is false, as Python does.
"""

from __future__ import annotations

from typing import Any

from waterline.checker.compiler import ir
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.tla import arithmetic
from waterline.checker.tla.calls import Caller, changes_of
from waterline.checker.tla.ends import Ends, outcomes, resolve, value_of
from waterline.checker.tla.environment import Environment, Role, Settings, StateOf, Value
from waterline.checker.tla.forming import conjuncts, everything_in, in_order, join, let, negate
from waterline.checker.tla.kinds import TRUTHS, Typed, as_kind, whole
from waterline.checker.tla.program import FieldForm
from waterline.checker.tla.subject import Subject
from waterline.checker.tla.tidying import tidy
from waterline.checker.tla.tree import (
    Definition,
    Infix,
    Junction,
    Let,
    Local,
    Mapped,
    Member,
    Outcome,
    Primed,
    Quantified,
    Record,
    Tree,
    Truth,
    Unchanged,
)
from waterline.model.core.transition_system import Action

_Fields = dict[tuple[Role, str], Tree]


def action_of(caller: Caller, action: Action) -> tuple[list[Local], Tree]:
    """The parameters of an action, and what it says of a step."""
    parameters, values = _arguments(caller, action)
    fields = caller.program.pristine()
    asked = enabling(caller, action, values, fields)
    step = effect(caller, changes(caller, action, values, fields))
    return parameters, join("/\\", in_order(tidy(asked)), tidy(step))


def cut_of(caller: Caller, action: Action) -> tuple[list[Local], Tree]:
    """The parameters of an action, and when a bound keeps it from being taken."""
    parameters, values = _arguments(caller, action)
    fields = caller.program.pristine()
    guard = guard_of(caller, action, values, fields)
    within = enabling(caller, action, values, fields)
    asked, bounded = conjuncts(tidy(guard)), conjuncts(tidy(within))
    cut = join("/\\", *(item for item in bounded if item not in asked))
    return parameters, join("/\\", *asked, negate(cut))


def _arguments(caller: Caller, action: Action) -> tuple[list[Local], list[Typed]]:
    parameters = [caller.program.local(parameter.name) for parameter in action.parameters]
    pairs = zip(action.parameters, parameters, strict=True)
    return parameters, [caller.program.argument(each, local) for each, local in pairs]


def guard_of(caller: Caller, action: Action, given: list[Typed], fields: _Fields) -> Tree:
    """True if the guard lets it happen, within the bounds or not."""
    return as_kind(value_now(caller, source_of(action.guard), given, fields), TRUTHS)


def enabling(caller: Caller, action: Action, given: list[Typed], fields: _Fields) -> Tree:
    """True if the guard lets it happen, and no bound cuts it."""
    if action.limit is None:
        return guard_of(caller, action, given, fields)
    source = source_of(action.limit)
    *asks, last = lower_function(source).body
    if not action.limit_writes and isinstance(last, ir.Return):
        # Each `when` and `within` ends it but for the last line: that is where all are true.
        at = _environment(source, given, fields)
        tree = caller.statements(source).run(
            asks,
            at,
            Ends(
                lambda end: Outcome(Typed(Truth(True), TRUTHS)),
                lambda end, value: Outcome(Typed(Truth(False), TRUTHS)),
            ),
        )
        return as_kind(value_of(tree), TRUTHS)
    guard = guard_of(caller, action, given, fields)
    exceeded = value_now(caller, source, given, fields)
    exceeded = Typed(tidy(exceeded.tree), exceeded.kind)
    asked = conjuncts(tidy(guard))
    within = tidy(arithmetic.compare("==", exceeded, whole(0)).tree)
    if isinstance(within, Junction) and within.operator == "\\/":
        # It tries the step out, and says of one that is not enabled that no bound cuts it.
        within = join("\\/", *(item for item in within.items if negate(item) not in asked))
    return join("/\\", guard, within)


def changes(caller: Caller, action: Action, given: list[Typed], fields: _Fields) -> Tree:
    """Return the effect as a tree, with an outcome at each of its ends."""
    source = source_of(action.effect)
    before = dict(fields)
    at = _environment(source, given, fields)

    def outcome(end: Environment, value: Any = None) -> Tree:
        return Outcome(None, changes_of(before, end))

    statements = caller.statements(source)
    return statements.run(statements.body, at, Ends(outcome, outcome))


def effect(caller: Caller, tree: Tree) -> Tree:
    """Return the effect as conditions on the variables of the next state."""
    program = caller.program
    ends = outcomes(tree)
    changed = {name for end in ends for name, _ in end.changed}
    touched = [name for name in program.fields if name in changed]
    atoms = {name: form.atom for name, form in program.fields.items()}
    untouched = tuple(atoms[name].name for name in program.fields if name not in changed)
    rest = Unchanged(untouched) if untouched else Truth(True)
    if any(
        isinstance(each, Let) and any(d.recursive and outcomes(d.value) for d in each.definitions)
        for each in everything_in(tree)
    ):
        return join("/\\", _as_record(caller, tree, touched), rest)

    def assign(end: Outcome) -> Tree:
        new = dict(end.changed)
        items: list[Tree] = [
            Infix("=", Primed(atoms[name]), new[name]) for name in touched if name in new
        ]
        same = tuple(atoms[name].name for name in touched if name not in new)
        if same:
            items.append(Unchanged(same))
        return join("/\\", *items)

    return join("/\\", resolve(tree, assign), rest)


def _as_record(caller: Caller, tree: Tree, touched: list[str]) -> Tree:
    """Return a step whose effect may end in a loop: first its outcome, then the next state."""
    atoms = {name: form.atom for name, form in caller.program.fields.items()}

    def record(end: Outcome) -> Tree:
        new = dict(end.changed)
        return Record(tuple((name, new.get(name, atoms[name])) for name in touched))

    local = caller.program.local("outcome")
    items = [Infix("=", Primed(atoms[name]), Member(local, name)) for name in touched]
    return let([Definition(local, (), resolve(tree, record), kept=True)], join("/\\", *items))


def value_now(caller: Caller, source: Source, given: list[Typed], fields: _Fields) -> Typed:
    """The value of a function of the present state."""
    return caller.comes_to(source, _environment(source, given, fields))


def _environment(source: Source, given: list[Typed], fields: _Fields) -> Environment:
    """The state and the settings, then the arguments."""
    values: list[Value] = [StateOf(Role.NOW), Settings(), *given]
    return Environment(dict(zip(source.parameters, values, strict=True)), dict(fields))


def initial_of(subject: Subject, caller: Caller) -> Tree:
    """Return the predicate `Init`."""
    program = caller.program
    first = {
        name: _first(caller, form, subject.built.model.layout.places[name].lo)
        for name, form in program.fields.items()
    }
    if subject.built.start is None:
        items = [Infix("=", program.fields[name].atom, tree) for name, tree in first.items()]
        return join("/\\", *items)
    action, layout = subject.built.start
    definitions = []
    fields: dict[tuple[Role, str], Tree] = {}
    for name, tree in first.items():
        local = program.local(f"{name}_at_first")
        definitions.append(Definition(local, (), tree))
        fields[Role.NOW, name] = local
    bound = [program.counter(parameter.name) for parameter in action.parameters]
    pairs = zip(action.parameters, bound, strict=True)
    values = [program.argument(parameter, local) for parameter, local in pairs]
    asked = in_order(enabling(caller, action, values, fields))
    effect = changes(caller, action, values, fields)

    def assign(end: Outcome) -> Tree:
        new: dict[str, Any] = dict(end.changed)
        return join(
            "/\\",
            *(
                Infix("=", form.atom, new.get(name, fields[Role.NOW, name]))
                for name, form in program.fields.items()
            ),
        )

    assert outcomes(effect)
    tree = let(definitions, join("/\\", asked, resolve(effect, assign)))
    for local, parameter in reversed(list(zip(bound, action.parameters, strict=True))):
        tree = Quantified(r"\E", local, subject.domain(parameter, layout.sizes), tree)
    found: Tree = tidy(tree)
    return found


def _first(caller: Caller, form: FieldForm, lo: int) -> Tree:
    """A field with its least value everywhere."""
    tree = as_kind(whole(lo), form.kind)
    for place, domain in reversed(list(enumerate(form.domains))):
        name = "other" if domain in form.domains[:place] else getattr(domain, "name", "index")
        local = caller.program.counter(name[:1].lower() + name[1:])
        tree = Mapped(local, domain, tree)
    return tree
