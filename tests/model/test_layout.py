"""The packed form, for fields of any shape and range: what is written is read, and only that."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tests.support.states import cells, packed, put
from waterline.model.core.layout import WORD_BITS, WORDS_MAX, Alive, Field, Layout, TooLargeToPack
from waterline.model.core.state import Draft, NotAlive, OutOfRange, State, as_dict
from waterline.model.message.bounds import Bounds
from waterline.model.message.cluster import layout

RANGES = st.tuples(st.integers(-5, 5), st.integers(1, 60)).map(lambda r: (r[0], r[0] + r[1]))
Values = dict[str, Any]

# Two kinds of rows that never mean anything together, and one that both need.
KIND, LEFT, RIGHT = "kind", (1,), (2, 3)


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """A few plain fields, and perhaps rows that share their bits, decided by a field `kind`."""
    fields = []
    for i in range(draw(st.integers(1, 4))):
        lo, hi = draw(RANGES)
        shape = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
        fields.append(Field(name=f"plain{i}", doc="", lo=lo, hi=hi, shape=shape))
    rows = draw(st.integers(1, 3))
    shared = draw(st.lists(st.sampled_from([LEFT, RIGHT]), max_size=3))
    if shared:
        fields.append(Field(name=KIND, doc="", hi=3, shape=(rows,)))
    for i, kinds in enumerate(shared):
        lo, hi = draw(RANGES)
        columns = draw(st.sampled_from([(), (2,)]))
        shape = (rows, *columns)
        alive = Alive(KIND, kinds)
        fields.append(Field(name=f"shared{i}", doc="", lo=lo, hi=hi, shape=shape, alive=alive))
    try:
        return Layout(draw(st.permutations(fields)), sizes={"rows": rows})
    except TooLargeToPack:
        reject()


@st.composite
def values_of(draw: st.DrawFn, layout: Layout) -> Values:
    """A value for every element that means something."""
    kinds: list[int] = []
    values: Values = {}
    for declared in sorted(layout.fields, key=lambda f: f.name):  # kind comes before shared
        value = st.integers(declared.lo, declared.hi)
        rows = declared.shape[0] if declared.shape else 1
        row = (
            st.lists(value, min_size=declared.shape[1], max_size=declared.shape[1])
            if len(declared.shape) == 2
            else value
        )
        drawn: list[Any] = [
            draw(row) if declared.alive is None or kinds[i] in declared.alive.values else None
            for i in range(rows)
        ]
        if declared.name == KIND:
            kinds = drawn
        values[declared.name] = drawn if declared.shape else drawn[0]
    return values


def read(state: State) -> dict[tuple[str, tuple[int, ...]], int]:
    return {(name, index): value for name, index, value in cells(as_dict(state))}


def written(values: Values) -> dict[tuple[str, tuple[int, ...]], int]:
    return {(name, index): value for name, index, value in cells(values)}


@given(st.data())
def test_what_is_written_is_read_back(data: st.DataObject) -> None:
    layout = data.draw(layouts())
    values = data.draw(values_of(layout))

    assert read(packed(layout, values)) == written(values)


@given(st.data())
def test_a_write_disturbs_no_other_field(data: st.DataObject) -> None:
    layout = data.draw(layouts())
    values = data.draw(values_of(layout))
    draft = packed(layout, values).draft()
    expected = written(values)
    writable = sorted(key for key in expected if key[0] != KIND)
    for name, index in data.draw(st.lists(st.sampled_from(writable), min_size=1, max_size=8)):
        declared = next(f for f in layout.fields if f.name == name)
        value = data.draw(st.integers(declared.lo, declared.hi))
        put(draft, name, index, value)
        expected[name, index] = value

    assert read(draft) == expected


@given(st.data())
def test_states_are_equal_exactly_when_all_their_values_are(data: st.DataObject) -> None:
    layout = data.draw(layouts())
    some, other = data.draw(values_of(layout)), data.draw(values_of(layout))
    changed = written(some)
    key = data.draw(st.sampled_from(sorted(key for key in changed if key[0] != KIND)))
    declared = next(f for f in layout.fields if f.name == key[0])
    draft = packed(layout, some).draft()
    put(draft, *key, data.draw(st.integers(declared.lo, declared.hi)))

    assert (packed(layout, some) == packed(layout, other)) == (some == other)
    assert (draft.freeze() == packed(layout, some)) == (read(draft) == changed)
    assert packed(layout, some) == packed(layout, dict(reversed(some.items())))


@given(layouts())
def test_zero_words_are_the_lowest_values(layout: Layout) -> None:
    lowest = {f.name: f.lo for f in layout.fields}

    assert all(value == lowest[name] for (name, _), value in read(State(layout)).items())
    assert State(layout).words == (0,) * layout.words


@given(layouts())
def test_no_element_straddles_two_words_and_no_two_share_a_bit(layout: Layout) -> None:
    taken: dict[int, str] = {}
    for declared in layout.fields:
        place = layout.places[declared.name]
        extents = (*place.shape, 1, 1)[:2]
        for i in range(extents[0]):
            for j in range(extents[1]):
                first = place.bit + i * place.row + j * place.column
                bits = range(first, first + place.width)
                assert len({bit // WORD_BITS for bit in bits}) <= 1
                assert all(bit < layout.words * WORD_BITS for bit in bits)
                for bit in bits:
                    group = "" if declared.alive is None else f"{declared.alive.values} {i}"
                    owner = f"{declared.name} {i} {j}"
                    other = taken.setdefault(bit, f"{group}|{owner}")
                    assert other == f"{group}|{owner}" or (
                        group and not other.startswith((f"{group}|", "|"))
                    )


@given(st.data())
def test_states_survive_pickling(data: st.DataObject) -> None:
    layout = data.draw(layouts())
    state = packed(layout, data.draw(values_of(layout)))
    copy = pickle.loads(pickle.dumps(state))

    assert (copy, hash(copy), copy.words) == (state, hash(state), state.words)
    assert as_dict(copy) == as_dict(state)
    assert isinstance(pickle.loads(pickle.dumps(state.draft())), Draft)
    assert not isinstance(copy, Draft)


SMALL = Layout(
    [
        Field(name="epoch", doc="", lo=-1, hi=5),
        Field(name="role", doc="", hi=2, shape=(2,)),
        Field(name="log", doc="", hi=9, shape=(2, 3)),
        Field(name="led", doc="", lo=3, hi=9, shape=(2,), alive=Alive("role", (1,))),
        Field(name="fetched", doc="", hi=1, shape=(2, 2), alive=Alive("role", (2,))),
    ],
    sizes={"replicas": 2},
)


@pytest.mark.parametrize("value", [-2, 6, 7, 1 << 64])
def test_a_value_outside_its_range_is_not_stored(value: int) -> None:
    draft = State(SMALL).draft()

    with pytest.raises(OutOfRange, match=rf"epoch cannot be {value}: its range is -1\.\.5"):
        draft.epoch = value
    assert draft == State(SMALL)


@pytest.mark.parametrize("index", [2, -1, (0, 3), (2, 0), (0, -1), (0,), (0, 0, 0)])
def test_an_index_outside_the_shape_is_an_error(index: Any) -> None:
    draft = State(SMALL).draft()
    name = "log" if isinstance(index, tuple) else "role"

    with pytest.raises(OutOfRange):
        getattr(draft, name)[index]
    with pytest.raises(OutOfRange):
        getattr(draft, name)[index] = 0


def test_a_row_that_is_not_alive_can_be_neither_read_nor_written() -> None:
    draft = State(SMALL).draft()
    draft.role[1] = 1

    with pytest.raises(NotAlive, match=r"led\[0\] means nothing while role is 0"):
        draft.led[0]
    with pytest.raises(NotAlive, match=r"fetched\[1\] means nothing while role is 1"):
        draft.fetched[1, 0] = 1
    assert draft.led[1] == 3
    assert as_dict(draft)["led"] == [None, 3]


def test_a_size_reads_like_a_field_and_an_unknown_name_is_an_error() -> None:
    assert State(SMALL).replicas == 2
    with pytest.raises(AttributeError, match="no field 'offset'"):
        State(SMALL).offset  # noqa: B018 - reading it is the test


def test_fields_that_are_never_alive_together_share_their_bits() -> None:
    apart = [Field(name=f.name, doc="", lo=f.lo, hi=f.hi, shape=f.shape) for f in SMALL.fields]

    assert SMALL.places["led"].bit == SMALL.places["fetched"].bit
    assert SMALL.bits < Layout(apart, sizes={}).bits


def bits(count: int, name: str = "wide", **kwargs: Any) -> Field:
    return Field(name=name, doc="", hi=(1 << count) - 1, **kwargs)


def test_a_field_with_one_value_takes_no_bits() -> None:
    layout = Layout([bits(6, shape=(2,)), Field(name="only", doc="", lo=4, hi=4)], sizes={})
    draft = State(layout).draft()
    draft.only = 4

    assert (layout.bits, draft.only, draft.words) == (12, 4, (0,))
    with pytest.raises(OutOfRange):
        draft.only = 5


def test_a_field_with_one_value_can_be_read_beside_a_full_word() -> None:
    layout = Layout([bits(32, shape=(2,)), Field(name="only", doc="", lo=4, hi=4)], sizes={})

    assert State(layout).only == 4


def test_the_most_that_fits_fits() -> None:
    layout = Layout([bits(32, shape=(16,))], sizes={})

    assert (layout.words, layout.bits) == (8, 512) == (WORDS_MAX, WORDS_MAX * WORD_BITS)


def test_what_does_not_fit_is_refused_with_numbers() -> None:
    with pytest.raises(TooLargeToPack, match="needs 544 bits in 9 words, at most 512 bits in 8"):
        Layout([bits(32, shape=(17,))], sizes={})
    with pytest.raises(TooLargeToPack, match="a row of wide needs 66 bits, a word has 64"):
        Layout([bits(33, shape=(1, 2))], sizes={})


def test_the_documents_say_how_much_a_state_may_take_and_how_much_it_takes() -> None:
    docs = Path(__file__).parents[2] / "docs"
    told = " ".join((docs / "model.md").read_text().split())
    small, large = (layout(Bounds(replicas=n, records=n, epochs=n)).bits for n in (2, 3))

    assert WORDS_MAX == 8
    assert f"may take {WORDS_MAX * WORD_BITS} bits, in eight 64-bit words" in told
    assert f"2 replicas, 2 records and epochs up to 2 take {small} bits" in told
    assert f"3 replicas, 3 records and epochs up to 3 take {large}." in told
    assert "a row of one to eight 64-bit words" in (docs / "checker.md").read_text()


def test_a_name_is_declared_once() -> None:
    with pytest.raises(ValueError, match="declared twice: wide"):
        Layout([bits(1), bits(2)], sizes={})
    with pytest.raises(ValueError, match="declared twice: wide"):
        Layout([bits(1)], sizes={"wide": 1})


def test_fields_alive_together_in_part_cannot_share() -> None:
    some = bits(1, "some", shape=(2,), alive=Alive("role", (1, 2)))
    other = bits(1, "other", shape=(2,), alive=Alive("role", (2, 3)))

    with pytest.raises(ValueError, match="alive together"):
        Layout([bits(2, "role", shape=(2,)), some, other], sizes={})


@pytest.mark.parametrize(
    ("problem", "given_"),
    [
        ("is empty", {"lo": 2, "hi": 1}),
        ("shape", {"hi": 1, "shape": (1, 1, 1)}),
        ("shape", {"hi": 1, "shape": (0,)}),
        ("only rows", {"hi": 1, "alive": Alive("role", (1,))}),
    ],
)
def test_a_field_that_means_nothing_is_refused(problem: str, given_: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"field wrong: .*{problem}"):
        Field(name="wrong", doc="", **given_)


@settings(max_examples=30)
@given(layouts())
def test_layouts_are_equal_exactly_when_compiled_code_cannot_tell_them_apart(
    layout: Layout,
) -> None:
    same = Layout(layout.fields, sizes=layout.sizes)
    resized = Layout(layout.fields, sizes={"rows": layout.sizes["rows"] + 1})
    more = Layout([*layout.fields, bits(1, "more")], sizes=layout.sizes)

    assert (same, hash(same)) == (layout, hash(layout))
    assert layout not in (resized, more)


def test_a_row_that_is_alive_by_what_is_no_such_field_is_an_error_of_the_declaration() -> None:
    rows = Field(name="rows", doc="", hi=1, shape=(2,), alive=Alive("role", (1,)))
    role = Field(name="role", doc="", hi=1, shape=(3,))

    with pytest.raises(ValueError, match="rows is alive by role, which is no field with 2 rows"):
        Layout([rows], sizes={})
    with pytest.raises(ValueError, match="rows is alive by role, which is no field with 2 rows"):
        Layout([role, rows], sizes={})


def test_a_state_of_another_number_of_words_is_an_error() -> None:
    layout = Layout([bits(32, shape=(2,))], sizes={})

    with pytest.raises(ValueError, match="1 words here, not 2"):
        State(layout, (0, 0))
