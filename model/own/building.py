"""Builds a transition system and its claims from a declared protocol."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from waterline.model.core.claim import (
    ActionProperty,
    Behaviour,
    Invariant,
    Pattern,
    Reachable,
    Recoverable,
    Temporal,
    not_so_here,
)
from waterline.model.core.errors import RaisedAtStart
from waterline.model.core.layout import Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action as KitAction
from waterline.model.core.transition_system import Model, Parameter, describe_error
from waterline.model.own.data_sorts import Arguments, held_by, renamed_sorts, trusted_in
from waterline.model.own.declared import Action, Protocol
from waterline.model.own.fields import (
    AnyField,
    BadProtocol,
    Container,
    Epoch,
    Name,
    Names,
    SequenceField,
    Value,
)
from waterline.model.own.layout import digits_of, field_of, layout_of, limits_of
from waterline.model.own.mistakes import Noted
from waterline.model.own.narration import narration
from waterline.model.own.normal_form import NORMAL_FORM, Renamed, functions_of
from waterline.model.own.rules import Predicate, Rules
from waterline.model.own.sequence_code import in_first_places


class Settings(NamedTuple):
    """A protocol of one's own has none: its bounds are sizes of its layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A model and what its file claims of it, with what it was made of.

    `start` is the rule that made the initial states, its sizes in a layout of their own; None where
    every field has its first value. `renamed` are the sorts that have no bound.
    """

    model: Model
    always: tuple[Invariant, ...]
    every_step: tuple[ActionProperty, ...]
    sometimes: tuple[Reachable, ...]
    lemmas: tuple[Invariant, ...]
    behaviours: tuple[Behaviour, ...] = ()
    declared: Protocol
    start: tuple[KitAction, Layout] | None = None
    renamed: tuple[Renamed, ...] = ()


def build_model(
    protocol: Protocol,
    *,
    file: str,
    text: str,
    names: Mapping[str, Any],
    model: str,
    version: str,
    bounds: Mapping[str, int],
    options: Mapping[str, object],
    unbounded: bool = False,
) -> Built:
    """The model called `model` and `version` of a protocol declared in `file`, which has this text.

    `names` are what running the file has left. `options` are what makes the model again. One that
    is `unbounded` has a normal form for epochs and values; its bounds have room for that
    (`Renamed.most`). Raises `BadProtocol`.
    """
    sorts = {sort.name: sort for sort in protocol.sorts}
    form = layout_of(protocol, sorts, bounds)
    limits = limits_of(protocol, bounds)
    plurals = [sort.plural for sort in protocol.sorts]
    rules = Rules.of(
        file, text, names, protocol.fields, bounds, tuple(form.sizes), plurals, protocol.structs
    )
    renamed: tuple[Renamed, ...] = ()
    if unbounded:
        by_name = {field.name: field for field in form.fields}
        takes = [tuple(rules.arguments(each, protocol.takes).values()) for each in protocol.actions]
        renamed = renamed_sorts(protocol.fields, by_name, takes)
        for function in functions_of(renamed):
            rules.write(function)
    ranges: dict[str, int] = {}
    noted = Noted(rules.trees.values(), file)
    taken = noted.each(
        protocol.actions,
        lambda each: _action(rules, each, protocol, ranges, limits, renamed),
    )
    invariant = partial(_invariant, rules, protocol.sorts)
    always = noted.each(protocol.always, invariant)
    every_step = noted.each(protocol.every_step, partial(_property, rules, protocol.sorts))
    sometimes = noted.each(protocol.sometimes, partial(_reachable, rules))
    lemmas = noted.each(protocol.lemmas, invariant)
    behaviours = noted.each([protocol], lambda each: _behaviours(rules, each, sorts))
    starts = noted.each([protocol], lambda each: _initial(rules, each, limits, form))
    noted.require_none()
    [(first, start)] = starts
    weakly, strongly = protocol.fair_names, protocol.strongly_fair_names
    actions = [
        replace(each, weakly_fair=each.name in weakly, strongly_fair=each.name in strongly)
        for each in taken
    ]
    # Numbers that arguments range over are sizes too, known only now.
    form = layout_of(protocol, sorts, bounds, ranges)
    return Built(
        model=Model(
            name=model,
            version=version,
            layout=form,
            settings=Settings(),
            actions=tuple(actions),
            contents=tuple(action.name for action in actions),
            limits=limits,
            initial=tuple(dict.fromkeys(State(form, state.words) for state in first)),
            narration=narration(protocol),
            options=options,
            start=start[0] if start else None,
            normalise=rules.names[NORMAL_FORM] if unbounded else None,
            trusted=trusted_in(renamed, rules.names.__getitem__),
        ),
        always=always,
        every_step=every_step,
        sometimes=sometimes,
        lemmas=(*_lemmas_of_places(rules, protocol.fields), *lemmas),
        behaviours=behaviours[0],
        declared=protocol,
        start=start,
        renamed=renamed,
    )


def _invariant(rules: Rules, sorts: Sequence[Names], claim: Callable[..., Any]) -> Invariant:
    name, sentence, _, function = rules.claim(claim, (1,))
    explain = _explanation(rules, sorts, claim, f"{name} is False here")
    return Invariant(name=name, sentence=sentence, holds=function, explain=explain)


def _lemmas_of_places(rules: Rules, fields: Sequence[AnyField]) -> Iterator[Invariant]:
    """Lemmas that the values of queues, logs and bags stand where their operations put them."""
    for each in fields:
        if isinstance(each, SequenceField):
            name, sentence = f"places of {each.name}", f"The values of {each.name} come first."
            made = in_first_places(each, field_of(each).shape, f"__places_of_{each.name}__")
            explain = partial(not_so_here, sentence)
            holds = rules.write(made)
            yield Invariant(name=name, sentence=sentence, holds=holds, explain=explain)


def _property(rules: Rules, sorts: Sequence[Names], claim: Callable[..., Any]) -> ActionProperty:
    name, sentence, _, function = rules.claim(claim, (2,))
    explain = _explanation(rules, sorts, claim, f"{name} is False of the last step")
    return ActionProperty(name=name, sentence=sentence, keeps=function, explain=explain)


def _reachable(rules: Rules, claim: Callable[..., Any]) -> Reachable:
    name, sentence, function, begun = rules.happens(claim)
    return Reachable(name=name, sentence=sentence, happens=function, begun=begun)


def _explanation(
    rules: Rules, sorts: Sequence[Names], claim: Callable[..., Any], text: str
) -> Callable[..., str]:
    """Return what says of states where a claim is False, by its witness if it has one."""
    witness = rules.witness(claim)

    def explain(*given: Any) -> str:
        found = witness[1](*given) if witness else None
        if witness is None or found is None:
            return f"{text}."
        held: dict[str, AnyField] = {sort.plural: Name(sort.name, sort) for sort in sorts}
        sets = (each for each in rules.fields.values() if isinstance(each, Container))
        held |= {each.name: each.element for each in sets}
        described = [
            f"{variable} = {held[of].describe(value) if of in held else value}"
            for (variable, of), value in zip(witness[0], found, strict=True)
        ]
        return f"{text}, for {', '.join(described)}."

    return explain


def _action(
    rules: Rules,
    declared: Any,
    protocol: Protocol,
    ranges: dict[str, int],
    limits: Sequence[str],
    renamed: Sequence[Renamed] = (),
) -> KitAction:
    function = declared.function if isinstance(declared, Action) else declared
    over = rules.arguments(declared, protocol.takes)
    given = Arguments(over, limits, renamed)
    rule = rules.action(function, given)
    parameters = []
    for name, each in over.items():
        if isinstance(each, Name):
            parameters.append(Parameter(name, each.of.plural, held=held_by(each)))
        else:
            lo, hi = each.range
            size = f"{function.__name__}.{name}"
            # One epoch above the highest, so that it is counted what that cuts.
            ranges[size] = hi - lo + 1 + (given.are_cut and isinstance(each, Epoch))
            digits = digits_of(each.of) if isinstance(each, Value) else ()
            parameters.append(Parameter(name, size, digits, held_by(each)))
    return replace(rule, parameters=tuple(parameters))


def _initial(
    rules: Rules,
    protocol: Protocol,
    limits: tuple[str, ...],
    form: Layout,
) -> tuple[Sequence[State], tuple[KitAction, Layout] | None]:
    lowest = State(form)
    if protocol.initial is None:
        return [lowest], None
    own: dict[str, int] = {}
    action = _action(rules, protocol.initial, protocol, own, limits)
    sized = Layout(form.fields, sizes={**form.sizes, **own})
    start = Model(
        name="initial",
        version="initial",
        layout=sized,
        settings=Settings(),
        actions=(action,),
        contents=(action.name,),
        limits=limits,
        initial=(State(sized),),
        narration=narration(protocol, [protocol.initial]),
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
            if start.is_enabled(lowest, action, arguments) and not start.exceeded_limit(
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


# --- claims about behaviours --------------------------------------------------------------------


def _behaviours(
    rules: Rules, protocol: Protocol, sorts: Mapping[str, Names]
) -> tuple[Behaviour, ...]:
    """Return the protocol's claims about behaviours, in its order. Raises `BadProtocol`.

    Each is made of functions of a state. Where these take names as well, there is a claim for each
    of them.
    """
    kinds = (
        (Pattern.EVENTUALLY, "eventually", "In the end:", protocol.eventually),
        (
            Pattern.ALWAYS_EVENTUALLY,
            "always_eventually",
            "Again and again:",
            protocol.always_eventually,
        ),
    )
    found: list[Behaviour] = []
    for function in protocol.recoverable:
        good = rules.predicate(function)
        for bound, one in _each(rules, sorts, good):
            found.append(
                Recoverable(
                    name=one.name_of(f"recoverable_{good.name}"),
                    sentence=f"There is always a way to this: {one.describe(good)}",
                    good=rules.bound(good, bound),
                    explain=one.explains(f"{good.name} is False"),
                    default=True,
                )
            )
    for pattern, word, text, functions in kinds:
        for function in functions:
            then = rules.predicate(function)
            for bound, one in _each(rules, sorts, then):
                found.append(
                    Temporal(
                        name=one.name_of(f"{word}_{then.name}"),
                        sentence=f"{text} {one.describe(then)}",
                        pattern=pattern,
                        then=rules.bound(then, bound),
                        explain=one.explains(f"{then.name} stays False"),
                        default=True,
                    )
                )
    for first, second in protocol.leads_to:
        when, then = rules.predicate(first), rules.predicate(second)
        for bound, one in _each(rules, sorts, when, then):
            found.append(
                Temporal(
                    name=one.name_of(f"{when.name}_leads_to_{then.name}"),
                    sentence=f"{one.describe(when)} In the end then: {one.describe(then)}",
                    pattern=Pattern.LEADS_TO,
                    when=rules.bound(when, bound),
                    then=rules.bound(then, bound),
                    explain=one.explains(f"{then.name} stays False"),
                    default=True,
                )
            )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _One:
    """A claim about some names, as words: of each argument the name, as `node1`."""

    names: tuple[tuple[str, str], ...]

    def name_of(self, claim: str) -> str:
        """`waits_leads_to_enters.node1`"""
        return ".".join((claim, *(name for _, name in self.names)))

    def describe(self, predicate: Predicate) -> str:
        """Return the predicate's sentence with the names filled in."""
        text = predicate.sentence
        for argument, name in self.names:
            text = text.replace(f"{{{argument}}}", name)
        return text

    def explains(self, what: str) -> Callable[[Any, Any], str]:
        """Says it of a state."""
        whom = ", ".join(name for _, name in self.names)
        text = f"{what} for {whom}." if whom else f"{what}."
        return lambda state, settings: text


def _each(
    rules: Rules, sorts: Mapping[str, Names], *predicates: Predicate
) -> Iterator[tuple[Mapping[str, int], _One]]:
    """Every combination of names, by number, that the predicates take."""
    arguments: Sequence[str] = list(
        dict.fromkeys(name for each in predicates for name in each.arguments)
    )
    for each in predicates:
        for name in each.arguments:
            if name not in sorts:
                raise rules.refuse(
                    each.tree,
                    f"{each.name} has an argument {name!r}, which is the name of no sort "
                    f"({', '.join(sorts) or 'none'})",
                    "let it take a state, and names of sorts",
                )
    for values in itertools.product(*(range(sorts[name].count) for name in arguments)):
        text = ((n, sorts[n].describe(v)) for n, v in zip(arguments, values, strict=True))
        yield dict(zip(arguments, values, strict=True)), _One(tuple(text))
