"""Builds a transition system and its claims from a declared protocol."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from model.core.claim import Behaviour
from model.core.errors import RaisedAtStart
from model.core.layout import Field, Layout, TooLargeToPack
from model.core.renaming import Digit, Holds, Naming
from model.core.state import Draft, State
from model.core.transition_system import Action as KitAction
from model.core.transition_system import Model, Parameter, describe_error
from model.own.behaviours import behaviours_of
from model.own.declared import Action, Protocol
from model.own.fields import (
    AnyField,
    BadProtocol,
    Bag,
    Choice,
    Name,
    Names,
    PlainField,
    Sequenced,
    Set,
    Struct,
    Value,
    plain_field,
)
from model.own.narration import narration
from model.own.rules import Rule, Rules


class Settings(NamedTuple):
    """A protocol of one's own has none: its bounds are sizes of its layout."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A claim: its name, the sentence it stands for, and the function that decides it.

    `explain(*states)` says where it is False. `begun` is as a `Reachable` has it.
    """

    name: str
    sentence: str
    function: Callable[..., bool]
    explain: Callable[..., str]
    begun: Callable[..., bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A model and what its file claims of it, with what it was made of.

    `start` is the rule that made the initial states, its sizes in a layout of their own; None where
    every field has its first value.
    """

    model: Model
    always: tuple[Stated, ...]
    every_step: tuple[Stated, ...]
    sometimes: tuple[Stated, ...]
    behaviours: tuple[Behaviour, ...] = ()
    declared: Protocol
    start: tuple[KitAction, Layout] | None = None


def built(
    protocol: Protocol,
    *,
    file: str,
    text: str,
    names: Mapping[str, Any],
    model: str,
    version: str,
    bounds: Mapping[str, int],
    options: Mapping[str, object],
) -> Built:
    """The model called `model` and `version` of a protocol declared in `file`, which has this text.

    `names` are what running the file has left. `options` are what makes the model again. Raises
    `BadProtocol`.
    """
    sorts = {sort.name: sort for sort in protocol.sorts}
    form = _layout(protocol, sorts, bounds)
    plurals = [sort.plural for sort in protocol.sorts]
    rules = Rules.of(
        file, text, names, protocol.fields, bounds, tuple(form.sizes), plurals, protocol.structs
    )
    actions, described = [], {}
    ranges: dict[str, int] = {}
    for declared in protocol.actions:
        rule, action, over = _action(rules, declared, sorts, ranges)
        actions.append(replace(action, weakly_fair=action.name in protocol.fair_names))
        described[action.name] = (rule.description, tuple(over.items()))
    first, start = _initial(rules, protocol, sorts, bounds, form)
    claims = {
        kind: tuple(_stated(rules, claim, kind, protocol.sorts) for claim in given)
        for kind, given in (
            ("always", protocol.always),
            ("every_step", protocol.every_step),
            ("sometimes", protocol.sometimes),
        )
    }
    # Numbers that arguments range over are sizes too, known only now.
    form = _layout(protocol, sorts, bounds, ranges)
    return Built(
        model=Model(
            name=model,
            version=version,
            layout=form,
            settings=Settings(),
            actions=tuple(actions),
            contents=tuple(action.name for action in actions),
            limits=("within", *bounds, *_sequences(protocol)),
            initial=tuple(dict.fromkeys(State(form, state.words) for state in first)),
            narration=narration(protocol.fields, tuple(sorts.values()), described),
            options=options,
        ),
        behaviours=behaviours_of(rules, protocol, sorts),
        declared=protocol,
        start=start,
        **claims,
    )


