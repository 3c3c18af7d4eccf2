"""The first states: what every field has at first, as the model's own rule changes it."""

from __future__ import annotations

from typing import Any

from waterline.checker.tla import actions
from waterline.checker.tla.calls import Caller
from waterline.checker.tla.ends import outcomes, resolve
from waterline.checker.tla.environment import Role
from waterline.checker.tla.forming import in_order, join, let
from waterline.checker.tla.kinds import as_kind, whole
from waterline.checker.tla.program import FieldForm
from waterline.checker.tla.subject import Subject
from waterline.checker.tla.tidying import tidy
from waterline.checker.tla.tree import Definition, Infix, Mapped, Outcome, Quantified, Tree


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
    asked = in_order(actions.enabling(caller, action, values, fields))
    effect = actions.changes(caller, action, values, fields)

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
