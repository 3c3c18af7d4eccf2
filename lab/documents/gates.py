"""The gates that follow from what is on record elsewhere: the catalogue, the environments.

    python -m lab.documents.gates [--check] [NAME ...]

writes gates/catalogue.toml, environments.toml, or the one that is named: verdicts as the tables
have them, least depths and counts as they come out now. The difference is then reviewed like any
other. What does not come out so is reported at the end: the files say what the tables say.
`--check` writes nothing, and compares entries and verdicts alone: without a search.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waterline.checker.ci.document import parse
from waterline.checker.ci.judging import Outcome, untaken_actions
from waterline.checker.ci.reading import expectations_of
from waterline.checker.ci.searching import Manner, judge_all
from waterline.checker.cli.gate_options import asking
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.kafka.scenarios.running import ends_at_the_violation
from waterline.invariants.expected import EXPECTED
from waterline.model.message.environment import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "gates"
HEAD = """\
#:schema ../docs/schemas/gate.schema.json
# {about}
# `{maker}` writes it anew; `waterline gate --update` rewrites its numbers.
{strict}
[defaults]
engine = "local"
"""
MAKER = "python -m lab.documents.gates"


@dataclass(slots=True)
class Entry:
    """What is written of one expectation. `counts`: which numbers are expected, if any."""

    name: str
    options: Mapping[str, object]
    verdicts: dict[str, str]
    counts: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    numbers: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        """The entry as TOML."""
        lines = ["", "[[expect]]", f"name = {_value(self.name)}"]
        lines += [f"{name} = {_value(value)}" for name, value in self.options.items()]
        if self.never:
            lines.append(f"never = {_value(self.never)}")
        if self.counts:
            described = ", ".join(f"{name} = {self.numbers.get(name, 0)}" for name in self.counts)
            lines.append(f"counts = {{ {described} }}")
        lines.append("[expect.verdicts]")
        lines += [f"{name} = {self._verdict(name)}" for name in self.verdicts]
        return "\n".join(lines) + "\n"

    def _verdict(self, claim: str) -> str:
        verdict = self.verdicts[claim]
        if claim in self.numbers:
            return f"{{ verdict = {_value(verdict)}, depth = {self.numbers[claim]} }}"
        return _value(verdict)


def of_catalogue() -> Iterator[Entry]:
    """Each version of each entry in which its claim falls; those in which it stands as one."""
    for scenario in CATALOGUE:
        alone = {"scenario": scenario.name}
        for version in scenario.falls:
            ending = {"stop-at-first": True} if ends_at_the_violation(scenario, version) else {}
            yield Entry(
                f"{scenario.number} {scenario.name}: violated under {version}",
                {**alone, "protocol": version, **ending},
                {scenario.claim: "violated"},
            )
        if scenario.stands:
            yield Entry(
                f"{scenario.number} {scenario.name}: holds",
                {**alone, "protocol": scenario.stands},
                {scenario.claim: "holds"},
            )


def of_environments() -> Iterator[Entry]:
    """Every version in every named environment: what breaks, and that nothing else does."""
    for environment, versions in EXPECTED.items():
        for version, broken in versions.items():
            options = {"protocol": version, "environment": environment}
            problem = MESSAGE.problem(version, ENVIRONMENTS[environment].options())
            judged = {claim.name for claim in (*problem.applicable, *problem.applicable_properties)}
            others = {
                name: "holds" if name in judged else "not applicable"
                for name in problem.asked_names
            }
            yield Entry(
                f"{version} in {environment}",
                options,
                others | dict.fromkeys(broken, "violated"),
                ("distinct", "generated", "depth"),
            )


FILES = {
    "catalogue": (
        "The catalogue: under which versions each entry falls, and stands.",
        of_catalogue,
    ),
    "environments": ("Every version in every named environment, whole.", of_environments),
}


def whole(about: str, entries: list[Entry], maker: str = MAKER) -> str:
    """A file of them, strict where all have counts; `maker` is the command that writes it."""
    strict = "\n[gate]\nstrict = true\n" if all(entry.counts for entry in entries) else ""
    head = HEAD.format(about=about, maker=maker, strict=strict)
    return head + "".join(entry.text() for entry in entries)


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)


def measured(about: str, entries: list[Entry], name: str) -> list[Outcome]:
    """How they come out, with the numbers of each put into its entry."""
    document = parse(whole(about, entries), name)
    expectations = expectations_of(document, asking(), folder=FOLDER, allow_models=False)
    outcomes = judge_all(expectations, Manner(begin=print))
    found = {outcome.expectation.name: outcome for outcome in outcomes}
    for entry in entries:
        if entry.name in found:
            _measure(entry, found[entry.name])
        elif of_versions := [found[name] for name in _names(entry) if name in found]:
            entry.never = _never(of_versions[0])
    return outcomes


def _names(entry: Entry) -> list[str]:
    """What the gate calls an entry about several versions, each by itself."""
    versions = entry.options["protocol"]
    return [f"{entry.name} [{v}]" for v in versions] if isinstance(versions, tuple) else []


def _never(outcome: Outcome) -> tuple[str, ...]:
    """What was never reached in a whole space; of several versions it has to be the same."""
    assert outcome.answer is not None, outcome.complaints
    result = outcome.answer.result
    if not result.complete:
        return ()
    return tuple(claim.name for claim in result.reachable if claim.depth is None)


def _measure(entry: Entry, outcome: Outcome) -> None:
    assert outcome.answer is not None, outcome.complaints
    result = outcome.answer.result
    entry.never = _never(outcome)
    if entry.counts and result.complete:
        entry.never = tuple(dict.fromkeys((*entry.never, *untaken_actions(result))))
    entry.numbers = {name: getattr(result, name) for name in entry.counts}
    for claim in result.violated:
        if claim.name in entry.verdicts and claim.depth is not None:
            entry.numbers[claim.name] = claim.depth


def plain(text: str) -> list[Any]:
    """The entries without their numbers."""
    entries = tomllib.loads(text)["expect"]
    for entry in entries:
        entry.pop("counts", None)
        entry.pop("never", None)
        entry["verdicts"] = {
            claim: described["verdict"] if isinstance(described, dict) else described
            for claim, described in entry["verdicts"].items()
        }
    return list(entries)


def differing() -> Iterator[str]:
    """The files whose entries or verdicts are not those of the tables."""
    for name, (about, entries) in FILES.items():
        path = FOLDER / f"{name}.toml"
        if plain(path.read_text(encoding="utf-8")) != plain(whole(about, list(entries()))):
            yield path.name


def write(names: Collection[str]) -> None:
    """Measure and write these files. Raises `SystemExit` for what is not as in the tables."""
    wrong = []
    texts = {}
    for name in names:
        about, made = FILES[name]
        entries = list(made())
        measured(about, entries, f"{name}.toml")
        outcomes = measured(about, entries, f"{name}.toml")
        wrong += [f"{o.expectation.name}: {c}" for o in outcomes for c in o.complaints]
        texts[FOLDER / f"{name}.toml"] = whole(about, entries)
    FOLDER.mkdir(exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    if wrong:
        raise SystemExit("not as the tables have it:\n" + "\n".join(wrong))


def main() -> None:
    """Write them, or say which differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    parser.add_argument("names", nargs="*", choices=[[], *FILES], default=[], metavar="NAME")
    given = parser.parse_args()
    if not given.check:
        write(given.names or FILES)
    elif names := list(differing()):
        raise SystemExit(
            f"not as the tables have it: {', '.join(names)}; python -m lab.documents.gates"
        )


if __name__ == "__main__":
    main()
