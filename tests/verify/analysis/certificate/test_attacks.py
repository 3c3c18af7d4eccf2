"""A certificate that was forged is not certified, however well its digest and its count fit."""

from __future__ import annotations

import functools
import pickle
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import (
    certificate_of,
    die,
    header_in,
    keys_in,
    put_digest,
    put_header,
    put_keys,
)
from tests.support.own import EXAMPLES
from waterline.checker.analysis.certificate.certificate import Certificate, open_certificate
from waterline.checker.analysis.certificate.certifying import Certified, Question, certify
from waterline.checker.analysis.certificate.header import BadCertificate
from waterline.checker.analysis.certificate.judging import Judge
from waterline.checker.analysis.certificate.renaming import key_of, words_of
from waterline.checker.batch.processes import in_order
from waterline.checker.kafka.families import ATOMIC, MESSAGE, family_of, problem_for
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.engine import EngineFailed
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.start import start_of
from waterline.invariants.side_conditions.base_kept import SIDE_CONDITION
from waterline.model.atomic import AtomicEnvironment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, call
from waterline.model.message.environment import Environment

SMALL = Environment(records=1, epochs=1, restarts=1, moves=0)
LOCK = own_family(start_of("lock"), "lock.py")
LEASE = own_family((EXAMPLES / "fenced_lease.py").read_text(), "fenced_lease.py")
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "bounded": lambda: problem_for("epoch", SMALL),
    "unbounded": lambda: problem_for(
        "kip320", Environment(records=1, restarts=1, moves=0, unbounded=True)
    ),
    "violated": lambda: problem_for("hw", replace(SMALL, epochs=2, restarts=2)),
    "atomic": lambda: problem_for("kip320", AtomicEnvironment(replicas=2, records=1, epochs=1)),
    "symmetric": lambda: problem_for(
        "epoch",
        replace(SMALL, records=2, epochs=0, election_order="any"),
        symmetry=Symmetry.ALL,
    ),
    "own": lambda: LOCK.problem("lock", {}),
    "own, unbounded": lambda: LEASE.problem("fenced_lease", {"unbounded": True}),
    "own, up to names": lambda: LOCK.problem("lock", {}, symmetry=[*LOCK.symmetries][-1]),
}


def find(model: str) -> Family:
    own = {each.model: each for each in (LOCK, LEASE)}
    return own[model] if model in own else family_of(model)


def judged(folder: Path) -> Certified:
    return certify(open_certificate(folder, find), jobs=1)


Made = Callable[[str], Path]


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The certificate of each problem, which is explored once."""
    at = tmp_path_factory.mktemp("originals")
    return functools.cache(lambda name: certificate_of(PROBLEMS[name](), at / name))


@pytest.fixture
def made(originals: Made, tmp_path: Path) -> Made:
    """A copy of a problem's certificate, to be forged."""
    return lambda name: Path(shutil.copytree(originals(name), tmp_path / "certificate"))


@pytest.fixture(params=PROBLEMS)
def folder(request: pytest.FixtureRequest, made: Made) -> Path:
    return made(request.param)


@pytest.fixture
def bounded(made: Made) -> Path:
    return made("bounded")


def opened(folder: Path) -> Certificate:
    return open_certificate(folder, find)


def closure(model: Model, state: State) -> Iterator[State]:
    seen, pending = {state}, [state]
    while pending:
        yield (now := pending.pop())
        for step in model.successors(now):
            if step.after not in seen:
                seen.add(step.after)
                pending.append(step.after)


def stays_within(folder: Path, model: Model) -> bool:
    """Whether a model reaches no state but those of a certificate, as a plain search has it."""
    keys = {*keys_in(folder)}
    return all(key_of(state.words) in keys for state in closure(model, model.initial[0]))


def test_what_check_writes_is_certified(folder: Path) -> None:
    certified = judged(folder)

    assert certified.failure is None
    assert certified.states == header_in(folder)["states"] == len(keys_in(folder)) > 4
    assert certified.steps > certified.states


