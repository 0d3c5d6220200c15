// The entries of each row in the order of sort keys: sorted rows, and the first entries in that order.
//
// The prologue defines: P and I, the types of row offsets and columns; A, of values; KEY, u32 or u64; RANDOM and
// DESCENDING; SORT_BIG, the longest row that a block sorts in shared memory; FORM.
// A warp sorts rows of up to SORT_WARP entries in registers by a bitonic sort (Batcher, "Sorting Networks and their
// Applications", AFIPS 1968).  A block of as many threads as the row needs sorts longer ones by merges, whose partition
// each thread searches (Green, McColl, Bader, "GPU Merge Path", ICS 2012).  Rows longer than SORT_BIG are sorted
// together, as keys with the number of their row.  Equal keys keep the order of their entries.

#include "entries.cuh"
#include "order_keys.cuh"
#include "lookback.cuh"

// What the sort of long rows moves with a key: a position in the list of their entries, and beside a key of 64 bits the
// number of the row.
using LISTED = choose<sizeof(KEY) == 4, unsigned_of<sizeof(P)>, u64>;

// --- keys: of values, or at random as engines/shared/order.py computes them -----------------------------------------

struct Keys {
    const I* indices;
    const A* values;
    u64 seed;

    // The key of entry p in a row.
    DEVICE KEY at(i64 p, i64 row) const {
        if constexpr (RANDOM) {
            constexpr u64 STEP = 0x9e3779b97f4a7c15ull;
            const u64 of_row = mixed(seed + STEP * (u64(row) + 1));
            return KEY(mixed(of_row + STEP * (u64(indices[p]) + 1)) >> 32);
        } else {
            return value_key(values[p]);
        }
    }
};

// --- a key and the place of its entry in the row, compared in this order ----------------------------------------

struct Wide {
    u64 key;
    u32 at;
};
using Item = choose<sizeof(KEY) == 4, u64, Wide>;

DEVICE u64 item_of(u32 key, u32 at) { return (u64(key) << 32) | at; }
DEVICE Wide item_of(u64 key, u32 at) { return Wide{key, at}; }
DEVICE bool above(u64 a, u64 b) { return a > b; }
DEVICE bool above(Wide a, Wide b) { return a.key > b.key || (a.key == b.key && a.at > b.at); }
DEVICE u64 item_from(u64 item, int mask) { return shuffle_xor(item, mask); }
DEVICE Wide item_from(Wide item, int mask) { return Wide{shuffle_xor(item.key, mask), shuffle_xor(item.at, mask)}; }
DEVICE u32 place_of(u64 item) { return u32(item); }
DEVICE u32 place_of(Wide item) { return item.at; }

// --- short rows ------------------------------------------------------------------------------------------

constexpr int EACH = 8;  // items of a lane, at most
constexpr u32 SORT_WARP = 32 * EACH;

// The steps of a bitonic sort within 32 E items of a warp, of which lane l holds 32 e + l as mine[e]: merges of runs of
// `run` items.  first: the number of the first item.  Every lane calls.
template <int E>
DEVICE void merge_in_warp(Item (&mine)[E], u32 first, u32 run) {
    const u32 lane = u32(lane_id());
#pragma unroll
    for (u32 apart = 16 * E; apart > 0; apart /= 2) {
        if (apart >= run) continue;
#pragma unroll
        for (int e = 0; e < E; ++e) {
            const bool ascends = ((first + 32 * e + lane) & run) == 0;
            if (apart >= 32) {
                constexpr int LAST = E - 1;
                const int other = (e + int(apart / 32)) & LAST;
                if ((e & int(apart / 32)) == 0 && above(mine[e], mine[other]) == ascends) {
                    const Item item = mine[e];
                    mine[e] = mine[other];
                    mine[other] = item;
                }
            } else {
                const Item other = item_from(mine[e], int(apart));
                if (above(mine[e], other) == (ascends == ((lane & apart) == 0))) mine[e] = other;
            }
        }
    }
}
// Loads items [first, first + 32 E) of a row and sorts them; items behind the row are after all others.
template <int E>
DEVICE void sort_in_warp(Item (&mine)[E], const Keys& keys, i64 row, i64 begin, u32 length, u32 first) {
#pragma unroll
    for (int e = 0; e < E; ++e) {
        const u32 q = first + 32 * e + u32(lane_id());
        mine[e] = item_of(q < length ? keys.at(begin + q, row) : LAST_KEY, q);
    }
#pragma unroll 1
    for (u32 run = 2; run <= 32 * E; run *= 2) merge_in_warp(mine, first, run);
}
// Writes the entry numbers of items [first, first + 32 E) of a row.
template <int E>
DEVICE void write_order(const Item (&mine)[E], i64 begin, u32 length, u32 first, P* order) {
#pragma unroll
    for (int e = 0; e < E; ++e) {
        const u32 q = first + 32 * e + u32(lane_id());
        if (q < length) order[begin + q] = P(begin + place_of(mine[e]));
    }
}
template <int E>
DEVICE void order_row(const Keys& keys, i64 row, i64 begin, u32 length, P* order) {
    Item mine[E];
    sort_in_warp(mine, keys, row, begin, length, 0);
    write_order(mine, begin, length, 0, order);
}

