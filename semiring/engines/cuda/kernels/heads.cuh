// Segments of the slots of a tile, for example the entries of one row.

#pragma once

#include "semiring.cuh"

// A value for each segment of consecutive slots, stored in shared memory at the first slot of the segment, its head.
template <class T, int SLOTS>
struct TileHeads {
    static constexpr int WORDS = SLOTS / 32;
    u32 bits[WORDS];
    i32 before[WORDS];  // the last head in a word before
    T values[SLOTS];

    // Every thread of the block calls; a barrier must follow before `mark`.
    DEVICE void clear() {
        for (int w = int(threadIdx.x); w < WORDS; w += int(blockDim.x)) bits[w] = 0;
    }
    // Any thread calls, once for each head.
    DEVICE void mark(int slot, T value) {
        atomicOr(&bits[slot >> 5], 1u << (slot & 31));
        values[slot] = value;
    }
    // Every thread of the block calls after all marks; begins and ends with a barrier.
    DEVICE void finish() {
        __syncthreads();
        if (threadIdx.x < 32) {
            i32 last = -1;
            for (int base = 0; base < WORDS; base += 32) {
                const int w = base + lane_id();
                const u32 word = w < WORDS ? bits[w] : 0;
                i32 head = warp_scan_max(word != 0 ? 32 * w + 31 - __clz(int(word)) : -1);
                if (head < last) head = last;
                const i32 below = shuffle_up(head, 1);
                if (w < WORDS) before[w] = lane_id() == 0 ? last : below;
                last = shuffle(head, 31);
            }
        }
        __syncthreads();
    }
    // The head of the segment of a slot; any thread calls after `finish`.
    DEVICE int head(int slot) const {
        const u32 below = bits[slot >> 5] & (FULL_WARP >> (31 - (slot & 31)));
        const i32 other = before[slot >> 5];  // read in any case: a load costs less than a branch
        return below != 0 ? (slot | 31) - __clz(int(below)) : other;
    }
    DEVICE T at(int slot) const { return values[head(slot)]; }
    // The same for slot 32 * word + lane_id().
    DEVICE T at_lane(int word) const {
        const u32 below = bits[word] & (FULL_WARP >> (31 - lane_id()));
        const i32 other = before[word];
        return values[below != 0 ? 32 * word + 31 - __clz(int(below)) : other];
    }
};