def _stated(rules: Rules, claim: Any, kind: str, sorts: Sequence[Names]) -> Stated:
    if kind == "sometimes":
        name, sentence, function, begun = rules.happens(claim)
        return Stated(name, sentence, function, lambda *states: "", begun)
    name, sentence, _, function = rules.claim(claim, (1,) if kind == "always" else (2,))
    witness = rules.witness(claim)
    where = "here" if kind == "always" else "of the last step"

    def explain(*states: State) -> str:
        found = witness[1](*states, Settings()) if witness else None
        if witness is None or found is None:
            return f"{name} is False {where}."
        by_plural = {sort.plural: sort for sort in sorts}
        described = [
            f"{variable} = {by_plural[plural].describe(value) if plural in by_plural else value}"
            for (variable, plural), value in zip(witness[0], found, strict=True)
        ]
        return f"{name} is False {where}, for {', '.join(described)}."

    return Stated(name, sentence, function, explain)


def _layout(
    protocol: Protocol,
    sorts: Mapping[str, Names],
    bounds: Mapping[str, int],
    ranges: Mapping[str, int] | None = None,
) -> Layout:
    sizes = dict(bounds)
    for sort in sorts.values():
        if sizes.setdefault(sort.plural, sort.count) != sort.count:
            raise BadProtocol(
                f"{sort.plural} would be the bound, {sizes[sort.plural]}, and the number of names, "
                f"{sort.count}; call one of them otherwise, as Names({sort.name!r}, ..., "
                f'plural="all_{sort.plural}")'
            )
    for name in (*(declared.name for declared in protocol.fields), *sizes):
        if hasattr(Draft, name):
            raise BadProtocol(f"{name} is what a state has of its own; call it otherwise")
    for declared in protocol.fields:
        if declared.name in sizes:
            raise BadProtocol(
                f"field {declared.name} has the name of a bound or of a sort; rename one of them"
            )
    for name in (*sizes, *(declared.name for declared in protocol.fields)):
        if hasattr(Draft, name):
            raise BadProtocol(f"{name} is what a state has already; call it otherwise, as {name}_")
    try:
        fields = [_field(declared) for declared in protocol.fields]
        return Layout(fields, sizes={**sizes, **(ranges or {})})
    except TooLargeToPack as problem:
        raise BadProtocol(f"the state is too large: {problem}; lower a bound") from None


def _sequences(protocol: Protocol) -> list[str]:
    """Queues and logs: a full one is a limit."""
    return [declared.name for declared in protocol.fields if isinstance(declared, Sequenced)]


def _field(declared: AnyField) -> Field:
    lo, hi = declared.range
    *leading, last = declared.extents or (0,)
    # A layout has two dimensions: of more, all but the last are one.
    shape = (math.prod(leading), last) if len(leading) > 1 else declared.extents
    doc = declared.doc
    element = declared.element if isinstance(declared, Set | Sequenced) else declared
    if isinstance(element, Choice):
        first = 0 if element is declared or isinstance(declared, Set) else element.range[0]
        words = ", ".join(f"{i}: {word}" for i, word in enumerate(element.values, start=first))
        doc = f"{doc} {words}."
    if isinstance(declared, Sequenced):
        doc = f"{doc} {declared.empty}: no value."
    return Field(
        name=declared.name, doc=doc.strip(), lo=lo, hi=hi, shape=shape, naming=_naming(declared)
    )


def _naming(declared: AnyField) -> Naming | None:
    """How names are renamed in a field; None where they cannot be: one index stands for two, or one
    bit of a set for several names.
    """
    sorts = [index.sort if isinstance(index, Names) else None for index in declared.indices]
    if len(declared.extents) > 2:
        if any(sorts):
            return None
        sorts = []
    rows, columns = (*sorts, None, None)[:2]
    is_sorted = isinstance(declared, Bag)
    of = declared.of if isinstance(declared, Name | Set | Sequenced | Value) else None
    if isinstance(of, Struct) and any(digit.of is not None for digit in _digits(of)):
        if isinstance(declared, Set):
            return None
        return Naming(rows, columns, Holds.DIGITS, None, _digits(of), is_sorted)
    if not isinstance(of, Names):
        return Naming(rows, columns)
    holds = Holds.REPLICAS if isinstance(declared, Set) else Holds.REPLICA
    return Naming(rows, columns, holds, of.sort, is_sorted=is_sorted)


