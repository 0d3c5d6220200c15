// A warp reads one tile of 128 entries from device or host memory, each line once and in ascending order.
//
// Reads of host memory run at the speed of the interconnect if adjacent lanes read adjacent words of aligned lines in
// ascending order.  The bytes of a compressed tile are therefore copied to shared memory and decoded there; lane i
// decodes the entries 32 c + i, c = 0 to 3.  Lines without a needed entry are not read.  Of uncompressed columns each
// lane reads the ones it needs.  Each half of a packed tile has its own anchor and is read up to its last needed entry.
//
// The prologue defines the type P (offsets) and the parameters of columns.cuh.

#pragma once

#include "columns.cuh"
#include "grid.cuh"

constexpr int TILE_SIZE = int(TILE_ENTRIES);
constexpr int CHUNKS = TILE_SIZE / 32;
// The longest tile (numbers of 5 or 9 bytes), and 16 bytes before and after it.
constexpr int STAGE_WORDS = sizeof(J) == 4 ? 168 : 296;

typedef unsigned_of<sizeof(J)> Column;

// The entries of a pattern.  `entries` is the address of element 0 of the columns or of the stream.  Of a chunk of
// streamed entries it is an offset address: only tiles in the chunk may be read.
struct Entries {
    const P* indptr;
    const J* base;
    const AT* at;
    const u8* entries;
    u64 mask;  // 2^b - 1, where b is the number of bits of a column
    i64 n;
    i64 nvals;
};

// Shared memory of a warp: the bytes of a tile and, for varint, the sums of its numbers.
struct __align__(16) TileStage {
    u32 words[STAGE_WORDS];
    Column sums[TILE_SIZE];
};

struct TileReader {
    const Entries& of;
    TileStage& stage;
    i64 t;                   // the number of the tile
    int count;               // its entries
    bool opened;             // compressed: `from` and `length` are set, and some bytes are fetched
    u64 from;                // the address of its bytes
    int length;              // the number of its bytes
    int fetched[2];          // packed: the end of the fetched bytes of each half
    Column columns[CHUNKS];  // packed: of the entries 32 c + lane
    i64 traffic;             // bytes read so far, in sectors of 32; the same in every lane

    DEVICE TileReader(const Entries& of, TileStage& stage)
        : of(of), stage(stage), t(0), count(0), opened(false), from(0), length(0), fetched{}, columns{}, traffic(0) {}

    // Selects tile `next`, which has `entries` entries; reads nothing.
    DEVICE void select(i64 next, int entries) {
        t = next;
        count = entries;
        opened = false;
    }
    // Decodes the entries of the first half before `first` and those of the second half before `second`; 0 if none is
    // needed.  Every lane of the warp calls.
    DEVICE void decode_until(int first, int second) {
        if constexpr (CODEC != UNCOMPRESSED) {
            __syncwarp();  // lanes may still read the stage
            if (!opened) locate();
            if constexpr (CODEC == PACKED) {
#ifdef READS_PACKED
                unpack(first, second);
#endif
            } else if (!opened) {
                fetch(0, length);
                __syncwarp();
#ifdef READS_VARINT
                sum_numbers(stage_offset(), length, count, Column(of.base[t]));
#endif
            }
            opened = true;
        }
    }
    DEVICE void locate() {
        constexpr u64 ELEMENT = CODEC == PACKED ? 4 : 1;
        const i64 bytes = i64(ELEMENT * (u64(of.at[t + 1]) - u64(of.at[t])));
        from = u64(of.entries) + ELEMENT * u64(of.at[t]);
        const int room = 4 * STAGE_WORDS - stage_offset();
        length = int(bytes < 0 ? 0 : bytes < room ? bytes : room);
    }
    // The offset of the tile in the stage, which keeps the alignment to 16 bytes.
    DEVICE int stage_offset() const { return int(from & 15); }

