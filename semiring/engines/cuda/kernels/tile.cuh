// One tile of 128 entries for a warp, wherever the entries lie: each line of memory is asked for once, and in order.
//
// Reads of host memory run at the speed of the link where neighbouring lanes ask for neighbouring words of aligned
// lines, and lines ascend.  So the bytes of a compressed tile are copied to shared memory first, and decoded there; a
// lane takes the entries 32 c + lane, for c = 0 to 3.  Lines in which no lane wants anything are not read.  Plain
// columns go to the lane that wants them.  Each half of a packed tile has an anchor of its own, and is fetched as far
// as somebody wants it.
//
// The prologue defines the types P (offsets) and what columns.cuh asks for: J, AT, CODEC.

#pragma once

#include "columns.cuh"
#include "grid.cuh"

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
    i64 t;                   // which one,
    int count;               // and its entries
    bool opened;             // compressed: the rest is known, and something has been fetched
    u64 from;                // where its bytes begin,
    int length;              // and how many there are
    int fetched[2];          // packed: behind how many of them what has been fetched of each half ends
    Column columns[CHUNKS];  // packed: of the entries 32 c + lane
    i64 traffic;             // bytes asked for so far, in sectors of 32; the same in every lane

    DEVICE OpenTile(const Entries& of, TileStage& stage)
        : of(of), stage(stage), t(0), count(0), opened(false), from(0), length(0), fetched{}, columns{}, traffic(0) {}

    // Goes to tile `next` of `entries` entries; nothing is read yet.
    DEVICE void turn_to(i64 next, int entries) {
        t = next;
        count = entries;
        opened = false;
    }
    // Makes the columns known of the entries of the first half in front of `first`, and of those of the second half
    // in front of `second`; 0 where none is wanted.  Every lane of the warp calls.
    DEVICE void reach(int first, int second) {
        if constexpr (CODEC != PLAIN) {
            __syncwarp();  // what the stage holds may still be read
            if (!opened) locate();
            if constexpr (CODEC == PACKED) {
#ifdef READS_PACKED
                unpack(first, second);
#endif
            } else if (!opened) {
                fetch(0, length);
                __syncwarp();
#ifdef READS_VARINT
                add_up(place(), length, count, Column(of.base[t]));
#endif
            }
            opened = true;
        }
    }
    DEVICE void locate() {
        constexpr u64 ELEMENT = CODEC == PACKED ? 4 : 1;
        const i64 bytes = i64(ELEMENT * (u64(of.at[t + 1]) - u64(of.at[t])));
        from = u64(of.entries) + ELEMENT * u64(of.at[t]);
        const int room = 4 * STAGE_WORDS - place();
        length = int(bytes < 0 ? 0 : bytes < room ? bytes : room);
    }
    // Where in the stage the tile begins: the stage begins at a multiple of 16 bytes.
    DEVICE int place() const { return int(from & 15); }

    // Bytes [begin, end) of the tile into the stage.
    DEVICE void fetch(int begin, int end) {
        if (begin >= end) return;
        const u64 origin = from & ~u64(15), first = from + u64(begin), last = from + u64(end);
        for (u64 word = (first & ~u64(127)) + 4 * u64(lane_id()); word < last; word += 128) {
            if (word + 4 > first) stage.words[(word - origin) / 4] = __ldcs(reinterpret_cast<const u32*>(word));
        }
        traffic += i64(((last + 31) & ~u64(31)) - (first & ~u64(31)));
    }
    // Goes on to byte `end` and the end of its sector, which comes with it.
    DEVICE void fetch_to(int& done, int end) {
        if (end <= done) return;
        const int whole = int(((from + u64(end) + 31) & ~u64(31)) - from);
        const int reached = whole < length ? whole : length;
        fetch(done, reached);
        done = reached;
    }
    // Of a packed tile, the columns of these parts of its halves.
    DEVICE void unpack(int first, int second);
    // Of a varint tile, the numbers, each added to all before it in the tile, whatever rows they belong to.
    DEVICE void add_up(int place, int bytes, int count, Column anchor);
    // The column of entry 32 c + lane, whose row begins at entry `row_begin` of the tile (0 if it begins before the
    // tile), where `wanted`; any other lane gets what it gets.  Every lane of the warp calls.
    DEVICE i64 column(int c, int row_begin, bool wanted) {
        const int s = 32 * c + lane_id();
        if constexpr (CODEC == PLAIN) {
            const u64 place = u64(of.entries) + sizeof(J) * u64(TILE_SIZE * t + s);
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

#ifdef READS_PACKED
DEVICE void OpenTile::unpack(int first, int second) {
    constexpr int HALF = TILE_SIZE / 2;
    const int ends[2] = {first, second};
    if (!opened) {
        // The header says how much of the rest is needed, unless nearly all of it is.
        const bool nearly_all = first == HALF && second > 3 * HALF / 2;
        fetched[0] = 0;
        fetch_to(fetched[0], nearly_all ? length : 4 + (count > HALF ? 4 * int(anchor_words(of.mask)) : 0));
        __syncwarp();
    }
    const PackedTile tile(stage.words, STAGE_WORDS, place() / 4, count, of.mask);
    const int gaps = 4 * int(tile.gaps), width = int(tile.width);
    if (!opened) {
        const int places = 4 * int(tile.places), middle = gaps + HALF / 8 * width;
        if (tile.exceptions != 0) fetch(places > fetched[0] ? places : fetched[0], length);
        fetched[1] = middle > fetched[0] ? middle : fetched[0];
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (ends[half] != 0) fetch_to(fetched[half], gaps + (ends[half] * width + 7) / 8);
    }
    __syncwarp();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (ends[half] == 0) continue;
        Column before = half == 0 ? Column(of.base[t]) : Column(tile.middle(of.mask));
        u32 exception = half == 0 ? 0 : warp_exceptions_to(tile, HALF - 1);
#pragma unroll
        for (int c = 2 * half; c < 2 * half + 2; ++c) {
            if (32 * c >= ends[half]) continue;
            Column gap = packed_gaps(tile, u32(c), count, exception);
            if (32 * c == HALF && lane_id() == 0) gap = 0;  // the anchor is this entry's column
            columns[c] = (before + warp_scan_inclusive(gap)) & Column(of.mask);
            before = shuffle(columns[c], 31);
        }
    }
}
#endif

#ifdef READS_VARINT
// A lane takes the numbers that end in its 8 bytes.
DEVICE void OpenTile::add_up(int place, int bytes, int count, Column anchor) {
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
#endif
