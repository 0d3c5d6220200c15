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
// parameters of columns.cuh; NATIVE (2: atomicMin, 3: atomicMax, else compare-and-swap); ORDER (1 if less is better (min),
// -1 if more is (max), 0 for no order); and the constants CLUSTER_BLOCK, GRID_BLOCK (threads a block), CLUSTER_EDGES,
// EAGER_EDGES, ORDER_FEW (tuning.py).

#include "level_loop.cuh"
#include "sources.cuh"

// Words of the state.
enum { PENDING, TOTAL, STEPS, PARITY, REACHED, BARRIER, CLUSTER_COUNT, GRID_COUNT = CLUSTER_COUNT + 3 };

// closure.py packs this struct by the names of its fields (arguments.py); each line declares one field.
struct RelaxArguments : LoopArguments {
    const A* a_values;
    A a_iso;
    u32* present;
    u32* listed;  // two consecutive bitmaps
    u32* piled;   // the rows that have entered the pile
    J* pile;      // two consecutive lists
    Z* values;
    Z absent;  // the value of absent entries: the identity of (+)
    f64 share;  // of the span of the first values in the pile: the first width
    i64* trace;
    i64 trace_rows;
    i64 max_steps;
    int ordered;  // whether to expand near rows first
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

// --- the order in which rows are expanded: near ones first, the others once no near one is left ---------------------
//
// A row is near if its value is no worse than `reach`; the others wait in the pile.  When no near row is listed, a pass
// over the pile advances `reach` by `width` and lists the rows that it now includes.  So a row is mostly expanded with
// its last value (delta-stepping: Meyer, Sanders 2003; near and far piles: Davidson, Baxter, Garland, Owens, IPDPS
// 2014).  The order affects speed only: with a reach of infinity this is the Bellman-Ford algorithm.
//
// A row enters the pile once in a launch.  If its value becomes near, it is listed as near, and the next pass drops it.

// Words of the state.  Of PILE and BEST one of three is current, by the number of passes; the next pass writes the next
// one and clears the one after that, which no thread reads any longer.
enum { PILE = 16, BEST = PILE + 3, PASSES = BEST + 3, REACH, WIDTH, LOWEST, HIGHEST };

// A double as bits in the same order, above 0; NaN is above infinity.
DEVICE u64 sortable(double d) {
    const u64 bits = from_bits<u64>(d);
    return bits >> 63 ? ~bits : bits | u64(1) << 63;
}
DEVICE double sorted_value(u64 bits) { return from_bits<double>(bits >> 63 ? bits & ~(u64(1) << 63) : ~bits); }

// The place of a value in the order: less is better.
DEVICE double place_of(Z value) { return ORDER < 0 ? -double(value) : double(value); }

struct Order {
    double reach;
    double width;  // 0: not yet chosen
    u64 passes;
    // At the last pass, for the average number of edges of a step.
    i64 step = 0;
    u64 edges = 0;

    DEVICE explicit Order(const u64* state)
        : reach(from_bits<double>(state[REACH])), width(from_bits<double>(state[WIDTH])), passes(state[PASSES]) {}
    DEVICE void save(u64* state) const {
        state[REACH] = from_bits<u64>(reach);
        state[WIDTH] = from_bits<u64>(width);
        state[PASSES] = passes;
    }
    DEVICE u64* piled(u64* state) const { return state + PILE + passes % 3; }
    DEVICE u64* best(u64* state) const { return state + BEST + passes % 3; }
};

// Adds row j to the current pile, in which it is not.  Any thread may call; those that do together share an atomic.
DEVICE void add_to_pile(const RelaxArguments& s, const Order& order, i64 j) {
    const u32 mates = __activemask();
    const int first = __ffs(int(mates)) - 1;
    u64 place = 0;
    if (lane_id() == first) place = atomicAdd(order.piled(s.state), u64(__popc(mates)));
    place = __shfl_sync(mates, place, first) + __popc(mates & lanes_below());
    s.pile[(order.passes & 1) * s.n + place] = J(j);
}

// Chooses the first width from the values in the pile.  All threads of the group call with the same order.
template <int BLOCK, class Group>
DEVICE void measure(const RelaxArguments& s, Group& group, Order& order, i64 count) {
    u64 lowest = 0, highest = 0;  // of no value: 0, of the complements too
    each_by_block<BLOCK, Group>(count, [&](i64 at, bool inside) {
        if (!inside) return;
        const double place = place_of(s.values[i64(s.pile[(order.passes & 1) * s.n + at])]);
        if (place - place != 0) return;
        const u64 bits = sortable(place);
        if (~bits > lowest) lowest = ~bits;
        if (bits > highest) highest = bits;
    });
    lowest = warp_max(lowest);
    highest = warp_max(highest);
    if (lane_id() == 0 && highest != 0) {
        atomicMax(s.state + LOWEST, lowest);
        atomicMax(s.state + HIGHEST, highest);
    }
    group.barrier();
    const u64 most = load_relaxed(s.state + HIGHEST);
    const double low = most == 0 ? 0 : sorted_value(~load_relaxed(s.state + LOWEST));
    double span = most == 0 ? 0 : sorted_value(most) - low;
    if (!(span > 0)) span = low < 0 ? -low : low;
    if (!(span > 0 && span - span == 0)) span = 1;
    order.width = span * s.share;
    if (Z(0.5) == Z(0) && order.width < 1) order.width = 1;
    order.reach = most == 0 ? from_bits<double>(u64(0x7ff) << 52) : low + order.width;
}

// One pass over the pile: lists the rows that the reach, which was `before`, now includes.  All threads of the group call
// with the same arguments, and no near row is listed, unless the reach becomes infinite.
template <int BLOCK, class Group>
DEVICE void pass(const RelaxArguments& s, const LevelLoop<BLOCK, Group>& loop, Order& order, double before) {
    const Append to = loop.appended();
    const i64 count = i64(load_relaxed(order.piled(s.state)));
    const J* const pile = s.pile + (order.passes & 1) * s.n;
    J* const rest = s.pile + (~order.passes & 1) * s.n;
    if (loop.first_thread()) {
        s.state[PILE + (order.passes + 2) % 3] = 0;
        s.state[BEST + (order.passes + 2) % 3] = 0;
    }
    order.passes++;
    u64 best = 0;
    each_by_block<BLOCK, Group>(count, [&](i64 at, bool inside) {
        bool waits = false, enters = false;
        i64 row = 0;
        double place = 0;
        if (inside) {
            row = i64(pile[at]);
            place = place_of(s.values[row]);
            waits = place > order.reach;
            enters = !waits && place > before;
        }
        const u64 slot = block_append(order.piled(s.state), waits);
        if (waits) {
            rest[slot] = J(row);
            if (~sortable(place) > best) best = ~sortable(place);
        }
        if (__syncthreads_or(enters)) append(loop.graph, to, enters, row);
    });
    best = warp_max(best);
    if (lane_id() == 0 && best != 0) atomicMax(order.best(s.state), best);
}

// --- steps ----------------------------------------------------------------------------------------------------

struct Relax {
    static constexpr bool APPENDS = true;
    static constexpr bool NEEDS_ROW = true;
    typedef Z Payload;
    const RelaxArguments& s;
    u32* listed;
    u32* listed_next;
    Order order;
    bool eager;  // few edges, so latency dominates

