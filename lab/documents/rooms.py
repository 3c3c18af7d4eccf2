"""The pictures of ARCHITECTURE.md and docs/rooms.md, made from what the files import.

    python -m lab.documents.rooms [--write]

A room is a folder of modules, and a part is one or several rooms. An arrow says "imports"; one that
follows from two others is left out. Modules that import nothing of ours, such as errors, are for
everybody and are no arrow. Fails where rooms or parts import each other in a circle. `--write` puts
parts into the first document, rooms and their table into the second.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx

from lab.documents.marked import print_or_write

ROOT = Path(__file__).parents[2]
OVERVIEW, DOCUMENT = ROOT / "ARCHITECTURE.md", ROOT / "docs" / "rooms.md"
BEGIN, END = "<!-- made by python -m lab.documents.rooms -->", "<!-- until here -->"
ROOMS = {
    "model/core": "modelling framework: layout, actions, claims",
    "model/message": "Kafka's replication protocol",
    "model/atomic": "Kafka's protocol as published in TLA+",
    "model/own": "declarations and rules of user models",
    "invariants": "claims about Kafka",
    "counterexamples": "traces and their replay",
    "counterexamples/formats": "traces for other tools",
    "checker/problem": "problem, family, symmetry, digest of the program",
    "checker/compiler": "rules to LLVM, kernels and their cache",
    "checker/sorts": "data sorts of rules: the check for unbounded verdicts",
    "checker/storage": "visited states, levels, run directories",
    "checker/search/engines": "engines: memory, files, Spark",
    "checker/graph": "steps out of explored states, as arrays",
    "checker/search": "breadth-first search, accounts, results",
    "checker/proof": "proofs by induction: rules as terms, obligations, the solver",
    "checker/liveness": "recovery, fair components, lassos",
    "checker/traces": "violating states, predecessors, shortest traces",
    "checker/checking": "one whole check, from problem to findings",
    "checker/batch": "many questions: explorers, kept answers, processes",
    "checker/covering": "complete graphs, and paths that cover them",
    "checker/kafka": "Kafka's families and their words",
    "checker/kafka/narrative": "what a trace means, in Kafka's words",
    "checker/kafka/scenarios": "catalogue of known failures",
    "checker/kafka/deployed": "settings of deployed clusters: files, output of tools, live brokers",
    "checker/kafka/matrix": "verdicts by version, setting and fault",
    "checker/kafka/now": "a cluster as it is now: further faults, restarts",
    "checker/kafka/logs": "behaviours that fit what brokers logged",
    "checker/kafka/confirm": "replay on real brokers, whose controller is the harness",
    "checker/analysis/explain": "causes of a violation, and repairs",
    "checker/analysis/compare": "one trace under two versions",
    "checker/analysis/simulate": "random walks",
    "checker/analysis/certificate": "certificates of verdicts, and their judgement",
    "checker/analysis": "export of the state graph",
    "checker/user_models": "families from user models",
    "checker/mutants": "mutants of user models, and which claims notice them",
    "checker/user_models/scripts": "scripts: steps by hand, and what they lead to",
    "checker/ties": "code that a model names, and what was reviewed of it",
    "checker/tla": "models as TLA+ modules",
    "checker/tla/kafka": "Kafka's own protocol as TLA+ modules",
    "checker/report/pages": "pages and pictures of traces",
    "checker/report/viewer": "trace viewer in the terminal",
    "checker/ci": "the gate: expectations for CI",
    "checker/cli": "commands, their options, exit codes",
    "waterline": "the package that your own model imports: declarations, and rules run from Python",
}
"""Every room, and what is in it, from the lowest up: a room imports rooms before it."""
CORE = "The core: it knows no protocol"
GROUPS = {
    CORE: (
        "checker/problem",
        "checker/compiler",
        "checker/sorts",
        "checker/storage",
        "checker/search/engines",
        "checker/graph",
        "checker/search",
        "checker/proof",
        "checker/liveness",
        "checker/traces",
        "checker/checking",
        "checker/covering",
        "checker/batch",
    ),
    "Kafka": (
        "model/message",
        "model/atomic",
        "invariants",
        "checker/kafka",
        "checker/kafka/narrative",
        "checker/kafka/scenarios",
        "checker/kafka/deployed",
        "checker/kafka/matrix",
        "checker/kafka/now",
        "checker/kafka/logs",
        "checker/kafka/confirm",
    ),
    "Analysis and reports": (
        "checker/analysis",
        "checker/analysis/explain",
        "checker/analysis/compare",
        "checker/analysis/simulate",
        "checker/analysis/certificate",
        "checker/report/pages",
        "checker/report/viewer",
    ),
    "Models of your own": (
        "waterline",
        "model/own",
        "checker/user_models",
        "checker/user_models/scripts",
        "checker/ties",
        "checker/mutants",
        "checker/tla",
        "checker/tla/kafka",
    ),
}

PARTS = {
    "waterline": ("waterline/<br>what your model and your program import", ("waterline",)),
    "cli": ("checker/cli/<br>commands, options, exit codes", ("checker/cli",)),
    "ci": ("checker/ci/<br>the gate: expectations for CI", ("checker/ci",)),
    "report": ("checker/report/<br>pages, pictures, the viewer", ("checker/report",)),
    "analysis": ("checker/analysis/<br>causes, walks, certificates", ("checker/analysis",)),
    "user_models": (
        "checker/user_models/, checker/tla/<br>your own models, and TLA+",
        ("checker/user_models", "checker/ties", "checker/mutants", "checker/tla"),
    ),
    "kafka": ("checker/kafka/<br>catalogue, matrix, logs, real brokers", ("checker/kafka",)),
    "core": (
        "the core of checker/<br>compiler, storage, search, traces",
        GROUPS[CORE],
    ),
    "counterexamples": ("counterexamples/<br>traces and their replay", ("counterexamples",)),
    "invariants": ("invariants/<br>claims about Kafka", ("invariants",)),
    "model": ("model/<br>the rules of Kafka, and what rules are written with", ("model",)),
}
"""Parts of the house for ARCHITECTURE.md: what each is, and the folders whose rooms it has."""


NO_ROOM = ("model/__init__.py", "checker/__init__.py", "checker/report/__init__.py")
"""Packages that only hold rooms."""


def named(path: Path) -> str:
    """A file's path within the tree."""
    return path.relative_to(ROOT).as_posix()


