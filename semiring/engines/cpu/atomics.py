"""Instructions that numba does not provide, mainly atomic ones, and the words that the threads of a call share.

The atomic operations are sequentially consistent: there are few, and their order is easier to verify.
"""

from __future__ import annotations

import sys
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from .compile import device, inlined


def instruction(typed: Any) -> Any:
    """Apply numba's decorator, whose annotation treats the typing context as an argument of the caller."""
    return intrinsic(typed)


def _element(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Return a pointer to args[0][args[1]]."""
    array_type, index_type = signature.args[:2]
    array = context.make_array(array_type)(context, builder, args[0])
    index = context.cast(builder, args[1], index_type, types.intp)
    return cgutils.get_item_pointer(context, builder, array_type, array, [index])


def _rewrite(operation: str) -> Any:
    def typed(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = _element(context, builder, signature, args)
            operand = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
            return builder.atomic_rmw(operation, pointer, operand, "seq_cst")

        return array.dtype(array, index, value), generate

    return instruction(typed)


fetch_add = _rewrite("add")
fetch_or = _rewrite("or")


@instruction
def compare_swap(typingctx: Any, array: Any, index: Any, expected: Any, desired: Any) -> Any:
    """Set array[index] to `desired` if it is `expected`; return the old value."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = signature.args[0].dtype
        pointer = _element(context, builder, signature, args)
        old = context.cast(builder, args[2], signature.args[2], element)
        new = context.cast(builder, args[3], signature.args[3], element)
        pair = builder.cmpxchg(pointer, old, new, "seq_cst", "seq_cst")
        return builder.extract_value(pair, 0)

    return array.dtype(array, index, expected, desired), generate


@instruction
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """Load array[index] atomically."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature, args)
        return builder.load_atomic(pointer, "seq_cst", signature.args[0].dtype.bitwidth // 8)

    return array.dtype(array, index), generate


@instruction
def store(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """Store array[index] = value atomically."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _element(context, builder, signature, args)
        operand = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
        builder.store_atomic(operand, pointer, "seq_cst", signature.args[0].dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@instruction
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """Return the position of the lowest set bit; `word` is not 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count = builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))
        return context.cast(builder, count, signature.args[0], types.int64)

    return types.int64(word), generate


@instruction
def bit_count(typingctx: Any, word: Any) -> Any:
    """Return the number of set bits."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.cast(builder, builder.ctpop(args[0]), signature.args[0], types.int64)

    return types.int64(word), generate


@instruction
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Prefetch array[index] into the cache, unless it is one value or None; the index may be out of bounds."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if not isinstance(signature.args[0], types.Array):
            return context.get_dummy_value()
        pointer = builder.bitcast(_element(context, builder, signature, args), ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        call = builder.module.declare_intrinsic(
            "llvm.prefetch", [pointer.type], ir.FunctionType(ir.VoidType(), [pointer.type, word, word, word])
        )
        builder.call(call, [pointer, word(0), word(3), word(1)])  # to read, keep it, data
        return context.get_dummy_value()

    return types.void(array, index), generate


@instruction
def rolled(typingctx: Any, index: Any) -> Any:
    """Return the index of a loop, which the compiler then neither unrolls nor vectorizes: for few iterations."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        same = ir.FunctionType(args[0].type, [args[0].type])
        return builder.call(ir.InlineAsm(same, "", "=r,0", side_effect=False), args)

    return index(index), generate


@instruction
def eight_bytes(typingctx: Any, array: Any, index: Any) -> Any:
    """Return array[index:index + 8] of a contiguous array of bytes as one word, the first byte as the highest."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = ir.IntType(64)
        pointer = builder.bitcast(_element(context, builder, signature, args), word.as_pointer())
        loaded = builder.load(pointer, align=1)
        return builder.bswap(loaded) if sys.byteorder == "little" else loaded

    return types.uint64(array, index), generate


# A thread that has waited long yields its core: with more threads than cores the others need it.
yield_core = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())

# Indices in the control array of a call, each on its own cache line.
ABORTED, PART, CHUNK, JOB, RETIRED, CONTROL_SIZE = 0, 16, 32, 48, 64, 80
# Steps (less one, a power of two) between two checks for an abort: of rows, and of single entries.
FEW_STEPS, MANY_STEPS = (1 << 10) - 1, (1 << 16) - 1
# Chunks of work that differs between rows.
CHUNKS_PER_THREAD = 32
# More than any number of chunks; the product with the entries of a chunk does not overflow.
_NO_CHUNK = 1 << 46


@inlined
def stopped(control):
    """Return whether the call is aborted: the kernel must return soon, its arrays are discarded."""
    return load(control, ABORTED) != 0


@device
def next_chunk(control):
    """Claim the next chunk of the call (or of the open job); a number past the last chunk when none is left.

    In an aborted call no chunk is left, so every loop over chunks ends soon.
    """
    if load(control, ABORTED) != 0:
        return _NO_CHUNK
    return fetch_add(control, CHUNK, 1)
