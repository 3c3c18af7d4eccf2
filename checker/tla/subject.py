"""A user's model as the program that is exported."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler.source import Source
from waterline.checker.tla import library
from waterline.checker.tla.containers import records_of
from waterline.checker.tla.forming import interval
from waterline.checker.tla.kinds import TRUTHS, WHOLE, Kind, Records, Sequences, Typed, of_field
from waterline.checker.tla.naming import Naming, camel
from waterline.checker.tla.program import FieldForm, Program, Size
from waterline.checker.tla.tree import Atom, Infix, Number, Tree
from waterline.checker.user_models.loading import OwnFile
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Parameter
from waterline.model.own.asking import first_paragraph
from waterline.model.own.building import Built
from waterline.model.own.declared import Action, Protocol
from waterline.model.own.fields import (
    AnyField,
    Choice,
    Container,
    Names,
    PlacedField,
    SequenceField,
    Struct,
    extent,
)

STRUCTURE = ("Init", "Next", "Spec", "vars", "TypeOK", "None", "Fairness")
"""Names that every module defines."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model, its file, and the program of its rules.

    `constants` are the bounds, by their names in the module. `sorts` are the sets of names.
    """

    own: OwnFile
    built: Built
    program: Program
    constants: dict[str, tuple[Atom, int | bool]]
    counts: dict[str, tuple[Atom, int]]
    sorts: dict[str, Atom]
    lists: dict[Atom, tuple[str, ...]]
    structs: list[str]
    """Definitions of the sets of structs, and of their order."""

    def domain(self, parameter: Parameter, sizes: Any) -> Tree:
        """Return the domain of an action's argument."""
        if (records := self.program.arguments.get(parameter.over)) is not None:
            return records.all
        size = self.program.sizes.get(parameter.over)
        if size is not None and size.members is not None:
            return size.members
        return interval(Number(0), Number(sizes[parameter.over] - 1))


def subject_of(own: OwnFile, built: Built) -> Subject:
    """The program of a model that was built."""
    naming = Naming()
    naming.taken |= {*STRUCTURE, *library.NAMES}
    model, declared = built.model, built.declared
    if any(isinstance(each, SequenceField) for each in declared.fields):
        naming.taken |= {"Seq", "Len", "Append", "Head", "Tail", "SubSeq", "SelectSeq"}
    _require_bags_in_order(own, declared)
    fields = {each.name: each for each in declared.fields}
    atoms = {name: naming.top(name) for name in fields}
    constants: dict[str, tuple[Atom, int | bool]] = {}
    sizes: dict[str, Size] = {}
    members: dict[str, Atom] = {}
    counts: dict[str, tuple[Atom, int]] = {}
    sorts: dict[str, Atom] = {}
    for name in own.bounds(model.version):
        value: Any = model.options[name]
        constants[name] = naming.top(name), value
    for sort in declared.sorts:
        if sort.plural not in constants:
            counts[sort.plural] = naming.top(sort.plural), sort.count
        sorts[sort.name] = members[sort.plural] = naming.top(camel(sort.name))
    for name, (atom, given) in {**constants, **counts}.items():
        of_size = TRUTHS if isinstance(given, bool) else WHOLE
        sizes[name] = Size(Typed(atom, of_size), int(given), members.get(name))
    lists: dict[Atom, tuple[str, ...]] = {}
    forms = {}
    records: dict[str, Records] = {}
    lines: list[str] = []
    for struct in declared.structs:
        for _, part in struct.parts:
            if isinstance(part, Choice):
                _require_plain(own, part)
                if part.values not in lists.values():
                    lists[naming.top(f"{struct.name}_{part.name}_words")] = part.values
        listed = {words: atom for atom, words in lists.items()}
        records[struct.name], defined = records_of(struct, listed, sorts, naming)
        lines += defined
    for field in model.layout.fields:
        of: AnyField | None = fields.get(field.name)
        listed_as = Atom("")
        words = of.element if isinstance(of, Container) else of
        if isinstance(words, Choice):
            _require_plain(own, words)
            # Fields with the same words have values of one kind.
            same = [atom for atom, known in lists.items() if known == words.values]
            listed_as = same[0] if same else naming.top(f"{field.name}_words")
            lists[listed_as] = words.values
        kind, values = of_field(of, field.lo, field.hi, listed_as, sorts, records)
        indices = _indices_of(of, kind, field.shape)
        domains = [
            sorts[index.name] if isinstance(index, Names) else _below(index) for index in indices
        ]
        forms[field.name] = FieldForm(
            atoms[field.name], kind, values, tuple(domains), tuple(map(extent, indices))
        )
    trees = {
        node.name: node for node in ast.parse(own.text).body if isinstance(node, ast.FunctionDef)
    }
    program = Program(
        naming=naming,
        fields=forms,
        sizes=sizes,
        settings={},
        is_inlined=lambda source: source.tree.name not in trees,
        documentation=lambda source: documentation(trees, source),
        named_constants=True,
        records=records,
        arguments=_struct_arguments(declared, records),
    )
    return Subject(own, built, program, constants, counts, sorts, lists, lines)


def _indices_of(of: AnyField | None, kind: Kind, shape: tuple[int, ...]) -> tuple[Names | int, ...]:
    """Return what each direction of a field goes through; of a kind without a form in TLA+ the
    places are the last one.
    """
    indices = of.indices if of is not None else ()
    if isinstance(kind, Sequences):
        return indices
    if isinstance(of, PlacedField):
        indices = (*indices, of.named_by or of.slots)
    # The layout folds more than two indices into two.
    return indices if tuple(map(extent, indices)) == shape else shape


def _struct_arguments(declared: Protocol, records: dict[str, Records]) -> dict[str, Records]:
    """Return the kinds of those arguments that are structs, by the size that stands for one."""
    actions = [each for each in (*declared.actions, declared.initial) if isinstance(each, Action)]
    return {
        f"{action.function.__name__}.{name}": records[domain.name]
        for action in actions
        for name, domain in action.over.items()
        if isinstance(domain, Struct)
    }


def _require_bags_in_order(own: OwnFile, declared: Protocol) -> None:
    for field in declared.fields:
        match field:
            case SequenceField(is_sorted=True, element=Choice()):
                raise BadEnvironment(
                    f"{own.file}: field {field.name} is a Bag of words, which the export does not "
                    "write; make it one of structs or of numbers"
                )


def _require_plain(own: OwnFile, field: Choice) -> None:
    for word in field.values:
        if not (word.isascii() and word.isprintable()):
            raise BadEnvironment(
                f"{own.file}: choice {word!r} of field {field.name} has no form in TLA+; "
                "write printable ASCII characters alone"
            )


def documentation(trees: dict[str, ast.FunctionDef], source: Source) -> str:
    """Return the docstring of a function of the file, as one paragraph."""
    tree = trees.get(source.tree.name)
    return "" if tree is None else first_paragraph(ast.get_docstring(tree) or "")


def members_of(count: Tree) -> Tree:
    """The numbers below a count."""
    return interval(Number(0), Infix("-", count, Number(1)))


def _below(count: int) -> Tree:
    return interval(Number(0), Number(count - 1))
