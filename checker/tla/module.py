"""Text of the module and of TLC's configurations for a user's model."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler.source import source_of
from waterline.checker.tla import actions, claims, library
from waterline.checker.tla.actions import initial_of
from waterline.checker.tla.calls import Caller
from waterline.checker.tla.claims import Exported, Kind
from waterline.checker.tla.forming import join
from waterline.checker.tla.kinds import NONE_NAME, Names, Sequences
from waterline.checker.tla.naming import camel, comment, plain
from waterline.checker.tla.subject import Subject, members_of
from waterline.checker.tla.text import WIDTH, flat, quote, text_of
from waterline.checker.tla.tree import Apply, Atom, Functions, Infix, Local, Quantified, Tree
from waterline.model.core.transition_system import Action

_RULE = "-" * WIDTH
_STANDARD = frozenset(
    [
        "Bags",
        "FiniteSets",
        "Integers",
        "Json",
        "Naturals",
        "Randomization",
        "RealTime",
        "Reals",
        "Sequences",
        "TLC",
        "TLCExt",
    ]
)
"""Modules that there are already."""


@dataclass(frozen=True, slots=True)
class Module:
    """A module, and its configurations for TLC."""

    name: str
    text: str
    claims: tuple[Exported, ...]
    constants: tuple[str, ...]

    @property
    def configuration(self) -> str:
        """The configuration that checks all claims."""
        return self.config_text([each for each in self.claims if not each.happens])

    @property
    def happening(self) -> str | None:
        """The configuration that looks for what must happen; None where nothing must."""
        wanted = [each for each in self.claims if each.happens]
        return self.config_text(wanted, types=False) if wanted else None

    def config_text(self, wanted: list[Exported], *, types: bool = True) -> str:
        """The configuration that checks these claims."""
        lines = ["SPECIFICATION Spec", *self.constants]
        invariants = ["TypeOK"] if types else []
        invariants += [each.name for each in wanted if each.kind is Kind.INVARIANT]
        properties = [each.name for each in wanted if each.kind is Kind.PROPERTY]
        for word, names in (("INVARIANTS", invariants), ("PROPERTIES", properties)):
            if names:
                lines += [word, *(f"  {name}" for name in names)]
        # A state without a next one is no error: see docs/tla.md.
        return "\n".join([*lines, "CHECK_DEADLOCK FALSE", ""])


def module_of(subject: Subject) -> Module:
    """The module of a model. Raises `BadEnvironment` for what it cannot say."""
    return _Writing(subject).module()


class _Writing:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.program = subject.program
        self.naming = subject.program.naming
        self.caller = Caller(subject.program)
        self.written: set[Any] = set()
        self.lines: list[str] = []
        self.claims: list[Exported] = []
        self.cuts: dict[str, Atom] = {}
        """The operators that are true if a bound cuts an action."""
        self.negatives: dict[Atom, Atom] = {}

    def module(self) -> Module:
        """All of it."""
        model = self.subject.built.model
        named = {each.name: self.naming.top(camel(each.name)) for each in model.enabled_actions}
        body = self._body(named)
        name = plain(model.version)
        if name in _STANDARD:
            name += "_model"
        head = self._head(name)
        text = "\n".join([*head, *body, "=" * WIDTH, ""])
        return Module(name, text, tuple(self.claims), tuple(self._constants()))

    # --- the head --------------------------------------------------------------------------------

    def _head(self, name: str) -> list[str]:
        subject, model = self.subject, self.subject.built.model
        bounds = ", ".join(f"{n} = {_value(v)}" for n, (_, v) in subject.constants.items())
        title = f" MODULE {name} "
        dashes = "-" * max(4, (WIDTH - len(title)) // 2)
        about = ast.get_docstring(ast.parse(subject.own.text)) or ""
        made = f"Made by `waterline export` from {subject.own.name}"
        made += f" within {bounds}." if bounds else "."
        lines = [f"{dashes}{title}{dashes}"[:WIDTH].ljust(WIDTH, "-")]
        lines += [*comment(about), *(["\\*"] if about else []), *_wrap(made)]
        lines += _wrap(
            "Names of a sort are numbers from 0. The sets of values and indices are those of these "
            "bounds: other ones want another export."
        )
        for new, old in self.naming.renamed:
            if camel(old) != new and old.replace(".", "_") != new:
                lines += comment(f"{new} is {old} of the model.")
        modules = ["Integers"]
        if "Cardinality" in self.program.library:
            modules.append("FiniteSets")
        if any(isinstance(form.kind, Sequences) for form in self.program.fields.values()):
            modules.append("Sequences")
        lines += [f"EXTENDS {', '.join(modules)}", ""]
        if subject.constants:
            lines += ["CONSTANTS"]
            atoms = [atom.name for atom, _ in subject.constants.values()]
            lines += [f"  {', '.join(atoms)}", ""]
        types = self._types()
        text = "\n".join([*types, *self.lines, *self.subject.structs])
        words = set(re.findall(r"\w+", text))
        helpers = library.lines_of(words & library.NAMES, self.naming.taken)
        lines += [*self._variables(), *self._sets(), *helpers, *self._structs(), *types]
        assert model.layout.fields
        return lines

    def _variables(self) -> list[str]:
        declared = {each.name: each for each in self.subject.built.declared.fields}
        names = [form.atom.name for form in self.program.fields.values()]
        widest = max(map(len, names)) + 1
        lines = ["VARIABLES"]
        for number, (name, form) in enumerate(self.program.fields.items()):
            end = "" if number == len(names) - 1 else ","
            doc = " ".join(declared[name].doc.split())
            text = f"  {form.atom.name + end}"
            lines.append(f"{text.ljust(widest + 2)} \\* {doc}" if doc else text)
        return [*lines, "", f"vars == <<{', '.join(names)}>>", ""]

    def _sets(self) -> list[str]:
        subject = self.subject
        lines = [f"{atom.name} == {value}" for atom, value in subject.counts.values()]
        for sort in subject.built.declared.sorts:
            count = self.program.sizes[sort.plural].typed.tree
            lines += text_of(subject.sorts[sort.name].name, (), members_of(count))
        parts = [part[1] for each in self.program.records.values() for part in each.parts]
        kinds = [*(form.kind for form in self.program.fields.values()), *parts]
        if any(isinstance(kind, Names) for kind in kinds):
            lines.append(f"{NONE_NAME.name} == -1")
        lines += [f"{atom.name} == {value}" for atom, value in self.program.constants.values()]
        for atom, words in subject.lists.items():
            if self._uses(atom):
                lines.append(f"{atom.name} == <<{', '.join(map(quote, words))}>>")
        return [*lines, ""] if lines else []

    def _structs(self) -> list[str]:
        lines = self.subject.structs
        doc = "All values of structs, and in which order they are counted."
        return [*comment(doc), *lines, ""] if lines else []

    def _uses(self, atom: Atom) -> bool:
        return any(atom.name in line for line in (*self.lines, *self.subject.structs))

    def _types(self) -> list[str]:
        items: list[Tree] = []
        for form in self.program.fields.values():
            values = form.values
            for domain in reversed(form.domains):
                values = Functions(domain, values)
            items.append(Infix(r"\in", form.atom, values))
        lines = text_of("TypeOK", (), join("/\\", *items))
        return [*comment("The values that fields can have."), *lines, ""]

    def _constants(self) -> list[str]:
        if not self.subject.constants:
            return []
        found = []
        for atom, value in self.subject.constants.values():
            if not isinstance(value, bool) and value < 0:
                found.append(f"  {atom.name} <- {self.negatives[atom].name}")
            else:
                found.append(f"  {atom.name} = {_value(value)}")
        return ["CONSTANTS", *found]

    # --- the body --------------------------------------------------------------------------------

    def _body(self, named: dict[str, Atom]) -> list[str]:
        model = self.subject.built.model
        self._negatives()
        self._section("The first states")
        self._add("Init", [], initial_of(self.subject, self.caller), "")
        self._section("What can happen")
        for action in model.enabled_actions:
            parameters, tree = actions.action_of(self.caller, action)
            source = source_of(action.effect)
            self._add(named[action.name].name, parameters, tree, self.program.documentation(source))
        self._add("Next", [], self._next(named), "")
        self._fairness(named)
        self._claims()
        return self.lines

    def _negatives(self) -> None:
        """TLC's configuration has no negative numbers: they are definitions of the module."""
        for atom, value in self.subject.constants.values():
            if not isinstance(value, bool) and value < 0:
                self.negatives[atom] = self.naming.top(f"{atom.name}_value")
                self.lines += [f"{self.negatives[atom].name} == {value}", ""]

    def _section(self, title: str) -> None:
        self.lines += [_RULE, *comment(title), ""]

    def _add(self, name: str, parameters: list[Local], tree: Tree, doc: str) -> None:
        """A definition, after the operators that it uses."""
        self._operators()
        given, found = self.naming.resolve(tree, parameters)
        self.lines += [*_wrap(doc), *text_of(name, given, found), ""]

    def _operators(self) -> None:
        for key, operator in list(self.program.operators.items()):
            if key not in self.written:
                self.written.add(key)
                given, found = self.naming.resolve(operator.value, operator.parameters)
                doc = _wrap(operator.comment)
                self.lines += [*doc, *text_of(operator.atom.name, given, found), ""]

    def _next(self, named: dict[str, Atom]) -> Tree:
        found = [self._take(action, named) for action in self.subject.built.model.enabled_actions]
        return join("\\/", *found)

    def _take(self, action: Action, named: dict[str, Atom]) -> Tree:
        """A step of an action with some arguments."""
        sizes = self.subject.built.model.layout.sizes
        bound = [self.program.counter(parameter.name) for parameter in action.parameters]
        tree: Tree = Apply(named[action.name], tuple(bound))
        for local, parameter in reversed(list(zip(bound, action.parameters, strict=True))):
            tree = Quantified(r"\E", local, self.subject.domain(parameter, sizes), tree)
        return tree

    def _fairness(self, named: dict[str, Atom]) -> None:
        lines = []
        for action in self.subject.built.model.enabled_actions:
            if not (action.weakly_fair or action.strongly_fair):
                continue
            if action.limit is not None:
                self._cut(action, named)
            lines.append(self._fair(action, named))
        if not lines:
            self.lines += ["Spec == Init /\\ [][Next]_vars", ""]
            return
        doc = "An action that stays enabled is taken in the end, with the same arguments."
        if any(action.strongly_fair for action in self.subject.built.model.enabled_actions):
            doc += " Of strong fairness, one that is enabled again and again."
        self.lines += [*comment(doc), "Fairness ==", *(f"  /\\ {line}" for line in lines), ""]
        self.lines += ["Spec == Init /\\ [][Next]_vars /\\ Fairness", ""]

    def _cut(self, action: Action, named: dict[str, Atom]) -> None:
        parameters, tree = actions.cut_of(self.caller, action)
        name = f"{named[action.name].name}IsCut"
        self.cuts[action.name] = self.naming.top(name)
        doc = f"A bound keeps {named[action.name].name} from being taken."
        self._add(self.cuts[action.name].name, parameters, tree, doc)

    def _fair(self, action: Action, named: dict[str, Atom]) -> str:
        sizes = self.subject.built.model.layout.sizes
        bound = [self.program.counter(parameter.name) for parameter in action.parameters]
        names, applied = self.naming.resolve(Apply(named[action.name], tuple(bound)), bound)
        head = "".join(
            f"\\A {name} \\in {flat(self.subject.domain(parameter, sizes))} : "
            for name, parameter in zip(names, action.parameters, strict=True)
        )
        call = flat(applied)
        if action.limit is None:
            return f"{head}{'SF' if action.strongly_fair else 'WF'}_vars({call})"
        # A step that a bound cuts counts as enabled: a behaviour that ends there breaks nothing.
        cut = call.replace(named[action.name].name, self.cuts[action.name].name, 1)
        when = "[]<>" if action.strongly_fair else "<>[]"
        enabled = f"{when}(ENABLED <<{call}>>_vars \\/ {cut})"
        return f"{head}\n       {enabled} => []<><<{call}>>_vars".replace(" \n", "\n")

    def _claims(self) -> None:
        built = self.subject.built
        self._section("What is claimed")
        for always in built.always:
            self.claims.append(claims.of_states(self.caller, always.name, always.holds))
        for step in built.every_step:
            self.claims.append(claims.of_steps(self.caller, step.name, step.sentence, step.keeps))
        self.claims += claims.of_behaviours(self.caller, built.behaviours)
        for each in built.sometimes:
            asked, of_step = each.begun or each.happens, each.begun is None
            self.claims.append(
                claims.of_happening(self.caller, each.name, each.sentence, asked, of_step=of_step)
            )
        self._operators()
        for claim in self.claims:
            if claim.lines:
                self.lines += [*claim.lines, ""]
        if remarks := claims.without_form(built.behaviours):
            self.lines += [*remarks, ""]


def _wrap(text: str) -> list[str]:
    return [line for part in textwrap.wrap(text, WIDTH - 3) for line in comment(part)]


def _value(value: int | bool) -> str:
    return str(value).upper() if isinstance(value, bool) else str(value)