def _digits(struct: Struct[Any]) -> tuple[Digit, ...]:
    """The digits of the number that a struct is kept as."""
    return tuple(
        Digit(size, part.range[0], part.of.sort if isinstance(part, Name) else None)
        for (_, part), size in zip(struct.parts, struct.sizes, strict=True)
    )


def _action(
    rules: Rules, declared: Any, sorts: Mapping[str, Names], ranges: dict[str, int]
) -> tuple[Rule, KitAction, dict[str, PlainField]]:
    """What is made of an action, and its arguments: see `_over`."""
    function = declared.function if isinstance(declared, Action) else declared
    over = _over(rules, declared, sorts)
    rule = rules.action(function, over)
    parameters = []
    for name, each in over.items():
        if isinstance(each, Name):
            parameters.append(Parameter(name, each.of.plural))
        else:
            lo, hi = each.range
            size = f"{function.__name__}.{name}"
            ranges[size] = hi - lo + 1
            digits = _digits(each.of) if isinstance(each, Value) else ()
            parameters.append(Parameter(name, size, digits))
    action = KitAction(
        name=function.__name__,
        guard=rule.guard,
        effect=rule.effect,
        limit=rule.limit,
        limit_writes=rule.limit_writes,
        parameters=tuple(parameters),
    )
    return rule, action, over


def _over(rules: Rules, declared: Any, sorts: Mapping[str, Names]) -> dict[str, PlainField]:
    """Each argument of an action with a field that holds what it may be."""
    over = dict(declared.over) if isinstance(declared, Action) else {}
    function = declared.function if isinstance(declared, Action) else declared
    found: dict[str, PlainField] = {}
    for name in rules.arguments(function):
        domain = over.pop(name, sorts.get(name))
        if domain is None:
            known = ", ".join(sorts) or "none"
            raise rules.refuse(
                rules.trees[function.__name__],
                f"{function.__name__} has an argument {name!r}, which is the name of no sort "
                f"({known})",
                f"say what it ranges over: Action({function.__name__}, {name}=...)",
            )
        found[name] = plain_field(name, domain)
    if over:
        raise rules.refuse(
            rules.trees[function.__name__],
            f"{function.__name__} has no argument {next(iter(over))!r}",
            "leave it out of Action",
        )
    return found


def _initial(
    rules: Rules,
    protocol: Protocol,
    sorts: Mapping[str, Names],
    bounds: Mapping[str, int],
    form: Layout,
) -> tuple[Sequence[State], tuple[KitAction, Layout] | None]:
    lowest = State(form)
    if protocol.initial is None:
        return [lowest], None
    own: dict[str, int] = {}
    _, action, over = _action(rules, protocol.initial, sorts, own)
    sized = Layout(form.fields, sizes={**form.sizes, **own})
    start = Model(
        name="initial",
        version="initial",
        layout=sized,
        settings=Settings(),
        actions=(action,),
        contents=(action.name,),
        limits=("within", *bounds, *_sequences(protocol)),
        initial=(State(sized),),
        narration=narration(
            protocol.fields,
            tuple(sorts.values()),
            {action.name: ("", tuple(over.items()))},
        ),
        options={},
    )
    found = list(_starts(start, rules.file))
    if not found:
        raise BadProtocol(f"{action.name} makes no initial state; let a `when` of it be true")
    return found, (action, sized)


def _starts(start: Model, file: str) -> Iterator[State]:
    """The states that `initial` makes. Raises `RaisedAtStart`."""
    lowest, [action] = start.initial[0], start.actions
    for arguments in start.bindings(action):
        try:
            if start.is_enabled(lowest, action, arguments) and not start.exceeded(
                lowest, action, arguments
            ):
                yield start.apply(lowest, action, arguments)
        except Exception as error:
            called = start.narration.call(action.name, arguments, start)
            described = describe_error(error, start.narration)
            frames = traceback.extract_tb(error.__traceback__)
            line = next(f.lineno for f in reversed(frames) if f.filename == file)
            raise RaisedAtStart(
                f"{file}:{line}: {called}, which makes the initial states: {described}"
            ) from None
