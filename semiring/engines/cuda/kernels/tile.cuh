// One tile of 128 entries for a warp, wherever the entries lie: each line of memory is asked for once, and in order.
//
// Reads of host memory run at the speed of the link where neighbouring lanes ask for neighbouring words of aligned
// lines, and lines ascend.  So the bytes of a compressed tile are copied to shared memory first, and decoded there; a
// lane takes the entries 32 c + lane, for c = 0 to 3.  Plain columns go to the lane that wants them, and lines in which
// no lane wants anything are not read.
//
// The prologue defines the types P (offsets) and what columns.cuh asks for: J, AT, CODEC.

#pragma once

#include "grid.cuh"
#include "packed.cuh"
#include "varint.cuh"

constexpr int TILE_SIZE = int(TILE_ENTRIES);
constexpr int CHUNKS = TILE_SIZE / 32;
// What the longest tile needs, 16 bytes in front of it and behind it included: numbers of 5 bytes, or of 9.
constexpr int STAGE_WORDS = sizeof(J) == 4 ? 168 : 296;

typedef unsigned_of<sizeof(J)> Column;

// The entries of a pattern.  `entries` is where the array of columns, or the stream, would begin if all of it were
// there: of what is streamed only a part is, and only tiles in that part may be opened.
struct Entries {
    const P* indptr;
    const J* base;
    const AT* at;
    const u8* entries;
    u64 mask;  // 2^b - 1, where b is the number of bits of a column
    i64 n;
    i64 nvals;
};

// A place in shared memory for each warp: the bytes of a tile, and of varint the sums of its numbers.
struct __align__(16) TileStage {
    u32 words[STAGE_WORDS];
    Column sums[TILE_SIZE];
};

struct OpenTile {
    const Entries& of;
    TileStage& stage;
    i64 start;               // its first entry
    Column columns[CHUNKS];  // packed: of the entries 32 c + lane
    i64 traffic;             // bytes asked for so far, in sectors of 32; the same in every lane

    DEVICE OpenTile(const Entries& of, TileStage& stage) : of(of), stage(stage), start(0), columns{}, traffic(0) {}

    // Bytes [begin, end) of the entries into the stage; gives how far behind its beginning they begin.
    DEVICE int fetch(i64 begin, i64 end) {
        const u64 from = u64(of.entries) + u64(begin);
        const u64 origin = from & ~u64(15);
        u64 to = u64(of.entries) + u64(end);
        to = to < origin + 4 * STAGE_WORDS ? to : origin + 4 * STAGE_WORDS;
        for (u64 word = (from & ~u64(127)) + 4 * u64(lane_id()); word < to; word += 128) {
            if (word + 4 > from) stage.words[(word - origin) / 4] = __ldcs(reinterpret_cast<const u32*>(word));
        }
        traffic += i64(((to + 31) & ~u64(31)) - (from & ~u64(31)));
        return int(from - origin);
    }
    // Decodes tile t of `count` entries.  Every lane of the warp calls.
    DEVICE void open(i64 t, int count) {
        start = TILE_SIZE * t;
        if constexpr (CODEC != PLAIN) {
            constexpr i64 ELEMENT = CODEC == PACKED ? 4 : 1;
            const i64 begin = ELEMENT * i64(of.at[t]), end = ELEMENT * i64(of.at[t + 1]);
            __syncwarp();  // the tile before may still be read
            const int place = fetch(begin, end);
            __syncwarp();
            const Column anchor = Column(of.base[t]);
            if constexpr (CODEC == PACKED) unpack(place / 4, count, anchor);
            else add_up(place, int(end - begin), count, anchor);
        }
    }
    DEVICE void unpack(int place, int count, Column anchor) {
        const PackedTile tile(stage.words, STAGE_WORDS, place, count, of.mask);
        u32 exception = 0;
#pragma unroll
        for (u32 c = 0; c < CHUNKS; ++c) {
            const Column gap = packed_gaps(tile, c, count, exception);
            const Column here = (anchor + warp_scan_inclusive(gap)) & Column(of.mask);
            anchor = shuffle(here, 31);
            columns[c] = here;
        }
    }
    // The numbers, each added to all before it in the tile, whatever rows they belong to.  A lane takes the numbers
    // that end in its 8 bytes.
    DEVICE void add_up(int place, int bytes, int count, Column anchor) {
        const VarintBytes stream(stage.words, 4 * STAGE_WORDS);
        const int end = place + bytes;
        int known = 0;      // numbers that ended in earlier rounds
        int behind = place; // and where the last of them ended
        for (int round = place; round < end && known < count; round += 256) {
            const int mine = round + 8 * lane_id();
            u64 ends = mine < end ? ~stream.window(mine) & TERMINATORS : 0;
            if (end - mine < 8 && mine < end) ends &= (u64(1) << (8 * (end - mine))) - 1;
            const int found = __popcll(ends);
            const int up_to = warp_scan_inclusive(found);
            // Where the first number that ends here begins: behind the last end in any lane below.
            int last = found != 0 ? mine + (63 - __clzll(i64(ends))) / 8 + 1 : behind;
#pragma unroll
            for (int delta = 1; delta < 32; delta *= 2) {
                const int below = __shfl_up_sync(FULL_WARP, last, delta);
                if (lane_id() >= delta && below > last) last = below;
            }
            const int lower = __shfl_up_sync(FULL_WARP, last, 1);
            int begin = lane_id() == 0 ? behind : lower;
            for (int s = known + up_to - found; ends != 0 && s < count; ends &= ends - 1, ++s) {
                stage.sums[s] = stream.number(begin).value;
                begin = mine + (__ffsll(i64(ends)) - 1) / 8 + 1;
            }
            known += shuffle(up_to, 31);
            behind = shuffle(last, 31);
        }
        __syncwarp();
        Column before = 0;
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c) {
            const int s = 32 * c + lane_id();
            const Column number = s == 0 ? anchor : s < count ? stage.sums[s] : Column(0);
            const Column sum = before + warp_scan_inclusive(number);
            before = shuffle(sum, 31);
            stage.sums[s] = sum;
        }
        __syncwarp();
    }
    // The column of entry 32 c + lane, whose row begins at entry `row_begin` of the tile (0 if it begins before the
    // tile), where `wanted`; any other lane gets what it gets.  Every lane of the warp calls.
    DEVICE i64 column(int c, int row_begin, bool wanted) {
        const int s = 32 * c + lane_id();
        if constexpr (CODEC == PLAIN) {
            const u64 place = u64(of.entries) + sizeof(J) * u64(start + s);
            const u32 lanes = __ballot_sync(FULL_WARP, wanted);
            traffic += 32 * i64(sectors(lanes));
            return wanted ? i64(__ldcs(reinterpret_cast<const J*>(place))) : 0;
        } else if constexpr (CODEC == PACKED) {
            return i64(columns[c]);
        } else {
            const Column before = row_begin > 0 ? stage.sums[row_begin - 1] : Column(0);
            return i64(J(stage.sums[s] - before));
        }
    }
    // Sectors of 32 bytes in which a lane wants a column.
    static DEVICE int sectors(u32 lanes) {
        constexpr int EACH = 32 / int(sizeof(J));
        int found = 0;
#pragma unroll
        for (int first = 0; first < 32; first += EACH) found += (lanes >> first & ((1u << EACH) - 1u)) != 0;
        return found;
    }
};
