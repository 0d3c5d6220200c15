// Relaxed loads and stores, and atomic updates by any function, for values of 1 to 8 bytes.
//
// Memory that other threads of the same launch write is read by `load_relaxed`, never by an ordinary load or __ldcg:
// their race is undefined in C++, and the compiler may load twice or not at all.  A relaxed load reads from L2.  It
// returns some value that the location had or has; later loads by the same thread never return an older one.  It orders
// no other access.  Every caller states why an outdated value is harmless.
// Ordinary loads read what was written before a barrier of the group (grid.cuh) or before the launch.

#pragma once

#include "types.cuh"

// Global memory.  A value of 1 or 2 bytes is read with its aligned word, the unit that atomics change.
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
        const u64 byte = reinterpret_cast<u64>(address);
        const u32 word = load_relaxed(reinterpret_cast<const u32*>(byte & ~u64(3)));
        return from_bits<T>(U(word >> (int(byte & 3) * 8)));
    }
}
// A weak load of 4 or 8 bytes that the compiler neither repeats nor omits.  It may hit in L1, so its value may be as
// old as the launch.  If all threads read one location (the root of a giant tree), L1 relieves the one slice of L2 that
// stores it: with loads at device scope connected components of kron22 take four times as long, at block scope twice
// (H200, benchmarks/results/nvidia-h200-experiments.txt).  Concurrent writes make this a race between
// accesses of one size, in which a load returns the value of some write.  PTX allows such races (PTX ISA, memory
// consistency model; Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA PTX Memory Consistency Model",
// ASPLOS 2019).  Every caller states why any such value is correct.
template <class T>
DEVICE T load_weak(const T* address) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "smaller values share a word");
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
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "smaller values share a word");
    if constexpr (sizeof(T) == 8)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(from_bits<u64>(value)) : "memory");
    else asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(from_bits<u32>(value)) : "memory");
}
// Shared memory that other threads of the block change: a value of 4 or 8 bytes.
template <class T>
DEVICE T load_shared(const T* address) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "smaller values share a word");
    const u32 at = u32(__cvta_generic_to_shared(address));
    if constexpr (sizeof(T) == 8) {
        u64 bits;
        asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];" : "=l"(bits) : "r"(at));
        return from_bits<T>(bits);
    } else {
        u32 bits;
        asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(bits) : "r"(at));
        return from_bits<T>(bits);
    }
}
// Bit p of a bitmap that other threads change.
DEVICE bool bit_relaxed(const u32* words, i64 p) { return (load_relaxed(words + (p >> 5)) >> (p & 31)) & 1u; }

// *address = change(*address), atomically; returns the old value.  Any thread may call.  If `change` returns its
// argument, nothing is stored.  If the first load is outdated, either the compare-and-swap fails and returns the
// current value, or `change` left the loaded value unchanged and the update took effect at the time of the load.
template <class T, class F>
DEVICE T atomic_update(T* address, F change) {
    static_assert(sizeof(T) <= 8, "hosts choose kernels without atomics for values of 16 bytes");
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
        // Exchanges the aligned word of the value; its other bytes stay unchanged.
        const u64 byte = reinterpret_cast<u64>(address);
        u32* const slot = reinterpret_cast<u32*>(byte & ~u64(3));
        const int shift = int(byte & 3) * 8;
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
// *address += z, each part atomically.
template <class T>
DEVICE void atomic_add(Complex<T>* address, Complex<T> z) {
    atomicAdd(&address->re, z.re);
    atomicAdd(&address->im, z.im);
}

// *address = add(*address, z), atomically, by the instruction NATIVE: 0 compare-and-swap, 1 atomicAdd, 2 atomicMin, 3
// atomicMax, 4 atomicAdd to each part of a complex number.  Threads that meet at one address wait for each other with 0
// alone.
template <i64 NATIVE, class T, class F>
DEVICE void atomic_combine(T* address, T z, F add) {
    typedef unsigned_of<(sizeof(T) > 8 ? 8 : sizeof(T))> Bits;
    if constexpr (NATIVE == 1 && is_integer<T>) atomicAdd(reinterpret_cast<Bits*>(address), Bits(z));
    else if constexpr (NATIVE == 1) atomicAdd(address, z);
    else if constexpr (NATIVE == 2) atomicMin(address, z);
    else if constexpr (NATIVE == 3) atomicMax(address, z);
    else if constexpr (NATIVE == 4) atomic_add(address, z);
    else atomic_update(address, [=](T old) { return add(old, z); });
}

// The same where many threads meet at one address: a minimum or maximum that would not change is left out.  A value
// read from L1 may be outdated, but values only improve between two barriers, so one that does not improve on it is
// harmless to omit.
template <i64 NATIVE, class T, class F>
DEVICE void atomic_combine_shared(T* address, T z, F add) {
    if constexpr ((NATIVE == 2 || NATIVE == 3) && (sizeof(T) == 4 || sizeof(T) == 8)) {
        const T seen = load_weak(address);
        if (NATIVE == 2 ? !(z < seen) : !(seen < z)) return;
    }
    atomic_combine<NATIVE>(address, z, add);
}

// Sets bit p; returns whether this call set it.
DEVICE bool bit_set(u32* words, i64 p) {
    const u32 bit = 1u << (p & 31);
    return (atomicOr(words + (p >> 5), bit) & bit) == 0;
}
// The same for a bit that no thread clears in this launch.  Tests the bit first: an atomic costs far more than a load,
// and a set bit stays set.
DEVICE bool bit_claim(u32* words, i64 p) { return !bit_relaxed(words, p) && bit_set(words, p); }
DEVICE void bit_clear(u32* words, i64 p) { atomicAnd(words + (p >> 5), ~(1u << (p & 31))); }
