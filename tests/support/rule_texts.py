"""Small models with rules made at random, for two ways of running them to be compared.

Rules here use all that rules can say, but for what plain Python and the checker take otherwise: a
field that may be None is compared with names alone, and only a name is stored in it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

_WORDS = ("'a'", "'b'", "'c'", "WORD")
_HEAD = '''\
"""Made at random."""

from waterline import Action, Choice, Flag, Log, Name, Names, Number, Protocol, Queue, Set
from waterline import when, within

WORD = "b"
NEXT = (2, 0, 1)
ROWS = ((1, -1, 3), [0], ())
PAIRS = [(0, 1), (1, 0), (2, 3)]
COST = {{"a": 1, "b": 3, "c": 0}}
AFTER = {{"a": "b", "b": "c", "c": "a"}}
HEIR = {{None: 0, 0: 1, 1: None}}
GROUPS = (frozenset({{0}}), frozenset({{0, 1}}))


def made(nodes: int = 2, top: int = 3, low: int = 2, big: bool = {big}) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Number("n", 0, 4),
            Number("m", -1, 3, by=node),
            Flag("f", by=node),
            Choice("c", "a", "b", "c", by=node),
            Name("h", node, or_none=True),
            Name("p", node, or_none=True),
            Name("k", node),
            Flag("t", by=(node, 2)),
            Set("u", of=node, by=node),
            Set("w", of=4),
            Set("y", of=("a", "b", "c")),
            Queue("q", of=("a", "b", "c"), room=2, by=node),
            Log("l", of=range(-1, 3), room=3, by=node),
            Log("g", of=range(-1, 3), room=2),
            Number("z", 0, 1, by=(node, 2, 2)),
        ],
        actions=[act0, Action(act1, other=node), Action(act2, other=node, number=2)],
        always=[claim],
        every_step=[step_claim],
    )


def helper(s, x):
    if x > 2:
        return s.n
    return x


def is_less(s, node, other):
    return s.m[node] < s.m[other]


def change(s, node):
    s.f[node] = not s.f[node]
    if s.n > 2:
        s.n = 0

'''


def rule_text(seed: int) -> str:
    """The file of this number."""
    made = _Rules(random.Random(seed))
    head = _HEAD.format(big=made.chance.random() < 0.5)
    return head + "\n\n".join(made.functions()) + "\n"


class _Rules:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.other = "node"
        self.number = "1"

    def functions(self) -> list[str]:
        acts = [self._action("act0", ("node",))]
        self.other = "other"
        acts.append(self._action("act1", ("node", "other")))
        self.number = "number"
        acts.append(self._action("act2", ("node", "other", "number")))
        self.other, self.number = "0", "0"
        claim = f"def claim(s):\n    node = 0\n    v = 2\n    return {self._truth(3)}"
        step = f"def step_claim(s, t):\n    node = 1\n    v = 0\n    return {self._truth(2)}"
        return [*acts, claim, step]

    def _pick(self, of: Sequence[Callable[[], str]]) -> str:
        return self.chance.choice(of)()

    def _number(self, depth: int) -> str:
        pick = self.chance.choice
        simple = ["node", self.other, self.number, "s.n", "s.m[node]", "s.top", "s.nodes", "v"]
        simple += ["0", "1", "3", "-1", "s.k", f"s.m[{self.other}]"]
        if not depth:
            return pick(simple)
        n, b = (lambda: self._number(depth - 1)), (lambda: self._truth(depth - 1))
        more: list[Callable[[], str]] = [
            lambda: f"({n()} {pick(['+', '-', '*', '//', '%', '&', '|', '^'])} {n()})",
            lambda: f"{pick(['min', 'max'])}({n()}, {n()})",
            lambda: f"abs({n()})",
            lambda: f"-{n()}",
            lambda: f"({n()} << 1)",
            lambda: f"({n()} >> 1)",
            lambda: f"({n()} if {b()} else {n()})",
            lambda: f"sum(s.m[x] for x in s.nodes if {b()})",
            lambda: f"sum({b()} for x in range(s.nodes))",
            lambda: f"helper(s, {n()})",
            lambda: f"s.m[{n()} % s.nodes]",
            lambda: f"len(s.{pick(['u[node]', 'w', 'q[node]', f'l[{self.other}]', 'g'])})",
            lambda: f"s.l[node][{n()}]",
            lambda: f"s.g[{pick(['0', '-1', '1', '-2'])}]",
            lambda: f"sum(x for x in s.{pick(['w', 'l[node]', 'g'])} if {b()})",
            lambda: f"s.z[node, {self.number}, {pick('01')}]",
            lambda: f"NEXT[{pick(['node', 's.n', 's.m[node]', 's.k', f'{n()} % 3'])}]",
            lambda: f"ROWS[{n()} % 3][{pick(['s.n', '0', '-1', 's.m[node]'])}]",
            lambda: f"COST[{pick(['s.c[node]', f's.c[{self.other}]', 's.q[node][0]'])}]",
            lambda: f"{pick(['min', 'max'])}({n()} for x in s.nodes if {b()})",
            lambda: f"{pick(['min', 'max'])}((x for x in ROWS[s.n % 3]), default={n()})",
            lambda: f"sum(x * y for x, y in PAIRS if {b()})",
            lambda: f"len(ROWS[{self.number}]) + max(COST.values())",
        ]
        return pick(simple) if self.chance.random() < 0.3 else self._pick(more)

    def _truth(self, depth: int) -> str:
        pick, other = self.chance.choice, self.other
        simple: list[Callable[[], str]] = [
            lambda: f"s.f[{pick(['node', other])}]",
            lambda: f"s.t[node, {self.number}]",
            lambda: f"s.c[node] {pick(['==', '!='])} {pick(_WORDS)}",
            lambda: f"s.c[node] == s.c[{other}]",
            lambda: f"s.h {pick(['==', '!='])} {pick(['node', other, 's.k', 's.p'])}",
            lambda: f"s.{pick('hp')} is {pick(['', 'not '])}None",
            lambda: f"s.c[{other}] {pick(['in', 'not in'])} ('a', WORD)",
            lambda: f"s.k {pick(['==', '!=', '<', '>='])} {pick(['node', other])}",
            lambda: "s.big",
            lambda: f"s.{pick(['u[node]', 'w', 'q[node]', f'l[{other}]', 'g'])}",
            lambda: f"{pick(['node', other, 's.h', 's.k'])} {pick(['', 'not '])}in s.u[node]",
            lambda: f"{pick(['s.n', '-1', '7'])} {pick(['', 'not '])}in s.{pick(['w', 'g'])}",
            lambda: f"{pick(_WORDS)} in s.{pick(['q[node]', 'y'])}",
            lambda: f"s.u[node] {pick(['<', '<=', '==', '!=', '>=', '>'])} s.u[{other}]",
            lambda: f"s.w {pick(['<', '<=', '==', '>='])} {{1, {pick(['s.k', '0'])}}}",
            lambda: f"s.l[node] {pick(['==', '!='])} s.{pick(['g', f'l[{other}]'])}",
            lambda: f"s.l[node][:{self._number(0)}] {pick(['==', '!='])} s.g[:{self._number(0)}]",
            lambda: f"s.c[node] {pick(['', 'not '])}in s.{pick(['y', f'q[{other}]'])}",
            lambda: f"s.n in ROWS[{pick(['node', 's.n % 3'])}]",
            lambda: f"s.c[node] == AFTER[s.c[{other}]]",
            lambda: f"{pick(['node', 's.h', 's.k'])} in GROUPS[{pick(['node', other])}]",
            lambda: f"({other}, s.n) in PAIRS",
            lambda: f"s.u[node] {pick(['<=', '=='])} GROUPS[{other}]",
        ]
        if not depth:
            return self._pick(simple)
        n, b = (lambda: self._number(depth - 1)), (lambda: self._truth(depth - 1))
        compared = ["<", "<=", "==", "!=", ">", ">="]
        more: list[Callable[[], str]] = [
            lambda: f"{n()} {pick(compared)} {n()}",
            lambda: f"{n()} {pick(compared)} {n()} {pick(compared)} {n()}",
            lambda: f"({b()} {pick(['and', 'or'])} {b()})",
            lambda: f"(not {b()})",
            lambda: f"{pick(['all', 'any'])}({b()} for x in s.nodes)",
            lambda: f"{pick(['all', 'any'])}([s.m[x] < s.m[y] for x in s.nodes for y in range(x)])",
            lambda: f"is_less(s, node, {other})",
        ]
        return self._pick(simple) if self.chance.random() < 0.3 else self._pick(more)

    def _statement(self, indent: int, depth: int) -> str:
        pick, other, pad = self.chance.choice, self.other, "    " * indent
        n, b = (lambda: self._number(2)), (lambda: self._truth(2))
        simple: list[Callable[[], str]] = [
            lambda: f"s.n = {n()} % 4",
            lambda: f"s.n = {n()}",
            lambda: "s.n += 1",
            lambda: f"s.m[node] = {n()} % 5 - 1",
            lambda: f"s.m[{other}] -= 1",
            lambda: f"s.f[{other}] = {b()}",
            lambda: f"s.t[node, {self.number}] = {b()}",
            lambda: f"s.c[node] = {pick(_WORDS)}",
            lambda: f"s.c[{other}] = s.c[node]",
            lambda: f"s.h = {pick(['None', 'node', other, 's.k', 's.p'])}",
            lambda: "s.p = s.h",
            lambda: f"s.k = {pick(['node', other, '(node + 1) % s.nodes'])}",
            lambda: f"v = {n()}",
            lambda: f"v {pick(['+', '-', '*'])}= 2",
            lambda: "change(s, node)",
            lambda: f"s.u[node] {pick('|&-^')}= {{{pick(['node', other, 's.k'])}}}",
            lambda: f"s.u[{other}] = s.u[node] {pick('|&-^')} {pick(['s.u[0]', 'set(s.nodes)'])}",
            lambda: f"s.w.{pick(['add', 'discard'])}({n()})",
            lambda: f"s.w = {{x for x in range({self._number(0)}) if x != s.n}} | s.w",
            lambda: f"s.{pick(['u[node]', 'w', 'q[node]', 'l[node]', 'g'])}.clear()",
            lambda: f"s.q[{other}].send({pick(_WORDS)})",
            lambda: "s.q[node].receive()",
            lambda: f"s.y {pick('|-')}= {{{pick([*_WORDS, 's.c[node]'])}}}",
            lambda: "s.c[node] = s.q[node].receive()",
            lambda: f"w = {pick(_WORDS)} if {b()} else s.c[node]\n{pad}s.c[{other}] = w",
            lambda: f"s.c[node] = AFTER[s.c[{other}]]",
            lambda: "s.h = HEIR[s.h]",
            lambda: f"x, y = PAIRS[{pick(['node', 's.n'])}]\n{pad}s.n = x + y",
            lambda: f"s.u[node] = GROUPS[{other}]",
            lambda: f"s.l[node].append({n()})",
            lambda: f"s.g.append({pick(['s.n', '0', '-1', 'v'])})",
            lambda: f"s.l[node].truncate({self._number(1)})",
            lambda: (
                f"s.l[node] = s.{pick(['g', f'l[{other}]'])}{pick(['', f'[:{self._number(0)}]'])}"
            ),
            lambda: f"s.g = s.l[node]{pick(['', '[:1]', f'[:{self._number(0)}]'])}",
            lambda: f"s.l[node][{self._number(0)}] = {n()}",
            lambda: f"s.z[{other}, 1, {self.number}] = {n()}",
        ]
        if not depth or self.chance.random() < 0.6:
            return pad + self._pick(simple)
        inner = self._statement(indent + 1, depth - 1)
        less = "    " * (indent + 1)
        return self._pick(
            [
                lambda: f"{pad}if {b()}:\n{inner}\n{pad}else:\n{inner}",
                lambda: f"{pad}for x in s.nodes:\n{inner}\n{less}if {b()}:\n{less}    break",
                lambda: f"{pad}for x in range({self._number(0)}):\n{inner}",
                lambda: f"{pad}for x in ROWS[{pick(['node', 's.n'])}]:\n{less}s.n = x\n{inner}",
                lambda: f"{pad}for x, y in PAIRS:\n{less}if {b()}:\n{less}    break\n{inner}",
                lambda: f"{pad}while v > 0:\n{less}v -= 1\n{inner.replace(' v ', ' many ')}",
                lambda: f"{pad}if {b()}:\n{pad}    return",
            ]
        )

    def _action(self, name: str, arguments: Sequence[str]) -> str:
        lines = [f"def {name}(s, {', '.join(arguments)}):", "    v = 1", "    many = 1"]
        bounds = ["s.n < s.top", "s.n + s.m[node] < s.low + s.top", "s.top > s.n"]
        for _ in range(self.chance.randint(0, 3)):
            asks = self.chance.random()
            if asks < 0.5:
                lines.append(f"    when({self._truth(2)})")
            elif asks < 0.85:
                either = f"{self._truth(1)} or s.n < s.top"
                bound = self.chance.choice([*bounds, either, f"{self._number(1)} < s.low"])
                lines.append(f"    within({bound})")
            else:
                lines.append(f"    v = {self._number(1)}")
        lines += [self._statement(1, 2) for _ in range(self.chance.randint(1, 4))]
        return "\n".join(lines) + "\n"
