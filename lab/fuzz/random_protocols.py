"""Random protocols of one's own: the text of a file, as a user would write it, made from a seed.

They have what docs/own-models.md has: fields of every kind, by names, by numbers and as tables;
arguments, bounds, several first states; claims of every kind. What they do is shaped so that claims
come out both ways: work that goes round, faults that a budget or a bound ends, tokens that are
handed on, steps that change nothing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from lab.fuzz.random_rules import Drawing, Made, indented

WORDS = ("idle", "busy", "done")
ALIKE = 0.3
"""How many of the protocols tell no two nodes apart."""
IDIOMS = 0.4
"""How many do something that a reduction is for."""
SPARSE = 0.35
"""How many have steps that hardly depend on one another, so that most claims need few of them."""
STRONG = 0.25
"""How many have strongly fair steps."""
SEES_LITTLE = 0.6
"""How many have claims that see only some of the fields."""
RAISES = 0.06
"""How many may have a step that raises."""
RISKY_ACTIONS, RISKY_CLAIMS = 0.03, 0.35
"""Of one that is risky, how many conditions of actions and of claims may raise."""
PROTOCOL = "drawn"


_ROWS = {name: Made(name, "number", "node", 0, 2) for name in ("a", "b", "h", "q")}
_ROWS["u"] = Made("u", "flag", "node")
_Step = tuple[str, tuple[str, ...]]
_IDIOMS: tuple[tuple[_Step, ...], ...] = (
    # A field that is written at leisure and read now and then.
    (
        ("s.h[node] != s.a[node]", ("s.h[node] = s.a[node]",)),
        ("s.a[node] == 2 and s.b[node] == 0", ("s.b[node] = s.h[node]",)),
        ("s.a[node] < 2", ("s.a[node] += 1",)),
    ),
    # Two such fields, of which one is written from the other.
    (
        ("s.q[node] != s.a[node]", ("s.q[node] = s.a[node]",)),
        ("s.a[node] == 2", ("s.h[node] = s.q[node]",)),
        ("s.a[node] == 2", ("s.b[node] = s.h[node]",)),
        ("s.a[node] < 2", ("s.a[node] += 1",)),
    ),
    # A request, its answer, and what is done with the answer, which may be nothing.
    (
        ("s.q[node] == 0 and s.b[node] != 1", ("s.q[node] = 1",)),
        ("s.q[node] == 1", ("s.q[node] = 2", "s.a[node] = min(s.a[node] + 1, 2)")),
        ("s.q[node] == 2", ("s.q[node] = 0", "s.b[node] = min(s.b[node], s.a[node])")),
    ),
    # What is switched off forgets how far it was; what is drawn beside it may break that.
    (
        ("not s.u[node] and s.total == 0", ("s.u[node] = True",)),
        ("s.u[node] and s.q[node] == 0", ("s.q[node] = 1",)),
        ("s.q[node] == 1 and s.b[node] != 1", ("s.q[node] = 2",)),
        ("s.u[node]", ("s.q[node] = 0", "s.u[node] = False")),
        ("not s.u[node] and s.a[node] < 2", ("s.b[node] = s.q[node]", "s.a[node] += 1")),
    ),
    # What was remembered is left behind, and replaced before anybody asks for it again.
    (
        ("not s.u[node] and s.total == 0", ("s.q[node] = s.a[node]", "s.u[node] = True")),
        ("s.u[node] and s.q[node] == 2", ("s.b[node] = 1",)),
        ("s.u[node]", ("s.u[node] = False",)),
        ("s.a[node] < 2", ("s.a[node] += 1",)),
    ),
)


@dataclass(slots=True)
class _Parts:
    """What a file is put together of."""

    functions: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    fair: list[str] = field(default_factory=list)
    strongly_fair: list[str] = field(default_factory=list)


def is_alike(seed: int) -> bool:
    """True if the protocol of a seed is one that tells no names apart."""
    return random.Random(seed).random() < ALIKE


def random_protocol(seed: int, *, risky: bool = False) -> str:
    """The text of a file with one protocol, the same for the same seed in every process.

    Claims of one that is `risky`, and now and then what an action asks, may raise an error; where,
    the bound `at` decides.
    """
    dice = random.Random(seed)
    drawing = Drawing(dice, alike=dice.random() < ALIKE, raises=dice.random() < RAISES)
    drawing.tables = random.Random(f"tables {seed}")
    drawing.fields = list(_fields(drawing))
    idiom = dice.choice(_IDIOMS) if drawing.chance(IDIOMS) else ()
    described = repr(idiom)
    drawing.fields += [made for name, made in _ROWS.items() if f"s.{name}[" in described]
    parts = _Parts()
    parts.functions += _called(drawing)
    drawing.risky = RISKY_ACTIONS if risky else 0.0
    fairness = dice.choice((0.0, 0.4, 0.75, 1.0, 1.0))
    if not idiom and drawing.chance(SPARSE):
        _sparse_actions(drawing, parts)
    else:
        for number in range(dice.randint(0, 2) if idiom else dice.randint(2, 6)):
            _action(drawing, parts, f"step{number}")
    for number, (guard, lines) in enumerate(idiom):
        asked = [f"when({guard})"]
        if drawing.chance(0.1):
            asked.append(f"within({_bounded(drawing)})")
        parts.functions += _function(f"row{number}", ["node"], "", [*asked, *lines])
        parts.actions.append(f"row{number}")
    dice.shuffle(parts.actions)
    names = [name.partition(",")[0].removeprefix("Action(") for name in parts.actions]
    parts.fair = [name for name in names if drawing.chance(fairness)]
    # Drawn by itself, so that of a seed all the rest is as it is without.
    other = random.Random(f"strong {seed}")
    if other.random() < STRONG:
        parts.strongly_fair = [name for name in names if other.random() < 0.5]
        parts.fair = [name for name in parts.fair if name not in parts.strongly_fair]
    initial, declared = _initial(drawing, parts), list(drawing.fields)
    if drawing.chance(SEES_LITTLE):
        seen = dice.sample(drawing.fields[1:], dice.randint(1, 2))
        if idiom:
            seen += [made for made in drawing.fields if made.name in {"a", "b"}]
        drawing.fields = [drawing.fields[0], *seen]
    drawing.risky = RISKY_CLAIMS if risky else 0.0
    claims = _claims(drawing, parts)
    nodes, most, odd = dice.choice((2, 2, 3)), dice.randint(0, 2), drawing.chance(0.5)
    fields = ", ".join(made.declared for made in declared)
    at = ", at: int = 0" if risky else ""
    head = [
        "from waterline import Action, Choice, Flag, Name, Names, Number, Protocol, when, within",
        "",
        "AHEAD = (1, 2, 0)",
        f"PRICE = {dict(zip(WORDS, range(len(WORDS)), strict=True))!r}",
        "",
        "",
        f"def {PROTOCOL}(most: int = {most}, odd: bool = {odd}{at}) -> Protocol:",
        f'    node = Names("node", {nodes})',
        "    return Protocol(",
        f"        fields=[{fields}],",
        *([f"        initial={initial},"] if initial else []),
        f"        actions=[{', '.join(parts.actions)}],",
        f"        fair=[{', '.join(parts.fair)}],",
        *(
            [f"        strongly_fair=[{strong}],"]
            if (strong := ", ".join(parts.strongly_fair))
            else []
        ),
        *(f"        {kind}=[{', '.join(given)}]," for kind, given in claims.items()),
        "    )",
    ]
    return "\n".join([*head, "", "", *parts.functions])


def _fields(drawing: Drawing) -> list[Made]:
    dice = drawing.dice
    made = [Made("total", "number", "", 0, dice.randint(1, 3))]
    for number in range(dice.randint(2, 5)):
        kind = dice.choice(("flag", "flag", "number", "choice", "choice", "name"))
        by = dice.choice(("", "", "node", "node", "two" if not number else "node"))
        if kind == "flag" and drawing.chance(0.12):
            by = "table"
        name = f"{kind[0]}{number}"
        if kind == "number":
            lowest = dice.choice((0, 0, 0, -1, 1))
            made.append(Made(name, kind, by, lowest, lowest + dice.randint(1, 2)))
        elif kind == "choice":
            words = WORDS if drawing.chance(0.6) and not by else WORDS[: dice.randint(2, 3)]
            made.append(Made(name, kind, by, words=words))
        elif kind == "name":
            made.append(Made(name, kind, "", or_none=drawing.chance(0.6)))
        else:
            made.append(Made(name, kind, by))
    if not any(each.by in {"node", "table"} for each in made):
        # A sort is one that some field is of.
        made.append(Made("own", "flag", "node"))
    if drawing.chance(0.35):
        made.append(Made("faults", "number", "", 0, 2))
    return made


def _called(drawing: Drawing) -> list[str]:
    """What actions call: a function that asks, and one that writes."""
    drawing.names = ["node"]
    asked = [f"if {drawing.atom()}:", "    return True", f"return {drawing.atom()}"]
    lines = [f"if {drawing.atom()}:", *indented([drawing.assignment()]), drawing.assignment()]
    drawing.names = []
    return _function("is_busy", ["node"], "", asked) + _function("settle", ["node"], "", lines)


def _function(name: str, arguments: list[str], described: str, lines: list[str]) -> list[str]:
    remark = [f'    """{described}"""'] if described else []
    return [f"def {name}({', '.join(['s', *arguments])}):", *remark, *indented(lines), "", ""]


def _action(drawing: Drawing, parts: _Parts, name: str) -> None:
    dice = drawing.dice
    shape = dice.choice(("none", "node", "node", "node", "pair", "number"))
    arguments, declared = {
        "none": ([], name),
        "node": (["node"], name),
        "pair": (["source", "target"], f"Action({name}, source=node, target=node)"),
        "number": (["k"], f"Action({name}, k=2)"),
    }[shape]
    drawing.names = [] if shape in {"none", "number"} else list(arguments)
    drawing.numbers = list(arguments) if shape == "number" else []
    asked, lines = _shaped(drawing)
    guard = list(asked)
    guard += [f"when({drawing.condition()})" for _ in range(dice.choice((0, 0, 0, 1)))]
    if drawing.chance(0.15):
        guard.insert(dice.randint(0, len(guard)), f"within({_bounded(drawing)})")
    if drawing.chance(0.15):
        guard = [f"seen = {drawing.number()}", *guard, "when(seen >= 0)"]
    parts.functions += _function(name, arguments, "", [*guard, *lines])
    parts.actions.append(declared)
    drawing.names, drawing.numbers = [], []


def _sparse_actions(drawing: Drawing, parts: _Parts) -> None:
    """Some fields that go round by themselves, and an action or two that look at them."""
    dice, fields = drawing.dice, drawing.fields
    moved = dice.sample(fields[1:], dice.randint(1, 2))
    for number, made in enumerate(moved):
        drawing.names = ["node"]
        place = drawing.place(made)
        assert place is not None, "there is a node to name"
        asked, lines = list[str](), [drawing.assignment((made, place))]
        if made.kind == "choice":
            one, other = made.words[0], dice.choice(made.words[1:])
            lines = [f'{place} = "{other}" if {place} == "{one}" else "{one}"']
        elif made.kind != "name":
            asked, lines = [], [_next(made, place)]
        parts.functions += _function(f"move{number}", ["node"], "", [*asked, *lines])
        parts.actions.append(f"move{number}")
    for number in range(dice.randint(1, 2)):
        drawing.names = ["node"] if drawing.chance(0.7) else []
        drawing.written = [made for made in fields if made not in moved]
        drawing.fields = [fields[0], *(fields if drawing.chance(0.2) else moved)]
        arguments = list(drawing.names)
        guard = [f"when({drawing.condition()})"] if drawing.chance(0.3) else []
        lines = drawing.branching(0.4 * dice.random()) or [drawing.assignment()]
        parts.functions += _function(f"look{number}", arguments, "", [*guard, *lines])
        parts.actions.append(f"look{number}")
        drawing.fields, drawing.written = fields, []
    drawing.names = []


def _next(made: Made, place: str) -> str:
    """From each value to the next one, and from the last to the first."""
    if made.kind == "flag":
        return f"{place} = not {place}"
    return f"{place} = {place} + 1 if {place} < {made.hi} else {made.lo}"


def _bounded(drawing: Drawing) -> str:
    """What a bound allows; it names the bound, and never raises."""
    counted = [made for made in drawing.fields if made.kind == "number" and not made.by]
    if drawing.chance(0.2):
        return f"s.most > 0 or {drawing.atom()}"
    return f"s.{drawing.dice.choice(counted).name} {drawing.dice.choice(('<', '<', '!='))} s.most"


def _shaped(drawing: Drawing) -> tuple[list[str], list[str]]:
    """What an action asks for, and what it does."""
    dice, kind = drawing.dice, drawing.dice.random()
    made, place = drawing.some(("flag", "number", "choice"))
    if kind < 0.35:
        return _moving(drawing, made, place)
    if kind < 0.5 and any(each.name == "faults" for each in drawing.fields):
        ask = dice.choice(("when", "within"))
        return [f"{ask}(s.faults < min(s.most, 2))"], ["s.faults += 1", *drawing.statements()]
    held = [each for each in drawing.fields if each.kind == "name"]
    if kind < 0.65 and held and drawing.names:
        one, other = drawing.names[0], drawing.names[-1]
        given = other if other != one or drawing.alike else f"({one} + 1) % s.nodes"
        token = f"s.{dice.choice(held).name}"
        return [f"when({token} == {one})"], [f"{token} = {given}", *drawing.statements()]
    asked = [f"when({drawing.condition()})" for _ in range(dice.choice((0, 1, 1, 2)))]
    return asked, [line for _ in range(dice.randint(1, 3)) for line in drawing.statements()]


def _moving(
    drawing: Drawing, made: Made, place: str, more: float = 0.4
) -> tuple[list[str], list[str]]:
    """From one value to the next, or round and round; so often something else beside that."""
    dice = drawing.dice
    beside = drawing.statements() if drawing.chance(more) else []
    if made.kind == "flag":
        asked = dice.choice(([f"when({place})"], [f"when(not {place})"], []))
        return asked, [f"{place} = not {place}", *beside]
    if made.kind == "choice":
        one, other = dice.sample(made.words, 2)
        return [f'when({place} == "{one}")'], [f'{place} = "{other}"', *beside]
    if drawing.chance(0.5):
        return [f"when({place} < {made.hi})"], [f"{place} += 1", *beside]
    return [f"when({place} == {made.hi})"], [f"{place} = {made.lo}", *beside]


def _initial(drawing: Drawing, parts: _Parts) -> str:
    """The name of what makes the first states, if there is anything."""
    kind = drawing.dice.random()
    if kind < 0.4:
        return ""
    arguments, declared = ([], "start") if kind < 0.6 else (["node"], "start")
    if kind >= 0.85:
        arguments, declared = ["k"], "Action(start, k=3)"
    drawing.names = [name for name in arguments if name == "node"]
    lines = [drawing.assignment() for _ in range(drawing.dice.randint(1, 3))]
    if arguments == ["k"]:
        made = drawing.dice.choice([each for each in drawing.fields if each.kind == "number"])
        place = drawing.place(made)
        if place is not None:
            lines.append(f"{place} = min({made.hi}, {made.lo} + k)")
        lines = ["when(k != 1)", *lines] if drawing.chance(0.3) else lines
    parts.functions += _function("start", arguments, "", lines)
    drawing.names = []
    return declared


def _claims(drawing: Drawing, parts: _Parts) -> dict[str, list[str]]:
    dice, found, functions = drawing.dice, dict[str, list[str]](), parts.functions

    def predicate(name: str, named: float, good: float) -> str:
        """A function of a state, perhaps of a node; so often one that is seldom true."""
        drawing.names = ["node"] if drawing.chance(named) else []
        arguments = list(drawing.names)
        if drawing.chance(0.06):
            described = dice.choice(("True", "False", "s.most >= 0", "s.total > 7"))
        elif drawing.chance(good):
            described = drawing.condition()
        else:
            described = f"{drawing.atom()} and {drawing.condition()}"
        functions.extend(_function(name, arguments, "", [f"return {described}"]))
        drawing.names = []
        return name

    def several(kind: str, most: int, named: float, good: float) -> None:
        names = [f"{kind}_{number}" for number in range(dice.randint(0, most))]
        found[kind] = [predicate(name, named, good) for name in names]

    for number in range(dice.randint(1, 2)):
        name = f"always_{number}"
        functions.extend(_function(name, [], "", [f"return not ({_seldom(drawing)})"]))
        found.setdefault("always", []).append(name)
    found["every_step"], found["sometimes"] = [], []
    for kind in ("every_step", "sometimes"):
        least = 1 if drawing.risky and kind == "sometimes" else 0
        for number in range(dice.randint(least, 2)):
            name = f"{kind}_{number}"
            before = drawing.atom()
            drawing.state = "t"
            after = drawing.condition() if drawing.risky else drawing.atom()
            drawing.state = "s"
            described = f"{before} and {after}"
            of_steps = kind == "every_step" or drawing.chance(0.5)
            described = f"not ({described})" if kind == "every_step" else described
            described = described if of_steps else _seldom(drawing)
            found[kind].append(name)
            arguments = ["t"] if of_steps else []
            functions.extend(_function(name, arguments, "", [f"return {described}"]))
    several("recoverable", 2, 0.3, 0.4)
    several("eventually", 1, 0.3, 0.5)
    several("always_eventually", 1, 0.3, 0.6)
    found["leads_to"] = []
    for number in range(dice.randint(0, 2)):
        pair = predicate(f"asks_{number}", 0.4, 0.8), predicate(f"gets_{number}", 0.4, 0.6)
        found["leads_to"].append(f"({', '.join(pair)})")
    return found


def _seldom(drawing: Drawing) -> str:
    atoms = [drawing.atom() for _ in range(drawing.dice.randint(1, 3))]
    return " and ".join([*atoms, drawing.condition()])
