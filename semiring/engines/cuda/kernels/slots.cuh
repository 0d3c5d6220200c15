// Slots in shared memory into which the threads of a block combine results of type Z, defined before this file.
// Of the prologue: NATIVE, the atomic instruction of (+), as in mxv_scatter.cuh; ORDERED, no two threads have products for
// one slot at a time.

#pragma once

#include "semiring.cuh"

// The unit of atomics in shared memory.  Values of other sizes than 1, 2, 4 and 8 bytes are stored as they are: no atomic
// changes the whole, so only sums by parts (NATIVE 4) are combined by `combine`, others in order.
constexpr bool ATOMIC_SLOTS = sizeof(Z) <= 8 && (sizeof(Z) & (sizeof(Z) - 1)) == 0;
typedef choose<ATOMIC_SLOTS, unsigned_of<(sizeof(Z) < 4 ? 4 : sizeof(Z))>, Z> Slot;

template <class T>
DEVICE Slot slot_bits(T z) {
    if constexpr (ATOMIC_SLOTS) return Slot(from_bits<unsigned_of<sizeof(T)>>(z));
    else return z;
}
template <class T>
DEVICE Z slot_value(T slot) {
    if constexpr (ATOMIC_SLOTS) return from_bits<Z>(unsigned_of<sizeof(Z)>(slot));
    else return slot;
}

// *slot = *slot (+) z, atomically.  S is Slot: the branches are compiled only where they apply.
template <class S, class T>
DEVICE void combine(S* slot, T z) {
    if constexpr (NATIVE == 1 && is_integer<T>) atomicAdd(slot, slot_bits(z));
    else if constexpr (NATIVE == 1) atomicAdd(reinterpret_cast<T*>(slot), z);
    else if constexpr (NATIVE == 2) atomicMin(reinterpret_cast<T*>(slot), z);
    else if constexpr (NATIVE == 3) atomicMax(reinterpret_cast<T*>(slot), z);
    else if constexpr (NATIVE == 4) atomic_add(reinterpret_cast<T*>(slot), z);
    else if constexpr (ATOMIC_SLOTS) {
        S seen = load_shared(slot);
        for (;;) {
            const S wanted = slot_bits(add(slot_value(seen), z));
            if (wanted == seen) return;
            const S found = atomicCAS(slot, seen, wanted);
            if (found == seen) return;
            seen = found;
        }
    }
}

// *slot = *slot (+) product(), atomically unless ORDERED; `first`: the slot has no product before.
template <class S, class F>
DEVICE void add_to_slot(S* slot, bool first, F product) {
    if constexpr (add_is_any) {
        if (first) *slot = slot_bits(product());
    } else if constexpr (ORDERED) {
        const Z z = product();
        *slot = slot_bits(first ? z : add(slot_value(*slot), z));
    } else {
        if constexpr (add_has_terminal && ATOMIC_SLOTS) {
            if (add_is_terminal(slot_value(load_shared(slot)))) return;
        }
        combine(slot, product());
    }
}
