// locate: the smallest value of each row or group (DESCENDING: the largest), and where it is; of equal values the first.
//
// The prologue defines: A, the type of values, and KEY and DESCENDING of their sort keys; P and I, of row offsets and
// columns; X, of an array of group numbers, and L, of an index list; BIDS, what entries bid; FORM.
// An entry bids a number of 64 bits for its row or group, and the smallest bid wins: a sort key of 32 bits with the number
// of the entry below it.  A key of 64 bits, or too many entries, needs two passes: the keys, then the numbers of the
// entries that have the winning key.

#include "entries.cuh"
#include "order_keys.cuh"

constexpr i64 KEYS_AND_PLACES = 0;
constexpr i64 KEYS = 1;
constexpr i64 PLACES = 2;
constexpr u64 NO_BID = ~u64(0);

// The bid of entry p; keys: the winning keys, before the pass of places.
DEVICE u64 bid_of(A value, i64 p, const u64* keys, i64 target) {
    const KEY key = value_key(value);
    if constexpr (BIDS == KEYS_AND_PLACES) return (u64(key) << 32) | u64(p);
    else if constexpr (BIDS == KEYS) return u64(key);
    else return u64(key) == keys[target] ? u64(p) : NO_BID;
}
// Slots only decrease, so a bid that is not below a possibly outdated slot never wins and needs no atomic.
DEVICE void place_bid(u64* slot, u64 bid) {
    if (load_relaxed(slot) > bid) atomicMin(slot, bid);
}
DEVICE i64 place_of(u64 bid) { return BIDS == KEYS_AND_PLACES ? i64(u32(bid)) : i64(bid); }

// A warp reads 32 neighboring entries at a time, and the first lane of each row among them places the bid of all.
extern "C" __global__ void locate_rows(i64 n, i64 nrows, const P* indptr, const A* values, const u64* keys, u64* best) {
    const WarpRange range(0, n);
    if (range.first >= range.end) return;
    RowFinder<P> finder(indptr, nrows, range.first);
    for (i64 first = range.first; first < range.end; first += CHUNK) {
        const i64 last = first + CHUNK < range.end ? first + CHUNK - 1 : range.end - 1;
        finder.enter(first, last);
#pragma unroll 1
        for (int slot = lane_id(); slot < CHUNK; slot += 32) {
            const i64 p = first + slot, found = finder.row(first, slot), row = p <= last ? found : -1;
            u64 bid = p <= last ? bid_of(values[p], p, keys, row) : NO_BID;
#pragma unroll
            for (int delta = 1; delta < 32; delta *= 2) {
                const u64 other = shuffle_down(bid, delta);
                const i64 other_row = shuffle_down(row, delta);
                if (lane_id() + delta < 32 && other_row == row && other < bid) bid = other;
            }
            const i64 before = shuffle_up(row, 1);
            if (row >= 0 && (lane_id() == 0 || before != row)) place_bid(best + row, bid);
        }
    }
}

// out[r] = the winning value of each nonempty row, places[r] its column; best: null if all values are the same.  indices:
// null for full rows.
extern "C" __global__ void locate_rows_write(i64 nrows, const P* indptr, const I* indices, const A* values,
                                             const u64* best, A* out, i64* places) {
    for (i64 r = thread_id(); r < nrows; r += thread_count()) {
        const i64 begin = i64(indptr[r]);
        if (begin == i64(indptr[r + 1])) continue;
        const i64 p = best == nullptr ? begin : place_of(best[r]);
        if (out != nullptr) out[r] = values[p];
        places[r] = indices == nullptr ? p - begin : i64(indices[p]);
    }
}

// Entry k, present in `words`, has index list[k], or k, whose group is in index, or start + step * that.
extern "C" __global__ void locate_groups(i64 n, const u32* words, const L* list, const X* index, i64 start, i64 step,
                                         const A* values, A iso, const u64* keys, u64* best) {
    for (i64 k = thread_id(); k < n; k += thread_count()) {
        if (!is_present(words, k)) continue;
        const i64 group = index_at(index, start, step, index_at(list, 0, 1, k));
        place_bid(best + group, bid_of(value_at(values, iso, k), k, keys, group));
    }
}

// Writes presence, the winning values and their indices.
extern "C" __global__ void locate_groups_write(i64 size, const L* list, const A* values, const u64* best,
                                               u32* out_words, A* out, i64* places, i64* count) {
    add_count(count, write_bits(size, out_words, [=](i64 g) {
        if (best[g] == NO_BID) return false;
        const i64 k = place_of(best[g]);
        if (out != nullptr) out[g] = values[k];
        places[g] = list == nullptr ? k : i64(list[k]);
        return true;
    }));
}