def test_every_step_of_the_model_is_followed(folder: Path) -> None:
    certificate = opened(folder)
    model, judge = certificate.problem.model, Judge(certificate.problem, ())
    for key in keys_in(folder)[::7]:
        followed = judge.judge(key).successors
        expected = [
            (renaming, str(step), key_of(step.after.words))
            for renaming, each in enumerate(judge.alike(key))
            for step in model.successors(State(model.layout, words_of(each)))
        ]

        assert [(r, call(*judge.calls[n]), after) for r, n, after in followed] == expected


def test_a_state_that_is_missing_is_missed(folder: Path) -> None:
    keys = keys_in(folder)
    for key in random.Random(1).sample(keys, 4):
        put_keys(folder, [each for each in keys if each != key])

        failure = judged(folder).failure

        assert failure is not None
        assert failure.what in ("leads out of the set", "is not in the set")


def test_a_bit_that_is_altered_is_noticed(folder: Path) -> None:
    keys, draw = keys_in(folder), random.Random(2)
    for _ in range(3):
        altered = bytearray(draw.choice(keys))
        other = bytes(altered)
        altered[draw.randrange(len(altered))] ^= 1 << draw.randrange(8)
        if bytes(altered) not in keys:
            put_keys(folder, sorted({*keys, bytes(altered)} - {other}))

            assert judged(folder).failure is not None


def test_a_bit_that_belongs_to_no_field_is_noticed(folder: Path) -> None:
    """Else a state could be in the set under many names."""
    keys, layout = keys_in(folder), opened(folder).problem.model.layout
    draft, used = State(layout).draft(), [0] * layout.words
    for elements in layout.elements.values():
        for element in elements.values():
            used[element.word] |= element.mask << element.shift
    [free, *_] = [
        (w, bit) for w in range(draft.layout.words) for bit in range(64) if not used[w] >> bit & 1
    ]
    words = list(words_of(keys[3]))
    words[free[0]] |= 1 << free[1]
    put_keys(folder, sorted([*keys, key_of(words)]))

    failure = judged(folder).failure

    assert failure is not None
    assert failure.key == key_of(words)
    assert "bits" in failure.what


def test_a_value_beyond_its_range_is_noticed(bounded: Path) -> None:
    keys, layout = keys_in(bounded), opened(bounded).problem.model.layout
    place = layout.places["leader"]  # -1, 0 or 1: three of four values of two bits
    element = layout.elements["leader"][()]
    words = list(words_of(keys[3]))
    words[element.word] |= element.mask << element.shift
    put_keys(bounded, sorted([*keys, key_of(words)]))

    failure = judged(bounded).failure

    assert place.hi - place.lo < element.mask
    assert failure is not None
    assert failure.what == "has 2 for leader, whose range is -1..1"


def test_the_initial_state_is_to_be_there(folder: Path) -> None:
    judge = Judge(opened(folder).problem, ())
    initial = judge.alike(judge.initial()[0])
    put_keys(folder, [key for key in keys_in(folder) if key not in initial])

    failure = judged(folder).failure

    assert failure is not None
    assert failure.what == "is not in the set"


def test_a_set_may_have_more_than_the_reachable_states(bounded: Path) -> None:
    """It is inductive all the same: what is claimed holds in more states than it need."""
    model, keys = opened(bounded).problem.model, keys_in(bounded)
    draft = model.initial[0].draft()
    draft.power_losses_used = 1
    more = {key_of(state.words) for state in closure(model, draft.freeze())} - {*keys}
    put_keys(bounded, sorted([*keys, *more]))

    assert len(more) == len(keys)
    assert judged(bounded).failure is None


def test_the_count_must_be_that_of_the_header(bounded: Path) -> None:
    put_header(bounded, header_in(bounded) | {"states": len(keys_in(bounded)) + 1})

    with pytest.raises(BadCertificate, match="states"):
        opened(bounded)


@pytest.mark.parametrize("how", ["twice", "unsorted"])
def test_a_state_counts_once(how: str, bounded: Path) -> None:
    keys = keys_in(bounded)
    put_keys(bounded, sorted([*keys, keys[7]]) if how == "twice" else [*keys[1:], keys[0]])

    with pytest.raises(BadCertificate, match="order"):
        judged(bounded)


