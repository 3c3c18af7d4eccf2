"""The compiled form of a state: Numba types that read and write bits of packed words.

An action is compiled exactly as it stands. `s.leo[r]` on a compiled state becomes a load, a shift
and a mask with constants from the layout, and reads as a signed 64-bit number; `s.leo[r] = x`
touches only those bits. There is no unpacked copy.

Storing a value outside its declared range, or indexing outside a shape, does not write: it raises
the state's fault flag, which the kernels look at and which the interpreted model then turns into a
message. The layout is part of the Numba type, and so of every cache key.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_getattr_generic, lower_setattr_generic
from numba.core.typing import signature
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
)
from numba.extending import NativeValue, intrinsic, register_model, typeof_impl, unbox

from model.layout import WORD_BITS, Layout, Place

_I64 = ir.IntType(64)
_SHIFT = WORD_BITS.bit_length() - 1


class LayoutType(types.Type):
    """A layout handed to a kernel: it carries no value, only its type."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        super().__init__(name=f"Layout({layout.digest})")


class StateType(types.Type):
    """A pointer to the words of one state, and one to its fault flag."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        super().__init__(name=f"State({layout.digest})")


class RowsType(types.Type):
    """One field with a shape, of a state."""

    def __init__(self, layout: Layout, field: str) -> None:
        self.layout = layout
        self.place = layout.places[field]
        super().__init__(name=f"Rows({layout.digest},{field})")


@typeof_impl.register(Layout)
def _typeof_layout(value: Layout, context: Any) -> LayoutType:
    return LayoutType(value)


register_model(LayoutType)(models.OpaqueModel)


@unbox(LayoutType)
def _unbox_layout(typ: LayoutType, value: Any, c: Any) -> NativeValue:
    return NativeValue(c.context.get_dummy_value())


class _PointersModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("words", types.CPointer(types.uint64)), ("fault", types.CPointer(types.uint64))]
        super().__init__(dmm, fe_type, members)


register_model(StateType)(_PointersModel)
register_model(RowsType)(_PointersModel)


@infer_getattr
class _StateAttributes(AttributeTemplate):
    key = StateType

    def generic_resolve(self, state: StateType, name: str) -> types.Type | None:
        layout = state.layout
        if name in layout.sizes:
            return types.int64
        place = layout.places.get(name)
        if place is None:
            return None
        return RowsType(layout, name) if place.shape else types.int64


@lower_getattr_generic(StateType)
def _get_attribute(context: Any, builder: Any, typ: StateType, value: Any, name: str) -> Any:
    if name in typ.layout.sizes:
        return ir.Constant(_I64, typ.layout.sizes[name])
    place = typ.layout.places[name]
    if place.shape:
        return value
    return _load(context, builder, typ, value, place, [])


@lower_setattr_generic(StateType)
def _set_attribute(context: Any, builder: Any, sig: Any, args: Any, name: str) -> None:
    typ, stored = sig.args
    value = context.cast(builder, args[1], stored, types.int64)
    _store(context, builder, typ, args[0], typ.layout.places[name], [], value)


def _indices(rows: RowsType, index: types.Type) -> bool:
    if isinstance(index, types.Integer):
        return len(rows.place.shape) == 1
    return (
        isinstance(index, types.BaseTuple)
        and len(index) == len(rows.place.shape)
        and all(isinstance(each, types.Integer) for each in index)
    )


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 2 and isinstance(args[0], RowsType) and _indices(args[0], args[1]):
            return signature(types.int64, *args)
        return None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 3 and isinstance(args[0], RowsType) and _indices(args[0], args[1]):
            return signature(types.none, args[0], args[1], types.int64)
        return None


def _index_values(context: Any, builder: Any, typ: types.Type, value: Any) -> list[Any]:
    if isinstance(typ, types.Integer):
        return [context.cast(builder, value, typ, types.int64)]
    elements = cgutils.unpack_tuple(builder, value)
    return [context.cast(builder, e, t, types.int64) for e, t in zip(elements, typ, strict=True)]


@lower_builtin(operator.getitem, RowsType, types.Integer)
@lower_builtin(operator.getitem, RowsType, types.BaseTuple)
def _get_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    rows, index = sig.args
    indices = _index_values(context, builder, index, args[1])
    return _load(context, builder, rows, args[0], rows.place, indices)


@lower_builtin(operator.setitem, RowsType, types.Integer, types.Integer)
@lower_builtin(operator.setitem, RowsType, types.BaseTuple, types.Integer)
def _set_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    rows, index, _ = sig.args
    indices = _index_values(context, builder, index, args[1])
    _store(context, builder, rows, args[0], rows.place, indices, args[2])
    return context.get_dummy_value()


def _outside(builder: Any, place: Place, indices: list[Any]) -> Any:
    """Whether an index is outside the shape; constants fold away when compiled."""
    outside = ir.Constant(ir.IntType(1), 0)
    for index, extent in zip(indices, place.shape, strict=True):
        outside = builder.or_(
            outside, builder.icmp_unsigned(">=", index, ir.Constant(_I64, extent))
        )
    return outside


def _locate(builder: Any, words: Any, place: Place, indices: list[Any]) -> tuple[Any, Any]:
    """Pointer to the word of an element, and the element's shift within it."""
    bit: Any = ir.Constant(_I64, place.bit)
    for index, stride in zip(indices, (place.row, place.column), strict=False):
        bit = builder.add(bit, builder.mul(index, ir.Constant(_I64, stride)))
    if place.word >= 0:
        word: Any = ir.Constant(_I64, place.word)
    else:
        word = builder.lshr(bit, ir.Constant(_I64, _SHIFT))
    shift = builder.and_(bit, ir.Constant(_I64, WORD_BITS - 1))
    return builder.gep(words, [word]), shift


