// A warp encodes one packed tile.  Lane i has the gaps of the entries 32 c + i, c = 0 .. 3.

#pragma once

#include "encoding.cuh"
#include "packed.cuh"

constexpr int PACKED_LENGTHS = COLUMN_BITS + 1;  // bit lengths 0 to COLUMN_BITS
// The words of the longest tile, which has the widest gaps and no exceptions.
constexpr int PACKED_MAX_WORDS = 1 + int(sizeof(J)) / 4 + CHUNKS * COLUMN_BITS;

// The gaps of tile t modulo 2^b; 0 for its first entry and after its last.
DEVICE void packed_differences(const J* indices, i64 nvals, i64 t, u64 mask, UJ (&gaps)[CHUNKS]) {
    const i64 first = TILE_ENTRIES * t;
    UJ last = 0;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const i64 p = first + 32 * c + lane_id();
        const UJ column = p < nvals ? UJ(indices[p]) : UJ(0);
        UJ below = shuffle_up(column, 1);
        if (lane_id() == 0) below = last;
        gaps[c] = p < nvals && p > first ? (column - below) & UJ(mask) : UJ(0);
        last = shuffle(column, 31);
    }
}

// The size of the smallest tile and its bit width.  Every lane calls; `lengths` is shared memory of the warp.
DEVICE TileSize packed_size(const UJ (&gaps)[CHUNKS], int count, u32 anchors, u32* lengths) {
    for (int k = lane_id(); k < PACKED_LENGTHS; k += 32) lengths[k] = 0;
    __syncwarp();
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c)
        if (32 * c + lane_id() < count) atomicAdd(lengths + bit_length(gaps[c]), 1u);
    __syncwarp();
    u32 up_to = 0, longest = 0;
    u32 counts[PACKED_LENGTHS / 32];  // of gaps of at most 32 k + lane bits
#pragma unroll
    for (int k = 0; k < PACKED_LENGTHS / 32; ++k) {
        const u32 mine = lengths[32 * k + lane_id()];
        const u32 some = __ballot_sync(FULL_WARP, mine != 0);
        if (some != 0) longest = 32 * k + 31 - __clz(i32(some));
        counts[k] = up_to + warp_scan_inclusive(mine);
        up_to = shuffle(counts[k], 31);
    }
    const u32 chunks = u32(count + 31) / 32;
    u32 best = ~0u;  // the minimum of 64 words + width: the smallest width among the smallest tiles
#pragma unroll
    for (int k = 0; k < PACKED_LENGTHS / 32; ++k) {
        const u32 width = 32 * k + lane_id();
        if (width > longest) continue;
        const u32 exceptions = u32(count) - counts[k];
        const u32 words = chunks * width + (exceptions + 3) / 4 + (exceptions * (longest - width) + 31) / 32;
        const u32 key = 64 * words + width;
        best = key < best ? key : best;
    }
    best = combine_lanes<32>(best, [](u32 a, u32 b) { return b < a ? b : a; });
    __syncwarp();  // the next call clears `lengths`
    return {best / 64 + 1 + (count > 64 ? anchors : 0), best % 64};
}

// Ors a value into words of shared memory, from bit `bit` on.
DEVICE void put_bits(u32* words, u32 bit, UJ value) {
    if (value == 0) return;
    words += bit / 32;
    const u32 shift = bit % 32;
    const u32 low = u32(value);
    atomicOr(words, low << shift);
    if constexpr (sizeof(UJ) == 4) {
        const u32 rest = __funnelshift_l(low, 0, shift);
        if (rest != 0) atomicOr(words + 1, rest);
    } else {
        const u32 high = u32(value >> 32);
        const u32 middle = __funnelshift_l(low, high, shift), rest = __funnelshift_l(high, 0, shift);
        if (middle != 0) atomicOr(words + 1, middle);
        if (rest != 0) atomicOr(words + 2, rest);
    }
}

// Builds a tile of `size` words in shared memory and writes it to `to`.  Every lane calls.
DEVICE void packed_write(const J* indices, const UJ (&gaps)[CHUNKS], i64 t, int count, u32 width, u32 anchors,
                         u32* words, u32 size, u32* to) {
    for (u32 k = lane_id(); k < size; k += 32) words[k] = 0;
    __syncwarp();
    const UJ low_bits = (UJ(1) << width) - 1;
    const u32 begin = 1 + (count > 64 ? anchors : 0);
    UJ all = 0;
    u32 exceptions = 0;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        put_bits(words + begin, (32 * c + lane_id()) * width, gaps[c] & low_bits);
        all |= gaps[c] >> width;
        exceptions += __popc(__ballot_sync(FULL_WARP, gaps[c] >> width != 0));
    }
    all = combine_lanes<32>(all, [](UJ a, UJ b) { return a | b; });
    const u32 high = bit_length(all);
    const u32 positions = begin + u32(count + 31) / 32 * width;
    const u32 highs = positions + (exceptions + 3) / 4;
    u32 rank = 0;
#pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const UJ high_part = gaps[c] >> width;
        const u32 hits = __ballot_sync(FULL_WARP, high_part != 0);
        const u32 mine = rank + __popc(hits & lanes_below());
        if (high_part != 0) {
            atomicOr(words + positions + mine / 4, u32(32 * c + lane_id()) << (8 * (mine % 4)));
            put_bits(words + highs, mine * high, high_part);
        }
        rank += __popc(hits);
    }
    if (lane_id() == 0) {
        words[0] = width + (exceptions << 6) + (high << 14);
        if (count > 64) {
            const u64 middle = u64(indices[TILE_ENTRIES * t + 64]);
            words[1] = u32(middle);
            if (anchors == 2) words[2] = u32(middle >> 32);
        }
    }
    __syncwarp();
    for (u32 k = lane_id(); k < size; k += 32) to[k] = words[k];
    __syncwarp();
}

struct TileEncoder {
    struct SizeStage {  // shared memory of a warp
        u32 lengths[PACKED_LENGTHS];
    };
    struct WriteStage {
        u32 words[PACKED_MAX_WORDS];
    };
    static constexpr bool HAS_WIDTHS = true;

    const EncoderInput& of;

    // Calls body(t) for every tile.  The whole grid calls.
    template <class Stage, class F>
    DEVICE void for_each_tile(Stage&, F body) const {
        const i64 tiles = tile_count(of.nvals);
        for (i64 t = warp_id(); t < tiles; t += warp_count()) body(t);
    }
    // Every lane calls.
    DEVICE TileSize size(i64 t, SizeStage& stage) const {
        UJ gaps[CHUNKS];
        packed_differences(of.indices, of.nvals, t, of.mask, gaps);
        return packed_size(gaps, tile_entries(of.nvals, t), anchor_words(of.mask), stage.lengths);
    }
    // Every lane calls.
    DEVICE void write(i64 t, const AT* at, const u8* widths, u8* stream, WriteStage& stage) const {
        UJ gaps[CHUNKS];
        packed_differences(of.indices, of.nvals, t, of.mask, gaps);
        u32* const to = reinterpret_cast<u32*>(stream) + i64(at[t]);
        packed_write(of.indices, gaps, t, tile_entries(of.nvals, t), widths[t], anchor_words(of.mask), stage.words,
                     u32(at[t + 1] - at[t]), to);
    }
};