def test_a_violated_claim_that_is_said_to_hold_is_found_out(made: Made) -> None:
    folder = made("violated")
    header = header_in(folder)
    violated = [name for name, claim in header["claims"].items() if claim["verdict"] == "violated"]
    assert len(violated) > 3
    for name in violated:
        claims = {**header["claims"], name: {"verdict": "holds", "depth": None}}
        put_header(folder, {**header, "claims": claims})

        failure = judged(folder).failure

        assert failure is not None
        assert name in failure.what


@pytest.mark.parametrize("unbounded", [False, True])
def test_a_step_claim_is_judged_by_what_the_step_writes(unbounded: bool, tmp_path: Path) -> None:
    """The set is closed and all its states are fine: only a step breaks it."""
    environment = Environment(
        records=1, epochs=2, restarts=2, moves=1, unclean_leader_election=True, unbounded=unbounded
    )
    problem = problem_for("epoch", environment, ["hw_monotone"])
    folder = certificate_of(problem, tmp_path / "certificate")
    header = header_in(folder)
    put_header(folder, {**header, "claims": {"hw_monotone": {"verdict": "holds", "depth": None}}})

    failure = judged(folder).failure

    assert header["claims"]["hw_monotone"] == {"verdict": "violated", "depth": 15}
    assert failure is not None
    assert failure.what == "breaks hw_monotone"
    assert failure.place >= 0


def test_a_claim_that_is_said_to_be_violated_is_not_certified(bounded: Path) -> None:
    header = header_in(bounded)
    claims = {**header["claims"], "sane": {"verdict": "violated", "depth": 3}}
    put_header(bounded, {**header, "claims": claims})
    certificate = opened(bounded)

    assert certify(certificate, jobs=1).failure is None
    assert "sane" not in certificate.certified
    assert "log_matching" in certificate.certified


def test_a_bound_that_is_altered_contradicts_the_layout(bounded: Path) -> None:
    header = header_in(bounded)
    header["problem"]["bounds"]["epochs"] = 3
    put_header(bounded, header)

    with pytest.raises(BadCertificate, match="packs states otherwise"):
        opened(bounded)


@pytest.mark.parametrize(
    ("option", "value"),
    [("restarts", 3), ("acks", "1"), ("unclean-leader-election", True), ("hw-in-response", "pre")],
)
def test_settings_that_are_altered_are_judged_as_they_are_written(
    option: str, value: object, tmp_path: Path
) -> None:
    """The layout is the same: other rules lead out of the set, unless they only take steps away."""
    environment = replace(SMALL, restarts=2, moves=1)
    folder = certificate_of(problem_for("hw", environment, ["sane"]), tmp_path / "certificate")
    header = header_in(folder)
    assert header["problem"]["bounds"][option] != value
    header["problem"]["bounds"][option] = value
    put_header(folder, header)

    assert (judged(folder).failure is None) == stays_within(folder, opened(folder).problem.model)


def always(s: Any, c: Any) -> bool:
    return True


def always_of_one(s: Any, c: Any, one: int) -> bool:
    return True


def always_of_two(s: Any, c: Any, one: int, two: int) -> bool:
    return True


NO_GUARD = (always, always_of_one, always_of_two)
"""By the number of an action's arguments."""


@pytest.mark.parametrize("name", ["bounded", "unbounded", "atomic"])
def test_a_broken_rule_is_not_certified(name: str, made: Made) -> None:
    """One guard after the other is taken away from the rules by which it is judged."""
    folder = made(name)
    family = ATOMIC if name == "atomic" else MESSAGE
    unnoticed = []
    for action in opened(folder).problem.model.enabled_actions:

        def build(version: str, environment: object, broken: str = action.name) -> Model:
            model = family.build(version, environment)
            actions = tuple(
                replace(each, guard=NO_GUARD[len(each.parameters)]) if each.name == broken else each
                for each in model.actions
            )
            return replace(model, actions=actions)

        broken = replace(family, build=build)
        certificate = open_certificate(folder, lambda _, broken=broken: broken)  # type: ignore[misc]
        if certify(certificate, jobs=1).failure is None:
            assert stays_within(folder, certificate.problem.model)
            unnoticed.append(action.name)

    # A checkpoint of what is on disk already changes nothing; of the others there is no budget.
    assert set(unnoticed) <= {"Checkpoint", "Crash", "Move"}


