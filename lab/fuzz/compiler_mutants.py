"""Mutants of the compiler and of the loops that it compiles for the store: what is altered, where.

One place of one module is altered at a time: a comparison, an operation, a sign, a number by one,
the bounds of a loop, a condition, a statement that is left out; in the text of LLVM that a function
writes, one operation for another; in the text of Python that `loops` and `canonical` write, one
operator for another.

Left out is what cannot change what compiled code means, by these rules and by no list of places:

* what says something to a person: what is raised, `refuse`, assertions, annotations, comments in
  LLVM's text (`if ...comment:`), names of blocks and registers (`name(...)`);
* what says something to LLVM or to the processor about speed: `prefetch`, statements that have only
  that in them, `seldom`;
* a statement without which a variable has no value at all: Python says so;
* functions that the store runs as Python: only those that are compiled are altered there.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from lab.fuzz.mutants import ROOT, Mutant, alterations, altered
from waterline.checker.mutants.edits import Change, Place, change_of, short
from waterline.checker.storage import arrivals, blocks, compact, runs

COMPILER = (
    "arithmetic",
    "canonical",
    "conditions",
    "emitter",
    "expressions",
    "fields",
    "function",
    "function_ir",
    "if_conversion",
    "kernel",
    "loops",
    "lower",
    "machine_words",
    "module",
    "orders",
    "scope",
    "states",
    "values",
)
"""Left out are those that write no instruction: cache, machine, program, source."""
STORE = ("arrivals", "blocks", "compact_loops", "explore_loop", "run_loops")
WORDS = (1, 2, 3)
"""Widths of a state, in words: the store is compiled for each."""
_WRITES_PYTHON = ("canonical", "loops")

_OPERATIONS = {
    "add": "sub",
    "sub": "add",
    "mul": "add",
    "and": "or",
    "or": "and",
    "xor": "or",
    "shl": "lshr",
    "ashr": "lshr",
    "lshr": "ashr",
    "sdiv": "udiv",
    "udiv": "urem",
    "srem": "urem",
    "urem": "udiv",
    "eq": "ne",
    "ne": "eq",
    "slt": "sle",
    "sle": "slt",
    "sgt": "sge",
    "sge": "sgt",
    "ult": "ule",
    "ugt": "uge",
    "smin": "smax",
    "smax": "smin",
    "zext": "sext",
    "true": "false",
    "false": "true",
    "0": "1",
    "-1": "0",
}
"""In LLVM's text: one operation, or one constant operand, for another."""
_OPERATION = re.compile(r"(?<![\w.%@-])(" + "|".join(map(re.escape, _OPERATIONS)) + r")(?![\w.*])")
_SIGNS = {
    " + ": " - ",
    " - ": " + ",
    " << ": " >> ",
    " >> ": " << ",
    " & ": " | ",
    " | ": " & ",
    " |= ": " &= ",
    " &= ": " |= ",
    " += ": " -= ",
    " ^ ": " | ",
    " * ": " + ",
    " == ": " != ",
    " != ": " == ",
    " < ": " <= ",
    " <= ": " < ",
    " > ": " >= ",
    " >= ": " > ",
    " and ": " or ",
    " or ": " and ",
    "not ": "",
    " = 0": " = 1",
    " = 1": " = 0",
    "min(": "max(",
}
"""In Python's text."""
_MORE_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitXor: ast.BitOr,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv,
}
_LINKS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


def path_of(module: str) -> Path:
    """The file of a module of the compiler or of the store."""
    folder = "storage" if module in STORE else "compiler"
    return ROOT / "checker" / folder / f"{module}.py"


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, no two with the same text; of the store's, where it is compiled."""
    text = path_of(module).read_text()
    compiled = _compiled_functions() if module in STORE else frozenset()
    for rule in _rules(ast.parse(text)):
        if module in STORE and f"{module}.{rule.name}" not in compiled:
            continue
        among = partial(_alterations, module=module)
        yield from altered(text, rule, module, _places(rule), among)