// A warp sorts a row of up to SORT_WARP entries.
extern "C" __global__ void order_warps(i64 nrows, const P* indptr, const I* indices, const A* values, u64 seed,
                                       P* order) {
    const Keys keys{indices, values, seed};
    for (i64 i = warp_id(); i < nrows; i += warp_count()) {
        const i64 begin = i64(indptr[i]), length = i64(indptr[i + 1]) - begin;
        if (length == 0 || length > SORT_WARP) continue;
        if (length <= 32) order_row<1>(keys, i, begin, u32(length), order);
        else if (length <= 64) order_row<2>(keys, i, begin, u32(length), order);
        else if (length <= 128) order_row<4>(keys, i, begin, u32(length), order);
        else order_row<8>(keys, i, begin, u32(length), order);
    }
}

// Rows of more than SORT_WARP entries are listed by length: list b has those of up to SORT_WARP << (b + 1) entries, and
// the last one, number BINS - 1, those of more than SORT_BIG.
constexpr int bins_up_to(i64 longest) { return longest <= i64(SORT_WARP) ? 1 : 1 + bins_up_to(longest / 2); }
constexpr int BINS = bins_up_to(SORT_BIG);

// Position of list b in an array of all lists, for a matrix of n entries: no list has more than n / its least length.
DEVICE i64 bin_start(int b, i64 n) {
    i64 start = 0;
    for (int k = 0; k < b; ++k) start += n / (i64(SORT_WARP << k) + 1);
    return start;
}

// counts has the number of rows in each list and is cleared before the launch.
extern "C" __global__ void order_bins(i64 n, i64 nrows, const P* indptr, i64* counts, P* lists) {
    for (i64 i = thread_id(); i < nrows; i += thread_count()) {
        const i64 length = i64(indptr[i + 1]) - i64(indptr[i]);
        if (length <= SORT_WARP) continue;
        int bin = 0;
        while (bin < BINS - 1 && length > i64(SORT_WARP) << (bin + 1)) ++bin;
        const u64 at = atomicAdd(reinterpret_cast<u64*>(counts + bin), u64(1));
        lists[bin_start(bin, n) + i64(at)] = P(i);
    }
}

// Keys and places in shared memory.  One word in 33 stays empty: threads that read EACH items each use all banks.
struct Staged {
    KEY* keys;
    u16* places;

    DEVICE static u32 slot(u32 q) { return q + q / 32; }
    DEVICE KEY key(u32 q) const { return keys[slot(q)]; }
    DEVICE u16 place(u32 q) const { return places[slot(q)]; }
    DEVICE void put(u32 q, KEY key, u16 place) const {
        keys[slot(q)] = key;
        places[slot(q)] = place;
    }
};

// The EACH items of a thread: positions [first, first + EACH) of a row, of which those before `length` exist.
struct Items {
    KEY key[EACH];
    u16 place[EACH];