def test_states_of_another_version_are_not_certified(tmp_path: Path) -> None:
    environment = replace(SMALL, epochs=2, restarts=2)
    ours = certificate_of(problem_for("epoch", environment), tmp_path / "ours")
    theirs = certificate_of(problem_for("hw", environment), tmp_path / "theirs")
    put_keys(ours, keys_in(theirs))

    assert judged(ours).failure is not None


@pytest.mark.parametrize("digest_fits", [False, True])
def test_a_truncated_file_is_refused(digest_fits: bool, bounded: Path) -> None:
    states = bounded / "states.parquet"
    states.write_bytes(states.read_bytes()[:-100])
    if digest_fits:
        put_digest(bounded)

    with pytest.raises(BadCertificate, match=r"states\.parquet"):
        judged(bounded)


def test_a_process_that_is_ended_is_no_certification() -> None:
    with pytest.raises(EngineFailed, match="was ended"):
        list(in_order(die, [(0, 8), (8, 16)], 2, what="it"))


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_asked_can_be_sent_to_processes(name: str, made: Made) -> None:
    certificate = opened(made(name))

    assert pickle.dumps(Question(certificate.problem, certificate.certified))


def test_a_step_claim_is_not_judged_by_the_normal_form(tmp_path: Path) -> None:
    """Where a settled record is cut off, every high watermark is lower by one."""
    environment = Environment(records=2, restarts=0, moves=0, unbounded=True)
    folder = certificate_of(problem_for("kip320", environment), tmp_path / "certificate")
    model = opened(folder).problem.model
    lowered = [
        step
        for key in keys_in(folder)
        for step in model.successors(State(model.layout, words_of(key)))
        if step.after.exposed_end < step.outcome.exposed_end
    ]

    assert lowered
    assert "hw_monotone" in opened(folder).certified
    assert judged(folder).failure is None


def no_base(s: Any, c: Any) -> bool:
    return s.base == 0


def test_a_condition_of_the_normal_form_is_judged_though_no_header_names_it(tmp_path: Path) -> None:
    environment = Environment(records=2, restarts=0, moves=0, unbounded=True)
    problem = problem_for("kip320", environment, ["sane"])
    folder = certificate_of(problem, tmp_path / "certificate")
    header = header_in(folder)
    assert [*header["claims"]] == ["sane", "base_kept"]
    header["problem"]["invariants"] = ["sane"]
    put_header(folder, header | {"claims": {"sane": header["claims"]["sane"]}})
    fails = replace(SIDE_CONDITION, holds=no_base)
    broken = replace(MESSAGE, side_conditions=(fails,))
    failure = certify(open_certificate(folder, lambda _: broken), jobs=1).failure

    assert [*header_in(folder)["claims"]] == ["sane"]
    assert opened(folder).certified == ("sane", "base_kept")
    assert failure is not None
    assert failure.what == "breaks base_kept"


def test_a_file_that_shrinks_meanwhile_is_no_certification(bounded: Path) -> None:
    certificate = opened(bounded)
    header = replace(certificate.header, states=certificate.header.states + 1)

    with pytest.raises(EngineFailed, match="were judged"):
        certify(replace(certificate, header=header), jobs=1)


def test_a_step_that_a_limit_cuts_which_is_to_cut_nothing_fails() -> None:
    problem = PROBLEMS["unbounded"]()
    strict = replace(problem, model=replace(problem.model, exact_without=("moves",)))
    [initial] = Judge(problem, ()).initial()

    assert Judge(problem, ()).judge(initial).failure is None
    failure = Judge(strict, ()).judge(initial).failure
    assert failure is not None
    assert failure.what == "is cut by moves"
