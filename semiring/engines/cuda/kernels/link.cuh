// Union-find over rows of a matrix: unite every row with its neighbours at positions [first, last) of the row.
// How two trees are united: forest.cuh.
// Sutton, Ben-Nun, Barak, "Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling" (IPDPS 2018);
// Jaiganesh, Burtscher, "A High-Performance Connected Components Implementation for GPUs" (HPDC 2018).
//
// The prologue defines the types P (offsets), F (labels), what columns.cuh asks for, and the constants BLOCK and
// SHORT_ROW.

#include "expand.cuh"
#include "forest.cuh"

// link.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct LinkArguments {
    const P* indptr;
    ColumnsArgument indices;
    const F* old;  // the forest before the pass
    F* parent;
    i64 n;
    i64 first;
    i64 last;  // negative: to the end of each row
    bool skips;  // rows whose root was `skip`, or `*skip_at`
    F skip;
    const F* skip_at;  // null: `skip` is the label
    J* row;  // the list of long rows (expand.cuh); null if there are none
    P* start;
    P* before;
    u64* count;
    int shift;  // of the packing
};

// The forest `old` as `parent`; where all rows are visited, a root also hooks to its first visited neighbour if that is
// smaller: a parent that descends, stored without a compare-and-swap because nobody else writes it.
extern "C" __global__ void __launch_bounds__(BLOCK) link_copy(const LinkArguments s) {
    const Columns columns = open_columns(s.indices);
    for (i64 i = thread_id(); i < s.n; i += thread_count()) {
        F above = s.old[i];
        if constexpr (CODEC == PLAIN) {  // an entry of compressed rows costs more than the hooking saves
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

// Rows with few entries are done here, by a thread each; the others are listed for `link_listed`.
extern "C" __global__ void __launch_bounds__(BLOCK) link_rows(const LinkArguments s) {
    const Packing packing = {s.shift};
    const Append to = {s.row, s.start, s.before, s.count, 0};
    const Columns columns = open_columns(s.indices);
    const F skip = s.skip_at != nullptr ? *s.skip_at : s.skip;
    for (i64 base = i64(blockIdx.x) * BLOCK; base < s.n; base += i64(gridDim.x) * BLOCK) {
        const i64 i = base + threadIdx.x;
        i64 begin = 0, p = 0, end = 0;
        if (i < s.n && !(s.skips && old_root(s.old, F(i)) == skip)) {
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
    }
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

// The listed rows, their entries from `first` on divided among all blocks.
extern "C" __global__ void __launch_bounds__(BLOCK) link_listed(const LinkArguments s) {
    const Packing packing = {s.shift};
    const RowList list = {s.row, s.start, s.before, 0, *s.count, s.first};
    const Append nowhere = {};
    expand<BLOCK, GridRank>(packing, s.indptr, open_columns(s.indices), list, true, false, nowhere, Unite{s.parent});
}

// Every row and `count` of its hubs (hubs.cuh), which stand n places apart; -1: none.
extern "C" __global__ void __launch_bounds__(BLOCK) link_hubs(const J* hubs, i64 count, F* parent, i64 n) {
    for (i64 i = thread_id(); i < n; i += thread_count()) {
        for (i64 c = 0; c < count; c++) {
            const J hub = hubs[c * n + i];
            if (hub >= 0) unite(parent, F(i), F(hub));
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) link_flatten(F* parent, i64 n) { flatten(parent, n); }
