"""Text of the module of a version of Kafka's protocol, and of TLC's configuration for it."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from waterline.checker.compiler.source import source_of
from waterline.checker.kafka.families import GRAINS
from waterline.checker.problem.problem import Problem
from waterline.checker.tla import arithmetic, library
from waterline.checker.tla.claims import Exported, Kind
from waterline.checker.tla.environment import Role, Settings, StateOf, Value
from waterline.checker.tla.forming import everything_in, in_order, join
from waterline.checker.tla.kafka.calling import StateCaller, environment_of
from waterline.checker.tla.kafka.states import StateEnvironment
from waterline.checker.tla.kafka.subject import (
    STATE,
    KafkaSubject,
    about_field,
    all_values,
    first_value,
    subject_of,
)
from waterline.checker.tla.kinds import TRUTHS, Typed, as_kind, whole
from waterline.checker.tla.module import Module, module_of
from waterline.checker.tla.naming import comment
from waterline.checker.tla.subject import subject_of as subject_of_file
from waterline.checker.tla.text import WIDTH, flat, text_of
from waterline.checker.tla.tidying import tidy
from waterline.checker.tla.tree import (
    Apply,
    Atom,
    If,
    Infix,
    Let,
    Local,
    Member,
    Number,
    Primed,
    Quantified,
    Record,
    Tree,
    Truth,
)
from waterline.checker.user_models.family import built_of
from waterline.model.core.transition_system import Action
from waterline.model.message.versions import version_of

_RULE = "-" * WIDTH


def kafka_module(problem: Problem) -> Module:
    """The module of a version. Raises `BadEnvironment` for what has none.

    First all fields are taken never to change; those that are found to are taken out, until none is
    left that is: then what a rule writes to the others is what they have already.
    """
    subject = subject_of(problem)
    while True:
        writing = _Writing(subject)
        module = writing.module()
        varying = subject.program.varying
        if not varying:
            return module
        fixed = frozenset(subject.program.fixed) - varying
        subject = subject_of(problem, fixed)


class _Writing:
    def __init__(self, subject: KafkaSubject) -> None:
        self.subject = subject
        self.problem = subject.problem
        self.program = subject.program
        self.caller = StateCaller(subject.program)
        self.written: set[str] = set()
        self.guards: list[Tree] = []
        self.in_guards: set[Atom] = set()
        self.said: set[str] = set()
        """The action's own documentation: its effect need not repeat it."""
        self.lines: list[str] = []
        self.claims: list[Exported] = []

    def module(self) -> Module:
        """All of it."""
        for action in self.subject.actions:
            self._action(action)
        # Once more: by now it is known which guards others ask as well.
        taken = [self._action(action) for action in self.subject.actions]
        self._find_guards()
        self._section("Steps, each after the rules that it goes by")
        actions = []
        for action, found in zip(self.subject.actions, taken, strict=True):
            if found is not None:
                actions.append(action)
                parameters, tree = found
                self.said = {self.program.documentation(source_of(action.effect))}
                self._add(action.name, parameters, tree, self._about(action))
        self.said = set()
        self._section("All steps")
        self._add("Next", [], join("\\/", *map(self._take, actions)), "")
        self.lines += [f"Spec == Init /\\ [][Next]_{STATE.name}", ""]
        self._section("What is claimed")
        self._claims()
        name = "kafka_" + re.sub(r"\W", "_", self._version)
        text = "\n".join([*self._head(name), *self.lines, "=" * WIDTH, ""])
        constants = [f"  {n} = {v}" for n, v in self.subject.constants.items()]
        return Module(name, text, tuple(self.claims), ("CONSTANTS", *constants))

    @property
    def _version(self) -> str:
        model = self.problem.model
        grain = "atomic_" if model.name.endswith("atomic") else ""
        return f"{grain}{model.version}"

    # --- steps -----------------------------------------------------------------------------------

    def _environment(self, function: Any, given: list[Value]) -> StateEnvironment:
        variables = dict(zip(source_of(function).parameters, given, strict=True))
        return environment_of(self.program, variables, [STATE, Primed(STATE)])

    def _ask(self, function: Any, given: list[Value]) -> Typed:
        found = self.caller.comes_to(source_of(function), self._environment(function, given))
        return Typed(tidy(found.tree), found.kind)

    def _action(self, action: Action) -> tuple[list[Local], Tree] | None:
        """The parameters of an action, and what it says of a step; None for one never taken."""
        parameters = [self.program.local(parameter.name) for parameter in action.parameters]
        self.program.parameters.update(parameters)
        arguments: list[Value] = [
            self.subject.argument(parameter, local)
            for parameter, local in zip(action.parameters, parameters, strict=True)
        ]
        given: list[Value] = [StateOf(Role.NOW), Settings(), *arguments]
        items = [self._guard(action, given)]
        if action.budget is not None:
            used = self.caller.program.fields[action.budget.used].atom
            items.append(Infix("<", _member(used.name), Atom(action.budget.setting)))
        if action.limit is not None:
            exceeded = self._ask(action.limit, given)
            items.append(tidy(arithmetic.compare("==", exceeded, whole(0)).tree))
        asked = in_order(join("/\\", *items))
        self.guards.append(asked)
        if asked == Truth(False):
            return None
        return parameters, join("/\\", asked, Infix("=", Primed(STATE), self._after(action, given)))

    def _guard(self, action: Action, given: list[Value]) -> Tree:
        if action.guard not in self.program.made:
            return as_kind(self._ask(action.guard, given), TRUTHS)
        operator = self.program.made[action.guard]
        return operator.applied_to([STATE, *(v.tree for v in given if isinstance(v, Typed))])

    def _find_guards(self) -> None:
        """The operators that guards go by: TLC is to look at their alternatives in order."""
        by_name = {each.atom: each for each in self.program.made.values()}
        waiting = list(self.guards)
        while waiting:
            for part in everything_in(waiting.pop()):
                if isinstance(part, Atom) and part in by_name and part not in self.in_guards:
                    self.in_guards.add(part)
                    waiting.append(by_name[part].value)

    def _after(self, action: Action, given: list[Value]) -> Tree:
        """The state after a step."""
        at = self._environment(action.effect, given)
        if action.budget is not None:
            name = action.budget.used
            if name in self.program.fixed:
                self.program.varying.add(name)
            at.put(name, (), Infix("+", _member(name), Number(1)))
        begun = at.whole()
        source = source_of(action.effect)
        tree = self.caller.next_state(source, at)
        if isinstance(tree, Let | If):
            operator = self.caller.state_operator(source, given)
            tree = operator.applied_to([begun, *(v.tree for v in given if isinstance(v, Typed))])
        normalise = self.problem.model.normalise
        if normalise is None or action.stays_normal:
            return tree
        operator = self.caller.state_operator(source_of(normalise), [StateOf(Role.NOW), Settings()])
        if operator.value == operator.parameters[0]:
            return tree
        return Apply(operator.atom, (tree,))

    def _about(self, action: Action) -> str:
        guard, effect = (source_of(f) for f in (action.guard, action.effect))
        when = self.program.documentation(guard)
        return f"{self.program.documentation(effect)}\n\nWhen: {when}"

    def _take(self, action: Action) -> Tree:
        """A step of an action with some arguments."""
        bound = [self.program.counter(parameter.name) for parameter in action.parameters]
        tree: Tree = Apply(Atom(action.name), tuple(bound))
        for local, parameter in reversed(list(zip(bound, action.parameters, strict=True))):
            tree = Quantified(r"\E", local, self.subject.domain(parameter), tree)
        return tree

    # --- claims ----------------------------------------------------------------------------------

    def _claims(self) -> None:
        settings: list[Value] = [Settings()]
        for claim in self.problem.applicable:
            found = self._ask(claim.holds, [StateOf(Role.NOW), *settings])
            atom = self.program.naming.top(claim.name)
            self._add(atom.name, [], as_kind(found, TRUTHS), claim.sentence)
            self.claims.append(Exported(claim.name, atom.name, Kind.INVARIANT))
        for each in self.problem.applicable_properties:
            given = [StateOf(Role.NOW), StateOf(Role.NEXT), *settings]
            found = self._ask(each.keeps, given)
            atom = self.program.naming.top(f"{each.name}_in_step")
            every = self.program.naming.top(each.name)
            self._add(atom.name, [], as_kind(found, TRUTHS), each.sentence)
            self.lines[-1:] = [f"{every.name} == [][{atom.name}]_{STATE.name}", ""]
            self.claims.append(Exported(each.name, every.name, Kind.PROPERTY))

    # --- text ------------------------------------------------------------------------------------

    def _section(self, title: str) -> None:
        self.lines += [_RULE, *comment(title), ""]

    def _add(self, name: str, parameters: list[Local], tree: Tree, doc: str) -> None:
        """A definition, after the operators that it uses and that are not there yet."""
        self._operators(tree)
        given, found = self.program.naming.resolve(tree, parameters)
        self.lines += [*paragraphs(doc), *text_of(name, given, found), ""]

    def _operators(self, tree: Tree) -> None:
        used = {each.name for each in everything_in(tree) if isinstance(each, Atom)}
        for operator in list(self.program.made.values()):
            if operator.atom.name in used and operator.atom.name not in self.written:
                self.written.add(operator.atom.name)
                said = operator.comment not in self.said
                doc = operator.comment if said else ""
                value = operator.value
                if operator.kind == TRUTHS and operator.atom in self.in_guards:
                    value = in_order(value)
                self._add(
                    operator.atom.name, list(operator.kept_of(operator.parameters)), value, doc
                )

    # --- the head --------------------------------------------------------------------------------

    def _head(self, name: str) -> list[str]:
        title = f" MODULE {name} "
        dashes = "-" * max(4, (WIDTH - len(title)) // 2)
        lines = [f"{dashes}{title}{dashes}"[:WIDTH].ljust(WIDTH, "-"), *self._introduction()]
        body = [*self._types(), *self._first()]
        code = [line for line in (*body, *self.lines) if not line.lstrip().startswith("\\*")]
        words = set(re.findall(r"\w+", "\n".join(code)))
        modules = ["Integers"]
        if "Cardinality" in words:
            modules.append("FiniteSets")
        lines += [f"EXTENDS {', '.join(modules)}", ""]
        lines += ["CONSTANTS", f"  {', '.join(self.subject.constants)}", ""]
        lines += ["VARIABLE", f"  {STATE.name}", ""]
        lines += self._sets(words)
        lines += library.lines_of(words & library.NAMES, self.program.naming.taken)
        return [*lines, *body]

    def _introduction(self) -> list[str]:
        problem, model = self.problem, self.problem.model
        assert problem.family is not None
        usual = problem.family.usual.options()
        given = {n: v for n, v in model.options.items() if v != usual.get(n)}
        told = ", ".join(f"{n} {str(v).lower()}" for n, v in given.items())
        absent = [f.name for f in model.layout.fields if f.name in self.program.fixed]
        grain = problem.family.name
        lines = paragraphs(
            f"{_sentence_of(problem)}\n\n"
            f"Replication of one partition as Waterline models it: version {model.version}, grain "
            f"{grain}{f', with {told}' if told else ''}. Made by `waterline export --to tla`; "
            "what follows from the version and its settings is decided, so that a rule which they "
            "switch off is not here. Bounds are constants.\n\n"
            f"The state is one record, {STATE.name}, so that a rule can be an operator of a state "
            "s: one that writes comes to the next state. Replicas are numbers from 0, in the "
            "order of assignment; records are numbers from 1, in order of birth. All states are "
            "explored: those that differ in the names of replicas or records are different ones."
        )
        if absent:
            kept = f"Fields of the model that keep their first value here: {', '.join(absent)}."
            lines += ["\\*", *paragraphs(kept)]
        return lines

    def _sets(self, words: set[str]) -> list[str]:
        places = "log_size" if "log_size" in self.subject.constants else "records"
        lines = [
            "Replicas == 0..(replicas - 1)",
            f"Offsets == 0..({places} - 1)",
            "Records == 1..records",
        ]
        lines = [line for line in lines if line.split()[0] in words]
        numbers = {**self.program.numbers, "NO_REPLICA": -1, "NO_EPOCH": -1, "UNKNOWN_OFFSET": -1}
        lines += [f"{name} == {value}" for name, value in numbers.items() if name in words]
        return [*lines, ""]

    def _varying(self) -> list[Any]:
        fields = self.problem.model.layout.fields
        return [field for field in fields if field.name not in self.program.fixed]

    def _types(self) -> list[str]:
        """The set of all states, each field with what it is."""
        said = "\n".join(self.lines)
        members = [(f.name, all_values(self.program.fields[f.name], said)) for f in self._varying()]
        lines = [
            *comment("The values that fields can have."),
            "TypeOK ==",
            f"  {STATE.name} \\in [",
        ]
        for number, (field, (name, values)) in enumerate(
            zip(self._varying(), members, strict=True)
        ):
            lines += comment(textwrap.fill(about_field(field), WIDTH - 7), 4)
            _, found = self.program.naming.resolve(values)
            end = "," if number < len(members) - 1 else ""
            lines.append(f"    {name} : {flat(found)}{end}")
        return [*lines, "  ]", ""]

    def _first(self) -> list[str]:
        members = [(f.name, first_value(self.subject, f)) for f in self._varying()]
        tree = Infix("=", STATE, Record(tuple(members)))
        self._operators(tree)
        _, found = self.program.naming.resolve(tree)
        return [*text_of("Init", (), found), ""]


def _sentence_of(problem: Problem) -> str:
    assert problem.family is not None
    known: Any = problem.family.versions.get(problem.model.version)
    if known is None:
        known = version_of(problem.model.version)
        return f"{known.sentence} With features switched: {problem.model.version}."
    return str(known.sentence)


def paragraphs(text: str) -> list[str]:
    """A text as comments, each paragraph wrapped."""
    lines: list[str] = []
    for part in re.split(r"\n\s*\n", text.strip()):
        if lines and part:
            lines.append("\\*")
        lines += comment(textwrap.fill(" ".join(part.split()), WIDTH - 3))
    return lines


def _member(name: str) -> Tree:
    return Member(STATE, name)


def export(problem: Problem) -> Module:
    """The module of a problem. Raises `BadEnvironment` for what it cannot say."""
    if problem.family in GRAINS.values():
        return kafka_module(problem)
    return module_of(subject_of_file(*built_of(problem)))