    // Copies bytes [begin, end) of the tile to the stage.
    DEVICE void fetch(int begin, int end) {
        if (begin >= end) return;
        const u64 origin = from & ~u64(15), first = from + u64(begin), last = from + u64(end);
        for (u64 word = (first & ~u64(127)) + 4 * u64(lane_id()); word < last; word += 128) {
            if (word + 4 > first) stage.words[(word - origin) / 4] = __ldcs(reinterpret_cast<const u32*>(word));
        }
        traffic += i64(((last + 31) & ~u64(31)) - (first & ~u64(31)));
    }
    // Copies the bytes from `done` to `end`, rounded up to whole sectors.
    DEVICE void fetch_to(int& done, int end) {
        if (end <= done) return;
        const int whole = int(((from + u64(end) + 31) & ~u64(31)) - from);
        const int reached = whole < length ? whole : length;
        fetch(done, reached);
        done = reached;
    }
    // Decodes these parts of the halves of a packed tile.
    DEVICE void unpack(int first, int second);
    // Decodes a varint tile to prefix sums of its numbers, regardless of rows.
    DEVICE void sum_numbers(int stage_offset, int bytes, int count, Column anchor);
    // The column of entry 32 c + lane if `wanted`, otherwise undefined.  The row of the entry begins at entry
    // `row_begin` of the tile, or before the tile (0).  Every lane of the warp calls.
    DEVICE i64 column(int c, int row_begin, bool wanted) {
        const int s = 32 * c + lane_id();
        if constexpr (CODEC == UNCOMPRESSED) {
            const u64 address = u64(of.entries) + sizeof(J) * u64(TILE_SIZE * t + s);
            const u32 lanes = __ballot_sync(FULL_WARP, wanted);
            traffic += 32 * i64(sectors(lanes));
            return wanted ? i64(__ldcs(reinterpret_cast<const J*>(address))) : 0;
        } else if constexpr (CODEC == PACKED) {
            return i64(columns[c]);
        } else {
            const Column before = row_begin > 0 ? stage.sums[row_begin - 1] : Column(0);
            return i64(J(stage.sums[s] - before));
        }
    }
    // The number of 32-byte sectors with a column that a lane needs.
    static DEVICE int sectors(u32 lanes) {
        constexpr int EACH = 32 / int(sizeof(J));
        int found = 0;
#pragma unroll
        for (int first = 0; first < 32; first += EACH) found += (lanes >> first & ((1u << EACH) - 1u)) != 0;
        return found;
    }
};

#ifdef READS_PACKED
DEVICE void TileReader::unpack(int first, int second) {
    constexpr int HALF = TILE_SIZE / 2;
    const int ends[2] = {first, second};
    if (!opened) {
        // The header determines which bytes are needed; nearly whole tiles are fetched at once.
        const bool fetch_all = first == HALF && second > 3 * HALF / 2;
        fetched[0] = 0;
        fetch_to(fetched[0], fetch_all ? length : 4 + (count > HALF ? 4 * int(anchor_words(of.mask)) : 0));
        __syncwarp();
    }
    const PackedTile tile(stage.words, STAGE_WORDS, stage_offset() / 4, count, of.mask);
    const int gaps = 4 * int(tile.gaps), width = int(tile.width);
    if (!opened) {
        const int positions = 4 * int(tile.positions), middle = gaps + HALF / 8 * width;
        if (tile.exceptions != 0) fetch(positions > fetched[0] ? positions : fetched[0], length);
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
            if (32 * c == HALF && lane_id() == 0) gap = 0;  // the anchor is the column of this entry
            columns[c] = (before + warp_scan_inclusive(gap)) & Column(of.mask);
            before = shuffle(columns[c], 31);
        }
    }
}
#endif

#ifdef READS_VARINT
// Each lane reads the numbers that end in its 8 bytes.
DEVICE void TileReader::sum_numbers(int stage_offset, int bytes, int count, Column anchor) {
    const VarintBytes stream(stage.words, 4 * STAGE_WORDS);
    const int end = stage_offset + bytes;
    int decoded = 0;      // numbers of earlier rounds
    int last_end = stage_offset; // the end of the last of them
    for (int round = stage_offset; round < end && decoded < count; round += 256) {
        const int mine = round + 8 * lane_id();
        u64 ends = mine < end ? ~stream.eight_bytes(mine) & TERMINATORS : 0;
        if (end - mine < 8 && mine < end) ends &= (u64(1) << (8 * (end - mine))) - 1;
        const int found = __popcll(ends);
        const int up_to = warp_scan_inclusive(found);
        // The first number that ends in these bytes begins after the last end in any lower lane.
        int last = found != 0 ? mine + (63 - __clzll(i64(ends))) / 8 + 1 : last_end;
#pragma unroll
        for (int delta = 1; delta < 32; delta *= 2) {
            const int below = __shfl_up_sync(FULL_WARP, last, delta);
            if (lane_id() >= delta && below > last) last = below;
        }
        const int lower = __shfl_up_sync(FULL_WARP, last, 1);
        int begin = lane_id() == 0 ? last_end : lower;
        for (int s = decoded + up_to - found; ends != 0 && s < count; ends &= ends - 1, ++s) {
            stage.sums[s] = stream.number(begin).value;
            begin = mine + (__ffsll(i64(ends)) - 1) / 8 + 1;
        }
        decoded += shuffle(up_to, 31);
        last_end = shuffle(last, 31);
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
