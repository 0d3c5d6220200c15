// A warp decodes or checks one varint tile.  It counts the bytes that end a number, which gives the position of each
// number; each lane then reads four numbers, and a segmented sum that restarts at each row computes the columns.

#pragma once

#include "tiles.cuh"
#include "varint.cuh"

constexpr int VARINT_MAX_BYTES = int(TILE_ENTRIES) * LONGEST_NUMBER;

struct VarintStage {  // shared memory of a warp
    uint4 lines[VARINT_MAX_BYTES / LINE + 3];
    u16 begins[TILE_ENTRIES + 4];  // the first byte of each number in `lines`, and the end of the last
    u32 starts[4];                 // see RowStarts
};

// Fills stage.begins for at most `count` numbers; returns the number of ends in the tile.  Every lane calls.
DEVICE int varint_begins(VarintStage& stage, const TileLines& tile, int count) {
    int found = 0;
    if (lane_id() == 0) stage.begins[0] = u16(tile.shift);
    for (int first = 0; first < tile.count; first += 32) {
        const int at = LINE * (first + lane_id());
        u32 ends = 0;
        if (first + lane_id() < tile.count) {
            const uint4 line = stage.lines[first + lane_id()];
            const u32 words[4] = {line.x, line.y, line.z, line.w};
#pragma unroll
            for (int k = 0; k < 4; ++k)  // gathers the top bits of four bytes
                ends |= (((~words[k] >> 7 & 0x01010101u) * 0x01020408u) >> 24 & 15u) << (4 * k);
            const int from = tile.shift - at, to = tile.shift + tile.bytes - at;
            if (from > 0) ends &= ~0u << from;
            if (to < LINE) ends &= (1u << to) - 1u;
        }
        const int mine = __popc(ends);
        const int up_to = warp_scan_inclusive(mine);
        int rank = found + up_to - mine;
#pragma unroll
        for (int k = 0; k < LINE; ++k)
            if (ends >> k & 1u) {
                ++rank;
                if (rank <= count) stage.begins[rank] = u16(at + k + 1);
            }
        found += shuffle(up_to, 31);
    }
    __syncwarp();
    return found;
}

// The number of `length` bytes that begins at byte `from` of the stage.
DEVICE UJ staged_number(const VarintStage& stage, int from, int length) {
    const u32* const words = reinterpret_cast<const u32*>(stage.lines) + from / 4;
    const int shift = 8 * (from % 4);
    const u32 low = __funnelshift_r(words[0], words[1], shift);
    if constexpr (sizeof(UJ) == 4) {
        const u32 kept = low & (length < 4 ? (1u << (8 * length)) - 1u : ~0u);
        return seven_bits(kept) | (length > 4 ? words[1] >> shift << 28 : 0u);
    } else {
        const u64 both = u64(__funnelshift_r(words[1], words[2], shift)) << 32 | low;
        if (length <= 8) return seven_bits(length < 8 ? both & ((u64(1) << (8 * length)) - 1) : both);
        return seven_bits(both) | u64(words[2] >> shift & 0x7fu) << 56;
    }
}

// The numbers of the entries 4 lane to 4 lane + 3; 0 for missing entries.
DEVICE void varint_numbers(const VarintStage& stage, int found, int count, UJ (&numbers)[4]) {
    const int known = found < count ? found : count;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int s = 4 * lane_id() + i;
        numbers[i] = 0;
        if (s >= known) continue;
        const int from = stage.begins[s], length = stage.begins[s + 1] - from;
        numbers[i] = staged_number(stage, from, length < LONGEST_NUMBER ? length : LONGEST_NUMBER);
    }
}

