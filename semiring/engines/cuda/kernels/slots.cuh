// Slots in shared memory into which the threads of a block combine results of type Z, defined before this file.
// NATIVE of the prologue: the atomic instruction of (+), as in mxv_scatter.cuh.

#pragma once

#include "semiring.cuh"

// The unit of atomics in shared memory.
typedef unsigned_of<(sizeof(Z) < 4 ? 4 : sizeof(Z))> Slot;

DEVICE Slot slot_bits(Z z) { return Slot(from_bits<unsigned_of<sizeof(Z)>>(z)); }
DEVICE Z slot_value(Slot slot) { return from_bits<Z>(unsigned_of<sizeof(Z)>(slot)); }

// *slot = *slot (+) z, atomically.
template <class T>
DEVICE void combine(Slot* slot, T z) {
    if constexpr (NATIVE == 1 && is_integer<T>) atomicAdd(slot, slot_bits(z));
    else if constexpr (NATIVE == 1) atomicAdd(reinterpret_cast<T*>(slot), z);
    else if constexpr (NATIVE == 2) atomicMin(reinterpret_cast<T*>(slot), z);
    else if constexpr (NATIVE == 3) atomicMax(reinterpret_cast<T*>(slot), z);
    else {
        Slot seen = load_shared(slot);
        for (;;) {
            const Slot wanted = slot_bits(add(slot_value(seen), z));
            if (wanted == seen) return;
            const Slot found = atomicCAS(slot, seen, wanted);
            if (found == seen) return;
            seen = found;
        }
    }
}
