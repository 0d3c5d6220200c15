// Label-correcting closure: c = x (+) x A (+) x A^2 (+) ..., where entries may change again after they appear.
//
// In each step every row whose value changed relaxes its neighbours.  (+) must be idempotent, commutative and monotone
// (min, max, or, and), so that products may be combined in any order and repeatedly.  With min_plus this is the
// Bellman-Ford algorithm with a work list (Moore 1959), with max_min widest paths, with min_first label propagation.
//
// A bitmap for each parity of the step prevents duplicates in the next list; a row clears its bit in the old bitmap
// when it is expanded.  `relax_enter` inserts the first entries, `relax_cluster` runs on one cluster while the list has
// few edges, and `relax_grid` runs on the whole GPU until the list is empty.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z; the
// parameters of columns.cuh; and the constants CLUSTER_BLOCK, GRID_BLOCK (threads a block), CLUSTER_EDGES (tuning.py).

#include "expand.cuh"
#include "sources.cuh"

// Words of the state.
enum { PENDING, TOTAL, STEPS, PARITY, REACHED, BARRIER, CLUSTER_COUNT, GRID_COUNT = CLUSTER_COUNT + 3 };

// closure.py packs this struct by the names of its fields (arguments.py); each line declares one field.
struct RelaxArguments {
    const P* indptr;
    ColumnsArgument indices;
    const A* a_values;
    A a_iso;
    u32* present;
    u32* listed;  // two consecutive bitmaps
    J* row;       // two consecutive lists
    P* start;
    P* before;
    Z* values;
    Z absent;  // the value of absent entries: the identity of (+)
    u64* state;
    i64* trace;
    i64 trace_rows;
    i64 n;
    i64 max_steps;
    int shift;  // of the packing
    int skewed;
};

struct Relaxation : RelaxArguments {
    Columns columns;
    Packing packing;

    DEVICE explicit Relaxation(const RelaxArguments& given)
        : RelaxArguments(given), columns(open_columns(given.indices)), packing{given.shift} {}
};

template <class T>
DEVICE bool same_bits(T a, T b) {
    typedef unsigned_of<sizeof(T)> Bits;
    return from_bits<Bits>(a) == from_bits<Bits>(b);
}

struct Relax {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    typedef Z Payload;
    const Relaxation& s;
    u32* listed;
    u32* listed_next;

    // Some value that row i has had since the last barrier; values change monotonically.
    DEVICE Z current(i64 i) const { return load_relaxed(s.values + i); }
    // Several blocks may stage one row at different times and read different values.  A thread that changes the value
    // later lists the row for the next step, which relaxes its neighbours again.
    DEVICE Z payload(i64 row, i64) const {
        atomicAnd(listed + (row >> 5), ~(1u << (row & 31)));
        return current(row);
    }
    DEVICE Z product(Z x, i64 k, i64 j, i64 p) const {
        A y = A();
        if constexpr (multiply_reads_y) y = value_at(s.a_values, s.a_iso, p);
        return multiply(x, y, 0, k, k, j);
    }
    // False: the product does not change the value, at any time, because values change monotonically.  An outdated true
    // costs the atomics of a visit.
    DEVICE bool open(Z x, i64 k, i64 j, i64 p) const {
        const Z old = current(j);
        if (!same_bits(Z(add(old, product(x, k, j, p))), old)) return true;
        return same_bits(old, s.absent) && !bit_relaxed(s.present, j);
    }
    DEVICE bool visit(Z x, i64 k, i64 j, i64 p) const {
        const Z z = product(x, k, j, p);
        const Z old = atomic_update(s.values + j, [z](Z value) { return Z(add(value, z)); });
        const bool changed = !same_bits(Z(add(old, z)), old);
        const bool first = same_bits(old, s.absent) && bit_claim(s.present, j);
        return (changed || first) && bit_claim(listed_next, j);
    }
};

