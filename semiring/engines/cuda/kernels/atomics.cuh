// Atomic updates by any function, for every value type of 1 to 8 bytes.

#pragma once

#include "types.cuh"

// *address = change(*address), atomically; returns the value before.  Any thread may call.  No store is made
// where `change` returns what it was given, so testing before setting comes for free.
template <class T, class F>
DEVICE T atomic_update(T* address, F change) {
    typedef unsigned_of<sizeof(T)> U;
    if constexpr (sizeof(T) >= 4) {
        U* const slot = reinterpret_cast<U*>(address);
        U seen = *reinterpret_cast<volatile U*>(slot);
        for (;;) {
            const U wanted = from_bits<U>(T(change(from_bits<T>(seen))));
            if (wanted == seen) return from_bits<T>(seen);
            const U found = atomicCAS(slot, seen, wanted);
            if (found == seen) return from_bits<T>(seen);
            seen = found;
        }
    } else {
        // The aligned word around it: its other bytes are put back as they were seen.
        const u64 place = reinterpret_cast<u64>(address);
        u32* const slot = reinterpret_cast<u32*>(place & ~u64(3));
        const int shift = int(place & 3) * 8;
        const u32 field = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
        u32 seen = *reinterpret_cast<volatile u32*>(slot);
        for (;;) {
            const U old = U((seen & field) >> shift);
            const U wanted = from_bits<U>(T(change(from_bits<T>(old))));
            if (wanted == old) return from_bits<T>(old);
            const u32 found = atomicCAS(slot, seen, (seen & ~field) | (u32(wanted) << shift));
            if (found == seen) return from_bits<T>(old);
            seen = found;
        }
    }
}

// Sets bit p; returns whether this call did.  The bit is tested first: an atomic costs far more than a load.
DEVICE bool bit_claim(u32* words, i64 p) {
    const u32 bit = 1u << (p & 31);
    volatile u32* const word = words + (p >> 5);
    if (*word & bit) return false;
    return (atomicOr(words + (p >> 5), bit) & bit) == 0;
}
