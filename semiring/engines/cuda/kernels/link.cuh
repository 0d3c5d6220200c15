// Union-find over the rows of a matrix: unites every row with its neighbors at positions [first, last) of the row
// (forest.cuh).
// Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling" (IPDPS 2018);
// Jaiganesh, Burtscher, "A High-Performance Connected Components Implementation for GPUs" (HPDC 2018).
//
// The prologue defines the types P (offsets) and F (labels), the parameters of columns.cuh, and the constants BLOCK and
// SHORT_ROW.

#include "expand.cuh"
#include "forest.cuh"

// link.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct LinkArguments : RowArrays {  // the list of long rows; null if there are none
    const P* indptr;
    ColumnsArgument indices;
    const F* old;  // the forest before the pass
    F* parent;
    i64 n;
    i64 first;
    i64 last;  // negative: to the end of each row
    bool skips;  // true: skip the rows whose root in `old` is the label to skip
    F skip;
    const F* skip_at;  // the label to skip; null: it is `skip`
    u64* count;  // of the listed rows, packed
    int shift;  // of the packing
};

// Copies the forest `old` to `parent`.  If no rows are skipped, a root is also hooked to its first neighbor in the
// range if that is smaller; this needs no compare-and-swap, because no other thread writes that parent.
extern "C" __global__ void __launch_bounds__(BLOCK) link_copy(const LinkArguments s) {
    const Columns columns = open_columns(s.indices);
    for (i64 i = thread_id(); i < s.n; i += thread_count()) {
        F above = s.old[i];
        if constexpr (!COMPRESSED) {  // decoding a compressed entry costs more than the hook saves
            if (!s.skips && above == F(i) && s.last != 0) {
                const i64 begin = i64(s.indptr[i]), p = begin + s.first;
                if (p < i64(s.indptr[i + 1]) && (s.last < 0 || s.first < s.last)) {
                    const F j = F(ColumnCursor(columns, begin, p).column());
                    if (j < above) above = j;
                }
            }
        }
        s.parent[i] = above;
    }
}

// One thread processes a row of at most SHORT_ROW entries; longer rows are listed for `link_listed`.
extern "C" __global__ void __launch_bounds__(BLOCK) link_rows(const LinkArguments s) {
    const Packing packing = {s.shift};
    const Append to = {s, s.count, 0};
    const Columns columns = open_columns(s.indices);
    const F skip = s.skip_at != nullptr ? *s.skip_at : s.skip;
    each_by_block<BLOCK, GridRank>(s.n, [&](i64 i, bool inside) {
        i64 begin = 0, p = 0, end = 0;
        if (inside && !(s.skips && old_root(s.old, F(i)) == skip)) {
            begin = i64(s.indptr[i]);
            end = i64(s.indptr[i + 1]);
            if (s.last >= 0 && begin + s.last < end) end = begin + s.last;
            p = begin + s.first;
        }
        const bool longer = end - p > SHORT_ROW;
        if (!longer && p < end) {
            ColumnCursor entry(columns, begin, p);
            for (; p < end; p++, entry.next()) unite(s.parent, F(i), F(entry.column()));
        }
        if (s.row != nullptr && __syncthreads_or(longer)) append(packing, to, longer, i, begin, end - p);
    });
}

struct Unite {
    static constexpr bool APPENDS = false;
    static constexpr bool NEEDS_ROW = true;
    typedef char Payload;
    F* parent;
    DEVICE Payload payload(i64, i64) const { return 0; }
    DEVICE bool open(Payload, i64, i64, i64) const { return true; }
    DEVICE bool visit(Payload, i64 k, i64 j, i64) const {
        unite(parent, F(k), F(j));
        return false;
    }
};

// Processes the listed rows; their entries from `first` on are divided among all blocks.
extern "C" __global__ void __launch_bounds__(BLOCK) link_listed(const LinkArguments s) {
    const Graph graph = {s.indptr, open_columns(s.indices), {s.shift}, true};
    const RowList list = {s, 0, *s.count, s.first};
    expand<BLOCK, GridRank>(graph, list, false, Append{}, Unite{s.parent});
}

// Unites every row with `count` of its hubs (hubs.cuh), which are n elements apart; -1: none.
extern "C" __global__ void __launch_bounds__(BLOCK) link_hubs(const J* hubs, i64 count, F* parent, i64 n) {
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        for (i64 c = 0; c < count; c++) {
            const J hub = hubs[c * n + i];
            if (hub >= 0) unite(parent, F(i), F(hub));
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) link_flatten(F* parent, i64 n) { flatten(parent, n); }