    DEVICE void load(const Keys& keys, i64 row, i64 begin, u32 first, u32 length) {
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const u32 q = first + e;
            key[e] = q < length ? keys.at(begin + q, row) : LAST_KEY;
            place[e] = u16(q);
        }
    }
    // A stable sort by exchanges of neighbors.
    DEVICE void sort() {
#pragma unroll
        for (int round = 0; round < EACH; ++round) {
#pragma unroll
            for (int e = round & 1; e + 1 < EACH; e += 2) {
                if (key[e] <= key[e + 1]) continue;
                const KEY low = key[e + 1];
                const u16 from = place[e + 1];
                key[e + 1] = key[e];
                place[e + 1] = place[e];
                key[e] = low;
                place[e] = from;
            }
        }
    }
    DEVICE void put(const Staged& staged, u32 first) const {
#pragma unroll
        for (int e = 0; e < EACH; ++e) staged.put(first + e, key[e], place[e]);
    }
    // Merges the sorted runs of `run` items that contain `first`, up to position `size`: the items at the same positions
    // of the merged run.
    DEVICE void merge(const Staged& staged, u32 first, u32 run, u32 size) {
        const u32 a_first = first & ~(2 * run - 1), b_first = a_first + run;
        if (b_first >= size) return;
        const u32 a_end = b_first, b_end = b_first + run < size ? b_first + run : size;
        const u32 before = first - a_first, longest = b_end - b_first;
        const u32 low = partition_point(
            before > longest ? before - longest : 0, before < run ? before : run,
            [&](u32 a) { return staged.key(a_first + a) <= staged.key(b_first + before - 1 - a); });
        u32 a = a_first + low, b = b_first + before - low;
        KEY a_key = a < a_end ? staged.key(a) : LAST_KEY, b_key = b < b_end ? staged.key(b) : LAST_KEY;
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const bool of_a = b >= b_end || (a < a_end && a_key <= b_key);
            const u32 from = of_a ? a : b;
            key[e] = of_a ? a_key : b_key;
            place[e] = staged.place(from);
            a += of_a;
            b += !of_a;
            const u32 next = of_a ? a : b, end = of_a ? a_end : b_end;
            const KEY read = next < end ? staged.key(next) : LAST_KEY;
            if (of_a) a_key = read;
            else b_key = read;
        }
    }
};

// A block sorts a listed row of up to EACH * blockDim.x entries, which is more than SORT_WARP.
extern "C" __global__ void __launch_bounds__(SORT_BIG / EACH) order_blocks(i64 count, const P* rows, const P* indptr, const I* indices,
                                                                const A* values, u64 seed, P* order) {
    extern __shared__ u64 room[];
    const u32 capacity = Staged::slot(EACH * blockDim.x);
    const Staged staged{reinterpret_cast<KEY*>(room), reinterpret_cast<u16*>(reinterpret_cast<KEY*>(room) + capacity)};
    const Keys keys{indices, values, seed};
    const u32 first = EACH * threadIdx.x;
    for (i64 r = blockIdx.x; r < count; r += gridDim.x) {
        const i64 row = i64(rows[r]), begin = i64(indptr[row]);
        const u32 length = u32(i64(indptr[row + 1]) - begin), size = (length + EACH - 1) / EACH * EACH;
        const bool active = first < size;
        Items mine;
        if (active) {
            mine.load(keys, row, begin, first, length);
            mine.sort();
        }
        for (u32 run = EACH; run < size; run *= 2) {
            __syncthreads();  // the reads of the merge before, or of the row before, are complete
            if (active) mine.put(staged, first);
            __syncthreads();
            if (active) mine.merge(staged, first, run, size);
        }
        if (active) {
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                if (first + e < length) order[begin + first + e] = P(begin + mine.place[e]);
            }
        }
    }
}

// --- long rows -------------------------------------------------------------------------------------------

// lengths[r] = the length of the r-th listed row.
extern "C" __global__ void order_long_lengths(i64 count, const P* rows, const P* indptr, i64* lengths) {
    for (i64 r = thread_id(); r < count; r += thread_count()) {
        lengths[r] = i64(indptr[rows[r] + 1]) - i64(indptr[rows[r]]);
    }
}

// Keys of the entries of the listed rows, one row after the other; `offsets` has their positions.  Keys of 32 bits get
// the number of their row in the list as upper bits; beside keys of 64 bits it is the low `bits` bits of the payload.
// The payload is the position in the list.
extern "C" __global__ void order_long_keys(i64 n, i64 count, const i64* offsets, const P* rows, const P* indptr,
                                           const I* indices, const A* values, u64 seed, int bits, u64* out,
                                           LISTED* payload) {
    const Keys keys{indices, values, seed};
    for_each_entry(offsets, count, 0, n, [=](i64 q, i64 r) {
        const i64 i = i64(rows[r]);
        const KEY key = keys.at(i64(indptr[i]) + q - offsets[r], i);
        if constexpr (sizeof(KEY) == 4) {
            out[q] = (u64(r) << 32) | u64(key);
            payload[q] = LISTED(q);
        } else {
            out[q] = u64(key);
            payload[q] = (u64(q) << bits) | u64(r);
        }
    });
}