    // Some value that row i has had since the last barrier; values change monotonically.
    DEVICE Z current(i64 i) const { return load_relaxed(s.values + i); }
    // Several blocks may stage one row at different times and read different values.  A thread that changes the value
    // later lists the row for the next step, which relaxes its neighbors again.
    DEVICE Z payload(i64 row, i64) const {
        bit_clear(listed, row);
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
        return eager ? bit_set(listed_next, j) : bit_claim(listed_next, j);
    }
};

// Repeats steps until the list and the pile are empty, `max_steps` are done, or (on one cluster) the list has too many
// edges.
template <int BLOCK, bool FULL_GRID, class Group>
DEVICE void steps(const RelaxArguments& s, const Group& group, u64* counters) {
    u64 total = s.state[TOTAL];
    i64 step = i64(s.state[STEPS]);
    int parity = int(s.state[PARITY]);
    LevelLoop<BLOCK, Group> loop = {graph_of(s), group, counters, list_of(s, parity), 0, s.state[PENDING]};
    const i64 words = (s.n + 31) / 32;
    const double infinity = from_bits<double>(u64(0x7ff) << 52);
    Order order(s.state);
    order.step = step;
    order.edges = total;
    bool passed = false;  // the last iteration was a pass
    for (;;) {
        const bool listed = loop.rows() > 0;
        // Final after the barrier: only steps add to the current pile, and only passes replace it.
        const i64 count = ORDER == 0 ? 0 : i64(load_relaxed(order.piled(s.state)));
        if (!listed && count == 0) break;
        if (!FULL_GRID && (loop.edges() > CLUSTER_EDGES || count > CLUSTER_EDGES)) break;
        const bool last = listed && step >= s.max_steps;
        if (last && (ORDER == 0 || !(order.reach < infinity))) break;
        loop.begin();
        if (ORDER != 0 && (!listed || last)) {
            const double before = order.reach;
            if (last) {  // relaxes without an order, for as many steps as that may need
                order.reach = infinity;
                step = 0;
            } else if (order.width == 0) {
                measure<BLOCK>(s, loop.group, order, count);
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
            pass(s, loop, order, before);
            loop.end();
            passed = true;
            continue;
        }
        loop.record(s.trace, s.trace_rows, step, false);
        const bool eager = loop.eager();
        total += loop.edges();
        parity = 1 - parity;
        const RowList frontier = loop.take(list_of(s, parity));
        loop.follow(frontier, eager,
                    Relax{s, s.listed + (1 - parity) * words, s.listed + parity * words, order, eager});
        loop.end();
        step++;
        passed = false;
    }
    if (loop.first_thread()) {
        s.state[PENDING] = loop.tail;
        s.state[TOTAL] = total;
        s.state[STEPS] = u64(step);
        s.state[PARITY] = u64(parity);
        order.save(s.state);
    }
}

// Inserts the first entries.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK)
    relax_enter(const SourceArguments entered, const RelaxArguments s) {
    // The first entries are expanded in any case, and then everything is far, or nothing.
    if (thread_id() == 0) s.state[REACH] = u64(s.ordered ? 0xfff : 0x7ff) << 52;
    enter_sources<GRID_BLOCK, GridRank>(entered, graph_of(s), {s, s.state + PENDING, 0}, s.present, s.values);
}

extern "C" __global__ void ONE_CLUSTER __launch_bounds__(CLUSTER_BLOCK) relax_cluster(const RelaxArguments s) {
    steps<CLUSTER_BLOCK, false>(s, Cluster(), s.state + CLUSTER_COUNT);
}

// Launched cooperatively, two blocks a multiprocessor: with one, which the compiler may choose (98 registers a thread
// for int64 distances over uint8 weights), too few loads overlap.
extern "C" __global__ void __launch_bounds__(GRID_BLOCK, 2) relax_grid(const RelaxArguments s) {
    CooperativeGrid group(s.state + BARRIER);
    steps<GRID_BLOCK, true>(s, group, s.state + GRID_COUNT);
}