def room_of(path: Path) -> str:
    """The room that a file is in: its folder, or the next one outwards that is a room."""
    folder = path.parent.relative_to(ROOT)
    while str(folder) not in ROOMS:
        folder = folder.parent
        if folder == Path():
            raise SystemExit(f"{path.relative_to(ROOT)} is in no room; add its folder to ROOMS")
    return str(folder)


@cache
def modules() -> dict[str, Path]:
    """Every module of ours, by name."""
    tops = sorted({room.split("/")[0] for room in ROOMS})
    files = (path for top in tops for path in sorted((ROOT / top).rglob("*.py")))
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in files
        if path.name != "__main__.py" and named(path) not in NO_ROOM
    }


def imported(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = _within(f"{node.module}.{alias.name}")
                yield name if name in modules() else _within(node.module)
        elif isinstance(node, ast.Import):
            yield from (_within(alias.name) for alias in node.names)


def _within(name: str) -> str:
    """A module's name within the tree: `waterline.checker.ci` is `checker.ci`."""
    inner = name.removeprefix("waterline.")
    return inner if inner.split(".")[0] in {room.split("/")[0] for room in ROOMS} else name


def arrows() -> nx.DiGraph:
    """Which room imports which."""
    reached = {
        name: {other for other in imported(path) if other in modules()}
        for name, path in modules().items()
    }
    graph = nx.DiGraph()
    graph.add_nodes_from(ROOMS)
    for name, others in reached.items():
        for other in others:
            here, there = room_of(modules()[name]), room_of(modules()[other])
            if here != there and reached[other]:
                graph.add_edge(here, there, because=f"{name} imports {other}")
    return graph


def arrows_of_parts() -> nx.DiGraph:
    """Which part imports which."""
    parts = {
        room: part
        for part, (_, folders) in PARTS.items()
        for room in ROOMS
        if any(f"{room}/".startswith(f"{folder}/") for folder in folders)
    }
    graph = nx.DiGraph()
    graph.add_nodes_from(PARTS)
    for left, right, because in arrows().edges(data="because"):
        if parts[left] != parts[right]:
            graph.add_edge(parts[left], parts[right], because=because)
    return graph


def fewest_arrows(graph: nx.DiGraph) -> list[str]:
    """The arrows as Mermaid draws them, but for those that follow from others."""
    circle = next(nx.simple_cycles(graph), None)
    if circle:
        pairs = zip(circle, [*circle[1:], circle[0]], strict=True)
        described = "; ".join(graph.edges[pair]["because"] for pair in pairs)
        raise SystemExit(f"rooms import each other in a circle: {described}")
    fewest = nx.transitive_reduction(graph)
    return [f"  {_name(left)} --> {_name(right)}" for left, right in sorted(fewest.edges)]


def overview() -> str:
    """Return the text between the two marks of ARCHITECTURE.md."""
    lines = [f'  {part}["{said}"]' for part, (said, _) in PARTS.items()]
    drawn = ("```mermaid", "flowchart TD", *lines, *fewest_arrows(arrows_of_parts()), "```")
    return "\n".join((BEGIN, *drawn, END))


def picture() -> str:
    """The rooms as Mermaid draws them."""
    lines = ["flowchart TD"]
    grouped = {room for rooms in GROUPS.values() for room in rooms}
    for number, (title, rooms) in enumerate(GROUPS.items()):
        lines.append(f'  subgraph g{number}["{title}"]')
        lines += [f"    {_drawn(room)}" for room in rooms]
        lines.append("  end")
    lines += [f"  {_drawn(room)}" for room in ROOMS if room not in grouped]
    lines += fewest_arrows(arrows())
    return "\n".join(("```mermaid", *lines, "```"))


def table() -> str:
    """Every room with its size and what it is."""
    sizes = dict.fromkeys(ROOMS, 0)
    for path in modules().values():
        sizes[room_of(path)] += 1
    rows = [f"| `{room}/` | {sizes[room]} | {said} |" for room, said in ROOMS.items()]
    return "\n".join(("| room | modules | what is in it |", "|---|---|---|", *rows))


def made() -> str:
    """Return the text between the two marks of docs/rooms.md."""
    return f"{BEGIN}\n{picture()}\n\n{table()}\n{END}"


def _name(room: str) -> str:
    return room.replace("/", "_")


def _drawn(room: str) -> str:
    return f'{_name(room)}["{room}/<br>{ROOMS[room]}"]'


def main() -> None:
    """Print them, or put them into the documents."""
    print_or_write(__doc__ or "", {OVERVIEW: overview(), DOCUMENT: made()})


if __name__ == "__main__":
    main()
