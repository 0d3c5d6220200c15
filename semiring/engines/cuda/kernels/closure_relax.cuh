// Label-correcting closure: c = x (+) x A (+) x A^2 (+) ..., where entries may change again after they appear.
//
// Every row whose value changed sends its products to its neighbours; (+) must be idempotent, commutative and never
// move a value away from where it is going (min, max, or, and), so that products may arrive in any order and more than once.
// With min_plus this is Bellman and Ford's algorithm with a work list (Moore 1959), with max_min widest paths, with
// min_first the propagation of labels.
//
// Rows of the next list are told apart by a bitmap, one for each parity of the step; a row clears its bit in the
// old one when it is expanded.  `relax_enter` takes the first entries, `relax_narrow` is one cluster and goes on while
// few edges are waiting, `relax_wide` is the whole GPU and goes on to the end.
//
// The prologue defines the semiring; the types P (offsets), A (matrix values), U (values of the first entries), Z; what
// columns.cuh asks for; and the constants NARROW_BLOCK, WIDE_BLOCK (threads a block), NARROW_EDGES (see tuning.py).

#include "expand.cuh"
#include "sources.cuh"

// Words of the state.
enum { WAITING, TOTAL, STEPS, PARITY, REACHED, BARRIER, NARROW_COUNT, WIDE_COUNT = NARROW_COUNT + 3 };

// closure.py packs it by the names of its fields (arguments.py): a line of this struct is a type and a name.
struct RelaxArguments {
    const P* indptr;
    ColumnsArgument indices;
    const A* a_values;
    A a_iso;
    u32* present;
    u32* listed;  // two bitmaps, one after the other
    J* row;       // two lists, likewise
    P* start;
    P* before;
    Z* values;
    Z nothing;  // what absent entries hold: nothing that is added to it is changed by it
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

    // A value of any time between the last barrier and now.  Values move one way only.
    DEVICE Z now(i64 i) const { return load_relaxed(s.values + i); }
    // Several blocks may stage one row, at different times, and send products of different values of it; whoever
    // changes the value after a block has read it lists the row for the next step, which sends them again.
    DEVICE Z payload(i64 row, i64) const {
        atomicAnd(listed + (row >> 5), ~(1u << (row & 31)));
        return now(row);
    }
    DEVICE Z product(Z x, i64 k, i64 j, i64 p) const {
        A y = A();
        if constexpr (multiply_reads_y) y = value_at(s.a_values, s.a_iso, p);
        return multiply(x, y, 0, k, k, j);
    }
    // False: the product changes nothing, and as values move one way it never will.  A true that is out of date costs the
    // atomics of a visit.
    DEVICE bool open(Z x, i64 k, i64 j, i64 p) const {
        const Z old = now(j);
        if (!same_bits(Z(add(old, product(x, k, j, p))), old)) return true;
        return same_bits(old, s.nothing) && !bit_relaxed(s.present, j);
    }
    DEVICE bool visit(Z x, i64 k, i64 j, i64 p) const {
        const Z z = product(x, k, j, p);
        const Z old = atomic_update(s.values + j, [z](Z value) { return Z(add(value, z)); });
        const bool changed = !same_bits(Z(add(old, z)), old);
        const bool first = same_bits(old, s.nothing) && bit_claim(s.present, j);
        return (changed || first) && bit_claim(listed_next, j);
    }
};

// Steps until nothing waits, `max_steps` are done, or (in the cluster) many edges wait.
template <int BLOCK, bool WIDE, class Group>
DEVICE void steps(const Relaxation& s, Group& group, u64* counters) {
    u64 waiting = s.state[WAITING];
    u64 total = s.state[TOTAL];
    i64 step = i64(s.state[STEPS]);
    int parity = int(s.state[PARITY]);
    int turn = 0;
    const i64 words = (s.n + 31) / 32;
    while (s.packing.rows(waiting) > 0 && step < s.max_steps) {
        if (!WIDE && s.packing.edges(waiting) > NARROW_EDGES) break;
        if (Group::rank() == 0 && threadIdx.x == 0) {
            counters[(turn + 1) % 3] = 0;
            if (step < s.trace_rows) {
                s.trace[3 * step] = 0;
                s.trace[3 * step + 1] = s.packing.rows(waiting);
                s.trace[3 * step + 2] = s.packing.edges(waiting);
            }
        }
        const RowList list = {s.row + parity * s.n, s.start + parity * s.n, s.before + parity * s.n, 0, waiting};
        parity = 1 - parity;
        const Append to = {s.row + parity * s.n, s.start + parity * s.n, s.before + parity * s.n, counters + turn, 0};
        expand<BLOCK, Group>(s.packing, s.indptr, s.columns, list, s.skewed, false, to,
                            Relax{s, s.listed + (1 - parity) * words, s.listed + parity * words});
        group.barrier();
        total += s.packing.edges(waiting);
        waiting = load_relaxed(counters + turn);  // behind the barrier, so nobody adds any more
        turn = (turn + 1) % 3;
        step++;
    }
    if (Group::rank() == 0 && threadIdx.x == 0) {
        s.state[WAITING] = waiting;
        s.state[TOTAL] = total;
        s.state[STEPS] = u64(step);
        s.state[PARITY] = u64(parity);
    }
}

// The first entries.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK)
    relax_enter(const SourceArguments entered, const RelaxArguments given) {
    const Relaxation s(given);
    const Append to = {s.row, s.start, s.before, s.state + WAITING, 0};
    for (i64 first = i64(blockIdx.x) * WIDE_BLOCK; first < entered.source_count; first += i64(gridDim.x) * WIDE_BLOCK) {
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

extern "C" __global__ void ONE_CLUSTER __launch_bounds__(NARROW_BLOCK) relax_narrow(const RelaxArguments given) {
    const Relaxation s(given);
    Cluster group;
    steps<NARROW_BLOCK, false>(s, group, s.state + NARROW_COUNT);
}

// Launched cooperatively.
// Two blocks a multiprocessor: with one, which is what the compiler may settle for (98 registers a thread for int64
// distances over uint8 weights), too few loads overlap.
extern "C" __global__ void __launch_bounds__(WIDE_BLOCK, 2) relax_wide(const RelaxArguments given) {
    const Relaxation s(given);
    CooperativeGrid group(reinterpret_cast<u32*>(s.state + BARRIER));
    steps<WIDE_BLOCK, true>(s, group, s.state + WIDE_COUNT);
}

// The number of entries at the end.
extern "C" __global__ void relax_count(const u32* present, i64 words, u64* state) {
    i64 counted = 0;
    for (i64 w = thread_id(); w < words; w += thread_count()) counted += __popc(present[w]);
    counted = block_sum(counted);
    if (threadIdx.x == 0 && counted != 0) atomicAdd(state + REACHED, u64(counted));
}