// Replaces numbers by columns: sums that restart at the entries of `starts`, and at the first entry with the anchor.
DEVICE void sum_rows(UJ (&columns)[4], u32 starts, UJ anchor) {
    if (lane_id() == 0) {
        columns[0] = anchor;
        starts |= 1;
    }
    UJ sum = 0, dropped = 0;  // dropped: the sum before the lane's last start
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (starts >> i & 1u) dropped = sum;
        sum += columns[i];
    }
    const UJ before = warp_scan_inclusive(sum) - sum;
    const u32 lanes = __ballot_sync(FULL_WARP, starts != 0) & lanes_below();
    const UJ dropped_below = shuffle(before + dropped, lanes == 0 ? 0 : 31 - __clz(i32(lanes)));
    UJ running = lanes == 0 ? UJ(0) : before - dropped_below;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        running = (starts >> i & 1u) ? columns[i] : running + columns[i];
        columns[i] = running;
    }
}

struct TileDecoder {
    typedef VarintStage Stage;
    static constexpr int MAX_BYTES = VARINT_MAX_BYTES;

    i64 nvals;
    RowStarts rows;

    DEVICE TileDecoder(const P* indptr, i64 nrows, u64, i64 nvals) : nvals(nvals), rows(indptr, nrows) {}

    // Tile t is the first of consecutive tiles.  Every lane calls.
    DEVICE void enter(i64 t) { rows.enter(TILE_ENTRIES * t); }
    // The columns of the entries 4 lane to 4 lane + 3 of tile t.  Every lane calls.
    DEVICE void decode(i64 t, const TileLines& tile, UJ anchor, Stage& stage, UJ (&columns)[4]) {
        const int count = tile_entries(nvals, t);
        rows.mark(TILE_ENTRIES * t, count, stage.starts);
        const int found = varint_begins(stage, tile, count);
        varint_numbers(stage, found, count, columns);
        sum_rows(columns, lane_starts(stage.starts), anchor);
    }
};

// Checks the count and the lengths of the numbers of a varint tile.  Every lane calls; valid in every lane.
DEVICE bool varint_is_valid(const VarintStage& stage, const TileLines& tile, i64 length, int numbers, int count) {
    if (length != tile.bytes || numbers != count || stage.begins[count] != tile.shift + tile.bytes) return false;
    bool valid = true;
    for (int s = lane_id(); s < count; s += 32) {
        const int bytes = stage.begins[s + 1] - stage.begins[s];
        valid = valid && bytes <= LONGEST_NUMBER;
        if constexpr (sizeof(J) == 4) {  // bits above 32 must be 0
            const u8* const line = reinterpret_cast<const u8*>(stage.lines) + stage.begins[s];
            for (int k = 4; k < bytes && k < LONGEST_NUMBER; ++k)
                valid = valid && (line[k] & (k == 4 ? 0x70 : 0x7f)) == 0;
        }
    }
    return __ballot_sync(FULL_WARP, !valid) == 0;
}

struct TileChecker {
    typedef VarintStage Stage;
    static constexpr int MAX_BYTES = VARINT_MAX_BYTES;

    const CheckInput& of;

    // The columns of the entries 4 lane to 4 lane + 3 of tile t, which has `length` elements; false if the layout is
    // invalid.  Bit i of `starts` is set if entry i of the lane begins a row.  Every lane calls; valid in every lane.
    DEVICE bool decode(i64 t, const TileLines& tile, i64 length, int count, UJ anchor, u32 starts, Stage& stage,
                       UJ (&columns)[4]) const {
        const int numbers = varint_begins(stage, tile, count);
        if (!varint_is_valid(stage, tile, length, numbers, count)) return false;
        varint_numbers(stage, numbers, count, columns);
        if (lane_id() == 0 && (starts & 1u) && columns[0] != anchor) atomicMin(of.failed.base, u64(t));
#pragma unroll
        for (int i = 0; i < 4; ++i)  // larger gaps could overflow the sum
            if (u64(columns[i]) >= u64(of.ncols) && 4 * lane_id() + i < count)
                atomicMin(of.failed.entry, u64(TILE_ENTRIES * t + 4 * lane_id() + i));
        sum_rows(columns, starts, anchor);
        return true;
    }
    // Whether the first number of a tile, at an element of the stream, agrees with the columns before it and at it.
    DEVICE bool continues(UJ before, i64 begin, UJ anchor) const {
        return before + VarintBytes(of.stream, of.size).number(begin).value == anchor;
    }
};