@cache
def _compiled_functions() -> frozenset[str]:
    """Those of the store that are compiled, as `run_loops._insert`."""
    texts = []
    for words in WORDS:
        texts += [each.recipe_of(words).program().text for each in (blocks, runs, arrivals)]
        texts += [compact.recipe_of(words, alone=alone).program().text for alone in (True, False)]
    found = {name for text in texts for name in re.findall(r"@(\w+\.\w+)", text)}
    roots = {name for text in texts for name in re.findall(r"define i64 @(\w+)\(", text)}
    for module in STORE:
        there = vars(importlib.import_module(f"waterline.checker.storage.{module}"))
        own = (n for n in roots if getattr(there.get(n), "__module__", "").endswith(f".{module}"))
        found |= {f"{module}.{name}" for name in own}
    return frozenset(found)


def _rules(tree: ast.Module) -> Iterator[Any]:
    """Functions, the inner ones with their outer one, and tables of a module."""
    for node in tree.body:
        match node:
            case ast.ClassDef():
                yield from (each for each in node.body if isinstance(each, ast.FunctionDef))
            case ast.FunctionDef():
                yield node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict()):
                node.name, node.returns = name, None  # type: ignore[attr-defined]
                yield node


def _places(parent: ast.AST) -> Iterator[Place]:
    """Every node below that may change what compiled code means."""
    for field, value in ast.iter_fields(parent):
        if field in {"annotation", "returns", "decorator_list", "defaults"}:
            continue
        for index, node in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(node, ast.AST) or _only_tells(node):
                continue
            put = partial(value.__setitem__, index) if isinstance(value, list) else None
            yield node, parent, put or partial(setattr, parent, field)
            yield from _places(node)


def _only_tells(node: Any) -> bool:
    """True if it speaks to a person, or to LLVM or the processor about speed alone."""
    match node:
        case (
            ast.Raise()
            | ast.Assert()
            | ast.keyword(arg="seldom")
            | ast.Expr(value=ast.Constant())
            | ast.FunctionDef(name="_prefetch")
            | ast.Assign(value=ast.IfExp(test=ast.Name(id="seldom")))
            | ast.Call(func=ast.Attribute(attr="refuse" | "name") | ast.Name(id="prefetch"))
        ):
            return True
        case ast.Expr(value=value):
            return _only_tells(value)
        case ast.If(test=test, body=body, orelse=[]):
            return "comment" in ast.unparse(test) or all(map(_only_tells, body))
    return False


def _alterations(node: Any, parent: ast.AST, rule: Any, module: str) -> Iterator[Change]:
    """Everything that is put in place of a node."""
    if not isinstance(node, ast.expr | ast.stmt):
        return
    if not _leaves_a_name_empty(node, rule):
        yield from alterations(node, parent, rule)
    match node:
        case ast.UnaryOp(op=ast.USub() | ast.Invert()):
            yield change_of(node, node.operand)
        case ast.BinOp(op=op) if type(op) in _MORE_OPERATORS:
            yield change_of(node, ast.BinOp(node.left, _MORE_OPERATORS[type(op)](), node.right))
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                if type(op) in _LINKS:
                    others = [*ops[:at], _LINKS[type(op)](), *ops[at + 1 :]]
                    yield change_of(node, ast.Compare(node.left, others, node.comparators))
        case ast.Constant(value=str(text)):
            signs = _in_python(text) if module in _WRITES_PYTHON else _in_llvm(text)
            for other in signs:
                yield f"{text!r} -> {other!r} in {short(parent)}", ast.Constant(other)


def _leaves_a_name_empty(node: Any, rule: Any) -> bool:
    """True if a variable would have no value at all without this statement."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(rule, ast.FunctionDef):
        return False
    given = [*rule.args.args, *rule.args.kwonlyargs]
    stored = [n.id for n in ast.walk(rule) if isinstance(n, ast.Name) and _is_stored(n)]
    own = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _is_stored(n)]
    return any(stored.count(n) == own.count(n) and n not in {a.arg for a in given} for n in own)


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _in_llvm(text: str) -> Iterator[str]:
    for found in _OPERATION.finditer(text):
        yield text[: found.start()] + _OPERATIONS[found[0]] + text[found.end() :]


def _in_python(text: str) -> Iterator[str]:
    words = text.strip()
    if words.startswith(('"""', "#")) or words[:1].isupper() or words.endswith("."):
        return  # what is said of it
    for sign, other in _SIGNS.items():
        at = text.find(sign)
        while at >= 0:
            yield text[:at] + other + text[at + len(sign) :]
            at = text.find(sign, at + 1)