// The numbers of the entries from their sorted order in the list.
extern "C" __global__ void order_long_write(i64 n, i64 count, const i64* offsets, const P* rows, const P* indptr, int bits,
                                            const LISTED* sorted, P* order) {
    for_each_entry(offsets, count, 0, n, [=](i64 q, i64 r) {
        const i64 first = i64(indptr[rows[r]]) - offsets[r];
        order[first + q] = P(first + (sizeof(KEY) == 4 ? i64(sorted[q]) : i64(u64(sorted[q]) >> bits)));
    });
}

// --- results ---------------------------------------------------------------------------------------------

// Values, columns and places of sorted rows: the q-th entry of a row, in `order`, moves to column q.  Null order: the
// entries stay in their order.  Null out_values: they all have one value.
extern "C" __global__ void order_sorted(i64 n, i64 nrows, const P* indptr, const I* indices, const A* values,
                                        const P* order, I* columns, A* out_values, i64* places) {
    for_each_quad<32>(
        indptr, nrows, n,
        [=](i64 p, int count) { return order == nullptr ? Quad<P>() : load_four<32>(order + p, count); },
        [=](i64 p, int count, const Quad<i64>& rows, const Quad<P>& read) {
            Quad<I> place;
            Quad<A> value;
#pragma unroll
            for (int e = 0; e < QUAD; ++e) {
                if (e >= count) continue;
                const i64 from = order == nullptr ? p + 32 * e : i64(read.at[e]);
                place.at[e] = indices[from];
                if (out_values != nullptr) value.at[e] = values[from];
            }
#pragma unroll
            for (int e = 0; e < QUAD; ++e) {
                if (e >= count) continue;
                const i64 to = p + 32 * e;
                columns[to] = I(to - i64(indptr[rows.at[e]]));
                places[to] = i64(place.at[e]);
                if (out_values != nullptr) out_values[to] = value.at[e];
            }
        });
}

// A bit for each entry among the first k of its row in `order`; the bits are cleared before the launch.
extern "C" __global__ void order_mark(i64 n, i64 nrows, const P* indptr, const P* order, i64 k, u32* marks) {
    for_each_entry(indptr, nrows, 0, n, [=](i64 p, i64 row) {
        if (p - i64(indptr[row]) >= k) return;
        const i64 from = i64(order[p]);
        atomicOr(marks + (from >> 5), 1u << (from & 31));
    });
}

constexpr int OFFSETS_EACH = 2 * QUAD;  // rows of a thread

// offsets = the row offsets of the first k entries of each row, or of the last k; *words their number.  starts[i] = the
// position of the first of them in the matrix; null: not stored, those of the first k are indptr.  One block for each
// blockDim.x * OFFSETS_EACH rows; the words of lookback.cuh are cleared.
extern "C" __global__ void order_offsets(i64 nrows, const P* indptr, i64 k, u64* words, P* offsets, P* starts) {
    const i64 first = OFFSETS_EACH * thread_id();
    Quad<P> begin[2], at[2], start[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const i64 row = first + QUAD * half, left = nrows + 1 - row;
        begin[half] = load_quad(indptr + row, left >= QUAD ? QUAD : left > 0 ? int(left) : 0);
    }
    const P behind = first + OFFSETS_EACH <= nrows ? indptr[first + OFFSETS_EACH] : P(0);
    i64 sum = 0, total;
#pragma unroll
    for (int e = 0; e < OFFSETS_EACH; ++e) {
        const P end = e + 1 < OFFSETS_EACH ? begin[(e + 1) / QUAD].at[(e + 1) % QUAD] : behind;
        const i64 length = first + e < nrows ? i64(end - begin[e / QUAD].at[e % QUAD]) : 0;
        at[e / QUAD].at[e % QUAD] = P(sum);
        start[e / QUAD].at[e % QUAD] = P(i64(end) - (length < k ? length : k));
        sum += length < k ? length : k;
    }
    const i64 before = block_scan_exclusive(sum, total);
    const i64 earlier = Lookback{words}.before_block(blockIdx.x, total, blockIdx.x == gridDim.x - 1);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const i64 row = first + QUAD * half, left = nrows - row;
        const int count = left >= QUAD ? QUAD : left > 0 ? int(left) : 0;
#pragma unroll
        for (int e = 0; e < QUAD; ++e) at[half].at[e] = P(i64(at[half].at[e]) + before + earlier);
        store_quad(offsets + row, at[half], count);
        if (starts != nullptr) store_quad(starts + row, start[half], count);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) offsets[nrows] = P(earlier + total);
}
