"""Forged certificates: none may be certified unless what it says is so.

Genuine certificates are altered by chance, up to three times each: header, states, files, rules of
a user model; digests, counts and names of files fit again where a forger could have them fit. What
is refused, or judged and found wrong, is noticed. For what is certified a plain search by the same
rules must find no state outside the set and none that breaks a claim, and without bounds a search
within bounds must break none of them.

    python -m lab.fuzz.forgeries [--seed N] [--minutes M]
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from lab.fuzz.rounds import Round, Wrong, attack
from waterline.checker.analysis.certificate.certificate import Certificate, open_certificate
from waterline.checker.analysis.certificate.certifying import certify
from waterline.checker.analysis.certificate.header import HEADER, STATES
from waterline.checker.analysis.certificate.renaming import key_of
from waterline.checker.analysis.certificate.writing import write_certificate
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import family_of, problem_for
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.loading import digest_of
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment

NOTICED, RIGHT, WRONG = "noticed", "certified, rightly", "CERTIFIED WRONGLY"
TERMS = """
from waterline import Epoch, Epochs, Fields, Names, Protocol, when

class State(Fields):
    nodes = Names("node", 2)
    terms = Epochs("term", 2)
    top = Epoch(terms)
    term = Epoch(terms, by=nodes)

def elect(s, node, term):
    when(term > s.top)
    s.top = term
    s.term[node] = term

def follow(s, node):
    when(s.term[node] < s.top)
    s.term[node] = s.top

def none_is_ahead(s):
    return all(s.term[n] <= s.top for n in s.nodes)

def terms_grow(s, t):
    return s.top <= t.top

def protocol(state: type[State]) -> Protocol:
    return Protocol(
        state=state, actions=[elect, follow], always=[none_is_ahead], every_step=[terms_grow]
    )
