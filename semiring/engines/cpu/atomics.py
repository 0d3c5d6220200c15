"""Instructions that numba has no name for, above all atomic ones, and the words that the threads of a call share.

The atomic operations are sequentially consistent: they are few, and what they order is easier to argue about.
"""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils, types
from numba.extending import intrinsic

from .compile import device


def _intrinsic(typed: Any) -> Any:
    """numba's decorator, whose own annotation takes the typing context for an argument of the callers."""
    return intrinsic(typed)


def _element(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Pointer to args[0][args[1]]."""
    array_type, index_type = signature.args[:2]
    array = context.make_array(array_type)(context, builder, args[0])
    index = context.cast(builder, args[1], index_type, types.intp)
    return cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
        context, builder, array_type, array, [index]
    )


def _rewrite(operation: str) -> Any:
    def typed(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _element(context, builder, signature, args)
            operand = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
            return builder.atomic_rmw(operation, pointer, operand, "seq_cst")

        return array.dtype(array, index, value), generate

    return _intrinsic(typed)


fetch_add = _rewrite("add")
fetch_or = _rewrite("or")


@_intrinsic
def compare_swap(typingctx: Any, array: Any, index: Any, expected: Any, wanted: Any) -> Any:
    """array[index] becomes `wanted` if it is `expected`; returns what was there."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = signature.args[0].dtype
        pointer = _element(context, builder, signature, args)
        old = context.cast(builder, args[2], signature.args[2], element)
        new = context.cast(builder, args[3], signature.args[3], element)
        pair = builder.cmpxchg(pointer, old, new, "seq_cst", "seq_cst")
        return builder.extract_value(pair, 0)

    return array.dtype(array, index, expected, wanted), generate


@_intrinsic
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """array[index], seen as the other threads left it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature, args)
        return builder.load_atomic(pointer, "seq_cst", signature.args[0].dtype.bitwidth // 8)

    return array.dtype(array, index), generate


@_intrinsic
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = value, for the other threads to see."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature, args)
        operand = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
        builder.store_atomic(operand, pointer, "seq_cst", signature.args[0].dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@_intrinsic
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """The position of the lowest bit that is set; `word` is not 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count = builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))
        return context.cast(builder, count, signature.args[0], types.int64)

    return types.int64(word), generate


@_intrinsic
def bit_count(typingctx: Any, word: Any) -> Any:
    """The number of bits that are set."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.cast(builder, builder.ctpop(args[0]), signature.args[0], types.int64)

    return types.int64(word), generate


@_intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Call array[index] into the cache; it need not exist."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.bitcast(_element(context, builder, signature, args), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        call = builder.module.declare_intrinsic(
            "llvm.prefetch", [pointer.type], ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        )
        builder.call(call, [pointer, word(0), word(3), word(1)])  # to read, keep it, data
        return context.get_dummy_value()

    return types.void(array, index), generate


# A thread that has waited long gives its core away: with more threads than cores the others need it.
give_way = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())

# Places in the control array of a call, each on a cache line of its own.
ABORTED, PART, CHUNK, JOB, RETIRED, CONTROL_SIZE = 0, 16, 32, 48, 64, 80
# More than any number of chunks; times the entries of a chunk it does not overflow.
_NO_CHUNK = 1 << 46


@device
def stopped(control: Any) -> bool:
    """True if the call is given up: the kernel is to return soon, whatever it leaves in its arrays."""
    return load(control, ABORTED) != 0  # type: ignore[no-any-return]


@device
def next_chunk(control: Any) -> int:
    """The next chunk of the call's work (or of the open job's) that no thread has taken; too large when none is left.

    None is left of a call that is given up: every loop over chunks ends soon after.
    """
    if load(control, ABORTED) != 0:
        return _NO_CHUNK
    return fetch_add(control, CHUNK, 1)  # type: ignore[no-any-return]
