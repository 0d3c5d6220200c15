// The rows that each source has reached, as the rows of a matrix: bits of vertices by sources become entries.
//
// Rows of bits are divided into chunks of CHUNK rows.  `many_count` counts the entries of each source in each chunk; a
// prefix sum over them gives every chunk its position in the row of a source; `many_write` writes columns and levels
// there.  A block transposes the bits of a chunk in shared memory.  A warp then compacts the entries of one source and
// stores them as 16-byte vectors, so that few partial sectors remain.  (A list of rows kept from source to source, with
// stores of 4 bytes a lane, takes longer: H200, kernel, 64 sources on kron22, 0.63 ms instead of 0.57.)
//
// The prologue defines the types J (columns), L (levels) and P (offsets of the result), and WORDS, the words of a row.

#include "source_bits.cuh"

constexpr int TILES = 16;  // of 32 rows each
constexpr int CHUNK = 32 * TILES;
constexpr int SOURCES = 32 * PART;  // of a part of a row

// Threads of a block of `many_write`.
constexpr int WRITE_BLOCK = 256;
// Planes that one launch reads: four bits a level.
constexpr int PLANES = 4;
// Entries of a vector.
constexpr int FOUR = 4;
// A staged entry: the row in its chunk, and the bits of the level above it.
constexpr int ROW_BITS = 9;
static_assert(CHUNK == 1 << ROW_BITS && ROW_BITS + PLANES <= 16);

// The number of chunks of n rows.
DEVICE i64 chunk_count(i64 n) { return (n + CHUNK - 1) / CHUNK; }

// counts[s * chunks + c] = the rows of chunk c that source s has reached.  A warp counts one part of a chunk.
extern "C" __global__ void many_count(const u32* visited, i64 n, i64 sources, u32* counts) {
    const i64 chunks = chunk_count(n);
    for (i64 item = warp_id(); item < chunks * LANES; item += warp_count()) {
        const i64 chunk = item / LANES, part = item % LANES;
        u32 count[PART] = {};
#pragma unroll 4
        for (int tile = 0; tile < TILES; tile++) {
            const i64 v = chunk * CHUNK + 32 * tile + lane_id();
            const Part bits = v < n ? load_part(visited + v * WORDS + part * PART) : Part();
#pragma unroll
            for (int i = 0; i < PART; i++) count[i] += u32(__popc(warp_transpose(bits.word[i])));
        }
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const i64 source = 32 * (part * PART + i) + lane_id();
            if (source < sources) counts[source * chunks + chunk] = count[i];
        }
    }
}

// The bits of a chunk by sources.  `reached`: a word for each tile.  `level`: 32 numbers of four bits; row r of the
// tile has the bits from r & ~3 on of word r % 4.  Tiles are permuted within a source, which avoids bank conflicts.
struct ChunkBits {
    u32 reached[SOURCES * TILES];
    uint4 level[SOURCES * TILES];

    static DEVICE int slot(int source, int tile) { return source * TILES + (tile ^ (source % TILES)); }
    DEVICE u32 level_of(int slot, int row) const {
        return reinterpret_cast<const u32*>(level)[4 * slot + row % 4] >> (row & ~3) & 15u;
    }
};

// Bits `j`, `j` + 4, ... of the planes as numbers of four bits.
DEVICE u32 numbers(const u32 (&plane)[PLANES], int j) {
    u32 made = 0;
#pragma unroll
    for (int b = 0; b < PLANES; b++) made |= (plane[b] >> j & 0x11111111u) << b;
    return made;
}

// Transposes part `part` of the rows of a chunk.  The whole block calls; it synchronises after it.
DEVICE void transpose_chunk(const u32* visited, const u64* planes, i64 plane_count, i64 n, i64 chunk, i64 part,
                            ChunkBits& to) {
    for (int tile = warp_in_block(); tile < TILES; tile += WRITE_BLOCK / 32) {
        const i64 v = chunk * CHUNK + 32 * tile + lane_id(), at = v * WORDS + part * PART;
        const Part bits = v < n ? load_part(visited + at) : Part();
        Part bit[PLANES];
#pragma unroll
        for (int b = 0; b < PLANES; b++)
            bit[b] = b < plane_count && bits.any() ? load_part(reinterpret_cast<const u32*>(planes[b]) + at) : Part();
#pragma unroll
        for (int i = 0; i < PART; i++) {
            const int slot = ChunkBits::slot(32 * i + lane_id(), tile);
            to.reached[slot] = warp_transpose(bits.word[i]);
            u32 plane[PLANES] = {};
#pragma unroll
            for (int b = 0; b < PLANES; b++) {
                if (b < plane_count) plane[b] = warp_transpose(bit[b].word[i]);
            }
            to.level[slot] = make_uint4(numbers(plane, 0), numbers(plane, 1), numbers(plane, 2), numbers(plane, 3));
        }
    }
}

