// Label-correcting closure: c = x (+) x A (+) x A^2 (+) ..., where entries may change again after they appear.
//
// In each step every row whose value changed relaxes its neighbors.  (+) must be idempotent, commutative and monotone
// (min, max, or, and), so that products may be combined in any order and repeatedly.  With min_plus this is the
// Bellman-Ford algorithm with a work list (Moore 1959), with max_min widest paths, with min_first label propagation.
//
// A bitmap for each parity of the step prevents duplicates in the next list; a row clears its bit in the old bitmap
// when it is expanded.  `relax_enter` inserts the first entries, `relax_cluster` runs on one cluster while the list has
// few edges, and `relax_grid` runs on the whole GPU until the list is empty.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z; the
// parameters of columns.cuh; NATIVE (2: atomicMin, 3: atomicMax, else compare-and-swap); ORDER (closure_order.cuh); and the
// constants CLUSTER_BLOCK, GRID_BLOCK (threads a block), CLUSTER_EDGES, EAGER_EDGES, ORDER_FEW (tuning.py).

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
    u32* piled;   // the rows that have entered the pile
    J* pile;      // two consecutive lists
    J* row;       // two consecutive lists
    P* start;
    P* before;
    Z* values;
    Z absent;  // the value of absent entries: the identity of (+)
    f64 share;  // of the span of the first values in the pile: the first width
    u64* state;
    i64* trace;
    i64 trace_rows;
    i64 n;
    i64 max_steps;
    int shift;  // of the packing
    int skewed;
    int ordered;  // whether to expand near rows first
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

// *address = add(*address, z), atomically; returns the old value.  Any thread may call.
template <class T>
DEVICE T improve(T* address, T z) {
    if constexpr (NATIVE == 2) return atomicMin(address, z);
    else if constexpr (NATIVE == 3) return atomicMax(address, z);
    else return atomic_update(address, [z](T value) { return T(add(value, z)); });
}

#include "closure_order.cuh"

struct Relax {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    typedef Z Payload;
    const Relaxation& s;
    u32* listed;
    u32* listed_next;
    Order order;
    bool eager;  // few edges, so latency dominates

    // Some value that row i has had since the last barrier; values change monotonically.
    DEVICE Z current(i64 i) const { return load_relaxed(s.values + i); }
    // Several blocks may stage one row at different times and read different values.  A thread that changes the value
    // later lists the row for the next step, which relaxes its neighbors again.
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
        const Z old = improve(s.values + j, z);
        const bool changed = !same_bits(Z(add(old, z)), old);
        const bool first = same_bits(old, s.absent) && bit_claim(s.present, j);
        if (!changed && !first) return false;
        if constexpr (ORDER != 0) {
            // If another thread makes the value near, it lists the row, which the next pass then drops.
            if (place_of(z) > order.reach) {
                if (bit_claim(s.piled, j)) add_to_pile(s, order, j);
                return false;
            }
        }
        if (!eager) return bit_claim(listed_next, j);
        const u32 bit = 1u << (j & 31);
        return (atomicOr(listed_next + (j >> 5), bit) & bit) == 0;
    }
};

// Repeats steps until the list and the pile are empty, `max_steps` are done, or (on one cluster) the list has too many
// edges.
template <int BLOCK, bool FULL_GRID, class Group>
DEVICE void steps(const Relaxation& s, Group& group, u64* counters) {
    u64 pending = s.state[PENDING];
    u64 total = s.state[TOTAL];
    i64 step = i64(s.state[STEPS]);
    int parity = int(s.state[PARITY]);
    int turn = 0;
    const i64 words = (s.n + 31) / 32;
    const double infinity = from_bits<double>(u64(0x7ff) << 52);
    Order order(s.state);
    order.step = step;
    order.edges = total;
    bool passed = false;  // the last iteration was a pass
    for (;;) {
        const bool listed = s.packing.rows(pending) > 0;
        // Final after the barrier: only steps add to the current pile, and only passes replace it.
        const i64 count = ORDER == 0 ? 0 : i64(load_relaxed(order.piled(s.state)));
        if (!listed && count == 0) break;
        if (!FULL_GRID && (s.packing.edges(pending) > CLUSTER_EDGES || count > CLUSTER_EDGES)) break;
        const bool last = listed && step >= s.max_steps;
        if (last && (ORDER == 0 || !(order.reach < infinity))) break;
        if (Group::rank() == 0 && threadIdx.x == 0) counters[(turn + 1) % 3] = 0;
        if (ORDER != 0 && (!listed || last)) {
            const Append to = {s.row + parity * s.n, s.start + parity * s.n, s.before + parity * s.n, counters + turn,
                               pending};
            const double before = order.reach;
            if (last) {  // relaxes without an order, for as many steps as that may need
                order.reach = infinity;
                step = 0;
            } else if (order.width == 0) {
                measure<BLOCK>(s, group, order, count);
            } else if (passed) {  // nothing is left between the reach and the best value of the pile
                const double best = sorted_value(~load_relaxed(order.best(s.state)));
                order.reach = best + order.width;
            } else {
                const u64 rounds = u64(step - order.step), edges = total - order.edges;
                if (edges < rounds * u64(FULL_GRID ? ORDER_FEW : CLUSTER_EDGES)) order.width *= 2;
                order.reach += order.width;
            }
            order.step = step;
            order.edges = total;
            pass<BLOCK>(s, group, order, to, before);
            group.barrier();
            pending += load_relaxed(counters + turn);
            turn = (turn + 1) % 3;
            passed = true;
            continue;
        }
        if (Group::rank() == 0 && threadIdx.x == 0 && step < s.trace_rows) {
            s.trace[3 * step] = 0;
            s.trace[3 * step + 1] = s.packing.rows(pending);
            s.trace[3 * step + 2] = s.packing.edges(pending);
        }
        const RowList list = {s.row + parity * s.n, s.start + parity * s.n, s.before + parity * s.n, 0, pending};
        parity = 1 - parity;
        const Append to = {s.row + parity * s.n, s.start + parity * s.n, s.before + parity * s.n, counters + turn, 0};
        const bool eager = s.packing.edges(pending) <= EAGER_EDGES;
        expand<BLOCK, Group>(s.packing, s.indptr, s.columns, list, s.skewed, eager, to,
                            Relax{s, s.listed + (1 - parity) * words, s.listed + parity * words, order, eager});
        group.barrier();
        total += s.packing.edges(pending);
        pending = load_relaxed(counters + turn);  // final after the barrier
        turn = (turn + 1) % 3;
        step++;
        passed = false;
    }
    if (Group::rank() == 0 && threadIdx.x == 0) {
        s.state[PENDING] = pending;
        s.state[TOTAL] = total;
        s.state[STEPS] = u64(step);
        s.state[PARITY] = u64(parity);
        order.save(s.state);
    }
}

// Inserts the first entries.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK)
    relax_enter(const SourceArguments entered, const RelaxArguments given) {
    const Relaxation s(given);
    const Append to = {s.row, s.start, s.before, s.state + PENDING, 0};
    // The first entries are expanded in any case, and then everything is far, or nothing.
    if (thread_id() == 0) s.state[REACH] = u64(s.ordered ? 0xfff : 0x7ff) << 52;
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
