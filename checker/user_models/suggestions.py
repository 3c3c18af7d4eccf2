"""Lemmas suggested for a user's model: clauses that exclude a counterexample to induction.

A literal compares fields with each other, with a name, a word, None or the least value, or asks
for a member of a set. A clause is the disjunction of up to three literals, for every name or for
every two. One is suggested if it is true in all states that were reached, within the bounds
given and within larger ones, and false in the state of the counterexample.
Truths are kept as numbers with a bit for each state and choice of names. Whether a suggestion is
an invariant is for the search and the proof to say.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from waterline.checker.proof.counterexample import Counterexample
from waterline.checker.proof.obligations import Theorem
from waterline.checker.user_models.loading import OwnFile
from waterline.model.core.layout import Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.own.building import Built
from waterline.model.own.fields import (
    NONE,
    AnyField,
    Choice,
    Epoch,
    Flag,
    Name,
    Names,
    Number,
    Set,
)
from waterline.model.own.state_class import state_of

REACHED_MAX, DRAWN = 4_000, 300
"""States taken within each bounds, and drawn at random to see which clause says more."""
SHOWN = 3
_PAIRS_ONLY = 90
"""With more literals than these a clause has two at most."""
_Value = Callable[[State, Sequence[int]], int]


class Term(NamedTuple):
    """A field with the variables at its indices."""

    text: str
    field: AnyField
    value: _Value


class Literal(NamedTuple):
    """A condition as Python has it, and its value."""

    text: str
    holds: Callable[[State, Sequence[int]], bool]


class Row(NamedTuple):
    """A state, and names for the variables."""

    state: State
    names: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A clause for all names of `sorts`, two of the same sort being different."""

    sorts: tuple[Names, ...]
    literals: tuple[str, ...]
    drawn: int

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Simple ones first, of these those that are true of fewer states drawn at random."""
        return len(self.literals), len(self.sorts), self.drawn, " or ".join(self.literals)

    def function(self, name: str, state: str) -> str:
        """The clause as a function of Python, to be pasted into the model."""
        clause = " or ".join((*_different(self.sorts), *self.literals))
        loops = [f"for {v} in s.{sort.plural}" for v, sort in zip("ij", self.sorts, strict=False)]
        body = "\n".join(f"        {line}" for line in (clause, *loops))
        returned = f"all(\n{body}\n    )" if loops else clause
        said = f"Suggested: {' or '.join(self.literals)}."
        return f'def {name}(s: {state}) -> bool:\n    """{said}"""\n    return {returned}\n'


def suggest(
    own: OwnFile, built: Built, theorem: Theorem, sizes: dict[str, int], found: Counterexample
) -> tuple[list[str], int]:
    """Lemmas that exclude the state before a step out of the lemmas, as functions of Python.

    With them how many states they are true of.
    """
    fields, larger = built.declared.fields, {name: size + 1 for name, size in sizes.items()}
    reached = [
        state
        for within in (sizes, larger)
        for state in itertools.islice(_reach(theorem.model(within)), REACHED_MAX)
    ]
    draw = random.Random(1)
    drawn = [_any_state(found.before.layout, fields, draw) for _ in range(DRAWN)]
    sorts = dict.fromkeys(at for each in fields for at in each.indices if isinstance(at, Names))
    suggested: list[Suggestion] = []
    for chosen in ((), *((sort,) for sort in sorts), *((sort, sort) for sort in sorts)):
        literals = list(_literals(fields, chosen))
        rows = [list(_rows(states, chosen)) for states in (reached, [found.before], drawn)]
        for texts, count in _clauses(literals, *rows):
            if all(any(f"[{v}" in t or f" {v}]" in t for t in texts) for v in "ij"[: len(chosen)]):
                suggested.append(Suggestion(chosen, texts, count))
    state = state_of(own.protocols[built.model.version])
    free = (n for k in itertools.count(1) if (n := f"suggested_{k}") not in own.names)
    best = sorted(dict.fromkeys(suggested), key=lambda each: each.order)[:SHOWN]
    name_of_state = "State" if state is None else state.__name__
    return [each.function(next(free), name_of_state) for each in best], len(reached)


def _clauses(
    literals: list[Literal], reached: list[Row], before: list[Row], drawn: list[Row]
) -> Iterator[tuple[tuple[str, ...], int]]:
    """Clauses true in all rows reached and false in one of those before; how many drawn ones fit.

    No clause has another one of these as a part.
    """
    every = (1 << len(reached)) - 1
    for row in before:
        false = [each for each in literals if not each.holds(*row)]
        truths = [_bits(each, reached) for each in false]
        some = [k for k, truth in enumerate(truths) if truth]
        found: list[set[int]] = []
        for length in (1, 2, 3) if len(some) <= _PAIRS_ONLY else (1, 2):
            for chosen in itertools.combinations(some, length):
                together = 0
                for k in chosen:
                    together |= truths[k]
                if together == every and not any(part <= {*chosen} for part in found):
                    found.append({*chosen})
                    fits = 0
                    for k in chosen:
                        fits |= _bits(false[k], drawn)
                    yield tuple(false[k].text for k in chosen), fits.bit_count()
            if found:
                break


def _bits(literal: Literal, rows: list[Row]) -> int:
    return sum(1 << k for k, row in enumerate(rows) if literal.holds(*row))


def _reach(model: Model) -> Iterator[State]:
    """All reachable states, breadth first."""
    seen = dict.fromkeys(model.initial)
    waiting = [*seen]
    for state in waiting:
        yield state
        for step in model.successors(state):
            if step.after not in seen:
                seen[step.after] = None
                waiting.append(step.after)


def _any_state(layout: Layout, fields: Sequence[AnyField], draw: random.Random) -> State:
    draft = State(layout).draft()
    for declared in fields:
        for index in layout.elements[declared.name]:
            number = draw.randint(*declared.range)
            if index == ():
                setattr(draft, declared.name, number)
            elif not isinstance(index, int):
                getattr(draft, declared.name)[index] = number
    return draft.freeze()


def _rows(states: Sequence[State], sorts: Sequence[Names]) -> Iterator[Row]:
    for state in states:
        ranges = [range(state.layout.sizes[sort.plural]) for sort in sorts]
        for names in itertools.product(*ranges):
            if len({*names}) == len(names):
                yield Row(state, names)


def _different(sorts: Sequence[Names]) -> tuple[str, ...]:
    return ("i == j",) if len(sorts) == 2 else ()


# --- the grammar ---------------------------------------------------------------------------------


def _terms(fields: Sequence[AnyField], sorts: Sequence[Names]) -> Iterator[Term]:
    """Every field of single values, at every choice of variables for its indices."""
    for declared in fields:
        places = [[k for k, sort in enumerate(sorts) if sort == at] for at in declared.indices]
        if not isinstance(declared, Flag | Number | Choice | Name | Set):
            continue
        for chosen in itertools.product(*places):
            index = f"[{', '.join('ij'[k] for k in chosen)}]" if chosen else ""
            yield Term(f"s.{declared.name}{index}", declared, _reader(declared.name, chosen))


def _reader(name: str, chosen: tuple[int, ...]) -> _Value:
    match chosen:
        case ():
            return lambda s, names: int(getattr(s, name))
        case (k,):
            return lambda s, names: int(getattr(s, name)[names[k]])
    return lambda s, names: int(getattr(s, name)[tuple(names[k] for k in chosen)])


def _literals(fields: Sequence[AnyField], sorts: Sequence[Names]) -> Iterator[Literal]:
    terms = list(_terms(fields, sorts))
    for term in terms:
        yield from _of_one(term, sorts)
    for one, other in itertools.combinations(terms, 2):
        yield from _of_two(one, other)


def _of_one(term: Term, sorts: Sequence[Names]) -> Iterator[Literal]:
    text, declared, value = term
    match declared:
        case Flag():
            yield Literal(text, lambda s, n: value(s, n) == 1)
            yield Literal(f"not {text}", lambda s, n: value(s, n) == 0)
        case Number(lo=lo):
            yield from _either(f"{text} {{}} {lo}", value, _constant(lo))
        case Choice(values=words):
            for place, word in enumerate(words):
                yield from _either(f'{text} {{}} "{word}"', value, _constant(place))
        case Name(or_none=True):
            yield Literal(f"{text} is None", lambda s, n: value(s, n) == NONE)
            yield Literal(f"{text} is not None", lambda s, n: value(s, n) != NONE)
    if not isinstance(declared, Name | Set):
        return
    for k in (k for k, sort in enumerate(sorts) if sort == declared.of):
        if isinstance(declared, Set):
            yield from _membership(f"{'ij'[k]} {{}} {text}", value, k)
        else:
            yield from _either(f"{text} {{}} {'ij'[k]}", value, _variable(k))


def _constant(number: int) -> _Value:
    return lambda s, n: number


def _variable(k: int) -> _Value:
    return lambda s, n: n[k]


def _membership(text: str, members: _Value, k: int) -> Iterator[Literal]:
    yield Literal(text.format("in"), lambda s, n: members(s, n) >> n[k] & 1 == 1)
    yield Literal(text.format("not in"), lambda s, n: members(s, n) >> n[k] & 1 == 0)


def _of_two(one: Term, other: Term) -> Iterator[Literal]:
    a, b = one.value, other.value
    match one.field, other.field:
        case Epoch(of=sort), Epoch(of=same) if sort == same:
            is_ordered = True
        case (Epoch(), _) | (_, Epoch()):
            return
        case Number(), Number():
            is_ordered = True
        case Name(of=sort), Name(of=same) if sort == same:
            is_ordered = False
        case Choice(values=words), Choice(values=same) if words == same:
            is_ordered = False
        case _:
            return
    yield from _either(f"{one.text} {{}} {other.text}", a, b)
    if is_ordered:
        yield Literal(f"{one.text} <= {other.text}", lambda s, n: a(s, n) <= b(s, n))
        yield Literal(f"{other.text} <= {one.text}", lambda s, n: b(s, n) <= a(s, n))
        yield Literal(f"{one.text} < {other.text}", lambda s, n: a(s, n) < b(s, n))
        yield Literal(f"{other.text} < {one.text}", lambda s, n: b(s, n) < a(s, n))


def _either(text: str, a: _Value, b: _Value) -> Iterator[Literal]:
    """That two values are the same, and that they are not."""
    yield Literal(text.format("=="), lambda s, n: a(s, n) == b(s, n))
    yield Literal(text.format("!="), lambda s, n: a(s, n) != b(s, n))
