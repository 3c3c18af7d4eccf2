"""Rules that use an epoch or a record otherwise than by order and equality are refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.fuzz.order_abstraction import Pair
from lab.fuzz.sorts import differs, in_place, refused, sorted_mutants
from tests.support import ill_sorted_epochs, ill_sorted_records
from tests.support.sampling import drawn
from waterline import invariants
from waterline.checker.checking.run import run
from waterline.checker.compiler import lookup_record, text_key
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.sorts import check
from waterline.checker.sorts.check import interpret, require_well_sorted, violations
from waterline.checker.sorts.interpretation import IllSorted
from waterline.model.core.claim import Temporal
from waterline.model.message import metadata, order_abstraction, trusted
from waterline.model.message.features import FEATURES, TRUNCATIONS, Feature
from waterline.model.message.versions import NAMED, VERSIONS, BadVersion, version_of

RULES = {
    name: rule
    for module in (ill_sorted_epochs, ill_sorted_records)
    for name, rule in vars(module).items()
    if inspect.isfunction(rule)
    and rule.__module__ == module.__name__
    and list(inspect.signature(rule).parameters) == ["s", "c", "replica"]
}
SOUND = {name for name in RULES if name.startswith("sound")}
BY_FEATURE = {"gap_of_the_newest"}
CIRCUMSTANCES: tuple[dict[str, Any], ...] = (
    {"moves": 1},
    {
        "shutdowns": 1,
        "session-expiries": 1,
        "requests-survive": True,
        "parked-fetches": True,
        "late-reads": True,
        "late-answers": True,
        "late-booking": "by-replica",
        "unfenced-registration": True,
        "consumer": True,
        "power-losses": 1,
        "lost-disks": 1,
        "lost-checkpoints": 1,
        "directory-moves": 1,
        "acks": "1",
    },
    {"election-order": "any", "unclean-leader-election": True, "replicas": 3},
)


WORDS = ("with", "without")


def unbounded(version: str, **options: Any) -> Problem:
    """The unbounded problem of a version, with every claim that can be asked of it."""
    given = {**MESSAGE.usual.options(), "unbounded": True, "records": 1, **options}
    claims = (*invariants.ALL, *invariants.PROPERTIES, *invariants.BEHAVIOURS)
    names = tuple(c.name for c in claims if not isinstance(c, Temporal))
    return MESSAGE.problem(version, given, names)


def with_rule(rule: Callable[..., Any], version: str = "kip320") -> Problem:
    """The problem of a version whose brokers crash by another rule."""
    problem = unbounded(version)
    actions = tuple(
        replace(action, effect=rule) if action.name == "Crash" else action
        for action in problem.model.actions
    )
    return replace(problem, model=replace(problem.model, actions=actions))


def switched(version: str) -> Iterator[str]:
    """A version, and the same with each feature switched that can be."""
    names = [f"{word}-{f}" for f in (*(f.name for f in FEATURES), *TRUNCATIONS) for word in WORDS]
    names += [
        f"with-{needed.name}-with-{f.name}"
        for f in FEATURES
        for needed in FEATURES
        if f.needs & needed.bit
    ]
    for text in [version, *(f"{version}-{name}" for name in names)]:
        with suppress(BadVersion):
            yield version_of(text).name


def marked(name: str) -> list[int]:
    """The lines that must be refused for a rule: in it, or in a helper that names it."""
    lines = Path(inspect.getfile(RULES[name])).read_text().splitlines()
    rule, first = inspect.getsourcelines(RULES[name])
    inside = [first + i for i, line in enumerate(rule) if line.rstrip().endswith("#!")]
    return inside or [
        i for i, line in enumerate(lines, start=1) if line.rstrip().endswith(f"#! {name}")
    ]


ILL_SORTED = sorted(RULES.keys() - SOUND - BY_FEATURE)


@pytest.mark.parametrize("name", drawn(ILL_SORTED, 40))
def test_another_use_is_refused_at_its_line(name: str) -> None:
    assert_refused_at_its_line(name)


def assert_refused_at_its_line(name: str) -> None:
    """The rule is refused there, and nowhere else."""
    found = violations(with_rule(RULES[name]))

    assert len(marked(name)) == 1
    assert {v.line for v in found} == set(marked(name))
    assert all(inspect.getfile(RULES[name]).endswith(v.file) for v in found)
    assert all("the effect of Crash" in v.root for v in found)


@pytest.mark.parametrize("name", sorted(SOUND))
def test_order_and_equality_are_not(name: str) -> None:
    assert violations(with_rule(RULES[name])) == ()


@pytest.mark.parametrize("version", drawn(VERSIONS, 3))
def test_the_rules_of_a_version_keep_to_the_sorts_whatever_is_switched(version: str) -> None:
    assert_well_sorted(drawn(switched(version), 5))


def assert_well_sorted(texts: list[str]) -> None:
    """None of these versions violates a sort, in one circumstance or another."""
    found = [
        (text, str(violation))
        for number, text in enumerate(texts)
        for violation in violations(unbounded(text, **CIRCUMSTANCES[number % len(CIRCUMSTANCES)]))
    ]

    assert found == []


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_every_feature_is_looked_at_there_and_missing(feature: Feature) -> None:
    texts = [text for version in NAMED for text in switched(version)]

    assert {version_of(text).features & feature.bit != 0 for text in texts} == {True, False}


def test_a_bounded_model_may_use_epochs_as_numbers() -> None:
    problem = with_rule(ill_sorted_epochs.equals_two)
    bounded = replace(problem, model=replace(problem.model, concretise=None))

    require_well_sorted(bounded)
    with pytest.raises(IllSorted):
        require_well_sorted(problem)


def test_a_refusal_says_rule_file_line_expression_and_remedy_in_one_line() -> None:
    with pytest.raises(IllSorted) as refused:
        require_well_sorted(with_rule(ill_sorted_epochs.equals_two))

    [line] = marked("equals_two")
    assert str(refused.value) == (
        f"tests/support/ill_sorted_epochs.py:{line}: equals_two, of the effect of Crash: "
        "`s.epoch == 2` compares an epoch with 2 by `==`; without bounds epochs have no fixed "
        "numbers: compare them with each other by ==, !=, <, <=, min and max, and with NO_EPOCH, "
        "copy them, or leave out --unbounded"
    )


def test_a_rule_that_is_switched_off_is_not_looked_at() -> None:
    rule = ill_sorted_records.sound_without_a_feature

    assert violations(with_rule(rule)) == ()
    assert len(violations(with_rule(rule, "kip320-with-append-checks-epoch"))) == 2


@pytest.mark.parametrize("name", ["gap_of_two_brokers", "gap_of_a_number"])
def test_a_gap_is_kept_below_the_newest_epoch_alone(name: str) -> None:
    version = "kip320-with-fresh-remote-leo-after-gap"
    [violation] = violations(with_rule(RULES[name], version))

    assert violation.line == marked(name)[0]
    assert "gives " in violation.what
    assert violations(with_rule(ill_sorted_records.gap_of_the_newest, version)) == ()


def test_a_gap_is_kept_with_the_features_that_ask_for_it_alone() -> None:
    [violation] = violations(with_rule(ill_sorted_records.gap_of_the_newest))

    assert "does not keep with these features" in violation.what


def test_the_normal_form_renames_every_field_of_a_sort() -> None:
    text = inspect.getsource(order_abstraction)
    fields = unbounded("kip320").model.layout.fields
    held = {field.name for field in fields if field.held is not None}

    assert len(held) > 15
    assert {name for name in held if f"s.{name}" not in text} == set()


def test_what_is_trusted_is_called_by_rules_and_says_why() -> None:
    texts = [path.read_text() for path in Path(inspect.getfile(trusted)).parent.glob("*.py")]

    for each in trusted.TRUSTED:
        name = each.function.__name__
        assert sum(text.count(f"{name}(") for text in texts) > 1
        assert each.why
        assert set(each.takes) <= set(inspect.signature(each.function).parameters)


def test_a_check_is_kept_and_found_again_while_the_rules_are_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(check, "settled_digest", lambda places: "sources")
    monkeypatch.setattr(text_key, "settled_digest", lambda places: "sources")
    gone_through: list[Problem] = []
    monkeypatch.setattr(
        check, "interpret", lambda problem: gone_through.append(problem) or interpret(problem)
    )
    problem = unbounded("kip320")

    require_well_sorted(problem)
    require_well_sorted(unbounded("kip320"))
    assert len(gone_through) == 1

    for other in (unbounded("kip320", moves=1), unbounded("elr")):
        require_well_sorted(other)
    assert len(gone_through) == 3

    for _ in range(2):
        with pytest.raises(IllSorted):
            require_well_sorted(with_rule(ill_sorted_epochs.through_a_helper))
    assert len(gone_through) == 5

    lookup_record.forget()
    monkeypatch.setattr(metadata, "NO_REPLICA", -2)
    require_well_sorted(problem)
    lookup_record.forget()
    assert len(gone_through) == 6


def test_a_search_refuses_what_is_ill_sorted_before_it_begins() -> None:
    with pytest.raises(IllSorted, match="compares an epoch with 2"):
        run(with_rule(ill_sorted_epochs.equals_two), EngineChoice(name="local", threads=1))


def test_the_attack_sees_what_a_check_that_looks_at_nothing_would_pass(tmp_path: Path) -> None:
    [mutant] = [
        mutant
        for mutant in sorted_mutants("metadata")
        if mutant.rule == "can_learn" and mutant.change == "s.epoch -> min(s.epoch, 1)"
    ]
    circumstances = {"records": 2, "unbounded": True, "moves": 1}
    with in_place(mutant, tmp_path) as instead:
        why = refused([unbounded("hw")], instead)
        how = differs([Pair.of("hw", {"settled": False})], instead, 400, seed=1)

    assert "can_learn, of the guard of Learn: `min(s.epoch, 1)` takes the min of an epoch" in why
    assert "hw: Learn" in how
    assert violations(unbounded("hw", **circumstances)) == ()
    assert metadata.can_learn.__code__.co_filename.endswith("model/message/metadata.py")
