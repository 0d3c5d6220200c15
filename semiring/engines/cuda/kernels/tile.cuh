// A warp reads one tile of 128 entries from device or host memory, each line once and in ascending order.
//
// Reads of host memory run at the speed of the interconnect if adjacent lanes read adjacent words of aligned lines in
// ascending order.  The bytes of a compressed tile are therefore copied to shared memory and decoded there; lane i
// decodes the entries 32 c + i, c = 0 to 3.  Lines without a needed entry are not read.  The struct TileReader of each
// codec (CODEC_outofcore.cuh) decodes a tile.
//
// The prologue defines the type P (offsets) and the parameters of columns.cuh.

#pragma once

#include "columns.cuh"
#include "grid.cuh"

constexpr int TILE_SIZE = int(TILE_ENTRIES);
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

// Shared memory of a warp: the bytes of a tile, and one number for each entry.
struct __align__(16) TileStage {
    u32 words[STAGE_WORDS];
    Column numbers[TILE_SIZE];
};

// A tile, and the reading of its bytes.
struct TileBytes {
    const Entries& of;
    TileStage& stage;
    i64 t;        // the number of the tile
    int count;    // its entries
    bool opened;  // compressed: `from` and `length` are set, and some bytes are fetched
    u64 from;     // the address of its bytes
    int length;   // the number of its bytes
    i64 traffic;  // bytes read so far, in sectors of 32; the same in every lane

    DEVICE TileBytes(const Entries& of, TileStage& stage)
        : of(of), stage(stage), t(0), count(0), opened(false), from(0), length(0), traffic(0) {}

    // Selects tile `next`, which has `entries` entries; reads nothing.
    DEVICE void select(i64 next, int entries) {
        t = next;
        count = entries;
        opened = false;
    }
    // Sets `from` and `length` of a compressed tile.
    DEVICE void locate() {
        constexpr u64 ELEMENT = CODEC::ELEMENT_BYTES;
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
};
