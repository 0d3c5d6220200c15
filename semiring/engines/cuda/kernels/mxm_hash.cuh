// Rows of a product of matrices in hash tables: a warp or a block accumulates a row in shared memory.
//
// Slots initially hold an exact start value of (+); for `any`, the thread that inserts a column writes the value.  If
// (+) has no exact start value (ORDERED), the entries of a row of A are processed one after the other: no two threads
// then have products of one column at a time.  Columns are sorted by a bitonic network at the end.
//
// Beside the parameters of mxm_operands.cuh and slots.cuh, the prologue defines the types O (columns of the result), P
// (offsets of its rows), R (numbers of rows); and the constant ORDERED.

#include "mxm_operands.cuh"
#include "slots.cuh"

typedef choose<sizeof(BI) == 8, u64, u32> Key;
constexpr Key EMPTY = ~Key(0);
constexpr int BLOCK = 256;

// A table of a team of TEAM threads, a warp or a block, in shared memory.
template <int TEAM, bool VALUES>
struct RowTable {
    Slot* values;
    Key* keys;
    u32* counter;
    u32 last;  // slots in use, a power of two, less one

    // capacity: slots of a table, a power of two.
    DEVICE RowTable(char* room, u32* counters, i64 capacity) {
        constexpr int SLOT = (VALUES ? int(sizeof(Slot)) : 0) + int(sizeof(Key));
        const int team = int(threadIdx.x) / TEAM;
        char* const mine = room + SLOT * capacity * team;
        values = reinterpret_cast<Slot*>(mine);
        keys = reinterpret_cast<Key*>(mine + (VALUES ? sizeof(Slot) * capacity : 0));
        counter = counters + team;
    }
    static DEVICE int rank() { return int(threadIdx.x) % TEAM; }
    static DEVICE void sync() {
        if constexpr (TEAM == 32) __syncwarp();
        else __syncthreads();
    }

    // The slot of column j; `first`: this call inserted it.
    DEVICE u32 insert(Key key, bool& first) {
        u32 slot = (u32(key) * 2654435769u >> 7) & last;
        for (;; slot = (slot + 1) & last) {
            Key seen = load_shared(keys + slot);
            first = false;
            if (seen == EMPTY) {
                seen = atomicCAS(keys + slot, EMPTY, key);
                first = seen == EMPTY;
                if (first) return slot;
            }
            if (seen == key) return slot;
        }
    }

    DEVICE void clear(const ProductArguments& s, u32 products) {
        u32 slots = 32;
        while (2 * slots < 3 * products) slots *= 2;  // at most two of three are used
        last = slots - 1;
        for (u32 slot = rank(); slot < slots; slot += TEAM) {
            keys[slot] = EMPTY;
            if constexpr (VALUES && !add_is_any && !ORDERED) values[slot] = slot_bits(s.start);
        }
        if (rank() == 0) *counter = 0;
        sync();
    }

    // Adds the products of row i.  inserted(j): this thread inserted column j.
    template <class F>
    DEVICE void fill(const ProductArguments& s, i64 i, u32 products, F inserted) {
        const i64 begin = i64(s.a_indptr[i]), end = i64(s.a_indptr[i + 1]);
        int lanes = 1;  // for an entry of A
        while (lanes < TEAM && i64(lanes) * (end - begin) < i64(products)) lanes *= 2;
        if constexpr (VALUES && ORDERED) lanes = TEAM;
        const int group = rank() / lanes, sub = rank() % lanes;
        for (i64 p = begin + group; p < end; p += TEAM / lanes) {
            const i64 k = i64(s.a_indices[p]), row_end = i64(s.b_indptr[k + 1]);
            A x = A();
            if constexpr (VALUES) x = left_value(s, p);
            for (i64 q = i64(s.b_indptr[k]) + sub; q < row_end; q += lanes) {
                const i64 j = i64(s.b_indices[q]);
                bool first;
                const u32 slot = insert(Key(j), first);
                if (first) inserted(j);
                if constexpr (VALUES) add_to_slot(values + slot, first, [&] { return product(s, x, q, i, k, j); });
            }
            if constexpr (VALUES && ORDERED) sync();
        }
        sync();
    }

