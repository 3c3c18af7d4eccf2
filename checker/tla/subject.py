"""A user's model as the program that is exported."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from checker.compiler.source import Source
from checker.tla import library
from checker.tla.forming import interval
from checker.tla.kinds import TRUTHS, WHOLE, Sequences, Typed, of_field
from checker.tla.naming import Naming, camel
from checker.tla.program import FieldForm, Program, Size
from checker.tla.tree import Atom, Infix, Number, Tree
from checker.user_models.loading import OwnFile
from model.core.errors import BadEnvironment
from model.core.transition_system import Parameter
from model.own.building import Built
from model.own.declared import Protocol
from model.own.fields import AnyField, Bag, Choice, Log, Names, Queue, Set, extent

STRUCTURE = ("Init", "Next", "Spec", "vars", "TypeOK", "None", "Fairness")
"""What every module defines."""


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

    def domain(self, parameter: Parameter, sizes: Any) -> Tree:
        """What an argument of an action ranges over."""
        size = self.program.sizes.get(parameter.over)
        if size is not None and size.members is not None:
            return size.members
        return interval(Number(0), Number(sizes[parameter.over] - 1))


def subject_of(own: OwnFile, built: Built) -> Subject:
    """The program of a model that was built."""
    naming = Naming()
    naming.taken |= {*STRUCTURE, *library.NAMES}
    model, declared = built.model, built.declared
    if any(isinstance(each, Queue | Log) for each in declared.fields):
        naming.taken |= {"Seq", "Len", "Append", "Head", "Tail", "SubSeq", "SelectSeq"}
    _require_no_structs(own, declared)
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
    for field in model.layout.fields:
        of: AnyField | None = fields.get(field.name)
        listed = Atom("")
        words = of.element if isinstance(of, Queue | Log | Set) else of
        if isinstance(words, Choice):
            _require_plain(own, words)
            # Fields with the same words have values of one kind.
            same = [atom for atom, known in lists.items() if known == words.values]
            listed = same[0] if same else naming.top(f"{field.name}_words")
            lists[listed] = words.values
        kind, values = of_field(of, field.lo, field.hi, listed, sorts)
        indices = of.indices if of is not None else ()
        extents = tuple(map(extent, indices))
        if not isinstance(kind, Sequences) and extents != field.shape:
            # The layout folds more than two indices into two.
            indices, extents = field.shape, field.shape
        domains = [
            sorts[index.name] if isinstance(index, Names) else _below(index) for index in indices
        ]
        forms[field.name] = FieldForm(atoms[field.name], kind, values, tuple(domains), extents)
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
    )
    return Subject(own, built, program, constants, counts, sorts, lists)


def _require_no_structs(own: OwnFile, declared: Protocol) -> None:
    for field in declared.fields:
        if isinstance(field, Bag):
            raise BadEnvironment(
                f"{own.file}: field {field.name} is a Bag, which the export does not write; "
                "export a model with queues, logs and sets"
            )
    for struct in declared.structs:
        raise BadEnvironment(
            f"{own.file}: the export writes no structs, and there is one of {struct.name}; export "
            "a model with a field for each of its parts"
        )


def _require_plain(own: OwnFile, field: Choice) -> None:
    for word in field.values:
        if not (word.isascii() and word.isprintable()):
            raise BadEnvironment(
                f"{own.file}: choice {word!r} of field {field.name} has no form in TLA+; "
                "write printable ASCII characters alone"
            )


def documentation(trees: dict[str, ast.FunctionDef], source: Source) -> str:
    """What a function of the file says of itself, in one paragraph."""
    tree = trees.get(source.tree.name)
    return first_paragraph(None if tree is None else ast.get_docstring(tree))


def first_paragraph(text: str | None) -> str:
    """On one line."""
    return " ".join((text or "").strip().split("\n\n")[0].split())


def members_of(count: Tree) -> Tree:
    """The numbers below a count."""
    return interval(Number(0), Infix("-", count, Number(1)))


def _below(count: int) -> Tree:
    return interval(Number(0), Number(count - 1))
