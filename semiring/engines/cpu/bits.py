"""Bits of streams: words loaded from any byte offset, and instructions that count zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

from .compile import device

_WORD = ir.IntType(64)
# The number of valid bits of a word that is loaded from a byte and shifted to a bit.
_LOADED = 57


def _intrinsic(typed: Any) -> Any:
    """Apply numba's decorator, whose annotation treats the typing context as an argument of the caller."""
    return intrinsic(typed)


@_intrinsic
def load_word(typingctx: Any, array: Any, byte: Any) -> Any:
    """Load 8 bytes of a contiguous array from `byte` on, as a little-endian uint64; they must be in bounds."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        offset = context.cast(builder, args[1], signature.args[1], types.intp)
        start = builder.bitcast(made.data, ir.IntType(8).as_pointer())
        address = builder.bitcast(builder.gep(start, [offset]), _WORD.as_pointer())
        return builder.load(address, align=1)

    return types.uint64(array, byte), generate


def _counting(instruction: str) -> Any:
    def typed(typingctx: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            operand = context.cast(builder, args[0], signature.args[0], types.uint64)
            return getattr(builder, instruction)(operand, ir.Constant(ir.IntType(1), 0))

        return types.int64(value), generate

    return _intrinsic(typed)


leading_zeros = _counting("ctlz")
trailing_zeros = _counting("cttz")


@device
def bit_length(number):
    """Return the number of bits of an integer that is not negative; 0 for 0."""
    return 64 - leading_zeros(np.uint64(number))


@device
def bits_at(stream, bit, width):
    """`width` bits (0 to 63) of a stream from `bit` on, as uint64; 16 bytes from there on must be in it."""
    shift = np.uint64(bit & 7)
    value = load_word(stream, bit >> 3) >> shift
    if width > _LOADED:
        value |= (load_word(stream, (bit >> 3) + 7) >> shift) << np.uint64(56)
    return value & ((np.uint64(1) << np.uint64(width)) - np.uint64(1))


@device
def put_bits(words, bit, value, width):
    """Set `width` bits (1 to 63) from `bit` on in 32-bit words that are 0 there."""
    word, room = bit >> 5, 32 - (bit & 31)
    words[word] |= np.uint32(value << np.uint64(bit & 31))
    while room < width:
        word += 1
        words[word] |= np.uint32(value >> np.uint64(room))
        room += 32