// Repeats steps until the list is empty, `max_steps` are done, or (on one cluster) the list has too many edges.
template <int BLOCK, bool FULL_GRID, class Group>
DEVICE void steps(const Relaxation& s, Group& group, u64* counters) {
    u64 pending = s.state[PENDING];
    u64 total = s.state[TOTAL];
    i64 step = i64(s.state[STEPS]);
    int parity = int(s.state[PARITY]);
    int turn = 0;
    const i64 words = (s.n + 31) / 32;
    while (s.packing.rows(pending) > 0 && step < s.max_steps) {
        if (!FULL_GRID && s.packing.edges(pending) > CLUSTER_EDGES) break;
        if (Group::rank() == 0 && threadIdx.x == 0) {
            counters[(turn + 1) % 3] = 0;
            if (step < s.trace_rows) {
                s.trace[3 * step] = 0;
                s.trace[3 * step + 1] = s.packing.rows(pending);
                s.trace[3 * step + 2] = s.packing.edges(pending);
            }
        }
        const RowList list = {s.row + parity * s.n, s.start + parity * s.n, s.before + parity * s.n, 0, pending};
        parity = 1 - parity;
        const Append to = {s.row + parity * s.n, s.start + parity * s.n, s.before + parity * s.n, counters + turn, 0};
        expand<BLOCK, Group>(s.packing, s.indptr, s.columns, list, s.skewed, false, to,
                            Relax{s, s.listed + (1 - parity) * words, s.listed + parity * words});
        group.barrier();
        total += s.packing.edges(pending);
        pending = load_relaxed(counters + turn);  // final after the barrier
        turn = (turn + 1) % 3;
        step++;
    }
    if (Group::rank() == 0 && threadIdx.x == 0) {
        s.state[PENDING] = pending;
        s.state[TOTAL] = total;
        s.state[STEPS] = u64(step);
        s.state[PARITY] = u64(parity);
    }
}

// Inserts the first entries.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK)
    relax_enter(const SourceArguments entered, const RelaxArguments given) {
    const Relaxation s(given);
    const Append to = {s.row, s.start, s.before, s.state + PENDING, 0};
    for (i64 first = i64(blockIdx.x) * GRID_BLOCK; first < entered.source_count; first += i64(gridDim.x) * GRID_BLOCK) {
        const i64 at = first + threadIdx.x;
        const bool mine = at < entered.source_count;
        const i64 source = mine ? source_row(entered, at) : 0;
        const i64 begin = mine ? i64(s.indptr[source]) : 0;
        append(s.packing, to, mine, source, begin, mine ? i64(s.indptr[source + 1]) - begin : 0);
        if (mine) {
            atomicOr(s.present + (source >> 5), 1u << (source & 31));
            s.values[source] = cast<Z>(value_at(entered.u_values, entered.u_iso, at));
        }
    }
}

extern "C" __global__ void ONE_CLUSTER __launch_bounds__(CLUSTER_BLOCK) relax_cluster(const RelaxArguments given) {
    const Relaxation s(given);
    Cluster group;
    steps<CLUSTER_BLOCK, false>(s, group, s.state + CLUSTER_COUNT);
}

// Launched cooperatively, two blocks a multiprocessor: with one, which the compiler may choose (98 registers a thread
// for int64 distances over uint8 weights), too few loads overlap.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, 2) relax_grid(const RelaxArguments given) {
    const Relaxation s(given);
    CooperativeGrid group(reinterpret_cast<u32*>(s.state + BARRIER));
    steps<GRID_BLOCK, true>(s, group, s.state + GRID_COUNT);
}

// state[REACHED] += the number of entries.
extern "C" __global__ void relax_count(const u32* present, i64 words, u64* state) {
    i64 counted = 0;
    for (i64 w = thread_id(); w < words; w += thread_count()) counted += __popc(present[w]);
    counted = block_sum(counted);
    if (threadIdx.x == 0 && counted != 0) atomicAdd(state + REACHED, u64(counted));
}
