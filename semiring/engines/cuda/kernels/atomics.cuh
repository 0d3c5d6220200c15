// Relaxed loads and stores, and atomic updates by any function, for every value type of 1 to 8 bytes.
//
// Memory that other threads of the same launch write is read by `load_relaxed`, never by a plain load or __ldcg: with
// those the race is undefined in C++, and the compiler may load twice or not at all.  A relaxed load gives
// some value that the location had or has, and later loads of a thread never an older one; it comes from L2, and orders
// nothing else.  Every caller states why a value that is out of date does no harm.
// What was written before a barrier of the group (grid.cuh), or before the launch, is read plainly.

#pragma once

#include "types.cuh"

// Global memory.  Values of 1 or 2 bytes are read with the aligned word around them, which is what atomics change.
template <class T>
DEVICE T load_relaxed(const T* address) {
    if constexpr (sizeof(T) == 8) {
        u64 bits;
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(address));
        return from_bits<T>(bits);
    } else if constexpr (sizeof(T) == 4) {
        u32 bits;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(address));
        return from_bits<T>(bits);
    } else {
        typedef unsigned_of<sizeof(T)> U;
        const u64 place = reinterpret_cast<u64>(address);
        const u32 word = load_relaxed(reinterpret_cast<const u32*>(place & ~u64(3)));
        return from_bits<T>(U(word >> (int(place & 3) * 8)));
    }
}
// A weak load, of 4 or 8 bytes, that the compiler neither repeats nor leaves out: it may come from L1, and so may be as
// old as the launch.  Where all threads read one location (the root of a giant tree), L1 serves what one slice of L2
// would have to serve alone: by loads at device scope connected components of kron22 take four times as long, at block
// scope twice (H200, benchmarks/results/2026-11-21-nvidia-h200-experiments.txt).  Beside writes by other threads this is
// a race of one size, in which a load gives the value of some write: PTX does not require that programs are free of
// races (PTX ISA, memory consistency model; Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA PTX Memory
// Consistency Model", ASPLOS 2019).  Callers state why any such value will do.
template <class T>
DEVICE T load_near(const T* address) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "smaller values share their word");
    if constexpr (sizeof(T) == 8) {
        u64 bits;
        asm volatile("ld.weak.global.u64 %0, [%1];" : "=l"(bits) : "l"(address));
        return from_bits<T>(bits);
    } else {
        u32 bits;
        asm volatile("ld.weak.global.u32 %0, [%1];" : "=r"(bits) : "l"(address));
        return from_bits<T>(bits);
    }
}
template <class T>
DEVICE void store_relaxed(T* address, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "smaller values share their word");
    if constexpr (sizeof(T) == 8)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(from_bits<u64>(value)) : "memory");
    else asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(from_bits<u32>(value)) : "memory");
}
// Bit p of words that others set or clear.
DEVICE bool bit_relaxed(const u32* words, i64 p) { return (load_relaxed(words + (p >> 5)) >> (p & 31)) & 1u; }

// *address = change(*address), atomically; returns the value before.  Any thread may call.  No store is made
// where `change` returns what it was given, so testing before setting comes for free.  If the first load is out of
// date, a compare-and-swap fails and gives the value to go on from; or nothing was to be changed at the time of the
// load, and the call took effect then.
template <class T, class F>
DEVICE T atomic_update(T* address, F change) {
    typedef unsigned_of<sizeof(T)> U;
    if constexpr (sizeof(T) >= 4) {
        U* const slot = reinterpret_cast<U*>(address);
        U seen = load_relaxed(slot);
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
        u32 seen = load_relaxed(slot);
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

// Sets bit p, which nobody clears meanwhile; returns whether this call did.  The bit is tested first: an atomic costs
// far more than a load, and a bit that is seen set stays so.
DEVICE bool bit_claim(u32* words, i64 p) {
    const u32 bit = 1u << (p & 31);
    if (bit_relaxed(words, p)) return false;
    return (atomicOr(words + (p >> 5), bit) & bit) == 0;
}
