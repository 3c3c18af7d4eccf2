"""Rules in a file of their own, and edits that change what they mean."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.compiling import module_of
from tests.support.graph_model import graph_problem
from waterline.checker.problem.problem import Problem

_PROBLEM = graph_problem([(0, 1)])

RULES = """
from waterline.model.message import terms

LIMIT = 3
AMONG = frozenset((1, 2))


class Kind:
    FIRST = 1


def inner(s, n):
    return n + 1 in {1, 2}


def guard(s, c, target):
    node = s.node + target
    return inner(s, node) or node < LIMIT or node in AMONG or node * 5 == Kind.FIRST + 49


def effect(s, c, target):
    s.node = target
"""
EDITS = {
    "a constant": ("LIMIT = 3", "LIMIT = 4"),
    "a constant in a function": ("n + 1", "n + 2"),
    "a set of constants": ("{1, 2}", "{1, 3}"),
    "a frozen set of a module": ("frozenset((1, 2))", "frozenset((1, 4))"),
    "an attribute of a class": ("FIRST = 1", "FIRST = 2"),
    "a function that is called": ("return n + 1 in", "return n + 1 not in"),
    "the rule itself": ("node < LIMIT", "node <= LIMIT"),
    "the effect": ("s.node = target", "s.node = 1 if target else 0"),
}


def with_rules(text: str, folder: Path) -> Problem:
    """A small problem with one action of these rules."""
    module = module_of(text, folder)
    follow = replace(_PROBLEM.model.actions[0], guard=module.guard, effect=module.effect)
    model = replace(_PROBLEM.model, actions=(follow, *_PROBLEM.model.actions[1:]))
    return replace(_PROBLEM, model=model)