    // Moves the entries that the mask admits to the front; returns their number.
    DEVICE u32 compact(const ProductArguments& s, i64 i) {
        const MaskRow mask(s, i);
        for (u32 base = 0; base <= last; base += TEAM) {
            const u32 slot = base + rank();
            const Key key = slot <= last ? keys[slot] : EMPTY;
            Slot value = Slot();
            const bool keep = key != EMPTY && mask.admits(i64(key));
            if constexpr (VALUES) {
                if (keep) value = values[slot];
            }
            const u32 to = warp_append(counter, keep);
            sync();  // all slots of this round are read; none of a later one is written
            if (keep) {
                keys[to] = key;
                if constexpr (VALUES) values[to] = value;
            }
        }
        sync();
        return load_shared(counter);
    }

    // Sorts the first `count` entries by their columns.
    DEVICE void sort(u32 count) {
        u32 size = 1;
        while (size < count) size *= 2;
        for (u32 t = count + rank(); t < size; t += TEAM) keys[t] = EMPTY;
        sync();
        // In steps of at most 32 apart, each warp has 64 elements of its own.
        for (u32 run = 2; run <= size; run *= 2) {
            for (u32 apart = run / 2; apart > 0; apart /= 2) {
                for (u32 t = rank(); t < size / 2; t += TEAM) {
                    const u32 a = 2 * t - (t & (apart - 1)), b = a + apart;
                    const Key low = keys[a], high = keys[b];
                    if (low == high || (low > high) != ((a & run) == 0)) continue;
                    keys[a] = high;
                    keys[b] = low;
                    if constexpr (VALUES) {
                        const Slot moved = values[a];
                        values[a] = values[b];
                        values[b] = moved;
                    }
                }
                if (apart > 32 || (apart == 1 && run > 32)) sync();
                else __syncwarp();
            }
        }
        sync();
    }
};

extern __shared__ __align__(16) char room[];

// counts = the entries of each listed row of the result.
template <int TEAM>
DEVICE void count_rows(const ProductArguments& s, i64 count, const R* rows, const u16* sizes, i64 capacity, O* counts) {
    __shared__ u32 counters[BLOCK / TEAM];
    RowTable<TEAM, false> table(room, counters, capacity);
    for (i64 r = thread_id() / TEAM; r < count; r += thread_count() / TEAM) {
        const i64 i = i64(rows[r]);
        const MaskRow mask(s, i);
        u32 mine = 0;
        table.clear(s, sizes[i]);
        table.fill(s, i, sizes[i], [&](i64 j) { mine += mask.admits(j); });
        if (mine != 0) atomicAdd(table.counter, mine);
        table.sync();
        if (table.rank() == 0) counts[i] = O(*table.counter);
        table.sync();
    }
}

// The same rows, stored.
template <int TEAM>
DEVICE void store_rows(const ProductArguments& s, i64 count, const R* rows, const u16* sizes, i64 capacity,
                       const P* offsets, O* indices, Z* values) {
    __shared__ u32 counters[BLOCK / TEAM];
    RowTable<TEAM, KEEPS> table(room, counters, capacity);
    for (i64 r = thread_id() / TEAM; r < count; r += thread_count() / TEAM) {
        const i64 i = i64(rows[r]), to = i64(offsets[i]);
        if (i64(offsets[i + 1]) == to) continue;
        table.clear(s, sizes[i]);
        table.fill(s, i, sizes[i], [](i64) {});
        const u32 entries = table.compact(s, i);
        table.sort(entries);
        for (u32 t = table.rank(); t < entries; t += TEAM) {
            indices[to + t] = O(table.keys[t]);
            if constexpr (KEEPS) values[to + t] = slot_value(table.values[t]);
        }
        table.sync();
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    mxm_hash_count_warp(const ProductArguments s, i64 count, const R* rows, const u16* sizes, i64 capacity, O* counts) {
    count_rows<32>(s, count, rows, sizes, capacity, counts);
}
extern "C" __global__ void __launch_bounds__(BLOCK)
    mxm_hash_count_block(const ProductArguments s, i64 count, const R* rows, const u16* sizes, i64 capacity, O* counts) {
    count_rows<BLOCK>(s, count, rows, sizes, capacity, counts);
}
extern "C" __global__ void __launch_bounds__(BLOCK)
    mxm_hash_store_warp(const ProductArguments s, i64 count, const R* rows, const u16* sizes, i64 capacity,
                        const P* offsets, O* indices, Z* values) {
    store_rows<32>(s, count, rows, sizes, capacity, offsets, indices, values);
}
extern "C" __global__ void __launch_bounds__(BLOCK)
    mxm_hash_store_block(const ProductArguments s, i64 count, const R* rows, const u16* sizes, i64 capacity,
                         const P* offsets, O* indices, Z* values) {
    store_rows<BLOCK>(s, count, rows, sizes, capacity, offsets, indices, values);
}
