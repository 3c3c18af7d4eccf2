"""The picture of rooms and arrows in docs/rooms.md, made from what the files import.

    python -m bench.rooms [--write]

A room is a folder of modules. An arrow says "imports"; one that follows from two others is left
out. Modules that import nothing of ours, such as errors, are for everybody and are no arrow. Fails
where rooms import each other in a circle. `--write` puts picture and table into the document.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parent.parent
DOCUMENT = ROOT / "docs" / "rooms.md"
BEGIN, END = "<!-- made by python -m bench.rooms -->", "<!-- until here -->"
ROOMS = {
    "waterline": "what you import",
    "model/kit": "what any model is written with",
    "model/own": "models of your own",
    "model/message": "Kafka's protocol",
    "model/atomic": "the published abstraction of it",
    "invariants": "what is claimed of Kafka's",
    "counterexamples": "traces and their replay",
    "counterexamples/formats": "traces for other tools",
    "checker/problems": "what is asked",
    "checker/compiled": "rules to machine code",
    "checker/store": "where states are kept",
    "checker/engines": "who explores",
    "checker/behaviours": "recovery and liveness, of the whole graph",
    "checker": "the search, from question to result",
    "checker/reduced": "smaller models with the same verdicts",
    "checker/own": "files of your own, as families",
    "checker/kafka": "Kafka's families",
    "checker/asking": "conditions at the prompt",
    "checker/byhand": "steps chosen by hand, and scripts",
    "checker/story": "what a trace is about",
    "checker/viewer": "a trace on the screen",
    "checker/scenarios": "what is known to go wrong",
    "checker/simulate": "walks at random",
    "checker/explain": "what a trace takes, and what repairs it",
    "checker/compare": "a trace under two versions",
    "checker/matrix": "verdicts for operators",
    "checker/pictures": "traces as pictures and files",
    "checker/gate": "expectations, for CI",
    "checker/confirm": "real brokers",
    "checker/console/shared": "options, the screen, exit codes",
    "checker/console/models": "new, versions, layout, kernel",
    "checker/console/kept": "what is kept on disk: states, cache",
    "checker/console/traces": "view, explain, compare, convert",
    "checker/console/check": "check and its reports, tour",
    "checker/console/walks": "run and simulate",
    "checker/console/scenarios": "scenarios",
    "checker/console/matrix": "matrix",
    "checker/console/gate": "gate, and the pytest plugin",
    "checker/console/confirm": "confirm, confirm-catalogue, conform",
    "checker/console": "the command line: which commands there are",
}
"""Every room, and what is in it."""
GROUPS = {
    "The core: it knows no protocol": (
        "checker/problems",
        "checker/compiled",
        "checker/store",
        "checker/engines",
        "checker/behaviours",
        "checker/reduced",
        "checker",
    ),
    "Kafka": (
        "model/message",
        "model/atomic",
        "invariants",
        "checker/kafka",
        "checker/asking",
        "checker/byhand",
        "checker/story",
        "checker/viewer",
        "checker/scenarios",
        "checker/explain",
        "checker/compare",
        "checker/matrix",
        "checker/pictures",
        "checker/confirm",
    ),
    "Models of your own": ("waterline", "model/own", "checker/own"),
    "The command line": tuple(room for room in ROOMS if room.startswith("checker/console")),
}


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
        if path.name != "__main__.py" and path != ROOT / "model" / "__init__.py"
    }


def imported(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules() else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


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


def picture(graph: nx.DiGraph) -> str:
    """The rooms as Mermaid draws them."""
    circle = next(nx.simple_cycles(graph), None)
    if circle:
        pairs = zip(circle, [*circle[1:], circle[0]], strict=True)
        told = "; ".join(graph.edges[pair]["because"] for pair in pairs)
        raise SystemExit(f"rooms import each other in a circle: {told}")
    lines = ["flowchart TD"]
    grouped = {room for rooms in GROUPS.values() for room in rooms}
    for number, (title, rooms) in enumerate(GROUPS.items()):
        lines.append(f'  subgraph g{number}["{title}"]')
        lines += [f"    {_drawn(room)}" for room in rooms]
        lines.append("  end")
    lines += [f"  {_drawn(room)}" for room in ROOMS if room not in grouped]
    fewest = nx.transitive_reduction(graph)
    lines += [f"  {_name(left)} --> {_name(right)}" for left, right in sorted(fewest.edges)]
    return "\n".join(("```mermaid", *lines, "```"))


def table() -> str:
    """Every room with its size and what it is."""
    sizes = dict.fromkeys(ROOMS, 0)
    for path in modules().values():
        sizes[room_of(path)] += 1
    rows = [f"| `{room}/` | {sizes[room]} | {said} |" for room, said in ROOMS.items()]
    return "\n".join(("| room | modules | what is in it |", "|---|---|---|", *rows))


def made() -> str:
    """What stands between the two marks of the document."""
    return f"{BEGIN}\n{picture(arrows())}\n\n{table()}\n{END}"


def _name(room: str) -> str:
    return room.replace("/", "_")


def _drawn(room: str) -> str:
    return f'{_name(room)}["{room}/<br>{ROOMS[room]}"]'


def main() -> None:
    """Print it, or put it into the document."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--write", action="store_true", help="put it into docs/rooms.md")
    if not parser.parse_args().write:
        print(made())
        return
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    DOCUMENT.write_text(before + made() + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    main()