// Stores four consecutive values at an address that is a multiple of their size.
template <class T>
DEVICE void store_four(T* to, const T (&value)[FOUR]) {
    struct alignas(16) Vector {
        T value[16 / sizeof(T)];
    };
    constexpr int EACH = 16 / int(sizeof(T));
#pragma unroll
    for (int first = 0; first < FOUR; first += EACH) {
        Vector vector;
#pragma unroll
        for (int i = 0; i < EACH; i++) vector.value[i] = value[first + i];
        *reinterpret_cast<Vector*>(to + first) = vector;
    }
}

// The entries of one source in a chunk.  `first`: their position in the result.  `shift`: 0 writes the columns and the
// low four bits of the levels; otherwise the levels get the four bits from `shift` on.  `staged`: memory of the warp.
// The whole warp calls.
DEVICE void write_entries(const ChunkBits& bits, int source, i64 row, i64 first, int shift, u16* staged, J* columns,
                          L* levels) {
    const u32 mine = lane_id() < TILES ? bits.reached[ChunkBits::slot(source, lane_id() % TILES)] : 0;
    const int count = __popc(mine), inclusive = warp_scan_inclusive(count);
    const int total = shuffle(inclusive, 31), skipped = int(first % FOUR);
    if (total == 0) return;
#pragma unroll
    for (int tile = 0; tile < TILES; tile++) {
        const u32 reached = shuffle(mine, tile);
        const int before = shuffle(inclusive - count, tile);
        if (reached >> lane_id() & 1u) {
            const int place = skipped + before + __popc(reached & lanes_below());
            const u32 level = bits.level_of(ChunkBits::slot(source, tile), lane_id());
            staged[place % CHUNK] = u16(u32(32 * tile + lane_id()) | level << ROW_BITS);
        }
    }
    __syncwarp();
    for (int begin = FOUR * lane_id(); begin < skipped + total; begin += FOUR * 32) {
        const uint2 four = *reinterpret_cast<const uint2*>(staged + begin % CHUNK);
        const u32 entry[FOUR] = {four.x & 0xffffu, four.x >> 16, four.y & 0xffffu, four.y >> 16};
        J column[FOUR];
        L level[FOUR];
#pragma unroll
        for (int i = 0; i < FOUR; i++) {
            column[i] = J(row + (entry[i] & u32(CHUNK - 1)));
            level[i] = L(entry[i] >> ROW_BITS) << shift;
        }
        const i64 to = first - skipped + begin;
        if (shift == 0 && begin >= skipped && begin + FOUR <= skipped + total) {
            store_four(columns + to, column);
            store_four(levels + to, level);
            continue;
        }
#pragma unroll
        for (int i = 0; i < FOUR; i++) {
            if (begin + i < skipped || begin + i >= skipped + total) continue;
            if (shift == 0) columns[to + i] = column[i];
            levels[to + i] = shift == 0 ? level[i] : levels[to + i] | level[i];
        }
    }
    __syncwarp();
}

// planes: the addresses of up to PLANES bit planes, the first of which holds bit `shift` of the levels; a part of a row
// without bits is undefined in them.  offsets: the prefix sums of the counts.  base: the position of the first entry of
// the first source.
extern "C" __global__ void __launch_bounds__(WRITE_BLOCK)
    many_write(const u32* visited, const u64* planes, i64 plane_count, i64 shift, i64 n, i64 sources,
               const i64* offsets, i64 base, J* columns, L* levels) {
    __shared__ ChunkBits bits;
    alignas(16) __shared__ u16 staged[WRITE_BLOCK / 32][CHUNK];
    const i64 chunks = chunk_count(n);
    for (i64 item = blockIdx.x; item < chunks * LANES; item += gridDim.x) {
        const i64 chunk = item / LANES, part = item % LANES;
        transpose_chunk(visited, planes, plane_count, n, chunk, part, bits);
        __syncthreads();
        for (int s = warp_in_block(); s < SOURCES && SOURCES * part + s < sources; s += WRITE_BLOCK / 32) {
            const i64 first = base + offsets[(SOURCES * part + s) * chunks + chunk];
            write_entries(bits, s, chunk * CHUNK, first, int(shift), staged[warp_in_block()], columns, levels);
        }
        __syncthreads();
    }
}

// indptr[s] = base + the position of the first entry of source s, for s up to and including `sources`.
extern "C" __global__ void many_offsets(const i64* offsets, i64 n, i64 sources, i64 base, P* indptr) {
    const i64 chunks = chunk_count(n);
    for (i64 s = thread_id(); s <= sources; s += thread_count()) indptr[s] = P(base + offsets[s * chunks]);
}
