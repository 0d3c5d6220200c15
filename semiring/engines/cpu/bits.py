"""Bits of streams: words loaded from any byte offset, and instructions that count zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from .atomics import instruction, trailing_zeros
from .compile import device, inlined

_WORD = ir.IntType(64)
# The number of valid bits of a word that is loaded from a byte and shifted to a bit.
_LOADED = 57


@instruction
def load_word(typingctx: Any, array: Any, byte: Any) -> Any:
    """Load 8 bytes of a contiguous array from `byte` on, as a little-endian uint64; they must be in bounds."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = context.make_array(signature.args[0])(context, builder, args[0])
        offset = context.cast(builder, args[1], signature.args[1], types.intp)
        start = builder.bitcast(made.data, ir.IntType(8).as_pointer())
        address = builder.bitcast(builder.gep(start, [offset]), _WORD.as_pointer())
        return builder.load(address, align=1)

    return types.uint64(array, byte), generate


@instruction
def bit_length(typingctx: Any, number: Any) -> Any:
    """Return the number of bits of an integer that is not negative; 0 for 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        operand = context.cast(builder, args[0], signature.args[0], types.uint64)
        return builder.sub(_WORD(64), builder.ctlz(operand, ir.Constant(ir.IntType(1), 0)))

    return types.int64(number), generate


@inlined
def list_bits(words, first, last, indices, slot):
    """Write the positions of the bits set in words `first` to `last`, ascending, from a slot on; return the next."""
    for w in range(first, last):
        bits = np.uint64(words[w])
        while bits != 0:
            indices[slot] = w * 8 * words.itemsize + trailing_zeros(bits)
            bits &= bits - np.uint64(1)
            slot += 1
    return slot


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