"""
EDITS = (
    ("s.term[n] <= s.top for", "s.top < 7 for"),
    ("s.term[n] <= s.top for", "s.top != 5 for"),
    ("s.term[n] <= s.top for", "s.term[n] < 4 for"),
    ("s.term[n] <= s.top for", "s.term[n] < s.top for"),
    ("s.term[n] <= s.top for", "not s.term[n] > s.top for"),
    ("s.top <= t.top", "t.top < 9"),
    ("s.top <= t.top", "t.top <= s.top"),
    ("when(term > s.top)", "when(term > s.top or s.top == 8)"),
    ("when(term > s.top)", "when(term > s.top and s.top < 6)"),
    ("when(term > s.top)\n", "when(term < s.top)\n"),
    ("    when(s.term[node] < s.top)\n", ""),
    ("    s.term[node] = term\n", ""),
    ("s.term[node] = s.top", "s.term[node] = s.top if s.top < 5 else 0"),
)
"""What the file of the user model may be exchanged for. Most of it is so within few terms alone."""
OWN = "terms.py"
SMALL = Environment(records=1, epochs=1, restarts=1, moves=0)
SUBJECTS: dict[str, Callable[[], Problem]] = {
    "own": lambda: own_family(TERMS, OWN).problem("protocol", {}),
    "own, unbounded": lambda: own_family(TERMS, OWN).problem("protocol", {"unbounded": True}),
    "bounded": lambda: problem_for("epoch", SMALL),
    "violated": lambda: problem_for("hw", replace(SMALL, epochs=2, restarts=2)),
    "unbounded": lambda: problem_for(
        "kip320", Environment(records=1, restarts=1, moves=0, unbounded=True)
    ),
    "symmetric": lambda: problem_for(
        "epoch",
        replace(SMALL, records=2, epochs=0, election_order="any"),
        symmetry=Symmetry.ALL,
    ),
}
Json = dict[str, Any]


@dataclass(slots=True)
class Forgery:
    """A certificate that is being altered; `text` is the file of the user model."""

    folder: Path
    others: list[Path]
    draw: random.Random
    text: str = TERMS
    done: list[str] = field(default_factory=list)

    @property
    def header(self) -> Json:
        """What the header says."""
        found: Json = json.loads((self.folder / HEADER).read_text())
        return found

    def put(self, header: Json) -> None:
        """Another header."""
        (self.folder / HEADER).write_text(json.dumps(header))

    @property
    def keys(self) -> list[bytes]:
        """The states."""
        found: list[bytes] = parquet.read_table(self.folder / STATES).column("state").to_pylist()
        return found

    def put_keys(self, keys: list[bytes]) -> None:
        """Other states; the header fits again."""
        kind = pa.binary(len(keys[0]))
        schema = pa.schema([pa.field("state", kind, nullable=False)])
        table = pa.table({"state": pa.array(keys, kind)}, schema)
        parquet.write_table(table, self.folder / STATES, store_schema=False)
        self.fit(len(keys))

    def fit(self, count: int) -> None:
        """Have the header name the file of states as it is."""
        digest = hashlib.sha256((self.folder / STATES).read_bytes()).hexdigest()
        self.put(self.header | {"sha256": digest, "states": count})

    def find(self, model: str) -> Family:
        """The family that judges."""
        return own_family(self.text, OWN) if model == OWN else family_of(model)


# --- alterations ---------------------------------------------------------------------------------


def verdict(forged: Forgery) -> None:
    """A claim is said to hold, or otherwise."""
    header = forged.header
    wrong = [n for n, each in header["claims"].items() if each["verdict"] != "holds"]
    name = forged.draw.choice(wrong or list(header["claims"]))
    said = "holds" if wrong else forged.draw.choice(["violated", "incomplete", "not applicable"])
    header["claims"][name] = {"verdict": said, "depth": None}
    forged.put(header)


def claim(forged: Forgery) -> None:
    """A claim is there or not, or has another name."""
    header, draw = forged.header, forged.draw
    family = forged.find(header["problem"]["model"])
    known = [each.name for each in (*family.invariants, *family.properties)]
    names = list(header["claims"])
    name = draw.choice(names)
    match draw.randrange(3):
        case 0:
            del header["claims"][name]
        case 1:
            header["claims"][f"{name}_"] = header["claims"].pop(name)
        case 2:
            header["claims"][draw.choice(known or names)] = {"verdict": "holds", "depth": None}
    header["problem"]["invariants"] = sorted(header["claims"])
    forged.put(header)


def option(forged: Forgery) -> None:
    """A bound or a setting is another."""
    header, draw = forged.header, forged.draw
    bounds = header["problem"]["bounds"]
    name = draw.choice([*bounds, "unbounded", "settled", "where", "terms"])
    others = {
        bool: [True, False, 1],
        int: [0, 1, 2, 3, -1, 1 << 40],
        str: ["any", "all", "1", "leader", "post", "pre", "start", "assignment", ""],
        type(None): [True, 3, "epoch == 0", "s.top == 9", "up[0] = 0"],
    }
    if draw.random() < 0.1:
        bounds.pop(name, None)
    else:
        bounds[name] = draw.choice(others[type(bounds.get(name))])
    forged.put(header)


def question(forged: Forgery) -> None:
    """Another model, version or symmetry."""
    header, draw = forged.header, forged.draw
    key = draw.choice(["model", "protocol", "symmetry"])
    header["problem"][key] = draw.choice(
        {
            "model": ["kafka-replication", "kafka-replication-atomic", OWN, "other.py"],
            "protocol": ["hw", "epoch", "kip279", "kip320", "kip320-without-fencing", "elr"],
            "symmetry": ["none", "replicas", "records", "all", "node", "term"],
        }[key]
    )
    forged.put(header)


def layout(forged: Forgery) -> None:
    """A field is packed otherwise."""
    header, draw = forged.header, forged.draw
    each = draw.choice(header["layout"]["fields"])
    each[draw.choice(["lo", "hi", "bits", "first_bit", "row_bits"])] += draw.choice([-1, 1, 8])
    if draw.random() < 0.3:
        header["layout"]["fields"].reverse()
    forged.put(header)


def digest_or_count(forged: Forgery) -> None:
    """The header is of another file."""
    header = forged.header
    if forged.draw.random() < 0.5:
        header["sha256"] = hashlib.sha256(header["sha256"].encode()).hexdigest()
    else:
        header["states"] += forged.draw.choice([-1, 1, 1000])
    forged.put(header)


def fewer(forged: Forgery) -> None:
    """Some states are missing."""
    keys = forged.keys
    missing = {*forged.draw.sample(keys, min(len(keys) - 1, forged.draw.choice([1, 2, 5])))}
    forged.put_keys([key for key in keys if key not in missing])


def prefix(forged: Forgery) -> None:
    """Only the first few are there."""
    keys = forged.keys
    forged.put_keys(keys[: forged.draw.randrange(1, len(keys) + 1)])


def flipped(forged: Forgery) -> None:
    """A bit of a state is another, beside it or in its place."""
    keys, draw = forged.keys, forged.draw
    old = draw.choice(keys)
    new = bytearray(old)
    new[draw.randrange(len(new))] ^= 1 << draw.randrange(8)
    kept = {*keys} if draw.random() < 0.5 else {*keys} - {old}
    forged.put_keys(sorted({*kept, bytes(new)}))


def disordered(forged: Forgery) -> None:
    """A state stands twice, or in the wrong place."""
    keys, draw = forged.keys, forged.draw
    if draw.random() < 0.5:
        keys.insert(draw.randrange(len(keys)), draw.choice(keys))
    else:
        draw.shuffle(keys)
    forged.put_keys(keys)


def swapped(forged: Forgery) -> None:
    """The states, or the header, of another certificate."""
    other, draw = forged.draw.choice(forged.others), forged.draw
    shutil.copy(other / (name := draw.choice([STATES, HEADER])), forged.folder / name)
    if draw.random() < 0.7:
        forged.fit(len(forged.keys))


def broken(forged: Forgery) -> None:
    """A file is cut off, or has a byte altered."""
    path = forged.folder / forged.draw.choice([STATES, HEADER])
    content = bytearray(path.read_bytes())
    if forged.draw.random() < 0.5:
        del content[forged.draw.randrange(len(content)) :]
    else:
        content[forged.draw.randrange(len(content))] ^= 1 << forged.draw.randrange(8)
    path.write_bytes(content)
    if path.name == STATES and forged.draw.random() < 0.5:
        forged.fit(forged.header["states"])


def other_rules(forged: Forgery) -> None:
    """The user model is another file, whose digest the header has."""
    header = forged.header
    old, new = forged.draw.choice(EDITS)
    forged.text = forged.text.replace(old, new)
    if "sha256" in header["problem"]["bounds"]:
        header["problem"]["bounds"]["sha256"] = digest_of(forged.text)
    forged.put(header)


OF_HEADER = (verdict, claim, option, option, question, layout, digest_or_count)
OF_STATES = (fewer, prefix, flipped, disordered, swapped)


# --- judgement -----------------------------------------------------------------------------------


def outcome_of(forged: Forgery) -> tuple[str, str]:
    """What comes of it, and why."""
    try:
        certificate = open_certificate(forged.folder, forged.find)
        certified = certify(certificate, jobs=1)
    except (Refused, BadEnvironment) as refused:
        return NOTICED, str(refused).rpartition(str(forged.folder))[2]
    if certified.failure is not None:
        return NOTICED, certified.failure.what
    wrong = what_is_wrong(certificate, forged)
    return (WRONG, wrong) if wrong else (RIGHT, f"{certified.states:,} states")


def what_is_wrong(certificate: Certificate, forged: Forgery) -> str:
    """Why what is certified is not so; "" where it is."""
    problem = certificate.problem
    keys = None if problem.symmetry.sorts else {*forged.keys}
    wrong = _wrong_in(problem, certificate.certified, keys)
    if wrong or problem.model.concretise is None:
        return wrong
    given = dict(problem.model.options) | {"unbounded": False}
    given |= {"terms": 9, "nodes": 1} if problem.model.name == OWN else {"epochs": 2, "restarts": 1}
    family = forged.find(problem.model.name)
    bounded = family.problem(problem.model.version, given)
    wrong = _wrong_in(bounded, certificate.certified, None)
    return f"within bounds {wrong}" if wrong else ""


def _wrong_in(problem: Problem, names: Iterable[str], keys: set[bytes] | None) -> str:
    """What a plain search finds: a claim of these that breaks, a state that is not among `keys`."""
    model, settings = problem.model, problem.model.settings
    holding = [claim for claim in problem.invariants if claim.name in names]
    keeping = [claim for claim in problem.properties if claim.name in names]
    seen, pending = {*model.initial}, [*model.initial]
    while pending:
        state = pending.pop()
        if keys is not None and key_of(state.words) not in keys:
            return "a reachable state is missing"
        if broken := [claim.name for claim in holding if not claim.holds(state, settings)]:
            return f"{broken[0]} breaks"
        for step in model.successors(state):
            if broken := [c.name for c in keeping if not c.keeps(state, step.outcome, settings)]:
                return f"{broken[0]} breaks"
            if step.after not in seen:
                seen.add(step.after)
                pending.append(step.after)
    return ""


def forge(subject: str, originals: dict[str, Path], folder: Path, draw: random.Random) -> Forgery:
    """A copy of a certificate, altered."""
    shutil.copytree(originals[subject], folder)
    forged = Forgery(folder, [path for n, path in originals.items() if n != subject], draw)
    if subject.startswith("own") and draw.random() < 0.5:
        steps: list[Callable[[Forgery], None]] = [other_rules]
    else:
        steps = [draw.choice([*OF_HEADER, *OF_STATES, broken])]
    if draw.random() < 0.4:
        steps.insert(0, draw.choice([*OF_HEADER, *OF_STATES]))
    for step in steps:
        try:
            step(forged)
        except (OSError, ValueError, LookupError, Refused, BadEnvironment):
            continue  # What an earlier alteration has left cannot be altered so.
        forged.done.append(step.__name__)
    return forged


def written(folder: Path, names: list[str]) -> dict[str, Path]:
    """Genuine certificates of these subjects."""
    found = {name: folder / name.replace(", ", "-") for name in names}
    for name, out in found.items():
        finished = partial(write_certificate, out=out)
        run(SUBJECTS[name](), EngineChoice(name="local", threads=1), finished=finished)
    return found


@contextmanager
def rounds() -> Iterator[Round]:
    """A forgery a round."""
    with tempfile.TemporaryDirectory(prefix="waterline-forgeries-") as directory:
        originals = written(Path(directory), [*SUBJECTS])

        def make_round(seed: int, seen: Counter[str]) -> None:
            draw = random.Random(seed)
            subject = draw.choice([*SUBJECTS])
            folder = Path(directory, str(seed))
            forged = forge(subject, originals, folder, draw)
            outcome, why = outcome_of(forged)
            shutil.rmtree(folder)
            seen[outcome] += 1
            if outcome == WRONG:
                raise Wrong(f"{subject}: {', '.join(forged.done)}: {outcome}: {why}")

        yield make_round


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.forgeries", rounds))