def _raise_fault(builder: Any, pointers: Any) -> None:
    builder.store(ir.Constant(_I64, 1), pointers.fault)


def _load(
    context: Any, builder: Any, typ: Any, value: Any, place: Place, indices: list[Any]
) -> Any:
    """Read an element as int64. Outside the shape it reads as the lowest value and faults."""
    pointers = cgutils.create_struct_proxy(typ)(context, builder, value=value)
    low = ir.Constant(_I64, place.lo)
    result = cgutils.alloca_once_value(builder, low)
    outside = _outside(builder, place, indices)
    with builder.if_else(outside, likely=False) as (bad, good):
        with bad:
            _raise_fault(builder, pointers)
        with good:
            word, shift = _locate(builder, pointers.words, place, indices)
            bits = builder.lshr(builder.load(word), shift)
            bits = builder.and_(bits, ir.Constant(_I64, (1 << place.width) - 1))
            builder.store(builder.add(bits, low), result)
    return builder.load(result)


def _store(
    context: Any, builder: Any, typ: Any, value: Any, place: Place, indices: list[Any], stored: Any
) -> None:
    """Write an element, or fault and leave the words alone."""
    pointers = cgutils.create_struct_proxy(typ)(context, builder, value=value)
    bits = builder.sub(stored, ir.Constant(_I64, place.lo))
    span = ir.Constant(_I64, place.hi - place.lo)
    wrong = builder.or_(_outside(builder, place, indices), builder.icmp_unsigned(">", bits, span))
    with builder.if_else(wrong, likely=False) as (bad, good):
        with bad:
            _raise_fault(builder, pointers)
        with good:
            word, shift = _locate(builder, pointers.words, place, indices)
            hole = builder.not_(builder.shl(ir.Constant(_I64, (1 << place.width) - 1), shift))
            kept = builder.and_(builder.load(word), hole)
            builder.store(builder.or_(kept, builder.shl(bits, shift)), word)


@intrinsic
def scratch(typingctx: Any, layout: Any) -> Any:
    """A state of its own on the stack, with a fault flag that is down. Its words are undefined."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointers = cgutils.create_struct_proxy(sig.return_type)(context, builder)
        words = cgutils.alloca_once(builder, _I64, size=layout.layout.words)
        pointers.words = words
        pointers.fault = cgutils.alloca_once(builder, _I64)
        builder.store(ir.Constant(_I64, 0), pointers.fault)
        return pointers._getvalue()

    return signature(StateType(layout.layout), layout), codegen


@intrinsic
def fetch_words(typingctx: Any, state: Any, rows: Any, row: Any) -> Any:
    """Copy row `row` of a C-contiguous (n, words) array of uint64 into the state."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        _copy_row(context, builder, sig, args, into_state=True)
        return context.get_dummy_value()

    return signature(types.none, state, rows, types.int64), codegen


@intrinsic
def put_words(typingctx: Any, state: Any, rows: Any, row: Any) -> Any:
    """Copy the state's words into row `row` of a C-contiguous (n, words) array of uint64."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        _copy_row(context, builder, sig, args, into_state=False)
        return context.get_dummy_value()

    return signature(types.none, state, rows, types.int64), codegen


def _copy_row(context: Any, builder: Any, sig: Any, args: Any, *, into_state: bool) -> None:
    state, array = sig.args[:2]
    words = cgutils.create_struct_proxy(state)(context, builder, value=args[0]).words
    data = context.make_array(array)(context, builder, value=args[1]).data
    count = state.layout.words
    start = builder.mul(args[2], ir.Constant(_I64, count))
    for w in range(count):
        inside = builder.gep(words, [ir.Constant(_I64, w)])
        outside = builder.gep(data, [builder.add(start, ir.Constant(_I64, w))])
        if into_state:
            builder.store(builder.load(outside), inside)
        else:
            builder.store(builder.load(inside), outside)


@intrinsic
def copy_state(typingctx: Any, target: Any, source: Any) -> Any:
    """Make `target` hold the words of `source`."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        to = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).words
        of = cgutils.create_struct_proxy(sig.args[1])(context, builder, value=args[1]).words
        for w in range(target.layout.words):
            index = [ir.Constant(_I64, w)]
            builder.store(builder.load(builder.gep(of, index)), builder.gep(to, index))
        return context.get_dummy_value()

    return signature(types.none, target, source), codegen


@intrinsic
def faulted(typingctx: Any, state: Any) -> Any:
    """Whether an access to the state was out of range."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        flag = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).fault
        return builder.icmp_unsigned("!=", builder.load(flag), ir.Constant(_I64, 0))

    return signature(types.boolean, state), codegen
