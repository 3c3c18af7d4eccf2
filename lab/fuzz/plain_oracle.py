"""What a protocol of one's own comes to, straight from the documents: an oracle to compare with.

Nothing of the model, the compiler or the checker is used. The text of the file is run as the Python
that it is, on states that are plain values; every state and step is listed; what is claimed is
looked up in the lists. Of a few thousand states, slowly.

What the documents say (docs/language.md): a step that changes nothing is no step; one that a bound
cuts counts as enabled and is never taken. Where a behaviour can stay for ever is a strongly
connected part in which each fair step, with the same arguments, is taken, or somewhere not enabled;
a strongly fair one nowhere.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx

Frozen = tuple[Any, ...]
Call = tuple[str, tuple[int, ...]]
Sees = Callable[[Frozen], bool]


class Raised(Exception):
    """A rule or a claim went wrong: a value out of range, an index that is not there."""


class TooLarge(Exception):
    """More states than are worth listing."""


class _NotEnabled(Exception):
    pass


@dataclass(frozen=True)
class _Names:
    name: str
    count: int


@dataclass(frozen=True)
class Declared:
    """A field: the values that an element may have, and the indices that there are."""

    name: str
    values: tuple[Any, ...]
    by: Any
    is_name: bool = False

    @cached_property
    def indices(self) -> list[Any]:
        """() for a single value; else numbers, or pairs of them."""
        by = self.by if isinstance(self.by, tuple) else (self.by,)
        extents = [each.count if isinstance(each, _Names) else each for each in by]
        pairs = itertools.product(*map(range, extents))
        return [pair[0] if len(pair) == 1 else pair for pair in pairs]


class _Elements:
    """What a rule sees of a field with indices."""

    def __init__(self, declared: Declared, values: dict[Any, Any]) -> None:
        self._declared, self._values = declared, values

    def __getitem__(self, index: Any) -> Any:
        if index not in self._values:
            raise Raised(f"{self._declared.name}[{index}]")
        return self._values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self[index]
        self._values[index] = _kept(self._declared, value)


def _kept(declared: Declared, value: Any) -> Any:
    for known in declared.values:
        if known == value:
            return known
    raise Raised(f"{declared.name} = {value}")


class _Seen:
    """What a rule sees of a state: its fields, bounds and how many names there are."""

    def __init__(self, plain: Oracle, state: Frozen) -> None:
        values = {
            declared.name: value
            if declared.by == ()
            else _Elements(declared, dict(zip(declared.indices, value, strict=True)))
            for declared, value in zip(plain.fields, state, strict=True)
        }
        object.__setattr__(self, "_plain", plain)
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name: str) -> Any:
        return self._values[name] if name in self._values else self._plain.sizes[name]

    def __setattr__(self, name: str, value: Any) -> None:
        [declared] = [each for each in self._plain.fields if each.name == name]
        self._values[name] = _kept(declared, value)

    @property
    def frozen(self) -> Frozen:
        """The state that it is now."""
        return tuple(
            tuple(value._values.values()) if isinstance(value, _Elements) else value
            for value in self._values.values()
        )


@dataclass
class Told:
    """What a claim comes to: `depth` of a violation, states that a bound leaves open."""

    violated: bool
    depth: int | None = None
    unjudged: int = 0


@dataclass
class Oracle:
    """A protocol, explored: of each state its steps, loops among them, and what is cut."""

    text: str
    states_max: int = 3000
    depth: dict[Frozen, int] = field(default_factory=dict)
    steps: dict[Frozen, list[tuple[Call, Frozen]]] = field(default_factory=dict)
    cut: dict[Frozen, set[Call]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._beyond = False
        names: dict[str, Any] = {"when": _when, "within": self._within}
        names |= {"Flag": _flag, "Number": _number, "Choice": _choice, "Name": _name}
        names |= {"Names": _Names, "Action": lambda function, **over: (function, over)}
        names |= {"Protocol": lambda **declared: declared}
        body = compile(self.text.partition("\n")[2], "drawn", "exec", dont_inherit=True)
        exec(body, names)
        [called] = re.findall(r"^def (\w+)\(.*\) -> Protocol:", self.text, re.MULTILINE)
        made = names[called]
        bounds = {name: p.default for name, p in inspect.signature(made).parameters.items()}
        self.declared: dict[str, Any] = made()
        self.fields: list[Declared] = self.declared["fields"]
        found = [*bounds.items(), *((f"{s.name}s", s.count) for s in self._sorts())]
        self.sizes: dict[str, Any] = dict(found)
        strong = self.declared.get("strongly_fair", ())
        self.strongly_fair = {_of(each)[0].__name__ for each in strong}
        self.fair = {_of(each)[0].__name__ for each in self.declared["fair"]} | self.strongly_fair
        self._explore()

    def _sorts(self) -> Iterator[_Names]:
        yield _Names("node", self._nodes)

    @cached_property
    def _nodes(self) -> int:
        head = self.text.partition('Names("node", ')[2]
        return int(head.partition(")")[0])

    def _within(self, condition: Any) -> None:
        self._beyond = self._beyond or not condition

    # --- every state and step -------------------------------------------------------------------

    @cached_property
    def calls(self) -> list[tuple[Call, Callable[..., Any]]]:
        """Every action with every choice of arguments, in the order of the file."""
        return [call for each in self.declared["actions"] for call in self._calls_of(each)]

    def _calls_of(self, declared: Any) -> Iterator[tuple[Call, Callable[..., Any]]]:
        function, over = _of(declared)
        arguments = list(inspect.signature(function).parameters)[1:]
        extents = [over.get(name, _Names("node", self._nodes)) for name in arguments]
        counts = [each.count if isinstance(each, _Names) else each for each in extents]
        for values in itertools.product(*map(range, counts)):
            yield (function.__name__, values), function

    def _taken(
        self, state: Frozen, call: Call, function: Callable[..., Any]
    ) -> tuple[Frozen | None, bool]:
        """Where it leads, None where it is not enabled; and whether a bound cuts it."""
        seen = _Seen(self, state)
        self._beyond = False
        try:
            function(seen, *call[1])
        except _NotEnabled:
            return None, False
        except (Raised, ArithmeticError):
            if not self._beyond:
                raise
        return (None, True) if self._beyond else (seen.frozen, False)

    @cached_property
    def initial(self) -> list[Frozen]:
        """The first states, in order."""
        lowest = tuple(
            tuple(each.values[0] for _ in each.indices) if each.by != () else each.values[0]
            for each in self.fields
        )
        start = self.declared.get("initial")
        if start is None:
            return [lowest]
        found = [self._taken(lowest, *call)[0] for call in self._calls_of(start)]
        return list(dict.fromkeys(state for state in found if state is not None))

    def _explore(self) -> None:
        level = self.initial
        self.depth = dict.fromkeys(level, 0)
        while level:
            following = []
            for state in level:
                self.steps[state], self.cut[state] = [], set()
                for call, function in self.calls:
                    after, is_cut = self._taken(state, call, function)
                    if is_cut:
                        self.cut[state].add(call)
                    if after is None:
                        continue
                    self.steps[state].append((call, after))
                    if after not in self.depth:
                        self.depth[after] = self.depth[state] + 1
                        following.append(after)
            if len(self.depth) > self.states_max:
                raise TooLarge
            level = following

    def element(self, state: Frozen, declared: Declared, index: Any) -> Any:
        """What an element of a field is in a state."""
        value = state[self.fields.index(declared)]
        return value if declared.by == () else value[declared.indices.index(index)]

    # --- claims ---------------------------------------------------------------------------------

    def sees(self, function: Callable[..., Any], named: Mapping[str, int]) -> Sees:
        """A function of a state, and of names, as one of a state."""
        given = [named[name] for name in list(inspect.signature(function).parameters)[1:]]
        known: dict[Frozen, bool] = {}

        def found(state: Frozen) -> bool:
            if state not in known:
                known[state] = bool(function(_Seen(self, state), *given))
            return known[state]

        return found

    def on(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of states as rules see them, as one of plain values."""
        return lambda *states: function(*(_Seen(self, state) for state in states))

    def asked(self, *functions: Callable[..., Any]) -> Iterator[tuple[str, list[Sees]]]:
        """A claim for each choice of the names that its functions take."""
        taken = [list(inspect.signature(each).parameters)[1:] for each in functions]
        names = list(dict.fromkeys(name for each in taken for name in each))
        for values in itertools.product(range(self._nodes), repeat=len(names)):
            named = dict(zip(names, values, strict=True))
            suffix = "".join(f".{name}{value}" for name, value in named.items())
            yield suffix, [self.sees(each, named) for each in functions]

    def judged(self) -> dict[str, Told]:
        """What each claim about states and steps comes to."""
        found = {}
        for function in self.declared.get("always", ()):
            holds = self.sees(function, {})
            found[function.__name__] = _least(self.depth[s] for s in self.depth if not holds(s))
        for function in self.declared.get("every_step", ()):
            found[function.__name__] = _least(
                self.depth[before] + 1
                for before, after in self._pairs()
                if not function(_Seen(self, before), _Seen(self, after))
            )
        return found

    def happened(self) -> dict[str, int | None]:
        """When each thing that must happen does, as a step; 0 for an initial state."""
        found = {}
        for function in self.declared.get("sometimes", ()):
            if len(inspect.signature(function).parameters) == 1:
                is_so = self.sees(function, {})
                depths = (depth for state, depth in self.depth.items() if is_so(state))
            else:
                depths = (
                    self.depth[before] + 1
                    for before, after in self._pairs()
                    if function(_Seen(self, before), _Seen(self, after))
                )
            found[function.__name__] = min(depths, default=None)
        return found

    def _pairs(self) -> Iterator[tuple[Frozen, Frozen]]:
        for before, steps in self.steps.items():
            for _, after in steps:
                yield before, after

    def behaviours(self) -> dict[str, Told]:
        """What each claim about what follows comes to."""
        found = {}
        for claim, (pattern, _, then) in self.claims.items():
            if pattern == "recoverable":
                found[claim] = self._recovery(then)
            else:
                found[claim] = self._liveness(claim)
        return found

    @cached_property
    def claims(self) -> dict[str, tuple[str, Sees, Sees]]:
        """Those about what follows, by name: their pattern, `when` and `then`."""
        found: dict[str, tuple[str, Sees, Sees]] = {}
        for pattern in ("recoverable", "eventually", "always_eventually"):
            for function in self.declared.get(pattern, ()):
                for suffix, [then] in self.asked(function):
                    name = f"{pattern}_{function.__name__}{suffix}"
                    found[name] = pattern, lambda state: True, then
        for pair in self.declared.get("leads_to", ()):
            for suffix, [first, then] in self.asked(*pair):
                name = f"{pair[0].__name__}_leads_to_{pair[1].__name__}{suffix}"
                found[name] = "leads_to", first, then
        return found

    # --- recovery -------------------------------------------------------------------------------

    def can_reach(self, state: Frozen) -> set[Frozen]:
        """All that the fair steps lead to, the state itself among it."""
        found, waiting = {state}, [state]
        while waiting:
            for (name, _), after in self.steps[waiting.pop()]:
                if name in self.fair and after not in found:
                    found.add(after)
                    waiting.append(after)
        return found

    @cached_property
    def _reach(self) -> dict[Frozen, set[Frozen]]:
        return {state: self.can_reach(state) for state in self.depth}

    def is_open(self, state: Frozen) -> bool:
        """True if a bound cuts a fair step there."""
        return any(name in self.fair for name, _ in self.cut[state])

    def is_stuck(self, state: Frozen, good: Sees) -> bool:
        """No way back from there, whatever the bounds."""
        return not any(good(each) or self.is_open(each) for each in self._reach[state])

    def _recovery(self, good: Sees) -> Told:
        described = _least(self.depth[state] for state in self.depth if self.is_stuck(state, good))
        for reach in self._reach.values():
            if not any(map(good, reach)) and any(map(self.is_open, reach)):
                described.unjudged += 1
        return described

    # --- liveness -------------------------------------------------------------------------------

    def is_enabled(self, state: Frozen, call: Call, *, cut_counts: bool = True) -> bool:
        """True if it would change something, or, if that counts, is cut."""
        if call in self.cut[state]:
            return cut_counts
        return any(each == call and after != state for each, after in self.steps[state])

    def is_fair(self, states: Collection[Frozen], *, cut_counts: bool = True) -> bool:
        """True if a fair behaviour can go through all of these for ever, and through no others."""
        for call, _ in self.calls:
            if call[0] not in self.fair:
                continue
            if all(self.is_enabled(state, call, cut_counts=cut_counts) for state in states):
                taken = any(
                    each == call and after in states and after != state
                    for state in states
                    for each, after in self.steps[state]
                )
                if not taken:
                    return False
        return True

    def staying(self, then: Sees, *, cut_counts: bool = True) -> set[Frozen]:
        """Where a fair behaviour can go round for ever and never come to `then` any more."""
        graph: nx.DiGraph = nx.DiGraph()
        graph.add_nodes_from(state for state in self.depth if not then(state))
        graph.add_edges_from(
            (s, t) for s, t in self._pairs() if s != t and s in graph and t in graph
        )
        found: set[Frozen] = set()
        waiting = [set(part) for part in nx.strongly_connected_components(graph)]
        while waiting:
            part = waiting.pop()
            if not self.is_fair(part, cut_counts=cut_counts):
                continue
            shunned = {s for s in part if self.owes(s, part, cut_counts=cut_counts)}
            if shunned:
                rest = graph.subgraph(part - shunned)
                waiting += [set(smaller) for smaller in nx.strongly_connected_components(rest)]
            else:
                found |= part
        return found

    def owes(self, state: Frozen, part: Collection[Frozen], *, cut_counts: bool = True) -> bool:
        """True if it enables a strongly fair step that is not taken within the part."""
        return any(
            self.is_enabled(state, call, cut_counts=cut_counts)
            and not any(
                each == call and after in part and after != before
                for before in part
                for each, after in self.steps[before]
            )
            for call, _ in self.calls
            if call[0] in self.strongly_fair
        )

    def arrived(self, claim: str) -> dict[Frozen, int]:
        """After how many steps at the least each state is reached in which one still waits."""
        pattern, when, then = self.claims[claim]
        if pattern == "eventually":
            begins = {state: 0 for state in self.initial if not then(state)}
        else:
            begins = {
                state: depth
                for state, depth in self.depth.items()
                if not then(state) and (pattern == "always_eventually" or when(state))
            }
        found: dict[Frozen, int] = {}
        last, steps = max(begins.values(), default=-1), 0
        arriving = {state for state, depth in begins.items() if depth == 0}
        while arriving or steps <= last:
            found |= dict.fromkeys(arriving, steps)
            after = {t for s in arriving for _, t in self.steps[s] if not then(t)}
            steps += 1
            after |= {state for state, depth in begins.items() if depth == steps}
            arriving = after - set(found)
        return found

    def _liveness(self, claim: str) -> Told:
        then, arrived = self.claims[claim][2], self.arrived(claim)
        staying = self.staying(then)
        described = _least(arrived[state] for state in staying if state in arrived)
        perhaps = self.staying(then, cut_counts=False)
        described.unjudged = len((perhaps - staying) & set(arrived))
        return described


def _least(depths: Iterable[int]) -> Told:
    found = min(depths, default=None)
    return Told(found is not None, found)


def _of(declared: Any) -> tuple[Callable[..., Any], Mapping[str, Any]]:
    return declared if isinstance(declared, tuple) else (declared, {})


def _when(condition: Any) -> None:
    if not condition:
        raise _NotEnabled


def _flag(name: str, by: Any = ()) -> Declared:
    return Declared(name, (False, True), by)


def _number(name: str, lo: int, hi: int, by: Any = ()) -> Declared:
    return Declared(name, tuple(range(lo, hi + 1)), by)


def _choice(name: str, *words: str, by: Any = ()) -> Declared:
    return Declared(name, words, by)


def _name(name: str, of: _Names, or_none: bool = False, by: Any = ()) -> Declared:
    return Declared(name, ((None,) if or_none else ()) + tuple(range(of.count)), by, is_name=True)
